import { expect } from 'chai';
import { DiskWatch } from '../../../src/replica/disk-watch.js';
import type { MachinePort } from '../../../src/replica/ports.js';
import { Applier } from '../../../src/replica/state/applier.js';
import type { Result } from '../../../src/state/types.js';
import { FakeClock, FakeLog, FakeMachine } from '../fakes.js';

describe('replica: an entry that takes many turns to apply', () => {
  const HANG_TICKS = 10;

  it('counts as a disk of the state that hangs, unless it takes further turns', () => {
    const [clock, log, machine] = [new FakeClock(), new FakeLog(), new FakeMachine()];
    const disks = new DiskWatch({ hangTicks: HANG_TICKS, tickMs: 20 });
    let resume: ((result: Result | undefined) => void) | undefined;
    (machine as MachinePort).apply = (_entries, then) => {
      machine.isReplacing = true;
      resume = then;
      return [];
    };
    const limits = { applyEntriesMax: 1, applyBytesMax: 1, tickMs: 20 };
    const quiet = { isBehind: () => false, applied: () => {}, wake: () => {} };
    const applier = new Applier({ log, machine, clock, disks, limits, ...quiet });
    const pass = (ticks: number): void => {
      for (let tick = 0; tick < ticks; tick++) {
        applier.tick();
        disks.tick(false);
      }
    };
    log.list = [{ kind: 'noop', index: 1, term: 1 }];
    pass(2 * HANG_TICKS);
    expect(disks.hang).to.equal(undefined);
    applier.applyUpTo(1);
    for (let turn = 0; turn < 3; turn++) {
      machine.replacingTurns += 1;
      pass(HANG_TICKS - 1);
      expect(disks.hang).to.equal(undefined);
    }
    pass(1);
    expect(disks.hang).to.match(/disk of the state has not caught up/);
    machine.isReplacing = false;
    resume!({ ok: true, index: 1 });
    expect(disks.hang).to.equal(undefined);
    pass(2 * HANG_TICKS);
    expect(disks.hang).to.equal(undefined);
  });
});
