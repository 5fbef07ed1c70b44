/**
 * Faults of whole machines: disks that hang or go back in time, frozen clocks, other timing, another
 * release.
 */
import type { Random } from '../../cluster/checker/random.js';
import type { RaftOptions } from '../../src/raft/options.js';
import type { MachineFault } from './fault-kinds.js';
import type { Victim } from './faults.js';

export type Timing = Pick<RaftOptions, 'electionTicks' | 'heartbeatTicks' | 'leaseMs'>;

/** What these faults may do to a server. */
export interface MachineVictim {
  /** No sync of its disk returns until it is healed. */
  hangDisk(): void;
  unhangDisk(): void;
  /** Freezes the machine and its monotonic clock. The wall clock stops too, or is right afterwards. */
  freeze(ms: number, withWall: boolean): void;
  /** From its next start on. */
  retime(timing: Timing): void;
  upgrade(): void;
  /** Keeps what its disk holds now; `rollBack` puts that on the disk again, with the machine off. */
  keepImage(): void;
  rollBack(): void;
}

export interface MachineFaultParts {
  readonly random: Random;
  readonly after: (ms: number, run: () => void) => void;
  readonly restartLater: (victim: Victim) => void;
  /** Whether it may lose what it has written since, and all others would know. */
  readonly canGoBack: (victim: Victim) => boolean;
  readonly replace: (victim: Victim) => void;
}

/** All valid by themselves with ticks of 50 ms. */
const USUAL: Timing = { electionTicks: 20, heartbeatTicks: 2, leaseMs: 800 };
export const SHORT: Timing = { electionTicks: 8, heartbeatTicks: 2, leaseMs: 250 };
export const LONG: Timing = { electionTicks: 40, heartbeatTicks: 4, leaseMs: 1_600 };
const TIMINGS = [USUAL, SHORT, LONG];

export function strikeMachine(
  fault: MachineFault,
  victim: Victim,
  { random, after, restartLater, canGoBack, replace }: MachineFaultParts,
): void {
  switch (fault) {
    case 'hangDisk':
      victim.hangDisk();
      after(random.between(1_000, 20_000), () => victim.unhangDisk());
      break;
    case 'suspend':
    case 'pauseMachine':
      victim.freeze(random.between(200, 5_000), fault === 'pauseMachine');
      break;
    case 'skewTiming':
      victim.retime(random.pick(TIMINGS));
      victim.crash(false);
      restartLater(victim);
      break;
    case 'newRelease':
      victim.upgrade();
      victim.shutDown(() => restartLater(victim));
      break;
    case 'rollback':
      victim.keepImage();
      victim.crash(false);
      victim.restart();
      after(random.between(500, 6_000), () => {
        if (!victim.up || !canGoBack(victim)) return;
        victim.rollBack();
        replace(victim);
        restartLater(victim);
      });
  }
}
