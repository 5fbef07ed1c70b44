/**
 * Opening a data folder: identity, log and state, brought to agree. What a crash left half done is completed; what is lost
 * is said, and fetched from the peers before the node serves.
 */
import { join } from 'node:path';
import { Machine } from '../state/machine.js';
import { type LevelLog, openLog } from '../storage/log.js';
import { type LevelState, openState } from '../storage/state.js';
import { agree } from './agree.js';
import {
  claimIdentity,
  countStart,
  type Identity,
  initialConfiguration,
  newIdentity,
  writeIdentity,
} from './identity.js';
import type { NodeOptions } from './options.js';
import { WRONG_KEY } from './snapshots.js';

export interface Opened {
  readonly identity: Identity;
  readonly log: LevelLog;
  readonly store: LevelState;
  readonly machine: Machine;
  /** Why the state must come from a peer before this node applies or serves. */
  readonly needsState: string | undefined;
}

type OpenOptions = Pick<
  NodeOptions,
  'name' | 'dataDir' | 'initial' | 'join' | 'handlers' | 'levels' | 'log' | 'onFatal'
> & { readonly address: string };

export async function openFolder(options: OpenOptions): Promise<Opened> {
  const { dataDir, onFatal } = options;
  const present = await openIdentity(options);
  const log = await openLog(join(dataDir, 'log'), { onFatal });
  try {
    const identity = await countStart(dataDir, present);
    const store = await openState(join(dataDir, 'state'), { onFatal });
    try {
      await mendLog(log, options);
      const { machine, damage } = await openMachine(store, options);
      await writeFirst(log, identity, options);
      const gap = await new Promise<string | undefined>((done) => agree(log, store, machine, done));
      const noted = await noteBegun(log, identity, dataDir);
      const needsState = store.get(WRONG_KEY) ?? (gap && (damage ?? gap));
      return { identity: noted, log, store, machine, needsState };
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function openIdentity(options: OpenOptions): Promise<Identity> {
  const present = await claimIdentity(options.dataDir);
  if (present !== undefined) return present;
  const initial = initialOf(options);
  const identity = newIdentity(options.name, initial);
  await writeIdentity(options.dataDir, identity);
  const names = initial.map(({ name }) => name).join(', ');
  const what = names === '' ? 'asks to be taken into a cluster' : `begins the cluster of ${names}`;
  options.log('info', `the data folder is new: the node ${what}`);
  return identity;
}

function initialOf({ initial = [], join: others = [], name, address }: OpenOptions) {
  return initial.length > 0 || others.length > 0 ? initial : [{ name, address }];
}

/** Entries that may have been acknowledged are lost: the node goes on without a vote until it has them again. */
async function mendLog(log: LevelLog, options: OpenOptions): Promise<void> {
  if (log.cut !== undefined) {
    const { from, records } = log.cut;
    options.log('warn', `cut a torn tail of ${records} records off the log, from entry ${from} on`);
  }
  const { damaged } = log;
  if (damaged === undefined) return;
  const what = `the log is damaged from entry ${damaged.index} on (${damaged.reason})`;
  options.log(
    'error',
    `${what}; this node does not vote until it has those entries from its peers`,
  );
  await new Promise<void>((done) => log.repair(done));
}

const isEmpty = (log: LevelLog): boolean =>
  log.lastIndex() === 0 && log.hardState().term === 0 && log.bar() === undefined;

async function noteBegun(log: LevelLog, identity: Identity, dir: string): Promise<Identity> {
  if (identity.begun || isEmpty(log)) return identity;
  const noted = { ...identity, begun: true };
  await writeIdentity(dir, noted);
  return noted;
}

/** A state that cannot be trusted is emptied: it comes from the log again, or from a peer. */
async function openMachine(
  store: LevelState,
  options: OpenOptions,
): Promise<{ machine: Machine; damage: string | undefined }> {
  const damage = store.damaged;
  if (damage !== undefined) {
    options.log('error', `${damage}; it is made again from the log or a peer`);
    await store.install().finish({ count: 0, sum: 0 });
  }
  return { machine: new Machine(store, options.handlers, options.levels?.supported), damage };
}

/** Every member of a new cluster begins its log with the same configuration, at index 1 in term 1. */
async function writeFirst(log: LevelLog, identity: Identity, options: OpenOptions): Promise<void> {
  if (!isEmpty(log)) return;
  if (identity.begun) {
    throw new Error(
      `the log in ${options.dataDir} is gone, and with it this server’s votes and acknowledgements: remove the ` +
        'server from the cluster, empty its data folder, and let it join anew',
    );
  }
  const configuration = initialConfiguration(initialOf(options));
  const isInitial = configuration.members.some(({ id }) => id === identity.nodeId);
  if (!isInitial) return;
  const entries = [{ kind: 'configuration', index: 1, term: 1, configuration }] as const;
  const hardState = { term: 1, votedFor: null };
  await new Promise<void>((done) => log.append({ hardState, entries }, done));
}
