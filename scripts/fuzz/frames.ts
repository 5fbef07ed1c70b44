/** Frames for the members' port: valid ones, and ways to damage them. */
import { Packr } from 'msgpackr';
import type { Random } from '../../cluster/checker/random.js';
import type { Message } from '../../src/raft/types.js';
import { decodeRequest, encodeRequest } from '../../src/replica/rpc-codec.js';
import { decodeFrame, encodeFrame, type Frame } from '../../src/transport/frames.js';
import { noise } from './raw-shots.js';

/** Any value, including maps and extensions, which the wire's own codec does not produce. */
const packr = new Packr({ useRecords: false });

/**
 * Requests that change nothing when they are valid. A write is authorized by its token, and none of
 * these tokens exists.
 */
const HARMLESS: ReadonlySet<string> = new Set([
  ...['read', 'status', 'joining', 'member', 'level', 'room', 'sums', 'write'],
]);

/** Servers of a connection. Without them no message with a fixed head is decoded. */
const ENDS = { from: 'fuzz', to: 'member' };

/** Messages of a term long past, which no member may follow. */
function oldMessage(from: string, to: string, random: Random): Message {
  const envelope = { from, to, term: 0 };
  const members = [{ id: from, name: 'x', address: '127.0.0.1:1', voter: true }];
  const meta = { index: random.int(1000), term: 0, configuration: { members } };
  const [index, round] = [random.int(2 ** 31), random.int(1000)];
  return random.pick<Message>([
    { type: 'preVote', ...envelope, lastIndex: index, lastTerm: 0 },
    { type: 'vote', ...envelope, lastIndex: index, lastTerm: 0 },
    { type: 'preVoteResponse', ...envelope, granted: true },
    { type: 'voteResponse', ...envelope, granted: true },
    {
      type: 'append',
      ...envelope,
      prevIndex: index,
      prevTerm: 0,
      entries: [],
      commit: index,
      round,
    },
    {
      ...{ type: 'appendResponse', ...envelope, success: true, index, hintTerm: 0, round },
      silenceMs: 1,
    },
    { type: 'snapshot', ...envelope, meta, round },
    { type: 'timeoutNow', ...envelope },
  ]);
}

const COMMANDS = [
  ...['null', '1', '"x"', '[]', '{}', '{"type":null}', '{"type":"nobody.knows"}', '{', ''],
  ...['{"type":"__proto__"}', '{"type":"constructor"}', '{"type":"config.set"}', '\ud800'],
  ...[
    '{"type":"config.set","entry":null}',
    '{"type":"acl.token.set","token":{}}',
    '{"type":["a"]}',
  ],
];

function requestPayload(random: Random): Uint8Array {
  const command = packr.pack([1, `fuzz-${random.int(1000)}`, 0, random.pick(COMMANDS)]);
  const odd: readonly unknown[] = [
    ...[null, 1, 'write', [], [null], ['nothing'], ['write'], ['write', null, 'x', -1]],
    ...[
      ['write', {}, command, 1],
      ['read', 'never'],
      ['sums', -1],
      ['sums', 1e300],
      ['add', {}, []],
    ],
    ...[['status', 1, 2, 3], { type: 'read' }, new Map([['a', 1]]), new Date(0), [['read']]],
  ];
  const draw = random.next();
  if (draw < 0.25) return packr.pack(random.pick(odd));
  if (draw < 0.3) return noise(random, random.int(60));
  if (draw < 0.6) {
    const data = random.chance(0.8) ? command : noise(random, 40);
    return encodeRequest({ type: 'write', tokenKey: null, data, timeoutMs: random.int(1000) });
  }
  return encodeRequest(
    random.pick([
      { type: 'read', mode: 'consistent', term: random.int(3) },
      { type: 'status' },
      { type: 'joining' },
      { type: 'level' },
      { type: 'room' },
      { type: 'member', id: 'nobody' },
      { type: 'sums', index: random.int(2 ** 31) },
    ]),
  );
}

/** The request of a server to join, which is never approved. */
export function joinRequest(id: string, random: Random): Uint8Array {
  const name = random.pick(['fuzz', 'n1', '', 'x'.repeat(2000), '\u0000', '__proto__']);
  const address = random.pick(['127.0.0.1:1', 'nowhere', '', '[::1]:99999', '127.0.0.1:1:1']);
  const token = random.pick([undefined, '', 'x'.repeat(43), '__proto__']);
  const server = { id, name, address, level: random.pick([0, 1, 2 ** 40]) };
  return encodeRequest({ type: 'add', server, ...(token !== undefined && { token }) });
}

/** A frame as a member would send it. */
export function goodFrame(from: string, to: string, random: Random): Buffer {
  const id = random.int(100);
  const bytesOf = (frame: Frame): Buffer => Buffer.concat(encodeFrame(frame));
  switch (random.int(6)) {
    case 0:
      return bytesOf({ type: random.pick(['ping', 'pong'] as const) });
    case 1:
      return bytesOf({ type: 'reply', id, payload: noise(random, 10) });
    case 2:
      return bytesOf({ type: 'message', message: oldMessage(from, to, random) });
    case 3: {
      const message = oldMessage(from, to, random);
      if (message.type === 'append' || message.type === 'appendResponse')
        return bytesOf({ type: 'message', message });
      return bytesOf(
        random.pick<Frame>([
          { type: 'snapshotBegin', id: 'fuzz', message },
          { type: 'snapshotChunk', number: id, last: true, data: noise(random, 100) },
          { type: 'snapshotNext', number: id },
          { type: 'snapshotEnd', ok: true },
        ]),
      );
    }
    default:
      return bytesOf({ type: 'request', id, payload: requestPayload(random) });
  }
}

const SHAPES: readonly unknown[] = [
  ...[
    null,
    1,
    'x',
    {},
    [],
    [[]],
    [0],
    [12],
    [99, 'x'],
    [-1],
    [1.5],
    ['5'],
    [5],
    [5, 0],
    [5, 99, 'a', 'b', 1],
  ],
  ...[
    [5, 0, 'a', 'b', -1, 0, 0, false],
    [5, 4, 'a', 'b', {}, 0, 0, 0],
    [6],
    [6, -1],
    [6, 'x'],
    [9, 0],
  ],
  ...[
    [1],
    [1, 1, 'x'],
    [2, 'protocol', 'x'],
    [2, 1],
    [10, {}],
    [11, 1],
    { 0: 3 },
    new Map([[1, 2]]),
  ],
  ...[
    [[[[[[[[[3]]]]]]]]],
    Array(5000).fill(0),
    [3, ...Array(5000).fill('x')],
    ['\ud800'],
    [2 ** 60],
  ],
];

/** A frame whose head is any value. */
function anyFrame(random: Random): Buffer {
  const head = packr.pack(random.pick(SHAPES));
  const blob = random.chance(0.3) ? noise(random, 30) : Buffer.alloc(0);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(4 + head.length + blob.length, 0);
  lengths.writeUInt32BE(head.length, 4);
  return Buffer.concat([lengths, head, blob]);
}

/** Damages a stream of frames: bits, lengths, order, repetitions, an early end. */
export function damaged(frames: readonly Buffer[], random: Random): Buffer[] {
  const at = random.int(frames.length);
  const frame = Buffer.from(frames[at]!);
  const put = (...changed: Buffer[]): Buffer[] => frames.toSpliced(at, 1, ...changed);
  switch (random.int(8)) {
    case 0:
      for (let n = 1 + random.int(4); n > 0; n--)
        frame[random.int(frame.length)]! ^= 1 << random.int(8);
      return put(frame);
    case 1:
      frame.writeUInt32BE(random.pick([0, 1, 3, 4, frame.length, 2 ** 24, 2 ** 32 - 1]), 0);
      return put(frame);
    case 2:
      frame.writeUInt32BE(random.pick([0, 1, frame.length - 4, 2 ** 31, 2 ** 32 - 1]), 4);
      return put(frame);
    case 3:
      return put(frame.subarray(0, random.int(frame.length)));
    case 4:
      return put(frame, frame, frame);
    case 5:
      return random.shuffle(frames);
    case 6:
      return put(anyFrame(random));
    default:
      return put(noise(random, random.int(200)));
  }
}

/**
 * Whether a member may take a stream for an order of another one. Holders of the shared key are
 * trusted: a well-formed vote or removal takes effect, which is not a fault of the node.
 */
export function isOrder(stream: Buffer): boolean {
  for (let at = 0; at + 4 <= stream.length; ) {
    const length = stream.readUInt32BE(at);
    if (at + 4 + length > stream.length) return false;
    const frame = tryDecode(stream.subarray(at + 4, at + 4 + length));
    if (frame === undefined) return false;
    if (frame.type === 'message' || frame.type === 'snapshotBegin') {
      if (frame.message.term > 0) return true;
    } else if (frame.type === 'request') {
      const ask = decodeRequest(frame.payload);
      if (ask !== undefined && !HARMLESS.has(ask.type)) return true;
    }
    at += 4 + length;
  }
  return false;
}

function tryDecode(bytes: Buffer): Frame | undefined {
  try {
    return decodeFrame(bytes, ENDS);
  } catch {
    return undefined;
  }
}
