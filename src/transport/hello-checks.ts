/**
 * Who is who between members: whether a node is the one that it says it is. What a refused node is
 * told (`WireError.told`) contains nothing by which it could pass for a member: no cluster id,
 * incarnation, start or key of another one.
 */
import type { PeerRecord } from '../base/peer-record.js';
import type { NodeId } from '../raft/types.js';
import type { Connection } from './connection.js';
import { type Hello, OLDEST_PROTOCOL_VERSION, PROTOCOL_VERSION } from './frames.js';
import { isProof, type Proven } from './proof.js';
import { type Joiner, type PeerRecords, WireError, type WireIdentity } from './types.js';

/** What hellos are checked against. */
export interface HelloContext {
  readonly identity: () => WireIdentity;
  readonly records: PeerRecords;
  /** Whether the newest configuration contains the node, or did until recently. */
  readonly isMember: (id: NodeId) => boolean;
}

/**
 * Whether a node is a member, or may be one although the configuration of this node is too old to
 * contain it.
 */
const isKnown = ({ records, isMember }: HelloContext, id: NodeId): boolean =>
  isMember(id) || records.isKnown?.(id) !== false;

/** The error for a node that this node does not know. */
const stranger = ({ nodeId }: Hello): WireError =>
  new WireError(
    'stranger',
    `node ${nodeId} is not a known member of this cluster`,
    `it does not know node ${nodeId} as a member: it lags behind, its data folder was wiped or ` +
      'restored from a copy, or this is another cluster; see its log',
  );

/** Returns why a connecting node is refused: it was removed, or is unknown and does not join. */
function checkSpeaker(context: HelloContext, hello: Hello): WireError | undefined {
  const { nodeId, purpose } = hello;
  if (!context.isMember(nodeId) && context.records.isRemoved?.(nodeId) === true) {
    return new WireError(
      'removed',
      `node ${nodeId} was removed from the cluster. Stop it, empty its data folder, and let it ` +
        'join as a new server',
    );
  }
  return purpose !== 'join' && !isKnown(context, nodeId) ? stranger(hello) : undefined;
}

/** What a connection has shown of the peer, besides what its hello says. */
export interface Shown {
  /** Subject of its certificate, where TLS is used. */
  readonly subject: string | undefined;
  /** The public key of which it has proved to have the private half. */
  readonly publicKey: string | undefined;
}

/**
 * Returns what a connection has shown of the peer, or the error for a proof that is wrong. Releases
 * before 0.4.0 send none, and without TLS there is nothing that a proof could be bound to.
 */
export function shownBy(
  { subject, binding }: Pick<Connection, 'subject' | 'binding'>,
  { nodeId, purpose, publicKey, proof }: Hello,
  side: Proven['side'],
): Shown | WireError {
  if (binding === undefined || publicKey === undefined || proof === undefined)
    return { subject, publicKey: undefined };
  if (isProof(proof, publicKey, { binding, side, nodeId, purpose })) return { subject, publicKey };
  return new WireError('key', `node ${nodeId} does not prove that it has the key that it presents`);
}

/**
 * Returns why the hello of a node is refused; undefined if it is accepted. Records the data folder
 * of an accepted node, and what it has shown.
 */
export function checkHello(
  context: Pick<HelloContext, 'identity' | 'records'>,
  hello: Hello,
  shown: Shown,
): WireError | undefined {
  const problem = checkClaims(context, hello);
  if (problem !== undefined || hello.purpose === 'join') return problem;
  return checkRecord(context.records, hello, shown);
}

/** The same for the hello of a connecting node, of which this node may know nothing. */
export const checkKnown = (
  context: HelloContext,
  hello: Hello,
  shown: Shown,
): WireError | undefined =>
  checkClaims(context, hello) ?? checkSpeaker(context, hello) ?? checkHello(context, hello, shown);

/** Checks that both sides mean the same protocol, cluster and node. */
function checkClaims(context: Pick<HelloContext, 'identity'>, hello: Hello): WireError | undefined {
  const own = context.identity();
  const who = `node ${hello.nodeId}`;
  if (hello.version < OLDEST_PROTOCOL_VERSION || hello.oldestVersion > PROTOCOL_VERSION) {
    const its = `${hello.oldestVersion} to ${hello.version}`;
    const ours = `${OLDEST_PROTOCOL_VERSION} to ${PROTOCOL_VERSION}`;
    const why = `${who} supports protocol versions ${its}, but this node supports ${ours}`;
    const advice = ': it runs a release before 0.3.0. Upgrade it to 0.3.0 first';
    return new WireError('version', hello.version < OLDEST_PROTOCOL_VERSION ? why + advice : why);
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
    const claim = `${who} belongs to cluster "${hello.clusterId}", but`;
    return new WireError(
      'cluster',
      `${claim} node ${own.nodeId} to "${own.clusterId ?? ''}"`,
      `${claim} this node to another one`,
    );
  }
  return undefined;
}

/**
 * Compares the sender's certificate, key and data folder with what is known of them. Returns why
 * the sender is refused; otherwise records them.
 */
function checkRecord(
  records: PeerRecords,
  hello: Pick<Hello, 'nodeId' | 'incarnation' | 'starts' | 'startId'> & Partial<Hello>,
  shown: Shown,
): WireError | undefined {
  const { nodeId, incarnation, starts, startId } = hello;
  const key = records.keyOf?.(nodeId);
  const last = records.get(nodeId);
  // The members agree on a key, so what was recorded under another one was an impostor.
  const isImpostor = last?.publicKey !== undefined && key !== undefined && last.publicKey !== key;
  const known = isImpostor ? undefined : last;
  const subject = known?.subject ?? shown.subject;
  const problem =
    checkSubject(nodeId, known, shown) ?? checkFolder(known, hello) ?? checkKey(nodeId, key, shown);
  if (problem !== undefined) return problem;
  const publicKey = shown.publicKey ?? known?.publicKey;
  // A process connects many times during one start.
  const isSame =
    isSameStart(known, hello) && known?.subject === subject && known?.publicKey === publicKey;
  if (isSame) return undefined;
  records.set(nodeId, {
    incarnation,
    starts,
    startId,
    ...(subject !== undefined && { subject }),
    ...(publicKey !== undefined && { publicKey }),
  });
  return undefined;
}

/** Whether a server that has asked to join is the one that is known by its id, if one is. */
export const isBelieved = (records: PeerRecords, joiner: Joiner): boolean =>
  checkRecord(records, joiner, { subject: undefined, publicKey: undefined, ...joiner }) ===
  undefined;

function checkSubject(
  nodeId: NodeId,
  known: PeerRecord | undefined,
  { subject }: Shown,
): WireError | undefined {
  const pinned = known?.subject ?? subject;
  if (subject === undefined || subject === pinned) return undefined;
  const advice =
    'A renewed certificate must keep its subject. To change the subject, remove the server from ' +
    'the cluster, then add it as a new server';
  const what = `node ${nodeId} presents a certificate of "${subject}"`;
  return new WireError(
    'certificate',
    `${what}, but was known by "${pinned}". ${advice}`,
    `${what}, but was known by another. ${advice}`,
  );
}

/** What identifies the data folder of a node, and its start. */
type Start = Parameters<typeof checkRecord>[1];

const isSameStart = (known: PeerRecord | undefined, { starts, startId }: Start): boolean =>
  known?.startId === startId && known.starts === starts;

function checkFolder(known: PeerRecord | undefined, hello: Start): WireError | undefined {
  const { nodeId, incarnation, starts, earlier = [] } = hello;
  if (known === undefined) return undefined;
  if (known.incarnation !== incarnation) {
    const what = `node ${nodeId} has a different data folder than before`;
    const advice =
      ': a node whose disk was wiped or replaced has lost its votes. Remove it from the ' +
      'cluster, then add it as a new server';
    const folders = ` (${incarnation} instead of ${known.incarnation})`;
    return new WireError('incarnation', `${what}${folders}${advice}`, `${what}${advice}`);
  }
  if (isSameStart(known, hello)) return undefined;
  // An older copy that was started often enough has a higher number too, but its history of starts
  // lacks the recorded one:
  //   recorded        start 5, id e
  //   same folder     start 6, earlier e, d, c     accepted
  //   restored copy   start 6, earlier x, d, c     refused: another start was number 5
  const before = earlier[starts - known.starts - 1];
  const isCopy = before !== undefined && before !== known.startId;
  if (starts > known.starts && !isCopy) return undefined;
  const what = `node ${nodeId} was started from an older copy of its data folder`;
  const advice =
    ': a node whose disk was rolled back has lost votes and entries that it had ' +
    'acknowledged. Remove it from the cluster, empty its data folder, then add it as a new server';
  const numbers = ` (this is start ${starts}, but start ${known.starts} was seen before)`;
  return new WireError('reverted', `${what}${numbers}${advice}`, `${what}${advice}`);
}

function checkKey(
  nodeId: NodeId,
  pinned: string | undefined,
  { publicKey }: Shown,
): WireError | undefined {
  if (pinned === undefined || publicKey === pinned) return undefined;
  const advice =
    'If its data folder is lost, remove it from the cluster, then add it as a new server';
  return new WireError(
    'key',
    publicKey === undefined
      ? `node ${nodeId} does not prove that it has the key of its data folder, as it did before. ` +
          `Releases before 0.4.0 cannot. ${advice}`
      : `node ${nodeId} proves a key other than that of its data folder. ${advice}`,
  );
}
