/**
 * The first frames of a connection. Each side identifies itself with a hello; the listening side
 * answers with its own hello or with a refusal:
 *
 *     a                                  b
 *     hello {nodeId a, target b}   ->
 *                                  <-    hello {nodeId b}, or refused {code, message}
 *
 * A node refuses a peer
 * - that has no protocol version in common with it, or belongs to another cluster;
 * - that looks for another node, uses this node's id, or was removed from the cluster;
 * - that brings a snapshot and is unknown here;
 * - that shows another certificate than before;
 * - whose data folder has lost something: its incarnation is not the one recorded for its id (the
 *   disk was wiped), or it was started from an older copy of the folder.
 */

import { parseAddress } from '../address.js';
import type { PeerRecord } from '../peer-record.js';
import type { NodeId } from '../raft/types.js';
import { FRAME_BYTES_MAX } from '../wire-limits.js';
import type { WireClock } from './clock.js';
import { Connection } from './connection.js';
import { type Hello, OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION, type Purpose } from './frames.js';
import type { WireSocket, WireSockets } from './sockets.js';
import {
  type PeerRecords,
  WireError,
  type WireHandlers,
  type WireIdentity,
  type WireLog,
} from './types.js';

/** Limits of the network between members. Sizes in bytes, times in milliseconds. */
export interface WireLimits {
  /** Size of a frame. It must hold the largest append message, request and snapshot chunk. */
  readonly frameBytes: number;
  /** Size of the frames queued for one peer: at least what Raft has in flight to it. */
  readonly queueBytes: number;
  /**
   * Requests to one peer that wait for its answer, and requests of one peer that wait for ours.
   */
  readonly requests: number;
  /** Accepted connections that may be open at the same time. */
  readonly connections: number;
  /** Time to connect and to complete the handshake. */
  readonly connectMs: number;
  /**
   * Pause before connecting again. It doubles from the minimum to the maximum, with jitter. The
   * maximum is about two heartbeats.
   */
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  /** Interval between pings. */
  readonly pingMs: number;
  /** Pings without an answer after which a connection is closed. */
  readonly silentTurns: number;
  /** Pings without a stored chunk after which a snapshot transfer is aborted. */
  readonly stalledTurns: number;
}

/** The limits in production. */
export const DEFAULT_LIMITS: WireLimits = {
  frameBytes: FRAME_BYTES_MAX,
  queueBytes: 32 * 2 ** 20,
  requests: 10_000,
  connections: 256,
  connectMs: 1000,
  reconnectMinMs: 20,
  reconnectMaxMs: 200,
  pingMs: 500,
  silentTurns: 4,
  stalledTurns: 60,
};

/**
 * Throws Error if the queue for a peer cannot hold the append frames that Raft may have in flight to
 * it. A full queue drops the oldest append, so Raft sends the window again, which would fill the
 * queue again.
 */
export function checkQueue({ queueBytes }: WireLimits, inflightBytes: number): void {
  if (queueBytes >= inflightBytes) return;
  throw new Error(
    `queueBytes (${queueBytes}) must be at least the ${inflightBytes} bytes that Raft may have ` +
      'in flight to one member: a smaller queue would drop the same appends again and again',
  );
}

/** What all parts of the network share. */
export interface WireContext {
  readonly identity: () => WireIdentity;
  readonly records: PeerRecords;
  readonly handlers: WireHandlers;
  readonly log: WireLog;
  /** Logs why a connection was refused. Logs the same reason only once in a while. */
  readonly logRefusal: (remote: string, problem: string) => void;
  readonly limits: WireLimits;
  readonly sockets: () => WireSockets;
  readonly clock: WireClock;
  readonly random: () => number;
  /** Whether the newest configuration contains the node, or did until recently. */
  readonly isMember: (id: NodeId) => boolean;
}

/** The newest version of the protocol that both sides speak. */
const sharedVersion = ({ version }: Hello): number => Math.min(PROTOCOL_VERSION, version);

function helloFor(context: WireContext, purpose: Purpose, target: string): Hello {
  const { clusterId, nodeId, incarnation, starts, startId, earlier, address } = context.identity();
  return {
    version: PROTOCOL_VERSION,
    oldestVersion: OLDEST_PROTOCOL_VERSION,
    clusterId: clusterId ?? '',
    nodeId,
    incarnation,
    starts,
    startId,
    earlier,
    address,
    purpose,
    target,
  };
}

/**
 * Whether a node is a member, or may be one although the configuration of this node is too old to
 * contain it.
 */
export const isKnown = ({ records, isMember }: WireContext, id: NodeId): boolean =>
  isMember(id) || records.isKnown?.(id) !== false;

/** The error for a node that this node does not know. */
export const stranger = ({ nodeId }: Hello): WireError =>
  new WireError('stranger', `node ${nodeId} is not a known member of this cluster`);

/**
 * Returns why a connecting node is refused: it was removed, or it brings a snapshot and is unknown.
 * An unknown node that brings messages is answered, so that it can check this node's hello; see
 * `Wire`.
 */
function checkSpeaker(context: WireContext, hello: Hello): WireError | undefined {
  const { nodeId, purpose } = hello;
  if (!context.isMember(nodeId) && context.records.isRemoved?.(nodeId) === true) {
    return new WireError(
      'removed',
      `node ${nodeId} was removed from the cluster. Stop it, empty its data folder, and let it join as a new server`,
    );
  }
  return purpose === 'snapshot' && !isKnown(context, nodeId) ? stranger(hello) : undefined;
}

/**
 * Returns why the hello of a node is refused; undefined if it is accepted. Records the data folder
 * of an accepted node, and `subject`, the one of its certificate.
 */
export function checkHello(
  context: Pick<WireContext, 'identity' | 'records'>,
  hello: Hello,
  subject?: string,
): WireError | undefined {
  const problem = checkClaims(context, hello);
  if (problem !== undefined || hello.purpose === 'join') return problem;
  return checkRecord(context.records, hello, subject);
}

/** Checks that both sides mean the same protocol, cluster and node. */
function checkClaims(context: Pick<WireContext, 'identity'>, hello: Hello): WireError | undefined {
  const own = context.identity();
  const who = `node ${hello.nodeId}`;
  if (hello.version < OLDEST_PROTOCOL_VERSION || hello.oldestVersion > PROTOCOL_VERSION) {
    const its = `${hello.oldestVersion} to ${hello.version}`;
    const ours = `${OLDEST_PROTOCOL_VERSION} to ${PROTOCOL_VERSION}`;
    const why = `${who} supports protocol versions ${its}, but this node supports ${ours}`;
    return new WireError('version', why);
  }
  if (hello.target !== '' && hello.target !== own.nodeId) {
    return new WireError(
      'target',
      `${who} expected to reach node ${hello.target}, but this is node ${own.nodeId}`,
    );
  }
  if (hello.nodeId === own.nodeId) {
    return new WireError('same_id', `another node uses the id of this node, ${own.nodeId}`);
  }
  const joining = hello.purpose === 'join';
  if (joining && hello.clusterId === '') return undefined;
  if (hello.clusterId !== (own.clusterId ?? '') || (own.clusterId === null && !joining)) {
    return new WireError(
      'cluster',
      `${who} belongs to cluster "${hello.clusterId}", but node ${own.nodeId} to "${own.clusterId ?? ''}"`,
    );
  }
  return undefined;
}

/**
 * Compares the sender's certificate and data folder with the recorded ones. Returns why the sender
 * is refused; otherwise records them.
 */
export function checkRecord(
  records: PeerRecords,
  hello: Pick<Hello, 'nodeId' | 'incarnation' | 'starts' | 'startId'> & Partial<Hello>,
  subject: string | undefined,
): WireError | undefined {
  const { nodeId, incarnation, starts, startId, earlier = [] } = hello;
  const known = records.get(nodeId);
  const pinned = known?.subject ?? subject;
  if (subject !== undefined && subject !== pinned) {
    return new WireError(
      'certificate',
      `node ${nodeId} presents a certificate of "${subject}", but was known by "${pinned}". A ` +
        'renewed certificate must keep its subject. To change the subject, remove the server ' +
        'from the cluster, then add it as a new server',
    );
  }
  if (known !== undefined && known.incarnation !== incarnation) {
    return new WireError(
      'incarnation',
      `node ${nodeId} has a different data folder than before (${incarnation} instead of ` +
        `${known.incarnation}): a node whose disk was wiped or replaced has forgotten its ` +
        'votes. Remove it from the cluster, then add it as a new server',
    );
  }
  // A process connects many times during one start.
  const isSameStart = known?.startId === startId && known.starts === starts;
  if (isSameStart && known.subject === pinned) return undefined;
  // An older copy that was started often enough has a higher number too, but its history of starts
  // lacks the recorded one:
  //   recorded        start 5, id e
  //   same folder     start 6, earlier e, d, c     accepted
  //   restored copy   start 6, earlier x, d, c     refused: another start was number 5
  const before = known && earlier[starts - known.starts - 1];
  const isCopy = before !== undefined && before !== known?.startId;
  if (known !== undefined && !isSameStart && (starts <= known.starts || isCopy)) {
    return new WireError(
      'reverted',
      `node ${nodeId} was started from an older copy of its data folder (this is start ` +
        `${starts}, but start ${known.starts} was seen before): a node whose disk went back in ` +
        'time has forgotten votes and entries that it had acknowledged. Remove it from the ' +
        'cluster, empty its data folder, then add it as a new server',
    );
  }
  const record: PeerRecord = { incarnation, starts, startId };
  records.set(nodeId, pinned === undefined ? record : { ...record, subject: pinned });
  return undefined;
}

/**
 * Connects and exchanges hellos. Calls exactly one of the two callbacks. The returned function
 * cancels the attempt; then neither is called.
 */
export function dial(
  context: WireContext,
  to: { readonly address: string; readonly purpose: Purpose; readonly target: string },
  onOpen: (connection: Connection, hello: Hello) => void,
  onFail: (error: Error) => void,
): () => void {
  let decided = false;
  let socket: WireSocket;
  const decide = (run: () => void) => {
    if (decided) return;
    decided = true;
    cancelTimer();
    run();
  };
  const fail = (error: Error) =>
    decide(() => {
      socket?.destroy();
      onFail(error);
    });
  const { clock, limits } = context;
  const cancelTimer = clock.after(limits.connectMs, () =>
    fail(new Error(`no answer within ${limits.connectMs} ms`)),
  );
  try {
    socket = context.sockets().dial(parseAddress(to.address), () => {
      connection.send({ type: 'hello', hello: helloFor(context, to.purpose, to.target) });
    });
  } catch (error) {
    clock.soon(() => fail(error as Error));
    return () => decide(() => {});
  }
  const connection = new Connection(socket, clock);
  connection.events = {
    onClose: (error) => fail(error ?? new Error('the connection was closed')),
    onFrame: (frame) => {
      if (frame.type === 'refused') {
        fail(
          new WireError(frame.code as WireError['code'], `refused by the peer: ${frame.message}`),
        );
        return;
      }
      const problem =
        frame.type === 'hello'
          ? checkWelcome(context, to, frame.hello, connection.subject)
          : new WireError('protocol', `expected hello, not ${frame.type}`);
      if (problem !== undefined) fail(problem);
      else if (frame.type === 'hello') {
        connection.trust(limits);
        connection.greeted(sharedVersion(frame.hello));
        decide(() => onOpen(connection, frame.hello));
      }
    },
  };
  return () =>
    decide(() => {
      socket.destroy();
    });
}

/** Checks that the answer to our hello comes from the node that we dialled. */
function checkWelcome(
  context: WireContext,
  { target, purpose }: { readonly target: string; readonly purpose: Purpose },
  hello: Hello,
  subject: string | undefined,
): WireError | undefined {
  if (target !== '' && hello.nodeId !== target) {
    return new WireError('target', `expected node ${target}, but node ${hello.nodeId} answered`);
  }
  // A joining node does not know the cluster yet.
  if (purpose === 'join') return undefined;
  return checkHello(context, hello, subject);
}

/**
 * Waits for the hello of a connecting node and answers it. Calls `onOpen` if the node is accepted.
 */
export function accept(
  context: WireContext,
  connection: Connection,
  onOpen: (hello: Hello) => void,
): void {
  const cancelTimer = context.clock.after(context.limits.connectMs, () =>
    connection.destroy(new Error(`no hello within ${context.limits.connectMs} ms`)),
  );
  connection.events = {
    onClose: cancelTimer,
    onFrame: (frame) => {
      cancelTimer();
      if (frame.type !== 'hello') {
        connection.destroy(new WireError('protocol', `expected hello, not ${frame.type}`));
        return;
      }
      const { nodeId, purpose } = frame.hello;
      const problem =
        checkClaims(context, frame.hello) ??
        checkSpeaker(context, frame.hello) ??
        (purpose === 'join' || !isKnown(context, nodeId)
          ? undefined
          : checkRecord(context.records, frame.hello, connection.subject));
      if (problem !== undefined) {
        context.logRefusal(connection.remote, problem.message);
        connection.send({ type: 'refused', code: problem.code, message: problem.message });
        connection.events = undefined;
        connection.end();
        return;
      }
      connection.send({ type: 'hello', hello: helloFor(context, purpose, '') });
      const ends = { from: nodeId, to: context.identity().nodeId };
      connection.greeted(sharedVersion(frame.hello), purpose === 'messages' ? ends : undefined);
      if (purpose === 'join' || isKnown(context, nodeId)) connection.trust(context.limits);
      onOpen(frame.hello);
    },
  };
}
