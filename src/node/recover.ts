/**
 * Inspects the data folder of a stopped server, and makes a new cluster from it after the majority
 * was lost for good. Recovery applies every entry of the log, including those that the old cluster
 * may not have committed. The new cluster has a new id, so servers of the old one cannot connect to
 * it.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { refusal } from '../base/errors.js';
import type { Configuration, Index, NodeId, Term } from '../raft/types.js';
import { newestConfiguration } from '../replica/log/applied-log.js';
import type { Identity } from '../replica/members/identity.js';
import type { Sums } from '../replica/rpc-codec.js';
import { FatalError } from '../state/fatal.js';
import { DIVERGED_KEY, isLocal } from '../state/keys.js';
import { Machine, type MachineLimits } from '../state/machine.js';
import { recordOf } from '../state/machine-record.js';
import type { Command, Handler, Handlers, View } from '../state/types.js';
import type { Disk } from '../storage/disk.js';
import { StorageError } from '../storage/errors.js';
import { installRecords, recordsOf } from '../storage/install.js';
import { LEVEL_DISK } from '../storage/level-disk.js';
import type { SegmentLog } from '../storage/log.js';
import { openLog } from '../storage/open-log.js';
import { type LevelState, openState } from '../storage/state.js';
import type { StateRecord } from '../storage/types.js';
import { derived, type InitialMember, readIdentity, writeIdentity } from './identity.js';
import { applyUpTo, type RebuildOptions, rebuildableTo, rebuildState } from './rebuild.js';

/**
 * What a data folder contains. Of several surviving folders, the one with the highest lastTerm,
 * then the highest lastIndex, has the most complete log.
 */
export interface FolderFacts {
  readonly nodeId: NodeId;
  readonly clusterId: string | null;
  readonly term: Term;
  readonly lastIndex: Index;
  readonly lastTerm: Term;
  readonly appliedIndex: Index;
  /** The checksums of the applied state, by table. */
  readonly checksums: Sums;
  /** The configuration in force at the end of the log. */
  readonly configuration: Configuration;
  /** What is lost or cannot be trusted, one sentence each. */
  readonly damage: readonly string[];
}

interface Folder {
  /** One that stands in if the own one cannot be read, and why it cannot. */
  readonly identity: Identity;
  readonly lost?: string | undefined;
  readonly log: SegmentLog;
  readonly store: LevelState;
}

/** The result of a recovery. */
export interface RecoveredFacts extends FolderFacts {
  /** Commands of the log that could not be applied, because the state had lost what they need. */
  readonly notApplied: number;
}

export interface RecoverOptions {
  readonly name: string;
  readonly members: readonly InitialMember[];
  readonly handlers: Handlers;
  /** Whether to continue although something is damaged, and lose it. */
  readonly acceptLoss?: boolean;
  /** Whether to check only, and to change nothing. */
  readonly dryRun?: boolean;
  /** See Machine. Only simulations set it. */
  readonly machineLimits?: MachineLimits | undefined;
  /** Absent: the real disk. Only simulations set it. */
  readonly disk?: Disk;
}

/** Why a state is not served after an interrupted recovery. It is stored, so it never changes. */
export const UNFINISHED = 'its recovery was begun but not completed';

/** Returns the damage that a recovery cannot mend: it completes one that did not end. */
const lossIn = (damage: readonly string[]): readonly string[] =>
  damage.filter((each) => each !== UNFINISHED);

/** Returns what a stopped server's folder contains. Rejects if a server has it open. */
export function inspectFolder(dataDir: string, disk = LEVEL_DISK): Promise<FolderFacts> {
  return withFolder(dataDir, disk, async (folder) => factsOf(folder));
}

/**
 * Makes this folder the server `name` of a new cluster with these members. Copies of one folder,
 * recovered with the same members, become servers of one cluster. Folders that differ become
 * clusters that refuse each other. A recovery that was cut short is completed by the next one, with
 * the same result. Rejects if the folder is damaged, unless `acceptLoss` is set, or if it cannot
 * make a cluster.
 */
export function recoverFolder(dataDir: string, options: RecoverOptions): Promise<RecoveredFacts> {
  const { name, members, handlers, acceptLoss = false, dryRun = false } = options;
  const { machineLimits, disk = LEVEL_DISK } = options;
  if (!members.some((member) => member.name === name)) {
    throw new Error(`the members do not name this server (${name})`);
  }
  return withFolder(dataDir, disk, async (folder) => {
    const { identity, log, store } = folder;
    mustReachLog(store.remains ?? store, log);
    const damage = lossIn(damageOf(folder));
    if (damage.length > 0 && !acceptLoss)
      throw new Error(`${damage.join('; ')}: needs --accept-loss`);
    if (dryRun) return { ...factsOf(folder), notApplied: 0 };
    if (damage.length === 0 && isRecovered(folder, name, members)) {
      await unmark(store);
      return { ...factsOf(folder), notApplied: 0 };
    }
    if (log.damaged !== undefined) await new Promise<void>((done) => log.repair(done));
    if (store.damaged !== undefined)
      await replaceDamaged(log, store, { handlers, machineLimits, disk });
    const skipping = new SkippingHandlers(handlers);
    const applying = acceptLoss ? skipping.handlers : handlers;
    // Throws for a state of a newer release: nothing is changed then.
    const machine = new Machine(store, applying, undefined, machineLimits);
    // From here on the state contains entries that may not have been committed. A server must not
    // serve it before the recovery is complete.
    store.commit([[DIVERGED_KEY, UNFINISHED]]);
    await store.flush();
    await applyUpTo(log.lastIndex(), log, machine);
    machine.recount();
    // The log is about to drop what the state now holds.
    await store.flush();
    const epoch = [identity.clusterId, machine.appliedTerm(), machine.checksum()];
    const configuration = configurationOf(epoch, members);
    const index = machine.appliedIndex();
    const term = machine.appliedTerm();
    const hardState = { term: Math.max(term, log.hardState().term), votedFor: null };
    await new Promise<void>((done) => log.reset({ index, term, configuration }, hardState, done));
    if (log.bar() !== undefined) await new Promise<void>((done) => log.liftBar(done));
    const own = configuration.members.find((member) => member.name === name)!;
    const clusterId = derived(['recovered', ...epoch], members);
    const recovered = identityOf(own.id, clusterId);
    await writeIdentity(dataDir, recovered, disk);
    await unmark(store);
    const done = { identity: recovered, log, store };
    return { ...factsOf(done), notApplied: skipping.count };
  });
}

/** The identity of a server that was never started. */
const identityOf = (nodeId: NodeId, clusterId: string | null): Identity => ({
  v: 2,
  nodeId,
  incarnation: randomUUID(),
  begun: true,
  starts: 0,
  startId: '',
  earlier: [],
  clusterId,
  seen: {},
  removed: [],
});

/**
 * Whether the folder was recovered as this server before, and not started since. Only the mark of
 * its state may be left: a second recovery would make another cluster than on the copies.
 */
function isRecovered(
  { identity, log }: Folder,
  name: string,
  members: readonly InitialMember[],
): boolean {
  const { index, configuration } = log.snapshot() ?? {};
  const present = configuration?.members ?? [];
  const isSame =
    present.length === members.length &&
    members.every((member) =>
      present.some((each) => each.name === member.name && each.address === member.address),
    );
  const isNamed = present.some((each) => each.id === identity.nodeId && each.name === name);
  return isSame && isNamed && index === log.lastIndex() && identity.starts === 0;
}

/** The state may be served. */
async function unmark(store: LevelState): Promise<void> {
  store.commit([[DIVERGED_KEY, undefined]]);
  await store.flush();
}

/**
 * Makes a damaged state again from the log, or replaces it by the records that can still be read.
 */
async function replaceDamaged(
  log: SegmentLog,
  store: LevelState,
  options: Omit<RebuildOptions, 'upTo'>,
): Promise<void> {
  const upTo = rebuildableTo(log, store);
  if (upTo !== undefined) {
    await rebuildState(log, store, { ...options, upTo });
    return;
  }
  await installRecords(store, readableRecords(store.remains!));
}

/** Yields the records that can still be read, and the mark of an unfinished recovery. */
function* readableRecords(remains: View): Iterable<StateRecord> {
  for (const record of recordsOf(remains)) if (!isLocal(record[0])) yield record;
  yield [DIVERGED_KEY, UNFINISHED];
}

/** Handlers that refuse commands which need records that were lost. */
class SkippingHandlers {
  readonly handlers: Handlers;
  /** Commands that were refused for this reason. */
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
      id: derived(['recovered', name, ...epoch], members),
      name,
      address,
      voter: true,
    })),
  };
}

/** Throws Error unless state and log hold every entry between them, and at least one. */
function mustReachLog(state: View, log: SegmentLog): void {
  const { index = 0 } = recordOf(state) ?? {};
  const last = Math.max(index, log.lastIndex());
  if (last > 0 && index >= log.firstIndex() - 1) return;
  const why = last === 0 ? 'it holds no entry' : 'the state ends before the log begins';
  throw new Error(`${why}: this folder alone cannot make a cluster`);
}

function factsOf(folder: Folder): FolderFacts {
  const { identity, log, store } = folder;
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
    damage: damageOf(folder),
  };
}

/** Whether a log was never written. */
export const isEmpty = (log: SegmentLog): boolean =>
  log.lastIndex() === 0 && log.hardState().term === 0 && log.bar() === undefined;

function damageOf({ identity, lost, log, store }: Folder): string[] {
  const damage: string[] = lost === undefined ? [] : [lost];
  const { damaged } = log;
  if (identity.begun && isEmpty(log)) damage.push('the log is lost');
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
  const identity = await identityIn(dataDir, disk);
  let failure: Error | undefined;
  const onFatal = (error: Error): void => {
    failure ??= error;
  };
  const log = await openLog(join(dataDir, 'log'), { onFatal, disk });
  try {
    const store = await openState(join(dataDir, 'state'), { onFatal, disk, checkValues: true });
    try {
      const result = await run({ ...identity, log, store });
      if (failure !== undefined) throw failure;
      return result;
    } finally {
      await store.close();
    }
  } finally {
    await log.close();
  }
}

async function identityIn(dir: string, disk: Disk): Promise<Pick<Folder, 'identity' | 'lost'>> {
  try {
    const identity = await readIdentity(dir, disk);
    if (identity !== undefined) return { identity };
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'damaged')) throw error;
    return { identity: identityOf('unknown', null), lost: error.message };
  }
  throw new Error(`${dir} contains no data of a server`);
}
