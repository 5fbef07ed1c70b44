/**
 * What is under way in one direction of a connection, in virtual time. Bytes arrive in order and
 * once. What does not arrive holds back all that follows, and is sent again after a while.
 */
import type { Random } from '../../cluster/checker/random.js';
import type { NodeId } from '../../src/raft/types.js';
import type { Link } from './network.js';
import type { Scheduler } from './scheduler.js';

/** First and longest pause before bytes that did not arrive are sent again, in milliseconds. */
const AGAIN_MS = 200;
const AGAIN_MS_MAX = 3_200;

/** How the sockets of a world behave. */
export interface SocketTemper {
  /** Bytes of a connection that may be under way, one way. */
  readonly windowBytes: number;
  /** Bytes in the buffer of a socket from which on the writer should wait. */
  readonly highWaterMark: number;
  /** The part of the writes that arrive in pieces. */
  readonly fragmented: number;
}

/** What the two directions of connections need of the network. */
export interface FlowParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly temper: SocketTemper;
  readonly link: (from: NodeId, to: NodeId) => Link;
  /** Whether a machine hears what comes to it. */
  readonly hears: (id: NodeId) => boolean;
}

/** One end of a connection, as its two flows know it. */
export interface FlowEnd {
  readonly id: NodeId;
  /** Closed by its process, or broken. */
  readonly destroyed: boolean;
  /** Bytes arrive: `taken` once the process has them, `refused` if it has closed the socket. */
  receive(bytes: Buffer, taken: () => void, refused: () => void): void;
  /** The other side sends no more. */
  receiveEnd(): void;
  /** The connection is broken. */
  reset(error: Error): void;
  /** More bytes may be under way now. */
  hasRoom(): void;
}

interface Segment {
  due: number;
  /** Undefined: the end. */
  readonly bytes: Buffer | undefined;
}

/** See the head of this file. */
export class Flow {
  readonly #parts: FlowParts;
  readonly #from: FlowEnd;
  readonly #to: FlowEnd;
  #segments: Segment[] = [];
  /** Bytes that the receiving process has not taken, or has not been seen to take. */
  #underWay = 0;
  #unseen = 0;
  #lastDue = 0;
  #againMs = AGAIN_MS;
  #isArmed = false;
  #stopped = false;

  constructor(parts: FlowParts, from: FlowEnd, to: FlowEnd) {
    this.#parts = parts;
    this.#from = from;
    this.#to = to;
  }

  get #link(): Link {
    return this.#parts.link(this.#from.id, this.#to.id);
  }
  get #back(): Link {
    return this.#parts.link(this.#to.id, this.#from.id);
  }

  /** Bytes that may be sent now. */
  get room(): number {
    const { temper } = this.#parts;
    return Math.max(0, Math.min(temper.windowBytes, this.#link.windowBytes) - this.#underWay);
  }

  send(bytes: Buffer): void {
    this.#underWay += bytes.length;
    const { random, temper } = this.#parts;
    if (bytes.length < 2 || !random.chance(temper.fragmented)) {
      this.#push(bytes);
      return;
    }
    const at = 1 + random.int(bytes.length - 1);
    this.#push(bytes.subarray(0, at));
    this.#push(bytes.subarray(at));
  }

  end(): void {
    this.#push(undefined);
  }

  /** Nothing more arrives, and the other side hears nothing of that. */
  stop(): void {
    this.#stopped = true;
    this.#segments = [];
  }

  /** Nothing more arrives, and the other side hears of it if it can. */
  reset(): void {
    if (this.#stopped) return;
    this.stop();
    this.#tell(this.#from, this.#to);
  }

  #push(bytes: Buffer | undefined): void {
    if (this.#stopped) return;
    const { random, scheduler } = this.#parts;
    const { delayMs, longMs, longProbability } = this.#link;
    const due = scheduler.now + random.delay(delayMs, longMs, longProbability);
    this.#lastDue = Math.max(this.#lastDue, due);
    this.#segments.push({ due: this.#lastDue, bytes });
    this.#arm();
  }

  #arm(): void {
    if (this.#isArmed || this.#segments.length === 0) return;
    this.#isArmed = true;
    this.#parts.scheduler.at(this.#segments[0]!.due, () => {
      this.#isArmed = false;
      this.#arrive();
    });
  }

  #arrive(): void {
    if (this.#stopped) return;
    const { scheduler, random, hears } = this.#parts;
    if (this.#link.cut || !hears(this.#to.id)) {
      this.#segments[0]!.due = scheduler.now + this.#againMs;
      this.#againMs = Math.min(2 * this.#againMs, AGAIN_MS_MAX);
      this.#arm();
      return;
    }
    this.#againMs = AGAIN_MS;
    if (this.#to.destroyed || random.chance(this.#link.resetProbability)) {
      this.#tell(this.#from, this.#to);
      this.#refused();
      return;
    }
    while (this.#segments.length > 0 && this.#segments[0]!.due <= scheduler.now) {
      const { bytes } = this.#segments.shift()!;
      if (bytes === undefined) this.#to.receiveEnd();
      else {
        this.#to.receive(
          bytes,
          () => this.#taken(bytes.length),
          () => this.#refused(),
        );
      }
    }
    this.#arm();
  }

  /** A machine that does not know the connection any more says so. */
  #refused(): void {
    this.stop();
    this.#tell(this.#to, this.#from);
  }

  /** A side hears that the connection is broken, once a packet gets there. */
  #tell(from: FlowEnd, to: FlowEnd): void {
    const { scheduler, link, hears } = this.#parts;
    scheduler.after(link(from.id, to.id).delayMs, () => {
      if (link(from.id, to.id).cut || !hears(to.id)) return;
      to.reset(new Error('read ECONNRESET'));
    });
  }

  /** The receiving process has these bytes. The sender goes on when it sees that. */
  #taken(bytes: number): void {
    this.#unseen += bytes;
    this.#see();
  }

  #see(): void {
    if (this.#stopped || this.#unseen === 0) return;
    if (this.#back.cut) {
      this.#parts.scheduler.after(AGAIN_MS, () => this.#see());
      return;
    }
    this.#underWay -= this.#unseen;
    this.#unseen = 0;
    this.#from.hasRoom();
  }
}
