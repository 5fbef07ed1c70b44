/** What a recovered folder must hold: everything that its log had, and nothing else. */
import type { FolderFacts } from '../../src/node/recover.js';
import type { Index } from '../../src/raft/types.js';
import { decodeProposal } from '../../src/state/proposal.js';
import type { LogContent } from '../support/memory-log.js';
import { type Invariants, Violation } from './invariants.js';
import type { RealDisk } from './real-storage.js';

/** What is left of a cluster. */
export interface Loss {
  /** The server that has the most. */
  readonly name: string;
  readonly disk: RealDisk;
  /** Its log before something on its disk was spoilt. */
  readonly log: LogContent;
  /** The last entry of it that was reported as durable. */
  readonly reported: Index;
  /** The first entry that is damaged. */
  readonly damagedFrom: Index | undefined;
  readonly before: FolderFacts;
  /** A fault has spoilt something on its disk. */
  readonly isDamaged: boolean;
}

/** What `checkKept` looks at. */
export interface Kept {
  readonly loss: Loss;
  readonly facts: FolderFacts;
  /** The log after the recovery. */
  readonly log: LogContent;
  /** The registers after it. */
  readonly held: ReadonlyMap<string, string>;
  readonly keys: readonly string[];
  /** Of the old cluster. */
  readonly old: Invariants;
}

/** Throws a violation unless the recovery kept what it must, and made another cluster. */
export function checkKept(kept: Kept): void {
  checkIdentity(kept);
  checkLog(kept);
  checkRegisters(kept);
}

/** Whether a recovery may end with this error: it says what is lost, or that too much is. */
export function isRefusalToLose(error: Error, loss: Loss, acceptLoss: boolean): boolean {
  if (!loss.isDamaged) return false;
  return !acceptLoss || /this folder alone cannot make a cluster/.test(error.message);
}

function checkIdentity({ loss: { before }, facts }: Kept): void {
  if (facts.clusterId === before.clusterId || facts.nodeId === before.nodeId)
    throw new Violation('a recovery makes another cluster', JSON.stringify([before, facts]));
  if (facts.damage.length > 0) throw new Violation('a recovery is whole', facts.damage.join('; '));
}

function checkLog({ loss, facts, log }: Kept): void {
  const { damagedFrom, before, isDamaged } = loss;
  const { appliedIndex, term } = facts;
  const isEmpty = log.entries.length === 0 && log.meta?.index === appliedIndex;
  if (!isEmpty || log.bar !== undefined || log.hard.term !== term || term < before.term)
    throw new Violation('a recovery is whole', JSON.stringify([before, facts, log.meta]));
  const written = loss.log.last();
  // damage to a batch that was not reported as durable may go unnoticed
  const wanted = damagedFrom === undefined ? Math.min(written, loss.reported) : damagedFrom - 1;
  // a snapshot may have been installed whose index the log had not begun at yet
  const newest = Math.max(written, before.appliedIndex);
  const isKept = isDamaged ? appliedIndex >= wanted : appliedIndex === newest;
  if (!isKept)
    throw new Violation(
      'a recovery keeps the log',
      `${appliedIndex} is applied, the log has all up to ${wanted}`,
    );
}

/**
 * A register holds what it held in the old cluster where the two logs part, or where that cluster
 * stopped applying, or a value that is later in the log of the survivor. If something was damaged
 * it may hold an older value.
 */
function checkRegisters({ loss, facts, held, keys, old }: Kept): void {
  const { log, before, isDamaged } = loss;
  const end = Math.min(facts.appliedIndex, old.lastApplied);
  const isState = before.damage.some((each) => !each.startsWith('entries '));
  // a state may end after its log: the process died before the log followed a snapshot
  let agreed = Math.max(log.first() - 1, isState ? 0 : Math.min(before.appliedIndex, end));
  while (agreed < end && isCommitted(old, log, agreed + 1)) agreed++;
  for (const key of keys) {
    const value = held.get(key) ?? null;
    const later = valuesIn(log, agreed + 1, key);
    if (value === old.valueAt(key, agreed) || later.includes(value)) continue;
    const isOlder = value === null || (old.indexOf(value) ?? Infinity) <= agreed;
    if (isDamaged && isState && isOlder) continue;
    throw new Violation(
      'a recovery keeps what was acknowledged',
      `${key} is ${value}; up to ${agreed} it was ${old.valueAt(key, agreed)}, then ${later}`,
    );
  }
}

function isCommitted(old: Invariants, log: LogContent, index: Index): boolean {
  const term = log.term(index);
  return term !== undefined && old.committedAt(index)?.term === term;
}

/** What the commands from `from` on may write to a register. */
function valuesIn(log: LogContent, from: Index, key: string): (string | null)[] {
  const values: (string | null)[] = [];
  for (let index = from; index <= log.last(); index++) {
    const entry = log.at(index);
    if (entry?.kind !== 'command') continue;
    // a product's command has no such members
    const command = decodeProposal(entry.data).command as { key?: string; value?: string };
    if (command.key === key) values.push(command.value ?? null);
  }
  return values;
}
