/** Between members: who may listen, who may connect, and that recorded traffic is useless. */
import { fork } from 'node:child_process';
import { createHash, hkdfSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { isLoopback, parseAddress } from '../../src/base/address.js';
import { checkSecurity } from '../../src/transport/security.js';
import type { WireSecurity } from '../../src/transport/sockets.js';
import { introduce, Relay, TestNode } from './bench.js';

const file = (name: string) => readFileSync(`test/transport/fixtures/${name}`, 'utf8');
const certified = (who: string): WireSecurity & { mode: 'tls' } => ({
  mode: 'tls',
  cert: file(`${who}.pem`),
  key: file(`${who}.key`),
  ca: file('authority.pem'),
  name: 'members.conclave.test',
});
const closed = (socket: net.Socket) =>
  new Promise<void>((resolve) => socket.on('close', () => resolve()));
const KEY = 'a key that is shared by all members';
const keyed = (...keys: string[]): WireSecurity => ({ mode: 'key', keys });

describe('wire security', () => {
  const nodes: TestNode[] = [];
  const relays: Relay[] = [];
  const start = async (id: string, security: WireSecurity, connections = 256) => {
    const node = new TestNode(id, { security, limits: { connections } });
    nodes.push(node);
    return node.listen();
  };
  afterEach(async () => {
    for (const relay of relays.splice(0)) relay.close();
    for (const node of nodes.splice(0)) await node.wire.close();
  });
  const talks = async (a: TestNode, b: TestNode) => {
    introduce(a, b);
    a.wire.send(a.heartbeat(b, 7));
    expect(await b.messages.one())
      .property('round')
      .equal(7);
    b.wire.send(b.heartbeat(a, 8));
    expect(await a.messages.one())
      .property('round')
      .equal(8);
  };
  /** Both repeatedly fail to reach each other, and no message is received. */
  const isRefused = async (a: TestNode, b: TestNode) => {
    introduce(a, b);
    a.wire.send(a.heartbeat(b));
    b.wire.send(b.heartbeat(a));
    await Promise.all([a.lost.count(2), b.lost.count(2)]);
    expect([a.reached.all, b.reached.all, a.messages.all, b.messages.all]).eql([[], [], [], []]);
  };

  it('knows which addresses cannot be reached from outside', () => {
    for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost']) {
      expect(isLoopback(host), host).equal(true);
    }
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'example.org', '']) {
      expect(isLoopback(host), host).equal(false);
    }
  });

  it('reads addresses', () => {
    expect(parseAddress('10.0.0.1:8300')).eql({ host: '10.0.0.1', port: 8300 });
    expect(parseAddress('[::1]:1')).eql({ host: '::1', port: 1 });
    for (const wrong of ['', 'a', 'a:', ':1', 'a:b', 'a:99999', '::1:8300', 'a:1:2']) {
      expect(() => parseAddress(wrong), wrong).throw('is not an address');
    }
  });

  it('allows protected traffic anywhere, and plain traffic only on loopback', () => {
    checkSecurity({ mode: 'plain' }, ['127.0.0.1', '::1']);
    checkSecurity(keyed(KEY), ['0.0.0.0']);
    checkSecurity(certified('member'), ['192.0.2.1']);
    expect(() => checkSecurity({ mode: 'plain' }, ['127.0.0.1', '192.0.2.1'])).throw('192.0.2.1');
    expect(() => checkSecurity(keyed('short'), [])).throw('at least 16 characters');
    expect(() => checkSecurity(keyed(), [])).throw('at least 16 characters');
  });

  describe('with a shared key', () => {
    it('lets members talk', async () => {
      await talks(await start('a', keyed(KEY)), await start('b', keyed(KEY)));
    });

    it('refuses another key, and no protection', async () => {
      await isRefused(await start('a', keyed(KEY)), await start('b', keyed(`${KEY}.`)));
      await isRefused(await start('c', keyed(KEY)), await start('d', { mode: 'plain' }));
    });

    it('lets the key be rotated member by member without an interruption', async () => {
      const next = 'the key that comes after it';
      const [a, b] = [await start('a', keyed(KEY)), await start('b', keyed(KEY))];
      // First all accept the new key, then all use it, then the old one is removed.
      b.wire.reload(keyed(KEY, next));
      a.wire.reload(keyed(next, KEY));
      await talks(a, b);
      b.wire.reload(keyed(next));
      const c = await start('c', keyed(KEY));
      c.wire.setMembers([{ id: 'b', address: b.address }]);
      await c.lost.count(2);
      expect(c.reached.all).eql([]);
    });

    it('accepts members however many connections an outsider holds open', async () => {
      const [a, b] = [await start('a', keyed(KEY), 8), await start('b', keyed(KEY))];
      const [host, port] = a.address.split(':');
      const held: net.Socket[] = [];
      for (let i = 0; i < 20; i++) {
        const socket = net.connect(Number(port), host);
        held.push(socket.on('error', () => {}));
        await once(socket, 'connect');
      }
      b.wire.setMembers([{ id: 'a', address: a.address }]);
      await b.reached.one();
      expect(held.some((socket) => !socket.destroyed)).equal(true);
      // Nor do they keep it from stopping.
      await a.wire.close();
    });

    it('closes a connection that is silent, or stops within the handshake', async () => {
      const a = await start('a', keyed(KEY));
      const [host, port] = a.address.split(':');
      const begun = Buffer.from([0x16, 0x03, 0x01, 0x01, 0x00, 0x01]);
      const sockets = [Buffer.alloc(0), begun, Buffer.from('GET / HTTP/1.1\r\n\r\n')].map(
        (bytes) => {
          const socket = net.connect(Number(port), host);
          socket.on('error', () => {});
          socket.resume();
          socket.write(bytes);
          return socket;
        },
      );
      await Promise.all(sockets.map(closed));
    });

    it('shows nothing of a message on the wire', async () => {
      const [a, b] = [await start('a', keyed(KEY)), await start('b', keyed(KEY))];
      const relay = await Relay.start(() => b.address);
      relays.push(relay);
      a.wire.setMembers([{ id: 'b', address: relay.address }]);
      const secret = 'a secret that nobody may see';
      b.onRequest = (_from, payload, reply) => reply(payload);
      await new Promise<void>((resolve) => {
        a.wire.request('b', Buffer.from(secret), 2000, () => resolve());
      });
      const bytes = Buffer.concat(relay.toServer);
      expect(bytes.length).greaterThan(secret.length);
      expect(bytes.includes(secret)).equal(false);
      expect(bytes.includes('cluster-1')).equal(false);
    });

    it('does not accept recorded bytes a second time', async () => {
      const [a, b] = [await start('a', keyed(KEY)), await start('b', keyed(KEY))];
      const relay = await Relay.start(() => b.address);
      relays.push(relay);
      a.wire.setMembers([{ id: 'b', address: relay.address }]);
      a.wire.send(a.heartbeat(b));
      await b.messages.count(1);
      await a.wire.close();
      const [host, port] = b.address.split(':');
      const replay = net.connect(Number(port), host);
      replay.on('error', () => {});
      replay.resume();
      replay.write(Buffer.concat(relay.toServer));
      await closed(replay);
      expect(b.messages.all).lengthOf(1);
    });

    it('refuses a peer that knows everything but the key', async () => {
      const a = await start('a', keyed(KEY));
      const psk = Buffer.from(hkdfSync('sha256', KEY, '', 'conclave wire psk v1', 32));
      const identity = createHash('sha256').update('conclave wire id v1').update(psk).digest('hex');
      const [host, port] = a.address.split(':');
      const attempt = (key: Buffer) =>
        new Promise<boolean>((resolve) => {
          const socket = tls.connect({
            host: host!,
            port: Number(port),
            minVersion: 'TLSv1.3',
            pskCallback: () => ({ psk: key, identity }),
            checkServerIdentity: () => undefined,
          });
          socket.on('secureConnect', () => {
            resolve(true);
            socket.destroy();
          });
          socket.on('error', () => resolve(false));
        });
      expect(await attempt(psk)).equal(true);
      const wrong = Buffer.from(psk);
      wrong[31]! ^= 1;
      expect(await attempt(wrong)).equal(false);
    });

    it('does not trust a server that shows a certificate instead of the key', async () => {
      const server = tls.createServer({ cert: file('member.pem'), key: file('member.key') });
      server.on('tlsClientError', () => {});
      server.on('secureConnection', (socket) => socket.on('error', () => {}));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const a = await start('a', keyed(KEY));
      const { port } = server.address() as net.AddressInfo;
      a.wire.setMembers([{ id: 'b', address: `127.0.0.1:${port}` }]);
      await a.lost.count(2);
      expect(a.reached.all).eql([]);
      server.close();
    });
  });

  describe('with NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
    /** The outcome of a connection in a process with that variable: `believed`, or the error. */
    const dialled = async (security: WireSecurity, port: number): Promise<string> => {
      const child = fork(fileURLToPath(new URL('./dial.js', import.meta.url)), {
        env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' },
        silent: true,
      });
      child.send({ security, port });
      const [outcome] = (await once(child, 'message')) as [string];
      return outcome;
    };
    const impostor = async (who: string): Promise<{ port: number; server: tls.Server }> => {
      const server = tls.createServer({ cert: file(`${who}.pem`), key: file(`${who}.key`) });
      server.on('tlsClientError', () => {});
      server.on('secureConnection', (socket) => socket.on('error', () => {}));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return { port: (server.address() as net.AddressInfo).port, server };
    };

    it('does not trust a server that shows a certificate instead of the key', async () => {
      const { port, server } = await impostor('forged');
      expect(await dialled(keyed(KEY), port)).match(/certificate/);
      server.close();
    });

    it('does not trust a server with the certificate of another authority', async () => {
      const { port, server } = await impostor('forged');
      expect(await dialled(certified('member'), port)).match(/certificate/);
      server.close();
    });

    it('trusts a member', async () => {
      const a = await start('a', keyed(KEY));
      expect(await dialled(keyed(KEY), Number(a.address.split(':')[1]))).equal('believed');
    });
  });

  describe('with certificates', () => {
    it('lets members talk', async () => {
      await talks(await start('a', certified('member')), await start('b', certified('renewed')));
    });

    it('refuses the certificate of another authority, and says so', async () => {
      const [a, b] = [await start('a', certified('member')), await start('b', certified('forged'))];
      await isRefused(a, b);
      const line = await a.log.one((each) => each.includes('an unauthenticated peer'));
      expect(line).match(/refused: the certificate is not valid: (SELF_SIGNED|UNABLE_TO_VERIFY)/);
      expect(line).match(/ from an unauthenticated peer at 127\.0\.0\.1:\d+ was refused/);
    });

    it('tells a node on both sides whose certificate is refused, and where to look', async () => {
      const [a, b] = [await start('a', certified('member')), await start('b', certified('forged'))];
      await isRefused(a, b);
      const own = 'certificate of this node \\(subject "([A-Z]+=)?forged", issuer "[^"]+"\\)';
      // Where b dials, a refuses after the handshake; where a dials, a aborts it.
      const why = new RegExp(`closed the connection right after the TLS handshake.*${own}; see`);
      expect(await b.log.one((line) => why.test(line))).include('cannot be reached');
      const aborted = new RegExp(`127\\.0\\.0\\.1:\\d+ was refused: the client aborted.*${own}`);
      await b.log.one((line) => aborted.test(line));
    });

    it('reports members whose certificates have one subject, once', async () => {
      const [a, b] = [await start('a', certified('member')), await start('b', certified('member'))];
      await talks(a, b);
      const line = await a.log.one((each) => each.includes('the same subject'));
      expect(line).match(/^node b and a present certificates with the same subject, "[^"]+"/);
      expect(a.log.all.filter((each) => each.includes('the same subject'))).lengthOf(1);
    });

    it("refuses a non-member's certificate of the same authority, and says so", async () => {
      const [a, b] = [await start('a', certified('member')), await start('b', certified('client'))];
      await isRefused(a, b);
      const line = await a.log.one((each) => each.includes('an unauthenticated peer'));
      expect(line).match(
        /an unauthenticated peer at 127\.0\.0\.1:\d+ was refused: .*members\.conclave\.test/,
      );
    });

    it('refuses a client without a certificate', async () => {
      const a = await start('a', certified('member'));
      const [host, port] = a.address.split(':');
      const socket = tls.connect({
        host: host!,
        port: Number(port),
        ca: file('authority.pem'),
        servername: 'members.conclave.test',
      });
      socket.on('error', () => {});
      socket.resume();
      socket.write('hello');
      await closed(socket);
      expect(await a.log.one()).include('refused');
    });

    const issued = (who: string, crl?: string): WireSecurity & { mode: 'tls' } => ({
      ...{ mode: 'tls', name: 'members.conclave.test' },
      ...{ cert: file(`revocation/${who}.pem`), key: file(`revocation/${who}.key`) },
      ca: file('revocation/authority.pem'),
      ...(crl !== undefined && { crl: file(`revocation/${crl}.crl`) }),
    });

    it('refuses a node that shows another certificate than it did before', async () => {
      const a = await start('a', issued('first'));
      const b = await start('b', issued('second'));
      await talks(a, b);
      expect(a.records.get('b')?.subject).equal('second');
      await b.wire.close();
      // The same id, data folder and start.
      const impostor = await start('b', issued('first'));
      introduce(a, impostor);
      const line = await a.log.one((each) => each.includes('was refused'));
      expect(line).match(/node b presents a certificate of "first", but was known by "second"/);
      await impostor.lost.count(2);
      expect(impostor.reached.all).eql([]);
      expect(impostor.messages.all).eql([]);
    });

    it('accepts a node with its renewed certificate', async () => {
      const a = await start('a', issued('first'));
      const b = await start('b', issued('second'));
      await talks(a, b);
      await b.wire.close();
      const renewed = await start('b', issued('second-renewed'));
      introduce(a, renewed);
      await renewed.reached.one();
    });

    it('refuses a revoked certificate, also on open connections, and says so', async () => {
      const a = await start('a', issued('first', 'none'));
      const b = await start('b', issued('second'));
      await talks(a, b);
      const { length } = b.lost.all;
      a.wire.reload(issued('first', 'second'));
      const line = await a.log.one((each) => each.includes('an unauthenticated peer'));
      expect(line).match(/refused: the certificate is not valid: CERT_REVOKED/);
      await b.lost.count(length + 3);
      const received = a.messages.all.length;
      b.wire.send(b.heartbeat(a, 99));
      await b.lost.count(length + 5);
      expect(a.messages.all).lengthOf(received);
    });

    it('uses each list of revoked certificates that its file holds', async () => {
      const crl = file('revocation/outdated.crl') + file('revocation/none.crl');
      const a = await start('a', { ...issued('first'), crl });
      const b = await start('b', issued('second'));
      await talks(a, b);
    });

    it('uses new certificates for later connections', async () => {
      const [a, b] = [await start('a', certified('forged')), await start('b', certified('member'))];
      introduce(a, b);
      await a.lost.count(2);
      a.wire.reload(certified('renewed'));
      await Promise.all([a.reached.one(), b.reached.one()]);
      expect(() => a.wire.reload(keyed(KEY))).throw('mode');
    });

    it('keeps its certificates if new ones are unusable', async () => {
      const [a, b] = [await start('a', certified('member')), await start('b', certified('member'))];
      expect(() => a.wire.reload({ ...certified('renewed'), cert: 'none' })).throw();
      introduce(a, b);
      await Promise.all([a.reached.one(), b.reached.one()]);
    });
  });
});
