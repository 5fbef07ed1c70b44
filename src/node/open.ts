/**
 * Opening a data folder: identity, log and state, brought to agree. What a crash left half done is completed. What is lost
 * is said, and made again from the log, or fetched from the peers before the node serves; without peers it does not start.
 */
import { join } from 'node:path';
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
import { rebuildableTo, rebuildState } from './rebuild.js';
import { UNFINISHED } from './recover.js';

/** An open data folder. */
export interface Opened {
  readonly identity: StoredIdentity;
  readonly log: SegmentLog;
  readonly store: LevelState;
  readonly machine: Machine;
  /** The silence that this or an earlier run may have promised to a leader, in milliseconds. */
  readonly silenceMs: number;
  /** Why the state must come from a peer before this node applies or serves. */
  readonly needsState: string | undefined;
}

type OpenOptions = Pick<
  NodeOptions,
  'name' | 'dataDir' | 'initial' | 'join' | 'handlers' | 'levels' | 'timing' | 'log' | 'onFatal'
> & {
  readonly address: string;
  /** The machine. This and the rest are given by simulations alone. */
  readonly disk?: Disk;
  readonly ids?: IdSource;
  /** See LogOptions. */
  readonly windowBytes?: number;
  readonly segmentBytes?: number;
  /** See Machine. */
  readonly machineLimits?: MachineLimits;
};

/**
 * Opens the data folder, see the head of this file. Rejects with the reason when the node cannot
 * start.
 */
export async function openFolder(options: OpenOptions): Promise<Opened> {
  const { dataDir, disk = LEVEL_DISK, ids = IDS } = options;
  const identity = await openIdentity(options, disk, ids);
  const { log, store } = await openDatabases(options, disk);
  try {
    await mendLog(log, identity, options);
    await writeFirst(log, identity, options, ids);
    await mendState(log, store, options);
    const { handlers, levels, machineLimits } = options;
    const machine = new Machine(store, handlers, levels?.supported, machineLimits);
    const gap = await new Promise<string | undefined>((done) =>
      reconcile(log, store, machine, done),
    );
    const needsState = store.get(DIVERGED_KEY) ?? store.damaged ?? gap;
    if (needsState !== undefined) mustBeSent(needsState, log, identity, dataDir);
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

/** Opens log and state side by side, as each waits for the disk much of the time. Both or none; the log's error goes first. */
async function openDatabases(
  { dataDir, onFatal, windowBytes, segmentBytes }: OpenOptions,
  disk: Disk,
): Promise<Pick<Opened, 'log' | 'store'>> {
  const [log, store] = await Promise.allSettled([
    openLog(join(dataDir, 'log'), { onFatal, disk, windowBytes, segmentBytes }),
    openState(join(dataDir, 'state'), { onFatal, disk }),
  ]);
  if (log.status === 'fulfilled' && store.status === 'fulfilled')
    return { log: log.value, store: store.value };
  for (const opened of [log, store]) if (opened.status === 'fulfilled') await opened.value.close();
  throw log.status === 'rejected' ? log.reason : (store as PromiseRejectedResult).reason;
}

async function openIdentity(options: OpenOptions, disk: Disk, ids: IdSource): Promise<Identity> {
  const present = await claimIdentity(options.dataDir, disk);
  if (present !== undefined) return present;
  const initial = initialOf(options);
  const identity = newIdentity(options.name, initial, ids);
  await writeIdentity(options.dataDir, identity, disk);
  const names = initial.map(({ name }) => name).join(', ');
  const what = names === '' ? 'asks to be taken into a cluster' : `begins the cluster of ${names}`;
  options.log('info', `the data folder is new: the node ${what}`);
  return identity;
}

function initialOf({ initial = [], join: others = [], name, address }: OpenOptions) {
  return initial.length > 0 || others.length > 0 ? initial : [{ name, address }];
}

/** Entries that may have been acknowledged are lost: the node goes on without a vote until it has them again. */
async function mendLog(log: SegmentLog, identity: Identity, options: OpenOptions): Promise<void> {
  const { damaged } = log;
  if (damaged !== undefined) {
    const what = `the log is damaged from entry ${damaged.index} on (${damaged.reason})`;
    options.log(
      'error',
      `${what}; this node does not vote until it has those entries from its peers`,
    );
    await new Promise<void>((done) => log.repair(done));
  }
  const bar = log.bar();
  if (bar === undefined || hasPeers(log, identity)) return;
  options.log(
    'error',
    `no other voting server is known that could send the lost entries up to ${bar.index}: if there is none, stop this one ` +
      'and run "conclave recover --accept-loss"',
  );
}

/**
 * Whether the newest known configuration has another voter, and so a leader besides this node. When none is known, because
 * the log has lost it: whether this node ever met another member.
 */
function hasPeers(log: SegmentLog, { nodeId, seen }: Identity): boolean {
  const { members } = newestConfiguration(log);
  if (members.length === 0) return Object.keys(seen).length > 0;
  return members.some(({ id, voter }) => voter && id !== nodeId);
}

const isEmpty = (log: SegmentLog): boolean =>
  log.lastIndex() === 0 && log.hardState().term === 0 && log.bar() === undefined;

/** A state that cannot be trusted is made again from the log, if that goes back far enough. Else it stays as it is. */
async function mendState(log: SegmentLog, store: LevelState, options: OpenOptions): Promise<void> {
  const { damaged } = store;
  if (damaged === undefined) return;
  const upTo = rebuildableTo(log, store);
  if (upTo === undefined) return;
  options.log('error', `${damaged}; it is made again from the log`);
  await rebuildState(log, store, { ...options, upTo });
}

/** Throws when nobody could send this node the state that it lacks. */
function mustBeSent(why: string, log: SegmentLog, identity: Identity, dataDir: string): void {
  if (why === UNFINISHED) throw new Error(`${why}: run "conclave recover" once more`);
  if (hasPeers(log, identity)) return;
  throw new Error(
    `${why}. It cannot be made again from the log, and there is no other server that could send it. Nothing in ${dataDir} ` +
      'was changed. Put the folder back from a copy, or run "conclave recover --accept-loss" to go on with what can still ' +
      'be read, or start with an empty folder and restore a snapshot archive',
  );
}

/** Every member of a new cluster begins its log with the same configuration, at index 1 in term 1. */
async function writeFirst(
  log: SegmentLog,
  identity: Identity,
  options: OpenOptions,
  ids: IdSource,
): Promise<void> {
  if (!isEmpty(log)) return;
  if (identity.begun) {
    throw new Error(
      `the log in ${options.dataDir} is gone, and with it this server’s votes and acknowledgements: remove the ` +
        'server from the cluster, empty its data folder, and let it join anew',
    );
  }
  const configuration = initialConfiguration(initialOf(options), ids);
  const isInitial = configuration.members.some(({ id }) => id === identity.nodeId);
  if (!isInitial) return;
  const entries = [{ kind: 'configuration', index: 1, term: 1, configuration }] as const;
  const hardState = { term: 1, votedFor: null };
  await new Promise<void>((done) => log.append({ hardState, entries }, done));
}
