/** The kinds of faults that worlds draw from. */

export const FAULTS = [
  'crash',
  'power',
  'fuse',
  'halfInstall',
  'stall',
  'stallLeader',
  'partition',
  'oneWay',
  'matrix',
  'drop',
  'repeat',
  'slowLink',
  'slowDisk',
  'damage',
  'transfer',
  'membership',
] as const;
/** Drawn from a stream of their own: a seed without them is the world that it was before. */
export const DISK_FAULTS = [
  'damage',
  'fullDisk',
  'wipe',
  'stateDamage',
  'wrongState',
  'longStall',
] as const;
/** What happens to whole machines. Drawn from a third stream, for the same reason. */
export const MACHINE_FAULTS = [
  /** A sync does not return. */
  'hangDisk',
  /** A machine is suspended: its monotonic clock stops, and its wall clock is right afterwards. */
  'suspend',
  /** A virtual machine is paused: both of its clocks stop. */
  'pauseMachine',
  /** A server is started with other Raft timing than the rest, valid by itself. */
  'skewTiming',
  /**
   * A disk goes back to what it held before the server was last started. A copy from the same life
   * is no fault here: its next start has a number that nobody has seen, so no server can tell it
   * from a usual one.
   */
  'rollback',
  /** A server is started with a release that has a command which the others do not know. */
  'newRelease',
] as const;
/** What happens to the files of a server. Drawn apart, in worlds with real storage. */
export const STORAGE_FAULTS = [
  /** A value of the state is not what was written, which only a read finds out. */
  'rot',
  /** The process dies while it writes a snapshot beside its state. */
  'cutInstall',
  /** Another process has the databases open for a while. */
  'locked',
] as const;
/** By which logs come apart. Drawn apart, too. */
export const LOG_FAULTS = [
  /** The leader is cut off from the other servers, keeps its clients, and another is elected. */
  'deposed',
] as const;
/**
 * What worlds of sockets have in the place of lost and repeated messages, which TCP does not know.
 */
export const SOCKET_FAULTS = {
  /** Connections break, and lose what is under way. */
  drop: 'reset',
  /** Few bytes may be under way, so that all come in pieces and writers must wait. */
  repeat: 'trickle',
} as const;
/** Faults of a leader in calm worlds: another server takes over, and the old one does no harm. */
export const LEADER_FAULTS = [
  /** No sync of its disk returns. */
  'hangLeader',
  /** Its disk is at its reserve, and no other's is. */
  'reserveLeader',
  /** It is suspended while another one is elected. */
  'suspendLeader',
  /** Its timing is longer than that of all others, and it is cut off. */
  'skewLeader',
] as const;

/** The majority of a cluster loses its disks for good, and an operator recovers what is left. */
export const RECOVER = 'recover';
/**
 * A server loses the write by which its log replaced older entries, once its state has applied an
 * entry in their place. Only deliberate faults ask for it: by chance it hardly ever happens.
 */
export const LOST_REPLACEMENT = 'lostReplacement';

export type MachineFault = (typeof MACHINE_FAULTS)[number];
export type StorageFault = (typeof STORAGE_FAULTS)[number] | typeof LOST_REPLACEMENT;
export type LeaderFault = (typeof LEADER_FAULTS)[number];
export type Fault =
  | (typeof FAULTS)[number]
  | (typeof DISK_FAULTS)[number]
  | (typeof SOCKET_FAULTS)[keyof typeof SOCKET_FAULTS]
  | (typeof LOG_FAULTS)[number]
  | MachineFault
  | StorageFault
  | LeaderFault
  | typeof RECOVER;

export const ALL_FAULTS: readonly Fault[] = [
  ...new Set<Fault>([
    ...FAULTS,
    ...DISK_FAULTS,
    ...Object.values(SOCKET_FAULTS),
    ...MACHINE_FAULTS,
    ...STORAGE_FAULTS,
    ...LOG_FAULTS,
    ...LEADER_FAULTS,
    RECOVER,
    LOST_REPLACEMENT,
  ]),
];
