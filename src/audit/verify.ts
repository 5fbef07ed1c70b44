/** Checks the files of a sink without a node (beyond.md 5.3). */
import { createReadStream } from 'node:fs';
import { type ChainEnd, EMPTY_CHAIN, isHashed, readLine } from './chain.js';

/** Why a line is bad: the first of these that holds. */
export type BadLine = 'json' | 'hash' | 'seq' | 'prev' | 'torn' | 'cut';

/** What was found in files. */
export interface Verdict {
  readonly ok: boolean;
  /** Records that were read before the first bad line. */
  readonly records: number;
  readonly first: number;
  /** Where the chain ends: what a shipper compares with. */
  readonly last: number;
  readonly hash: string;
  /** The first bad line. */
  readonly bad?: {
    readonly file: string;
    readonly line: number;
    /** Its number; 0 if it has none. */
    readonly seq: number;
    readonly why: BadLine;
    /** Set if the record that must be among them is there with another hash. */
    readonly rewritten?: true;
  };
}

export interface VerifyOptions {
  readonly key?: Uint8Array | undefined;
  /** A record that must be among them, such as the last one that was shipped. */
  readonly seen?: ChainEnd | undefined;
}

/** Yields the lines of a file without line feeds. The last one is `torn` if it has none. */
async function* linesOf(file: string): AsyncIterable<{ line: Buffer; torn: boolean }> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of createReadStream(file)) {
    let bytes = rest.length === 0 ? (part as Buffer) : Buffer.concat([rest, part as Buffer]);
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10)) {
      yield { line: bytes.subarray(0, at), torn: false };
      bytes = bytes.subarray(at + 1);
    }
    rest = bytes;
  }
  if (rest.length > 0) yield { line: rest, torn: true };
}

/** Checks files that follow each other. Throws Error for a file that cannot be read. */
export async function verify(
  files: readonly string[],
  { key, seen }: VerifyOptions = {},
): Promise<Verdict> {
  let end: ChainEnd | undefined;
  let first = 0;
  let records = 0;
  let isSeen = seen === undefined;
  let place = { file: files[0] ?? '', line: 0 };
  const bad = (why: BadLine, seq: number, more = {}): Verdict => ({
    ...found(false),
    bad: { ...place, seq, why, ...more },
  });
  const found = (ok: boolean): Verdict => ({
    ok,
    records,
    first,
    last: end?.seq ?? 0,
    hash: end?.hash ?? '',
  });
  for (const file of files) {
    place = { file, line: 0 };
    for await (const { line, torn } of linesOf(file)) {
      place = { file, line: place.line + 1 };
      if (torn) return bad('torn', 0);
      const read = readLine(line);
      if (read === undefined) return bad('json', 0);
      const { seq, prev, hash } = read;
      if (!isHashed(line, key)) return bad('hash', seq);
      const before = end ?? (seq === 1 ? EMPTY_CHAIN : undefined);
      if (before !== undefined && seq !== before.seq + 1) return bad('seq', seq);
      if (before !== undefined && prev !== before.hash) return bad('prev', seq);
      if (seq === seen?.seq && hash !== seen.hash) return bad('cut', seq, { rewritten: true });
      if (end === undefined) first = seq;
      end = { seq, hash };
      records += 1;
      isSeen ||= seq === seen?.seq;
    }
  }
  return isSeen ? found(true) : bad('cut', seen!.seq);
}
