/** An address that is refused again and again waits for its refusals, and for nothing else. */
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { reject } from '../../src/errors.js';
import type { Route } from '../../src/http/types.js';
import { type Front, LIMITS, startFront } from './harness.js';

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
  ];
  const BODY = Buffer.alloc(32 * 1024 * 1024);
  let front: Front;
  beforeEach(async () => {
    sockets.length = 0;
    front = await startFront(routes, { limits: { ...LIMITS, refusalsPerAddress: 1 } });
  });
  afterEach(() => front.close());

  const late = () => front.app.refused.counts['refusalsPerAddress'] ?? 0;
  const status = async (path: string, method = 'GET') => (await front.ask(path, { method })).status;
  // a rate of one a second has a burst of five
  const spend = async (count = 5) => {
    for (let i = 0; i < count; i += 1) expect(await status('/v1/shut')).to.equal(403);
    expect(late()).to.equal(0);
  };
  /** Which of some requests is answered first. */
  const first = (...paths: string[]) =>
    Promise.race(paths.map(async (path) => [path, await status(path)] as const));
  /** Sends a body that nobody wants and reads what comes; gives that, once the connection is closed. */
  const send = async (path: string): Promise<string> => {
    const client = connect(front.listener.port, '127.0.0.1');
    let text = '';
    client.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    // closed while it sends
    client.on('error', () => {});
    client.write(`PUT ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n`);
    client.write(BODY);
    await new Promise((resolve) => client.once('close', resolve));
    return text;
  };

  it('come late, while what is permitted or missing is answered at once', async () => {
    await spend();
    expect(await first('/v1/shut', '/v1/open')).to.deep.equal(['/v1/open', 200]);
    expect(await first('/v1/shut', '/v1/missing')).to.deep.equal(['/v1/missing', 404]);
    expect(await status('/v1/shut')).to.equal(403);
    expect(late()).to.equal(3);
  });

  it('are also those of unknown paths and methods', async () => {
    await spend();
    expect(await first('/v1/nowhere', '/v1/open')).to.deep.equal(['/v1/open', 200]);
    expect(await status('/v1/open', 'PUT')).to.equal(405);
    expect(late()).to.equal(2);
  });

  it('leave a long body unread', async () => {
    expect(await send('/v1/shut')).to.match(/^HTTP\/1.1 403 .*connection: close/is);
    expect(sockets.pop()!.bytesRead, 'at once').to.be.greaterThan(BODY.length);
    await spend(4);
    expect(await send('/v1/shut')).to.match(/^HTTP\/1.1 403 .*connection: close.*denied$/is);
    expect(sockets.pop()!.bytesRead, 'late').to.be.lessThan(BODY.length / 4);
    expect(late()).to.equal(1);
  });

  it('keep a connection without a body, and the order of what was sent at once', async () => {
    await spend();
    const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
    const text = await front.raw(
      `${get('/v1/shut')}${get('/v1/shut')}${get('/v1/open', 'Connection: close\r\n')}`,
    );
    const statuses = [...text.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, code]) => code);
    expect(statuses).to.deep.equal(['403', '403', '200']);
    expect(late()).to.equal(1);
  });

  it('are no more than so many at a time: others are given at once and close the connection', async () => {
    await front.close();
    const socket = { connections: 2000, connectionsPerAddress: 2000 };
    front = await startFront(routes, { limits: { ...LIMITS, refusalsPerAddress: 1 } }, socket);
    await spend();
    const waiting = Array.from({ length: 1024 }, () => status('/v1/shut'));
    while (late() < waiting.length) await new Promise((resolve) => setImmediate(resolve));
    const [, code] = await first('/v1/shut');
    expect(code).to.equal(403);
    expect(await Promise.all(waiting)).to.deep.equal(waiting.map(() => 403));
  });
});
