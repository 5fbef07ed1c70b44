/**
 * What must hold at every moment of a simulated world, whatever fails (Raft, figure 3.2, and the laws of the design). The
 * invariants look at everything from outside: the logs on the platters, the messages sent, the outputs of the cores, what
 * clients were told. Each check is incremental, so that it can run at every step.
 */
import type {
  Configuration,
  Entry,
  Index,
  Message,
  NodeId,
  RaftStatus,
  RoleChange,
  SnapshotMeta,
  Term,
} from '../../src/raft/types.js';
import type { LogContent, SimDisk } from './disk.js';

export class Violation extends Error {
  readonly invariant: string;
  constructor(invariant: string, what: string) {
    super(`${invariant}: ${what}`);
    this.name = 'Violation';
    this.invariant = invariant;
  }
}

/** What is known of one server, over all its lives. */
interface Server {
  readonly disk: SimDisk;
  /** The newest promise made to a leader: everything up to `index` matches that leader's log and is durable. */
  promised: { term: Term; index: Index };
  /** The commit index in this life. */
  commit: Index;
}

interface Committed {
  readonly entry: Entry;
  /** Term of the server that first knew it committed: leaders of later terms must have it. */
  readonly knownIn: Term;
}

/** Terms stay far below this, so (index, term) fits one safe integer. */
const TERM_SPAN = 1_000_000;
const place = (index: Index, term: Term): number => index * TERM_SPAN + term;

export class Invariants {
  readonly #servers = new Map<NodeId, Server>();
  readonly #leaders = new Map<Term, NodeId>();
  readonly #votes = new Map<string, NodeId>();
  /** Every (index, term) ever in a log: its entry and the term before it. By induction this is log matching. */
  readonly #chain = new Map<number, { entry: Entry; prevTerm: Term }>();
  /** Position i holds the committed entry of index i + 1. */
  readonly #committed: Committed[] = [];
  readonly #sums = new Map<Index, string>();
  /** Where each client's value took effect; values are unique. */
  readonly #effects = new Map<string, { key: string; index: Index }>();
  readonly #byKey = new Map<string, { index: Index; value: string }[]>();
  readonly #failed = new Set<string>();
  /** The highest place in the order of operations that a client knows to be done. */
  #acknowledged: Index = 0;

  addServer(id: NodeId, disk: SimDisk): void {
    this.#servers.set(id, { disk, promised: { term: 0, index: 0 }, commit: 0 });
  }

  /** A new life: commit index and promises of the disk stay, memory is gone. */
  restarted(id: NodeId): void {
    this.#server(id).commit = 0;
  }

  get committedIndex(): Index {
    return this.#committed.length;
  }
  get terms(): number {
    return this.#leaders.size;
  }
  get acknowledged(): Index {
    return this.#acknowledged;
  }

  // --- logs ---

  /** Entries are about to replace everything from their first index on. */
  appending(id: NodeId, log: LogContent, entries: readonly Entry[], term: Term): void {
    const first = entries[0]?.index;
    if (first === undefined) return;
    this.#checkTruncation(id, log, entries, term);
    let prevTerm = log.term(first - 1) ?? -1;
    for (const entry of entries) {
      const key = place(entry.index, entry.term);
      const known = this.#chain.get(key);
      if (!known) this.#chain.set(key, { entry, prevTerm });
      else if (!sameEntry(known.entry, entry) || known.prevTerm !== prevTerm)
        throw new Violation(
          'log matching',
          `${id} stores another entry at index ${entry.index} of term ${entry.term} than a log held before`,
        );
      const fixed = this.#committed[entry.index - 1];
      // what it proposed or took from an earlier leader, in the very turn in which it also heard of a later term
      const isTakenBefore =
        entry.term < term && fixed !== undefined && log.hard.term < fixed.knownIn;
      if (fixed && fixed.entry.term !== entry.term && term >= fixed.knownIn && !isTakenBefore)
        throw new Violation(
          'leader completeness',
          `${id} in term ${term} stores term ${entry.term} at index ${entry.index}, where term ${fixed.entry.term} is committed`,
        );
      prevTerm = entry.term;
    }
  }

  #checkTruncation(id: NodeId, log: LogContent, entries: readonly Entry[], term: Term): void {
    const server = this.#server(id);
    const first = entries[0]!.index;
    const last = entries.at(-1)!.index;
    if (first > log.last()) return;
    const lost = (index: Index): boolean =>
      index <= log.last() && (index > last || entries[index - first]?.term !== log.term(index));
    const { promised } = server;
    for (let index = first; index <= Math.max(server.commit, promised.index); index++) {
      if (!lost(index)) continue;
      // the commit index may have risen in the same step, over entries that this very write brings
      const isCommitted = log.term(index) === this.#committed[index - 1]?.entry.term;
      if (index <= server.commit && isCommitted)
        throw new Violation(
          'committed is final',
          `${id} cuts its log (${log.first()}..${log.last()}) at committed index ${index} for entries ${first}..${last} in term ${term}`,
        );
      if (index <= promised.index && term <= promised.term)
        throw new Violation(
          'promises are kept',
          `${id} cuts index ${index} in term ${term}, having acknowledged up to ${promised.index} in term ${promised.term}`,
        );
    }
  }

  // --- messages ---

  sent(message: Message): void {
    const server = this.#servers.get(message.from);
    if (!server) return;
    const { durable } = server.disk;
    this.#checkLeads(message, message.term);
    if (message.type === 'voteResponse' && message.granted) {
      // or a later term is on disk: then this one sees no other vote either
      if (server.disk.votes.get(message.term) !== message.to && durable.hard.term <= message.term)
        throw new Violation(
          'votes are durable',
          `${message.from} grants ${message.to} its vote in term ${message.term}, but on disk is ${JSON.stringify(durable.hard)}`,
        );
      this.#vote(message.from, message.term, message.to);
    }
    if (message.type === 'appendResponse' && message.success) {
      const covered = message.index <= durable.last() || message.index < durable.first();
      // an answer of an earlier term may be late, and what it spoke of be replaced
      if (durable.hard.term !== message.term ? durable.hard.term < message.term : !covered)
        throw new Violation(
          'acknowledged is durable',
          `${message.from} acknowledges index ${message.index} in term ${message.term}; on disk is ${durable.last()} in term ${durable.hard.term}`,
        );
      const { promised } = server;
      if (message.term > promised.term || message.index > promised.index)
        server.promised = { term: message.term, index: message.index };
    }
  }

  #vote(voter: NodeId, term: Term, candidate: NodeId): void {
    const key = `${voter} ${term}`;
    const known = this.#votes.get(key);
    if (known !== undefined && known !== candidate)
      throw new Violation(
        'one vote per term',
        `${voter} votes for ${candidate} in term ${term}, having voted for ${known}`,
      );
    this.#votes.set(key, candidate);
  }

  // --- roles and commit ---

  role(id: NodeId, change: RoleChange, log: LogContent, voters: number): void {
    if (change.role !== 'leader') return;
    const { term } = change;
    const known = this.#leaders.get(term);
    if (known !== undefined && known !== id)
      throw new Violation('one leader per term', `${id} and ${known} both lead term ${term}`);
    if (known === id) return;
    this.#leaders.set(term, id);
    const { hard } = this.#server(id).disk.durable;
    // a lone voter needs nobody's vote; what it promises before its own is durable is checked where it promises
    if (voters > 1 && (hard.term !== term || hard.votedFor !== id))
      throw new Violation(
        'votes are durable',
        `${id} leads term ${term}, but its own vote is not on disk: ${JSON.stringify(hard)}`,
      );
    this.#vote(id, term, id);
    for (let at = this.#committed.length - 1; at >= 0; at--) {
      const { entry, knownIn } = this.#committed[at]!;
      if (knownIn >= term) continue;
      if (entry.index >= log.first() - 1 && log.term(entry.index) !== entry.term)
        throw new Violation(
          'leader completeness',
          `${id} leads term ${term} without the entry of index ${entry.index} and term ${entry.term}, committed in term ${knownIn}`,
        );
      break;
    }
  }

  #checkLeads(message: Message, term: Term): void {
    if (message.type !== 'append' && message.type !== 'snapshot') return;
    if (this.#leaders.get(term) !== message.from)
      throw new Violation(
        'one leader per term',
        `${message.from} sends ${message.type} in ${term}`,
      );
    if (this.#servers.get(message.from)!.disk.durable.hard.term < term)
      throw new Violation(
        'votes are durable',
        `${message.from} leads ${term} before its disk knows`,
      );
  }

  /**
   * A leader appends a configuration: one server differs, the one before is committed, and so is an entry of the leader's
   * own term (§4.1, and its correction of 2015).
   */
  reconfigures(
    id: NodeId,
    next: Configuration,
    before: RaftStatus,
    commit: Index,
    log: LogContent,
  ): void {
    const wrong = (why: string): never => {
      throw new Violation('one change at a time', `${id} in term ${before.term}: ${why}`);
    };
    if (before.configurationIndex > commit)
      wrong(`the configuration of ${before.configurationIndex} is not committed, only ${commit}`);
    if ((log.term(commit) ?? 0) < before.term) wrong(`nothing of its own term is committed`);
    const votersOf = ({ members }: Configuration): NodeId[] =>
      members.filter((member) => member.voter).map((member) => member.id);
    const [old, now] = [votersOf(before.configuration), votersOf(next)];
    const changes = [
      ...old.filter((voter) => !now.includes(voter)),
      ...now.filter((voter) => !old.includes(voter)),
    ];
    if (changes.length > 1) wrong(`${changes} change at once`);
  }

  /** A server's commit index moved, in a step that began with the configuration `before`. */
  commit(
    id: NodeId,
    index: Index,
    log: LogContent,
    status: RaftStatus,
    before: Configuration,
  ): void {
    const server = this.#server(id);
    if (index < server.commit)
      throw new Violation(
        'committed is final',
        `${id} moves its commit index back from ${server.commit} to ${index}`,
      );
    if (index > log.last())
      throw new Violation('committed is final', `${id} commits ${index} beyond its log's end`);
    for (
      let at = Math.max(server.commit + 1, log.first());
      at <= Math.min(index, this.committedIndex);
      at++
    )
      this.#agrees(id, at, log.term(at));
    if (index > this.committedIndex) this.#extend(id, index, log, status, before);
    server.commit = index;
  }

  #agrees(id: NodeId, index: Index, term: Term | undefined): void {
    const { entry } = this.#committed[index - 1]!;
    if (term !== undefined && entry.term !== term)
      throw new Violation(
        'committed is final',
        `${id} commits term ${term} at index ${index}; elsewhere term ${entry.term} was committed there`,
      );
  }

  #extend(
    id: NodeId,
    index: Index,
    log: LogContent,
    status: RaftStatus,
    before: Configuration,
  ): void {
    const term = log.term(index)!;
    if (status.role === 'leader' && term !== status.term)
      throw new Violation(
        'own term only',
        `${id} leads term ${status.term} and commits index ${index} of term ${term} by counting`,
      );
    // one step may commit by the old configuration and then append a new one
    const isHeld = [status.configuration, before].some((each) => this.#isHeld(each, index, term));
    if (!isHeld)
      throw new Violation(
        'quorum is durable',
        `${id} commits index ${index} of term ${term}, which no majority of ${JSON.stringify(status.configuration.members.map((member) => member.id))} has on disk`,
      );
    for (let at = this.committedIndex + 1; at <= index; at++) {
      const entry = log.at(at);
      if (!entry) throw new Violation('committed is final', `${id} has no entry at ${at}`);
      this.#committed.push({ entry, knownIn: status.term });
    }
  }

  #isHeld({ members }: Configuration, index: Index, term: Term): boolean {
    const voters = members.filter((member) => member.voter);
    const holders = voters.filter(({ id }) => {
      const disk = this.#servers.get(id)?.disk;
      // one that was wiped had what it acknowledged, and is never counted again
      const durable = disk?.before ?? disk?.durable;
      if (!durable) return false;
      // what a damaged server has lost it had, and it does not vote until it has it again
      const wasHeld = durable.bar !== undefined && index <= durable.bar.index;
      return wasHeld || index < durable.first() - 1 || durable.term(index) === term;
    });
    return holders.length * 2 > voters.length;
  }

  /** A server's log and state were exchanged for a snapshot. */
  installed(id: NodeId, meta: SnapshotMeta): void {
    const server = this.#server(id);
    const committed = this.#committed[meta.index - 1];
    if (!committed || committed.entry.term !== meta.term)
      throw new Violation('applied is committed', `${id} installs uncommitted ${meta.index}`);
    const expected = this.#configurationAt(meta.index);
    if (expected && JSON.stringify(expected) !== JSON.stringify(meta.configuration))
      throw new Violation(
        'snapshot has its configuration',
        `${id} installs ${JSON.stringify(meta.configuration)} at ${meta.index}, in force is ${JSON.stringify(expected)}`,
      );
    server.commit = Math.max(server.commit, meta.index);
  }

  /** A server's log is about to be replaced by the position of a snapshot. */
  resetting(id: NodeId, log: LogContent, meta: SnapshotMeta): void {
    const { commit } = this.#server(id);
    if (commit > meta.index && log.last() > meta.index)
      throw new Violation(
        'committed is final',
        `${id} resets its log to ${meta.index}, having committed ${commit}`,
      );
  }

  #configurationAt(index: Index): Configuration | undefined {
    for (let at = index - 1; at >= 0; at--) {
      const { entry } = this.#committed[at]!;
      if (entry.kind === 'configuration') return entry.configuration;
    }
    return undefined;
  }

  // --- state machine ---

  /** The state of a server that was made wrong on purpose is not compared. */
  applied(
    id: NodeId,
    entries: readonly Entry[],
    index: Index,
    checksum: string,
    isWrong = false,
  ): void {
    for (const entry of entries) {
      const committed = this.#committed[entry.index - 1];
      if (!committed)
        throw new Violation('applied is committed', `${id} applies uncommitted ${entry.index}`);
      if (!sameEntry(committed.entry, entry))
        throw new Violation(
          'state machine safety',
          `${id} applies another entry at index ${entry.index} than was committed`,
        );
    }
    if (isWrong) return;
    const known = this.#sums.get(index);
    if (known === undefined) this.#sums.set(index, checksum);
    else if (known !== checksum)
      throw new Violation('equal states', `${id} differs at index ${index}`);
  }

  /** Whether this is the state that right servers have at `index`; undefined when none is known to have been there. */
  isRight(index: Index, checksum: string): boolean | undefined {
    const known = this.#sums.get(index);
    return known === undefined ? undefined : known === checksum;
  }

  /** A command changed a register, on whichever server. */
  effect(key: string, value: string, index: Index): void {
    const known = this.#effects.get(value);
    if (known && known.index !== index)
      throw new Violation(
        'once only',
        `the write of ${value} takes effect at ${known.index} and again at ${index}`,
      );
    if (this.#failed.has(value))
      throw new Violation(
        'failed is failed',
        `the write of ${value} takes effect at ${index}, but its client was told that it did not happen`,
      );
    if (known) return;
    this.#effects.set(value, { key, index });
    const list = this.#byKey.get(key);
    if (list) list.push({ index, value });
    else this.#byKey.set(key, [{ index, value }]);
  }

  /** Where a value took effect. */
  indexOf(value: string): Index | undefined {
    return this.#effects.get(value)?.index;
  }

  // --- clients ---

  /** A client was told that its write certainly did not happen. */
  writeFailed(value: string): void {
    const known = this.#effects.get(value);
    if (known)
      throw new Violation(
        'failed is failed',
        `a client is told that the write of ${value} did not happen, but it did at ${known.index}`,
      );
    this.#failed.add(value);
  }

  /** A write was acknowledged; `floor` is what was acknowledged to anyone when it began. */
  writeDone(value: string, index: Index, floor: Index): void {
    const known = this.#effects.get(value);
    if (known?.index !== index)
      throw new Violation(
        'acknowledged is applied',
        `the write of ${value} is acknowledged at ${index}, it took effect at ${known?.index}`,
      );
    if (index <= floor)
      throw new Violation(
        'linearizable',
        `the write of ${value} is placed at ${index}, but ${floor} was acknowledged before it began`,
      );
    this.#acknowledged = Math.max(this.#acknowledged, index);
  }

  /** A refused compare-and-set: it saw the state just before `index`. */
  refusedAt(index: Index, floor: Index): void {
    if (index <= floor)
      throw new Violation('linearizable', `a refusal at ${index} is older than ${floor}`);
    this.#acknowledged = Math.max(this.#acknowledged, index);
  }

  /** A read answered `value` from the state at `index`. Stale reads are not bound to the present. */
  readDone(key: string, value: string | null, index: Index, floor: Index, stale: boolean): void {
    if (index > this.committedIndex)
      throw new Violation('applied is committed', `a read shows index ${index}, not committed`);
    const expected = this.#valueAt(key, index);
    if (expected !== value)
      throw new Violation(
        'reads show the state',
        `${key} is ${expected} at index ${index}, a read shows ${value}`,
      );
    if (stale) return;
    if (index < floor)
      throw new Violation(
        'linearizable',
        `a read shows index ${index}, but ${floor} was acknowledged before it began`,
      );
    this.#acknowledged = Math.max(this.#acknowledged, index);
  }

  #valueAt(key: string, index: Index): string | null {
    const list = this.#byKey.get(key) ?? [];
    for (let at = list.length - 1; at >= 0; at--)
      if (list[at]!.index <= index) return list[at]!.value;
    return null;
  }

  #server(id: NodeId): Server {
    const server = this.#servers.get(id);
    if (!server) throw new Error(`no server ${id}`);
    return server;
  }
}

function sameEntry(a: Entry, b: Entry): boolean {
  if (a === b) return true;
  if (a.index !== b.index || a.term !== b.term || a.kind !== b.kind) return false;
  if (a.kind === 'command' && b.kind === 'command') return Buffer.compare(a.data, b.data) === 0;
  if (a.kind === 'configuration' && b.kind === 'configuration')
    return JSON.stringify(a.configuration) === JSON.stringify(b.configuration);
  return true;
}
