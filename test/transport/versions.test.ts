/** Members of other releases: which versions of the protocol are understood. */
import net from 'node:net';
import { expect } from 'chai';
import { FrameReader } from '../../src/transport/frame-reader.js';
import {
  decodeFrame,
  encodeFrame,
  type Frame,
  type Hello,
  PROTOCOL_VERSION,
} from '../../src/transport/frames.js';
import { TestNode } from './bench.js';

const hello = (over: Pick<Hello, 'version' | 'oldestVersion'>): Hello => ({
  ...over,
  clusterId: 'cluster-1',
  nodeId: 'x',
  incarnation: 'x-first',
  starts: 1,
  startId: 'first',
  earlier: [],
  address: '127.0.0.1:1',
  purpose: 'messages',
  target: 'a',
});

describe('wire: the version of the protocol', () => {
  let node: TestNode;
  before(async () => {
    node = await new TestNode('a', {}).listen();
    node.onRequest = (_from, payload, reply) => reply(payload);
  });
  after(() => node.wire.close());

  /** The frames that answer a hello and a request, as many as `count`. */
  const answersTo = async (greeting: Hello, count: number): Promise<Frame[]> => {
    const [host, port] = node.address.split(':');
    const socket = net.connect(Number(port), host);
    const sent: readonly Frame[] = [
      { type: 'hello', hello: greeting },
      { type: 'request', id: 7, payload: Buffer.from('x') },
    ];
    socket.write(Buffer.concat(sent.flatMap((frame) => encodeFrame(frame))));
    const reader = new FrameReader(10_000);
    const frames: Frame[] = [];
    for await (const bytes of socket) {
      for (const frame of reader.push(bytes as Buffer)) frames.push(decodeFrame(frame));
      if (frames.length >= count) break;
    }
    return frames;
  };

  it('is 2, also with a newer release that still speaks it', async () => {
    expect(PROTOCOL_VERSION).to.equal(2);
    for (const version of [2, 3]) {
      const [, answer] = await answersTo(hello({ version, oldestVersion: 2 }), 2);
      expect(answer).to.deep.include({ type: 'reply', id: 7 });
    }
  });

  it('of a release before 0.3.0 is refused, and the log says so', async () => {
    const [answer, ...rest] = await answersTo(hello({ version: 1, oldestVersion: 1 }), 1);
    const why =
      'node x supports protocol versions 1 to 1, but this node supports 2 to 2: it runs a ' +
      'release before 0.3.0. Upgrade it to 0.3.0 first';
    expect(answer).to.deep.equal({ type: 'refused', code: 'version', message: why });
    expect(rest).to.deep.equal([]);
    expect(node.log.all.filter((line) => line.includes(why))).to.have.lengthOf(1);
  });
});
