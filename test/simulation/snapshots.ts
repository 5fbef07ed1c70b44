/**
 * Snapshots that a simulated server sends and takes in: whole over the network of messages, in the
 * product's own chunks over sockets. Either way they are verified and synced aside, then the state
 * is switched, then the log follows.
 */
import type { Message, SnapshotMeta } from '../../src/raft/types.js';
import type { Replica } from '../../src/replica/replica.js';
import type { TransferEvents } from '../../src/replica/state/incoming-snapshot.js';
import { DIVERGED_KEY, POSITION_KEY } from '../../src/state/keys.js';
import { recordSum, Tally } from '../../src/storage/key-index.js';
import type { Installation } from '../../src/storage/types.js';
import type { Host } from './host.js';
import { Violation } from './invariants.js';
import type { SimLoop } from './loop.js';
import type { SimMachine } from './machine.js';
import type { ServerParts } from './parts.js';
import type { MemoryState, StateImage } from './store.js';

export interface SnapshotParts {
  readonly world: ServerParts;
  readonly host: Host;
  readonly loop: SimLoop;
  readonly store: MemoryState;
  readonly machine: SimMachine;
  readonly replica: () => Replica;
}

export class Snapshots {
  readonly #parts: SnapshotParts;
  #count = 0;
  /** The position of the snapshot that is being switched in. */
  #arriving: SnapshotMeta | undefined;
  #installing: Installation | undefined;

  constructor(parts: SnapshotParts) {
    this.#parts = parts;
  }

  /** Throws unless what is sent is of its index. */
  checkSent({ index }: SnapshotMeta): void {
    const { host, machine } = this.#parts;
    if (machine.appliedIndex() !== index)
      throw new Violation('snapshot is of its index', `${host.id} sends ${index}`);
  }

  /** The whole state, for a snapshot message. */
  imageFor(message: Message): { message: Message; image: StateImage } | undefined {
    if (message.type !== 'snapshot') return undefined;
    this.checkSent(message.meta);
    const image = this.#parts.store.image();
    for (const own of [POSITION_KEY, DIVERGED_KEY]) image.delete(own);
    return { message, image };
  }

  /** Takes in a whole state. */
  installImage(message: Message, image: StateImage, done: (ok: boolean) => void): void {
    if (message.type !== 'snapshot') return;
    const { store, replica } = this.#parts;
    const { meta } = message;
    const { incomingSnapshot } = replica();
    const id = String(++this.#count);
    let events: TransferEvents | undefined;
    // the chunks are all here, and are verified
    const transfer = { id, next: 0, isWriting: true, isFinishing: true, abort: () => {} };
    incomingSnapshot.accept(message, id, (its) => {
      events = its;
      return transfer;
    });
    // one at a time; what is not wanted is taken and thrown away
    if (events?.begin() !== true) {
      done(!incomingSnapshot.isArriving);
      return;
    }
    const { installed, ended } = events;
    store.giveUp();
    this.#whenVerified(() => {
      this.#switch(meta, new Map(image).set(POSITION_KEY, JSON.stringify(meta)));
      installed(() => {
        ended();
        done(true);
      });
    });
  }

  /** Takes in a state chunk by chunk. A store has one installation at a time. */
  install(): Installation {
    this.#installing?.abort();
    const { host, loop, store, world } = this.#parts;
    const { scheduler, random } = world;
    const aside: StateImage = new Map();
    let isAborted = false;
    const mustBePresent = (): void => {
      if (isAborted) throw new Error('the installation was given up');
    };
    const stored = (): Promise<void> =>
      new Promise((resolve) => {
        scheduler.after(random.delay(1, 60, 0.05), () =>
          host.disk.whenFree(() =>
            loop.deliver(() => {
              if (host.disk.full) host.disk.fail();
              else resolve();
            }),
          ),
        );
      });
    const installation: Installation = {
      add: async (records) => {
        mustBePresent();
        await stored();
        mustBePresent();
        for (const [key, value] of records) aside.set(key, value);
      },
      finish: async (tally) => {
        mustBePresent();
        store.giveUp();
        await new Promise<void>((resolve) => this.#whenVerified(resolve));
        mustBePresent();
        const own = new Tally();
        for (const [key, value] of aside) own.add(recordSum(key, value));
        if (own.count !== tally?.count || own.sum !== tally.sum)
          loop.guard(() => {
            const what = `${own.count} records arrive at ${host.id}, ${tally?.count} were sent`;
            throw new Violation('a snapshot arrives as it was sent', what);
          });
        const position = aside.get(POSITION_KEY)!;
        this.#switch(JSON.parse(position) as SnapshotMeta, aside);
      },
      abort: () => {
        isAborted = true;
      },
    };
    this.#installing = installation;
    return installation;
  }

  /** The state of this server was loaded anew. */
  checkInstalled(): void {
    const meta = this.#arriving;
    if (meta === undefined) return;
    this.#arriving = undefined;
    const { host, machine, world } = this.#parts;
    world.invariants.installed(host.id, meta);
    const { index, sums } = machine.machine.checksum();
    if (index !== meta.index)
      throw new Violation('snapshot is of its index', `${index} under the name ${meta.index}`);
    const sum = Object.values(sums).join();
    world.invariants.applied(host.id, [], index, sum);
    host.judge(index, sum);
    host.replaced();
  }

  #whenVerified(run: () => void): void {
    const { host, loop, world } = this.#parts;
    const { scheduler, random } = world;
    scheduler.after(random.delay(40, 1500, 0.3), () =>
      host.disk.whenFree(() =>
        loop.deliver(() => {
          loop.port();
          if (host.disk.full) host.disk.fail();
          else run();
        }),
      ),
    );
  }

  #switch(meta: SnapshotMeta, image: StateImage): void {
    const { host, loop, store, world } = this.#parts;
    world.trace(`${host.id} installs a snapshot at ${meta.index}`);
    this.#arriving = meta;
    store.replace(image);
    if (host.halfInstall) loop.lightFuse(0);
  }
}
