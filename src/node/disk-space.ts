/**
 * Watches the free space of the disk, outside the path of requests. Below a reserve a leader
 * transfers leadership to a member that has space, or refuses writes that make the state grow.
 * Reads and deletes still work, and writes are accepted again once there is space.
 */
import { type Refusal, refusal } from '../base/errors.js';
import type { Command } from '../state/types.js';
import { freeBytesOf } from '../storage/node-folder.js';

export interface DiskSpaceOptions {
  readonly dir: string;
  readonly reserveBytes: number;
  readonly everyMs: number;
  /** Whether a command frees space and is accepted even below the reserve. */
  readonly frees: (command: Command) => boolean;
  /** Called if the file system cannot be read, which means that the disk has failed. */
  readonly onFatal: (error: Error) => void;
  readonly onChange: (full: boolean, freeBytes: number) => void;
  /** Returns the free bytes of the file system. Absent: asks the system. */
  readonly freeBytes?: (dir: string) => Promise<number>;
}

/**
 * A full disk has space again at this multiple of the reserve, so that a node near the reserve does
 * not switch back and forth.
 */
const MARGIN = 1.1;

/** Whether the disk of a node has space. */
export class DiskSpace {
  readonly #options: DiskSpaceOptions;
  #full = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DiskSpaceOptions) {
    this.#options = options;
  }

  /** Whether the free bytes are below the reserve. */
  get full(): boolean {
    return this.#full;
  }

  /** Checks the disk now, then every `everyMs`. Rejects if the file system cannot be read. */
  async start(): Promise<void> {
    await this.check();
    const again = (): void => {
      this.check().then(() => {
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

  /** Checks the disk once. Rejects if the file system cannot be read. */
  async check(): Promise<void> {
    const { dir, reserveBytes, onChange, freeBytes = freeBytesOf } = this.#options;
    const free = await freeBytes(dir);
    const full = free < reserveBytes * (this.#full ? MARGIN : 1);
    if (full === this.#full) return;
    this.#full = full;
    onChange(full, free);
  }

  /** Returns why a command is refused at present; undefined if it is accepted. */
  refuses(command: Command): Refusal | undefined {
    if (!this.#full || this.#options.frees(command)) return undefined;
    return refusal(
      'no_space',
      'The disks of the servers are almost full: only deletes are accepted',
      {
        hint: 'Free space on one server’s disk; writes resume without a restart',
      },
    );
  }
}
