import { expect } from 'chai';
import { DiskWatch } from '../../../src/replica/disk-watch.js';
import type { MachinePort } from '../../../src/replica/ports.js';
import { Applier } from '../../../src/replica/state/applier.js';
import type { Result } from '../../../src/state/types.js';
import { FakeClock, FakeLog, FakeMachine } from '../fakes.js';

describe('replica: an entry that takes many turns to apply', () => {
  const HANG_TICKS = 10;
  /** A replica that is to apply one such entry. */
  const build = () => {
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
    return { applier, clock, disks, machine, pass, resume: (to?: Result) => resume!(to) };
  };

  it('counts as a disk of the state that hangs, unless it takes further turns', () => {
    const { applier, disks, machine, pass, resume } = build();
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
    resume({ ok: true, index: 1 });
    expect(disks.hang).to.equal(undefined);
    pass(2 * HANG_TICKS);
    expect(disks.hang).to.equal(undefined);
  });

  it('is not waited for once a state with it has arrived', () => {
    const { applier, clock, disks, machine, pass, resume } = build();
    applier.applyUpTo(1);
    applier.pause();
    machine.isReplacing = false;
    resume(undefined);
    machine.index = 1;
    applier.resume();
    clock.advance(20);
    applier.applyUpTo(1);
    pass(2 * HANG_TICKS);
    expect(disks.hang).to.equal(undefined);
  });
});
