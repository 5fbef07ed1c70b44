/**
 * The first frames of a connection. Each side identifies itself with a hello; the listening side
 * answers with its own hello or with a refusal:
 *
 *     a                                  b
 *     hello {nodeId a, target b}   ->
 *                                  <-    hello {nodeId b}, or refused {code, message}
 *
 * Each hello proves that its sender has the private key of its data folder (`proof.ts`). A node
 * refuses a peer
 * - that has no protocol version in common with it, or belongs to another cluster;
 * - that looks for another node, uses this node's id, or was removed from the cluster;
 * - that is unknown here, unless it asks to join;
 * - that shows another certificate than before, or does not prove the key that is known of it;
 * - whose data folder has lost something: its incarnation is not the one recorded for its id (the
 *   disk was wiped), or it was started from an older copy of the folder.
 * Neither a refusal nor the answer to a server that asks to join names anything by which members
 * recognise each other (`hello-checks.ts`).
 */

import { parseAddress } from '../base/address.js';
import { FRAME_BYTES_MAX } from '../base/wire-limits.js';
import type { NodeId } from '../raft/types.js';
import type { WireClock } from './clock.js';
import { Connection } from './connection.js';
import { type Hello, OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION, type Purpose } from './frames.js';
import { checkHello, checkKnown, type HelloContext, type Shown, shownBy } from './hello-checks.js';
import { type Proven, prove } from './proof.js';
import type { WireSocket, WireSockets } from './sockets.js';
import { WireError, type WireHandlers, type WireLog } from './types.js';

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
  pingMs: 1000,
  silentTurns: 2,
  stalledTurns: 30,
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
export interface WireContext extends HelloContext {
  readonly handlers: WireHandlers;
  readonly log: WireLog;
  /** Logs why a connection was refused. Logs the same reason only once in a while. */
  readonly logRefusal: (remote: string, problem: string, peer: NodeId) => void;
  readonly limits: WireLimits;
  readonly sockets: () => WireSockets;
  readonly clock: WireClock;
  readonly random: () => number;
}

/** A server that asks to join may not be admitted: its request has two short texts and a token. */
const JOINER_LIMITS = { frameBytes: 16 * 1024, queueBytes: 16 * 1024 };

/** The hello of this node on a connection. */
function helloFor(
  context: WireContext,
  { binding }: Connection,
  { purpose, target }: Pick<Hello, 'purpose' | 'target'>,
  side: Proven['side'],
): Hello {
  const { clusterId, nodeId, keyPair, ...own } = context.identity();
  const { incarnation, starts, startId, earlier, address } = own;
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
    ...(binding !== undefined &&
      keyPair !== undefined && {
        publicKey: keyPair.publicKey,
        proof: prove(keyPair, { binding, side, nodeId, purpose }),
      }),
  };
}

/** What stands in a hello where a stranger must learn nothing: it may not be empty. */
const UNTOLD = '-';

/** The answer to a server that asks to join. It is told the rest once it is admitted. */
function helloForJoiner(context: WireContext): Hello {
  return {
    version: PROTOCOL_VERSION,
    oldestVersion: OLDEST_PROTOCOL_VERSION,
    clusterId: '',
    nodeId: context.identity().nodeId,
    incarnation: UNTOLD,
    starts: 0,
    startId: UNTOLD,
    earlier: [],
    address: '',
    purpose: 'join',
    target: '',
  };
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
  let certificate: Connection['ownCertificate'];
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
      certificate = connection.ownCertificate;
      connection.send({ type: 'hello', hello: helloFor(context, connection, to, 'dialling') });
    });
  } catch (error) {
    clock.soon(() => fail(error as Error));
    return () => decide(() => {});
  }
  const connection = new Connection(socket, clock);
  connection.events = {
    onClose: (error) => fail(closeReason(error, certificate)),
    onFrame: (frame) => {
      if (frame.type === 'refused') {
        const code = frame.code as WireError['code'];
        fail(new WireError(code, `refused by the peer: ${frame.message}`));
        return;
      }
      if (frame.type !== 'hello') {
        fail(new WireError('protocol', `expected hello, not ${frame.type}`));
        return;
      }
      const problem = checkWelcome(context, to, frame.hello, connection);
      if (problem !== undefined) fail(problem);
      else {
        connection.trust(limits);
        decide(() => onOpen(connection, frame.hello));
      }
    },
  };
  return () =>
    decide(() => {
      socket.destroy();
    });
}

/**
 * Why a connection that was not answered is closed. In TLS 1.3 the dialling side may send before
 * the other side has looked at its certificate, and is not told why it is refused.
 */
function closeReason(
  error: NodeJS.ErrnoException | undefined,
  certificate: Connection['ownCertificate'],
): Error {
  if (certificate === undefined) return error ?? new Error('the connection was closed');
  const why = error === undefined ? '' : ` (${error.code ?? error.message})`;
  return new Error(
    `it closed the connection right after the TLS handshake${why}: it probably refused the ` +
      `certificate of this node (subject "${certificate.subject}", issuer ` +
      `"${certificate.issuer}"); see its log`,
  );
}

/** Checks that the answer to our hello comes from the node that we dialled. */
function checkWelcome(
  context: WireContext,
  { target, purpose }: { readonly target: string; readonly purpose: Purpose },
  hello: Hello,
  connection: Connection,
): WireError | undefined {
  if (target !== '' && hello.nodeId !== target) {
    return new WireError('target', `expected node ${target}, but node ${hello.nodeId} answered`);
  }
  // A joining node does not know the cluster yet.
  if (purpose === 'join') return undefined;
  const shown = shownBy(connection, hello, 'accepting');
  return shown instanceof WireError ? shown : checkHello(context, hello, shown);
}

/**
 * Waits for the hello of a connecting node and answers it. Calls `onOpen` if the node is accepted.
 */
export function accept(
  context: WireContext,
  connection: Connection,
  onOpen: (hello: Hello, shown: Shown) => void,
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
      const { hello } = frame;
      const { nodeId, purpose } = hello;
      const shown = shownBy(connection, hello, 'dialling');
      const problem = shown instanceof WireError ? shown : checkKnown(context, hello, shown);
      if (problem !== undefined) refuse(context, connection, hello, problem);
      else {
        const answer =
          purpose === 'join'
            ? helloForJoiner(context)
            : helloFor(context, connection, { purpose, target: '' }, 'accepting');
        connection.send({ type: 'hello', hello: answer });
        if (purpose === 'messages')
          connection.ends = { from: nodeId, to: context.identity().nodeId };
        connection.trust(purpose === 'join' ? JOINER_LIMITS : context.limits);
        onOpen(hello, shown as Shown);
      }
    },
  };
}

/** Refuses a node: the log gets the whole reason, the node what it may know. */
function refuse(
  context: WireContext,
  connection: Connection,
  { nodeId }: Hello,
  { code, message, told }: WireError,
): void {
  context.logRefusal(connection.remote, message, nodeId);
  connection.send({ type: 'refused', code, message: told });
  connection.events = undefined;
  connection.end();
  // By the time it comes again, a member may have vouched for it.
  if (code === 'stranger') context.handlers.onStranger?.(nodeId);
}
