/**
 * Offline commands of an operator, each in a process of its own on the disk of a stopped server.
 * Some are cut short by a power failure, at any moment.
 */
import { type Opened, openFolder } from '../../src/node/open.js';
import { type FolderFacts, inspectFolder, recoverFolder } from '../../src/node/recover.js';
import type { Index, NodeId } from '../../src/raft/types.js';
import type { MachineLimits } from '../../src/state/machine.js';
import type { Handlers } from '../../src/state/types.js';
import type { Disk } from '../../src/storage/disk.js';
import { openLog } from '../../src/storage/open-log.js';
import { openState } from '../../src/storage/state.js';
import type { LogContent } from '../support/memory-log.js';
import { addressOf } from './cluster.js';
import { contentOf } from './found-log.js';
import { keyPairOf } from './key-pairs.js';
import { SimLoop } from './loop.js';
import { registerKey } from './machine.js';
import { DATA, LOG, type RealDisk, STATE } from './real-storage.js';
import type { Scheduler } from './scheduler.js';

/** What offline commands need of their world. */
export interface OfflineParts {
  readonly scheduler: Scheduler;
  readonly advance: (ms: number) => Promise<void>;
  readonly violated: (violation: unknown) => void;
  /** Of the commands that the logs hold. */
  readonly handlers: Handlers;
  readonly machineLimits: MachineLimits;
}

/** How a folder is recovered. */
export interface RecoverOptions {
  readonly name: string;
  readonly members: readonly { readonly name: string; readonly address: string }[];
  readonly acceptLoss: boolean;
  /** Milliseconds until the power fails; never if absent. */
  readonly cutMs?: number | undefined;
}

/** What a log holds that is read. */
export interface FoundLog {
  readonly log: LogContent;
  /** The first entry that is damaged. */
  readonly damagedFrom: Index | undefined;
}

/** The timing of a server; it decides nothing here. */
const TIMING = { tickMs: 50, heartbeatMs: 100, electionMs: 1_000, leaseMs: 800 };

/** See the head of this file. */
export class Offline {
  readonly #parts: OfflineParts;
  #processes = 0;

  constructor(parts: OfflineParts) {
    this.#parts = parts;
  }

  /** `conclave inspect`. */
  inspect(disk: RealDisk): Promise<FolderFacts> {
    return this.#run(disk, (mounted) => inspectFolder(DATA, mounted));
  }

  /** `conclave recover`. Resolves with undefined if the power fails first. */
  recover(
    disk: RealDisk,
    { cutMs, ...options }: RecoverOptions,
  ): Promise<(FolderFacts & { readonly notApplied: number }) | undefined> {
    const { handlers, machineLimits } = this.#parts;
    return this.#runUntil(cutMs, disk, (mounted) =>
      recoverFolder(DATA, { ...options, handlers, machineLimits, disk: mounted }),
    );
  }

  /** Reads the log. `checkAs` names the server that must have reported it as durable. */
  readLog(disk: RealDisk, checkAs?: NodeId): Promise<FoundLog> {
    return this.#run(disk, async (mounted) => {
      const log = await openLog(LOG, { onFatal: this.#parts.violated, disk: mounted });
      if (checkAs !== undefined) disk.check(log, checkAs);
      const found = { log: contentOf(log), damagedFrom: log.damaged?.index };
      await log.close();
      return found;
    });
  }

  /** Reads the registers that hold something, by key. */
  registers(disk: RealDisk, keys: readonly string[]): Promise<Map<string, string>> {
    return this.#run(disk, async (mounted) => {
      const state = await openState(STATE, { onFatal: this.#parts.violated, disk: mounted });
      const held = new Map<string, string>();
      for (const key of keys) {
        const value = state.get(registerKey(key));
        if (value !== undefined) held.set(key, value);
      }
      await state.close();
      return held;
    });
  }

  /** Opens the folder of the server `name` as its start does, and leaves it. Rejects as that. */
  start(disk: RealDisk, name: string): Promise<{ nodeId: NodeId; applied: number }> {
    const { handlers, machineLimits, violated } = this.#parts;
    const life = `${name}.offline${++this.#processes}`;
    return this.#run(disk, async (mounted) => {
      const opened: Opened = await openFolder({
        name,
        address: addressOf(name),
        dataDir: DATA,
        handlers,
        machineLimits,
        timing: TIMING,
        disk: mounted,
        log: () => {},
        onFatal: violated,
        ids: {
          initial: (each) => each,
          joining: () => name,
          random: () => life,
          keyPair: () => keyPairOf(life),
        },
      });
      const { identity, log, store, machine } = opened;
      const found = { nodeId: identity.get().nodeId, applied: machine.appliedIndex() };
      await Promise.all([log.close(), store.close()]);
      return found;
    });
  }

  async #run<T>(disk: RealDisk, command: (mounted: Disk) => Promise<T>): Promise<T> {
    // without an end it ends
    return (await this.#runUntil(undefined, disk, command)) as T;
  }

  async #runUntil<T>(
    cutMs = Number.POSITIVE_INFINITY,
    disk: RealDisk,
    command: (mounted: Disk) => Promise<T>,
  ): Promise<T | undefined> {
    const { scheduler, advance, violated } = this.#parts;
    const loop = new SimLoop({
      scheduler,
      hasPromises: true,
      rate: 1,
      turnMs: () => 0.1,
      onTurn: () => {},
      onDeath: violated,
    });
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    scheduler.touch();
    command(disk.attach(loop)).then(
      (value) => {
        outcome ??= { value };
      },
      (error: unknown) => {
        outcome ??= { error };
      },
    );
    const until = scheduler.now + cutMs;
    // a part of a millisecond: the power fails between any two syncs
    while (outcome === undefined && scheduler.now < until) await advance(0.1);
    // what it throws once it is dead is nobody's concern
    const ended = outcome;
    outcome ??= { error: undefined };
    loop.kill();
    disk.crash(ended === undefined);
    scheduler.touch();
    if (ended === undefined) return undefined;
    if ('error' in ended) throw ended.error;
    return ended.value;
  }
}
