import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { expect } from 'chai';
import type { Observation } from '../../src/http/options.js';
import type { ApiRequest, Route } from '../../src/http/routes/types.js';
import { ended, fakeService, LIMITS, startFront } from './harness.js';

/** A response that never ends, a megabyte at a time. */
function* endless(): Iterable<string> {
  for (;;) yield 'x'.repeat(1_000_000);
}

describe('http: the listener', () => {
  const held: ApiRequest[] = [];
  const routes: Route[] = [
    { path: '/v1/quick', GET: (request) => request.answerValue(1) },
    {
      path: '/v1/held',
      GET: async (request) => {
        const { end } = request.readOptions();
        held.push(request);
        await ended(end);
        if (!request.incoming.socket.destroyed && held.includes(request))
          request.answerValue('let go');
      },
    },
  ];
  const answerHeld = (): void => {
    for (const request of held.splice(0)) request.answerValue('released');
  };
  const until = async (met: () => boolean): Promise<void> => {
    while (!met()) await new Promise((resolve) => setImmediate(resolve));
  };

  it('counts for how long a blocking query was held', async () => {
    const wait: Route = {
      path: '/v1/wait',
      GET: (request) => {
        const { end } = request.readOptions();
        if (end !== undefined) end.heldMs = 5;
        request.answerValue(1);
      },
    };
    const front = await startFront([wait]);
    await front.ask('/v1/wait?index=1');
    await front.ask('/v1/wait');
    await front.close();
    expect(front.observed.map(({ heldMs }) => heldMs)).to.deep.equal([5, 0]);
  });

  it('answers 431 to headers that are too large', async () => {
    const front = await startFront(routes, {}, { headerBytes: 4096 });
    const reply = await front.raw(
      `GET /v1/quick HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(8000)}\r\n\r\n`,
    );
    await front.close();
    expect(reply).to.match(/^HTTP\/1\.1 431 /);
  });

  it('accepts names of 10,000 characters', async () => {
    const front = await startFront(routes);
    const reply = await front.ask(`/v1/quick/${'x'.repeat(10_000)}`);
    await front.close();
    expect(reply.status).to.equal(404);
  });

  it('answers 400 to anything that is not HTTP', async () => {
    const front = await startFront(routes);
    const reply = await front.raw('hello\r\n\r\n');
    await front.close();
    expect(reply).to.match(/^HTTP\/1\.1 400 /);
  });

  it('answers 429 with Retry-After to connections beyond the limit', async () => {
    const front = await startFront(routes, {}, { connections: 1 });
    const first = connect(front.listener.port, '127.0.0.1');
    await once(first, 'connect');
    await until(() => front.listener.connections() === 1);
    const reply = await front.raw('');
    first.destroy();
    await front.close();
    expect(reply)
      .to.match(/^HTTP\/1\.1 429 /)
      .and.to.include('Retry-After: 1');
  });

  it('does not execute requests of a connection beyond the limit, and closes it', async () => {
    const done: string[] = [];
    const writes: Route[] = [
      {
        path: '/v1/write',
        PUT: (request) => {
          done.push('written');
          request.answerValue(true);
        },
      },
    ];
    const front = await startFront(writes, {}, { connections: 1 });
    const first = connect(front.listener.port, '127.0.0.1');
    await once(first, 'connect');
    await until(() => front.listener.connections() === 1);
    // It neither waits for the response nor closes its side.
    const second = connect({ port: front.listener.port, host: '127.0.0.1', allowHalfOpen: true });
    const reply = once(second, 'data');
    second.on('error', () => {});
    second.write('PUT /v1/write HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
    expect(String((await reply)[0])).to.match(/^HTTP\/1\.1 429 /);
    await until(() => second.destroyed || !second.write(' '));
    second.destroy();
    expect(done).to.deep.equal([]);
    first.destroy();
    await front.close();
  });

  for (const limits of [{ connections: 6 }, { connectionsPerAddress: 6 }])
    it(`answers health probes when it is full: ${JSON.stringify(limits)}`, async () => {
      const live: Route = { path: '/v1/health/live', GET: (r) => r.answerText('live') };
      const front = await startFront([...routes, live], {}, { ...limits, probeConnections: 8 });
      const kept = Array.from({ length: 6 }, () => connect(front.listener.port, '127.0.0.1'));
      await until(() => front.listener.connections() === 6);
      for (let i = 0; i < 10; i += 1) {
        const { status, headers } = await front.ask('/v1/health/live');
        expect([status, headers.connection]).to.deep.equal([200, 'close']);
      }
      const { status, headers } = await front.ask('/v1/quick');
      expect([status, headers['retry-after']]).to.deep.equal([429, '1']);
      const [limit] = Object.keys(limits);
      expect(front.app.refused.counts).to.include({ [limit!]: 11 });
      // Silent connections get at most four of the probes' places, for a second.
      const silent = Array.from({ length: 8 }, () => connect(front.listener.port, '127.0.0.1'));
      const received = await Promise.all(
        silent.map(async (client) => String((await once(client, 'data'))[0])),
      );
      for (const text of received) expect(text).to.match(/^HTTP\/1\.1 429 /);
      for (const client of [...kept, ...silent]) client.destroy();
      await front.close();
    });

  it("answers 429 with Retry-After to a client's blocking queries beyond its limit", async () => {
    const limits = { ...LIMITS, heldPerClient: 2, held: 100, stalledMs: 1000 };
    const front = await startFront(routes, { limits });
    const replies = [front.ask('/v1/held?index=1'), front.ask('/v1/held?index=1')];
    await until(() => front.app.held.count === 2);
    const reply = await front.ask('/v1/held?index=1');
    expect([reply.status, reply.headers['retry-after']]).to.deep.equal([429, '1']);
    expect((await front.ask('/v1/quick')).status).to.equal(200);
    answerHeld();
    for (const { text } of await Promise.all(replies)) expect(text).to.equal('"released"\n');
    await until(() => front.app.held.count === 0);
    await front.close();
  });

  it('holds no query for a client that disconnected during its token lookup', async () => {
    let found = (): void => {};
    const lookUp = new Promise<void>((resolve) => {
      found = resolve;
    });
    const service = fakeService({ namespaceOf: () => undefined, catchUp: () => lookUp });
    let closed = false;
    let ended = false;
    const front = await startFront(
      [
        {
          path: '/v1/gone',
          GET: (request) => {
            expect(request.readOptions().end?.isOver).to.equal(true);
            ended = true;
          },
        },
      ],
      { service },
    );
    const client = connect(front.listener.port, '127.0.0.1');
    client.write('GET /v1/gone?index=1 HTTP/1.1\r\nHost: x\r\nX-Service-Token: t\r\n\r\n');
    await until(() => front.listener.connections() === 1);
    client.on('close', () => {
      closed = true;
    });
    client.destroy();
    await until(() => closed && front.listener.connections() === 0);
    found();
    await until(() => ended);
    expect(front.app.held.count).to.equal(0);
    await front.close();
  });

  it('disconnects a client that stops reading a long streamed response', async () => {
    const limits = { ...LIMITS, heldPerClient: 2, held: 2, stalledMs: 50 };
    let over = false;
    const observed: Observation[] = [];
    const front = await startFront(
      [
        {
          path: '/v1/long',
          GET: async (request) => {
            await request.answerStream(endless());
            over = true;
          },
        },
      ],
      { limits, observe: (one) => observed.push(one) },
    );
    const client = connect(front.listener.port, '127.0.0.1');
    client.pause();
    client.on('error', () => {});
    client.write('GET /v1/long HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => over);
    await until(() => front.listener.connections() === 0);
    expect(observed.map(({ isCut }) => isCut)).to.deep.equal([true]);
    client.destroy();
    await front.close();
  });

  it('disconnects a client that keeps sending requests without reading responses', async () => {
    const text: Route = { path: '/v1/text', GET: (r) => r.answerValue('x'.repeat(50_000)) };
    const front = await startFront([text], {}, { silenceMs: 200 });
    const client = connect(front.listener.port, '127.0.0.1');
    client.pause();
    client.on('error', () => {});
    client.write('GET /v1/text HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(300));
    await until(() => front.listener.connections() === 1);
    await until(() => front.listener.connections() === 0);
    client.destroy();
    await front.close();
  });

  it('disconnects a client that does not read a long buffered response', async () => {
    const limits = { ...LIMITS, heldPerClient: 2, held: 2, stalledMs: 50 };
    const text: Route = { path: '/v1/text', GET: (r) => r.answerValue('x'.repeat(20_000_000)) };
    const front = await startFront([text], { limits });
    const client = connect(front.listener.port, '127.0.0.1');
    client.pause();
    client.on('error', () => {});
    client.write('GET /v1/text HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => front.listener.connections() === 1);
    await until(() => front.listener.connections() === 0);
    client.destroy();
    await front.close();
  });

  it('finishes requests in flight when it closes, and accepts no more', async () => {
    const front = await startFront(routes);
    const ask = front.ask('/v1/held?index=1', { headers: { connection: 'keep-alive' } });
    const idle = connect(front.listener.port, '127.0.0.1');
    const idleClosed = once(idle, 'close');
    await until(() => held.length === 1 && front.listener.connections() === 2);
    const closed = front.listener.close(60_000);
    await idleClosed;
    const late = await front.ask('/v1/quick').catch((error: NodeJS.ErrnoException) => error.code);
    expect(late).to.equal('ECONNREFUSED');
    answerHeld();
    const reply = await ask;
    expect([reply.text, reply.headers.connection]).to.deep.equal(['"released"\n', 'close']);
    await closed;
  });

  it('answers connections that were made before it closes but not accepted yet', async () => {
    const front = await startFront(routes);
    const replies = Array.from({ length: 20 }, () => front.ask('/v1/quick'));
    await new Promise(process.nextTick);
    const closed = front.listener.close(60_000, 60_000);
    for (const { status } of await Promise.all(replies)) expect(status).to.equal(200);
    await closed;
  });

  it('closes kept connections only once it accepts no new ones, which it would reset', async () => {
    const front = await startFront(routes);
    const { port } = front.listener;
    /** Requests on its connection until told to close it, then at once on a new one. */
    const comeBack = (closed = 0): Promise<unknown> =>
      new Promise((resolve) => {
        const ask = 'GET /v1/quick HTTP/1.1\r\nHost: x\r\n\r\n';
        const socket = connect(port, '127.0.0.1');
        socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve([code, closed]));
        socket.on('data', (data) => {
          if (data.includes('Connection: close')) {
            resolve(comeBack(closed + 1));
            socket.destroy();
          } else socket.write(ask);
        });
        socket.write(ask);
      });
    const clients = Array.from({ length: 20 }, () => comeBack());
    await until(() => front.listener.connections() === 20);
    const closed = front.listener.close(60_000, 60_000);
    for (const end of await Promise.all(clients)) expect(end).to.deep.equal(['ECONNREFUSED', 1]);
    await closed;
  });

  it('answers blocking queries when the server stops, and holds no more', async () => {
    const front = await startFront(routes);
    const ask = front.ask('/v1/held?index=1');
    await until(() => held.length === 1);
    front.app.held.releaseForGood();
    expect((await ask).text).to.equal('"let go"\n');
    expect((await front.ask('/v1/held?index=1')).text).to.equal('"let go"\n');
    held.length = 0;
    await front.close();
  });

  it('drops remaining connections at the end of the grace period', async () => {
    const front = await startFront(routes);
    const ask = front.ask('/v1/held?index=1').catch((error: NodeJS.ErrnoException) => error.code);
    await until(() => held.length === 1);
    await front.listener.close(1);
    expect(await ask).to.equal('ECONNRESET');
    held.length = 0;
  });

  it('reports which port is in use', async () => {
    const front = await startFront(routes);
    const second = await startFront(routes, {}, { port: front.listener.port }).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    await front.close();
    expect(second).to.equal('EADDRINUSE');
  });

  describe('with TLS', () => {
    const fixture = (name: string): string => join('test', 'transport', 'fixtures', name);
    const dir = mkdtempSync(join(tmpdir(), 'conclave-tls-'));
    const tls = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') };
    const use = (name: string): void => {
      copyFileSync(fixture(`${name}.pem`), tls.cert);
      copyFileSync(fixture(`${name}.key`), tls.key);
    };
    /** The serial number of the certificate that a new connection gets, and its response. */
    const look = (port: number) =>
      new Promise<{ serial: string; reply: string }>((resolve, reject) => {
        const ca = readFileSync(fixture('authority.pem'));
        const options = { port, host: '127.0.0.1', ca, checkServerIdentity: () => undefined };
        const socket = tlsConnect(options, () => {
          const serial = socket.getPeerCertificate().serialNumber;
          let reply = '';
          socket.on('data', (chunk) => {
            reply += chunk;
          });
          socket.on('end', () => resolve({ serial, reply }));
          socket.write('GET /v1/quick HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
        });
        socket.on('error', reject);
      });
    after(() => rmSync(dir, { recursive: true }));

    it('closes a connection that does not finish the handshake', async () => {
      use('member');
      const front = await startFront(routes, {}, { tls, headersMs: 200 });
      const clients = ['', '\x16\x03\x01', 'GET / HTTP/1.1\r\n\r\n'].map((bytes) => {
        const client = connect(front.listener.port, '127.0.0.1');
        client.on('error', () => {});
        client.write(bytes);
        return client;
      });
      await until(() => front.listener.connections() === clients.length);
      await until(() => front.listener.connections() === 0);
      await front.close();
    });

    it('answers http with 400, and reports the first such request', async () => {
      use('member');
      const reports: [address: string, count: number][] = [];
      const onPlainRequests = (...report: [string, number]): number => reports.push(report);
      const front = await startFront(routes, {}, { tls, onPlainRequests });
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
        const reply = await front.raw(`${method} /v1/quick HTTP/1.1\r\nHost: x\r\n\r\n`);
        expect(reply, method).to.match(/^HTTP\/1\.1 400 .*This port requires TLS.*\n$/s);
        expect(reply).to.match(/Connection: close\r\n/);
      }
      expect(await front.raw('\x16\x03\x01\x00\x05hello')).not.to.include('HTTP');
      expect((await look(front.listener.port)).reply).to.match(/^HTTP\/1\.1 200 OK/);
      await front.close();
      expect(reports).to.deep.equal([['127.0.0.1', 1]]);
    });

    it('serves HTTPS, and loads a renewed certificate without a restart', async () => {
      use('member');
      const front = await startFront(routes, {}, { tls });
      const before = await look(front.listener.port);
      expect(before.reply).to.match(/^HTTP\/1\.1 200 OK/);
      use('renewed');
      front.listener.prepareTls()();
      const after = await look(front.listener.port);
      expect(after.reply).to.match(/^HTTP\/1\.1 200 OK/);
      expect(after.serial).not.to.equal(before.serial);
      writeFileSync(tls.cert, 'no certificate');
      expect(() => front.listener.prepareTls()).to.throw();
      expect((await look(front.listener.port)).serial).to.equal(after.serial);
      await front.close();
    });
  });
});
