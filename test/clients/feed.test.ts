/** How a cache asks for its feed: when, whom, and with which token. */
import { expect } from 'chai';
import { openPool } from '../../clients/typescript/src/cache.js';
import { FakeServer, feedOf } from './fake.js';

const THREE = { addresses: ['http://one:8500/', 'http://two:8500', 'http://three:8500'] };

describe('conclave-client/cache: the feed', () => {
  let server: FakeServer;
  beforeEach(() => {
    server = new FakeServer();
  });

  it('holds one query for four tenths of freshFor, and renews it at once', async () => {
    const cache = server.open({ freshFor: 20_000 });
    const first = await server.next();
    expect(first.url.pathname).to.equal('/v1/acl/token/self/rights');
    expect(first.query).to.deep.equal({});
    expect(first.headers.has('if-none-match')).to.equal(false);
    expect(first.secret).to.equal('secret');
    await first.feed(10, ['k']);
    for (const index of [10, 12]) {
      const held = await server.next();
      expect(held.query).to.deep.equal({ index: `${index}`, wait: '8000ms' });
      expect(held.headers.get('if-none-match')).to.equal('"k"');
      await server.clock.move(8_500);
      expect(server.unread).to.equal(0);
      await held.unchanged(12);
    }
    expect(server.unread).to.equal(1);
    expect(cache.state()).to.equal('fresh');
    cache.close();
  });

  it('asks in mode consistent if it is told to', async () => {
    const { cache, held } = await server.ready(['k'], { consistent: true });
    expect(held.query).to.deep.equal({ consistent: 'true', index: '10', wait: '4000ms' });
    cache.close();
  });

  it('stays fresh through a node that is silent, if the next one answers', async () => {
    const { cache, held } = await server.ready(['k'], THREE);
    await server.clock.move(4_250);
    await held.unchanged(10);
    const silent = await server.next();
    await server.clock.move(5_250);
    expect(silent.isAborted()).to.equal(true);
    expect(cache.state()).to.equal('fresh');
    const other = await server.next();
    expect(other.url.host).to.not.equal(silent.url.host);
    // It is not held, so that the answer comes at once.
    expect(other.query).to.deep.equal({});
    await other.unchanged(10);
    await server.clock.move(4_250);
    expect(cache.state()).to.equal('fresh');
    cache.close();
  });

  it('goes to the next node at once, then after 100 ms doubled to 5 s', async () => {
    const { cache, held } = await server.ready(['k'], THREE);
    await held.cut();
    const hosts = [held.url.host];
    const delays: number[] = [];
    for (let n = 0; n < 12; n += 1) {
      let waited = 0;
      for (; server.unread === 0; waited += 10) await server.clock.move(10);
      delays.push(waited);
      expect(server.unread).to.equal(1);
      const ask = await server.next();
      hosts.push(ask.url.host);
      await ask.cut('ECONNREFUSED');
    }
    expect(new Set(hosts.slice(0, 3)).size).to.equal(3);
    expect(hosts.slice(0, 3)).to.deep.equal(hosts.slice(3, 6));
    const [first, ...rest] = delays;
    expect(first).to.equal(0);
    for (const [n, delay] of rest.entries()) {
      const least = Math.min(5_000, 100 * 2 ** n);
      expect(delay).to.be.within(least, least * 1.5 + 20);
    }
    expect(cache.metrics()['failures']).to.equal(13);
    cache.close();
  });

  it('waits as 429 and 503 ask for', async () => {
    const { cache, held } = await server.ready(['k'], THREE);
    const errors: string[] = [];
    cache.on('error', (sentence) => errors.push(sentence));
    await held.refuse(503, 'no_leader', { 'retry-after': '2' });
    await server.clock.move(1_999);
    expect(server.unread).to.equal(0);
    await server.clock.move(1_001);
    await (await server.next()).refuse(429, 'too_many', { 'retry-after': '1' });
    await server.clock.move(999);
    expect(server.unread).to.equal(0);
    await server.clock.move(501);
    await (await server.next()).unchanged(10);
    expect(errors.map((sentence) => sentence.split(' ').slice(1).join(' '))).to.deep.equal([
      'answered 503 no_leader',
      'answered 429 too_many',
    ]);
    expect(cache.state()).to.equal('fresh');
    cache.close();
  });

  it('goes to the next node within a minute, whatever a node or a proxy asks for', async () => {
    const { cache, held } = await server.ready(['k'], THREE);
    await held.refuse(503, '', { 'retry-after': '86400' });
    let waitedMs = 0;
    for (; server.unread === 0; waitedMs += 100) await server.clock.move(100);
    expect(waitedMs).to.be.within(30_000, 45_000);
    await (await server.next()).unchanged(10);
    expect(cache.state()).to.equal('fresh');
    cache.close();
  });

  it('does not ask in a loop what asks to wait for no time', async () => {
    const { cache, held } = await server.ready(['k'], THREE);
    await held.refuse(503, 'no_leader', { 'retry-after': '0' });
    for (let least = 100; least <= 1_600; least *= 2) {
      await (await server.next()).refuse(429, 'too_many', { 'retry-after': '0' });
      await server.clock.move(least - 1);
      expect(server.unread, `${least}`).to.equal(0);
      await server.clock.move(least / 2 + 1);
    }
    expect(server.unread).to.equal(1);
    cache.close();
  });

  it('asks a node again, consistently, whose index is below one already seen', async () => {
    const { cache, held } = await server.ready(['k']);
    await server.clock.move(1_000);
    await held.feed(9, ['k', 'old']);
    // The older feed neither replaces the newer one nor counts as an answer.
    expect(cache.can('key', 'read', 'old')).to.equal(false);
    expect(cache.metrics()['ageMs']).to.equal(1_000);
    const again = await server.next();
    expect(again.query).to.deep.equal({ consistent: 'true' });
    expect(again.headers.get('if-none-match')).to.equal('"k"');
    await again.unchanged(10);
    const next = await server.next();
    expect(next.query).to.deep.equal({ index: '10', wait: '4000ms' });
    cache.close();
  });

  it('takes a lower index that a consistent answer confirms, as after a restore', async () => {
    const { cache, held } = await server.ready(['k']);
    await held.unchanged(4);
    await (await server.next()).feed(4, ['restored']);
    expect(cache.can('key', 'read', 'restored')).to.equal(true);
    expect((await server.next()).query['index']).to.equal('4');
    cache.close();
  });

  it('does not take for an answer what is none', async () => {
    const { cache, held } = await server.ready(['k']);
    await server.clock.move(500);
    await held.with(200, '<html>log in to this network</html>');
    await (await server.next()).with(200, { decision: true });
    await server.clock.move(200);
    await (await server.next()).refuse(500, 'internal');
    expect(cache.can('key', 'read', 'k')).to.equal(true);
    expect(cache.metrics()['ageMs']).to.equal(700);
    cache.close();
  });

  it('takes no feed of the anonymous token for that of the token it has sent', async () => {
    const { cache, held } = await server.ready(['k'], THREE);
    const errors: string[] = [];
    cache.on('error', (sentence) => errors.push(sentence));
    const anonymous = { ...feedOf(11, ['k', 'open']), Anonymous: true };
    await held.with(200, anonymous, { 'x-consul-index': '11', etag: '"open"' });
    const next = await server.next();
    expect(next.url.host).to.not.equal(held.url.host);
    expect(next.query).to.deep.equal({});
    expect(errors).to.deep.equal([
      `${held.url.host} did not get the token: a proxy may remove the header Authorization`,
    ]);
    expect(cache.can('key', 'read', 'open')).to.equal(false);
    expect(cache.can('key', 'read', 'k')).to.equal(true);
    cache.close();
    for (const token of ['', 'anonymous']) {
      const own = server.open({ token });
      await (await server.next()).with(200, anonymous);
      expect(own.can('key', 'read', 'open')).to.equal(true);
      own.close();
    }
  });

  it('does not ask in a loop what answers before the hold is over', async () => {
    const { cache, held } = await server.ready(['k']);
    await held.unchanged(10);
    expect(server.unread).to.equal(0);
    await server.clock.move(100);
    expect(server.unread).to.equal(1);
    cache.close();
  });

  it('asks the provider for a token again when one has ended', async () => {
    const secrets = ['s1', 's2', 's3'];
    const tokenProvider = () => secrets.shift()!;
    const { cache, held } = await server.ready(['k'], { tokenProvider });
    expect(held.secret).to.equal('s1');
    await held.refuse(403, 'acl_not_found');
    expect(cache.state()).to.equal('ended');
    const second = await server.next();
    expect([second.secret, second.headers.get('if-none-match')]).to.deep.equal(['s2', null]);
    await second.refuse(401, 'unauthenticated');
    await server.clock.move(150);
    // Another token has an index of its own.
    await (await server.next()).feed(3, ['l']);
    expect(cache.can('key', 'read', 'l')).to.equal(true);
    cache.close();
  });

  it('asks the provider before the token expires; the old feed decides meanwhile', async () => {
    const secrets = ['s1', 's2'];
    const cache = server.open({ tokenProvider: () => secrets.shift()! });
    await (await server.next()).feed(10, ['k'], 60_000);
    let held = await server.next();
    while (held.secret === 's1') {
      await server.clock.move(4_000);
      expect(cache.can('key', 'read', 'k')).to.equal(true);
      await held.unchanged(10, 60_000 - (server.clock.now() - 1_000_000 - 4_000));
      held = await server.next();
    }
    expect(server.clock.now() - 1_000_000).to.be.within(40_000, 48_000);
    await held.feed(11, ['l'], 60_000);
    expect(cache.can('key', 'read', 'l')).to.equal(true);
    cache.close();
  });

  it('asks nothing once it is closed, whatever the provider brings then', async () => {
    let bring: (secret: string) => void = () => {};
    const tokenProvider = () => new Promise<string>((resolve) => (bring = resolve));
    server.open({ tokenProvider }).close();
    bring('s1');
    await server.clock.move(60_000);
    expect(server.asked).to.have.length(0);
  });

  it('asks a provider again that has not answered, and leaves it when it is closed', async () => {
    let asked = 0;
    const tokenProvider = () => (asked++ === 0 ? new Promise<string>(() => {}) : 's1');
    const cache = server.open({ tokenProvider });
    const errors: string[] = [];
    cache.on('error', (sentence) => errors.push(sentence));
    await server.clock.move(4_000);
    expect((await server.next()).secret).to.equal('s1');
    expect(errors).to.deep.equal(['the provider of the token failed']);
    cache.close();
    server.open({ tokenProvider: () => new Promise<string>(() => {}) }).close();
    await server.clock.move(0);
    expect(server.clock.timers).to.equal(0);
  });

  it('follows the feed while the provider of the next token stays silent', async () => {
    let asked = 0;
    const tokenProvider = () => (asked++ === 0 ? 's1' : new Promise<string>(() => {}));
    const cache = server.open({ tokenProvider });
    await (await server.next()).feed(10, ['k'], 60_000);
    for (let leftMs = 60_000; leftMs > 4_000; leftMs -= 4_000) {
      const held = await server.next();
      expect([held.secret, cache.state()]).to.deep.equal(['s1', 'fresh']);
      await server.clock.move(4_000);
      await held.unchanged(10, leftMs - 4_000);
    }
    // The last answer counts from when it was asked for.
    expect([asked, cache.state()]).to.deep.equal([2, 'ended']);
    cache.close();
  });

  it('takes a blank answer of the provider for a failure, and keeps the old token', async () => {
    const answers: unknown[] = ['', 's1', '\n', ' \t', undefined, null, 7];
    const tokenProvider = () => answers.shift() as string;
    const cache = server.open({ tokenProvider });
    const errors: string[] = [];
    cache.on('error', (sentence) => errors.push(sentence));
    await (await server.next()).feed(10, ['k'], 60_000);
    for (let leftMs = 60_000; leftMs > 4_000; leftMs -= 4_000) {
      const held = await server.next();
      expect([held.secret, cache.state()]).to.deep.equal(['s1', 'fresh']);
      await server.clock.move(4_000);
      await held.unchanged(10, leftMs - 4_000);
    }
    // The last answer counts from when it was asked for.
    expect(cache.state()).to.equal('ended');
    expect(answers).to.deep.equal([]);
    const failed = 'the provider of the token failed';
    expect(errors).to.deep.equal(Array(errors.length).fill(failed));
    expect(server.asked.every(({ secret }) => secret === 's1')).to.equal(true);
    cache.close();
  });

  it('stays ended while the provider has no next token', async () => {
    const answers = ['s1', '', 's2'];
    const { cache, held } = await server.ready(['k'], { tokenProvider: () => answers.shift()! });
    await held.refuse(403, 'acl_not_found');
    expect([cache.state(), server.unread]).to.deep.equal(['ended', 0]);
    await server.clock.move(150);
    const next = await server.next();
    expect([cache.state(), next.secret]).to.deep.equal(['ended', 's2']);
    cache.close();
  });

  it('tells no secret when a provider fails, and asks it again', async () => {
    const tokenProvider = async () => {
      if (server.clock.now() < 1_000_050) throw new Error('s1 is no use');
      return 's1';
    };
    const cache = server.open({ tokenProvider });
    const errors: string[] = [];
    cache.on('error', (sentence) => errors.push(sentence));
    await server.clock.move(200);
    const ask = await server.next();
    await ask.refuse(403, 'permission_denied');
    expect(ask.secret).to.equal('s1');
    expect(errors.length).to.be.at.least(2);
    expect(errors.join()).to.not.include('s1');
    cache.close();
  });
});

describe('conclave-client/cache: a pool', () => {
  const known = (pool: (secret: string) => object, secret: string): object => pool(secret);

  it('keeps a cache for each token, the least recently used going first', async () => {
    const server = new FakeServer();
    const pool = openPool({ ...server.options(), maxTokens: 2 });
    const a = pool('a');
    expect(known(pool, 'a')).to.equal(a);
    const b = pool('b');
    const secrets = [(await server.next()).secret, (await server.next()).secret];
    expect(secrets).to.deep.equal(['a', 'b']);
    known(pool, 'a');
    known(pool, 'c');
    expect((await server.next()).secret).to.equal('c');
    expect(pool.size).to.equal(2);
    expect([a.state(), b.state()]).to.deep.equal(['cut_off', 'ended']);
    expect(known(pool, 'a')).to.equal(a);
    expect(server.unread).to.equal(0);
    pool.close();
    expect([pool.size, a.state()]).to.deep.equal([0, 'ended']);
  });

  it('closes caches that are idle', async () => {
    const server = new FakeServer();
    const pool = openPool({ ...server.options(), idleMs: 60_000 });
    const a = pool('a');
    await server.clock.move(30_000);
    const b = pool('b');
    await server.clock.move(30_000);
    expect([pool.size, a.explain('key', 'read', 'k').reason]).to.deep.equal([1, 'closed']);
    expect(known(pool, 'b')).to.equal(b);
    await server.clock.move(60_000);
    expect(pool.size).to.equal(0);
    expect(server.clock.timers).to.equal(0);
  });

  it('refuses a blank secret, which would be the anonymous token', () => {
    const server = new FakeServer();
    const pool = openPool(server.options());
    for (const blank of ['', ' ', '\r\n', undefined, null] as string[])
      expect(() => pool(blank), String(blank)).to.throw(TypeError, 'the secret is blank');
    expect([pool.size, server.asked.length]).to.deep.equal([0, 0]);
    pool.close();
  });

  it('asks again about a token that has ended, but not at each request', async () => {
    const server = new FakeServer();
    const pool = openPool(server.options());
    const a = pool('a');
    await (await server.next()).refuse(403, 'acl_not_found');
    await server.clock.move(10_000);
    expect(known(pool, 'a')).to.equal(a);
    await server.clock.move(1);
    expect(known(pool, 'a')).to.not.equal(a);
    expect((await server.next()).secret).to.equal('a');
    pool.close();
  });
});
