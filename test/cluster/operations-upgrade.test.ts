import { expect } from 'chai';
import type { LocalCluster, LocalNode } from '../../cluster/local.js';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';
import { signer } from '../login/signers.js';
import { ask, Field, load, until } from './operator.js';
import { THIS_MAIN, unpackRelease } from './releases.js';

/** The response of GET /v1/operator/level. */
interface Levels {
  readonly Level: number;
  readonly Supported: number;
  readonly Waiting: readonly string[];
}

/** A kind that the previous release does not know, and an entry that names one of it. */
const PROVIDER = {
  Kind: 'jwt-provider',
  Name: 'p',
  JSONWebKeySet: { Local: { Filename: '/k' } },
};
const INTENTIONS = {
  Kind: 'service-intentions',
  Name: 'web',
  Sources: [{ Name: 'a', Action: 'allow' }],
  JWT: { Providers: [{ Name: 'p' }] },
};

describe('a rolling upgrade', function () {
  this.timeout(120_000);
  const field = new Field();
  const programs = new Map<string, string>();
  let release: string;
  let cluster: LocalCluster;
  before(async () => {
    release = await unpackRelease(field.dir());
    // Clients on a busy machine pause long between two requests to one node.
    const limits = { lingerMs: 4000, stopMs: 15_000 };
    const run = (name: string) => ({
      ...{ preload: [], env: {} },
      main: () => programs.get(name) ?? release,
    });
    cluster = await field.start(3, { settings: { limits }, run });
  });
  after(() => field.end());

  const levels = async ({ url }: LocalNode): Promise<Levels> => {
    const { status, body } = await ask(url, 'GET', '/v1/operator/level', cluster);
    if (status !== 200) throw new Error(`${status} ${body}`);
    return JSON.parse(body) as Levels;
  };
  const restart = async (node: LocalNode, program: string): Promise<void> => {
    await node.kill('SIGTERM');
    programs.set(node.name, program);
    node.start();
    await node.ready();
  };

  const must = async (path: string, body: object): Promise<void> => {
    const { url } = cluster.nodes[0]!;
    const options = { token: cluster.token, body: JSON.stringify(body) };
    const { status, body: text } = await ask(url, 'PUT', path, options);
    if (status !== 200) throw new Error(`${status} ${text}`);
  };
  const issuer = signer('ES256');
  const prepareLogins = async (): Promise<void> => {
    const Config = { JWTValidationPubKeys: [(await issuer).pem], ClaimMappings: { sub: 'name' } };
    await must('/v1/acl/auth-method', { Name: 'm', Type: 'jwt', Config, MaxTokenTTL: '1h' });
    const rule = { AuthMethod: 'm', BindType: 'service', BindName: 'web' };
    await must('/v1/acl/binding-rule', rule);
  };
  /** The status of a login, always with the same identity. */
  const login = async ({ url }: LocalNode): Promise<number> => {
    const now = Math.floor(Date.now() / 1000);
    const BearerToken = await (await issuer).sign({ sub: 'web', iat: now, exp: now + 600 });
    const body = JSON.stringify({ AuthMethod: 'm', BearerToken });
    return (await ask(url, 'POST', '/v1/acl/login', { body })).status;
  };
  const configure = ({ url }: LocalNode, configuration: object) =>
    ask(url, 'PUT', '/v1/operator/acl/configuration', {
      token: cluster.token,
      body: JSON.stringify(configuration),
    });

  const configEntry = ({ url }: LocalNode, method: string, path: string, body?: object) =>
    ask(url, method, `/v1/config${path}`, {
      token: cluster.token,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  it('from the previous release fails no request; the last node raises the level', async () => {
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    const top = SUPPORTED_LEVEL;
    const before = (await levels(n1)).Level;
    expect(before).to.be.lessThan(top);
    await prepareLogins();
    const traffic = load(cluster, 8);
    try {
      await restart(n1, THIS_MAIN);
      expect(await levels(n1)).to.include({ Level: before, Supported: top });
      for (const node of cluster.nodes) expect(await login(node)).to.equal(200);
      await restart(n2, THIS_MAIN);
      expect(await levels(n2)).to.deep.include({ Level: before, Waiting: ['n3'] });
      const early = await configure(n2, { TokensPerIdentity: 1 });
      expect(early.status).to.equal(503);
      expect(early.headers['retry-after']).to.equal('1');
      expect(JSON.parse(early.body)).to.include({
        code: 'unavailable',
        detail: `This needs level ${top}, the cluster is at level ${before}: n3 runs a release without it`,
      });
      for (const node of [n1, n2]) {
        for (const refused of [
          await configEntry(node, 'PUT', '', PROVIDER),
          await configEntry(node, 'PUT', '', INTENTIONS),
          await configEntry(node, 'DELETE', '/jwt-provider/p'),
        ]) {
          expect(refused.status).to.equal(503);
          // A node may not have asked the other one again since it was restarted.
          expect(refused.body).to.match(/^This needs level 2, the cluster is at level 1: .*\bn3 /);
        }
        expect((await configEntry(node, 'GET', '/jwt-provider')).body).to.equal('[]\n');
      }
      expect((await configEntry(n3, 'PUT', '', PROVIDER)).status).to.equal(400);
      await restart(n3, THIS_MAIN);
      for (const node of cluster.nodes)
        await until(
          () => levels(node),
          ({ Level, Waiting }) => Level === top && Waiting.length === 0,
        );
    } finally {
      await traffic.stop();
    }
    const { written, failures } = await traffic.stop();
    expect(failures).to.deep.equal([]);
    expect(written).to.be.greaterThan(100);
  });

  it('enables what needs the new level, and does not count earlier logins', async () => {
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    expect((await configure(n1, { TokensPerIdentity: 1 })).status).to.equal(200);
    expect(await login(n2)).to.equal(200);
    for (const node of [n3, n1]) expect(await login(node)).to.equal(403);
    expect(
      (await configure(n3, { OnTokenLimit: 'replace', TokensPerIdentity: 1 })).status,
    ).to.equal(200);
    expect(await login(n1)).to.equal(200);
  });

  it('enables jwt-providers, which all members apply by the same rules', async () => {
    const [n1, n2, n3] = cluster.nodes as [LocalNode, LocalNode, LocalNode];
    expect((await configEntry(n1, 'PUT', '', INTENTIONS)).status).to.equal(400);
    expect((await configEntry(n2, 'PUT', '', PROVIDER)).status).to.equal(200);
    expect((await configEntry(n3, 'PUT', '', INTENTIONS)).status).to.equal(200);
    expect((await configEntry(n1, 'DELETE', '/jwt-provider/p')).status).to.equal(409);
    for (const node of cluster.nodes) {
      const { body } = await configEntry(node, 'GET', '/jwt-provider/p');
      expect(JSON.parse(body)).to.include({ Name: 'p', ClockSkewSeconds: 30 });
    }
  });

  it('cannot be undone: the previous release refuses the folder, this one continues', async () => {
    const n3 = cluster.nodes[2]!;
    await n3.kill('SIGTERM');
    programs.set(n3.name, release);
    n3.start();
    const failure = await n3.ready().catch((error: Error) => error.message);
    expect(failure).to.match(/n3 exited.*THE LOG IS IN SEGMENTS SINCE RELEASE 0.3.0/s);
    programs.set(n3.name, THIS_MAIN);
    n3.start();
    await n3.ready();
  });
});
