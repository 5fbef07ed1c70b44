/**
 * The first frames of a connection. Each side says who it is; the one that listens answers with its
 * own hello or with a refusal. What is refused: a release without a protocol version in common,
 * another cluster, a node that is not the one meant, a node under our own id, one that was removed,
 * one that this node does not know, one that shows another certificate than before, and a node
 * whose data folder has forgotten something: its incarnation is not the one known for its id (the
 * disk was wiped), or it was started from an older copy of itself.
 */

import type { PeerRecord } from '../peer-record.js';
import type { NodeId } from '../raft/types.js';
import { FRAME_BYTES_MAX } from '../wire-limits.js';
import { Connection } from './connection.js';
import { type Hello, OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION, type Purpose } from './frames.js';
import { parseAddress, type SocketMaker } from './security.js';
import {
  type PeerRecords,
  WireError,
  type WireHandlers,
  type WireIdentity,
  type WireLog,
} from './types.js';

export interface WireLimits {
  /** A frame; must hold the largest append message, request and snapshot chunk. */
  readonly frameBytes: number;
  /** Frames waiting for one peer; more than Raft has in flight to it. */
  readonly queueBytes: number;
  /**
   * Questions to one peer that wait for their answer, and questions of one peer that wait for ours.
   */
  readonly requests: number;
  /** Connections accepted at a time. */
  readonly connections: number;
  /** Time to connect and to say hello. */
  readonly connectMs: number;
  /**
   * Pause before connecting again: doubles from the first to the second, with chance; about two
   * heartbeats at most.
   */
  readonly reconnectMinMs: number;
  readonly reconnectMaxMs: number;
  /** Every so often a connection must show that it lives. */
  readonly pingMs: number;
  /** Pings without an answer after which a connection is given up. */
  readonly silentTurns: number;
  /** Pings after which a chunk of a state must have been stored, or the transfer is given up. */
  readonly stalledTurns: number;
}

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

/** What all parts of the wire share. */
export interface WireContext {
  readonly identity: () => WireIdentity;
  readonly records: PeerRecords;
  readonly handlers: WireHandlers;
  readonly log: WireLog;
  /** Says in the log why someone who connected was refused; not again and again. */
  readonly logRefusal: (remote: string, problem: string) => void;
  readonly limits: WireLimits;
  readonly sockets: () => SocketMaker;
  readonly random: () => number;
  /** Whether the newest configuration holds the node, or did a moment ago. */
  readonly isMember: (id: NodeId) => boolean;
}

function helloFor(context: WireContext, purpose: Purpose, target: string): Hello {
  const { clusterId, nodeId, incarnation, starts, startId, earlier, address } = context.identity();
  return {
    ...{ version: PROTOCOL_VERSION, oldestVersion: OLDEST_PROTOCOL_VERSION },
    ...{ clusterId: clusterId ?? '', nodeId, incarnation, starts, startId, earlier, address },
    ...{ purpose, target },
  };
}

/**
 * Whether a node is a member, or may be one although the configuration here is too old to hold it.
 */
export const isKnown = ({ records, isMember }: WireContext, id: NodeId): boolean =>
  isMember(id) || records.isKnown?.(id) !== false;

export const stranger = ({ nodeId }: Hello): WireError =>
  new WireError('stranger', `node ${nodeId} is no member that this node knows`);

/**
 * Why a node that connects is turned away: it was removed, or it brings a state and is not known. A
 * stranger that brings messages is answered, so that it can judge this node; see `Wire`.
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
 * Why a node that says hello is not believed; undefined when it is. Remembers the data folder of
 * one that is, and `subject`, that of its certificate.
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

/** Whether this is the protocol, the cluster and the node that the other side means. */
function checkClaims(context: Pick<WireContext, 'identity'>, hello: Hello): WireError | undefined {
  const own = context.identity();
  const who = `node ${hello.nodeId}`;
  if (hello.version < OLDEST_PROTOCOL_VERSION || hello.oldestVersion > PROTOCOL_VERSION) {
    const its = `${hello.oldestVersion} to ${hello.version}`;
    const ours = `${OLDEST_PROTOCOL_VERSION} to ${PROTOCOL_VERSION}`;
    const why = `${who} speaks versions ${its} of the members' protocol, this node ${ours}`;
    return new WireError('version', why);
  }
  if (hello.target !== '' && hello.target !== own.nodeId) {
    return new WireError('target', `${who} looks for node ${hello.target}; this is ${own.nodeId}`);
  }
  if (hello.nodeId === own.nodeId) {
    return new WireError('same_id', `another node uses the id ${own.nodeId} of this one`);
  }
  const joining = hello.purpose === 'join';
  if (joining && hello.clusterId === '') return undefined;
  if (hello.clusterId !== (own.clusterId ?? '') || (own.clusterId === null && !joining)) {
    return new WireError(
      'cluster',
      `${who} belongs to cluster "${hello.clusterId}", node ${own.nodeId} to "${own.clusterId ?? ''}"`,
    );
  }
  return undefined;
}

/** Compares the sender's certificate and data folder with what is known of them. */
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
      `node ${nodeId} shows the certificate of "${subject}", known is "${pinned}". A renewed certificate must have the same ` +
        'subject; for another one remove the server from the cluster, then add it as a new server',
    );
  }
  if (known !== undefined && known.incarnation !== incarnation) {
    return new WireError(
      'incarnation',
      `node ${nodeId} comes with another data folder than before (${incarnation}, known is ${known.incarnation}): a node ` +
        'whose disk was wiped or replaced has forgotten its votes. Remove it from the cluster, then add it as a new server',
    );
  }
  // One process connects many times.
  const isSameStart = known?.startId === startId && known.starts === starts;
  if (isSameStart && known.subject === pinned) return undefined;
  // A copy that was started often enough has a new number, but does not know the start that was
  // seen.
  const before = known && earlier[starts - known.starts - 1];
  const isCopy = before !== undefined && before !== known?.startId;
  if (known !== undefined && !isSameStart && (starts <= known.starts || isCopy)) {
    return new WireError(
      'reverted',
      `node ${nodeId} was started from an older copy of its data folder (its start ${starts}, start ${known.starts} was ` +
        'seen before): a node whose disk went back in time has forgotten votes and entries that it had acknowledged. ' +
        'Remove it from the cluster, empty its data folder, then add it as a new server',
    );
  }
  const record: PeerRecord = {
    ...{ incarnation, starts, startId },
    ...(pinned !== undefined && { subject: pinned }),
  };
  records.set(nodeId, record);
  return undefined;
}

/**
 * Connects and says hello. Exactly one of the two callbacks is called; the returned function gives
 * up, calling none.
 */
export function dial(
  context: WireContext,
  to: { readonly address: string; readonly purpose: Purpose; readonly target: string },
  onOpen: (connection: Connection, hello: Hello) => void,
  onFail: (error: Error) => void,
): () => void {
  let decided = false;
  let socket: ReturnType<SocketMaker['dial']>;
  const decide = (run: () => void) => {
    if (decided) return;
    decided = true;
    clearTimeout(timer);
    run();
  };
  const fail = (error: Error) =>
    decide(() => {
      socket?.destroy();
      onFail(error);
    });
  const timer = setTimeout(
    () => fail(new Error(`no answer within ${context.limits.connectMs} ms`)),
    context.limits.connectMs,
  );
  try {
    socket = context.sockets().dial(parseAddress(to.address), () => {
      connection.send({ type: 'hello', hello: helloFor(context, to.purpose, to.target) });
    });
  } catch (error) {
    setImmediate(fail, error as Error);
    return () => decide(() => {});
  }
  const connection = new Connection(socket);
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
          : new WireError('protocol', `${frame.type} instead of hello`);
      if (problem !== undefined) fail(problem);
      else if (frame.type === 'hello') {
        connection.trust(context.limits);
        decide(() => onOpen(connection, frame.hello));
      }
    },
  };
  return () =>
    decide(() => {
      socket.destroy();
    });
}

/** The answer to our hello must come from the node we meant. */
function checkWelcome(
  context: WireContext,
  { target, purpose }: { readonly target: string; readonly purpose: Purpose },
  hello: Hello,
  subject: string | undefined,
): WireError | undefined {
  if (target !== '' && hello.nodeId !== target) {
    return new WireError('target', `node ${hello.nodeId} answers where ${target} was expected`);
  }
  // A node that asks to join learns the cluster by asking.
  if (purpose === 'join') return undefined;
  return checkHello(context, hello, subject);
}

/**
 * Waits for the hello of a node that connected, and answers it. `onOpen` is called for a node that
 * is believed.
 */
export function accept(
  context: WireContext,
  connection: Connection,
  onOpen: (hello: Hello) => void,
): void {
  const timer = setTimeout(
    () => connection.destroy(new Error('no hello in time')),
    context.limits.connectMs,
  );
  connection.events = {
    onClose: () => clearTimeout(timer),
    onFrame: (frame) => {
      clearTimeout(timer);
      if (frame.type !== 'hello') {
        connection.destroy(new WireError('protocol', `${frame.type} instead of hello`));
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
      if (purpose === 'join' || isKnown(context, nodeId)) connection.trust(context.limits);
      onOpen(frame.hello);
    },
  };
}
