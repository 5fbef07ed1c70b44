import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { Auditor } from '../../src/http/audited.js';
import { Buckets } from '../../src/http/limits/rates.js';
import { clientAt } from '../../src/http/listener/addresses.js';
import type { Route } from '../../src/http/routes/types.js';
import type { Notes } from '../../src/service/common/types.js';
import { signer } from '../login/signers.js';
import { SoloClient } from '../service/client.js';
import { ended, type Front, fakeService, LIMITS, startFront } from './harness.js';

describe('http: the client that an address stands for', () => {
  const cases: [string, string][] = [
    ['10.1.2.3', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ];
  for (const [address, client] of cases)
    it(`${address} is ${client}`, () => expect(clientAt(address)).to.equal(client));
});

describe('http: token buckets', () => {
  it('allow a burst, then the rate', () => {
    const buckets = new Buckets(10);
    const taken = (nowMs: number) => {
      let count = 0;
      while (buckets.take('a', nowMs)) count += 1;
      return count;
    };
    expect([taken(0), taken(0), taken(1000), taken(1050), taken(1100)]).to.deep.equal([
      ...[50, 0, 10, 0, 1],
    ]);
    expect(taken(1_000_000)).to.equal(50);
    expect(buckets.take('b', 0)).to.equal(true);
  });

  it('allow any number at a rate of 0, and keep no client', () => {
    const buckets = new Buckets(0);
    for (let i = 0; i < 1000; i += 1) expect(buckets.take(`${i}`, 0)).to.equal(true);
    expect(buckets.size).to.equal(0);
  });

  it('forget the client whose last request is oldest when there are too many', () => {
    const buckets = new Buckets(1, 3);
    const drain = (client: string) => {
      while (buckets.take(client, 0));
    };
    for (const client of ['a', 'b', 'c']) drain(client);
    expect(buckets.take('a', 0)).to.equal(false);
    drain('d');
    expect(buckets.size).to.equal(3);
    expect([buckets.take('a', 0), buckets.take('c', 0), buckets.take('d', 0)]).to.deep.equal([
      ...[false, false, false],
    ]);
    expect(buckets.take('b', 0), 'b is forgotten').to.equal(true);
  });
});

describe('http: rate limits', () => {
  const routes: Route[] = [
    { path: '/v1/thing', GET: (r) => r.answerText(''), PUT: (r) => r.answerText('') },
    { path: '/v1/question', counts: 'read', POST: (r) => r.answerText('') },
    { path: '/v1/health/live', counts: 'probe', GET: (r) => r.answerText('') },
  ];
  let front: Front;
  const open = async (limits: object) => {
    front = await startFront(routes, { limits: { ...LIMITS, ...limits } });
  };
  /** The statuses of several requests, one after the other. */
  const statuses = async (count: number, call: string, token = '') => {
    const [method, path] = call.split(' ') as [string, string];
    const found: number[] = [];
    for (let i = 0; i < count; i += 1) {
      const headers = token === '' ? {} : { 'x-service-token': token };
      found.push((await front.ask(path, { method, headers })).status);
    }
    return found;
  };
  afterEach(() => front.close());
  // A rate of one a second has a burst of five.
  const FIVE = [200, 200, 200, 200, 200];

  it('limit an address, with 429, Retry-After, a reason and a counter', async () => {
    await open({ requestsPerAddress: 1 });
    expect(await statuses(5, 'GET /v1/thing')).to.deep.equal(FIVE);
    const { status, headers, text } = await front.ask('/v1/thing');
    expect([status, headers['retry-after']]).to.deep.equal([429, '1']);
    expect(text).to.include('at most 1 a second').and.to.include('limits.requestsPerAddress');
    expect(front.app.refused.counts).to.include({ requestsPerAddress: 1, requestsPerToken: 0 });
  });

  it('limit each token separately', async () => {
    await open({ requestsPerToken: 1 });
    expect(await statuses(6, 'GET /v1/thing', 'a')).to.deep.equal([...FIVE, 429]);
    expect(await statuses(6, 'GET /v1/thing', 'b')).to.deep.equal([...FIVE, 429]);
    expect(await statuses(7, 'GET /v1/thing')).to.deep.equal([...FIVE, 200, 200]);
  });

  it('limit writes, without counting reads and authorization checks', async () => {
    await open({ writesPerAddress: 1, writesPerToken: 1 });
    expect(await statuses(7, 'GET /v1/thing')).to.deep.equal([...FIVE, 200, 200]);
    expect(await statuses(7, 'POST /v1/question')).to.deep.equal([...FIVE, 200, 200]);
    expect(await statuses(6, 'PUT /v1/thing')).to.deep.equal([...FIVE, 429]);
  });

  it('never limit probes', async () => {
    await open({ requestsPerAddress: 1 });
    expect(await statuses(7, 'GET /v1/health/live')).to.deep.equal([...FIVE, 200, 200]);
  });
});

describe('http: rate limits of logins', () => {
  it('limits.loginsPerAddress counts separately from other limits', async () => {
    const client = await SoloClient.open([], undefined, {
      limits: { ...LIMITS, loginsPerAddress: 1 },
    });
    const login = (AuthMethod: string) =>
      client.ask('POST /acl/login', { AuthMethod, BearerToken: 'x' }, '');
    for (let i = 0; i < 5; i += 1) expect((await login('m')).status).to.equal(403);
    const { status, text } = await login('M');
    expect(status).to.equal(429);
    expect(text).to.include('limits.loginsPerAddress');
    expect((await login('other')).status).to.equal(429);
    await client.must('GET /acl/policies');
    await client.close();
  });

  it('count a login when it is verified, however long that takes', async () => {
    let verify: (() => void) | undefined;
    const login: Route = {
      path: '/v1/login',
      counts: 'login',
      POST: async (request) => {
        if (request.flag('slow'))
          await new Promise<void>((resolve) => {
            verify = resolve;
          });
        request.spendLogin('loginsPerIdentity', 'm/a');
        request.answerValue(true);
      },
    };
    // a burst of two
    const limits = { ...LIMITS, loginsPerIdentity: 0.4 };
    const front = await startFront([login], { limits });
    const slow = front.ask('/v1/login?slow', { method: 'POST' });
    while (verify === undefined) await new Promise((resolve) => setImmediate(resolve));
    expect((await front.ask('/v1/login', { method: 'POST' })).status).to.equal(200);
    verify();
    expect((await slow).status).to.equal(200);
    expect((await front.ask('/v1/login', { method: 'POST' })).status).to.equal(429);
    await front.close();
  });

  it('limits.loginsPerMethod counts only logins with a valid token', async () => {
    const client = await SoloClient.open([], undefined, {
      limits: { ...LIMITS, loginsPerMethod: 1 },
    });
    const [issuer, stranger] = [await signer('ES256'), await signer('ES256')];
    const Config = { JWTValidationPubKeys: [issuer.pem], ClaimMappings: { sub: 'name' } };
    for (const Name of ['m', 'n']) {
      await client.must('PUT /acl/auth-method', { Name, Type: 'jwt', Config });
      const rule = { AuthMethod: Name, BindType: 'service', BindName: 'web' };
      await client.must('PUT /acl/binding-rule', rule);
    }
    const iat = Math.floor(client.solo.nowMs / 1000);
    const login = async (by: typeof issuer, AuthMethod: string, sub: string) => {
      const BearerToken = await by.sign({ sub, iat, exp: iat + 600 });
      return client.ask('POST /acl/login', { AuthMethod, BearerToken }, '');
    };
    for (let i = 0; i < 10; i += 1)
      expect((await login(stranger, 'm', `s${i}`)).status).to.equal(403);
    for (let i = 0; i < 5; i += 1) expect((await login(issuer, 'm', `u${i}`)).status).to.equal(200);
    const { status, text } = await login(issuer, 'M', 'u6');
    expect([status, text.includes('limits.loginsPerMethod')]).to.deep.equal([429, true]);
    expect((await login(issuer, 'n', 'u7')).status).to.equal(200);
    await client.close();
  });
});

describe('http: rate limits of one identity', () => {
  it('limits.loginsPerIdentity counts by identity, whichever bearer token is used', async () => {
    const limits = { ...LIMITS, loginsPerIdentity: 1 };
    const client = await SoloClient.open([], undefined, { limits });
    const issuer = await signer('ES256');
    const Config = { JWTValidationPubKeys: [issuer.pem], ClaimMappings: { sub: 'name' } };
    await client.must('PUT /acl/auth-method', { Name: 'm', Type: 'jwt', Config });
    const rule = { AuthMethod: 'm', BindType: 'service', BindName: 'web' };
    await client.must('PUT /acl/binding-rule', rule);
    const iat = Math.floor(client.solo.nowMs / 1000);
    const login = async (sub: string, jti: string) => {
      const BearerToken = await issuer.sign({ sub, jti, iat, exp: iat + 600 });
      return client.ask('POST /acl/login', { AuthMethod: 'm', BearerToken }, '');
    };
    for (let i = 0; i < 5; i += 1) expect((await login('a', `${i}`)).status).to.equal(200);
    const tokens = (await client.must('GET /acl/tokens')).length;
    const refused = await login('a', 'last');
    expect(refused.status).to.equal(429);
    expect(refused.text).to.include('limits.loginsPerIdentity');
    expect((await client.must('GET /acl/tokens')).length).to.equal(tokens);
    expect((await login('b', '0')).status).to.equal(200);
    await client.close();
  });
});

describe('http: fair shares', () => {
  const held: Route = {
    path: '/v1/held',
    GET: async (request) => {
      await ended(request.readOptions().end);
      request.answerText('');
    },
  };
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it('of blocking queries: few without a token, and a limit for each token', async () => {
    const limits = { ...LIMITS, heldAnonymous: 1, heldPerToken: 2 };
    const front = await startFront([held], { limits, service: fakeService() });
    const hold = (token: string) =>
      front.ask('/v1/held?index=1', {
        headers: token === '' ? {} : { 'x-service-token': token },
      });
    const asked: Promise<unknown>[] = [];
    const refusedAfter = async (count: number, token: string, limit: string) => {
      const before = front.app.held.count;
      for (let i = 0; i < count; i += 1) asked.push(hold(token));
      await until(() => front.app.held.count === before + count);
      const { status, text } = await hold(token);
      expect(status).to.equal(429);
      expect(text).to.include(`limits.${limit}`);
    };
    await refusedAfter(1, '', 'heldAnonymous');
    await refusedAfter(2, 'a', 'heldPerToken');
    await refusedAfter(2, 'b', 'heldPerToken');
    expect(front.app.refused.counts).to.include({ heldAnonymous: 1, heldPerToken: 2, held: 0 });
    front.app.held.release();
    await Promise.all(asked);
    await front.close();
  });

  it('of long responses: a limit for each token, and a minimum speed', async () => {
    const piece = 'x'.repeat(65_536);
    const endless = function* () {
      for (;;) yield piece;
    };
    const long: Route = { path: '/v1/long', GET: (r) => r.answerStream(endless()) };
    const limits = {
      ...LIMITS,
      ...{ streamsPerToken: 2, stalledMs: 400, streamBytesPerSecond: 1_000_000_000 },
    };
    const front = await startFront([long], { limits });
    const open = () => {
      const client = connect(front.listener.port, '127.0.0.1');
      client.on('error', () => {});
      client.write('GET /v1/long HTTP/1.1\r\nHost: x\r\nX-Service-Token: a\r\n\r\n');
      return client;
    };
    const readers = [open(), open()];
    // These readers keep reading a little at a time.
    for (const reader of readers) {
      reader.on('data', () => {
        reader.pause();
        setTimeout(() => reader.resume(), 20);
      });
    }
    await Promise.all(readers.map((reader) => once(reader, 'data')));
    const refused = await front.ask('/v1/long', { headers: { 'x-service-token': 'a' } });
    expect(refused.status).to.equal(429);
    expect(refused.text).to.include('limits.streamsPerToken');
    await until(() => front.listener.connections() === 0);
    for (const reader of readers) reader.destroy();
    await front.close();
  });

  it('of long responses: one beyond the limit is audited as refused', async () => {
    const told: number[] = [];
    const notes = {} as Notes;
    const audit: Auditor = {
      begin: () => notes,
      answered: ({ status }) => void told.push(status),
    };
    const long: Route = { path: '/v1/long', GET: (request) => request.answerStream(['x']) };
    const limits = { ...LIMITS, streamsPerToken: 0 };
    const front = await startFront([long], { limits, audit });
    expect((await front.ask('/v1/long')).status).to.equal(429);
    expect(told).to.deep.equal([429]);
    await front.close();
  });

  /** Sends raw requests on one connection. */
  const send = (front: Front, ...paths: readonly string[]) => {
    const client = connect(front.listener.port, '127.0.0.1');
    client.on('error', () => {});
    for (const path of paths)
      client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Service-Token: a\r\n\r\n`);
    return client;
  };

  it('are given back when a connection closes, also those of queued responses', async () => {
    const front = await startFront([held], { service: fakeService() });
    // more than may be in progress on one connection
    const client = send(front, ...Array.from({ length: 20 }, () => '/v1/held?index=1'));
    await until(() => front.app.held.count === 16);
    client.destroy();
    await until(() => front.app.held.count === 0);
    await front.close();
  });

  it('are given back when a client leaves before its long response begins', async () => {
    // More than the buffers of a connection take.
    const pieces = ['x'.repeat(10_000_000), 'y'.repeat(10_000_000)];
    const long: Route = {
      path: '/v1/long',
      GET: async (request) => {
        await ended(request.readOptions().end);
        await request.answerStream(pieces);
      },
    };
    const now: Route = { path: '/v1/now', GET: (request) => request.answerStream(pieces) };
    const limits = { ...LIMITS, streamsPerToken: 2 };
    const front = await startFront([long, now], { limits, service: fakeService() });
    const headers = { 'x-service-token': 'a' };
    // Twice as many as the limit: the one leaves while it is held, the others wait for the first.
    for (const paths of [['/v1/long?index=1'], ['/v1/now', '/v1/now']]) {
      for (let times = 0; times < 2; times += 1) {
        const before = front.observed.length;
        const client = send(front, ...paths);
        if (paths.length === 1) await until(() => front.app.held.count === 1);
        else await once(client, 'readable');
        client.destroy();
        await until(() => front.observed.length === before + paths.length);
        expect(front.observed.at(-1)!.isCut).to.equal(true);
      }
      expect((await front.ask('/v1/now', { headers })).status).to.equal(200);
    }
    await front.close();
  });
});
