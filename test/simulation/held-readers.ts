/**
 * Readers that wait on one server for a change of a register, as a blocking query does. Each change
 * of its key wakes a reader, nothing else does, and no answer is older than the one before.
 */
import type { Index } from '../../src/raft/types.js';
import { Violation } from './invariants.js';
import { registerKey } from './machine.js';

export interface HeldReaderParts {
  readonly id: string;
  readonly keys: readonly string[];
  readonly watch: (keys: readonly string[], wake: () => void) => unknown;
  /** The index at which the register got what it holds; undefined when that cannot be told. */
  readonly indexOf: (key: string) => Index | undefined;
  /** Turns of the loop so far. */
  readonly turns: () => number;
  /** Its server does not serve, or was just put right: then it may be woken for no change. */
  readonly isExcused: () => boolean;
}

interface Reader {
  readonly key: string;
  /** The turn in which its register changed since it began to wait. */
  changedIn: number | undefined;
  isExcused: boolean;
  /** What it was shown last. */
  index: Index;
}

/** Turns from a change to the callback: one notes the change, the next calls the readers. */
const TURNS_TO_WAKE = 3;

export class HeldReaders {
  readonly #parts: HeldReaderParts;
  readonly #readers: Reader[];
  #stopped = false;

  constructor(parts: HeldReaderParts) {
    this.#parts = parts;
    this.#readers = parts.keys.map((key) => ({
      key,
      changedIn: undefined,
      isExcused: false,
      index: 0,
    }));
    for (const reader of this.#readers) this.#wait(reader);
  }

  /** A register has changed on this server. */
  changed(key: string): void {
    for (const reader of this.#readers)
      if (reader.key === key) reader.changedIn ??= this.#parts.turns();
  }

  /** The whole state was replaced, or the server closed: all are woken. */
  excuse(): void {
    for (const reader of this.#readers) reader.isExcused = true;
  }

  /** No reader waits any more. */
  stop(): void {
    this.#stopped = true;
  }

  /** After a turn of the loop. */
  turned(): void {
    if (this.#stopped) return;
    const { id, turns } = this.#parts;
    for (const { key, changedIn } of this.#readers)
      if (changedIn !== undefined && turns() - changedIn > TURNS_TO_WAKE)
        throw new Violation(
          'a change wakes its readers',
          `${id}: the reader of ${key} still waits`,
        );
  }

  #wait(reader: Reader): void {
    const { id, watch, indexOf } = this.#parts;
    const index = indexOf(reader.key);
    if (index !== undefined && index < reader.index)
      throw new Violation(
        'indexes do not fall',
        `${id}: ${reader.key} is shown as of ${index}, after ${reader.index}`,
      );
    reader.index = index ?? reader.index;
    watch([registerKey(reader.key)], () => this.#woken(reader));
  }

  #woken(reader: Reader): void {
    const { id, isExcused } = this.#parts;
    if (this.#stopped) return;
    if (reader.changedIn === undefined && !reader.isExcused && !isExcused())
      throw new Violation('no one is woken in vain', `${id}: the reader of ${reader.key}`);
    reader.changedIn = undefined;
    reader.isExcused = false;
    this.#wait(reader);
  }
}
