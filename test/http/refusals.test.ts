/** The refusals of an address that is refused too often are delayed, and nothing else is. */
import { hash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { reject } from '../../src/base/errors.js';
import type { Route } from '../../src/http/routes/types.js';
import { anyObject } from '../../src/languages/fields.js';
import { type Front, fakeService, LIMITS, startFront } from './harness.js';

describe('http: refusals beyond limits.refusalsPerAddress', () => {
  const sockets: Socket[] = [];
  const refused: Route['GET'] = ({ incoming }) => {
    sockets.push(incoming.socket);
    reject('permission_denied', 'Permission denied');
  };
  const routes: Route[] = [
    { path: '/v1/open', GET: (r) => r.answerText('') },
    { path: '/v1/missing', GET: () => reject('not_found', 'no such thing') },
    { path: '/v1/shut', GET: refused, PUT: refused },
    {
      path: '/v1/wrong',
      POST: (r) => r.body('Body decoding failed', anyObject).then(() => undefined),
    },
  ];
  const BODY = Buffer.alloc(32 * 1024 * 1024);
  /** Longer than any test: a delayed refusal does not arrive within it. */
  const FOREVER = 3_600_000;
  let front: Front;
  /** A front that refuses an address once without delay, and then not again for a long time. */
  const start = async (refusalDelayMs: number, socket = {}) => {
    const service = fakeService({
      namespaceOf: (key) => (key === hash('sha256', 'known') ? 'default' : undefined),
    });
    front = await startFront(
      routes,
      { service, limits: { ...LIMITS, refusalsPerAddress: 0.0001, refusalDelayMs } },
      socket,
    );
    expect(await status('/v1/shut')).to.equal(403);
    expect(late()).to.equal(0);
    sockets.length = 0;
  };
  const clients: Socket[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    sockets.length = 0;
    await front.close();
  });

  const late = () => front.app.refused.counts['refusalsPerAddress'];
  const status = async (path: string, method = 'GET') => (await front.ask(path, { method })).status;
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };
  const client = (): Socket => {
    const socket = connect(front.listener.port, '127.0.0.1').on('error', () => {});
    clients.push(socket);
    return socket;
  };
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  /** Sends an unwanted body; returns the response once the connection is closed. */
  const send = async (path: string): Promise<string> => {
    const socket = client();
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.write(`PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n`);
    socket.write(BODY);
    await new Promise((resolve) => socket.once('close', resolve));
    return text;
  };

  it('are delayed, while permitted and missing paths are answered at once', async () => {
    await start(FOREVER);
    const answers: string[] = [];
    client()
      .on('data', (chunk) => answers.push(String(chunk)))
      .write(get('/v1/shut'));
    await until(() => late() === 1);
    expect(await status('/v1/open')).to.equal(200);
    expect(await status('/v1/missing')).to.equal(404);
    expect(answers).to.deep.equal([]);
  });

  it('are sent after the delay', async () => {
    await start(1);
    expect(await status('/v1/shut')).to.equal(403);
    expect(late()).to.equal(1);
  });

  it('include those of unknown paths and methods', async () => {
    await start(1);
    expect(await status('/v1/nowhere')).to.equal(404);
    expect(await status('/v1/open', 'PUT')).to.equal(405);
    expect(late()).to.equal(2);
  });

  it('include bad requests without a valid token, and no others', async () => {
    await start(FOREVER);
    const post = (token: string) =>
      front.ask('/v1/wrong', { method: 'POST', headers: { 'x-service-token': token }, body: '{' });
    for (let n = 0; n < 3; n += 1) expect((await post('known')).status).to.equal(400);
    expect(late()).to.equal(0);
    const answers: string[] = [];
    const packed = 'Content-Encoding: br\r\nContent-Length: 1\r\n';
    client()
      .on('data', (chunk) => answers.push(String(chunk)))
      .write(`POST /v1/wrong HTTP/1.1\r\nHost: x\r\n${packed}\r\n1`.repeat(40));
    await until(() => late() === 1);
    expect((await post('known')).status).to.equal(400);
    expect(await status('/v1/open')).to.equal(200);
    expect(front.observed.filter(({ status: code }) => code === 400)).to.have.length.below(25);
    expect(answers).to.deep.equal([]);
  });

  it('leave a long body unread', async () => {
    front = await startFront(routes);
    expect(await send('/v1/shut')).to.match(/^HTTP\/1.1 403 .*connection: close/is);
    expect(sockets.pop()!.bytesRead, 'at once').to.be.greaterThan(BODY.length);
    await front.close();
    await start(1);
    expect(await send('/v1/shut')).to.match(/^HTTP\/1.1 403 .*connection: close.*denied\n$/is);
    expect(sockets.pop()!.bytesRead, 'late').to.be.lessThan(BODY.length / 4);
    expect(late()).to.equal(1);
  });

  it('keep a connection without a body, and the order of pipelined requests', async () => {
    await start(1);
    const text = await front.raw(
      `${get('/v1/shut')}${get('/v1/shut')}${get('/v1/open', 'Connection: close\r\n')}`,
    );
    const statuses = [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, code]) => code);
    expect(statuses).to.deep.equal(['403', '403', '200']);
  });

  it('are delayed up to a number; others are sent at once and close the connection', async () => {
    await start(FOREVER, { connections: 2000, connectionsPerAddress: 2000 });
    for (let at = 0; at < 1024; at += 1) client().write(get('/v1/shut'));
    await until(() => late() === 1024);
    const { status: code, headers } = await front.ask('/v1/shut');
    expect([code, headers.connection]).to.deep.equal([403, 'close']);
  });
});
