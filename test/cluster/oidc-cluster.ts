/** A cluster of processes whose users log in at an OpenID provider. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { ClusterPlan } from '../../src/dev/local.js';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';
import { type Answer, Client } from '../support/client.js';
import { CLIENT_SECRET } from '../support/oidc-provider.js';
import { RealCluster } from '../support/real-cluster.js';
import { until } from './operator.js';
import { foundIn } from './planted.js';

/** Where the provider sends browsers, and where nothing listens. */
export const CALLBACK = 'http://127.0.0.1:9/oidc/callback';
/** Where it sends them after a logout. */
export const SIGNED_OUT = 'http://127.0.0.1:9/signed-out';

const GROUPS = ['dev', 'ops'];

/** A login that has begun. */
export interface Begun {
  readonly AuthURL: string;
  readonly ClientNonce: string;
}

/** What completes it. */
export interface Completion {
  readonly State: string;
  readonly Code: string;
  readonly ClientNonce: string;
}

/** What the provider of a cluster must be able to do. */
export interface LoginAt {
  readonly issuer: string;
  logIn(authUrl: string): string | Promise<string>;
}

/** What a client is told: the status and the sentence of a refusal. */
export const told = ({ status, body }: Answer): [status: number, detail: string] => [
  status,
  body.detail,
];

/** A cluster with a client of each node, and the secrets of its logins. */
export class OidcCluster {
  readonly cluster: RealCluster;
  readonly clients: readonly Client[];
  /** States, codes, client nonces, Renewals of all logins so far. */
  readonly secrets = new Set<string>();
  /** Where users log in. A test may go on with another one. */
  idp: LoginAt;

  constructor(cluster: RealCluster, idp: LoginAt) {
    this.cluster = cluster;
    this.clients = cluster.urls.map((url) => new Client(url, cluster.token));
    this.idp = idp;
  }

  /**
   * Starts the nodes, each with an audit log. Roles `dev` and `ops` may write services of their
   * prefix, and are bound by the groups of the same names. `main`: the program of each start.
   */
  static async open(
    nodes: number,
    idp: LoginAt,
    main?: (name: string) => string,
  ): Promise<OidcCluster> {
    const dir = mkdtempSync(join(tmpdir(), 'conclave-oidc-'));
    const sinks = (name: string) => ({
      all: { path: join(dir, `${name}-audit.json`), scope: 'all' },
    });
    const plan: Partial<ClusterPlan> = {
      dir,
      settings: {
        log: { level: 'debug' },
        limits: { loginsPerIdentity: 1000, refusalsPerAddress: 0 },
      },
      run: (name) => ({
        preload: [],
        env: { CONCLAVE_AUDIT_SINKS: JSON.stringify(sinks(name)) },
        ...(main && { main: () => main(name) }),
      }),
    };
    const field = new OidcCluster(await RealCluster.open(nodes, plan), idp);
    // A new cluster rises to the level of OIDC shortly after its first leader.
    await field.reached(SUPPORTED_LEVEL);
    await field.addRoles();
    await field.addMethod();
    return field;
  }

  /** Waits until the cluster is at a level. */
  async reached(wanted: number): Promise<void> {
    await until(
      async () => (await this.cluster.must('GET /operator/level')).Level,
      (level) => level === wanted,
    );
  }

  async addRoles(): Promise<void> {
    for (const group of GROUPS) {
      const Rules = `service_prefix "${group}-" { policy = "write" }`;
      await this.cluster.must('PUT /acl/policy', { Name: group, Rules });
      await this.cluster.must('PUT /acl/role', { Name: group, Policies: [{ Name: group }] });
    }
  }

  /** The body of the method `staff`, with changes of its Config. */
  method(config: object = {}, Name = 'staff') {
    return {
      Name,
      Type: 'oidc',
      DisplayName: 'Staff',
      MaxTokenTTL: '1h',
      Config: {
        OIDCDiscoveryURL: this.idp.issuer,
        OIDCClientID: 'conclave',
        OIDCClientSecret: CLIENT_SECRET,
        AllowedRedirectURIs: [CALLBACK],
        PostLogoutRedirectURI: SIGNED_OUT,
        OIDCScopes: ['email', 'groups', 'offline_access'],
        ClaimMappings: { email: 'email' },
        ListClaimMappings: { groups: 'groups' },
        ...config,
      },
    };
  }

  /** Creates a method that binds the roles. */
  async addMethod(config: object = {}, name = 'staff'): Promise<void> {
    await this.cluster.must('PUT /acl/auth-method', this.method(config, name));
    for (const BindName of GROUPS) {
      const Selector = `${BindName} in list.groups`;
      const rule = { AuthMethod: name, BindType: 'role', BindName, Selector };
      await this.cluster.must('PUT /acl/binding-rule', rule);
    }
  }

  /** Writes the method `staff` again. */
  rewriteMethod(config: object = {}): Promise<Answer['body']> {
    return this.cluster.must('PUT /acl/auth-method/staff', this.method(config));
  }

  /** Asks a node for the address of a login. */
  async begin(at = 0, change: Record<string, unknown> = {}): Promise<Begun> {
    const ClientNonce = randomUUID();
    const body = { AuthMethod: 'staff', RedirectURI: CALLBACK, ClientNonce, ...change };
    const { AuthURL } = await this.clients[at]!.must('POST /acl/oidc/auth-url', body, '');
    this.secrets.add(ClientNonce);
    return { AuthURL, ClientNonce };
  }

  /** Logs in at the provider. */
  async redirected({ AuthURL, ClientNonce }: Begun): Promise<Completion> {
    const { searchParams } = new URL(await this.idp.logIn(AuthURL));
    const State = searchParams.get('state')!;
    const Code = searchParams.get('code')!;
    this.secrets.add(State).add(Code);
    return { State, Code, ClientNonce };
  }

  /** Completes a login at a node. */
  async complete(
    { State, Code, ClientNonce }: Completion,
    at = 1,
    change: object = {},
  ): Promise<Answer> {
    const body = { AuthMethod: 'staff', State, Code, ClientNonce, ...change };
    return this.#noted(await this.clients[at]!.ask('POST /acl/oidc/callback', body, ''));
  }

  /** A whole login, which begins at one node and ends at another; its answer may be a refusal. */
  async attempt(from = 0, to = 1): Promise<Answer> {
    return this.complete(await this.redirected(await this.begin(from)), to);
  }

  /** A whole login that must succeed. Returns its token. */
  async logIn(from = 0, to = 1): Promise<Answer['body']> {
    const answer = await this.attempt(from, to);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body;
  }

  /** Renews a token at a node. */
  async renew(
    { SecretID, Renewal }: { SecretID: string; Renewal: string },
    at = 2,
    change: object = {},
  ): Promise<Answer> {
    const body = { AuthMethod: 'staff', Renewal, ...change };
    return this.#noted(await this.clients[at]!.ask('POST /acl/oidc/renew', body, SecretID));
  }

  /** The statuses of a read of itself with a token, at each node. */
  alive({ SecretID }: { SecretID: string }): Promise<number[]> {
    return this.#everywhere('GET /acl/token/self', SecretID);
  }

  /** The statuses of a write of a service, at each node. */
  async writes({ SecretID }: { SecretID: string }, Name: string): Promise<number[]> {
    return this.#everywhere('PUT /config', SecretID, { Kind: 'service-defaults', Name });
  }

  async #everywhere(call: string, secret: string, body?: object): Promise<number[]> {
    const answers = [];
    for (const client of this.clients) answers.push((await client.ask(call, body, secret)).status);
    return answers;
  }

  #noted(answer: Answer): Answer {
    const renewal = answer.body?.Renewal;
    if (renewal !== undefined) this.secrets.add(renewal);
    return answer;
  }

  /**
   * Why a login was refused: the client learns nothing of it, and any node knows the decision of
   * the one that refused.
   */
  async reasonOf(answer: Answer): Promise<string> {
    expect(told(answer)).to.deep.equal([403, 'Permission denied']);
    const [first, ...others] = await Promise.all(
      this.clients.map((client) => client.must(`GET /acl/decision/${answer.decision}`)),
    );
    for (const other of others) expect(other).to.deep.equal(first);
    expect(first).to.include({ Type: 'login' });
    expect(first.Login).to.include({ AuthMethod: 'staff', Namespace: 'default' });
    expect(first.Login.Reason).to.match(/\w+ \w+/);
    return first.Login.ReasonCode;
  }

  /** Whether a file is a log, an audit log or a configuration: no secret of a login is in one. */
  readonly isText = (path: string): boolean => dirname(path) === this.cluster.dir;

  /** Resolves when the audit logs have what was done so far. */
  async audited(): Promise<void> {
    for (const client of this.clients) {
      const path = `/v1/acl/role/name/${randomUUID()}`;
      await client.ask(`GET ${path.slice('/v1'.length)}`);
      await until(
        async () => this.found([path], (file) => file.endsWith('-audit.json')),
        (found) => found.length > 0,
      );
    }
  }

  /** The files of this cluster in which one of the texts occurs, and the text. */
  found(texts: Iterable<string>, isWanted = (_path: string): boolean => true): string[] {
    return foundIn(this.cluster.dir, texts, isWanted);
  }
}
