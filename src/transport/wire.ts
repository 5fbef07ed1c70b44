/**
 * The network between members. It implements the node's WirePort. Each node keeps one connection to
 * every other member for its own messages and requests; answers come back on the connection of the
 * request.
 *
 * The security mode (`security.ts`) and the first frames (`handshake.ts`) decide who may connect. A
 * server must accept entries from a leader that its own configuration does not contain yet (Raft
 * thesis §4.1). So a node accepts members, nodes that it has met before, and nodes that another
 * member has vouched for. It refuses any other node, and asks the members about it. The Raft core
 * ignores messages of servers that do not matter to it.
 */
import type { AddressInfo } from 'node:net';
import { isLoopbackAddress } from '../base/address.js';
import type { Message, NodeId, SnapshotMessage } from '../raft/types.js';
import { every, systemClock, type WireClock } from './clock.js';
import { Connection } from './connection.js';
import type { Hello } from './frames.js';
import {
  accept,
  checkQueue,
  DEFAULT_LIMITS,
  type WireContext,
  type WireLimits,
} from './handshake.js';
import type { Shown } from './hello-checks.js';
import { requestJoin } from './join-request.js';
import { NOT_HANDLED, Peer, type RequestDone } from './peer.js';
import { checkSecurity, socketMaker } from './security.js';
import { SharedSubjects } from './shared-subjects.js';
import { receiveSnapshot, SnapshotSender } from './snapshot-transfer.js';
import type { WireSecurity, WireServer, WireSockets } from './sockets.js';
import {
  type Joiner,
  type PeerRecords,
  WireError,
  type WireHandlers,
  type WireIdentity,
  type WireLog,
} from './types.js';
import { UnauthenticatedConnections } from './unauthenticated.js';

/** The log names the same reason only once in this time: a refused node retries every second. */
const REFUSAL_LOG_MS = 60_000;
/** Reasons remembered for that. */
const REFUSALS_MAX = 100;

export interface WireOptions {
  /** Called for each connection, since a node learns its cluster id only by joining. */
  readonly identity: () => WireIdentity;
  readonly records: PeerRecords;
  readonly security: WireSecurity;
  readonly handlers: WireHandlers;
  readonly log: WireLog;
  readonly limits?: Partial<WireLimits>;
  /** Bytes of append frames that Raft may have in flight to one member. See `checkQueue`. */
  readonly inflightBytes: number;
  /** Returns a random number in [0, 1), for the pauses between attempts. */
  readonly random?: () => number;
  /** Absent: the clock of the process, and sockets of the system. */
  readonly clock?: WireClock;
  readonly sockets?: WireSockets;
}

export class Wire {
  readonly #context: WireContext;
  #security: WireSecurity;
  readonly #sockets: WireSockets;
  #server: WireServer | undefined;
  readonly #peers = new Map<NodeId, Peer>();
  #members = new Map<NodeId, string>();
  /**
   * Nodes that have dialled in, each with its last connection. One that is no member is answered at
   * the address it gave: our configuration may lack the leader.
   */
  readonly #learnt = new Map<NodeId, { address: string; connection: Connection }>();
  /** Accepted connections, each with the node that has identified itself on it. */
  readonly #accepted = new Map<Connection, NodeId | undefined>();
  readonly #unauthenticated: UnauthenticatedConnections;
  readonly #sending = new Map<NodeId, SnapshotSender>();
  /** Unprotected addresses that were not dialled. Each is logged once. */
  readonly #unprotected = new Set<string>();
  /** When each reason for a refusal was last logged. */
  readonly #refusals = new Map<string, number>();
  readonly #subjects = new SharedSubjects((text, peer) =>
    this.#context.log('warn', text, 'certificates_alike', peer),
  );
  readonly #cancelTick: () => void;
  #closed = false;

  constructor(options: WireOptions) {
    this.#security = options.security;
    checkSecurity(this.#security, []);
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    checkQueue(limits, options.inflightBytes);
    this.#sockets = options.sockets ?? socketMaker(this.#security);
    const clock = options.clock ?? systemClock;
    this.#context = {
      identity: options.identity,
      records: options.records,
      handlers: options.handlers,
      log: options.log,
      logRefusal: (remote, problem, peer) => this.#logRefusal(remote, problem, peer),
      limits,
      sockets: () => this.#sockets,
      clock,
      random: options.random ?? Math.random,
      isMember: (id) => this.#members.has(id),
    };
    this.#unauthenticated = new UnauthenticatedConnections(
      Math.ceil(this.#context.limits.connections / 2),
    );
    // Reads the sockets first: after a stall, the answers may have arrived already.
    const turn = () => clock.soon(() => this.#tick());
    this.#cancelTick = every(clock, this.#context.limits.pingMs, turn);
  }

  /**
   * Listens for members. Resolves with the port, which matters for port 0. Rejects if the address
   * is in use, or if it is not a loopback address and there is neither a shared key nor TLS. Does
   * nothing in the mode `closed`.
   */
  async listen(host: string, port: number): Promise<number> {
    if (this.#security.mode === 'closed') return port;
    checkSecurity(this.#security, [host]);
    const server = this.#sockets.listen(
      (socket) => this.#welcome(new Connection(socket, this.#context.clock)),
      (problem, remote) => this.#logRefusal(`an unauthenticated peer at ${remote}`, problem),
    );
    this.#server = server;
    server.maxConnections = this.#context.limits.connections;
    server.on('connection', (socket) => this.#unauthenticated.add(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port }, () => {
        server.off('error', reject);
        resolve();
      });
    });
    return (server.address() as AddressInfo).port;
  }

  /**
   * Uses new certificates or keys for connections from now on. Throws Error and changes nothing if
   * they are unusable or the mode changes.
   */
  reload(security: WireSecurity): void {
    if (security.mode !== this.#security.mode) throw new Error('the security mode cannot change');
    checkSecurity(security, []);
    const before = this.#security;
    this.#sockets.update(security, this.#server);
    this.#security = security;
    if (before.mode !== 'tls' || security.mode !== 'tls' || before.crl === security.crl) return;
    // A revoked peer may be connected already. The others reconnect at once.
    const why = new Error('the list of revoked certificates has changed');
    for (const connection of this.#accepted.keys()) connection.destroy(why);
    this.#unauthenticated.close();
    for (const id of [...this.#peers.keys()]) this.#peers.get(id)?.reconnect(why);
    for (const sender of this.#sending.values()) sender.reconnect(why);
  }

  /** Sets the members. Closes connections of removed members, and to members that have moved. */
  setMembers(members: readonly { readonly id: NodeId; readonly address: string }[]): void {
    const { nodeId } = this.#context.identity();
    const next = new Map(members.map(({ id, address }) => [id, address]));
    next.delete(nodeId);
    for (const [id, peer] of this.#peers) {
      const left = this.#members.has(id) && !next.has(id);
      const moved = next.has(id) && next.get(id) !== peer.address;
      if (left || moved) this.#drop(id);
      if (!left) continue;
      this.#subjects.forget(id);
      this.#sending.get(id)?.stop();
    }
    this.#members = next;
    for (const id of next.keys()) this.#peer(id);
    for (const [connection, id] of this.#accepted) {
      if (id === undefined || next.has(id) || this.#context.records.isRemoved?.(id) !== true)
        continue;
      this.#learnt.delete(id);
      connection.destroy(new Error('the server was removed from the cluster'));
    }
  }

  reachable(): NodeId[] {
    return [...this.#peers.values()].filter((peer) => peer.connected).map((peer) => peer.id);
  }

  /** Bytes that wait for one member to read them: the largest number over all members. */
  get waitingBytes(): number {
    return Math.max(0, ...[...this.#peers.values()].map((peer) => peer.waitingBytes));
  }

  /** Sends a message, which may be lost. */
  send(message: Message): void {
    this.#peer(message.to)?.send({ type: 'message', message });
  }

  /** Sends a request. Calls `done` exactly once, with no answer after `timeoutMs`. */
  request(to: NodeId, payload: Uint8Array, timeoutMs: number, done: RequestDone): void {
    const peer = this.#peer(to);
    if (peer === undefined) this.#context.clock.soon(() => done(undefined, 'unsent'));
    else peer.request(payload, timeoutMs, done);
  }

  /** Sends a request to an address, as a node that is in no cluster yet. */
  requestJoin(address: string, payload: Uint8Array, timeoutMs: number, done: RequestDone): void {
    requestJoin(this.#context, { address, payload }, timeoutMs, done);
  }

  /** Sends a state to a follower, and aborts a transfer to it that is under way. */
  sendSnapshot(to: NodeId, message: SnapshotMessage, done: (ok: boolean) => void): void {
    this.#sending.get(to)?.stop();
    const address = this.#addressOf(to);
    const source =
      address === undefined || this.#closed
        ? undefined
        : this.#context.handlers.snapshotSource(to, message);
    if (address === undefined || source === undefined) {
      this.#context.clock.soon(() => done(false));
      return;
    }
    const finish = (ok: boolean) => {
      if (this.#sending.get(to) === sender) this.#sending.delete(to);
      done(ok);
    };
    const job = { message, source, done: finish };
    const sender = new SnapshotSender(this.#context, { id: to, address }, job);
    this.#sending.set(to, sender);
  }

  /** Closes all connections. Pending requests end without an answer. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTick();
    for (const sender of [...this.#sending.values()]) sender.stop();
    for (const id of [...this.#peers.keys()]) this.#drop(id);
    const server = this.#server;
    if (server === undefined) return;
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of this.#accepted.keys()) connection.destroy();
    this.#unauthenticated.close();
    await ended;
  }

  #addressOf(id: NodeId): string | undefined {
    return this.#members.get(id) ?? this.#learnt.get(id)?.address;
  }

  /**
   * Returns the outgoing side to a node, created on first use; undefined if it cannot be dialled.
   */
  #peer(id: NodeId): Peer | undefined {
    const known = this.#peers.get(id);
    if (known !== undefined) return known;
    const address = this.#addressOf(id);
    if (address === undefined || this.#closed || this.#security.mode === 'closed') return undefined;
    if (this.#security.mode === 'plain' && !isLoopbackAddress(address)) {
      if (this.#unprotected.has(address)) return undefined;
      this.#unprotected.add(address);
      const advice = 'give every member the same shared key, or TLS certificates';
      const text = `node ${id} at ${address} is not contacted without protection: ${advice}`;
      this.#context.log('warn', text, 'peer_unprotected', id);
      return undefined;
    }
    const peer = new Peer(this.#context, id, address);
    this.#peers.set(id, peer);
    return peer;
  }

  #drop(id: NodeId): void {
    this.#peers.get(id)?.close();
    this.#peers.delete(id);
  }

  #tick(): void {
    if (this.#closed) return;
    for (const peer of this.#peers.values()) {
      peer.tick();
      // Nobody waits for a node that is not a member to come back. A message to it dials again.
      if (!this.#members.has(peer.id) && peer.failures > 2) this.#drop(peer.id);
    }
    for (const sender of this.#sending.values()) sender.tick();
    for (const connection of this.#accepted.keys()) {
      // The peer sends the pings. This side waits twice as long, so that the peer closes first.
      if (connection.countSilence() > this.#context.limits.silentTurns * 2) {
        connection.destroy(new Error('the peer is silent'));
      }
    }
  }

  #logRefusal(remote: string, problem: string, peer?: NodeId): void {
    const now = this.#context.clock.now();
    if (now - (this.#refusals.get(problem) ?? -REFUSAL_LOG_MS) < REFUSAL_LOG_MS) return;
    if (this.#refusals.size >= REFUSALS_MAX) this.#refusals.clear();
    this.#refusals.set(problem, now);
    const text = `a connection from ${remote} was refused: ${problem}`;
    this.#context.log('warn', text, 'connection_refused', peer);
  }

  #welcome(connection: Connection): void {
    this.#accepted.set(connection, undefined);
    connection.onGone = () => this.#accepted.delete(connection);
    accept(this.#context, connection, (hello, shown) => {
      if (shown.subject !== undefined && hello.purpose !== 'join') {
        const subject = connection.ownCertificate?.subject;
        const { nodeId } = this.#context.identity();
        this.#subjects.note(hello.nodeId, shown.subject, { nodeId, subject });
      }
      // A server that asks to join has only proved that it may ask.
      if (hello.purpose !== 'join') this.#unauthenticated.proved(connection.remote);
      this.#accepted.set(connection, hello.nodeId);
      if (hello.purpose === 'join') this.#serveJoin(connection, hello, shown);
      else if (hello.purpose === 'snapshot') {
        receiveSnapshot(this.#context, connection, hello.nodeId);
      } else this.#serveMember(connection, hello);
    });
  }

  #serveMember(connection: Connection, hello: Hello): void {
    const { handlers, limits } = this.#context;
    const own = this.#context.identity().nodeId;
    const { nodeId, address } = hello;
    this.#learnt.set(nodeId, { address, connection });
    this.#peers.get(nodeId)?.hasDialled();
    let open = 0;
    connection.events = {
      onClose: () => {
        if (this.#learnt.get(nodeId)?.connection === connection) this.#learnt.delete(nodeId);
      },
      onFrame: (frame) => {
        if (frame.type === 'message') {
          const { from, to } = frame.message;
          if (from === hello.nodeId && to === own) handlers.onMessage(frame.message);
          else {
            const what = `a message from ${from} to ${to}, sent by ${hello.nodeId}`;
            connection.destroy(new WireError('protocol', what));
          }
        } else if (frame.type === 'request' && open >= limits.requests) {
          connection.answer({ type: 'reply', id: frame.id, payload: NOT_HANDLED });
        } else if (frame.type === 'request') {
          open += 1;
          handlers.onRequest(
            hello.nodeId,
            frame.payload,
            once(connection, frame.id, () => open--),
          );
        } else connection.destroy(new WireError('protocol', `${frame.type} from a member`));
      },
    };
  }

  #serveJoin(connection: Connection, hello: Hello, { subject, publicKey }: Shown): void {
    const { nodeId, incarnation, starts, startId } = hello;
    const joiner: Joiner = {
      nodeId,
      incarnation,
      starts,
      startId,
      ...(subject !== undefined && { subject }),
      ...(publicKey !== undefined && { publicKey }),
    };
    let hasAsked = false;
    connection.events = {
      onClose: () => {},
      onFrame: (frame) => {
        if (frame.type !== 'request' || frame.id !== 1 || hasAsked) {
          connection.destroy(new WireError('protocol', `${frame.type} from a joining node`));
          return;
        }
        hasAsked = true;
        this.#context.handlers.onJoinRequest(
          joiner,
          frame.payload,
          once(connection, 1, () => {}),
        );
      },
    };
  }
}

/** Returns a function that replies at most once. */
function once(connection: Connection, id: number, release: () => void) {
  let given = false;
  return (payload: Uint8Array): void => {
    if (given) return;
    given = true;
    release();
    connection.answer({ type: 'reply', id, payload });
  };
}
