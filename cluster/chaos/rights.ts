/**
 * Clients whose rights are taken away while they use them. Once a deletion of a token, a revocation
 * of its identity, or a change of what its rights rest on is acknowledged, no default or consistent
 * read, write or decision by it may succeed on any node; once rights are acknowledged, none may be
 * refused. The same holds for caches of rights after their bound. A restore may bring either back,
 * so what overlaps one is not judged.
 */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../checker/random.js';
import type { CacheCounts, Caches } from './caches.js';
import { Connection, type NoAnswer, type Result } from './client.js';

const ANSWER_MS = 8_000;
/** How often every node is asked after the rights were taken: one that was away may come back. */
const ROUNDS = 4;

/** The numbers of what was judged. */
export interface RightsCounts {
  /** Uses of rights that a token has. */
  used: number;
  /** Times that the rights of a token were taken, by how. */
  tokensDeleted: number;
  policiesChanged: number;
  rolesChanged: number;
  linksRemoved: number;
  identitiesRevoked: number;
  /** Uses of rights that a token had, each of which was refused. */
  refused: number;
  /** Uses that were not judged, because a restore overlapped them. */
  notJudged: number;
  /** What caches did. */
  readonly caches?: CacheCounts | undefined;
}

/** A token that has its rights by a role and its policy, all of its own. */
interface Grant {
  readonly name: string;
  readonly accessor: string;
  readonly secret: string;
  readonly policy: string;
  readonly role: string;
  /** Whether a login made it, by an identity that is called like it. */
  readonly isOfLogin: boolean;
}

/** How rights are taken: the count of it, and the request. */
type Way = readonly [
  counted: Exclude<keyof RightsCounts, 'caches'>,
  request: (grant: Grant) => readonly [method: string, path: string, body?: object],
];

/** The auth method of the logins, and the share of tokens that are of these. */
const METHOD = 'rights';
const LOGIN_SHARE = 0.4;
const KEY = generateKeyPairSync('ed25519');

/** Returns a JWT by which an identity logs in. */
function jwtOf(sub: string): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (object: object): string =>
    Buffer.from(JSON.stringify(object)).toString('base64url');
  const signed = `${part({ alg: 'EdDSA' })}.${part({ sub, iat: now - 60, exp: now + 3600 })}`;
  return `${signed}.${sign(null, Buffer.from(signed), KEY.privateKey).toString('base64url')}`;
}

const rulesOf = (name: string): string => `service "${name}" { policy = "write" }`;

const WAYS: readonly Way[] = [
  ['tokensDeleted', ({ accessor }) => ['DELETE', `/v1/acl/token/${accessor}`]],
  [
    'policiesChanged',
    ({ name, policy }) => ['PUT', `/v1/acl/policy/${policy}`, { Name: name, Rules: '' }],
  ],
  ['rolesChanged', ({ name, role }) => ['PUT', `/v1/acl/role/${role}`, { Name: name }]],
  ['linksRemoved', ({ accessor }) => ['PUT', `/v1/acl/token/${accessor}`, { Roles: [] }]],
];

/** How the rights of tokens of logins are taken. */
const REVOKE: Way = [
  'identitiesRevoked',
  ({ name: Subject }) => [
    'POST',
    '/v1/acl/tokens/revoke',
    { AuthMethod: METHOD, Subject, DryRun: false },
  ],
];

/** A use of the rights: whether it was allowed; undefined if that was not answered. */
type Use = (connection: Connection, name: string) => Promise<boolean | undefined>;

const allowedBy = (reply: { status: number } | NoAnswer): boolean | undefined => {
  if ('why' in reply) return undefined;
  // 404: the entry may be read, and is not there
  return reply.status === 403 ? false : [200, 404].includes(reply.status) || undefined;
};
const readingWith =
  (query: string): Use =>
  async (connection, name) =>
    allowedBy(await connection.send('GET', `/v1/config/service-resolver/${name}${query}`));

const USES: Readonly<Record<string, Use>> = {
  'default read': readingWith(''),
  'consistent read': readingWith('?consistent'),
  write: async (connection, Name) =>
    allowedBy(
      await connection.send(
        'PUT',
        '/v1/config',
        JSON.stringify({ Kind: 'service-resolver', Name }),
      ),
    ),
  async list(connection, name) {
    const reply = await connection.send('GET', '/v1/config/service-resolver');
    if ('why' in reply || reply.status !== 200) return allowedBy(reply);
    // the entry may not be there, so that a list without it tells nothing
    return reply.body.toString().includes(`"${name}"`) || undefined;
  },
  async plan(connection, Name) {
    const Objects = [{ Type: 'config', Object: { Kind: 'service-resolver', Name } }];
    const reply = await connection.send('POST', '/v1/plan', JSON.stringify({ Objects }));
    if ('why' in reply || reply.status !== 200) return allowedBy(reply);
    const { Changes } = JSON.parse(reply.body.toString()) as { Changes: [{ Allowed: boolean }] };
    return Changes[0].Allowed;
  },
  async decision(connection, Segment) {
    const body = JSON.stringify([{ Resource: 'service', Access: 'write', Segment }]);
    const reply = await connection.send('POST', '/v1/internal/acl/authorize', body);
    if ('why' in reply || reply.status !== 200) return allowedBy(reply);
    return (JSON.parse(reply.body.toString()) as [{ Allow: boolean }])[0].Allow;
  },
};

/** See the head of this file. */
export class RightsWorkload {
  readonly counts: RightsCounts;
  readonly anomalies: string[] = [];
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #random: Random;
  readonly #restoredSince: (sinceMs: number) => boolean;
  readonly #caches: Caches | undefined;
  #made = 0;
  #stopped = false;
  #running: Promise<void>[] = [];

  /**
   * `restoredSince` tells whether a restore ran at some time since then. `caches` follow what
   * tokens may do; without them nobody does.
   */
  constructor(
    urls: readonly string[],
    token: string,
    random: Random,
    restoredSince: (sinceMs: number) => boolean,
    caches?: Caches,
  ) {
    this.#urls = urls;
    this.#token = token;
    this.#random = random;
    this.#restoredSince = restoredSince;
    this.#caches = caches;
    this.counts = {
      used: 0,
      tokensDeleted: 0,
      policiesChanged: 0,
      rolesChanged: 0,
      linksRemoved: 0,
      identitiesRevoked: 0,
      refused: 0,
      notJudged: 0,
      caches: caches?.counts,
    };
  }

  /** Starts clients. */
  start(clients: number, pauseMs: number): void {
    this.#running = Array.from({ length: clients }, () => this.#client(pauseMs));
  }

  /** Stops the clients and waits for their last requests. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#running);
    this.#caches?.close();
  }

  async #client(pauseMs: number): Promise<void> {
    const connections = this.#urls.map((url) => new Connection(url, this.#token, ANSWER_MS));
    while (!this.#stopped) {
      await this.#grantAndTake(connections, pauseMs);
      await sleep(this.#random.next() * pauseMs);
    }
    for (const connection of connections) connection.close();
  }

  /** Gives a token rights, uses them, takes them, and sees them refused. */
  async #grantAndTake(connections: readonly Connection[], pauseMs: number): Promise<void> {
    const random = this.#random;
    const beganMs = performance.now();
    const grant = await this.#grant(connections);
    if (grant === undefined) return;
    const users = this.#urls.map((url) => new Connection(url, grant.secret, ANSWER_MS));
    // Every node has looked the rights up before they are taken.
    await this.#use(users, grant, beganMs, true);
    const cached = await this.#caches?.follow(grant);
    const [counted, requestOf] = grant.isOfLogin ? REVOKE : random.pick(WAYS);
    const [method, path, body] = requestOf(grant);
    const takenMs = performance.now();
    const text = body && JSON.stringify(body);
    const { outcome } = await random.pick(connections).change(method, path, text);
    if (outcome === 'ok') {
      this.counts[counted]++;
      const wrong = cached?.judge(performance.now());
      for (let round = 0; round < ROUNDS && !this.#stopped; round++) {
        await this.#use(users, grant, takenMs, false, counted);
        await sleep(random.next() * pauseMs);
      }
      const sentences = (await wrong) ?? [];
      if (this.#restoredSince(takenMs)) this.counts.notJudged += sentences.length;
      else this.anomalies.push(...sentences);
    }
    cached?.close();
    for (const user of users) user.close();
    await this.#remove(random.pick(connections), grant);
  }

  /** Makes a token with rights. Returns undefined if a part of it was not acknowledged. */
  async #grant(connections: readonly Connection[]): Promise<Grant | undefined> {
    const name = `rights-${this.#made++}`;
    const put = (path: string, body: object): Promise<Result<string>> =>
      this.#random.pick(connections).change('PUT', path, JSON.stringify(body));
    const idOf = (text: string): string => (JSON.parse(text) as { ID: string }).ID;
    const policy = await put('/v1/acl/policy', { Name: name, Rules: rulesOf(name) });
    if (policy.outcome !== 'ok') return undefined;
    const role = await put('/v1/acl/role', { Name: name, Policies: [{ Name: name }] });
    if (role.outcome !== 'ok') return undefined;
    const made = { name, policy: idOf(policy.value), role: idOf(role.value) };
    if (this.#random.chance(LOGIN_SHARE)) return this.#logIn(connections, made);
    const [accessor, secret] = [randomUUID(), randomUUID()];
    const Roles = [{ Name: name }];
    const token = await put('/v1/acl/token', { AccessorID: accessor, SecretID: secret, Roles });
    if (token.outcome !== 'ok') return undefined;
    return { ...made, accessor, secret, isOfLogin: false };
  }

  /** Logs in for a token with rights. Makes the auth method anew if that fails. */
  async #logIn(
    connections: readonly Connection[],
    made: Pick<Grant, 'name' | 'policy' | 'role'>,
  ): Promise<Grant | undefined> {
    const connection = this.#random.pick(connections);
    const put = (path: string, body: object): Promise<Result<string>> =>
      connection.change('PUT', path, JSON.stringify(body));
    const body = { AuthMethod: METHOD, BearerToken: jwtOf(made.name) };
    const login = await connection.change('POST', '/v1/acl/login', JSON.stringify(body));
    if (login.outcome === 'ok') {
      const token = JSON.parse(login.value) as { AccessorID: string; SecretID: string };
      return { ...made, accessor: token.AccessorID, secret: token.SecretID, isOfLogin: true };
    }
    const pem = KEY.publicKey.export({ type: 'spki', format: 'pem' });
    const Config = { JWTValidationPubKeys: [pem], ClaimMappings: { sub: 'sub' } };
    await put('/v1/acl/auth-method', { Name: METHOD, Type: 'jwt', Config });
    const rule = { AuthMethod: METHOD, BindType: 'role', BindName: '${value.sub}' };
    await put('/v1/acl/binding-rule', rule);
    return undefined;
  }

  /** Uses the rights on every node at once, and judges whether they were allowed. */
  async #use(
    users: readonly Connection[],
    { name }: Grant,
    sinceMs: number,
    expected: boolean,
    how = 'granted',
  ): Promise<void> {
    await Promise.all(
      users.map(async (user) => {
        const kind = this.#random.pick(Object.keys(USES));
        const isAllowed = await USES[kind]!(user, name);
        if (isAllowed === undefined) return;
        if (this.#restoredSince(sinceMs)) this.counts.notJudged++;
        else if (isAllowed === expected) this.counts[expected ? 'used' : 'refused']++;
        else
          this.anomalies.push(
            `a ${kind} of ${name} on ${user.url} was ${isAllowed ? 'allowed' : 'refused'} ` +
              `after ${how} was acknowledged`,
          );
      }),
    );
  }

  /** Deletes what was made, so that archives stay small. What fails stays. */
  async #remove(connection: Connection, { name, accessor, policy, role }: Grant): Promise<void> {
    const paths = [`token/${accessor}`, `role/${role}`, `policy/${policy}`];
    for (const path of paths) await connection.change('DELETE', `/v1/acl/${path}`);
    await connection.change('DELETE', `/v1/config/service-resolver/${name}`);
  }
}
