/** Frames whose head is an array: that they round-trip, and that nothing else is accepted. */
import { expect } from 'chai';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import type { Entry, Message } from '../../src/raft/types.js';
import { pack, unpack } from '../../src/transport/codec.js';
import { FrameReader } from '../../src/transport/frame-reader.js';
import { decodeFrame, encodeFrame, type Frame } from '../../src/transport/frames.js';
import { WireError } from '../../src/transport/types.js';
import { packed, packedMessage, payload } from './arbitraries.js';

const bytesOf = (frame: Frame): Buffer => Buffer.concat(encodeFrame(frame));
const decode = (bytes: Buffer): Frame => decodeFrame(bytes.subarray(4));
const hex = (frame: Frame): string => bytesOf(frame).toString('hex');
const raft = (message: Message): Frame => ({ type: 'message', message });
const envelope = { from: 'a', to: 'b', term: 5 };

describe('frames', () => {
  it('have these bytes, which other versions rely on', () => {
    expect(hex({ type: 'ping' })).equal('00000006000000029103');
    expect(
      hex({
        type: 'hello',
        hello: {
          version: 1,
          clusterId: 'c',
          nodeId: 'n',
          incarnation: 'i',
          address: 'h:1',
          purpose: 'snapshot',
          target: 't',
          starts: 3,
          startId: 's',
          oldestVersion: 1,
          earlier: ['r', 'q'],
        },
      }),
    ).equal(
      '0000001d000000199c01' + '01a163a16ea169a3683a31' + '01a174' + '03a17301' + '92a172a171',
    );
    const vote = { ...envelope, type: 'vote', lastIndex: 2 ** 33, lastTerm: 4 } as const;
    expect(hex(raft(vote))).equal(
      '00000017000000139805' + '01a161a16205' + 'cb4200000000000000' + '04' + 'c2',
    );
  });

  it('round-trip', () => {
    fc.assert(
      fc.property(packed, (one) => {
        expect(decode(bytesOf(one))).eql(one);
      }),
      { numRuns: 500 },
    );
  });

  it('share the bytes of entries among all peers', () => {
    const entries: Entry[] = [{ kind: 'command', index: 1, term: 1, data: Buffer.alloc(100) }];
    const to = (peer: string, list: readonly Entry[]) =>
      encodeFrame(
        raft({
          ...envelope,
          to: peer,
          type: 'append',
          prevIndex: 0,
          prevTerm: 0,
          entries: list,
          commit: 0,
          round: 1,
        }),
      ).at(-1)!;
    const [one, two] = [to('b', entries), to('c', [...entries])];
    expect(one.buffer === two.buffer && one.byteOffset === two.byteOffset).equal(true);
    const other = [{ ...entries[0]!, data: Buffer.alloc(100, 1) }] as Entry[];
    expect(to('b', other).equals(one)).equal(false);
  });

  it('are rejected, or are another valid frame, if any bit is changed', () => {
    fc.assert(
      fc.property(packed, fc.nat(), (one, bit) => {
        const bytes = bytesOf(one).subarray(4);
        bytes[(bit >> 3) % bytes.length]! ^= 1 << (bit % 8);
        try {
          const decoded = decodeFrame(bytes);
          expect(decode(bytesOf(decoded))).eql(decoded);
        } catch (error) {
          expect(error).instanceOf(WireError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('are rejected if cut anywhere, and if they are noise', () => {
    fc.assert(
      fc.property(packedMessage.map(raft), fc.nat(), (one, cut) => {
        const bytes = bytesOf(one).subarray(4);
        const short = bytes.subarray(0, cut % bytes.length);
        expect(() => decodeFrame(short)).throw(WireError);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        try {
          decodeFrame(Buffer.from(noise));
        } catch (error) {
          expect(error).instanceOf(WireError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('are rejected with a wrong type, or a missing or extra item', () => {
    const refuse = (
      head: unknown,
      blob: Buffer = Buffer.alloc(0),
      packr = new Packr({ useRecords: false }),
    ) => {
      const bytes = packr.pack(head);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      expect(
        () => decodeFrame(Buffer.concat([length, bytes, blob])),
        typeof head === 'object' ? Object.values(head ?? {}).join() : String(head),
      ).throw(WireError);
    };
    const vote = [5, 1, 'a', 'b', 5, 10, 4, false];
    for (let i = 0; i < vote.length; i++) {
      for (const wrong of [null, -1, 1.5, '', {}, [], true, 2 ** 53, 'x'.repeat(5000), undefined]) {
        const allowed =
          typeof wrong === typeof vote[i] && wrong !== '' && String(wrong).length < 99;
        if (!(allowed && (wrong === true || typeof wrong === 'string'))) {
          refuse(vote.map((item, at) => (at === i ? wrong : item)));
        }
      }
      refuse(vote.filter((_, at) => at !== i));
    }
    refuse(vote, Buffer.from([0x90]));
    refuse({ __proto__: null, type: 5 });
    refuse(JSON.parse('{"__proto__": {"x": 1}, "length": 8}'));
    refuse([5, 1, 'a', 'b', 5, JSON.parse('{"__proto__": 1}'), 4, false]);
    refuse([5, 1, 'a', 'b', 5, new Date(0), 4, false]);
    refuse([5, 1, 'a', 'b', 5, 10n ** 18n, 4, false]);
    refuse([{ a: 1 }, { a: 2 }], undefined, new Packr({ useRecords: true }));
    refuse([99]);
    refuse([]);
    refuse(7);
  });

  it('are decoded as before if a newer release has appended items', () => {
    fc.assert(
      fc.property(packed, (one) => {
        const bytes = bytesOf(one).subarray(4);
        const end = 4 + bytes.readUInt32BE(0);
        const items = unpack(bytes.subarray(4, end)) as unknown[];
        const head = pack([...items, 'an item of a newer release', [1, null]]);
        const length = Buffer.alloc(4);
        length.writeUInt32BE(head.length);
        expect(decodeFrame(Buffer.concat([length, head, bytes.subarray(end)]))).eql(one);
      }),
    );
  });

  it('do not make the decoder allocate what is only announced', () => {
    const announced = [
      'ddffffffff',
      '91dd7fffffff',
      'c6ffffffff',
      'dbffffffff',
      'dcffff',
      '91'.repeat(100),
    ];
    for (const text of [
      ...announced,
      'df00000001',
      '81a161',
      'c7010161',
      'd40072',
      'cf0000000000000001',
      'c1',
    ]) {
      expect(() => unpack(Buffer.from(text, 'hex')), text).throw(WireError);
    }
  });
});

describe('frame reader', () => {
  it('returns the same frames however the bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(payload, { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 60 })),
        (bodies, cuts) => {
          const bytes = Buffer.concat(
            bodies.flatMap((body) => {
              const length = Buffer.alloc(4);
              length.writeUInt32BE(body.length);
              return [length, body];
            }),
          );
          const reader = new FrameReader(1000);
          const got: Buffer[] = [];
          for (let at = 0; at < bytes.length; ) {
            const size = cuts.next().value;
            for (const one of reader.push(bytes.subarray(at, at + size)))
              got.push(Buffer.from(one));
            at += size;
          }
          expect(got).eql(bodies);
        },
      ),
    );
  });

  it('rejects a length above the limit as soon as it is known', () => {
    const reader = new FrameReader(100);
    expect([...reader.push(Buffer.from([0, 0, 0]))]).eql([]);
    expect(() => [...reader.push(Buffer.from([101]))]).throw(WireError);
  });
});
