/** Requests without a token take turns, which others do not wait for. */
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Route } from '../../src/http/routes/types.js';
import { type Front, startFront } from './harness.js';

describe('http: requests without a token', () => {
  const routes: Route[] = [
    { path: '/v1/open', GET: (r) => r.answerValue(1) },
    { path: '/v1/health/live', GET: (r) => r.answerValue(1) },
  ];
  /** Turns that were asked for and have not come. */
  let turns: (() => void)[] = [];
  const strangers = { turn: (run: () => void) => void turns.push(run) };
  let front: Front;
  const clients: Socket[] = [];
  beforeEach(async () => {
    turns = [];
    front = await startFront(routes, { strangers });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await front.listener.close(0);
  });

  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const send = (bytes: string): { readonly socket: Socket; readonly text: () => string } => {
    let text = '';
    const socket = connect(front.listener.port, '127.0.0.1').on('error', () => {});
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    clients.push(socket);
    socket.write(bytes);
    return { socket, text: () => text };
  };
  const answers = (text: string): number => text.match(/HTTP\/1\.1 200/g)?.length ?? 0;

  it('wait for a turn, which those that wait share', async () => {
    const first = send(get('/v1/open').repeat(3));
    await until(() => turns.length === 1);
    const second = send(get('/v1/open'));
    await until(() => front.listener.connections() === 2);
    expect((await front.ask('/v1/health/live')).status, 'a probe').to.equal(200);
    for (const name of ['x-service-token', 'x-consul-token', 'authorization'])
      expect((await front.ask('/v1/open', { headers: { [name]: 'Bearer t' } })).status).to.equal(
        200,
      );
    expect(front.observed).to.have.length(4);
    while (answers(first.text()) < 3 || answers(second.text()) < 1) {
      await new Promise((resolve) => setImmediate(resolve));
      turns.shift()?.();
    }
    expect(front.observed).to.have.length(8);
  });

  it('are also those with an empty token, no bearer token, or the anonymous one', async () => {
    const headers = ['X-Consul-Token: anonymous', 'X-Service-Token:', 'Authorization: Basic eA=='];
    headers.push('Authorization: bearer  anonymous', 'X-Consul-Token: , anonymous');
    for (const [at, header] of headers.entries()) {
      const { text } = send(get('/v1/open').replace('\r\n\r\n', `\r\n${header}\r\n\r\n`));
      await until(() => turns.length === 1 || answers(text()) > 0);
      expect(turns, header).to.have.length(1);
      turns.shift()!();
      await until(() => front.observed.length > at);
    }
  });

  it('are not handled if the client leaves before their turn', async () => {
    const { socket } = send(get('/v1/open'));
    await until(() => turns.length === 1);
    socket.destroy();
    await until(() => front.listener.connections() === 0);
    turns.shift()!();
    expect(front.observed).to.deep.equal([]);
  });

  it('need no turn where the default policy allows everything', async () => {
    await front.listener.close(0);
    front = await startFront(routes, { strangers, defaultPolicy: 'allow' });
    expect((await front.ask('/v1/open')).status).to.equal(200);
    expect(turns).to.deep.equal([]);
  });
});
