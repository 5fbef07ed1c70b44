/** What a cache decides, by what it has heard and when. */
import { expect } from 'chai';
import { openRights, type RightsOptions } from '../../clients/typescript/src/cache.js';
import { FakeServer, feedOf } from './fake.js';

describe('conclave-client/cache', () => {
  let server: FakeServer;
  beforeEach(() => {
    server = new FakeServer();
  });

  it('denies as not_ready before the first answer, for which ready() waits', async () => {
    const cache = server.open({ whenStale: 'extend' });
    expect(cache.explain('key', 'read', 'k')).to.deep.equal({
      allow: false,
      reason: 'not_ready',
      state: 'cut_off',
    });
    const isReady = cache.ready();
    await (await server.next()).feed(10, ['k']);
    await isReady;
    expect(cache.can('key', 'read', 'k')).to.equal(true);
    expect(cache.can('key', 'read', 'other')).to.equal(false);
    expect(cache.rights()!.index).to.equal(10);
    expect(cache.metrics()).to.deep.include({ queries: 2, changed: 1, ageMs: 0 });
    await cache.ready();
    cache.close();
  });

  it('waits for the first answer no longer than it is told to', async () => {
    const cache = server.open();
    const [ask, isReady] = [await server.next(), cache.ready(500)];
    await server.clock.move(500);
    await isReady;
    expect(cache.explain('key', 'read', 'k').reason).to.equal('not_ready');
    const later = cache.ready(500);
    await ask.feed(10, ['k']);
    await later;
    expect(cache.can('key', 'read', 'k')).to.equal(true);
    cache.close();
    await server.clock.move(0);
    expect(server.clock.timers).to.equal(0);
  });

  it('is fresh for freshFor and stale until maxStale from when the query was SENT', async () => {
    const { cache, held } = await server.ready(['k'], { freshFor: 10_000, maxStale: 60_000 });
    await server.clock.move(4_000);
    await held.unchanged(10);
    // What the node said is of when it was asked: 4 seconds ago.
    expect(cache.metrics()['ageMs']).to.equal(4_000);
    await server.clock.move(6_000);
    expect(cache.state()).to.equal('fresh');
    await server.clock.move(1);
    expect(cache.explain('key', 'read', 'k')).to.include({ allow: true, state: 'stale' });
    await server.clock.move(49_999);
    expect(cache.state()).to.equal('stale');
    await server.clock.move(1);
    expect(cache.explain('key', 'read', 'k')).to.deep.equal({
      allow: false,
      reason: 'cut_off',
      state: 'cut_off',
    });
    cache.close();
  });

  it('goes on by the last feed when cut off, if it is told to', async () => {
    const { cache } = await server.ready(['k'], { whenStale: 'extend' });
    await server.clock.move(3_600_000);
    expect(cache.explain('key', 'read', 'k')).to.include({ allow: true, state: 'cut_off' });
    expect(cache.can('key', 'read', 'other')).to.equal(false);
    cache.close();
  });

  it('tells states, changes and errors, and becomes fresh again', async () => {
    const { cache, held } = await server.ready(['k']);
    const told: unknown[] = [];
    cache.on('state', (state) => told.push(state));
    cache.on('rights', (index) => told.push(index));
    const end = cache.on('error', (sentence) => told.push(sentence));
    await held.cut();
    const retried = await server.next();
    await server.clock.move(10_001);
    end();
    await server.clock.move(50_000);
    expect(told).to.deep.equal([
      'one:8500 did not answer (ECONNRESET)',
      'one:8500 did not answer (AbortError)',
      ...Array(told.length - 4).fill('one:8500 did not answer (AbortError)'),
      'stale',
      'cut_off',
    ]);
    expect(retried.isAborted()).to.equal(true);
    while (server.asked.at(-1)!.isAborted()) await server.clock.move(100);
    told.length = 0;
    await server.asked.at(-1)!.feed(11, ['k', 'l']);
    expect(told).to.deep.equal([11, 'fresh']);
    cache.close();
    expect(told).to.deep.equal([11, 'fresh', 'ended']);
  });

  it('drops a right as soon as a feed lacks it', async () => {
    const { cache, held } = await server.ready(['k', 'l']);
    expect(cache.can('key', 'read', 'l')).to.equal(true);
    await held.feed(11, ['k']);
    expect(cache.can('key', 'read', 'l')).to.equal(false);
    expect(cache.can('key', 'read', 'k')).to.equal(true);
    cache.close();
  });

  for (const [status, code] of [
    [401, 'unauthenticated'],
    [403, 'acl_not_found'],
  ] as const)
    it(`has ended at ${status} ${code}, and asks no more`, async () => {
      const { cache, held } = await server.ready(['k'], { whenStale: 'extend' });
      await held.refuse(status, code);
      const { allow, reason, state } = cache.explain('key', 'read', 'k');
      expect([allow, reason, state]).to.deep.equal([false, 'ended', 'ended']);
      await server.clock.move(600_000);
      expect(server.unread).to.equal(0);
      expect(server.clock.timers).to.equal(0);
      await cache.ready();
    });

  it('has ended by the words of an older server too', async () => {
    const { cache, held } = await server.ready(['k']);
    await held.with(403, 'ACL not found (the token sent is not known to this cluster)\n');
    expect(cache.state()).to.equal('ended');
  });

  it('denies while the feed is too large, and asks again after freshFor', async () => {
    const { cache, held } = await server.ready(['k']);
    await held.refuse(413, 'too_large');
    const { allow, reason, state } = cache.explain('key', 'read', 'k');
    expect([allow, reason, state]).to.deep.equal([false, 'too_large', 'ended']);
    await server.clock.move(9_999);
    expect(server.unread).to.equal(0);
    await server.clock.move(1);
    await (await server.next()).feed(12, ['k']);
    expect(cache.can('key', 'read', 'k')).to.equal(true);
    cache.close();
  });

  it('has ended when ExpiresInMs is over, counted from when the query was SENT', async () => {
    const cache = server.open({ whenStale: 'extend' });
    const states: string[] = [];
    cache.on('state', (state) => states.push(state));
    const first = await server.next();
    await server.clock.move(500);
    await first.feed(10, ['k'], 5_000);
    await server.clock.move(4_000);
    await (await server.next()).unchanged(10, 1_000);
    // That query was sent at 500, so the token ends at 1,500 by it: already over.
    expect(cache.can('key', 'read', 'k')).to.equal(false);
    expect(cache.state()).to.equal('ended');
    expect(states).to.deep.equal(['fresh', 'ended']);
    cache.close();
  });

  it('ends by itself at the moment of expiry', async () => {
    const cache = server.open({ freshFor: 600_000, maxStale: 600_000 });
    await (await server.next()).feed(10, ['k'], 5_000);
    await server.clock.move(4_999);
    expect(cache.can('key', 'read', 'k')).to.equal(true);
    await server.clock.move(1);
    expect(cache.explain('key', 'read', 'k')).to.include({ reason: 'ended', state: 'ended' });
    cache.close();
  });

  it('denies by a feed of a later version, and by one that it cannot read', async () => {
    const { cache, held } = await server.ready(['k']);
    const head = { 'x-consul-index': '11', etag: '"v2"' };
    await held.with(200, { ...feedOf(11, ['k']), Version: 2 }, head);
    expect(cache.explain('key', 'read', 'k')).to.include({ allow: false, reason: 'version' });
    await (await server.next()).with(200, { Version: 1 }, { ...head, etag: '"odd"' });
    expect(cache.explain('key', 'read', 'k')).to.include({ allow: false, reason: 'invalid' });
    cache.close();
  });

  it('throws at no question', async () => {
    const { cache } = await server.ready(['k']);
    const odd: unknown[] = [undefined, null, 7, Symbol('s'), {}, [], () => 0, '\ud800', 10n];
    for (const one of odd)
      for (const args of [
        [one, 'read', 'k'],
        ['key', one, 'k'],
        ['key', 'read', one],
        ['key', 'write', 'k', one],
      ] as [string, string, string][])
        expect(cache.can(...args)).to.equal(false);
    expect(cache.can('key', 'read', 'k', null as unknown as undefined)).to.equal(true);
    expect(cache.explain('key', 'read', '\ud800').reason).to.equal('invalid');
    cache.close();
  });

  it('remembers the last 1,024 answers, each for its own question', async () => {
    const { cache } = await server.ready(['k']);
    const first = cache.explain('key', 'read', 'k').rule;
    for (let n = 0; n < 1_023; n += 1) cache.can('key', 'read', `k${n}`);
    expect(cache.explain('key', 'read', 'k').rule).to.equal(first);
    expect(cache.can('key', 'write', 'k')).to.equal(false);
    expect(cache.can('key', 'read', 'k', { namespace: 'team' })).to.equal(false);
    expect(cache.can('key', 'read', 'k', { namespace: 'default' })).to.equal(true);
    cache.close();
  });

  it('says with sources where a rule is written', async () => {
    const cache = server.open({ sources: true });
    const ask = await server.next();
    expect(ask.query).to.deep.equal({ sources: 'true' });
    const chain = [{ Type: 'policy', ID: 'p', Name: 'shop' }];
    const feed = JSON.parse(JSON.stringify(feedOf(10, [])));
    feed.Layers[0].Sets[0].Named.key.Exact.read = [{ Name: 'k', From: [[0, 3]] }];
    await ask.with(200, { ...feed, Origins: [chain] }, { 'x-consul-index': '10', etag: '"s"' });
    expect(cache.explain('key', 'read', 'k').sources).to.deep.equal([{ chain, line: 3 }]);
    expect(cache.explain('key', 'read', 'l')).to.not.have.property('sources');
    cache.close();
  });

  it('asks a node where it cannot decide, if it is told to', async () => {
    const cache = server.open({ askServer: true });
    const feed = await server.next();
    const allowed = cache.canAsync('orders', 'approve', '17', { namespace: 'team' });
    const ask = await server.next();
    expect(ask.url.pathname).to.equal('/access/v1/evaluation');
    expect(ask.secret).to.equal('secret');
    expect(ask.body).to.deep.equal({
      subject: { type: 'token', id: 'self' },
      action: { name: 'approve' },
      resource: { type: 'orders', id: '17', properties: { namespace: 'team' } },
    });
    await ask.with(200, { decision: true });
    expect(await allowed).to.equal(true);
    for (const fail of ['cut', 'odd', 'status'] as const) {
      const answer = cache.canAsync('orders', 'approve', '17');
      const next = await server.next();
      if (fail === 'cut') await next.cut();
      if (fail === 'odd') await next.with(200, 'true');
      if (fail === 'status') await next.with(500, { decision: true });
      expect(await answer, fail).to.equal(false);
    }
    await feed.feed(10, ['k']);
    expect(await cache.canAsync('key', 'read', 'k')).to.equal(true);
    expect(await cache.canAsync('key', 'read', 'l')).to.equal(false);
    cache.close();
    expect(await cache.canAsync('key', 'read', 'k')).to.equal(false);
  });

  it('asks no node unless it is told to', async () => {
    const cache = server.open();
    await server.next();
    expect(await cache.canAsync('key', 'read', 'k')).to.equal(false);
    expect(server.unread).to.equal(0);
    cache.close();
  });

  it('denies once it is closed, and leaves nothing behind', async () => {
    const { cache, held } = await server.ready(['k']);
    cache.close();
    expect(held.isAborted()).to.equal(true);
    expect(cache.explain('key', 'read', 'k')).to.include({ reason: 'closed', state: 'ended' });
    await server.clock.move(60_000);
    expect([server.unread, server.clock.timers]).to.deep.equal([0, 0]);
  });

  it('refuses options that make no sense', () => {
    const odd: readonly Partial<RightsOptions>[] = [
      { addresses: [] },
      { addresses: ['ftp://one'] },
      { addresses: ['http://user:password@one'] },
      { freshFor: 999 },
      { freshFor: 600_001 },
      { freshFor: Number.NaN },
      { freshFor: 20_000, maxStale: 19_999 },
      { maxStale: 86_400_001 },
    ];
    for (const more of odd)
      expect(() => openRights(server.options(more)), JSON.stringify(more)).to.throw();
    expect(server.asked).to.have.length(0);
    server.open({ freshFor: 600_000 }).close();
  });
});
