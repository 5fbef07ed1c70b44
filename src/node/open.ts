/**
 * Opens a data folder: identity, log and state. Completes what a crash interrupted, and repairs
 * damage, each of which it logs:
 *
 *     entries lost   the node does not vote until its peers have sent them again
 *     state lost     it is made again from the log, if that contains every entry from the first on;
 *                    otherwise a peer sends it before the node serves; without a peer the node does
 *                    not start
 */
import { join } from 'node:path';
import { named } from '../base/works.js';
import { newestConfiguration } from '../replica/log/applied-log.js';
import type { Identity } from '../replica/members/identity.js';
import { reconcile } from '../replica/state/reconcile.js';
import { DIVERGED_KEY } from '../state/keys.js';
import { Machine, type MachineLimits } from '../state/machine.js';
import type { Disk } from '../storage/disk.js';
import { LEVEL_DISK } from '../storage/level-disk.js';
import type { SegmentLog } from '../storage/log.js';
import { openLog } from '../storage/open-log.js';
import { type LevelState, openState } from '../storage/state.js';
import {
  claimIdentity,
  countStart,
  IDS,
  type IdSource,
  initialConfiguration,
  newIdentity,
  StoredIdentity,
  writeIdentity,
} from './identity.js';
import { type NodeOptions, silenceMsIn } from './options.js';
import { STATE_FOLDER } from './read-state.js';
import { rebuildableTo, rebuildState } from './rebuild.js';
import { isEmpty, UNFINISHED } from './recover.js';

/** An open data folder. */
export interface Opened {
  readonly identity: StoredIdentity;
  readonly log: SegmentLog;
  readonly store: LevelState;
  readonly machine: Machine;
  /**
   * The longest silence that this or an earlier run may have promised a leader, in milliseconds.
   */
  readonly silenceMs: number;
  /** Why a peer must send the state before this node applies or serves; undefined if none must. */
  readonly needsState: string | undefined;
}

type OpenOptions = Pick<
  NodeOptions,
  | 'name'
  | 'dataDir'
  | 'loading'
  | 'initial'
  | 'join'
  | 'handlers'
  | 'levels'
  | 'timing'
  | 'measures'
  | 'log'
  | 'onFatal'
> & {
  readonly address: string;
  /** The disk. Only simulations set it and the members below. */
  readonly disk?: Disk;
  readonly ids?: IdSource;
  /** See LogOptions. */
  readonly windowBytes?: number;
  readonly segmentBytes?: number;
  readonly machineLimits?: MachineLimits;
};

/** A state machine whose work has a name. */
class NamedMachine extends Machine {
  override apply(...given: Parameters<Machine['apply']>): ReturnType<Machine['apply']> {
    return named('apply', () => super.apply(...given));
  }
}

/**
 * Opens a data folder: see the top of this file. Rejects with the reason if the node cannot start.
 */
export async function openFolder(options: OpenOptions): Promise<Opened> {
  const { dataDir, disk = LEVEL_DISK, ids = IDS } = options;
  const identity = await openIdentity(options, disk, ids);
  const { log, store } = await openDatabases(options, disk);
  try {
    await repairLog(log, identity, options);
    await writeFirst(log, identity, options, ids);
    await repairState(log, store, options);
    const { handlers, levels, machineLimits } = options;
    const machine = new NamedMachine(store, handlers, levels?.supported, machineLimits);
    const gap = await new Promise<string | undefined>((done) =>
      reconcile(log, store, machine, done),
    );
    const needsState = store.get(DIVERGED_KEY) ?? store.damaged ?? gap;
    if (needsState !== undefined) requirePeers(needsState, log, identity, dataDir);
    const begun = identity.begun || !isEmpty(log);
    const silenceMs = Math.max(identity.silenceMs ?? 0, silenceMsIn(options.timing));
    const counted = { ...identity, begun, silenceMs };
    const started = await countStart(dataDir, counted, { disk, ids });
    const write = (changed: Identity): Promise<void> => writeIdentity(dataDir, changed, disk);
    const stored = new StoredIdentity(started, write, options.onFatal);
    if (!started.begun) log.onceStored(() => stored.save({ begun: true }));
    return { identity: stored, log, store, machine, silenceMs, needsState };
  } catch (error) {
    await Promise.all([store.close(), log.close()]);
    throw error;
  }
}

/**
 * Opens log and state concurrently, because each mostly waits for the disk. If one fails, it closes
 * the other. The error of the log takes precedence.
 */
async function openDatabases(
  { dataDir, loading, measures, onFatal, windowBytes, segmentBytes }: OpenOptions,
  disk: Disk,
): Promise<Pick<Opened, 'log' | 'store'>> {
  const onSynced = measures && ((ms: number): void => measures.logSynced(ms));
  const [log, store] = await Promise.allSettled([
    openLog(join(dataDir, 'log'), { onFatal, disk, windowBytes, segmentBytes, onSynced }),
    openState(join(dataDir, STATE_FOLDER), { onFatal, disk, loading: loading?.state }),
  ]);
  if (log.status === 'fulfilled' && store.status === 'fulfilled')
    return { log: log.value, store: store.value };
  for (const opened of [log, store]) if (opened.status === 'fulfilled') await opened.value.close();
  throw log.status === 'rejected' ? log.reason : (store as PromiseRejectedResult).reason;
}

async function openIdentity(options: OpenOptions, disk: Disk, ids: IdSource): Promise<Identity> {
  const { dataDir, loading } = options;
  const present = await (loading?.identity ?? claimIdentity(dataDir, disk));
  if (present !== undefined) return present;
  const initial = initialOf(options);
  const identity = newIdentity(options.name, initial, ids);
  await writeIdentity(dataDir, identity, disk);
  const names = initial.map(({ name }) => name).join(', ');
  const what = names === '' ? 'asks to join a cluster' : `starts the cluster of ${names}`;
  options.log('info', `the data folder is new: the node ${what}`, 'data_folder_new');
  return identity;
}

function initialOf({ initial = [], join: others = [], name, address }: OpenOptions) {
  return initial.length > 0 || others.length > 0 ? initial : [{ name, address }];
}

/**
 * Cuts off damaged entries. They may have been acknowledged, so the node does not vote until it has
 * them again.
 */
async function repairLog(log: SegmentLog, identity: Identity, options: OpenOptions): Promise<void> {
  const { damaged } = log;
  if (damaged !== undefined) {
    const what = `the log is damaged from entry ${damaged.index} on (${damaged.reason})`;
    options.log(
      'error',
      `${what}; this node does not vote until it has those entries from its peers`,
      'log_damaged',
    );
    await new Promise<void>((done) => log.repair(done));
  }
  const bar = log.bar();
  if (bar === undefined || hasPeers(log, identity)) return;
  options.log(
    'error',
    `no other voting server is known that could send the lost entries up to ${bar.index}: if ` +
      'there is none, stop this one and run "conclave recover --accept-loss"',
    'log_without_peers',
  );
}

/**
 * Whether another voter could lead this node: one in the newest known configuration or, if the log
 * has lost all configurations, any member that this node ever met.
 */
function hasPeers(log: SegmentLog, { nodeId, seen }: Identity): boolean {
  const { members } = newestConfiguration(log);
  if (members.length === 0) return Object.keys(seen).length > 0;
  return members.some(({ id, voter }) => voter && id !== nodeId);
}

/**
 * Makes a damaged state again from the log, if that contains every entry from the first on.
 * Otherwise leaves it as it is.
 */
async function repairState(
  log: SegmentLog,
  store: LevelState,
  options: OpenOptions,
): Promise<void> {
  const { damaged } = store;
  if (damaged === undefined) return;
  const upTo = rebuildableTo(log, store);
  if (upTo === undefined) return;
  options.log('error', `${damaged}; it is rebuilt from the log`, 'state_rebuilt');
  await rebuildState(log, store, { ...options, upTo });
}

/** Throws Error if no peer could send this node the state that it needs. */
function requirePeers(why: string, log: SegmentLog, identity: Identity, dataDir: string): void {
  if (why === UNFINISHED) throw new Error(`${why}: run "conclave recover" once more`);
  if (hasPeers(log, identity)) return;
  throw new Error(
    `${why}. It cannot be rebuilt from the log, and there is no other server that could send ` +
      `it. Nothing in ${dataDir} was changed. Restore the folder from a copy, or run ` +
      '"conclave recover --accept-loss" to continue with what can still be read, or start with ' +
      'an empty folder and restore a snapshot archive',
  );
}

/** Writes the first entry of a new cluster, the same configuration at index 1 on every member. */
async function writeFirst(
  log: SegmentLog,
  identity: Identity,
  options: OpenOptions,
  ids: IdSource,
): Promise<void> {
  if (!isEmpty(log)) return;
  if (identity.begun) {
    const advice = hasPeers(log, identity)
      ? 'remove the server from the cluster, empty its data folder, and let it join again'
      : 'run "conclave recover --accept-loss" to continue with what its state holds';
    throw new Error(
      `the log in ${options.dataDir} is lost, and with it this server’s votes and ` +
        `acknowledgements: ${advice}`,
    );
  }
  const configuration = initialConfiguration(initialOf(options), ids);
  const isInitial = configuration.members.some(({ id }) => id === identity.nodeId);
  if (!isInitial) return;
  const entries = [{ kind: 'configuration', index: 1, term: 1, configuration }] as const;
  const hardState = { term: 1, votedFor: null };
  await new Promise<void>((done) => log.append({ hardState, entries }, done));
}
