/**
 * Sends a state to a follower, over a connection of its own so that no heartbeat waits behind it.
 * The follower asks for a chunk at a time, and for the next one while it stores a few:
 *
 *     leader                          follower
 *     snapshotBegin {id}         ->
 *                                <-   snapshotNext {number 0}
 *     snapshotChunk 0            ->
 *                                <-   snapshotNext {number 1}, stores chunk 0
 *     snapshotChunk 1, last      ->   stores it, reads everything back and switches
 *                                <-   snapshotEnd {ok}
 *
 * A broken connection is dialled again and resumes where the receiver stopped, as long as
 * connections make progress.
 */
import type { Message, NodeId, SnapshotMessage } from '../raft/types.js';
import type { Connection } from './connection.js';
import type { Frame } from './frames.js';
import { dial, type WireContext } from './handshake.js';
import { type ChunkSink, type ChunkSource, WireError } from './types.js';

/**
 * Consecutive connections without progress after which the transfer is aborted. Raft begins
 * another.
 */
const ATTEMPTS_WITHOUT_PROGRESS = 5;
/**
 * How many times longer the last chunk may take: the receiver reads everything back before it
 * answers.
 */
const VERIFY_FACTOR = 20;

/** Chunks that a receiver stores before it asks for another: a bound on its memory. */
const STORING_MAX = 4;

/** Sends a state. Calls `done` exactly once. */
export class SnapshotSender {
  readonly #context: WireContext;
  readonly #to: { readonly id: NodeId; readonly address: string };
  readonly #message: SnapshotMessage;
  readonly #source: ChunkSource;
  readonly #done: (ok: boolean) => void;
  #stopDialling: (() => void) | undefined;
  #connection: Connection | undefined;
  #cancelRetry: (() => void) | undefined;
  #attempts = 0;
  #furthest = -1;
  /**
   * Ticks of the wire's timer since the receiver asked for a new chunk.
   */
  #stalledTurns = 0;
  #sentLast = false;
  /** The chunk after the last one that was sent, made before the receiver asks for it. */
  #next: { readonly number: number; readonly chunk: ReturnType<ChunkSource['chunk']> } | undefined;
  #ended = false;

  constructor(
    context: WireContext,
    to: { readonly id: NodeId; readonly address: string },
    job: { message: SnapshotMessage; source: ChunkSource; done: (ok: boolean) => void },
  ) {
    this.#context = context;
    this.#to = to;
    this.#message = job.message;
    this.#source = job.source;
    this.#done = job.done;
    this.#connect();
  }

  /**
   * Handles a tick of the wire's timer. Aborts a transfer without progress: a receiver with a
   * hanging disk answers pings for ever, and would keep this node from compacting its log.
   */
  tick(): void {
    this.#stalledTurns += 1;
    const turnsMax = this.#context.limits.stalledTurns * (this.#sentLast ? VERIFY_FACTOR : 1);
    if (this.#stalledTurns > turnsMax) {
      this.#fail('the receiver makes no progress');
      return;
    }
    if (this.#connection === undefined) return;
    if (this.#connection.countSilence() > this.#context.limits.silentTurns) {
      this.#connection.destroy(new Error('the peer does not answer'));
    } else this.#connection.send({ type: 'ping' });
  }

  stop(): void {
    this.#end(false);
  }

  /** Closes the connection, if there is one, so that a new one is made. */
  reconnect(why: Error): void {
    this.#connection?.destroy(why);
  }

  #connect(): void {
    const { id: target, address } = this.#to;
    this.#stopDialling = dial(
      this.#context,
      { address, purpose: 'snapshot', target },
      (connection) => {
        this.#connection = connection;
        connection.events = {
          onFrame: (frame) => this.#receive(connection, frame),
          onClose: (error) => this.#broken(error),
        };
        connection.send({ type: 'snapshotBegin', id: this.#source.id, message: this.#message });
      },
      (error) => this.#broken(error),
    );
  }

  #receive(connection: Connection, frame: Frame): void {
    if (frame.type === 'snapshotEnd') this.#end(frame.ok);
    else if (frame.type !== 'snapshotNext') {
      connection.destroy(new WireError('protocol', `${frame.type} from a receiver of a state`));
    } else {
      const { number } = frame;
      if (number > this.#furthest) {
        this.#furthest = number;
        this.#attempts = 0;
        this.#stalledTurns = 0;
      }
      this.#chunk(number).then(
        (chunk) => {
          this.#sentLast = chunk.last;
          connection.send({ type: 'snapshotChunk', number, ...chunk });
          if (chunk.last || this.#ended) return;
          this.#next = { number: number + 1, chunk: this.#source.chunk(number + 1) };
          this.#next.chunk.catch(() => {});
        },
        (error: Error) => this.#fail(error.message),
      );
    }
  }

  #chunk(number: number): ReturnType<ChunkSource['chunk']> {
    const next = this.#next;
    this.#next = undefined;
    return next?.number === number ? next.chunk : this.#source.chunk(number);
  }

  #broken(error: Error | undefined): void {
    this.#connection = undefined;
    if (this.#ended) return;
    this.#attempts += 1;
    if (this.#attempts >= ATTEMPTS_WITHOUT_PROGRESS || error instanceof WireError) {
      this.#fail(error?.message ?? 'the connection was closed');
      return;
    }
    const { clock, limits } = this.#context;
    this.#cancelRetry = clock.after(limits.reconnectMaxMs, () => this.#connect());
  }

  #fail(why: string): void {
    if (this.#ended) return;
    const text = `the state for node ${this.#to.id} was not sent: ${why}`;
    this.#context.log('warn', text, 'snapshot_not_sent', this.#to.id);
    this.#end(false);
  }

  #end(ok: boolean): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelRetry?.();
    this.#stopDialling?.();
    this.#connection?.end();
    this.#source.close();
    this.#done(ok);
  }
}

/** Receives a state on an accepted connection. */
export function receiveSnapshot(context: WireContext, connection: Connection, from: NodeId): void {
  let sink: ChunkSink | undefined;
  let begun = false;
  let closed = false;
  /** The next chunk to ask for, whether one was asked for, and how many are being stored. */
  let next = 0;
  let isAsking = false;
  let storing = 0;
  let isComplete = false;
  let ended = false;
  const end = (ok: boolean): void => {
    if (!ended) connection.send({ type: 'snapshotEnd', ok });
    isComplete = true;
    ended = true;
  };
  const ask = (): void => {
    if (isAsking || isComplete || storing >= STORING_MAX) return;
    isAsking = true;
    connection.send({ type: 'snapshotNext', number: next });
    next += 1;
  };
  const begin = async (message: Message, id: string): Promise<void> => {
    sink = await context.handlers.snapshotSink(message, id);
    if (sink === undefined) return end(false);
    if (closed) sink.disconnected?.();
    next = sink.next;
    ask();
  };
  const store = async (to: ChunkSink, number: number, data: Uint8Array, last: boolean) => {
    isAsking = false;
    isComplete ||= last;
    storing += 1;
    ask();
    await to.write(number, data, last);
    storing -= 1;
    if (last) end(true);
    else ask();
  };
  const refuse = ({ message }: Error): void => {
    const text = `the state from node ${from} was refused: ${message}`;
    if (!ended) context.log('warn', text, 'snapshot_refused', from);
    end(false);
  };
  connection.events = {
    onClose: () => {
      closed = true;
      sink?.disconnected?.();
    },
    onFrame: (frame) => {
      if (frame.type === 'snapshotBegin' && !begun && frame.message.from === from) {
        begun = true;
        begin(frame.message, frame.id).catch(refuse);
      } else if (frame.type === 'snapshotChunk' && sink !== undefined && isAsking) {
        store(sink, frame.number, frame.data, frame.last).catch(refuse);
      } else {
        connection.destroy(new WireError('protocol', `${frame.type} out of turn`));
      }
    },
  };
}
