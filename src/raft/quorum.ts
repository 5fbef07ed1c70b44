/** Counts majorities: of numeric values, and of sets of servers. */
import type { NodeId } from './types.js';

/** Returns the size of a majority of `voters` servers. */
export function quorumSize(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/**
 * Returns the greatest value that a majority has reached, given one value per voter; -Infinity
 * without voters. Sorts `values` in place, to allocate nothing: this runs for every
 * acknowledgement.
 *
 *     values  4 9 7  ->  7     two of three have reached 7
 */
export function quorumValue(values: number[]): number {
  if (values.length === 0) return Number.NEGATIVE_INFINITY;
  // Insertion sort, descending: clusters have 3 to 7 voters.
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    let at = i;
    while (at > 0 && values[at - 1]! < value) {
      values[at] = values[at - 1]!;
      at--;
    }
    values[at] = value;
  }
  return values[quorumSize(values.length) - 1]!;
}

/** The outcome of an election so far. */
export type Verdict = 'won' | 'lost' | 'open';

/**
 * Returns the outcome of an election so far. Counts each voter once, and no other server.
 */
export function tally(
  voters: readonly NodeId[],
  granted: ReadonlySet<NodeId>,
  rejected: ReadonlySet<NodeId>,
): Verdict {
  let yes = 0;
  let no = 0;
  for (const voter of voters) {
    if (granted.has(voter)) yes++;
    else if (rejected.has(voter)) no++;
  }
  if (voters.length > 0 && yes >= quorumSize(voters.length)) return 'won';
  return voters.length - no < quorumSize(voters.length) ? 'lost' : 'open';
}
