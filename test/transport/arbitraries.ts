/** Frames and messages of all types, for properties. */
import fc from 'fast-check';
import type { Configuration, Entry, Message } from '../../src/raft/types.js';
import type { Frame } from '../../src/transport/frames.js';
import type { PackedMessage } from '../../src/transport/messages.js';

const number = fc.oneof(fc.nat(200), fc.maxSafeNat());
const name = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' });
const configuration: fc.Arbitrary<Configuration> = fc.record({
  members: fc.array(
    fc.record({ id: name, name: fc.string(), address: fc.string(), voter: fc.boolean() }),
    { maxLength: 4 },
  ),
});
const entry = fc.oneof(
  fc.record({ kind: fc.constant('noop' as const) }),
  fc.record({ kind: fc.constant('configuration' as const), configuration }),
  fc.record({
    kind: fc.constant('command' as const),
    data: fc.uint8Array({ maxLength: 300 }).map((data) => Buffer.from(data)),
  }),
);
const message: fc.Arbitrary<Message> = fc
  .record({ from: name, to: name, term: fc.integer({ min: 100, max: 2 ** 50 }) })
  .chain((head) =>
    fc.oneof(
      fc
        .record({
          type: fc.constantFrom('preVote' as const, 'vote' as const),
          lastIndex: number,
          lastTerm: number,
          transfer: fc.boolean(),
        })
        .map(({ transfer, ...rest }) => ({ ...head, ...rest, ...(transfer ? { transfer } : {}) })),
      fc
        .record({
          type: fc.constantFrom('preVoteResponse' as const, 'voteResponse' as const),
          granted: fc.boolean(),
        })
        .map((rest) => ({ ...head, ...rest })),
      fc
        .record({
          prevIndex: fc.nat(2 ** 30),
          contents: fc.array(entry, { maxLength: 5 }),
          commit: number,
          round: number,
        })
        .map(({ contents, prevIndex, ...rest }) => ({
          ...head,
          ...rest,
          type: 'append' as const,
          prevIndex,
          prevTerm: 7,
          entries: contents.map(
            (one, i) => ({ ...one, index: prevIndex + 1 + i, term: 7 + i }) as Entry,
          ),
        })),
      fc
        .record({
          type: fc.constant('appendResponse' as const),
          success: fc.boolean(),
          index: number,
          hintTerm: number,
          round: number,
          silenceMs: number,
        })
        .map((rest) => ({ ...head, ...rest })),
      fc
        .record({
          type: fc.constant('snapshot' as const),
          meta: fc.record({ index: number, term: number, configuration }),
          round: number,
        })
        .map((rest) => ({ ...head, ...rest })),
      fc.constant({ ...head, type: 'timeoutNow' as const }),
    ),
  );
/** What requests and replies carry. */
export const payload = fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes));
export const frame: fc.Arbitrary<Frame> = fc.oneof(
  message.map((one): Frame => ({ type: 'message', message: one })),
  fc.record({
    type: fc.constantFrom('request' as const, 'reply' as const),
    id: number,
    payload,
  }),
  fc.record({
    type: fc.constant('snapshotChunk' as const),
    number,
    last: fc.boolean(),
    data: payload,
  }),
  fc.constantFrom<Frame>(
    { type: 'ping' },
    { type: 'pong' },
    { type: 'snapshotNext', number: 3 },
    { type: 'snapshotEnd', ok: true },
    { type: 'refused', code: 'cluster', message: 'no' },
  ),
);

const isPacked = (one: Message): one is PackedMessage =>
  one.type !== 'append' && one.type !== 'appendResponse';
/** Messages and frames whose head is an array. */
export const packedMessage = message.filter(isPacked);
export const packed = frame.filter((one) =>
  one.type === 'message' ? isPacked(one.message) : one.type !== 'request' && one.type !== 'reply',
);
