/** Log and state of a simulated server: in memory, or the real ones on a disk in memory. */
import type { Index, SnapshotMessage, SnapshotMeta, Term } from '../../src/raft/types.js';
import type { Identity, IdentityPort } from '../../src/replica/members/identity.js';
import type { IncomingSnapshot } from '../../src/replica/state/incoming-snapshot.js';
import type { Change, PinnedView, View } from '../../src/state/types.js';
import type { Installation } from '../../src/storage/types.js';
import type { DiskSight } from '../raft/invariants.js';
import type { DiskTemper } from '../support/fake-disk.js';
import type { LogContent } from '../support/memory-log.js';
import type { Host } from './host.js';
import type { SimLoop } from './loop.js';
import type { MachineWatcher, SimMachine } from './machine.js';
import type { ServerParts } from './parts.js';
import type { StateImage } from './store.js';
import type { LogWatcher, WatchedLog } from './watched-log.js';

/** What a life needs of its state, beside what the machine does with it. */
export interface SimStore extends View {
  /** The number of records. */
  readonly size: number;
  commit(changes: readonly Change[]): void;
  pin(): PinnedView;
}

/** A snapshot that has arrived whole. */
export interface Arrived {
  readonly message: SnapshotMessage;
  readonly id: string;
  readonly image: StateImage;
  readonly incoming: IncomingSnapshot;
  /** Called when the state is switched, or just before. */
  readonly switching: (meta: SnapshotMeta) => void;
}

/** Log, state and identity of one process. */
export interface Storage {
  readonly log: WatchedLog;
  readonly store: SimStore;
  readonly machine: SimMachine;
  readonly identity: IdentityPort;
  /** The servers that were met, as far as the disk holds them. */
  storedSeen(): Identity['seen'];
  /** Why the state must come from the leader. */
  readonly lost: string | undefined;
  /** The silence that an earlier life may still owe, or this one promises. */
  readonly silenceMs: { readonly own: number; readonly owed: number };
  /** More of the state waits for the disk than the server should add to. */
  readonly isBehind: () => boolean;
  /** Removes deleted secrets from the files. Absent where there are none. */
  readonly erase?: (done: () => void) => void;
  /** A copy of the whole state, for a snapshot. */
  image(): StateImage;
  /** Puts a snapshot in the place of the state; `done` gets whether it arrived. */
  takeIn(arrived: Arrived, done: (ok: boolean) => void): void;
  /** The same chunk by chunk. `switching` as in `Arrived`. */
  install(switching: Arrived['switching']): Installation;
}

/** What a process needs to open its storage. */
export interface Booting {
  readonly world: ServerParts;
  readonly host: Host;
  readonly loop: SimLoop;
  readonly watcher: MachineWatcher & LogWatcher;
  /** Names this life among all of this server's. */
  readonly life: string;
  /** Of the own timing. */
  readonly silenceMs: number;
  /** The process must end: a write failed, or a record cannot be read. */
  readonly onFatal: (error?: Error) => void;
}

/** A server's disk over all its lives, and what faults do to it. */
export interface ServerDisk extends DiskSight {
  readonly durable: LogContent;
  before: LogContent | undefined;
  readonly votes: Map<Term, string>;
  readonly temper: DiskTemper;
  isFull: boolean;
  /** The state cannot be trusted, which the next start finds out. */
  stateDamaged: boolean;
  /** It may have lost something that it does not know of. */
  readonly isSpoiled: boolean;
  /** A value of the state is bad, and nobody has read it yet. */
  readonly isRotten: boolean;
  /** Opens log and state for a process. `done` is not called if it ends before. */
  open(booting: Booting, done: (storage: Storage) => void): void;
  crash(withPower: boolean): void;
  /** Nothing is synced until `unhang`; with `withReads` nothing is read either. */
  hang(withReads: boolean): void;
  unhang(): void;
  /** The machine being off, a part of the log is lost; of the state; or everything. */
  damageLog(): void;
  /**
   * Whether the log has replaced entries by a write that it will miss, and the entry at `applied`
   * is one of those in their place.
   */
  hasReplaced(applied: Index): boolean;
  /** The process being gone, that write is lost. */
  loseReplacement(): void;
  damageState(): void;
  /** The machine being off, a value of the state goes bad, which only a read finds out. */
  rot(): void;
  /** An operator moves a state away of which a record cannot be read. */
  discardState(): void;
  /** Whether another process has the databases open. */
  isLocked: boolean;
  wipe(): void;
  /** What is durable now; only while a process has it open. */
  image(): unknown;
  /** The machine being off, it holds again what it held at that moment. */
  rollBack(image: unknown): void;
}
