import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import { IDS } from '../../src/node/identity.js';
import { openFolder } from '../../src/node/open.js';
import { inspectFolder, recoverFolder } from '../../src/node/recover.js';
import type { Entry } from '../../src/raft/types.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { keyOf } from '../../src/state/types.js';
import type { Disk } from '../../src/storage/disk.js';
import { LEVEL_DISK } from '../../src/storage/level-disk.js';
import { done } from '../storage/helpers.js';
import { FakeDisk } from '../support/fake-disk.js';
import { append, HANDLERS } from './processes.js';

const FOLDER = 'data';
const TIMING = { tickMs: 50, heartbeatMs: 100, electionMs: 1000, leaseMs: 800 };
const ENTRIES = 5;
const MEMBERS = [{ name: 'a', address: 'a:1' }];
const SYNCS_MAX = 100;

/** A machine whose power fails at a sync. */
class Machine {
  readonly disk: FakeDisk;
  /** Syncs that it still completes. */
  syncs = Number.POSITIVE_INFINITY;
  #whenCut = (): void => {};

  constructor() {
    const after = (_ms: number, run: () => void): unknown => {
      if (--this.syncs >= 0) return setImmediate(run);
      return setImmediate(() => this.#whenCut());
    };
    this.disk = new FakeDisk({ after }, new Random(1));
  }

  /** Runs a process. Resolves with whether it ended before the power failed. */
  async run(process: (disk: Disk) => Promise<unknown>): Promise<boolean> {
    const cut = new Promise<boolean>((resolve) => {
      this.#whenCut = () => resolve(false);
    });
    const ended = process(this.disk.attach(LEVEL_DISK.clock)).then(() => true);
    const hasEnded = await Promise.race([ended, cut]);
    this.syncs = Number.POSITIVE_INFINITY;
    this.disk.crash(!hasEnded);
    return hasEnded;
  }
}

const open = (disk: Disk) =>
  openFolder({
    name: 'a',
    address: 'a:1',
    dataDir: FOLDER,
    handlers: HANDLERS,
    timing: TIMING,
    disk,
    initial: ['a', 'b', 'c'].map((name) => ({ name, address: `${name}:1` })),
    log: () => {},
    onFatal: (error) => expect.fail(error.message),
    ids: { ...IDS, random: () => 'id' },
  });

/** A server of three, with entries that it has not applied. */
async function survivor(): Promise<Machine> {
  const machine = new Machine();
  const entries = Array.from({ length: ENTRIES }, (_, i): Entry => {
    const proposal = { id: `p${i}`, since: 0, command: append('k', String(i)) };
    return { kind: 'command', index: 2 + i, term: 1, data: encodeProposal(proposal) };
  });
  await machine.run(async (disk) => {
    const { log, store } = await open(disk);
    await done((resolve) => log.append({ entries }, resolve));
    await Promise.all([log.close(), store.close()]);
  });
  return machine;
}

const recover = (disk: Disk) =>
  recoverFolder(FOLDER, { name: 'a', members: MEMBERS, handlers: HANDLERS, disk });

describe('node: a recovery', () => {
  it('that is cut short is not served, and completes when it is run again', async () => {
    const clusters = new Set<string | null>();
    for (let syncs = 0, isCut = true; isCut; syncs++) {
      expect(syncs).to.be.lessThan(SYNCS_MAX);
      const machine = await survivor();
      const before = await inspectFolder(FOLDER, machine.disk.attach(LEVEL_DISK.clock));
      machine.disk.crash(false);
      machine.syncs = syncs;
      isCut = !(await machine.run(recover));
      const image = machine.disk.image();
      await machine.run(async (disk) => {
        try {
          const { identity, machine: its, log, store } = await open(disk);
          const isOld = identity.get().nodeId === before.nodeId;
          expect(its.appliedIndex(), `after ${syncs} syncs`).to.equal(isOld ? 0 : 1 + ENTRIES);
          await Promise.all([log.close(), store.close()]);
        } catch (error) {
          expect((error as Error).message).to.match(/run "conclave recover" once more/);
        }
      });
      machine.disk.restore(image);
      if (isCut) await machine.run(recover);
      await machine.run(async (disk) => {
        const { identity, log, store } = await open(disk);
        expect(store.get(keyOf('test', 'k')), `after ${syncs} syncs`).to.equal('01234');
        clusters.add(identity.get().clusterId);
        await Promise.all([log.close(), store.close()]);
      });
    }
    expect(clusters.size).to.equal(1);
  });
});
