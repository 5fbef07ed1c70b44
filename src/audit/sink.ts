/**
 * One sink: a queue of records, the chain, and what happens when they cannot be written
 * (beyond.md 5.1).
 */
import type { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditSink } from '../api/endpoints/operator.js';
import { type Refusal, refusal } from '../base/errors.js';
import { type ChainEnd, chained, EMPTY_CHAIN } from './chain.js';
import type { SinkSettings } from './settings.js';
import { SinkFile } from './sink-file.js';

/** A record: what it costs in memory, and its text, which is made when it is written. */
export interface Pending {
  /** Approximate bytes. */
  readonly bytes: number;
  /** The members of the line as JSON, without braces. Does not throw. */
  readonly members: (settings: SinkSettings) => string;
}

export interface SinkParts {
  readonly settings: SinkSettings;
  readonly key: Uint8Array | undefined;
  readonly nowMs: () => number;
  /** Milliseconds in which a required record must be written. */
  readonly requestMs: number;
  readonly log: SinkLog;
  /** Called when a required sink begins to fail, and again while it does. */
  readonly onFailing: () => void;
  /** Makes the record that says what was lost. */
  readonly recovered: (lostBytes: number) => Pending;
  /** Where the records go; a file by default. */
  readonly out?: Out;
}

/** What the node's log learns of a sink. */
export interface SinkLog {
  failing(name: string, message: string): void;
  written(name: string, dropped: number): void;
}

/** Where lines go. */
export type Out = Pick<SinkFile, 'open' | 'append' | 'close' | 'end' | 'count' | 'bytes'> & {
  readonly lostBytes: number;
};

/** Bytes of records that wait to be written. */
const BUFFER_BYTES = 4 * 2 ** 20;
/** Milliseconds between attempts to write after a failure. */
const RETRY_MS = 1000;
/** Milliseconds in which a sink that is closed writes what waits: a disk that hangs never does. */
const CLOSE_MS = 2000;
/** Milliseconds for which records gather where nobody waits: a write costs as much as a record. */
const GATHER_MS = 50;
/**
 * Records that are written at a time, and that wait for no more: what changed is soon no longer
 * among the recent lines of the history, and is read from the disk.
 */
const BATCH_MAX = 256;
/** Bytes of the lines of most batches. */
const LINES_BYTES = 512 * 1024;
/** Bytes of a UTF-16 code unit as UTF-8, at most. */
const CHAR_BYTES = 3;

interface Waiting {
  readonly record: Pending;
  /** Of a required sink: called once, with whether the record is written. */
  readonly done: ((isWritten: boolean) => void) | undefined;
}

/** Writes records to one place, in the order in which they come. */
export class Sink {
  readonly settings: SinkSettings;
  readonly #parts: SinkParts;
  readonly #out: Out;
  #queue: Waiting[] = [];
  #bytes = 0;
  /** The lines of a batch: a new buffer for each takes longer than to fill it. */
  #lines = Buffer.allocUnsafe(LINES_BYTES);
  #isWriting = false;
  #isClosed = false;
  #retry: NodeJS.Timeout | undefined;
  #isFailing = false;
  #lastError = '';
  /** Records that were dropped, since the start and since the last one that was written. */
  #dropped = 0;
  #untold = 0;
  /** Whether records are dropped because they come too fast. */
  #isDropping = false;
  #idle: (() => void)[] = [];
  /** Ends the wait for more records. */
  #gathered: (() => void) | undefined;

  constructor(parts: SinkParts) {
    this.#parts = parts;
    this.settings = parts.settings;
    const { settings, nowMs } = parts;
    this.#out =
      parts.out ?? (settings.type === 'stdout' ? new StdoutLines() : new SinkFile(settings, nowMs));
  }

  get isRequired(): boolean {
    return this.settings.deliveryGuarantee === 'required';
  }

  /** Whether what needs a record of it must be refused. */
  get mustRefuse(): boolean {
    return this.#isFailing && this.isRequired;
  }

  status(): AuditSink {
    const { name, type, path, deliveryGuarantee, scope } = this.settings;
    const { end, count, bytes } = this.#out;
    return {
      Name: name,
      Type: type,
      Path: path,
      DeliveryGuarantee: deliveryGuarantee,
      Scope: scope,
      Seq: end.seq,
      Hash: end.hash,
      Dropped: this.#dropped,
      Failing: this.#isFailing,
      LastError: this.#lastError,
      Files: count,
      Bytes: bytes,
    };
  }

  /** Opens the file. Throws Error if it cannot be used. */
  async open(): Promise<void> {
    await this.#out.open();
    const { lostBytes } = this.#out;
    if (lostBytes > 0) this.#push(this.#parts.recovered(lostBytes), undefined);
  }

  /**
   * Writes a record. A required sink returns a promise, of whether it was written in time; others
   * return undefined.
   */
  note(record: Pending): Promise<boolean> | undefined {
    if (this.#isClosed || this.mustRefuse) {
      this.#drop(1);
      return this.isRequired ? Promise.resolve(false) : undefined;
    }
    if (!this.isRequired) {
      if (this.#bytes + record.bytes > BUFFER_BYTES) this.#drop(1, 'records come too fast');
      else this.#push(record, undefined);
      return undefined;
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (this.#isFailing) return;
        this.#fail(new Error(`not written within ${this.#parts.requestMs} ms`));
      }, this.#parts.requestMs);
      this.#push(record, (isWritten) => {
        clearTimeout(timer);
        resolve(isWritten);
      });
    });
  }

  #push(record: Pending, done: Waiting['done']): void {
    this.#queue.push({ record, done });
    this.#bytes += record.bytes;
    if (this.#queue.length === BATCH_MAX) this.#gathered?.();
    if (!this.#isWriting && this.#retry === undefined) void this.#write();
  }

  /** Writes what waits, until nothing does or it fails. */
  async #write(): Promise<void> {
    this.#isWriting = true;
    // what comes meanwhile is written together
    if (this.isRequired) await nextTurn();
    while (this.#queue.length > 0 && this.#retry === undefined) {
      const isFew = this.#queue.length < BATCH_MAX;
      if (isFew && !this.isRequired && !this.#isClosed) await this.#gather();
      const batch = this.#queue.slice(0, BATCH_MAX);
      try {
        await this.#append(batch);
      } catch (error) {
        this.#fail(error as Error);
        break;
      }
      // unless it took so long that its records were given up
      if (this.#queue[0] === batch[0]) {
        this.#queue.splice(0, batch.length);
        for (const { record, done } of batch) {
          this.#bytes -= record.bytes;
          done?.(true);
        }
      }
      this.#succeeded();
    }
    this.#isWriting = false;
    for (const idle of this.#idle.splice(0)) idle();
  }

  /** Waits until records have gathered. */
  async #gather(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.#gathered = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#gathered = undefined;
  }

  async #append(batch: readonly Waiting[]): Promise<void> {
    let { end }: { end: ChainEnd } = this.#out;
    let length = 0;
    // counted before the lines are made: more may be dropped meanwhile
    const dropped = this.#untold;
    for (const [at, { record }] of batch.entries()) {
      const members = record.members(this.settings);
      const isTold = at === 0 && dropped > 0;
      const whole = isTold ? `${members},"dropped":${dropped}` : members;
      const next = chained(end, whole, this.#parts.key);
      this.#reserve(length, next.line.length);
      length += this.#lines.write(`${next.line}\n`, length);
      end = next.end;
    }
    await this.#out.append(this.#lines.subarray(0, length), end, this.isRequired);
    this.#untold -= dropped;
  }

  /** Makes place for a line of so many characters behind the lines that are there. */
  #reserve(length: number, chars: number): void {
    const needed = length + CHAR_BYTES * (chars + 1);
    if (needed <= this.#lines.length) return;
    const grown = Buffer.allocUnsafe(2 * needed);
    this.#lines.copy(grown, 0, 0, length);
    this.#lines = grown;
  }

  /**
   * A record was not written. A required sink gives up what is in flight and tries with a record of
   * its own; others keep what waits, and try again.
   */
  #fail(error: Error): void {
    const isFirst = !this.#isFailing;
    this.#isFailing = true;
    this.#lastError = error.message;
    if (isFirst) this.#parts.log.failing(this.settings.name, error.message);
    if (this.isRequired) {
      this.#giveUp();
      this.#parts.onFailing();
    }
    if (this.#isClosed) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (this.isRequired && this.#queue.length === 0)
        this.#queue.push({ record: this.#parts.recovered(0), done: undefined });
      if (!this.#isWriting) void this.#write();
    }, RETRY_MS);
    this.#retry.unref();
  }

  #succeeded(): void {
    // each batch makes room for a moment: the dropping ends when nothing waits
    const isOver = this.#isFailing || (this.#isDropping && this.#queue.length === 0);
    if (!isOver) return;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#isFailing = false;
    this.#isDropping = false;
    this.#parts.log.written(this.settings.name, this.#dropped);
  }

  #drop(count: number, why?: string): void {
    this.#dropped += count;
    this.#untold += count;
    if (why === undefined || this.#isDropping) return;
    this.#isDropping = true;
    if (!this.#isFailing) this.#parts.log.failing(this.settings.name, why);
  }

  /** Drops what waits. Returns how many these are, without those of a required sink's own. */
  #giveUp(): number {
    const given = this.#queue.filter(({ done }) => done !== undefined || !this.isRequired);
    this.#drop(given.length);
    this.#bytes = 0;
    this.#queue = [];
    for (const { done } of given) done?.(false);
    return given.length;
  }

  /**
   * Writes what waits, counts what cannot be written in `CLOSE_MS`, and closes the file. What comes
   * later is only counted.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const late = new Promise<void>((resolve) => void setTimeout(resolve, CLOSE_MS).unref());
    const ended = new Promise<void>((resolve) => void this.#idle.push(resolve));
    if (!this.#isWriting) void this.#write();
    await Promise.race([ended, late]);
    const left = this.#giveUp();
    if (left > 0)
      this.#parts.log.failing(this.settings.name, `closed while records waited: ${left}`);
    await Promise.race([this.#out.close().catch(() => {}), late]);
  }
}

/** Lines on stdout. Their chain begins anew at each start. */
export class StdoutLines implements Out {
  readonly #stream: Writable;
  end = EMPTY_CHAIN;
  bytes = 0;
  readonly count = 0;
  readonly lostBytes = 0;

  constructor(stream: Writable = process.stdout) {
    this.#stream = stream;
  }

  async open(): Promise<void> {
    // each write tells its own; without a listener, an error would end the process
    this.#stream.on('error', () => {});
  }

  async append(lines: Buffer, end: ChainEnd): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(lines, (error) => (error ? reject(error) : resolve()));
    });
    this.bytes += lines.length;
    this.end = end;
  }

  async close(): Promise<void> {}
}

/** The refusal of what cannot be audited. `isProposed`: it may have happened. */
export const unaudited = (isProposed: boolean): Refusal =>
  isProposed
    ? refusal(
        'outcome_unknown',
        'the write may have happened; its audit record could not be written',
      )
    : refusal('audit_unavailable', 'The audit record of this request could not be written');
