/** What a server may hold that only asks to join. */
import net from 'node:net';
import { expect } from 'chai';
import { encodeFrame, PROTOCOL_VERSION } from '../../src/transport/frames.js';
import { TestNode } from './bench.js';

const SECURITY = { mode: 'key', keys: ['a key that is shared by all members'] } as const;

describe('a server that asks to join', () => {
  const nodes: TestNode[] = [];
  const start = async (id: string, options: ConstructorParameters<typeof TestNode>[1] = {}) => {
    const node = new TestNode(id, options);
    nodes.push(node);
    return node.listen();
  };
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.wire.close();
  });

  it('keeps no member from connecting, however many of them there are', async () => {
    const a = await start('a', { security: SECURITY, limits: { connections: 8 } });
    const b = await start('b', { security: SECURITY });
    for (let i = 0; i < 8; i++) {
      const joiner = await start(`joiner-${i}`, { security: SECURITY });
      joiner.clusterId = null;
      // It is kept waiting.
      const hasAsked = new Promise<void>((resolve) => {
        a.onJoin = () => resolve();
      });
      joiner.wire.requestJoin(a.address, Buffer.from('x'), 60_000, () => {});
      await hasAsked;
    }
    b.wire.setMembers([{ id: 'a', address: a.address }]);
    await b.reached.one();
  });

  it('may send one request on a connection, and no large one', async () => {
    const a = await start('a');
    const [host, port] = a.address.split(':');
    const hello = encodeFrame({
      type: 'hello',
      hello: {
        version: PROTOCOL_VERSION,
        oldestVersion: PROTOCOL_VERSION,
        clusterId: '',
        nodeId: 'x',
        incarnation: 'x-first',
        address: '127.0.0.1:1',
        purpose: 'join',
        target: '',
        starts: 1,
        startId: 'first',
        earlier: [],
      },
    });
    const asks = (bytes: number): Buffer[] =>
      encodeFrame({ type: 'request', id: 1, payload: Buffer.alloc(bytes) });
    for (const requests of [[...asks(1), ...asks(1)], asks(20_000)]) {
      const socket = net.connect(Number(port), host);
      socket.on('error', () => {});
      const answered = new Promise<void>((resolve) => socket.once('data', () => resolve()));
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.write(Buffer.concat(hello));
      await answered;
      socket.write(Buffer.concat(requests));
      await closed;
      expect(a.joiners).lengthOf(1);
    }
  });
});
