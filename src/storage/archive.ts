/**
 * The archive of GET and PUT /v1/snapshot: a gzip'd tar of `meta.json`, `state.bin` and
 * `SHA256SUMS`, so that tools which verify such archives accept it. `state.bin` is a line that
 * names the format, followed by the records of the state. It holds token secrets. The reader passes
 * records to its caller as they arrive; the caller must not use them before the whole archive is
 * verified.
 */
import { createHash, type Hash } from 'node:crypto';
import { PassThrough, type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import tar from 'tar-stream';
import { ApiError, reject } from '../base/errors.js';
import type { SnapshotMeta } from '../raft/types.js';
import { levelOf } from '../state/levels.js';
import type { View } from '../state/types.js';
import { StorageError } from './errors.js';
import { recordSum, Tally } from './key-index.js';
import { nextTurn, RecordReader, takeRecords } from './record-stream.js';
import type { StateRecord, StateTally } from './types.js';

const FORMAT_LINE = Buffer.from('conclave state 1\n');
/** Bytes of records encoded in one turn of the event loop. */
const SLICE_BYTES = 128 * 1024;
/** Bytes of an archive that are decompressed, and handled, at a time. */
const READ_BYTES = 64 * 1024;
/** Bytes of the two small files of an archive. Both are read into memory. */
const META_BYTES_MAX = 2 ** 20;
const SUMS_BYTES_MAX = 4096;
/**
 * Bytes of an archive that are received before they are processed. The time limit of a request
 * covers the client's upload, not our processing.
 */
const AHEAD_BYTES = 32 * 2 ** 20;

/** `meta.json`, with the field names that existing tools expect. */
export interface ArchiveMeta {
  readonly Version: 1;
  readonly ID: string;
  readonly Index: number;
  readonly Term: number;
  readonly Configuration: {
    readonly Servers: readonly {
      readonly Suffrage: 0 | 1;
      readonly ID: string;
      readonly Address: string;
    }[];
  };
  /** Bytes of state.bin. */
  readonly Size: number;
  /** Number of records in state.bin, and the sum of their checksums. */
  readonly Records: number;
  readonly Sum: number;
  /** The level of the cluster when it was saved. Absent: 1. */
  readonly Level?: number;
}

/** What an archive may hold to be read. */
export interface ArchiveLimits {
  /** Bytes of state.bin after decompression. */
  readonly stateBytes: number;
  /**
   * The level in force. An archive of a higher level may hold what some members do not know.
   * Absent: every level is accepted.
   */
  readonly level?: number;
}

/**
 * Returns the archive of a view pinned at `at`. Reads the view twice, one slice per turn of the
 * event loop. The caller closes the view once the stream has closed. `nowMs` is Unix time.
 */
export function writeArchive(view: View, at: SnapshotMeta, nowMs: number): Readable {
  const pack = tar.pack();
  const out = createGzip();
  // An error in either stream destroys both, and `out` emits it.
  pipeline(pack, out).catch(() => {});
  fill(pack, view, at, nowMs).then(
    () => pack.finalize(),
    (error: Error) => pack.destroy(error),
  );
  return out;
}

async function fill(pack: tar.Pack, view: View, at: SnapshotMeta, nowMs: number): Promise<void> {
  let size = FORMAT_LINE.length;
  const tally = new Tally();
  for await (const slice of slices(view, tally)) size += slice.length;
  const meta: ArchiveMeta = {
    Version: 1,
    ID: `${at.term}-${at.index}-${nowMs}`,
    Index: at.index,
    Term: at.term,
    Configuration: {
      Servers: at.configuration.members.map(({ id, address, voter }) => ({
        Suffrage: voter ? 0 : 1,
        ID: id,
        Address: address,
      })),
    },
    Size: size,
    Records: tally.count,
    Sum: tally.sum,
    Level: levelOf(view),
  };
  const mtime = new Date(nowMs);
  const header = (name: string) => ({ name, mode: 0o600, mtime });
  const metaBytes = Buffer.from(JSON.stringify(meta));
  pack.entry(header('meta.json'), metaBytes);

  const hash = createHash('sha256').update(FORMAT_LINE);
  const entry = pack.entry({ ...header('state.bin'), size });
  const body = async function* () {
    yield FORMAT_LINE;
    for await (const slice of slices(view, new Tally())) {
      hash.update(slice);
      yield slice;
    }
  };
  await pipeline(body, entry);
  const sums = [
    `${createHash('sha256').update(metaBytes).digest('hex')}  meta.json\n`,
    `${hash.digest('hex')}  state.bin\n`,
  ];
  pack.entry(header('SHA256SUMS'), sums.join(''));
}

async function* slices(view: View, tally: Tally): AsyncGenerator<Buffer> {
  let after: string | undefined;
  for (;;) {
    await nextTurn();
    const { bytes, lastKey } = takeRecords(view, after, SLICE_BYTES, tally);
    if (lastKey === undefined) return;
    yield bytes;
    after = lastKey;
  }
}

/**
 * Reads an archive. Calls `onRecords` with the records in order and awaits it. Resolves once the
 * whole archive is verified; until then the records must not be used. Throws ApiError `invalid`
 * (400) if it is not a complete archive of this server, `too_large` (413) if it exceeds the limits.
 */
export async function readArchive(
  stream: Readable,
  limits: ArchiveLimits,
  onRecords: (records: readonly StateRecord[]) => Promise<void>,
): Promise<{ meta: ArchiveMeta; tally: StateTally }> {
  const found = new Map<string, { hash: string; text: string }>();
  const tally = new Tally();
  const extract = tar.extract();
  // Counts decompressed bytes, to distinguish garbage from a truncated archive.
  const seen = { bytes: 0 };
  const counter = new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      seen.bytes += chunk.length;
      next(null, chunk);
    },
  });
  // The pipeline must not destroy the stream: a destroyed request cannot be answered.
  const source = stream.iterator({ destroyOnReturn: false });
  const ahead = new PassThrough({ highWaterMark: AHEAD_BYTES });
  const flow = pipeline(
    source,
    ahead,
    createGunzip({ chunkSize: READ_BYTES }),
    counter,
    extract,
  ).then(
    () => undefined,
    (error: Error) => error,
  );
  try {
    for await (const entry of extract) {
      const { name, type, size } = entry.header;
      if (type !== 'file' || !FILES.includes(name) || found.has(name)) {
        unreadable(`unexpected entry "${name}" in the archive`);
      }
      // The content of such an entry would never end.
      if (!Number.isSafeInteger(size)) unreadable(`the size of ${name} in its header is no number`);
      const hash = createHash('sha256');
      const content = entry as AsyncIterable<Buffer>;
      const text =
        name === 'state.bin'
          ? await readState(content, hash, limits, tally, onRecords)
          : await readText(content, hash, name === 'meta.json' ? META_BYTES_MAX : SUMS_BYTES_MAX);
      if (name === 'meta.json') checkLevel(text, limits.level);
      found.set(name, { hash: hash.digest('hex'), text });
    }
    const broken = await flow;
    if (broken !== undefined) throw broken;
  } catch (error) {
    extract.destroy();
    const broken = await flow;
    if (error instanceof ApiError) throw error;
    // A fault found here is the cause; the streams only report that they were stopped.
    explain(error instanceof StorageError ? error : (broken ?? (error as Error)), seen.bytes);
  }
  if (seen.bytes === 0) reject('invalid', 'failed to decompress snapshot: the archive is empty');
  return { meta: verify(found, tally), tally };
}

const FILES = ['meta.json', 'state.bin', 'SHA256SUMS'];

function unreadable(why: string): never {
  reject('invalid', `failed to read snapshot file: ${why}`);
}

/** Throws the refusal for an error of the streams, or the error itself if none fits. */
function explain(error: Error, bytesSeen: number): never {
  if (error instanceof StorageError && error.code === 'invalid') unreadable(error.message);
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code.startsWith('Z_')) {
    const why = code === 'Z_BUF_ERROR' ? 'unexpected end of the archive' : error.message;
    if (bytesSeen === 0) reject('invalid', `failed to decompress snapshot: ${why}`);
    unreadable(why);
  }
  if (/tar|header|Unexpected end of data/i.test(error.message)) unreadable(error.message);
  throw error;
}

/**
 * Refuses an archive of a higher level. meta.json comes first, so this precedes the complaint about
 * a table that this version does not know.
 */
function checkLevel(text: string, level = Number.POSITIVE_INFINITY): void {
  let saved = 1;
  try {
    saved = (JSON.parse(text) as Partial<ArchiveMeta> | null)?.Level ?? 1;
  } catch {
    // `verify` reports it.
  }
  if (saved > level)
    unreadable(`it was saved at level ${saved}, this cluster is at level ${level}`);
}

async function readText(entry: AsyncIterable<Buffer>, hash: Hash, limit: number): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of entry) {
    size += part.length;
    if (size > limit) unreadable('an entry of the archive is too long');
    hash.update(part);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

async function readState(
  entry: AsyncIterable<Buffer>,
  hash: Hash,
  limits: ArchiveLimits,
  tally: Tally,
  onRecords: (records: readonly StateRecord[]) => Promise<void>,
): Promise<string> {
  const reader = new RecordReader();
  let start = Buffer.alloc(0);
  let size = 0;
  for await (const part of entry) {
    hash.update(part);
    size += part.length;
    if (size > limits.stateBytes) {
      reject('too_large', `the snapshot expands to more than ${limits.stateBytes} bytes`);
    }
    let bytes = part;
    if (start.length < FORMAT_LINE.length) {
      start = Buffer.concat([start, part]);
      if (start.length < FORMAT_LINE.length) continue;
      if (!start.subarray(0, FORMAT_LINE.length).equals(FORMAT_LINE)) {
        unreadable('state.bin is not the state of this kind of server');
      }
      bytes = start.subarray(FORMAT_LINE.length);
      if (bytes.length === 0) continue;
    }
    const records = reader.push(bytes);
    for (const [key, value] of records) tally.add(recordSum(key, value));
    if (records.length > 0) await onRecords(records);
  }
  if (start.length < FORMAT_LINE.length) unreadable('state.bin is cut off');
  reader.end();
  return '';
}

/** Checks the checksums and the record count. Returns the metadata. */
function verify(
  found: ReadonlyMap<string, { hash: string; text: string }>,
  tally: Tally,
): ArchiveMeta {
  const missing = FILES.find((name) => !found.has(name));
  if (missing !== undefined) unreadable(`the archive has no ${missing}`);
  const sums = new Map<string, string>();
  for (const line of found.get('SHA256SUMS')!.text.split('\n')) {
    const match = /^([0-9a-f]{64}) [ *](.+)$/.exec(line);
    if (match !== null) sums.set(match[2]!, match[1]!);
    else if (line !== '') unreadable('SHA256SUMS contains a line that is not a checksum');
  }
  for (const name of ['meta.json', 'state.bin']) {
    if (sums.get(name) !== found.get(name)!.hash) {
      unreadable(`the checksum of ${name} does not match SHA256SUMS`);
    }
  }
  let meta: ArchiveMeta | null;
  try {
    meta = JSON.parse(found.get('meta.json')!.text) as ArchiveMeta | null;
  } catch {
    unreadable('meta.json is not JSON');
  }
  if (meta === null) unreadable('meta.json is not an object');
  if (meta.Version !== 1) unreadable(`version ${meta.Version} of the archive is not supported`);
  const whole = Number.isSafeInteger(meta.Index) && Number.isSafeInteger(meta.Term);
  if (!whole || !tally.equals({ count: meta.Records, sum: meta.Sum })) {
    unreadable('meta.json does not describe state.bin');
  }
  return meta;
}
