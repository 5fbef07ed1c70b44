/**
 * Do the members hold the same state? The leader compares checksums at equal indexes now and then. Whose state differs
 * from the majority's is told so and stops serving; where too few can be compared, that is counted, never taken for a yes.
 * A leader whose state then has fewer on its side lets another one lead. A state is copied to those who lack one only while
 * more have it than any other: a wrong one would else make its own majority.
 */
import type { Index, NodeId, Term } from '../../raft/types.js';
import type { WirePort } from '../ports.js';
import { decodeResponse, encodeRequest, type RpcResponse, type Sums } from '../rpc.js';

/** Where the checksums come from (the state machine). */
export interface ChecksumPort {
  /** The sums at an index that every member passes through; without `index` the newest such. */
  checkpoint(index?: Index): { readonly index: Index; readonly sums: Sums } | undefined;
  /** The sums of the present state. */
  checksum(): { readonly index: Index; readonly sums: Sums };
}

export interface StateComparisonParts {
  readonly id: NodeId;
  readonly wire: WirePort;
  readonly checksums: ChecksumPort;
  readonly peers: () => readonly NodeId[];
  readonly timeoutMs: number;
  /** This node's state differs from the majority's. */
  readonly differs: (index: Index, table: string) => void;
  /** Members differ, and too few can be compared to tell who is right. `heir`: whose state more of them have than this node's. */
  readonly undecided: (index: Index, table: string, heir: NodeId | undefined) => void;
}

export class StateComparison {
  /** Comparisons that came to an end, members that could not be compared in them, members that differed. */
  readonly stats = { rounds: 0, incomparable: 0, differing: 0 };
  readonly #parts: StateComparisonParts;
  #compared: Index = 0;
  /** Where the last comparison was in vain: who has started since knows no checkpoint, who is busy not the present index. */
  #vain: Index = 0;
  #running = false;
  /** Of the last comparison: the leader's term, and whether more had this node's state than any other. */
  #last: { readonly term: Term; readonly leads: boolean } | undefined;

  constructor(parts: StateComparisonParts) {
    this.#parts = parts;
  }

  /** Answers a leader. */
  answer(index: Index): RpcResponse {
    const { checksums } = this.#parts;
    const present = checksums.checksum();
    const found = present.index === index ? present : checksums.checkpoint(index);
    return found === undefined ? { type: 'retry' } : { type: 'sums', ...found };
  }

  /** Whether the leader of this term may give others its state. Compares, in a term of which nothing was compared yet. */
  mayCopy(term: Term): boolean {
    if (this.#last?.term !== term) this.compare(term);
    return this.#last?.term === term && this.#last.leads;
  }

  /**
   * Compares once; called on the leader of `term`. At rest too: who starts again applies a part of its log again, and may do
   * that wrongly at an index where it was right before.
   */
  compare(term: Term): void {
    const { checksums, wire, timeoutMs, id } = this.#parts;
    const peers = this.#parts.peers().filter((peer) => peer !== id);
    if (peers.length === 0) this.#last = { term, leads: true };
    if (this.#running || peers.length === 0) return;
    const checkpoint = checksums.checkpoint();
    const isNew =
      checkpoint !== undefined &&
      checkpoint.index > this.#compared &&
      checkpoint.index !== this.#vain;
    const own = isNew ? checkpoint : checksums.checksum();
    this.#running = true;
    const sums = new Map<NodeId, Sums>([[id, own.sums]]);
    let missing = peers.length;
    for (const peer of peers) {
      wire.request(peer, encodeRequest({ type: 'sums', index: own.index }), timeoutMs, (bytes) => {
        const answer = bytes === undefined ? undefined : decodeResponse(bytes);
        if (answer?.type === 'sums' && answer.index === own.index) sums.set(peer, answer.sums);
        missing -= 1;
        if (missing === 0)
          this.#last = { term, leads: this.#judge(own.index, sums, peers.length + 1) };
      });
    }
  }

  /** Whether more have this node's state than any other. */
  #judge(index: Index, sums: ReadonlyMap<NodeId, Sums>, members: number): boolean {
    this.#running = false;
    this.stats.rounds += 1;
    this.stats.incomparable += members - sums.size;
    this.#vain = sums.size < members ? index : 0;
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
        const verdict = encodeRequest({ type: 'differs', index, table });
        this.#parts.wire.request(id, verdict, this.#parts.timeoutMs, () => {});
      }
    }
    // A verdict may be lost on its way: who differs is asked again, though nothing new is written.
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

/** The sums that more than half of all members have. */
const majority = (sums: ReadonlyMap<NodeId, Sums>, members: number): Sums | undefined =>
  [...sums.values()].find((each) => agreeing(each, sums) > members / 2);

/** How many have these sums. */
const agreeing = (wanted: Sums, sums: ReadonlyMap<NodeId, Sums>): number =>
  [...sums.values()].filter((each) => differingTable(wanted, each) === undefined).length;

/** The first table in which two states differ. */
export function differingTable(a: Sums, b: Sums): string | undefined {
  const tables = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return tables.find((table) => a[table] !== b[table]);
}
