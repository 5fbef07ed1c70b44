/**
 * A network of sockets: each process runs the product's own wire, with its handshake, frames,
 * queues, reconnects and chunked transfers. What goes wrong is what can go wrong with TCP: a
 * connection is slow, breaks, or is silent. Nothing is lost, repeated or overtaken within one.
 */
import type { Random } from '../../cluster/checker/random.js';
import { inflightFrameBytes } from '../../src/node/options.js';
import type { RaftOptions } from '../../src/raft/options.js';
import type { Message, NodeId } from '../../src/raft/types.js';
import type { WireLimits } from '../../src/transport/handshake.js';
import { Wire } from '../../src/transport/wire.js';
import { Violation } from './invariants.js';
import { type Process, type ProcessWire, SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';
import { type Machine, ProcessSockets, type SocketParts } from './sockets.js';

/** The sockets are not encrypted. A mode with a key lets the wire dial any address. */
const SECURITY = { mode: 'key', keys: ['a key for simulated servers'] } as const;
const PORT = 1;
/** More than the largest command of a world takes. */
const FRAME_BYTES = 2 ** 19;

export class SocketNetwork extends SimNetwork {
  readonly kind = 'sockets';
  readonly #parts: SocketParts;
  readonly #limits: Partial<WireLimits>;
  readonly #inflightBytes: number;
  readonly #trace: (text: string) => void;
  readonly #machines = new Map<NodeId, Machine>();
  readonly #processes = new Map<NodeId, Process>();
  readonly #said = new Said();
  #ports = 0;

  constructor(
    scheduler: Scheduler,
    random: Random,
    raft: Pick<RaftOptions, 'maxAppendBytes' | 'maxInflightBytes'>,
    trace: (text: string) => void,
  ) {
    super();
    this.#trace = trace;
    const { maxAppendBytes: appendBytes, maxInflightBytes: inflightBytes } = raft;
    this.#inflightBytes = inflightFrameBytes({ appendBytes, inflightBytes }, FRAME_BYTES);
    this.#parts = {
      scheduler,
      random,
      temper: {
        windowBytes: random.pick([65_536, 65_536, 3_000, 300]),
        highWaterMark: random.pick([16_384, 1_000]),
        fragmented: random.pick([0, 0.05, 0.5]),
      },
      link: (from, to) => this.link(from, to),
      machine: (id) => this.#machine(id),
      hears: (id) => {
        const { isOn, sockets } = this.#machine(id);
        return isOn && sockets?.loop.frozen !== true;
      },
      newPort: () => ++this.#ports,
    };
    this.#limits = {
      frameBytes: FRAME_BYTES,
      queueBytes: random.pick([this.#inflightBytes, 1_000_000]),
      requests: random.pick([40, 10_000]),
      connections: 64,
    };
  }

  /** A queue, one more in the buffer of the socket, and what is never dropped. */
  get queueBytesMax(): number {
    return 2 * this.#limits.queueBytes! + this.#parts.temper.highWaterMark + UNDROPPED_BYTES;
  }

  detach({ id, machine: name }: Pick<Process, 'id' | 'machine'>, power: boolean): void {
    const machine = this.#machine(name);
    machine.sockets?.end(power);
    machine.sockets = undefined;
    machine.isOn = !power;
    this.#processes.delete(id);
  }

  protected processOn(id: NodeId): Process | undefined {
    return this.#processes.get(id);
  }

  protected open(process: Process): ProcessWire {
    const { id, machine: name, loop, identity, records, handlers } = process;
    const sockets = new ProcessSockets(name, loop, this.#parts);
    const wire = new Wire({
      identity,
      records,
      security: SECURITY,
      handlers: {
        ...handlers,
        onMessage: (message) => {
          loop.guard(() => this.#said.heard(message));
          handlers.onMessage(message);
        },
      },
      log: (_level, text) => this.#trace(`${id}: ${text}`),
      limits: this.#limits,
      inflightBytes: this.#inflightBytes,
      random: this.#parts.random.fork().next,
      clock: loop,
      sockets,
    });
    return {
      start: () => {
        const machine = this.#machine(name);
        machine.isOn = true;
        machine.sockets = sockets;
        this.#processes.set(id, process);
        void wire.listen(name, PORT);
      },
      stop: (done) => void wire.close().then(() => loop.guard(done)),
      waitingBytes: () => wire.waitingBytes,
      send: (message) => {
        loop.port();
        process.sent(message);
        this.#said.say(message);
        wire.send(message);
      },
      request: (...request) => {
        loop.port();
        wire.request(...request);
      },
      requestJoin: (...request) => {
        loop.port();
        wire.requestJoin(...request);
      },
      sendSnapshot: (...snapshot) => {
        loop.port();
        wire.sendSnapshot(...snapshot);
      },
      setMembers: (members) => wire.setMembers(members),
    };
  }

  #machine(id: NodeId): Machine {
    let machine = this.#machines.get(id);
    if (machine === undefined) {
      machine = { isOn: true, sockets: undefined };
      this.#machines.set(id, machine);
    }
    return machine;
  }
}

/** Requests, votes and answers, which a wire does not drop from its queue. */
const UNDROPPED_BYTES = 4_000;

/** What was said and not yet heard: nothing else may be heard, and nothing twice. */
class Said {
  readonly #counts = new Map<string, number>();

  say(message: Message): void {
    const key = keyOf(message);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  heard(message: Message): void {
    const key = keyOf(message);
    const count = this.#counts.get(key) ?? 0;
    if (count === 0)
      throw new Violation('what is heard was said', `${message.to} hears ${key} once too often`);
    if (count === 1) this.#counts.delete(key);
    else this.#counts.set(key, count - 1);
  }
}

/** What distinguishes a message from every other one, but the data of its commands. */
function keyOf(message: Message): string {
  const { type, from, to, term } = message;
  const head = `${type} ${from}>${to} ${term}`;
  switch (message.type) {
    case 'append': {
      const { prevIndex, prevTerm, entries, commit, round } = message;
      const last = entries.at(-1);
      return `${head} ${prevIndex} ${prevTerm} ${entries.length} ${last?.term} ${commit} ${round}`;
    }
    case 'appendResponse': {
      const { success, index, hintTerm, round, silenceMs } = message;
      return `${head} ${success} ${index} ${hintTerm} ${round} ${silenceMs}`;
    }
    case 'preVote':
    case 'vote':
      return `${head} ${message.lastIndex} ${message.lastTerm} ${message.transfer === true}`;
    case 'preVoteResponse':
    case 'voteResponse':
      return `${head} ${message.granted}`;
    case 'snapshot':
      return `${head} ${message.meta.index} ${message.round}`;
    case 'timeoutNow':
      return head;
  }
}
