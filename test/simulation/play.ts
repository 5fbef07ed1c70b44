/** From a seed to its world: every fifth is one in which no election may happen. */
import { runCalm } from './calm.js';
import { type Report, runWorld } from './world.js';

export function playSeed(seed: number, trace?: (line: string) => void): Report {
  const options = trace ? { seed, trace } : { seed };
  return seed % 5 === 0 ? runCalm(options) : runWorld(options);
}
