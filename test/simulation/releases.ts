/**
 * Releases of the program, by number: each supports the level of its number. In most worlds the
 * first and the second meet, which differ in one command of the simulation. In worlds with levels
 * the second, which knows nothing of level 3, is upgraded to the third, or all begin with that.
 */
import { Random } from '../../cluster/checker/random.js';
import { COMMAND_LEVELS, LEVELS, type LevelTable, levelFor } from '../../src/state/levels.js';
import type { Command, Handlers } from '../../src/state/types.js';

/** The level that `newPut` needs: it comes with the second release. */
export const NEW_PUT_LEVEL = 2;
/** The level of authors, preconditions, history and sets. */
export const CHANGE_LEVEL = 3;

/** Which worlds have levels. */
const LEVEL_STREAM = 25;
const LEVEL_SHARE = 0.7;

/** The releases of a world. */
export interface Releases {
  /** What its servers begin with, and what they are upgraded to. */
  readonly first: number;
  readonly next: number;
  /** Whether the product's levels count in it. */
  readonly hasLevels: boolean;
  /** When all are upgraded, as a share of the time of faults. Absent: once these are over. */
  readonly upgradeAt?: number | undefined;
  /** What else the levels of this world are drawn from. */
  readonly random: Random;
}

/** Draws the releases of a world. */
export function releasesOf(seed: number, mayHaveLevels: boolean, levels?: boolean): Releases {
  const random = new Random(seed * 1000 + LEVEL_STREAM);
  const isDrawn = random.chance(LEVEL_SHARE);
  if (!mayHaveLevels || !(levels ?? isDrawn))
    return { first: 1, next: 2, hasLevels: false, random };
  const first = random.pick([2, 2, 3]);
  const upgradeAt = random.chance(0.7) ? random.between(0.1, 0.7) : undefined;
  return { first, next: CHANGE_LEVEL, hasLevels: true, upgradeAt, random };
}

/** What a release supports. */
export const levelsOf = (release: number, hasLevels: boolean): LevelTable => ({
  supported: release,
  commands: {
    newPut: NEW_PUT_LEVEL,
    'configuration/publicKey': NEW_PUT_LEVEL,
    ...(hasLevels && upTo(release)),
  },
});

/** An older release knows of no later level, so it refuses nothing for want of it. */
const upTo = (release: number): Record<string, number> => ({
  'configuration/publicKey': COMMAND_LEVELS['configuration/publicKey']!,
  ...Object.fromEntries(Object.entries(COMMAND_LEVELS).filter(([, level]) => level <= release)),
});

/** Whether a release has a command, whatever its members. */
export const hasCommand = (release: number, type: string): boolean =>
  levelFor(LEVELS, { type, v: 1 }) <= release;

/** Whether a release has a command with all of its members. */
export const knows = (release: number, command: Command): boolean =>
  levelFor(LEVELS, command) <= release;

/** The commands that a release has. */
export const handlersIn = (release: number, handlers: Handlers): Handlers =>
  Object.fromEntries(Object.entries(handlers).filter(([type]) => hasCommand(release, type)));
