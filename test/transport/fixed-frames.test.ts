/** Frames with fixed heads. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Entry, Message } from '../../src/raft/types.js';
import type { Ends } from '../../src/transport/fixed-frames.js';
import { decodeFrame, encodeFrame, type Frame } from '../../src/transport/frames.js';
import { WireError } from '../../src/transport/types.js';
import { frame } from './arbitraries.js';

const fixedBytesOf = (one: Frame): Buffer => Buffer.concat(encodeFrame(one));
/** The servers of a connection that carries a frame. */
const endsOf = (one: Frame): Ends =>
  one.type === 'message' ? one.message : { from: 'a', to: 'b' };
const raft = (message: Message): Frame => ({ type: 'message', message });
const envelope = { from: 'a', to: 'b', term: 5 };

describe('frames with fixed heads', () => {
  it('have these bytes with fixed heads', () => {
    const fixed = (one: Frame): string => fixedBytesOf(one).toString('hex');
    const u64 = (value: number): string => value.toString(16).padStart(16, '0');
    expect(fixed({ type: 'request', id: 300, payload: Buffer.from('xy') })).equal(
      `0000000b0e${u64(300)}7879`,
    );
    expect(fixed({ type: 'reply', id: 2 ** 33, payload: Buffer.alloc(0) })).equal(
      `000000090f${u64(2 ** 33)}`,
    );
    const members = [{ id: 'a', name: 'A', address: 'h:1', voter: true }];
    const entries: Entry[] = [
      { kind: 'command', index: 11, term: 4, data: Buffer.from('hi') },
      { kind: 'noop', index: 12, term: 5 },
      { kind: 'configuration', index: 13, term: 5, configuration: { members } },
    ];
    const append = { prevIndex: 10, prevTerm: 4, entries, commit: 9, round: 1 };
    expect(fixed(raft({ ...envelope, type: 'append', ...append }))).equal(
      `0000005d0c${[5, 10, 4, 9, 1].map(u64).join('')}` +
        `00${u64(4)}000000026869` +
        `01${u64(5)}00000000` +
        `02${u64(5)}0000000b9194a161a141a3683a31c3`,
    );
    const response = { success: true, index: 7, hintTerm: 2, round: 3, silenceMs: 480 };
    expect(fixed(raft({ ...envelope, type: 'appendResponse', ...response }))).equal(
      `0000002a0d01${[5, 7, 2, 3, 480].map(u64).join('')}`,
    );
  });

  it('round-trip with fixed heads, and without where there are none', () => {
    fc.assert(
      fc.property(frame, (one) => {
        expect(decodeFrame(fixedBytesOf(one).subarray(4), endsOf(one))).eql(one);
      }),
      { numRuns: 500 },
    );
  });

  it('with fixed heads are rejected, or are another valid frame, if changed, cut, or noise', () => {
    const take = (bytes: Buffer): void => {
      try {
        const decoded = decodeFrame(bytes, { from: 'a', to: 'b' });
        expect(decodeFrame(fixedBytesOf(decoded).subarray(4), endsOf(decoded))).eql(decoded);
      } catch (error) {
        expect(error).instanceOf(WireError);
      }
    };
    fc.assert(
      fc.property(frame, fc.nat(), fc.nat(), (one, bit, cut) => {
        const bytes = fixedBytesOf(one).subarray(4);
        take(bytes.subarray(0, cut % bytes.length));
        bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit % 8);
        take(bytes);
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.uint8Array({ maxLength: 200 }),
        (type, noise) => take(Buffer.from([type, ...noise])),
      ),
      { numRuns: 2000 },
    );
  });

  it('with fixed heads are rejected if what they hold is not valid', () => {
    const ends = { from: 'a', to: 'b' };
    const append = (...list: [kind: number, term: number, content?: Buffer][]): Buffer => {
      const head = fixedBytesOf(
        raft({
          ...envelope,
          type: 'append',
          prevIndex: 10,
          prevTerm: 3,
          entries: [],
          commit: 9,
          round: 1,
        }),
      ).subarray(4);
      const entries = list.map(([kind, term, content = Buffer.alloc(0)]) => {
        const bytes = Buffer.alloc(13);
        bytes[0] = kind;
        bytes.writeUInt32BE(term, 5);
        bytes.writeUInt32BE(content.length, 9);
        return Buffer.concat([bytes, content]);
      });
      return Buffer.concat([head, ...entries]);
    };
    expect(decodeFrame(append([1, 3], [1, 5]), ends).type).equal('message');
    expect(() => decodeFrame(append([1, 3])), 'without a handshake').throw(WireError);
    for (const list of [
      [[1, 2]],
      [
        [1, 4],
        [1, 3],
      ],
      [[1, 6]],
      [[3, 4]],
    ] as [number, number][][])
      expect(() => decodeFrame(append(...list), ends), String(list)).throw(WireError);
    expect(() => decodeFrame(append([1, 4, Buffer.alloc(1)]), ends)).throw(WireError);
    expect(() => decodeFrame(append([2, 4, Buffer.from([0x81, 1, 1])]), ends)).throw(WireError);
  });
});
