/**
 * Snapshots that a simulated server sends and receives: whole over the network of messages, in the
 * product's own chunks over sockets. In both cases the server verifies and syncs a snapshot beside
 * its state, then switches to the new state, then cuts the log.
 */
import type { Message, SnapshotMeta } from '../../src/raft/types.js';
import type { Replica } from '../../src/replica/replica.js';
import type { Installation } from '../../src/storage/types.js';
import type { Host } from './host.js';
import { Violation } from './invariants.js';
import type { ServerParts } from './parts.js';
import type { Storage } from './storage.js';
import type { StateImage } from './store.js';

export interface SnapshotParts {
  readonly world: ServerParts;
  readonly host: Host;
  readonly storage: Storage;
  readonly replica: () => Replica;
}

export class Snapshots {
  readonly #parts: SnapshotParts;
  #count = 0;
  /** The position of the snapshot to which the server is switching. */
  #arriving: SnapshotMeta | undefined;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  /** Throws Violation unless the state to send has the index of the snapshot. */
  checkSent({ index }: SnapshotMeta): void {
    const { host, storage } = this.#parts;
    if (storage.machine.appliedIndex() !== index)
      throw new Violation('snapshot is of its index', `${host.id} sends ${index}`);
  }

  /** Returns the whole state for a snapshot message. */
  imageFor(message: Message): { message: Message; image: StateImage } | undefined {
    if (message.type !== 'snapshot') return undefined;
    this.checkSent(message.meta);
    return { message, image: this.#parts.storage.image() };
  }

  /** Installs a whole state. */
  installImage(message: Message, image: StateImage, done: (ok: boolean) => void): void {
    if (message.type !== 'snapshot') return;
    const { storage, replica } = this.#parts;
    const id = String(++this.#count);
    const { incomingSnapshot: incoming } = replica();
    storage.takeIn({ message, id, image, incoming, switching: this.#switching }, done);
  }

  /** Begins to install a state chunk by chunk. A store has one installation at a time. */
  install(): Installation {
    return this.#parts.storage.install(this.#switching);
  }

  /** Checks the state after an installation. */
  checkInstalled(): void {
    const meta = this.#arriving;
    if (meta === undefined) return;
    this.#arriving = undefined;
    const { host, storage, world } = this.#parts;
    world.invariants.installed(host.id, meta);
    const { index, sums } = storage.machine.machine.checksum();
    if (index !== meta.index)
      throw new Violation('snapshot is of its index', `${index} under the name ${meta.index}`);
    const sum = Object.values(sums).join();
    world.invariants.applied(host.id, [], index, sum);
    host.judge(index, sum);
    host.replaced();
  }

  readonly #switching = (meta: SnapshotMeta): void => {
    const { host, world } = this.#parts;
    world.trace(`${host.id} installs a snapshot at ${meta.index}`);
    this.#arriving = meta;
  };
}
