/** Members of two releases: which frames they send each other. */
import net from 'node:net';
import { expect } from 'chai';
import { FrameReader } from '../../src/transport/frame-reader.js';
import { decodeFrame, encodeFrame, type Hello } from '../../src/transport/frames.js';
import { TestNode } from './bench.js';

const hello = (version: number): Hello => ({
  version,
  oldestVersion: 1,
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

  /** The first byte of the answer to a request of a peer that speaks `version` at most. */
  const answerTo = async (version: number): Promise<number | undefined> => {
    const [host, port] = node.address.split(':');
    const socket = net.connect(Number(port), host);
    const greeting = encodeFrame({ type: 'hello', hello: hello(version) });
    const request = encodeFrame({ type: 'request', id: 7, payload: Buffer.from('x') });
    socket.write(Buffer.concat([...greeting, ...request]));
    const reader = new FrameReader(10_000);
    const frames: Buffer[] = [];
    for await (const bytes of socket) {
      frames.push(...reader.push(bytes as Buffer));
      if (frames.length === 2) break;
    }
    const [, answer] = frames;
    expect(decodeFrame(answer!)).to.deep.include({ type: 'reply', id: 7 });
    return answer![0];
  };

  it('is that of the older side: fixed heads only from 2 on', async () => {
    expect(await answerTo(1)).to.equal(0);
    expect(await answerTo(2)).to.equal(15);
    expect(await answerTo(3)).to.equal(15);
  });
});
