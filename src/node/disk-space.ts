/**
 * Watches the room left on the disk, off the hot path. At a reserve a leader hands over to a member
 * that has room, or refuses writes that make the state grow; reads and deletes go on, and it
 * recovers by itself when there is room again.
 */
import { statfs } from 'node:fs/promises';
import { type Refusal, refusal } from '../errors.js';
import type { Command } from '../state/types.js';

export interface DiskSpaceOptions {
  readonly dir: string;
  /** Bytes that must stay free; writes are taken again when there is a tenth more. */
  readonly reserveBytes: number;
  readonly everyMs: number;
  /** Commands that free space, which are taken all the same. */
  readonly frees: (command: Command) => boolean;
  /** The file system cannot tell: the disk has failed. */
  readonly onFatal: (error: Error) => void;
  readonly onChange: (full: boolean, freeBytes: number) => void;
  /** Free bytes of the file system; for tests. */
  readonly freeBytes?: (dir: string) => Promise<number>;
}

/**
 * Free bytes must exceed the reserve by this factor again, so that a node at its edge does not go
 * back and forth.
 */
const MARGIN = 1.1;

export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  #full = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  get full(): boolean {
    return this.#full;
  }

  /** Looks now, and again and again. */
  async start(): Promise<void> {
    await this.look();
    const again = (): void => {
      this.look().then(() => {
        if (this.#timer !== undefined) this.#timer = setTimeout(again, this.#options.everyMs);
      }, this.#options.onFatal);
    };
    this.#timer = setTimeout(again, this.#options.everyMs);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async look(): Promise<void> {
    const { dir, reserveBytes, onChange, freeBytes = freeBytesOf } = this.#options;
    const free = await freeBytes(dir);
    const full = free < reserveBytes * (this.#full ? MARGIN : 1);
    if (full === this.#full) return;
    this.#full = full;
    onChange(full, free);
  }

  /** Why this command is not taken now. */
  refuses(command: Command): Refusal | undefined {
    if (!this.#full || this.#options.frees(command)) return undefined;
    return refusal('no_space', 'The disks of the servers are almost full: only deletes are taken', {
      hint: 'Free space on one server’s disk; writes are taken again without a restart',
    });
  }
}

async function freeBytesOf(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}
