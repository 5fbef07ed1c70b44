/** The rights that a program holds in a cache, beside real nodes: what is taken, and faults. */
import { expect } from 'chai';
import {
  type Events,
  openRights,
  type RightsCache,
  type RightsOptions,
} from '../../clients/typescript/src/cache.js';
import { Client } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';
import { peersOf, until } from './operator.js';

/** So long that only a change answers a held query while a test runs. */
const LONG = { freshFor: 600_000, maxStale: 600_000 };
/** So far apart that a busy machine tells one from the other. */
const SHORT = { freshFor: 3_000, maxStale: 9_000 };
const QUESTION = ['orders', 'approve', '17'] as const;
const RULES = 'key "orders/approve/17" { policy = "read" }';

/** The next event of a cache. */
const next = <E extends keyof Events>(cache: RightsCache, event: E): Promise<Events[E]> =>
  new Promise((resolve) => {
    const end = cache.on(event, (value) => {
      end();
      resolve(value);
    });
  });

describe('a cache of rights in a cluster', () => {
  let cluster: RealCluster;
  let policy: string;
  let token: { readonly AccessorID: string; readonly SecretID: string };
  const caches: RightsCache[] = [];
  before(async () => {
    cluster = await RealCluster.open(3);
  });
  beforeEach(async () => {
    const Name = `p${crypto.randomUUID()}`;
    policy = (await cluster.must('PUT /acl/policy', { Name, Rules: RULES })).ID;
    token = await cluster.must('PUT /acl/token', { Policies: [{ ID: policy }] });
  });
  afterEach(() => {
    for (const cache of caches.splice(0)) cache.close();
  });
  after(() => cluster.close());

  async function ready(more: Partial<RightsOptions> = {}): Promise<RightsCache> {
    const { urls: addresses } = cluster;
    const cache = openRights({ addresses, token: token.SecretID, ...LONG, ...more });
    caches.push(cache);
    await cache.ready();
    expect(cache.can(...QUESTION)).to.equal(true);
    return cache;
  }
  const link = (Policies: readonly object[]) =>
    cluster.must(`PUT /acl/token/${token.AccessorID}`, { Policies });

  it('learns from a held query of each way in which a right is taken', async () => {
    for (const address of cluster.urls) {
      const cache = await ready({ addresses: [address] });
      const changed = next(cache, 'rights');
      const { ModifyIndex } = await link([]);
      expect(await changed).to.equal(ModifyIndex);
      expect(cache.can(...QUESTION)).to.equal(false);
      const granted = next(cache, 'rights');
      await link([{ ID: policy }]);
      await granted;
      expect(cache.explain(...QUESTION)).to.include({ allow: true, state: 'fresh' });
    }
    const [first, second] = [await ready(), await ready()];
    const changed = Promise.all([next(first, 'rights'), next(second, 'rights')]);
    await cluster.must(`DELETE /acl/policy/${policy}`);
    await changed;
    expect([first, second].map((one) => one.can(...QUESTION))).to.deep.equal([false, false]);
    const ended = next(first, 'state');
    await cluster.must(`DELETE /acl/token/${token.AccessorID}`);
    expect(await ended).to.equal('ended');
    expect(first.explain(...QUESTION).reason).to.equal('ended');
  });

  it('that is cut off denies, and decides by the newest rights once it is not', async () => {
    const peers = await peersOf(cluster, cluster.urls[0]!);
    const isLeader = (name: string): boolean => peers.some((p) => p.Leader && p.Node === name);
    const [other, node] = cluster.nodes.filter(({ name }) => !isLeader(name));
    const cache = await ready({ addresses: [node!.url], ...SHORT });
    const told: unknown[] = [];
    cache.on('state', (state) =>
      told.push([state, cache.can(...QUESTION), cache.metrics()['ageMs']! > SHORT.freshFor]),
    );
    await node!.kill('SIGSTOP');
    try {
      const taken = { Name: 'taken', Rules: 'key "k" { policy = "read" }' };
      await new Client(other!.url, cluster.token).must(`PUT /acl/policy/${policy}`, taken);
      await until(
        async () => told.length,
        (count) => count === 2,
      );
      expect(told).to.deep.equal([
        ['stale', true, true],
        ['cut_off', false, true],
      ]);
      expect(cache.explain(...QUESTION).reason).to.equal('cut_off');
    } finally {
      await node!.kill('SIGCONT');
    }
    await until(
      async () => cache.state(),
      (state) => state === 'fresh',
    );
    expect(cache.explain(...QUESTION)).to.include({ allow: false, reason: 'denied' });
    expect(cache.can('key', 'read', 'k')).to.equal(true);
    expect(told[2]).to.deep.equal(['fresh', false, false]);
  });

  it('goes on with another node when its own is killed', async () => {
    let asked = '';
    const cache = await ready({
      fetch: (url, init) => {
        asked = String(url);
        return fetch(url, init);
      },
    });
    await until(
      async () => asked,
      (url) => url.includes('wait='),
    );
    const node = cluster.nodes.find(({ url }) => asked.startsWith(url))!;
    const failed = next(cache, 'error');
    await node.kill('SIGKILL');
    expect(await failed).to.match(/ did not answer \(\w+\)$/);
    const changed = next(cache, 'rights');
    const living = cluster.urls.find((url) => url !== node.url)!;
    await new Client(living, cluster.token).must(`DELETE /acl/policy/${policy}`);
    await changed;
    expect(cache.explain(...QUESTION)).to.include({ allow: false, state: 'fresh' });
    node.start();
    await node.ready();
  });
});
