/**
 * The identity of a server, and what it remembers of the other members. Kept in its data folder.
 */
import type { KeyPair, PeerRecord } from '../../base/peer-record.js';
import type { Index, NodeId } from '../../raft/types.js';

/** The content of `node.json` in the data folder. */
export interface Identity {
  readonly v: 2;
  readonly nodeId: NodeId;
  /**
   * Random, drawn when the data folder was made. A server whose disk was wiped comes back with
   * another one.
   */
  readonly incarnation: string;
  /**
   * Set before the first batch of the log counts as stored. If the log is gone although this is
   * set, the votes are forgotten and the server must not start.
   */
  readonly begun: boolean;
  /**
   * Starts of a server on this folder. Peers refuse a number that is not above the last one they
   * saw: the folder is then an older copy of itself.
   */
  readonly starts: number;
  /** Random, drawn at each start: the same number with another id is another start. */
  readonly startId: string;
  /**
   * Ids of earlier starts, the newest first. An older copy of the folder does not know the starts
   * after it.
   */
  readonly earlier: readonly string[];
  /**
   * The key pair of this folder. Absent before the first start, and in folders of releases before
   * 0.4.0. The private key never leaves the folder.
   */
  readonly keyPair?: KeyPair;
  /**
   * The longest silence, in milliseconds, that a run on this folder may have promised to a leader
   * and still owe (thesis §6.4.1). Absent: as long as the present timing says.
   */
  readonly silenceMs?: number;
  /** Null until the server is in a cluster. A recovered cluster gets a new one (see recover.ts). */
  readonly clusterId: string | null;
  /** The other members' data folders, as last seen. */
  readonly seen: Readonly<Record<NodeId, PeerRecord>>;
  /** Servers that were removed from the cluster, the newest last. They are refused for good. */
  readonly removed: readonly NodeId[];
  /** Set on a server that was removed itself: index of the configuration without it. */
  readonly removedBy?: Index;
}

/** Where a server keeps its identity. */
export interface IdentityPort {
  get(): Identity;
  /** Changes the identity at once, and stores it. A failed write stops the process. */
  save(change: Partial<Identity>): void;
}

/** Removed servers that are remembered. The oldest are forgotten. */
const REMOVED_MAX = 1000;
/**
 * Starts that a folder remembers. A member that has seen none of them compares the number alone.
 */
const EARLIER_MAX = 32;

/** The list of removed servers, with more of them. */
export function withRemoved(removed: readonly NodeId[], more: readonly NodeId[]): NodeId[] {
  return [...removed.filter((id) => !more.includes(id)), ...more].slice(-REMOVED_MAX);
}

/** What a server tells a new member of the members' data folders, its own included. */
export function introductions(identity: Identity) {
  const { nodeId, incarnation, starts, startId, keyPair, seen } = identity;
  const own: PeerRecord = {
    incarnation,
    starts,
    startId,
    ...(keyPair !== undefined && { publicKey: keyPair.publicKey }),
  };
  return { ...seen, [nodeId]: own } satisfies Identity['seen'];
}

/**
 * Merges what another member knows into what `own` has seen. Of one folder the later start wins.
 * For a server that was met under another incarnation, what this server has seen itself wins.
 */
export function introduced(own: Identity, by: Identity['seen']): Identity['seen'] {
  const seen: Record<NodeId, PeerRecord> = { ...own.seen };
  for (const [id, record] of Object.entries(by)) {
    const known = seen[id];
    const isNews = known?.incarnation === record.incarnation && known.starts < record.starts;
    // A key that this server has seen proved stays.
    const key = known?.publicKey === undefined ? {} : { publicKey: known.publicKey };
    if (id !== own.nodeId && (known === undefined || isNews)) seen[id] = { ...record, ...key };
  }
  return seen;
}

/** What a folder remembers of its starts. */
export type Starts = Pick<Identity, 'starts' | 'startId' | 'earlier'>;

/** The identity of the next start. */
export function nextStart<T extends Starts>(identity: T, startId: string): T {
  const { starts } = identity;
  const earlier = [identity.startId, ...identity.earlier].slice(0, Math.min(starts, EARLIER_MAX));
  return { ...identity, starts: starts + 1, startId, earlier };
}
