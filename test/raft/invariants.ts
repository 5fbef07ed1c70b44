/**
 * What must hold at every moment of a Raft cluster, whatever fails (thesis figure 3.2, §4, §6.4).
 * The checks look from outside: at the logs on disk, the messages, and the inputs and outputs of
 * the cores. They are incremental, to run at every step, in random worlds and the simulation.
 */
import type {
  Configuration,
  Entry,
  HardState,
  Index,
  Message,
  NodeId,
  RaftStatus,
  RoleChange,
  SnapshotMeta,
  Term,
} from '../../src/raft/types.js';
import { Acknowledgements } from './acknowledgements.js';
import { LeaseInvariants, type LeaseStep } from './lease-invariants.js';
import { withTail } from './sights.js';
import { Violation } from './violation.js';

/** A log as the process sees it, or as a power cut would leave it. */
export interface LogSight {
  readonly hard: HardState;
  /** Set while the server may have lost entries up to `index` that it acknowledged. */
  readonly bar?: { readonly index: Index } | undefined;
  first(): Index;
  last(): Index;
  at(index: Index): Entry | undefined;
  term(index: Index): Term | undefined;
}

export interface DiskSight {
  readonly durable: LogSight;
  /** The contents of the disk before it was wiped. */
  readonly before?: LogSight | undefined;
  /** Every vote that was ever durable, by term. */
  readonly votes: { get(term: Term): NodeId | undefined };
}

/** One step of a core, before its output takes effect. */
export interface Step extends LeaseStep {
  readonly before: RaftStatus;
  /** The log as it was before the entries of the output. */
  readonly log: LogSight;
}

/** What is known of one server, across its restarts. */
interface Server {
  readonly disk: DiskSight;
  /** The newest promise to a leader: all up to `index` matches that leader's log and is durable. */
  promised: { term: Term; index: Index };
  /** The commit index since the last start. */
  commit: Index;
  /** Entries that only this server has seen since its last start, as keys of the chain. */
  readonly unsent: Set<number>;
}

interface Committed {
  readonly entry: Entry;
  /** Term of the server that first committed it: leaders of later terms must have it. */
  readonly knownIn: Term;
}

/** Terms stay far below this, so (index, term) fits one safe integer. */
const TERM_SPAN = 1_000_000;
const place = (index: Index, term: Term): number => index * TERM_SPAN + term;

export class RaftInvariants {
  readonly #servers = new Map<NodeId, Server>();
  readonly #leaders = new Map<Term, NodeId>();
  readonly #votes = new Map<string, NodeId>();
  /** Every (index, term) ever in a log, with its entry and the term before it: log matching. */
  readonly #chain = new Map<number, { entry: Entry; prevTerm: Term }>();
  /** Position i holds the committed entry of index i + 1. */
  readonly #committed: Committed[] = [];
  readonly #acknowledgements = new Acknowledgements();
  readonly leases = new LeaseInvariants();

  addServer(id: NodeId, disk: DiskSight): void {
    this.#servers.set(id, {
      ...{ disk, promised: { term: 0, index: 0 }, commit: 0, unsent: new Set() },
    });
  }

  /** A restart: promises and the disk stay, memory is lost. */
  restarted(id: NodeId): void {
    const server = this.#server(id);
    server.commit = 0;
    // A lone voter that crashes before its vote is durable may lead that term again.
    const { durable } = server.disk;
    for (const key of server.unsent) {
      const { entry } = this.#chain.get(key)!;
      if (durable.term(entry.index) !== entry.term) this.#chain.delete(key);
    }
    server.unsent.clear();
    this.leases.restarted(id);
  }

  /** The cluster begins with a snapshot: all up to its index counts as committed. */
  adopt({ index, term, configuration }: SnapshotMeta): void {
    const committed = (at: Index): Entry => ({
      kind: 'configuration',
      index: at,
      term,
      configuration,
    });
    for (let at = 1; at <= index; at++) this.#committed.push({ entry: committed(at), knownIn: 0 });
  }

  get committedIndex(): Index {
    return this.#committed.length;
  }
  committedAt(index: Index): Entry | undefined {
    return this.#committed[index - 1]?.entry;
  }
  get terms(): number {
    return this.#leaders.size;
  }

  // --- steps ---

  stepped(id: NodeId, step: Step): void {
    const { output, before, after, log } = step;
    const { role, commit } = output;
    this.leases.stepped(id, step, this.committedIndex);
    this.#acknowledgements.stepped(step);
    for (const entry of before.role === 'leader' ? output.entries : [])
      if (entry.kind === 'configuration' && entry.term === before.term)
        this.#reconfigures(id, entry.configuration, before, commit ?? before.commit, log);
    if (!role && commit === undefined) return;
    const tail = withTail(log, output.entries);
    if (role) {
      const { members } = after.configuration;
      this.#role(id, role, tail, members.filter((member) => member.voter).length);
    }
    if (commit !== undefined) this.#commit(id, commit, tail, after, before.configuration);
  }

  // --- logs ---

  /** Entries are about to replace everything from their first index on. */
  appending(id: NodeId, log: LogSight, entries: readonly Entry[], term: Term): void {
    const first = entries[0]?.index;
    if (first === undefined) return;
    this.#checkTruncation(id, log, entries, term);
    const server = this.#server(id);
    let prevTerm = log.term(first - 1) ?? -1;
    for (const entry of entries) {
      const key = place(entry.index, entry.term);
      const known = this.#chain.get(key);
      if (!known) {
        this.#chain.set(key, { entry, prevTerm });
        server.unsent.add(key);
      } else if (!sameEntry(known.entry, entry) || known.prevTerm !== prevTerm)
        throw new Violation(
          'log matching',
          `${id} stores another entry at index ${entry.index} of term ${entry.term} than a log held before`,
        );
      const fixed = this.#committed[entry.index - 1];
      // Entries proposed, or taken from an earlier leader, in the turn of learning a later term.
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

  #checkTruncation(id: NodeId, log: LogSight, entries: readonly Entry[], term: Term): void {
    const { commit, promised } = this.#server(id);
    const first = entries[0]!.index;
    const last = entries.at(-1)!.index;
    const lost = (index: Index): boolean =>
      index <= log.last() && (index > last || entries[index - first]?.term !== log.term(index));
    for (let index = first; index <= Math.max(commit, promised.index); index++) {
      if (!lost(index)) continue;
      // The commit index may have risen in the same step, over entries that this write brings.
      const isCommitted = log.term(index) === this.#committed[index - 1]?.entry.term;
      if (index <= commit && isCommitted)
        throw new Violation(
          'committed is final',
          `${id} cuts its log (${log.first()}..${log.last()}) at committed index ${index} for entries ${first}..${last} in term ${term}`,
        );
      // a damaged log may hold older entries in place of those that it acknowledged
      if (index <= Math.min(last, log.bar?.index ?? 0)) continue;
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
    this.leases.sent(message);
    if (message.type === 'append')
      for (const { index, term } of message.entries) server.unsent.delete(place(index, term));
    if (message.type === 'voteResponse' && message.granted) {
      // Unless a later term is on disk: then this term sees no other vote either.
      if (server.disk.votes.get(message.term) !== message.to && durable.hard.term <= message.term)
        throw new Violation(
          'votes are durable',
          `${message.from} grants ${message.to} its vote in term ${message.term}, but on disk is ${JSON.stringify(durable.hard)}`,
        );
      this.#vote(message.from, message.term, message.to);
    }
    if (message.type === 'appendResponse' && message.success) {
      this.#acknowledgements.check(message, durable);
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

  #role(id: NodeId, change: RoleChange, log: LogSight, voters: number): void {
    if (change.role !== 'leader') return;
    const { term } = change;
    const known = this.#leaders.get(term);
    if (known !== undefined && known !== id)
      throw new Violation('one leader per term', `${id} and ${known} both lead term ${term}`);
    if (known === id) return;
    this.#leaders.set(term, id);
    const { hard } = this.#server(id).disk.durable;
    // A lone voter needs no other vote. What it promises too early is checked where it promises.
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
   * A leader appends a configuration: one server differs, the one before is committed, and so is an
   * entry of the leader's own term (§4.1, and its correction of 2015).
   */
  #reconfigures(
    id: NodeId,
    next: Configuration,
    before: RaftStatus,
    commit: Index,
    log: LogSight,
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
  #commit(
    id: NodeId,
    index: Index,
    log: LogSight,
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
    log: LogSight,
    status: RaftStatus,
    before: Configuration,
  ): void {
    const term = log.term(index)!;
    if (status.role === 'leader' && term !== status.term)
      throw new Violation(
        'own term only',
        `${id} leads term ${status.term} and commits index ${index} of term ${term} by counting`,
      );
    // One step may commit under the old configuration and then append a new one.
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
      // A wiped server had what it acknowledged, and is never counted again.
      const durable = disk?.before ?? disk?.durable;
      if (!durable) return false;
      // A damaged server had the entries that it lost, and does not vote until it has them again.
      const wasHeld = durable.bar !== undefined && index <= durable.bar.index;
      return wasHeld || index < durable.first() - 1 || durable.term(index) === term;
    });
    return holders.length * 2 > voters.length;
  }

  /** A snapshot has replaced a server's log and state. */
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

  /** A snapshot is about to replace a server's log. */
  resetting(id: NodeId, log: LogSight, meta: SnapshotMeta): void {
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

  #server(id: NodeId): Server {
    const server = this.#servers.get(id);
    if (!server) throw new Error(`no server ${id}`);
    return server;
  }
}

/** Whether two entries are the same, content included. */
export function sameEntry(a: Entry, b: Entry): boolean {
  if (a === b) return true;
  if (a.index !== b.index || a.term !== b.term || a.kind !== b.kind) return false;
  if (a.kind === 'command' && b.kind === 'command') return Buffer.compare(a.data, b.data) === 0;
  if (a.kind === 'configuration' && b.kind === 'configuration')
    return JSON.stringify(a.configuration) === JSON.stringify(b.configuration);
  return true;
}
