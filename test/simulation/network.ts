/**
 * The network between the machines in virtual time. It delays, so reorders, drops, repeats and cuts, each direction of each
 * link on its own. What two processes share is only bytes or frozen messages.
 */

import type { Random } from '../../cluster/checker/random.js';
import type { Message, NodeId } from '../../src/raft/types.js';
import type { WirePort } from '../../src/replica/ports.js';
import { OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION } from '../../src/transport/frames.js';
import { checkHello } from '../../src/transport/handshake.js';
import type { Joiner, PeerRecords, WireIdentity } from '../../src/transport/types.js';
import type { SimLoop } from './loop.js';
import type { Scheduler } from './scheduler.js';
import type { StateImage } from './store.js';

/** A process that is listening. */
export interface Endpoint {
  readonly loop: SimLoop;
  /** What it says when a connection is made. */
  readonly identity: () => WireIdentity;
  /** Whom it has met, over all lives of its disk. */
  readonly records: PeerRecords;
  receive(message: Message): void;
  request(from: NodeId, payload: Uint8Array, reply: (answer: Uint8Array) => void): void;
  join(joiner: Joiner, payload: Uint8Array, reply: (answer: Uint8Array) => void): void;
  unreachable(peer: NodeId): void;
  /** The state to send for a snapshot message, and the message as it must be sent; undefined: cannot. */
  snapshotFor(message: Message): { message: Message; image: StateImage } | undefined;
  installSnapshot(message: Message, image: StateImage, done: (ok: boolean) => void): void;
}

/** One direction between two machines. */
export interface Link {
  cut: boolean;
  delayMs: number;
  longMs: number;
  longProbability: number;
  dropProbability: number;
  repeatProbability: number;
}

/** A process asks a machine, over a connection of this purpose. */
interface Call {
  readonly from: NodeId;
  readonly loop: SimLoop;
  readonly to: NodeId;
  readonly purpose: 'messages' | 'join';
}

/** A snapshot that has not arrived by then is given up. */
const SNAPSHOT_MS = 5_000;

const QUIET: Link = {
  cut: false,
  delayMs: 1,
  longMs: 20,
  longProbability: 0.01,
  dropProbability: 0,
  repeatProbability: 0,
};

export class SimNetwork {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #endpoints = new Map<NodeId, Endpoint>();
  readonly #links = new Map<NodeId, Map<NodeId, Link>>();
  /** Processes that are connected: each has believed what the other said of itself. */
  readonly #connected = new WeakMap<Endpoint, WeakSet<Endpoint>>();

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  attach(id: NodeId, endpoint: Endpoint): void {
    this.#endpoints.set(id, endpoint);
  }
  detach(id: NodeId): void {
    this.#endpoints.delete(id);
  }

  link(from: NodeId, to: NodeId): Link {
    let links = this.#links.get(from);
    if (!links) {
      links = new Map();
      this.#links.set(from, links);
    }
    let link = links.get(to);
    if (!link) {
      link = { ...QUIET };
      links.set(to, link);
    }
    return link;
  }

  /** Every direction of every link as it was at the beginning. */
  heal(): void {
    for (const links of this.#links.values())
      for (const link of links.values()) Object.assign(link, QUIET);
  }

  /**
   * Whether all of these servers have met a server, so that they would not believe another one under its id; and in this
   * start of its disk or a later one.
   */
  haveMet(servers: readonly NodeId[], id: NodeId, start = 0): boolean {
    return servers.every((each) => {
      const record = this.#endpoints.get(each)?.records.get(id);
      return record !== undefined && record.starts >= start;
    });
  }

  /** The product's own greeting, both ways, once for each pair of processes. */
  #connects(from: Endpoint, to: Endpoint): boolean {
    const known = this.#connected.get(from);
    if (known?.has(to)) return true;
    if (refuses(from, to) || refuses(to, from)) return false;
    if (known) known.add(to);
    else this.#connected.set(from, new WeakSet([to]));
    return true;
  }

  wire(from: NodeId, loop: SimLoop, onSend: (message: Message) => void): WirePort {
    return {
      send: (message) => {
        loop.port();
        onSend(message);
        this.#send(from, freeze(message));
      },
      request: (to, payload, timeoutMs, done) => {
        loop.port();
        this.#request({ from, loop, to, purpose: 'messages' }, payload, timeoutMs, done);
      },
      requestJoin: (address, payload, timeoutMs, done) => {
        loop.port();
        const to = address.slice(0, address.indexOf(':'));
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
        sender?.loop.deliver(() => sender.unreachable(message.to));
      });
      return;
    }
    this.#carry(from, message.to, (to) => to.receive(message));
    if (this.#random.chance(link.repeatProbability))
      this.#carry(from, message.to, (to) => to.receive(message));
  }

  /** Brings something over one direction of a link, or loses it. */
  #carry(
    from: NodeId,
    to: NodeId,
    arrive: (endpoint: Endpoint) => void,
    lost = () => {},
    isOpen = (sender: Endpoint, endpoint: Endpoint) => this.#connects(sender, endpoint),
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

  /** A server that joins is in no cluster: all that is asked is whether this is the one it means, by the side that listens. */
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
    const isOpen = (sender: Endpoint, endpoint: Endpoint): boolean =>
      joins ? !refuses(endpoint, sender, purpose) : this.#connects(sender, endpoint);
    const asked = (endpoint: Endpoint): void => {
      const answered = (asker: Endpoint, answer: Uint8Array): void => {
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
      if (!joins) endpoint.request(from, payload, reply);
      else if (joiner) endpoint.join(joiner, payload, reply);
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
      const arrive = (endpoint: Endpoint): void =>
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

/** Whether `server` does not believe `peer`. */
function refuses(
  server: Endpoint,
  peer: Endpoint,
  purpose: 'messages' | 'join' = 'messages',
): boolean {
  const { identity, records } = server;
  const its = peer.identity();
  const hello = {
    ...{ ...its, clusterId: its.clusterId ?? '' },
    ...{ version: PROTOCOL_VERSION, oldestVersion: OLDEST_PROTOCOL_VERSION },
    ...{ purpose, target: purpose === 'join' ? '' : identity().nodeId },
  };
  const context = { identity, records };
  return checkHello(context, hello) !== undefined;
}

/** Whoever changes a message that others also hold is found out. */
function freeze(message: Message): Message {
  if (message.type === 'append') Object.freeze(message.entries);
  return Object.freeze(message);
}
