/**
 * For a stopped server: what is in its data folder, and how to make a new cluster of it when the majority is lost for good.
 * Recovery takes everything in the log as decided, also what the old cluster may never have committed, and gives the
 * cluster a new id, so that the servers of the old one cannot speak to it any more.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { refusal } from '../errors.js';
import type { Configuration, Index, NodeId, Term } from '../raft/types.js';
import { newestConfiguration } from '../replica/log/applied-log.js';
import type { Identity } from '../replica/members/identity.js';
import type { Sums } from '../replica/rpc.js';
import { FatalError } from '../state/fatal.js';
import { DIVERGED_KEY, isLocal } from '../state/keys.js';
import { type Handlers, Machine, recordOf } from '../state/machine.js';
import type { Command, Handler, View } from '../state/types.js';
import type { Disk } from '../storage/disk.js';
import { StorageError } from '../storage/errors.js';
import { installRecords, recordsOf } from '../storage/install.js';
import { LEVEL_DISK } from '../storage/level-disk.js';
import type { SegmentLog } from '../storage/log.js';
import { openLog } from '../storage/open-log.js';
import { type LevelState, openState } from '../storage/state.js';
import type { StateRecord } from '../storage/types.js';
import { derived, type InitialMember, readIdentity, writeIdentity } from './identity.js';
import { applyUpTo, rebuildableTo, rebuildState } from './rebuild.js';

/** What a data folder holds. Of several survivors the one with the highest (lastTerm, lastIndex) has the most. */
export interface FolderFacts {
  readonly nodeId: NodeId;
  readonly clusterId: string | null;
  readonly term: Term;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  readonly appliedIndex: Index;
  /** Of the applied state. */
  readonly checksums: Sums;
  /** The configuration in force at the end of the log. */
  readonly configuration: Configuration;
  /** What is lost or not to be trusted, if anything. */
  readonly damage: readonly string[];
}

interface Folder {
  readonly identity: Identity;
  readonly log: SegmentLog;
  readonly store: LevelState;
}

/** What `recoverFolder` found, and how many commands of the log what is left of the state did not let it apply. */
export interface RecoveredFacts extends FolderFacts {
  readonly notApplied: number;
}

/** Why a state is not served whose recovery was cut short. */
export const UNFINISHED = 'its recovery was begun and did not end';

/** Reads a stopped server's folder, changing nothing of what it says. Rejects when a server has it open. */
export function inspectFolder(dataDir: string, disk = LEVEL_DISK): Promise<FolderFacts> {
  return withFolder(dataDir, disk, async (folder) => factsOf(folder));
}

/**
 * Makes this folder the server `name` of a new cluster with these members. Run with the same members on copies of one
 * folder it gives servers of one cluster; on folders that differ it gives clusters that refuse each other.
 */
export function recoverFolder(
  dataDir: string,
  options: {
    readonly name: string;
    readonly members: readonly InitialMember[];
    readonly handlers: Handlers;
    /** Go on although something is damaged: what is lost then is lost. */
    readonly acceptLoss?: boolean;
    /** The machine; simulations alone give another one. */
    readonly disk?: Disk;
  },
): Promise<RecoveredFacts> {
  const { name, members, handlers, acceptLoss = false, disk = LEVEL_DISK } = options;
  if (!members.some((member) => member.name === name)) {
    throw new Error(`the members do not name this server (${name})`);
  }
  return withFolder(dataDir, disk, async (folder) => {
    const { identity, log, store } = folder;
    const damage = damageOf(log, store).filter((each) => each !== UNFINISHED);
    if (damage.length > 0 && !acceptLoss) throw new Error(damage.join('; '));
    if (log.damaged !== undefined) await new Promise<void>((done) => log.repair(done));
    if (store.damaged !== undefined) await replaceDamaged(log, store, { handlers, disk });
    mustReachLog(store, log);
    // From here on the state holds what may never have been committed: until the end nobody may serve it.
    store.commit([[DIVERGED_KEY, UNFINISHED]]);
    await store.flush();
    const skipping = new Skipping(handlers);
    const machine = new Machine(store, acceptLoss ? skipping.handlers : handlers);
    await applyUpTo(log.lastIndex(), log, machine);
    machine.recount();
    const epoch = [identity.clusterId, machine.appliedTerm(), machine.checksum()];
    const configuration = configurationOf(epoch, members);
    const index = machine.appliedIndex();
    const term = machine.appliedTerm();
    const hardState = { term: Math.max(term, log.hardState().term), votedFor: null };
    await new Promise<void>((done) => log.reset({ index, term, configuration }, hardState, done));
    if (log.bar() !== undefined) await new Promise<void>((done) => log.liftBar(done));
    store.commit([[DIVERGED_KEY, undefined]]);
    await store.flush();
    const own = configuration.members.find((member) => member.name === name)!;
    const recovered: Identity = {
      ...{ v: 2, nodeId: own.id, incarnation: randomUUID(), begun: true },
      ...{ starts: 0, startId: '', earlier: [], seen: {}, removed: [] },
      clusterId: derived(['recovered', ...epoch], members),
    };
    await writeIdentity(dataDir, recovered, disk);
    return { ...factsOf({ ...folder, identity: recovered }), notApplied: skipping.count };
  });
}

/** Makes a damaged state again from the log, or puts in its place what can still be read of it. */
async function replaceDamaged(
  log: SegmentLog,
  store: LevelState,
  options: { readonly handlers: Handlers; readonly disk: Disk },
): Promise<void> {
  const upTo = rebuildableTo(log, store);
  if (upTo !== undefined) {
    await rebuildState(log, store, { ...options, upTo });
    return;
  }
  const remains = store.remains!;
  mustReachLog(remains, log);
  await installRecords(store, accepted(remains));
}

function* accepted(remains: View): Iterable<StateRecord> {
  for (const record of recordsOf(remains)) if (!isLocal(record[0])) yield record;
  yield [DIVERGED_KEY, UNFINISHED];
}

/** Handlers that refuse what they cannot decide for want of the records that were lost. */
class Skipping {
  readonly handlers: Handlers;
  /** Commands refused so. */
  count = 0;

  constructor(handlers: Handlers) {
    const entries = Object.entries(handlers);
    this.handlers = Object.fromEntries(entries.map(([type, each]) => [type, this.#wrap(each)]));
  }

  #wrap(handler: Handler<Command>): Handler<Command> {
    return (context, command) => {
      try {
        return handler(context, command);
      } catch (error) {
        if (error instanceof FatalError || error instanceof StorageError) throw error;
        this.count += 1;
        const why = 'The state had lost what this needs when it was recovered';
        return { ok: false, refusal: refusal('not_found', why) };
      }
    };
  }
}

function configurationOf(
  epoch: readonly unknown[],
  members: readonly InitialMember[],
): Configuration {
  return {
    members: members.map(({ name, address }) => ({
      ...{ id: derived(['recovered', name, ...epoch], members), name, address, voter: true },
    })),
  };
}

function mustReachLog(state: View, log: SegmentLog): void {
  if ((recordOf(state)?.index ?? 0) >= log.firstIndex() - 1) return;
  throw new Error('the state ends before the log begins: this folder alone cannot make a cluster');
}

function factsOf({ identity, log, store }: Folder): FolderFacts {
  const record = recordOf(store.remains ?? store);
  const lastIndex = Math.max(log.lastIndex(), log.firstIndex() - 1);
  return {
    nodeId: identity.nodeId,
    clusterId: identity.clusterId,
    term: log.hardState().term,
    lastIndex,
    lastTerm: log.term(lastIndex) ?? 0,
    appliedIndex: record?.index ?? 0,
    checksums: record?.sums ?? {},
    configuration: newestConfiguration(log),
    damage: damageOf(log, store),
  };
}

function damageOf(log: SegmentLog, store: LevelState): string[] {
  const damage: string[] = [];
  const { damaged } = log;
  if (damaged !== undefined) {
    const { index, last, reason } = damaged;
    damage.push(`entries ${index} to ${last} of the log are damaged (${reason})`);
  }
  if (log.bar() !== undefined) {
    damage.push(`entries up to ${log.bar()!.index} were lost and not yet fetched from the peers`);
  }
  const wrong = store.damaged ?? store.get(DIVERGED_KEY);
  if (wrong !== undefined) damage.push(wrong);
  return damage;
}

async function withFolder<T>(
  dataDir: string,
  disk: Disk,
  run: (folder: Folder) => Promise<T>,
): Promise<T> {
  const identity = await readIdentity(dataDir, disk);
  if (identity === undefined) throw new Error(`there is no server's data in ${dataDir}`);
  let failure: Error | undefined;
  const onFatal = (error: Error): void => {
    failure ??= error;
  };
  const log = await openLog(join(dataDir, 'log'), { onFatal, disk });
  try {
    const store = await openState(join(dataDir, 'state'), { onFatal, disk, checkValues: true });
    try {
      const result = await run({ identity, log, store });
      if (failure !== undefined) throw failure;
      return result;
    } finally {
      await store.close();
    }
  } finally {
    await log.close();
  }
}
