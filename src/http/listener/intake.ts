/**
 * How much of what a connection sends is taken up at one time:
 *
 *     socket ── data ──► Intake ── one request ──► Node's parser ──► Intake ──► application
 *                          └── the rest waits for a turn, and while many are in progress
 *
 * Node by itself parses all that has arrived, up to 2 MB, in one turn of the event loop, and emits
 * a request for each line of it: a client that pipelines would delay the heartbeats of the cluster.
 * Its parser reads from the socket without a detour through JavaScript, and is left alone until the
 * first request beyond those that may be in progress. What it has read by then, 64 KB, waits.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { nextTurn, Slice } from '../../service/common/event-loop.js';

/** Requests of one connection in progress; clients that pipeline more wait for responses. */
const IN_PROGRESS_MAX = 16;
/** Bytes that wait for responses; beyond them the socket is not read. */
const WAITING_BYTES_MAX = 64 * 1024;
/** What ends the headers of a request. */
const HEAD_END = Buffer.from('\r\n\r\n');

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** The requests of one server. */
export interface Requests {
  /** Number of connections with a request in progress. */
  busy(): number;
  /** Ends a connection with a response, after those of the requests that came whole. */
  end(socket: Duplex, response: string): void;
}

/** Makes `server` hand its requests to `handle`, a few of each connection at one time. */
export function takeRequests(server: Server, isSecure: boolean, handle: Handler): Requests {
  const intakes = new WeakMap<Socket, Intake>();
  const busy = new Set<Intake>();
  // later than the server's own listener, which connects the parser
  server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
    intakes.set(socket, new Intake(socket, handle, busy));
  });
  server.on('request', (req, res) => intakes.get(req.socket)!.take(req, res));
  return {
    busy: () => busy.size,
    end(socket, response) {
      const intake = intakes.get(socket as Socket);
      if (intake === undefined) socket.end(response);
      else intake.end(response);
    },
  };
}

class Intake {
  readonly #socket: Socket;
  readonly #handle: Handler;
  /** Those of this server with a request in progress. */
  readonly #busy: Set<Intake>;
  /**
   * Node's listener, which parses a chunk, once it is called from here. It must not be called while
   * Node pauses the socket.
   */
  #parse: ((chunk: Buffer) => void) | undefined;
  readonly #inProgress = new Set<IncomingMessage>();
  /** The response with which the connection ends once nothing whole is in progress. */
  #last: string | undefined;
  /** The request that it is for, if its headers have come. */
  #late: IncomingMessage | undefined;
  /** A request beyond those that may be in progress: nothing is parsed while there is one. */
  #waiting: Parameters<Handler>[] = [];
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isScheduled = false;
  /** Whether this has paused the socket, and not Node. */
  #isPaused = false;

  constructor(socket: Socket, handle: Handler, busy: Set<Intake>) {
    this.#socket = socket;
    this.#handle = handle;
    this.#busy = busy;
  }

  /** Handles a request, or lets it wait. */
  take(req: IncomingMessage, res: ServerResponse): void {
    // What was late has come after all.
    this.#last = undefined;
    if (this.#hasPlace && this.#waiting.length === 0) this.#begin(req, res);
    else {
      this.#waiting.push([req, res]);
      if (this.#parse === undefined) this.#stepBetween();
    }
  }

  /** From now on, what arrives comes here first. A listener for data makes Node hand it out. */
  #stepBetween(): void {
    const [parse] = this.#socket.listeners('data') as [(chunk: Buffer) => void];
    this.#parse = parse;
    this.#watch();
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#socket.off('data', parse);
  }

  get #hasWork(): boolean {
    return this.#chunks.length > 0 || this.#waiting.length > 0;
  }

  get #hasPlace(): boolean {
    return this.#inProgress.size < IN_PROGRESS_MAX;
  }

  #begin(req: IncomingMessage, res: ServerResponse): void {
    this.#inProgress.add(req);
    this.#busy.add(this);
    res.on('close', () => {
      this.#inProgress.delete(req);
      if (this.#inProgress.size === 0) this.#busy.delete(this);
      if (req === this.#late) this.#last = undefined;
      if (this.#hasWork) this.#schedule();
      else this.#endIfIdle();
    });
    this.#handle(req, res);
  }

  /** Ends the connection with a response, after those of the requests that came whole. */
  end(response: string): void {
    this.#last = response;
    const begun = [...this.#inProgress, ...this.#waiting.map(([req]) => req)];
    this.#late = begun.find(({ complete }) => !complete);
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#last === undefined || this.#hasWork) return;
    for (const { complete } of this.#inProgress) if (complete) return;
    if (this.#socket.writable) this.#socket.end(this.#last);
  }

  /** Parses the first request of a chunk; further ones wait for turns of their own. */
  #receive(chunk: Buffer): void {
    if (this.#hasWork) {
      this.#keep(chunk);
      return;
    }
    const end = headEnd(chunk);
    // what follows may be the body of the request, or the beginning of the next one
    if (end === chunk.length || (this.#hasPlace && !chunk.includes(HEAD_END, end))) {
      this.#parse!(chunk);
      return;
    }
    this.#parse!(chunk.subarray(0, end));
    this.#keep(chunk.subarray(end));
  }

  /** Whether Node's parser takes more now. It pauses the socket while it does not. */
  get #mayParse(): boolean {
    return this.#waiting.length === 0 && !this.#socket.isPaused() && !this.#socket.destroyed;
  }

  #keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#pauseIfFull();
    this.#schedule();
  }

  #pauseIfFull(): void {
    if (this.#bytes <= WAITING_BYTES_MAX || this.#socket.isPaused()) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  #watch(): void {
    const forget = (): void => {
      this.#chunks = [];
      this.#waiting = [];
      this.#bytes = 0;
    };
    this.#socket.once('end', forget).once('close', forget);
    this.#socket.on('resume', () => {
      // If Node had stopped reading for its parser, the stream does not know, and nothing else
      // would begin again.
      this.#socket._read(0);
      if (this.#hasWork) this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    nextTurn().then(() => this.#run());
  }

  /** Takes up what waits, as much as one turn of the event loop may. */
  #run(): void {
    this.#isScheduled = false;
    const slice = new Slice();
    while (this.#waiting.length > 0 && this.#hasPlace && !slice.isOver)
      this.#begin(...this.#waiting.shift()!);
    if (this.#waiting.length > 0 && this.#hasPlace) this.#schedule();
    if (this.#isPaused && this.#waiting.length === 0) {
      this.#isPaused = false;
      this.#socket.resume();
    }
    while (this.#chunks.length > 0 && this.#mayParse) {
      if (slice.isOver) {
        this.#schedule();
        break;
      }
      this.#parseOne();
    }
    this.#pauseIfFull();
    this.#endIfIdle();
  }

  /** Parses what waits up to the end of a request's headers, or the whole chunk. */
  #parseOne(): void {
    const chunk = this.#chunks[0]!;
    const end = headEnd(chunk);
    if (end === chunk.length) this.#chunks.shift();
    else this.#chunks[0] = chunk.subarray(end);
    this.#bytes -= end;
    this.#parse!(end === chunk.length ? chunk : chunk.subarray(0, end));
  }
}

/** Returns the end of the first headers in a chunk, or the end of the chunk. */
function headEnd(chunk: Buffer): number {
  const at = chunk.indexOf(HEAD_END);
  return at < 0 ? chunk.length : at + HEAD_END.length;
}
