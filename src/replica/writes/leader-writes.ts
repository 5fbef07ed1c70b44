/**
 * Writes on the leader. Once the first entry of its term is applied, and all that is committed when
 * the write comes, it authorises the caller against the applied state, proposes the command, and
 * waits until the command is applied. A request id that is already proposed or applied is not
 * proposed again.
 */
import { type Refusal, refusal } from '../../base/errors.js';
import { COMMAND_BYTES_MAX } from '../../base/wire-limits.js';
import type { Index, RoleChange, Term } from '../../raft/types.js';
import { decodeProposal } from '../../state/proposal.js';
import type { Command, Proposal, Result, View } from '../../state/types.js';
import type { RaftLoop } from '../loop.js';
import type { MachinePort } from '../ports.js';
import type { AppliedIndex } from '../reads/applied-index.js';
import type { Gate, PrepareGate } from '../types.js';
import type { Outcome } from './pending-writes.js';

/**
 * The outcome of one attempt at this server. After `unknown` alone the write may still take effect.
 */
export type Attempt =
  | { readonly type: 'applied'; readonly result: Result }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  | { readonly type: 'retry' }
  | { readonly type: 'unknown' };

export interface LeaderWritesParts {
  readonly loop: RaftLoop;
  readonly machine: MachinePort;
  readonly applied: AppliedIndex;
  readonly view: View;
  readonly gate: Gate;
  /** Calls back when the gate can decide about a caller without long work. */
  readonly prepareGate?: PrepareGate | undefined;
  /**
   * Whether this server does not serve or its disk hangs. It transfers leadership, and the next
   * leader takes the write.
   */
  readonly isUnfit: () => boolean;
  /** Why this server refuses a command at present: its disk is down to the reserve. */
  readonly closedFor: (command: Command) => Refusal | undefined;
  /** Whether no member has room. Otherwise leadership is transferred to one that has. */
  readonly isFullEverywhere: () => boolean;
  /** Proposals that may be open. More writes are refused. */
  readonly pendingWrites: number;
  /** Ticks that a new leader may take to apply what is committed. */
  readonly lateTicks: number;
}

/** A write as it is sent between servers. */
export interface EncodedWrite {
  readonly tokenKey: string | null;
  readonly data: Uint8Array;
}

type Done = (attempt: Attempt) => void;

/** Authorises and proposes writes, on the leader. */
export class LeaderWrites {
  readonly #parts: LeaderWritesParts;
  /**
   * The term of this leader and the index of its first entry; undefined while this server does not
   * lead.
   */
  #leads: { readonly term: Term; readonly firstIndex: Index } | undefined;
  /** Ticks since that entry was committed, while it is not applied. */
  #lateTicks = 0;
  /** Callers that wait until that entry, or a later one, is applied. */
  #notReady: Done[] = [];

  constructor(parts: LeaderWritesParts) {
    this.#parts = parts;
  }

  /**
   * The role changed. A new leader has applied all acknowledged writes only once its own first
   * entry is applied (§6.4).
   */
  role(change: RoleChange): void {
    if (change.role === 'leader') {
      if (this.#leads?.term === change.term) return;
      this.#leads = { term: change.term, firstIndex: this.#parts.loop.status().lastIndex };
    } else {
      this.#leads = undefined;
    }
    for (const done of this.#notReady.splice(0)) done({ type: 'retry' });
  }

  /** Counts a tick; see `isLate`. */
  tick(): void {
    const { loop, machine } = this.#parts;
    const first = this.#leads?.firstIndex ?? 0;
    const isWaiting = machine.appliedIndex() < first && loop.status().commit >= first;
    this.#lateTicks = isWaiting ? this.#lateTicks + 1 : 0;
  }

  /**
   * Whether this leader has been applying entries of earlier terms for too long since its first
   * entry was committed: it was away, or its disk is slow. It serves nobody meanwhile, and another
   * member may have applied them already.
   */
  get isLate(): boolean {
    return this.#lateTicks > this.#parts.lateTicks;
  }

  /**
   * Ends all calls: writes not yet proposed may be retried, the outcome of proposed ones is
   * unknown.
   */
  stop(): void {
    for (const done of this.#notReady.splice(0)) done({ type: 'retry' });
    this.#parts.loop.endProposals();
  }

  write({ tokenKey, data }: EncodedWrite, done: Done): void {
    const tooLarge = sizeProblem(data);
    if (tooLarge !== undefined) {
      done({ type: 'refused', refusal: tooLarge });
      return;
    }
    const proposal = tryDecode(data);
    if (proposal === undefined) {
      done({ type: 'refused', refusal: unreadable() });
      return;
    }
    this.accept(proposal, { tokenKey, data }, done);
  }

  /**
   * The same for a write whose command is known, as that of a client of this server. It is judged
   * by all that was committed before it came: a leader with a slow disk applies that later than
   * others, who may have acknowledged that a right was taken.
   */
  accept(proposal: Proposal, write: EncodedWrite, done: Done): void {
    const { commit } = this.#parts.loop.status();
    this.#whenReady(commit, done, () =>
      this.#prepared(write, () =>
        this.#whenReady(commit, done, () => this.#decide(proposal, write, done)),
      ),
    );
  }

  #prepared({ tokenKey }: EncodedWrite, run: () => void): void {
    const { prepareGate } = this.#parts;
    if (prepareGate === undefined) run();
    else prepareGate(tokenKey, run);
  }

  #whenReady(commit: Index, done: Done, run: () => void): void {
    if (this.#leads === undefined) {
      done({ type: 'retry' });
      return;
    }
    const index = Math.max(this.#leads.firstIndex, commit);
    if (this.#parts.machine.appliedIndex() >= index) {
      run();
      return;
    }
    this.#notReady.push(done);
    this.#parts.applied.when(index, () => {
      const at = this.#notReady.indexOf(done);
      if (at < 0) return;
      this.#notReady.splice(at, 1);
      run();
    });
  }

  #decide(proposal: Proposal, write: EncodedWrite, done: Done): void {
    const result = this.#parts.machine.remembered(proposal.id);
    if (result !== undefined) {
      done({ type: 'applied', result });
      return;
    }
    const settle = (outcome: Outcome): void => done(attemptOf(outcome));
    if (this.#parts.loop.joinProposal(proposal.id, settle)) return;
    const closed = this.#parts.closedFor(proposal.command);
    if (this.#parts.isUnfit()) done({ type: 'retry' });
    else if (closed !== undefined && !this.#parts.isFullEverywhere()) done({ type: 'retry' });
    else if (closed !== undefined) done({ type: 'refused', refusal: closed });
    else if (this.#parts.loop.pending >= this.#parts.pendingWrites) done(overloaded());
    else if (this.#gate(proposal, write) === undefined) this.#propose(proposal, write, done);
    else this.#askAgain(proposal, write, done);
  }

  /** Authorises a command. Nobody has checked its fields: a peer may have sent others, or none. */
  #gate({ command }: Proposal, { tokenKey }: EncodedWrite): Refusal | undefined {
    try {
      return this.#parts.gate(this.#parts.view, tokenKey, command);
    } catch (error) {
      // Any other error, such as a disk that cannot be read, is not caused by the command.
      if (error instanceof TypeError || error instanceof SyntaxError) return unreadable();
      throw error;
    }
  }

  /**
   * The gate refused. A leader that was deposed without knowing judges by an old state, so a
   * refusal counts only behind a read barrier. A permission needs none: a deposed leader commits
   * nothing, and any other has applied what it knew to be committed when the write came.
   */
  #askAgain(proposal: Proposal, write: EncodedWrite, done: Done): void {
    this.#parts.loop.read('lease', (index) => {
      if (index === undefined) {
        done({ type: 'retry' });
        return;
      }
      this.#parts.applied.when(index, () =>
        this.#prepared(write, () => {
          const refused = this.#gate(proposal, write);
          if (refused === undefined) this.#propose(proposal, write, done);
          else done({ type: 'refused', refusal: refused });
        }),
      );
    });
  }

  #propose(proposal: Proposal, write: EncodedWrite, done: Done): void {
    const settle = (outcome: Outcome): void => done(attemptOf(outcome));
    if (this.#parts.loop.joinProposal(proposal.id, settle)) return;
    this.#parts.loop.propose(write.data, settle, proposal.id);
  }
}

function attemptOf(outcome: Outcome): Attempt {
  switch (outcome.kind) {
    case 'applied':
      if (outcome.result === undefined) throw new Error(`no result at index ${outcome.index}`);
      return { type: 'applied', result: outcome.result };
    case 'unknown':
      return { type: 'unknown' };
    case 'dropped':
      return outcome.reason === 'overloaded' ? overloaded() : { type: 'retry' };
  }
}

/**
 * Why an encoded command cannot be replicated: it does not fit into a message. Undefined if it
 * does.
 */
export function sizeProblem(data: Uint8Array): Refusal | undefined {
  if (data.length <= COMMAND_BYTES_MAX) return undefined;
  const why =
    `The write is too large: its command has ${data.length} bytes, ` +
    `at most ${COMMAND_BYTES_MAX} are replicated`;
  return refusal('too_large', why, { hint: 'Split the object into smaller ones' });
}

const unreadable = (): Refusal => refusal('invalid', 'The forwarded write could not be decoded');

function overloaded(): Attempt {
  const why = refusal('too_many', 'Too many writes are in progress on the leader; try again later');
  return { type: 'refused', refusal: why };
}

/**
 * Decodes a forwarded write. It is not committed, so one that cannot be decoded is refused and the
 * server goes on.
 */
function tryDecode(data: Uint8Array): Proposal | undefined {
  try {
    return decodeProposal(data);
  } catch {
    return undefined;
  }
}
