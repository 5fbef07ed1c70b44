/**
 * Sends the messages of the Raft core, but holds back those that only tell a follower a higher
 * commit index, while no other write is under way. The next append tells it as well, mostly with
 * the next write of the same client:
 *
 *     entry 7 is committed   →   commit 7 is held back
 *     entry 8 is appended    →   entry 8 and commit 7 are sent in one message
 *
 * To the follower this is a network that delays or loses a message, so nothing but the delay
 * depends on it. A follower that may wait for the commit index is told before it is answered.
 *
 * While other writes are under way, the followers are told at once. Meanwhile the clients send
 * their next writes, which then are one batch: without that pause, two to sixteen clients got
 * smaller batches, and a write cost up to a third more.
 */
import type { Message, NodeId, Term } from '../raft/types.js';
import type { ClockPort, WirePort } from './ports.js';

/** Milliseconds for which a message is held back. Stale reads of followers are as much older. */
const HOLD_MS = 2;

type Append = Extract<Message, { readonly type: 'append' }>;

/** The last append to a follower. */
interface Sent {
  readonly term: Term;
  readonly round: number;
  /** The message that is held back. */
  held: Append | undefined;
}

export class CommitNews {
  readonly #wire: Pick<WirePort, 'send'>;
  readonly #clock: Pick<ClockPort, 'after'>;
  readonly #sent = new Map<NodeId, Sent>();
  #isTimed = false;
  #stopped = false;

  constructor(parts: {
    readonly wire: Pick<WirePort, 'send'>;
    readonly clock: Pick<ClockPort, 'after'>;
  }) {
    this.#wire = parts.wire;
    this.#clock = parts.clock;
  }

  /**
   * Sends a message now, or holds it back. `isBusy`: whether writes are under way besides the one
   * that is now committed.
   */
  send(message: Message, isBusy: boolean): void {
    if (message.type !== 'append') {
      this.#wire.send(message);
      return;
    }
    const { to, term, round, entries } = message;
    const sent = this.#sent.get(to);
    const isBare = entries.length === 0 && sent?.term === term && sent.round === round;
    if (isBare && !isBusy) {
      sent.held = message;
      this.#setTimer();
      return;
    }
    // It tells at least the commit index of the message that is held back.
    this.#sent.set(to, { term, round, held: undefined });
    this.#wire.send(message);
  }

  /** Sends what is held back for a follower. */
  tell(to: NodeId): void {
    const sent = this.#sent.get(to);
    if (sent?.held === undefined || this.#stopped) return;
    this.#wire.send(sent.held);
    sent.held = undefined;
  }

  /** Sends nothing more. */
  stop(): void {
    this.#stopped = true;
  }

  #setTimer(): void {
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#clock.after(HOLD_MS, () => {
      this.#isTimed = false;
      for (const to of this.#sent.keys()) this.tell(to);
    });
  }
}
