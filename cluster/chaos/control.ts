/**
 * The control file of a node: this program writes it, `preload.ts` in the node's process reads it.
 */
import { renameSync, writeFileSync } from 'node:fs';

/** The faults that a node injects into itself. */
export interface Control {
  /** Offset of the wall clock. */
  readonly clockMs: number;
  /** Additional time of each write to the disk. */
  readonly syncMs: number;
  /** Whether writes to the disk hang. */
  readonly hangs: boolean;
  /** Additional time of each read, during which the process does nothing else. */
  readonly readMs: number;
  /** Whether reads hang, and the process with them. */
  readonly readsHang: boolean;
  /** Whether the file system reports that it is full. */
  readonly noSpace: boolean;
  /** Total time for which the monotonic clock stood still. */
  readonly frozenMs: number;
}

/** No fault. */
export const NO_FAULTS: Control = {
  clockMs: 0,
  syncMs: 0,
  hangs: false,
  readMs: 0,
  readsHang: false,
  noSpace: false,
  frozenMs: 0,
};
/** The environment variable with the path of the control file. */
export const CONTROL_VARIABLE = 'CHAOS_CONTROL';

/** The control file of one node. */
export class ControlFile {
  readonly path: string;
  #control = NO_FAULTS;

  constructor(path: string) {
    this.path = path;
    this.set({});
  }

  /** Changes some members. The node applies them within 50 ms, or when it starts. */
  set(change: Partial<Control>): void {
    this.#control = { ...this.#control, ...change };
    writeFileSync(`${this.path}.part`, JSON.stringify(this.#control));
    renameSync(`${this.path}.part`, this.path);
  }

  /** Hides `ms` from the monotonic clock. Call it before the stopped process continues. */
  freeze(ms: number): void {
    this.set({ frozenMs: this.#control.frozenMs + ms });
  }

  /** Ends all faults. The monotonic clock does not catch up. */
  heal(): void {
    this.set({ ...NO_FAULTS, frozenMs: this.#control.frozenMs });
  }
}
