/**
 * A leader is cut off from the other servers, but not from its clients, and its disk is slow. So
 * its log gets a tail that nobody else has, of which a part is still on its way to the disk when
 * the next leader replaces it.
 */
import type { Random } from '../../cluster/checker/random.js';
import type { Victim } from './faults.js';
import type { SimNetwork } from './network.js';
import type { Scheduler } from './scheduler.js';

/** What this fault needs. */
export interface DeposeParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly network: SimNetwork;
  readonly victims: () => readonly Victim[];
  /** Writes something through the leader. */
  readonly write: () => void;
  /** Orders a change of members of the leader; absent where no member may change. */
  readonly orders: (() => void) | undefined;
  /** Called when its links are whole again. */
  readonly done: () => void;
  /** Whether no fault may strike any more. */
  readonly isOver: () => boolean;
}

/** How long the leader is cut off at most, if no other is elected. */
const CUT_MS = 10_000;

/** See the head of this file. */
export function depose(leader: Victim, parts: DeposeParts): void {
  const { scheduler, random, network, victims, write, orders, isOver, done } = parts;
  const others = victims().filter((victim) => victim !== leader);
  const links = others.flatMap(({ id }) => [
    network.link(leader.id, id),
    network.link(id, leader.id),
  ]);
  for (const link of links) link.cut = true;
  const until = scheduler.now + CUT_MS;
  leader.slowDisk(random.between(50, 800), CUT_MS);
  if (orders !== undefined && random.chance(0.5)) scheduler.after(random.between(0, 500), orders);
  const isReplaced = (): boolean => others.some((other) => other.up && other.leading);
  const goOn = (): void => {
    if (isOver()) return;
    if (isReplaced() || scheduler.now >= until) {
      scheduler.after(random.between(0, 500), () => {
        for (const link of links) link.cut = false;
        done();
      });
      return;
    }
    if (leader.up) write();
    scheduler.after(random.between(20, 150), goOn);
  };
  goOn();
}
