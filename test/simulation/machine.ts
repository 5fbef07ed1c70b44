/** A register per key as the replicated state: the real machine, with two small commands. */

import { refusal } from '../../src/errors.js';
import type { MachinePort } from '../../src/node/ports.js';
import type { Entry, Index } from '../../src/raft/types.js';
import { type Checkpoint, Machine, type MachineLimits } from '../../src/state/machine.js';
import type { Command, Handler, Result } from '../../src/state/types.js';
import type { MemoryState } from './store.js';

export interface Put extends Command {
  readonly type: 'put';
  readonly key: string;
  readonly value: string;
}
/** As `put`, but known to the next release only. */
export interface NewPut extends Omit<Put, 'type'> {
  readonly type: 'newPut';
}
export interface Cas extends Command {
  readonly type: 'cas';
  readonly key: string;
  readonly expected: string | null;
  readonly value: string;
}

export const registerKey = (key: string): string => `register\u0000${key}`;

/** Told about each change that a command makes, on whichever node. */
export type OnEffect = (key: string, value: string, index: Index) => void;

interface RegisterHandlers {
  readonly put: Handler<Put>;
  readonly cas: Handler<Cas>;
  readonly newPut?: Handler<NewPut>;
}

function handlers({ onEffect, stored }: MachineWatcher, release: number): RegisterHandlers {
  const put: Handler<Put | NewPut> = ({ draft, index }, { key, value }) => {
    draft.put(registerKey(key), stored(value));
    onEffect(key, value, index);
    return { ok: true };
  };
  return {
    put,
    ...(release > 1 && { newPut: put }),
    cas: ({ draft, index }, { key, expected, value }) => {
      if ((draft.get(registerKey(key)) ?? null) !== expected)
        return { ok: false, refusal: refusal('conflict', 'the register holds something else') };
      draft.put(registerKey(key), value);
      onEffect(key, value, index);
      return { ok: true };
    },
  };
}

export interface MachineWatcher {
  readonly onEffect: OnEffect;
  /** The value that a put stores; another one when memory goes bad just then. */
  stored(value: string): string;
  /** After an apply: what was applied, and the checksum of the state now. */
  applied(entries: readonly Entry[], index: Index, checksum: string): void;
}

export class SimMachine implements MachinePort {
  readonly machine: Machine;
  readonly #store: MemoryState;
  readonly #watcher: MachineWatcher;

  /** `release`: of the program, from which the commands follow that it knows. */
  constructor(store: MemoryState, watcher: MachineWatcher, limits: MachineLimits, release: number) {
    this.#store = store;
    this.#watcher = watcher;
    this.machine = new Machine(store, { ...handlers(watcher, release) }, limits);
  }

  appliedIndex(): Index {
    return this.machine.appliedIndex();
  }

  apply(entries: readonly Entry[]): readonly (Result | undefined)[] {
    const results = this.machine.apply(entries);
    const { index, sums } = this.machine.checksum();
    this.#watcher.applied(entries, index, Object.values(sums).join());
    return results;
  }

  flush(done: (index: Index, term: number) => void): void {
    const index = this.machine.appliedIndex();
    const term = this.machine.appliedTerm();
    this.#store.flushed(() => done(index, term));
  }

  remembered(id: string): Result | undefined {
    return this.machine.remembered(id);
  }

  onChanged(listener: (keys: readonly string[]) => void): void {
    this.machine.onChanged(listener);
  }

  checkpoint(index?: Index): Checkpoint | undefined {
    return this.machine.checkpoint(index);
  }

  checksum(): Checkpoint {
    return this.machine.checksum();
  }

  /** The register and the index of the state it was read from. */
  read(key: string): { value: string | null; index: Index } {
    return {
      value: this.#store.get(registerKey(key)) ?? null,
      index: this.machine.appliedIndex(),
    };
  }
}
