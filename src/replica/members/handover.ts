/**
 * Leadership transfer (§3.10) of a leader that should not lead: one that does not serve, one whose
 * disk hangs, one whose disk is at its reserve while another member has room, and one that is still
 * applying entries of earlier terms while another member has applied them.
 */
import type { NodeId } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { ReplicaLimits } from '../options.js';
import type { ClockPort } from '../ports.js';
import type { Rpc } from '../rpc.js';

export interface HandoverParts {
  readonly id: NodeId;
  readonly loop: RaftLoop;
  readonly rpc: Rpc;
  readonly clock: Pick<ClockPort, 'after'>;
  readonly limits: Pick<ReplicaLimits, 'askMs' | 'promoteLagMax'>;
  /** False while this disk is at its reserve. Absent: it never is. */
  readonly hasRoom?: (() => boolean) | undefined;
  /** Transfers leadership, if this server leads. `done` is called when that has ended. */
  readonly transfer: (done: () => void) => void;
}

/** Ticks that one successor has to catch up before another one is tried. */
const TRANSFER_TICKS = 32;
/** Ticks between two rounds of room requests. Between rounds the leader takes deletes. */
const ROUND_TICKS = 50;

/** One round of room requests to the other voters. */
interface Round {
  /** The tick it began. */
  readonly since: number;
  readonly successors: NodeId[];
  /** Responses still to come. */
  open: number;
}

/** Transfers the leadership of a leader that should not lead. */
export class Handover {
  readonly #parts: HandoverParts;
  #ticks = 0;
  /**
   * The transfer in progress: its term, the tick it began, and the attempt number, which chooses
   * the successor.
   */
  #transfer = { term: 0, since: 0, attempt: 0 };
  /**
   * The last round of room requests; undefined while this server does not lead, or has room and is
   * not late.
   */
  #round: Round | undefined;
  /** Voters that could take over, according to the last complete round. */
  #successors: readonly NodeId[] | undefined;

  constructor(parts: HandoverParts) {
    this.#parts = parts;
  }

  /**
   * Counts a tick. `isUnfit`: this server does not serve, or its disk hangs. `isLate`: see
   * LeaderWrites.isLate.
   */
  tick(isUnfit: boolean, isLate: boolean): void {
    this.#ticks += 1;
    // Repeated on every tick: at first there may be no voter that can take over.
    if (isUnfit) this.stepDown();
    else this.#lookForSuccessor(isLate);
  }

  /**
   * Transfers leadership, if this server leads: to the next voter in turn, and to another one if
   * that takes too long. Two unfit servers would otherwise transfer it to each other for ever, as
   * neither knows of the other's fault.
   */
  stepDown(): void {
    const { loop } = this.#parts;
    const { role, term } = loop.role;
    if (role !== 'leader') return;
    const voters = this.#otherVoters();
    const last = this.#transfer;
    if (term !== last.term || this.#ticks - last.since >= TRANSFER_TICKS)
      this.#transfer = { term, since: this.#ticks, attempt: last.attempt + 1 };
    loop.transfer(voters[this.#transfer.attempt % voters.length]);
  }

  /**
   * Transfers leadership before a stop. `done` is called once: when another server leads, when
   * there is none that could, or after `withinMs`. Returns a function that ends the wait.
   */
  beforeStop(withinMs: number, done: () => void): () => void {
    const { loop, clock, transfer } = this.#parts;
    if (loop.role.role !== 'leader' || this.#otherVoters().length === 0) {
      done();
      return () => {};
    }
    let open = true;
    const end = (): void => {
      if (!open) return;
      open = false;
      cancel();
      done();
    };
    const cancel = clock.after(withinMs, end);
    transfer(end);
    return end;
  }

  /** Whether neither this leader nor any voter that could replace it has room. */
  get isFullEverywhere(): boolean {
    return !this.#hasRoom && this.#successors?.length === 0;
  }

  get #hasRoom(): boolean {
    return this.#parts.hasRoom?.() ?? true;
  }

  /**
   * A leader at its reserve asks the others, and transfers only to a voter that has room: two full
   * servers would otherwise transfer leadership to each other, and deletes would wait for that. A
   * late leader does the same.
   */
  #lookForSuccessor(isLate: boolean): void {
    if (this.#parts.loop.role.role !== 'leader' || (this.#hasRoom && !isLate)) {
      this.#round = undefined;
      this.#successors = undefined;
      return;
    }
    const last = this.#round;
    if (last !== undefined && (last.open > 0 || this.#ticks - last.since < ROUND_TICKS)) return;
    this.#ask();
  }

  #ask(): void {
    const { rpc, limits } = this.#parts;
    const voters = this.#otherVoters();
    const round: Round = { since: this.#ticks, successors: [], open: voters.length };
    this.#round = round;
    if (voters.length === 0) this.#successors = [];
    for (const voter of voters) {
      rpc.call(voter, { type: 'room' }, limits.askMs, ({ type }) => {
        if (type === 'done') round.successors.push(voter);
        round.open -= 1;
        if (round.open === 0 && round === this.#round) this.#transferToRoom(round.successors);
      });
    }
  }

  #transferToRoom(withRoom: readonly NodeId[]): void {
    const { loop, limits } = this.#parts;
    const { progress, commit } = loop.status();
    // The transfer holds up proposals while the successor catches up.
    const successors = withRoom.filter((voter) =>
      progress.some(({ id, match }) => id === voter && commit - match <= limits.promoteLagMax),
    );
    this.#successors = successors;
    if (successors.length === 0) return;
    this.#transfer = { ...this.#transfer, attempt: this.#transfer.attempt + 1 };
    loop.transfer(successors[this.#transfer.attempt % successors.length]);
  }

  #otherVoters(): NodeId[] {
    const { loop, id: self } = this.#parts;
    const { members } = loop.status().configuration;
    return members.filter(({ id, voter }) => voter && id !== self).map(({ id }) => id);
  }
}
