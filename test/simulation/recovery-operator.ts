/** The operator of a lost majority, who runs `conclave recover` until it is done. */
import type { Random } from '../../cluster/checker/random.js';
import type { FolderFacts } from '../../src/node/recover.js';
import type { SnapshotMeta } from '../../src/raft/types.js';
import { addressOf } from './cluster.js';
import { type Invariants, Violation } from './invariants.js';
import type { Offline } from './offline.js';
import type { RealDisk } from './real-storage.js';
import { checkKept, isRefusalToLose, type Loss } from './recovery-checks.js';

/** The power fails within so many milliseconds of a recovery, in the first attempts of some. */
const CUT_MS = 15;
const CUT_SHARE = 0.4;
const CUTS_MAX = 3;
const ATTEMPTS_MAX = 8;

/** A folder that was recovered, and where. */
export interface Recovered {
  readonly name: string;
  readonly disk: RealDisk;
  readonly facts: FolderFacts;
  /** Where its log begins. */
  readonly meta: SnapshotMeta;
  /** The registers that hold something. */
  readonly held: ReadonlyMap<string, string>;
}

/** What the operator needs of the world. */
export interface OperatorParts {
  readonly offline: Offline;
  readonly random: Random;
  /** Of the old cluster. */
  readonly old: Invariants;
  readonly keys: readonly string[];
  readonly trace: (text: string) => void;
}

/** See the head of this file. */
export class RecoveryOperator {
  readonly #parts: OperatorParts;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  /** Recovers the folder, and copies of it. Undefined if it alone cannot make a cluster. */
  async recover(loss: Loss): Promise<[Recovered, ...Recovered[]] | undefined> {
    const { name, disk } = loss;
    const copies = this.#parts.random.pick([0, 0, 1, 2]);
    const names = [name, ...Array.from({ length: copies }, (_, i) => `c${i + 1}`)];
    const members = names.map((each) => ({ name: each, address: addressOf(each) }));
    const disks = names.map((_, i) => (i === 0 ? disk : disk.copy()));
    const recovered: Recovered[] = [];
    for (const [i, each] of names.entries()) {
      const facts = await this.#recoverOne(disks[i]!, each, members, loss);
      if (facts === undefined) return undefined;
      recovered.push(await this.#check(each, disks[i]!, facts, loss));
    }
    const clusters = new Set(recovered.map(({ facts }) => clusterOf(facts)));
    if (clusters.size > 1) throw new Violation('copies are one cluster', [...clusters].join(' '));
    const [first, ...others] = recovered;
    return [first!, ...others];
  }

  /** Reads what was recovered, and throws a violation unless it is what it must be. */
  async #check(name: string, disk: RealDisk, facts: FolderFacts, loss: Loss): Promise<Recovered> {
    const { offline, keys, old, trace } = this.#parts;
    const { log } = await offline.readLog(disk);
    const held = await offline.registers(disk, keys);
    checkKept({ loss, facts, log, held, keys, old });
    disk.rewritten(log);
    trace(`${name} is recovered at ${facts.appliedIndex} as ${facts.nodeId}`);
    return { name, disk, facts, meta: log.meta!, held };
  }

  /** Without `--accept-loss`, and only if that is refused with it; again if it was cut short. */
  async #recoverOne(
    disk: RealDisk,
    name: string,
    members: readonly { name: string; address: string }[],
    loss: Loss,
  ): Promise<FolderFacts | undefined> {
    const { offline, random, trace } = this.#parts;
    let acceptLoss = false;
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const isCut = attempt < CUTS_MAX && random.chance(CUT_SHARE);
      const cutMs = isCut ? random.next() * CUT_MS : undefined;
      const before = acceptLoss ? undefined : await offline.inspect(disk);
      try {
        const facts = await offline.recover(disk, { name, members, acceptLoss, cutMs });
        if (facts !== undefined) {
          if (facts.notApplied > 0 && !loss.isDamaged)
            throw new Violation('nothing is lost', `${facts.notApplied} commands are not applied`);
          return facts;
        }
        trace(`the recovery of ${name} is cut short`);
        if (!loss.isDamaged) await this.#checkCut(disk.copy(), loss);
      } catch (error) {
        if (error instanceof Violation || !(error instanceof Error)) throw error;
        trace(`${name} is not recovered: ${error.message}`);
        if (!isRefusalToLose(error, loss, acceptLoss))
          throw new Violation('a recovery completes', `${name}: ${error.stack}`);
        if (acceptLoss) return undefined;
        const after = await offline.inspect(disk);
        if (JSON.stringify(after) !== JSON.stringify(before))
          throw new Violation('a refusal changes nothing', JSON.stringify([before, after]));
        acceptLoss = true;
      }
    }
    throw new Violation('liveness', `${name} is not recovered`);
  }

  /** A folder whose recovery was cut short is as it was, or recovered, or not served. */
  async #checkCut(disk: RealDisk, { name, before }: Loss): Promise<void> {
    let found: Awaited<ReturnType<Offline['start']>>;
    try {
      found = await this.#parts.offline.start(disk, name);
    } catch (error) {
      if (error instanceof Error && /conclave recover/.test(error.message)) return;
      throw error;
    }
    if (found.nodeId === before.nodeId && found.applied !== before.appliedIndex)
      throw new Violation(
        'an unfinished recovery is not served',
        `${name} starts with ${found.applied} applied, before ${before.appliedIndex}`,
      );
  }
}

const clusterOf = ({ clusterId, appliedIndex, checksums }: FolderFacts): string =>
  JSON.stringify([clusterId, appliedIndex, checksums]);
