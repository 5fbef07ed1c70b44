/**
 * Checks that the members hold the same state. From time to time the leader compares their
 * checksums at equal indexes. A member whose state differs from the majority's is told so and stops
 * serving. When too few members can be compared, the round counts as inconclusive, never as
 * agreement; a leader whose state is then in the minority transfers leadership.
 *
 * The leader sends its state as a snapshot only while more members hold it than any other one.
 * Otherwise a wrong state could spread until it is the majority.
 */
import type { Index, NodeId, Term } from '../../raft/types.js';
import type { Rpc } from '../rpc.js';
import type { RpcResponse, Sums } from '../rpc-codec.js';

/** Checksums of the state machine. */
export interface ChecksumPort {
  /**
   * The sums at a checkpoint, an index at which every member takes them; the newest one if `index`
   * is not given.
   */
  checkpoint(index?: Index): { readonly index: Index; readonly sums: Sums } | undefined;
  /** The sums of the state as it is now. */
  checksum(): { readonly index: Index; readonly sums: Sums };
}

export interface StateComparisonParts {
  readonly id: NodeId;
  readonly rpc: Rpc;
  readonly checksums: ChecksumPort;
  readonly peers: () => readonly NodeId[];
  readonly timeoutMs: number;
  /** This server's state differs from the majority's. */
  readonly differs: (index: Index, table: string) => void;
  /**
   * The members' states differ, and no majority tells which one is right. `successor` holds a state
   * that more members have than this server's.
   */
  readonly undecided: (index: Index, table: string, successor: NodeId | undefined) => void;
}

/** Compares the members' states, on the leader. */
export class StateComparison {
  /** Rounds completed, members that could not be compared in them, and members that differed. */
  readonly stats = { rounds: 0, incomparable: 0, differing: 0 };
  readonly #parts: StateComparisonParts;
  /** Index of the last comparison in which all members agreed. */
  #compared: Index = 0;
  /**
   * Index of the last inconclusive comparison. A member that has restarted since has no checkpoint
   * there; one that lags has not reached the current index.
   */
  #inconclusive: Index = 0;
  #running = false;
  /**
   * The last comparison: the leader's term, and whether more members held this server's state than
   * any other.
   */
  #last: { readonly term: Term; readonly leads: boolean } | undefined;

  constructor(parts: StateComparisonParts) {
    this.#parts = parts;
  }

  /** The response to a leader's `sums` request. */
  answer(index: Index): RpcResponse {
    const { checksums } = this.#parts;
    const present = checksums.checksum();
    const found = present.index === index ? present : checksums.checkpoint(index);
    return found === undefined ? { type: 'retry' } : { type: 'sums', ...found };
  }

  /**
   * Whether the leader of this term may send others its state. Starts a comparison if there was
   * none in this term.
   */
  mayCopy(term: Term): boolean {
    if (this.#last?.term !== term) this.compare(term);
    return this.#last?.term === term && this.#last.leads;
  }

  /**
   * Starts one comparison; called on the leader of `term`. An idle cluster is compared too: a
   * restarted member applies a part of its log again, and may do so wrongly at an index where it
   * was right before.
   */
  compare(term: Term): void {
    const { checksums, rpc, timeoutMs, id } = this.#parts;
    const peers = this.#parts.peers().filter((peer) => peer !== id);
    if (peers.length === 0) this.#last = { term, leads: true };
    if (this.#running || peers.length === 0) return;
    const checkpoint = checksums.checkpoint();
    const isNew =
      checkpoint !== undefined &&
      checkpoint.index > this.#compared &&
      checkpoint.index !== this.#inconclusive;
    const own = isNew ? checkpoint : checksums.checksum();
    this.#running = true;
    const sums = new Map<NodeId, Sums>([[id, own.sums]]);
    let missing = peers.length;
    for (const peer of peers) {
      rpc.call(peer, { type: 'sums', index: own.index }, timeoutMs, (response) => {
        if (response.type === 'sums' && response.index === own.index) sums.set(peer, response.sums);
        missing -= 1;
        if (missing === 0)
          this.#last = { term, leads: this.#judge(own.index, sums, peers.length + 1) };
      });
    }
  }

  /** Evaluates a round. Returns whether more members hold this server's state than any other. */
  #judge(index: Index, sums: ReadonlyMap<NodeId, Sums>, members: number): boolean {
    this.#running = false;
    this.stats.rounds += 1;
    this.stats.incomparable += members - sums.size;
    this.#inconclusive = sums.size < members ? index : 0;
    const right =
      majority(sums, members) ?? (sums.size === members ? sums.get(this.#parts.id) : undefined);
    if (right === undefined) return this.#compareFew(index, sums);
    let differing = 0;
    for (const [id, theirs] of sums) {
      const table = differingTable(right, theirs);
      if (table === undefined) continue;
      differing += 1;
      this.stats.differing += 1;
      if (id === this.#parts.id) this.#parts.differs(index, table);
      else {
        this.#parts.rpc.notify(id, { type: 'differs', index, table }, this.#parts.timeoutMs);
      }
    }
    // A `differs` request may be lost, so a member that differs is compared again even if nothing
    // new is written.
    if (sums.size === members && differing === 0) this.#compared = index;
    return differingTable(right, sums.get(this.#parts.id)!) === undefined;
  }

  #compareFew(index: Index, sums: ReadonlyMap<NodeId, Sums>): boolean {
    const own = sums.get(this.#parts.id)!;
    const others = [...sums].filter(([, theirs]) => differingTable(own, theirs) !== undefined);
    if (others.length === 0) return true;
    const [most] = others.sort(([, a], [, b]) => agreeing(b, sums) - agreeing(a, sums));
    const lead = agreeing(own, sums) - agreeing(most![1], sums);
    this.#parts.undecided(index, differingTable(own, most![1])!, lead < 0 ? most![0] : undefined);
    return lead > 0;
  }
}

/** The sums that more than half of all members report. */
const majority = (sums: ReadonlyMap<NodeId, Sums>, members: number): Sums | undefined =>
  [...sums.values()].find((each) => agreeing(each, sums) > members / 2);

/** How many members report these sums. */
const agreeing = (wanted: Sums, sums: ReadonlyMap<NodeId, Sums>): number =>
  [...sums.values()].filter((each) => differingTable(wanted, each) === undefined).length;

/** The first table in which two states differ; undefined when they are equal. */
export function differingTable(a: Sums, b: Sums): string | undefined {
  const tables = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return tables.find((table) => a[table] !== b[table]);
}
