/**
 * For a stopped server: what is in its data folder, and how to make a new cluster of it when the majority is lost for good.
 * Recovery takes everything in the log as decided, also what the old cluster may never have committed, and gives the
 * cluster a new id, so that the servers of the old one cannot speak to it any more.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Configuration, Index, NodeId, Term } from '../raft/types.js';
import { type Handlers, Machine } from '../state/machine.js';
import { type LevelLog, openLog } from '../storage/log.js';
import { type LevelState, openState } from '../storage/state.js';
import type { Sums } from './asks.js';
import {
  derived,
  type Identity,
  type InitialMember,
  readIdentity,
  writeIdentity,
} from './identity.js';
import { Positions } from './positions.js';

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
  readonly log: LevelLog;
  readonly store: LevelState;
  readonly machine: Machine;
}

const APPLY_BYTES = 2 ** 20;

/** Reads a stopped server's folder, changing nothing of what it says. Rejects when a server has it open. */
export function inspectFolder(dataDir: string, handlers: Handlers): Promise<FolderFacts> {
  return withFolder(dataDir, handlers, async (folder) => factsOf(folder));
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
  },
): Promise<FolderFacts> {
  const { name, members, handlers, acceptLoss = false } = options;
  if (!members.some((member) => member.name === name)) {
    throw new Error(`the members do not name this server (${name})`);
  }
  return withFolder(dataDir, handlers, async (folder) => {
    const { identity, log, store, machine } = folder;
    const { damage } = factsOf(folder);
    if (damage.length > 0 && !acceptLoss) throw new Error(damage.join('; '));
    if (log.damaged !== undefined) await new Promise<void>((done) => log.repair(done));
    await applyAll(log, machine);
    await store.flush();
    const epoch = [identity.clusterId, machine.checksum()];
    const configuration = configurationOf(epoch, members);
    const index = machine.appliedIndex();
    const term = machine.appliedTerm();
    const hardState = { term: Math.max(term, log.hardState().term), votedFor: null };
    await new Promise<void>((done) => log.reset({ index, term, configuration }, hardState, done));
    if (log.bar() !== undefined) await new Promise<void>((done) => log.liftBar(done));
    const own = configuration.members.find((member) => member.name === name)!;
    const recovered: Identity = {
      ...{ v: 1, nodeId: own.id, incarnation: randomUUID(), begun: true, seen: {} },
      clusterId: derived(['recovered', ...epoch], members),
    };
    await writeIdentity(dataDir, recovered);
    return factsOf({ ...folder, identity: recovered });
  });
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

/** Takes the whole log as decided. */
async function applyAll(log: LevelLog, machine: Machine): Promise<void> {
  if (machine.appliedIndex() < log.firstIndex() - 1) {
    throw new Error(
      'the state ends before the log begins: this folder alone cannot make a cluster',
    );
  }
  while (machine.appliedIndex() < log.lastIndex()) {
    const entries = log.entries(machine.appliedIndex() + 1, log.lastIndex(), APPLY_BYTES);
    await new Promise<void>((resolve) => {
      const results = machine.apply(entries, () => resolve());
      if (results.length === entries.length) resolve();
    });
  }
}

function factsOf({ identity, log, store, machine }: Folder): FolderFacts {
  const lastIndex = Math.max(log.lastIndex(), log.firstIndex() - 1);
  return {
    nodeId: identity.nodeId,
    clusterId: identity.clusterId,
    term: log.hardState().term,
    lastIndex,
    lastTerm: log.term(lastIndex) ?? 0,
    appliedIndex: machine.appliedIndex(),
    checksums: machine.checksum().sums,
    configuration: new Positions(log, lastIndex).configurationAt(lastIndex),
    damage: damageOf(log, store),
  };
}

function damageOf(log: LevelLog, store: LevelState): string[] {
  const damage: string[] = [];
  const { damaged } = log;
  if (damaged !== undefined) {
    const { index, last, reason } = damaged;
    damage.push(`entries ${index} to ${last} of the log are damaged (${reason})`);
  }
  if (log.bar() !== undefined) {
    damage.push(`entries up to ${log.bar()!.index} were lost and not yet fetched from the peers`);
  }
  if (store.damaged !== undefined) damage.push(store.damaged);
  return damage;
}

async function withFolder<T>(
  dataDir: string,
  handlers: Handlers,
  run: (folder: Folder) => Promise<T>,
): Promise<T> {
  const identity = await readIdentity(dataDir);
  if (identity === undefined) throw new Error(`there is no server's data in ${dataDir}`);
  let failure: Error | undefined;
  const onFatal = (error: Error): void => {
    failure ??= error;
  };
  const log = await openLog(join(dataDir, 'log'), { onFatal });
  try {
    const store = await openState(join(dataDir, 'state'), { onFatal });
    try {
      const result = await run({ identity, log, store, machine: new Machine(store, handlers) });
      if (failure !== undefined) throw failure;
      return result;
    } finally {
      await store.close();
    }
  } finally {
    await log.close();
  }
}
