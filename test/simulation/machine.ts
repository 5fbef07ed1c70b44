/**
 * A register per key as the replicated state: the real machine, with two small commands, and in
 * some worlds with all of the product's.
 */

import { refusal } from '../../src/base/errors.js';
import type { Entry, Index, Term } from '../../src/raft/types.js';
import type { MachinePort } from '../../src/replica/ports.js';
import type { Checkpoint } from '../../src/state/checkpoints.js';
import { HANDLERS } from '../../src/state/handlers.js';
import type { Machine } from '../../src/state/machine.js';
import type { Resume } from '../../src/state/machine-record.js';
import { RESTORE_HANDLERS, type RestoreCommit } from '../../src/state/restore.js';
import type {
  Command,
  Handler,
  Handlers,
  Result,
  StateRecord,
  View,
} from '../../src/state/types.js';
import { handlersIn, NEW_PUT_LEVEL } from './releases.js';

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

/**
 * Every so many entries a put writes the whole state anew, in several turns: as a restore does, to
 * the same effect.
 */
export const REWRITE_EVERY = 101;
const SLICE_RECORDS = 2;

interface RegisterHandlers {
  readonly put: Handler<Put>;
  readonly cas: Handler<Cas>;
  readonly newPut?: Handler<NewPut>;
}

/** What a server runs: the commands that it knows follow from that. */
export interface Program {
  readonly release: number;
  /** It knows those of the product too. Then no put writes the state anew: a restore does. */
  readonly hasProduct: boolean;
}

/** The commands, and what makes a machine with them the simulated one. */
export interface Registers {
  /** Those that the program knows. */
  readonly handlers: Handlers;
  attach(machine: Machine, store: MachineStore): SimMachine;
}

/** Where the registers are, and a flush by a call. */
export interface MachineStore extends View {
  flushed(done: () => void): void;
}

export function registers(watcher: MachineWatcher, program: Program): Registers {
  let tell = (): void => {};
  const known = handlers(watcher, program, (later) => {
    tell = later;
  });
  return {
    handlers: program.hasProduct
      ? { ...handlersIn(program.release, HANDLERS), 'restore.commit': restoreAround, ...known }
      : { ...known },
    attach(machine, store) {
      machine.onReplaced(() => {
        tell();
        tell = () => {};
      });
      return new SimMachine(machine, store, watcher);
    },
  };
}

/** `whenReplaced`: what is to be told once the state that a put wrote anew is in force. */
function handlers(
  { onEffect, stored }: MachineWatcher,
  { release, hasProduct }: Program,
  whenReplaced: (tell: () => void) => void,
): RegisterHandlers {
  const put: Handler<Put | NewPut> = ({ draft, index }, { key, value }) => {
    const register = registerKey(key);
    const storedAs = stored(value, index);
    if (index % REWRITE_EVERY === 0 && !hasProduct) {
      whenReplaced(() => onEffect(key, value, index));
      const slices = (view: View) => rewritten(view, register, storedAs);
      return { ok: true, state: { slices, changed: [register] } };
    }
    draft.put(register, storedAs);
    onEffect(key, value, index);
    return { ok: true };
  };
  return {
    put,
    ...(release >= NEW_PUT_LEVEL && { newPut: put }),
    cas: ({ draft, index }, { key, expected, value }) => {
      if ((draft.get(registerKey(key)) ?? null) !== expected)
        return { ok: false, refusal: refusal('conflict', 'the register holds something else') };
      draft.put(registerKey(key), value);
      onEffect(key, value, index);
      return { ok: true };
    },
  };
}

/** A restore as in the product, but the registers stay: no snapshot has them. */
const restoreAround: Handler<RestoreCommit> = (context, command) => {
  const result = RESTORE_HANDLERS['restore.commit'](context, command);
  if (!result.ok || result.state === undefined) return result;
  const { slices } = result.state;
  const around = (view: View): ReturnType<typeof slices> => {
    const kept = [...view.keys(registerKey(''))].map((key): StateRecord => [key, view.get(key)!]);
    const restored = slices(view);
    let isFirst = true;
    const next = (): ReturnType<typeof restored.next> => {
      if (!isFirst) return restored.next();
      isFirst = false;
      return { value: kept, done: false };
    };
    return { next };
  };
  return { ...result, state: { ...result.state, slices: around } };
};

function* rewritten(
  view: View,
  register: string,
  value: string,
): Generator<readonly StateRecord[], undefined> {
  const records = new Map<string, string>();
  for (const other of view.keys(registerKey(''))) records.set(other, view.get(other)!);
  const all = [...records.set(register, value)];
  for (let at = 0; at < all.length; at += SLICE_RECORDS) yield all.slice(at, at + SLICE_RECORDS);
}

export interface MachineWatcher {
  readonly onEffect: OnEffect;
  /** The value that a put stores; another one when memory goes bad just then. */
  stored(value: string, index: Index): string;
  /** After an apply: what was applied, and the checksum of the state now. */
  applied(entries: readonly Entry[], index: Index, checksum: string): void;
}

/** The real machine, watched. */
export class SimMachine implements MachinePort {
  readonly machine: Machine;
  readonly #store: MachineStore;
  readonly #watcher: MachineWatcher;

  constructor(machine: Machine, store: MachineStore, watcher: MachineWatcher) {
    this.machine = machine;
    this.#store = store;
    this.#watcher = watcher;
  }

  appliedIndex(): Index {
    return this.machine.appliedIndex();
  }

  appliedTerm(): Term {
    return this.machine.appliedTerm();
  }

  get isReplacing(): boolean {
    return this.machine.isReplacing;
  }

  get replacingTurns(): number {
    return this.machine.replacingTurns;
  }

  apply(entries: readonly Entry[], resume: Resume): readonly (Result | undefined)[] {
    const results = this.machine.apply(entries, (result) => {
      if (result !== undefined) this.#applied(entries.slice(results.length, results.length + 1));
      resume(result);
    });
    if (results.length > 0) this.#applied(entries.slice(0, results.length));
    return results;
  }

  #applied(entries: readonly Entry[]): void {
    const { index, sums } = this.machine.checksum();
    this.#watcher.applied(entries, index, Object.values(sums).join());
  }

  flush(done: (index: Index, term: number) => void): void {
    const index = this.machine.appliedIndex();
    const term = this.machine.appliedTerm();
    this.#store.flushed(() => done(index, term));
  }

  reload(): void {
    this.machine.reload();
  }

  remembered(id: string): Result | undefined {
    return this.machine.remembered(id);
  }

  onChanged(listener: (keys: readonly string[]) => void): void {
    this.machine.onChanged(listener);
  }

  onReplaced(listener: () => void): void {
    this.machine.onReplaced(listener);
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
