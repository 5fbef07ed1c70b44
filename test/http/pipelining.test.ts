/** Clients that send many requests before they have read a response. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { expect } from 'chai';
import { HELD_MS_MAX } from '../../src/http/request/parameters.js';
import type { ApiRequest, Route } from '../../src/http/routes/types.js';
import { anyObject } from '../../src/languages/fields.js';
import { ended, type Front, startFront } from './harness.js';

/** Requests of one connection in progress. */
const MOST = 16;

describe('http: pipelined requests', () => {
  let front: Front;
  let waiting: ApiRequest[] = [];
  let seen: string[] = [];
  /** Requests for a millisecond of work that were handled. */
  let worked = 0;
  const clients: Socket[] = [];
  const routes: Route[] = [
    {
      path: '/v1/number/:n',
      GET: (request) => {
        seen.push(request.param('n'));
        request.answerValue(Number(request.param('n')));
      },
      PUT: async (request) => {
        seen.push(request.param('n'));
        request.answerValue(await request.body('Number decoding failed', anyObject));
      },
    },
    {
      path: '/v1/long',
      GET: (request) => request.answerValue('x'.repeat(20_000_000)),
    },
    {
      path: '/v1/late',
      GET: (request) => {
        waiting.push(request);
      },
    },
    {
      path: '/v1/held',
      GET: async (request) => {
        await ended(request.readOptions().end);
        request.answerValue('released');
      },
    },
    {
      path: '/v1/work',
      GET: (request) => {
        const end = performance.now() + 1;
        while (performance.now() < end);
        worked += 1;
        request.answerValue(1);
      },
    },
  ];
  beforeEach(async () => {
    waiting = [];
    seen = [];
    worked = 0;
    front = await startFront(routes);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await front.listener.close(0);
  });

  const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const put = (path: string, body: string): string =>
    `PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const until = async (met: () => boolean): Promise<void> => {
    while (!met()) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Passes some turns of the event loop in which the server could do more, and should not. */
  const turns = async (): Promise<void> => {
    for (let n = 0; n < 50; n += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  /** Sends bytes; `text` is what has come back. */
  const open = (bytes = ''): { readonly socket: Socket; readonly text: () => string } => {
    let text = '';
    const socket = connect(front.listener.port, '127.0.0.1').on('error', () => {});
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    clients.push(socket);
    socket.write(bytes);
    return { socket, text: () => text };
  };
  const statuses = (text: string): number => text.match(/HTTP\/1\.1 200/g)?.length ?? 0;
  const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n}`);

  it('are all answered, in their order', async () => {
    const last = get('/v1/number/20000', 'Connection: close\r\n');
    const sent = numbers(20_000).map((n) => get(`/v1/number/${n}`));
    const text = await front.raw(sent.join('') + last);
    expect(statuses(text)).to.equal(20_001);
    const bodies = [...text.matchAll(/\r\n\r\n(\d+)\n/g)].map(([, body]) => body);
    expect(bodies).to.deep.equal(numbers(20_001));
  });

  it('leave turns of the event loop to other work', async () => {
    const client = open(get('/v1/work').repeat(1000));
    let most = 0;
    while (statuses(client.text()) < 500) {
      const before = worked;
      await new Promise((resolve) => setImmediate(resolve));
      most = Math.max(most, worked - before);
    }
    // unlimited, the first turn handles all
    expect(most).to.be.within(1, 50);
  });

  it('are in progress up to a number, whatever arrives later', async () => {
    const client = open(get('/v1/late').repeat(MOST + 4));
    await until(() => waiting.length === MOST);
    client.socket.write(get('/v1/late').repeat(1000));
    await turns();
    expect(waiting).to.have.length(MOST);
    waiting.shift()!.answerValue(1);
    await until(() => waiting.length === MOST);
    expect(statuses(client.text())).to.equal(1);
  });

  it('beyond the number leave the bytes that follow with the client', async () => {
    const client = open(get('/v1/late').repeat(MOST + 1));
    await until(() => waiting.length === MOST);
    const { socket } = waiting[0]!.incoming;
    const long = get('/v1/number/1', `X-Long: ${'x'.repeat(8000)}\r\n`).repeat(1000);
    client.socket.write(long);
    await turns();
    expect(socket.bytesRead).to.be.lessThan(1024 * 1024);
    for (let n = 0; n <= MOST; n += 1) {
      await until(() => waiting.length > 0);
      waiting.shift()!.answerValue(1);
    }
    await until(() => statuses(client.text()) === MOST + 1001);
    expect(socket.bytesRead).to.be.greaterThan(long.length);
  });

  it('are read on when the client reads a long response late', async () => {
    const client = open();
    client.socket.pause();
    client.socket.write(get('/v1/long'));
    await turns();
    client.socket.write(get('/v1/number/1', `X-Long: ${'x'.repeat(1500)}\r\n`).repeat(200));
    await turns();
    client.socket.resume();
    await until(() => seen.length === 200);
  });

  it('of other connections are answered meanwhile', async () => {
    open(get('/v1/late').repeat(MOST + 4));
    await until(() => waiting.length === MOST);
    expect((await front.ask('/v1/number/7')).text).to.equal('7\n');
  });

  it('have their bodies read, also the last in progress', async () => {
    const bodies = numbers(40).map((n) => JSON.stringify({ n, text: 'a\r\n\r\nb'.repeat(500) }));
    const plain = bodies.map((body) => JSON.stringify(JSON.parse(body)));
    const client = open(plain.map((body, n) => put(`/v1/number/${n}`, body)).join(''));
    await until(() => statuses(client.text()) === 40);
    expect(seen).to.deep.equal(numbers(40));
    const body = JSON.stringify({ n: 'x'.repeat(60_000) });
    const whole = put('/v1/number/40', body);
    const { socket } = client;
    socket.write(get('/v1/late').repeat(MOST - 1) + whole.slice(0, 100));
    await until(() => seen.length === 41);
    for (let at = 100; at < whole.length; at += 10_000) {
      socket.write(whole.slice(at, at + 10_000));
      await turns();
    }
    while (waiting.length > 0) waiting.shift()!.answerValue(1);
    await until(() => client.text().includes(body));
  });

  it('may arrive in any pieces', async () => {
    const sent = numbers(60).map((n) =>
      Number(n) % 3 === 0 ? put(`/v1/number/${n}`, '{}') : get(`/v1/number/${n}`),
    );
    const bytes = sent.join('');
    for (const length of [1, 7, 100, 1000]) {
      seen = [];
      const client = open();
      client.socket.setNoDelay(true);
      for (let at = 0; at < bytes.length; at += length) {
        client.socket.write(bytes.slice(at, at + length));
        if (length > 1 || at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await until(() => statuses(client.text()) === 60);
      expect(seen, `${length} bytes each`).to.deep.equal(numbers(60));
    }
  });

  it('that are held give their places back when the client leaves', async () => {
    for (const leave of ['end', 'destroy'] as const) {
      const client = open(get('/v1/held?index=1').repeat(MOST + 4));
      await until(() => front.app.held.count === MOST);
      client.socket[leave]();
      await until(() => front.app.held.count === 0);
    }
  });

  it('that are held are answered, and those behind them', async () => {
    const client = open(get('/v1/held?index=1').repeat(MOST + 4) + get('/v1/number/1'));
    await until(() => front.app.held.count === MOST);
    front.app.held.release();
    await until(() => front.app.held.count === 4);
    front.app.held.release();
    await until(() => statuses(client.text()) === MOST + 5);
  });

  it('that are held have their own time behind a long response', async () => {
    const client = open(get('/v1/long') + get('/v1/held?index=1') + get('/v1/late'));
    await until(() => waiting.length === 1);
    front.app.held.release();
    await until(() => statuses(client.text()) === 2);
    expect(waiting[0]!.incoming.socket.timeout).to.be.greaterThan(HELD_MS_MAX);
  });

  it('end with 400 where they are no HTTP', async () => {
    const text = await front.raw(`${get('/v1/number/1').repeat(100)}nonsense\r\n\r\n`);
    expect(text).to.match(/HTTP\/1\.1 400 .*not well-formed HTTP\n$/s);
  });

  it('are answered, although what follows them is no HTTP, which ends with 400', async () => {
    const client = open(`${get('/v1/late')}nonsense\r\n\r\n`);
    await until(() => waiting.length === 1);
    await turns();
    expect(client.text()).to.equal('');
    waiting.shift()!.answerValue(1);
    await until(() => client.text().includes('not well-formed'));
    expect(client.text()).to.match(/^HTTP\/1\.1 200 .*\n1\nHTTP\/1\.1 400 /s);
  });

  describe('before one that does not arrive in time', () => {
    let socket: Socket;
    let text: string;
    let closed: Promise<unknown>;
    const whole = put('/v1/number/1', '{}');
    /** Sends requests and one that lacks a byte, until the server has found that it is late. */
    const sendLate = async (count: number): Promise<void> => {
      await front.listener.close(0);
      front = await startFront(routes, {}, { headersMs: 100, receiveMs: 100 });
      text = '';
      socket = connect(front.listener.port, '127.0.0.1');
      clients.push(socket);
      closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.write(get('/v1/late').repeat(count) + whole.slice(0, -1));
      await until(() => waiting.length === Math.min(count, MOST));
      const { server } = waiting[0]!.incoming.socket as unknown as { server: Server };
      await once(server, 'clientError');
      await turns();
      expect(text).to.equal('');
    };
    const answer = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) {
        await until(() => waiting.length > 0);
        waiting.shift()!.answerValue(1);
      }
    };

    for (const count of [1, MOST + 4]) {
      it(`are answered, ${count} of them, and then it is told`, async () => {
        await sendLate(count);
        await answer(count);
        await closed;
        expect([statuses(text), text.match(/HTTP\/1\.1 408/g)]).to.deep.equal([
          count,
          ['HTTP/1.1 408'],
        ]);
      });
      it(`are answered, ${count} of them, and it as well if it comes meanwhile`, async () => {
        await sendLate(count);
        socket.write(whole.slice(-1));
        await turns();
        await answer(count);
        await until(() => statuses(text) === count + 1);
        socket.write(get('/v1/number/2'));
        await until(() => statuses(text) === count + 2);
        expect(text).not.to.include('408');
      });
    }
  });

  it('are limited over TLS as well', async () => {
    const fixture = (name: string) => join('test/transport/fixtures', name);
    const tls = { cert: fixture('client.pem'), key: fixture('client.key') };
    const secure = await startFront(routes, {}, { tls });
    const { port } = secure.listener;
    const client = tlsConnect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    clients.push(client);
    let text = '';
    client.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    client.write(get('/v1/late').repeat(MOST + 4) + get('/v1/number/1').repeat(5000));
    await until(() => waiting.length === MOST);
    await turns();
    expect(waiting).to.have.length(MOST);
    for (let n = 0; n < MOST + 4; n += 1) {
      await until(() => waiting.length > 0);
      waiting.shift()!.answerValue(1);
    }
    await until(() => statuses(text) === MOST + 5004);
    await secure.listener.close(0);
  });

  it('get an orderly end when the server stops', async () => {
    const client = open(get('/v1/late').repeat(MOST + 4));
    await until(() => waiting.length === MOST);
    const closed = new Promise((resolve) => client.socket.once('close', resolve));
    const stopping = front.listener.close(5000);
    await turns();
    while (waiting.length > 0) waiting.shift()!.answerValue(1);
    await Promise.all([closed, stopping]);
    expect(client.text()).to.match(/^HTTP\/1\.1 200 .*connection: close/is);
  });
});
