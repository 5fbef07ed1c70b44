import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { startFront } from './harness.js';

const until = async (met: () => boolean): Promise<void> => {
  while (!met()) await new Promise((resolve) => setImmediate(resolve));
};

const fixture = (name: string): string => join('test', 'transport', 'fixtures', name);
const tls = { cert: fixture('member.pem'), key: fixture('member.key') };

describe('http: connections in a TLS handshake', () => {
  it('are dropped the sooner the more there are', async () => {
    const limits = { connections: 64, connectionsPerAddress: 64 };
    const front = await startFront([], {}, { ...limits, tls, headersMs: 30_000 });
    const dropped: Promise<number>[] = [];
    while (dropped.length < 60) {
      const at = dropped.length;
      const client = connect(front.listener.port, '127.0.0.1').on('error', () => {});
      client.write('\x16\x03\x01');
      dropped.push(once(client, 'close').then(() => at));
      await until(() => front.listener.connections() === dropped.length);
    }
    // the first ones may take as long as the setting says
    expect(await Promise.race(dropped)).to.be.above(30);
    await front.close();
  });

  it('are dropped at the end of the grace period, when the listener closes', async () => {
    const slow = { headersMs: 600_000, receiveMs: 600_000 };
    const front = await startFront([], {}, { tls, ...slow });
    const client = connect(front.listener.port, '127.0.0.1').on('error', () => {});
    const dropped = once(client, 'close');
    client.write('\x16\x03\x01');
    await until(() => front.listener.connections() === 1);
    await front.listener.close(1);
    await dropped;
  });
});

describe('http: connections of several addresses', () => {
  it('leave some to others when two addresses take all they may', async () => {
    const limits = { connections: 100, connectionsPerAddress: 75 };
    const front = await startFront([], {}, limits);
    const clients: Socket[] = [];
    /** Opens connections until one is refused; returns how many were not. */
    const openAll = async (localAddress: string): Promise<number> => {
      for (let count = 0; ; count += 1) {
        const before = front.listener.connections();
        const client = connect({ port: front.listener.port, host: '127.0.0.1', localAddress });
        clients.push(client);
        const refused = once(client, 'data').then(() => true);
        const accepted = until(() => front.listener.connections() > before).then(() => false);
        if (await Promise.race([refused, accepted])) {
          await once(client, 'close');
          return count;
        }
      }
    };
    const counts: number[] = [];
    for (let n = 2; n <= 4; n += 1) counts.push(await openAll(`127.0.0.${n}`));
    for (const client of clients) client.destroy();
    await front.close();
    expect(counts).to.deep.equal([75, 19, 5]);
    expect(front.app.refused.counts).to.include({ connections: 0, connectionsPerAddress: 3 });
  });
});

describe('http: connections on which no headers come to an end', () => {
  const limits = { connections: 64, connectionsPerAddress: 64 };
  const slow = { headersMs: 30_000, receiveMs: 600_000 };
  const start = () => startFront([], {}, { ...limits, ...slow });
  const UNFINISHED = 'GET /v1/thing HTTP/1.1\r\nX-Unfinished: ';

  it('are closed the sooner the more there are, without those that have sent nothing', async () => {
    const [silent, front] = [await start(), await start()];
    const open = (to: typeof front, bytes: string): Socket => {
      const client = connect(to.listener.port, '127.0.0.1').resume();
      if (bytes !== '') client.write(bytes);
      return client;
    };
    const quiet = Array.from({ length: 60 }, (_, n) => open(silent, n === 0 ? UNFINISHED : ''));
    await until(() => silent.listener.connections() === quiet.length);
    for (let round = 0; round < 2; round += 1) {
      const clients = quiet.map(() => open(front, UNFINISHED));
      const responses = await Promise.all(clients.map((client) => once(client, 'data')));
      for (const [bytes] of responses) expect(String(bytes)).to.match(/^HTTP\/1\.1 408 /);
      await until(() => front.listener.connections() === 0);
    }
    await front.close();
    expect(silent.listener.connections()).to.equal(quiet.length);
    for (const client of quiet) client.destroy();
    await silent.close();
  });
});

describe('http: an expectation that nobody knows', () => {
  it('is answered with 417, and with the one that is known', async () => {
    const front = await startFront([]);
    const reply = await front.raw('GET /v1/quick HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n');
    await front.close();
    expect(reply).to.match(/^HTTP\/1\.1 417 .*no value of the header Expect but 100-continue\n$/s);
  });
});
