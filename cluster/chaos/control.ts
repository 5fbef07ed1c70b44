/**
 * What a node under test is told to suffer: read by `preload.ts` inside its process, written here.
 */
import { renameSync, writeFileSync } from 'node:fs';

export interface Control {
  /** How far the wall clock is off. */
  readonly clockMs: number;
  /** How long each write to the disk takes beyond what it takes. */
  readonly syncMs: number;
  /** No write to the disk returns. */
  readonly hangs: boolean;
  /** The file system says that it has no room left. */
  readonly noSpace: boolean;
  /** For how long, in all, the monotonic clock stood still. */
  readonly frozenMs: number;
}

export const NO_FAULTS: Control = {
  clockMs: 0,
  syncMs: 0,
  hangs: false,
  noSpace: false,
  frozenMs: 0,
};
/** Environment variable that names the control file. */
export const CONTROL_VARIABLE = 'CHAOS_CONTROL';

/** The control file of one node. */
export class ControlFile {
  readonly path: string;
  #control = NO_FAULTS;

  constructor(path: string) {
    this.path = path;
    this.set({});
  }

  /** Changes some of it; the node sees that within a twentieth of a second, or when it starts. */
  set(change: Partial<Control>): void {
    this.#control = { ...this.#control, ...change };
    writeFileSync(`${this.path}.part`, JSON.stringify(this.#control));
    renameSync(`${this.path}.part`, this.path);
  }

  /** The process is stopped and about to go on: to its monotonic clock this time has not passed. */
  freeze(ms: number): void {
    this.set({ frozenMs: this.#control.frozenMs + ms });
  }

  /** Ends all faults. Time that was lost stays lost. */
  heal(): void {
    this.set({ ...NO_FAULTS, frozenMs: this.#control.frozenMs });
  }
}
