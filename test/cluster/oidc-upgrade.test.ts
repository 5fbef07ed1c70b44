import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';
import type { Answer } from '../support/client.js';
import { type OidcProvider, startProvider } from '../support/oidc-provider.js';
import { RealCluster } from '../support/real-cluster.js';
import { type Begun, CALLBACK, OidcCluster, told } from './oidc-cluster.js';
import { until } from './operator.js';
import { nextRelease, THIS_MAIN, unpackRelease } from './releases.js';

const ALIVE = [200, 200, 200];
const DEAD = [403, 403, 403];
const NEXT_LEVEL = SUPPORTED_LEVEL + 1;

describe('OIDC logins during a rolling upgrade', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-next-'));
  const programs = new Map<string, string>();
  let next: string;
  let provider: OidcProvider;
  let field: OidcCluster;
  before(async () => {
    next = nextRelease(dir);
    provider = await startProvider({ redirectUris: [CALLBACK] });
    provider.setAccount('eve', { email: 'eve@example.com', groups: ['dev'] });
    field = await OidcCluster.open(
      3,
      { issuer: provider.issuer, logIn: (url) => provider.logIn(url, 'eve') },
      (name) => programs.get(name) ?? THIS_MAIN,
    );
  });
  after(async () => {
    await field?.cluster.close();
    await provider?.close();
    rmSync(dir, { recursive: true });
  });

  /** The level in force, once every node tells the same; Supported is that of each. */
  const levels = async (): Promise<{ level: number; supported: number[] }> => {
    const shown = await Promise.all(
      field.clients.map((client) => client.must('GET /operator/level')),
    );
    const [level, ...others] = new Set(shown.map(({ Level }) => Level as number));
    if (others.length > 0) throw new Error('the levels differ');
    return { level: level!, supported: shown.map(({ Supported }) => Supported) };
  };
  const replace = async (at: number): Promise<void> => {
    const node = field.cluster.nodes[at]!;
    await node.kill('SIGTERM');
    programs.set(node.name, next);
    node.start();
    await node.ready();
    await until(levels, ({ supported }) => supported[at] === NEXT_LEVEL);
  };
  const must = ({ status, text, body }: Answer): Answer['body'] => {
    expect(status, text).to.equal(200);
    return body;
  };
  /** Completes a login at a node. Returns the token, which is good on every node. */
  const complete = async (begun: Begun, at: number): Promise<Answer['body']> => {
    const token = must(await field.complete(await field.redirected(begun), at));
    expect(await field.alive(token)).to.deep.equal(ALIVE);
    return token;
  };

  it('are completed and renewed by nodes of either release, at either level', async () => {
    expect(await levels()).to.include({ level: SUPPORTED_LEVEL });
    // At each node, before anything is replaced; the browsers come back when much has changed.
    const [first, second, third, last] = await Promise.all(
      [0, 1, 2, 1].map((at) => field.begin(at)),
    );
    const returned = await field.redirected(await field.begin(0));
    let token = await field.logIn(0, 1);
    const renew = async (at: number): Promise<void> => {
      const old = token;
      token = must(await field.renew(old, at));
      expect(await field.alive(token)).to.deep.equal(ALIVE);
      expect(await field.alive(old)).to.deep.equal(DEAD);
    };

    await replace(0);
    expect((await levels()).level).to.equal(SUPPORTED_LEVEL);
    // By the new node, and by an old one what the replaced node began.
    await complete(second!, 0);
    await complete(first!, 1);
    await renew(0);
    const mixed = await field.begin(0);

    await replace(1);
    expect((await levels()).level).to.equal(SUPPORTED_LEVEL);
    await complete(mixed, 2);
    await renew(2);
    await renew(1);

    await replace(2);
    await until(levels, ({ level }) => level === NEXT_LEVEL);
    const late = await complete(third!, 2);
    await complete(last!, 0);
    must(await field.complete(returned, 1));
    await renew(0);
    // What was used below the level stays used above it.
    expect(await field.reasonOf(await field.complete(returned, 2))).to.equal('state_used');
    expect(await field.writes(late, 'dev-web')).to.deep.equal(ALIVE);
    expect(await field.writes(token, 'dev-web')).to.deep.equal(ALIVE);
  });

  it('need the level of this release: below it, no method for them can be written', async () => {
    const release = await unpackRelease(mkdtempSync(join(dir, 'release-')));
    const mains = new Map<string, string>();
    const run = (name: string) => ({
      preload: [],
      env: {},
      main: () => mains.get(name) ?? release,
    });
    const older = new OidcCluster(await RealCluster.open(3, { run }), field.idp);
    try {
      const { clients } = older;
      const upgrade = async (at: number): Promise<void> => {
        const node = older.cluster.nodes[at]!;
        await node.kill('SIGTERM');
        mains.set(node.name, THIS_MAIN);
        node.start();
        await node.ready();
      };
      const ask = { AuthMethod: 'staff', RedirectURI: CALLBACK, ClientNonce: 'n' };
      for (const at of [0, 1]) {
        await upgrade(at);
        // A node that has just started may not know the release of n3 yet.
        const put = await until(
          () => clients[at]!.ask('PUT /acl/auth-method', older.method()),
          ({ status, text }) => status !== 503 || text.includes('n3'),
        );
        expect(`${put.status} ${put.text}`).to.match(
          /^503 This needs level 3, the cluster is at level 2: .*\bn3 runs? a release without it$/m,
        );
        const begun = await clients[at]!.ask('POST /acl/oidc/auth-url', ask, '');
        expect(told(begun)).to.deep.equal([403, 'ACL not found: auth method "staff" not found']);
      }
      await upgrade(2);
      await older.reached(SUPPORTED_LEVEL);
      await older.addRoles();
      await older.addMethod();
      expect(await older.alive(await older.logIn(0, 2))).to.deep.equal(ALIVE);
    } finally {
      await older.cluster.close();
    }
  });
});
