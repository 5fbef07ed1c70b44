/**
 * A leader that should not lead hands its office over: one that does not serve, one whose disk hangs, and one whose disk
 * is at its reserve while another member has room.
 */
import type { NodeId } from '../../raft/types.js';
import type { RaftLoop } from '../loop.js';
import type { WirePort } from '../ports.js';
import { decodeResponse, encodeRequest } from '../rpc.js';

export interface HandoverParts {
  readonly id: NodeId;
  readonly loop: RaftLoop;
  readonly wire: WirePort;
  /** False while this disk is at its reserve. */
  readonly hasRoom: () => boolean;
  /** Milliseconds that a member has to say whether it has room. */
  readonly askMs: number;
  /** A voter further behind the commit index is not chosen for its room: the transfer would hold up proposals too long. */
  readonly lagMax: number;
}

/** Ticks for which one heir may catch up before another one is tried. */
const HANDING_TICKS = 32;
/** Ticks between two rounds of asking who has room; most of them leave the leader free to take deletes. */
const ROUND_TICKS = 50;

interface Round {
  readonly since: number;
  readonly heirs: NodeId[];
  /** Answers still to come. */
  open: number;
}

export class Handover {
  readonly #parts: HandoverParts;
  #ticks = 0;
  /** To whom leadership is being handed: since which tick, in which term, and which attempt it is. */
  #handing = { term: 0, since: 0, turn: 0 };
  /** The round of questions about room; undefined while this node does not lead or has room itself. */
  #round: Round | undefined;
  /** Who could take over, by the last complete round. */
  #heirs: readonly NodeId[] | undefined;

  constructor(parts: HandoverParts) {
    this.#parts = parts;
  }

  /** A tick has passed. `isUnfit`: this node does not serve, or its disk hangs. */
  tick(isUnfit: boolean): void {
    this.#ticks += 1;
    // Again and again: at first there may be nobody who can take over.
    if (isUnfit) this.abdicate();
    else this.#lookForRoom();
  }

  /**
   * A leader hands over: each time to the next one in turn, and to another one if that takes long. Two that do not serve
   * would else hand leadership to each other for ever, since they know nothing of each other's fault.
   */
  abdicate(): void {
    const { loop } = this.#parts;
    const { role, term } = loop.role;
    if (role !== 'leader') return;
    const heirs = this.#otherVoters();
    const last = this.#handing;
    if (term !== last.term || this.#ticks - last.since >= HANDING_TICKS)
      this.#handing = { term, since: this.#ticks, turn: last.turn + 1 };
    loop.transfer(heirs[this.#handing.turn % heirs.length]);
  }

  /** Nobody has room, neither this leader nor another voter that could lead instead. */
  get isFullEverywhere(): boolean {
    return !this.#parts.hasRoom() && this.#heirs?.length === 0;
  }

  /**
   * A leader at its reserve asks the others, and hands over only to one that has room: two at their reserve would else
   * hand leadership to each other, and deletes would wait for that.
   */
  #lookForRoom(): void {
    const { loop, hasRoom } = this.#parts;
    if (loop.role.role !== 'leader' || hasRoom()) {
      this.#round = undefined;
      this.#heirs = undefined;
      return;
    }
    const last = this.#round;
    if (last !== undefined && (last.open > 0 || this.#ticks - last.since < ROUND_TICKS)) return;
    this.#ask();
  }

  #ask(): void {
    const { wire, askMs } = this.#parts;
    const voters = this.#otherVoters();
    const round: Round = { since: this.#ticks, heirs: [], open: voters.length };
    this.#round = round;
    if (voters.length === 0) this.#heirs = [];
    for (const voter of voters) {
      wire.request(voter, encodeRequest({ type: 'room' }), askMs, (bytes) => {
        const hasRoom = bytes !== undefined && decodeResponse(bytes)?.type === 'done';
        if (hasRoom) round.heirs.push(voter);
        round.open -= 1;
        if (round.open === 0 && round === this.#round) this.#handOver(round.heirs);
      });
    }
  }

  #handOver(withRoom: readonly NodeId[]): void {
    const { loop, lagMax } = this.#parts;
    const { progress, commit } = loop.status();
    const heirs = withRoom.filter((voter) =>
      progress.some(({ id, match }) => id === voter && commit - match <= lagMax),
    );
    this.#heirs = heirs;
    if (heirs.length === 0) return;
    this.#handing = { ...this.#handing, turn: this.#handing.turn + 1 };
    loop.transfer(heirs[this.#handing.turn % heirs.length]);
  }

  #otherVoters(): NodeId[] {
    const { loop, id: self } = this.#parts;
    const { members } = loop.status().configuration;
    return members.filter(({ id, voter }) => voter && id !== self).map(({ id }) => id);
  }
}
