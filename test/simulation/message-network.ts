/**
 * A network that carries each message by itself. It delays, reorders, drops, repeats and cuts, in
 * each direction of each link. TCP does less, but Raft must tolerate it. Two processes share only
 * bytes and frozen messages.
 */

import type { Random } from '../../cluster/checker/random.js';
import type { Message, NodeId } from '../../src/raft/types.js';
import { OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION } from '../../src/transport/frames.js';
import { checkHello } from '../../src/transport/hello-checks.js';
import type { SimLoop } from './loop.js';
import { type Process, type ProcessWire, SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';

/** A process asks a machine, over a connection of this purpose. */
interface Call {
  readonly from: NodeId;
  readonly loop: SimLoop;
  readonly to: NodeId;
  readonly purpose: 'messages' | 'join';
}

/** A snapshot that has not arrived by then is given up. */
const SNAPSHOT_MS = 5_000;

export class MessageNetwork extends SimNetwork {
  readonly kind = 'messages';
  readonly queueBytesMax = 0;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  /** The processes that listen. */
  readonly #endpoints = new Map<NodeId, Process>();
  /** Connected processes: each has accepted the handshake of the other. */
  readonly #connected = new WeakMap<Process, WeakSet<Process>>();

  constructor(scheduler: Scheduler, random: Random) {
    super();
    this.#scheduler = scheduler;
    this.#random = random;
  }

  detach({ id }: Pick<Process, 'id'>): void {
    this.#endpoints.delete(id);
  }

  protected processOn(id: NodeId): Process | undefined {
    return this.#endpoints.get(id);
  }

  /** Returns the server that listens on a machine. */
  #at(machine: string): NodeId {
    const found = [...this.#endpoints.values()].find((process) => process.machine === machine);
    return found?.id ?? machine;
  }

  /** Runs the product's handshake both ways, once for each pair of processes. */
  #connects(from: Process, to: Process): boolean {
    const known = this.#connected.get(from);
    if (known?.has(to)) return true;
    if (refuses(from, to) || refuses(to, from)) return false;
    if (known) known.add(to);
    else this.#connected.set(from, new WeakSet([to]));
    return true;
  }

  protected open(process: Process): ProcessWire {
    const { id: from, loop } = process;
    return {
      start: () => {
        this.#endpoints.set(from, process);
      },
      stop: (done) => done(),
      waitingBytes: () => 0,
      send: (message) => {
        loop.port();
        process.sent(message);
        this.#send(from, freeze(message));
      },
      request: (to, payload, timeoutMs, done) => {
        loop.port();
        this.#request({ from, loop, to, purpose: 'messages' }, payload, timeoutMs, done);
      },
      requestJoin: (address, payload, timeoutMs, done) => {
        loop.port();
        const to = this.#at(address.slice(0, address.indexOf(':')));
        this.#request({ from, loop, to, purpose: 'join' }, payload, timeoutMs, done);
      },
      sendSnapshot: (to, message, done) => {
        loop.port();
        this.#sendSnapshot(from, loop, to, message, done);
      },
      setMembers: () => {},
    };
  }

  #send(from: NodeId, message: Message): void {
    const link = this.link(from, message.to);
    if (!this.#endpoints.has(message.to) && !link.cut && this.#random.chance(0.5)) {
      // nobody listens there: the connection is refused
      this.#scheduler.after(link.delayMs, () => {
        const sender = this.#endpoints.get(from);
        sender?.loop.deliver(() => sender.handlers.onUnreachable(message.to));
      });
      return;
    }
    this.#carry(from, message.to, (to) => to.handlers.onMessage(message));
    if (this.#random.chance(link.repeatProbability))
      this.#carry(from, message.to, (to) => to.handlers.onMessage(message));
  }

  /** Carries something over one direction of a link, or loses it. */
  #carry(
    from: NodeId,
    to: NodeId,
    arrive: (endpoint: Process) => void,
    lost = () => {},
    isOpen = (sender: Process, endpoint: Process) => this.#connects(sender, endpoint),
  ): void {
    const link = this.link(from, to);
    if (link.cut || this.#random.chance(link.dropProbability)) {
      lost();
      return;
    }
    const ms = this.#random.delay(link.delayMs, link.longMs, link.longProbability);
    const sender = this.#endpoints.get(from);
    this.#scheduler.after(ms, () => {
      const endpoint = this.#endpoints.get(to);
      // a machine that stands still hears nothing
      const isDeaf = !endpoint || endpoint.loop.frozen || link.cut;
      if (isDeaf || !sender || !isOpen(sender, endpoint)) lost();
      else endpoint.loop.deliver(() => arrive(endpoint));
    });
  }

  /**
   * Carries a request and its response. A joining server is in no cluster, so only the side that
   * listens checks the handshake.
   */
  #request(
    { from, loop, to, purpose }: Call,
    payload: Uint8Array,
    timeoutMs: number,
    done: (answer: Uint8Array | undefined, fate?: 'unsent') => void,
  ): void {
    let open = true;
    const finish = (answer: Uint8Array | undefined, fate?: 'unsent'): void => {
      if (!open) return;
      open = false;
      cancel();
      done(answer, fate);
    };
    const cancel = loop.after(timeoutMs, () => finish(undefined));
    if (!this.#endpoints.has(to)) {
      loop.deliver(() => finish(undefined, 'unsent'));
      return;
    }
    const joins = purpose === 'join';
    const isOpen = (sender: Process, endpoint: Process): boolean =>
      joins ? !refuses(endpoint, sender, purpose) : this.#connects(sender, endpoint);
    const asked = (endpoint: Process): void => {
      const answered = (asker: Process, answer: Uint8Array): void => {
        if (asker.loop === loop) finish(answer);
      };
      const reply = (answer: Uint8Array): void =>
        this.#carry(
          to,
          from,
          (asker) => answered(asker, answer),
          () => {},
          (sender, asker) => joins || this.#connects(sender, asker),
        );
      const joiner = this.#endpoints.get(from)?.identity();
      if (!joins) endpoint.handlers.onRequest(from, payload, reply);
      else if (joiner) endpoint.handlers.onJoinRequest(joiner, payload, reply);
    };
    this.#carry(from, to, asked, () => {}, isOpen);
  }

  #sendSnapshot(
    from: NodeId,
    loop: SimLoop,
    to: NodeId,
    message: Message,
    done: (ok: boolean) => void,
  ): void {
    const source = this.#endpoints.get(from)?.snapshotFor(message);
    let open = true;
    const finish = (ok: boolean): void => {
      if (open) loop.deliver(() => done(ok));
      open = false;
    };
    if (!source) {
      finish(false);
      return;
    }
    // the receiver may die with it: a sender notices that its connection is gone
    this.#scheduler.after(SNAPSHOT_MS, () => finish(false));
    this.#scheduler.after(this.#random.between(1, 200), () => {
      if (!loop.alive) return;
      const arrive = (endpoint: Process): void =>
        endpoint.installSnapshot(freeze(source.message), source.image, (ok) =>
          this.#carry(
            to,
            from,
            (sender) => {
              if (sender.loop === loop) finish(ok);
            },
            () => finish(false),
          ),
        );
      this.#carry(from, to, arrive, () => finish(false));
    });
  }
}

/** Whether `server` refuses the handshake of `peer`. */
function refuses(
  server: Process,
  peer: Process,
  purpose: 'messages' | 'join' = 'messages',
): boolean {
  const { identity, records } = server;
  const its = peer.identity();
  const hello = {
    ...its,
    clusterId: its.clusterId ?? '',
    version: PROTOCOL_VERSION,
    oldestVersion: OLDEST_PROTOCOL_VERSION,
    purpose,
    target: purpose === 'join' ? '' : identity().nodeId,
  };
  const context = { identity, records };
  // There are no connections that a proof could be bound to.
  return checkHello(context, hello, { subject: undefined, publicKey: undefined }) !== undefined;
}

/** Freezes a message, since several processes hold it. */
function freeze(message: Message): Message {
  if (message.type === 'append') Object.freeze(message.entries);
  return Object.freeze(message);
}
