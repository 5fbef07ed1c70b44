/**
 * What a node measures for metrics: how long its disk and its peers take. The simulation does not
 * use this file.
 */
import type { Index, Message, NodeId, Term } from '../raft/types.js';
import type { ClockPort, WirePort } from '../replica/ports.js';
import type { ChunkSink, WireHandlers } from '../transport/types.js';

/** Gets what a node measures, in milliseconds. Calls must be cheap: the write path makes them. */
export interface NodeMeasures {
  /** A batch was written to the log and synced. */
  logSynced(ms: number): void;
  /** The timer of a tick, set to `afterMs`, fired `lateMs` too late. */
  timerFired(lateMs: number, afterMs: number): void;
  /** The entries of a turn were applied. */
  applied(ms: number): void;
  /** A peer acknowledged entries that this leader had sent. */
  appendAcknowledged(peer: NodeId, ms: number): void;
  /** The whole state was sent to a peer. */
  snapshotSent(ms: number): void;
  /** A whole state was received and has replaced the one here. */
  snapshotInstalled(ms: number): void;
}

/**
 * Measures the time from sending entries to their acknowledgement. One append to each peer is
 * measured at a time, since a response acknowledges everything before it.
 */
export class AppendTimer {
  readonly #pending = new Map<NodeId, { term: Term; last: Index; sentMs: number }>();
  readonly #now: () => number;
  readonly #measures: Pick<NodeMeasures, 'appendAcknowledged'>;

  constructor(now: () => number, measures: Pick<NodeMeasures, 'appendAcknowledged'>) {
    this.#now = now;
    this.#measures = measures;
  }

  sent(message: Message): void {
    if (message.type !== 'append' || message.entries.length === 0) return;
    const { to, term, entries } = message;
    if (this.#pending.get(to)?.term === term) return;
    this.#pending.set(to, { term, last: entries.at(-1)!.index, sentMs: this.#now() });
  }

  received(message: Message): void {
    if (message.type !== 'appendResponse') return;
    const { from, term, success, index } = message;
    const pending = this.#pending.get(from);
    if (pending === undefined) return;
    const isMeasured = success && term === pending.term;
    if (isMeasured && index < pending.last) return;
    this.#pending.delete(from);
    if (isMeasured) this.#measures.appendAcknowledged(from, this.#now() - pending.sentMs);
  }
}

/** What a node measures with. */
export interface Measuring {
  readonly clock: Pick<ClockPort, 'now'>;
  readonly measures: NodeMeasures;
  readonly appends: AppendTimer;
}

/** Returns a wire that measures what is sent. */
export function measuredWire(wire: WirePort, { clock, measures, appends }: Measuring): WirePort {
  return {
    send(message) {
      appends.sent(message);
      wire.send(message);
    },
    request: (...request) => wire.request(...request),
    requestJoin: (...request) => wire.requestJoin(...request),
    sendSnapshot(to, message, done) {
      const since = clock.now();
      wire.sendSnapshot(to, message, (ok) => {
        if (ok) measures.snapshotSent(clock.now() - since);
        done(ok);
      });
    },
    ...(wire.reachable && { reachable: () => wire.reachable?.() ?? [] }),
    setMembers: (members) => wire.setMembers(members),
  };
}

/** Returns handlers that measure what arrives. */
export function measuredHandlers(
  handlers: Required<WireHandlers>,
  measuring: Measuring,
): Required<WireHandlers> {
  return {
    ...handlers,
    onMessage(message) {
      measuring.appends.received(message);
      handlers.onMessage(message);
    },
    async snapshotSink(message, id) {
      const sink = await handlers.snapshotSink(message, id);
      return sink && measuredSink(sink, measuring);
    },
  };
}

/** Returns what a node measures with; undefined if measuring is off. */
export function measuringOf(
  measures: NodeMeasures | undefined,
  clock: ClockPort,
): Measuring | undefined {
  if (measures === undefined) return undefined;
  return { clock, measures, appends: new AppendTimer(() => clock.now(), measures) };
}

function measuredSink(sink: ChunkSink, { clock, measures }: Measuring): ChunkSink {
  const since = clock.now();
  return {
    get next() {
      return sink.next;
    },
    async write(number, data, last) {
      await sink.write(number, data, last);
      if (last) measures.snapshotInstalled(clock.now() - since);
    },
    disconnected: () => sink.disconnected?.(),
  };
}
