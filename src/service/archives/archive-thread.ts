/**
 * The thread that reads the archive of a restore: it checks all of it, and makes the parts that the
 * node proposes meanwhile. See archive-parts.ts.
 */
import { createReadStream } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { promisify } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { deflateRaw } from 'node:zlib';
import { ApiError, type Refusal } from '../../base/errors.js';
import { recordBytes } from '../../state/record-bytes.js';
import { isArchived, isRestored, isTaken, proposedRecord } from '../../state/restore.js';
import { type ArchiveLimits, readArchive } from '../../storage/archive.js';
import type { StateRecord } from '../../storage/types.js';
import { SnapshotCheck } from './snapshot-check.js';

/** What the thread is to read. */
export interface ArchiveJob {
  /** The descriptor of the file. */
  readonly fd: number;
  readonly limits: ArchiveLimits;
  /** An index that the log of this cluster has reached. */
  readonly index: number;
}

/** Some of the records of an archive. */
export interface ArchivePart {
  /** In base64, the DEFLATE of the records (record-bytes.ts). */
  readonly bytes: string;
  readonly records: number;
}

/** What the thread sends: a part, or at the end why the archive is refused, unless it is whole. */
export type ArchiveNews = ArchivePart | { readonly end: Refusal | undefined };

/**
 * Bytes of keys and values in one part. A member stores and applies a part in a few milliseconds.
 */
const PART_BYTES = 256 * 1024;
/** Parts that are made before the node takes them. */
const AHEAD = 4;
/** Parts are compressed quickly rather than well: they travel to every member, and into its log. */
const DEFLATE = { level: 1 } as const;
const deflate = promisify(deflateRaw);

/** Leading and answering come first. A process whose own priority is lower must not raise it. */
function giveWay(): void {
  const { PRIORITY_BELOW_NORMAL: low } = constants.priority;
  try {
    if (getPriority() < low) setPriority(low);
  } catch {
    // A sandbox may forbid it. The archive is read all the same.
  }
}

// Elsewhere this would be about the whole process.
if (process.platform === 'linux') giveWay();

const port = parentPort!;
const { fd, limits, index } = workerData as ArchiveJob;

/** Divides records into parts, and sends them. */
class Parts {
  #records: Buffer[] = [];
  #bytes = 0;
  #room = AHEAD;
  #waiting = (): void => {};
  #sent: Promise<void> = Promise.resolve();

  constructor() {
    // The node has taken a part.
    port.on('message', () => {
      this.#room += 1;
      this.#waiting();
    });
  }

  /** Adds a record. Waits while too many parts are under way. */
  add(record: StateRecord): Promise<void> | undefined {
    const bytes = recordBytes(record);
    this.#records.push(bytes);
    this.#bytes += bytes.length;
    return this.#bytes >= PART_BYTES ? this.#send() : undefined;
  }

  /** Sends the last part: there is at least one, even if it is empty. */
  async end(): Promise<void> {
    await this.#send();
    await this.#sent;
  }

  async #send(): Promise<void> {
    const records = this.#records.length;
    const deflated = deflate(Buffer.concat(this.#records), DEFLATE);
    this.#records = [];
    this.#bytes = 0;
    this.#room -= 1;
    this.#sent = this.#sent.then(async () => {
      const part: ArchivePart = { bytes: (await deflated).toString('base64'), records };
      port.postMessage(part);
    });
    while (this.#room <= 0) {
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }
}

async function read(): Promise<void> {
  const check = new SnapshotCheck();
  const parts = new Parts();
  await readArchive(
    createReadStream('', { fd, start: 0, autoClose: false }),
    limits,
    async (records) => {
      for (const record of records) {
        const [key] = record;
        // Archives of older releases contain join tokens.
        if (!isRestored(key) || !isArchived(key)) continue;
        check.add(record);
        const proposed = isTaken(key) ? proposedRecord(record, index) : undefined;
        // Most are only added to a part.
        const sent = proposed && parts.add(proposed);
        if (sent) await sent;
      }
    },
  );
  for (const _ of check.end());
  await parts.end();
}

const end = await read().then(
  () => undefined,
  (error: unknown) => {
    if (error instanceof ApiError) return error.refusal;
    throw error;
  },
);
port.postMessage({ end } satisfies ArchiveNews);
port.close();
