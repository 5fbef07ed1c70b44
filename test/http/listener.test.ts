import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { ApiRequest, Route } from '../../src/http/types.js';
import { startFront } from './harness.js';

describe('http: the listener', () => {
  const held: ApiRequest[] = [];
  const routes: Route[] = [
    { path: '/v1/quick', GET: (request) => request.answerValue(1) },
    {
      path: '/v1/held',
      GET: async (request) => {
        const { signal } = request.readOptions();
        held.push(request);
        if (!signal!.aborted) await once(signal!, 'abort');
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

  it('answers 431 to headers beyond the limit', async () => {
    const front = await startFront(routes, {}, { headerBytes: 4096 });
    const reply = await front.raw(
      `GET /v1/quick HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(8000)}\r\n\r\n`,
    );
    await front.close();
    expect(reply).to.match(/^HTTP\/1\.1 431 /);
  });

  it('takes names of 10,000 characters', async () => {
    const front = await startFront(routes);
    const reply = await front.ask(`/v1/quick/${'x'.repeat(10_000)}`);
    await front.close();
    expect(reply.status).to.equal(404);
  });

  it('answers 400 to what is not HTTP', async () => {
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

  it('answers 429 with Retry-After to one client’s blocking queries beyond its limit', async () => {
    const limits = { bodyBytes: 1000, requestMs: 1000, heldPerClient: 2, held: 100 };
    const front = await startFront(routes, { limits });
    const asks = [front.ask('/v1/held?index=1'), front.ask('/v1/held?index=1')];
    await until(() => front.app.held.count === 2);
    const reply = await front.ask('/v1/held?index=1');
    expect([reply.status, reply.headers['retry-after']]).to.deep.equal([429, '1']);
    expect((await front.ask('/v1/quick')).status).to.equal(200);
    answerHeld();
    for (const { text } of await Promise.all(asks)) expect(text).to.equal('"released"');
    await until(() => front.app.held.count === 0);
    await front.close();
  });

  it('lets requests in flight end when it closes, and takes no more', async () => {
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
    expect((await ask).text).to.equal('"released"');
    await closed;
  });

  it('answers held calls when the server stops, and holds no more', async () => {
    const front = await startFront(routes);
    const ask = front.ask('/v1/held?index=1');
    await until(() => held.length === 1);
    front.app.held.releaseForGood();
    expect((await ask).text).to.equal('"let go"');
    expect((await front.ask('/v1/held?index=1')).text).to.equal('"let go"');
    held.length = 0;
    await front.close();
  });

  it('cuts what is left at the end of its grace', async () => {
    const front = await startFront(routes);
    const ask = front.ask('/v1/held?index=1').catch((error: NodeJS.ErrnoException) => error.code);
    await until(() => held.length === 1);
    await front.listener.close(1);
    expect(await ask).to.equal('ECONNRESET');
    held.length = 0;
  });

  it('says which port is in use', async () => {
    const front = await startFront(routes);
    const second = await startFront(routes, {}, { port: front.listener.port }).catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    await front.close();
    expect(second).to.equal('EADDRINUSE');
  });
});
