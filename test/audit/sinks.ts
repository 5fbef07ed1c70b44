/** Sinks over files that fail as told, and records to write into them. */
import { type FileHandle, open } from 'node:fs/promises';
import { EMPTY_CHAIN } from '../../src/audit/chain.js';
import { type SinkSettings, sinksOf } from '../../src/audit/settings.js';
import { type Out, type Pending, Sink, type SinkParts } from '../../src/audit/sink.js';
import { type Files, SinkFile } from '../../src/audit/sink-file.js';

/** Files whose writes fail, stop half way, or hang, as long as that is set. */
class FaultyFiles implements Files {
  /** Bytes of each write that get through before it fails. */
  failsAfter: number | undefined;
  /** Whether files cannot be cut either. */
  cutsFail = false;
  /** What each write waits for. */
  hangs: Promise<void> | undefined;
  writes = 0;
  syncs = 0;

  async open(path: string, flags: string, mode: number): Promise<FileHandle> {
    const handle = await open(path, flags, mode);
    return new Proxy(handle, {
      get: (target, name) => {
        if (name === 'writeFile') return (bytes: Buffer) => this.#write(target, bytes);
        if (name === 'truncate' && this.cutsFail) return () => Promise.reject(new Error('no disk'));
        if (name === 'datasync') this.syncs += 1;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  async #write(handle: FileHandle, bytes: Buffer): Promise<void> {
    this.writes += 1;
    await this.hangs;
    if (this.failsAfter === undefined) return handle.writeFile(bytes);
    await handle.writeFile(bytes.subarray(0, this.failsAfter));
    throw new Error('no space left on device');
  }
}

/** An output whose writes take until they are told to end. */
export class HeldOut implements Out {
  readonly end = EMPTY_CHAIN;
  readonly count = 1;
  readonly bytes = 0;
  readonly lostBytes = 0;
  /** The ids of the records of each write. */
  readonly written: string[][] = [];
  #release: (() => void) | undefined;
  #begun: (() => void) | undefined;

  async open(): Promise<void> {}
  async close(): Promise<void> {}

  append(lines: Buffer): Promise<void> {
    const texts = lines.toString().split('\n').slice(0, -1);
    this.written.push(texts.map((line) => JSON.parse(line).payload.id));
    return new Promise((resolve) => {
      this.#release = resolve;
      this.#begun?.();
    });
  }

  /** Resolves when a write is open. */
  async begun(): Promise<void> {
    if (this.#release !== undefined) return;
    await new Promise<void>((resolve) => {
      this.#begun = resolve;
    });
  }

  /** Ends the open write. */
  release(): void {
    const release = this.#release!;
    this.#release = undefined;
    release();
  }
}

const settingsOf = (path: string, more: object = {}): SinkSettings =>
  sinksOf({ main: { path, ...more } })[0]!;

/** When the records of these tests were made. */
export const MADE_MS = Date.parse('2026-11-21T20:00:00.000Z');

/** A record with a text. */
export const record = (text: string): Pending => ({
  bytes: 100 + text.length,
  members: () => `"created_at":"2026-11-21T20:00:00.000Z","payload":{"id":${JSON.stringify(text)}}`,
});

/** A sink over faulty files, and what its log was told. */
export function sinkOver(path: string, more: object = {}, given: Partial<SinkParts> = {}) {
  const files = new FaultyFiles();
  const settings = settingsOf(path, more);
  const told: string[] = [];
  const failing: (() => void)[] = [];
  const nowMs = given.nowMs ?? (() => MADE_MS);
  const out = new SinkFile(settings, nowMs, files);
  const sink = new Sink({
    settings,
    key: undefined,
    nowMs,
    requestMs: 60_000,
    log: {
      failing: (name, message) => void told.push(`${name} fails: ${message}`),
      written: (name, dropped) => void told.push(`${name} is written, ${dropped} dropped`),
    },
    onFailing: () => failing.forEach((call) => void call()),
    recovered: (lostBytes) => record(`recovered ${lostBytes}`),
    out,
    ...given,
  });
  return { sink, files, out, told, onFailing: (call: () => void) => void failing.push(call) };
}
