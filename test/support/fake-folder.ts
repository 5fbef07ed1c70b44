/**
 * The folder of a log in memory. Of each file it keeps what was written and what is durable. It
 * crashes, fails writes, shortens them, or holds them back.
 */
import type { Done, SegmentFile, SegmentFolder } from '../../src/storage/segment-file.js';

/** What happens to a write: nothing, an error, fewer bytes, or no answer until it is released. */
export type Fault = { error: Error } | { shortTo: number } | { held: Promise<void> } | undefined;

class FakeFile implements SegmentFile {
  readonly path: string;
  written: Buffer;
  durable: Buffer;
  readonly #folder: FakeFolder;

  constructor(path: string, bytes: Buffer, folder: FakeFolder) {
    this.path = path;
    this.written = Buffer.from(bytes);
    this.durable = Buffer.from(bytes);
    this.#folder = folder;
  }

  size(): number {
    return this.written.length;
  }

  read(at: number, length: number): Buffer {
    return Buffer.from(this.written.subarray(at, at + length));
  }

  write(bytes: Buffer, at: number, done: (error: Error | null, written: number) => void): void {
    this.#folder.writes += 1;
    const fault = this.#folder.fault(this.path, bytes);
    const length = fault !== undefined && 'shortTo' in fault ? fault.shortTo : bytes.length;
    const part = Buffer.from(bytes.subarray(0, length));
    const flying = { file: this, bytes: part, at };
    this.#folder.flying.add(flying);
    const finish = (): void => {
      this.#folder.flying.delete(flying);
      if (this.#folder.isDead) return;
      if (fault !== undefined && 'error' in fault) {
        done(fault.error, 0);
        return;
      }
      this.written = put(this.written, part, at);
      this.durable = put(this.durable, part, at);
      done(null, part.length);
    };
    if (fault !== undefined && 'held' in fault) void fault.held.then(finish);
    else setImmediate(finish);
  }

  sync(done: Done): void {
    this.durable = Buffer.from(this.written);
    setImmediate(() => done(null));
  }

  close(): void {}
}

/** The bytes with others written over them. */
function put(into: Buffer, bytes: Buffer, at: number): Buffer {
  const grown = Buffer.alloc(Math.max(into.length, at + bytes.length));
  grown.set(into);
  grown.set(bytes, at);
  return grown;
}

/** A write that has not returned. */
export interface Flying {
  readonly file: FakeFile;
  readonly bytes: Buffer;
  readonly at: number;
}

export class FakeFolder implements SegmentFolder {
  readonly files = new Map<string, FakeFile>();
  readonly flying = new Set<Flying>();
  /** Writes so far. */
  writes = 0;
  isDead = false;
  /** Decides about each write. */
  fault: (path: string, bytes: Buffer) => Fault = () => undefined;

  constructor(files: Iterable<readonly [string, Buffer]> = []) {
    for (const [name, bytes] of files) this.files.set(name, new FakeFile(name, bytes, this));
  }

  names(): string[] {
    return [...this.files.keys()];
  }

  open(name: string, done: (error: Error | null, file?: SegmentFile) => void): void {
    const file = this.files.get(name) ?? new FakeFile(name, Buffer.alloc(0), this);
    this.files.set(name, file);
    setImmediate(() => done(null, file));
  }

  rename(from: string, to: string, done: Done): void {
    const file = this.files.get(from)!;
    this.files.delete(from);
    this.files.set(to, file);
    setImmediate(() => done(null));
  }

  remove(name: string, done: Done): void {
    this.files.delete(name);
    setImmediate(() => done(null));
  }

  sync(done: Done): void {
    setImmediate(() => done(null));
  }

  async close(): Promise<void> {}

  /** The bytes of the files, as a process sees them. */
  content(): Map<string, Buffer> {
    return new Map([...this.files].map(([name, { written }]) => [name, Buffer.from(written)]));
  }

  /** The folder as a crash of the process leaves it; `change` may spoil its bytes. */
  copy(change: (files: Map<string, Buffer>) => void = () => {}): FakeFolder {
    const files = this.content();
    change(files);
    return new FakeFolder(files);
  }

  /**
   * The folder after a power cut. `keep` gives what a write that had not returned left on the disk,
   * over the bytes that were there before. This folder is dead.
   */
  crash(keep: (write: Flying, before: Buffer) => Buffer): FakeFolder {
    this.isDead = true;
    const files = new Map([...this.files].map(([name, { durable }]) => [name, durable]));
    for (const write of this.flying) {
      const { path } = write.file;
      const name = [...this.files].find(([, file]) => file === write.file)?.[0] ?? path;
      const { durable } = write.file;
      const before = Buffer.alloc(write.bytes.length);
      before.set(durable.subarray(write.at, write.at + write.bytes.length));
      files.set(name, put(files.get(name) ?? durable, keep(write, before), write.at));
    }
    return new FakeFolder(files);
  }
}
