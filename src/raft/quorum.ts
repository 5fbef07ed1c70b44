/** Counting majorities. Numbers are compared as numbers, servers are counted as sets of ids. */
import type { NodeId } from './types.js';

/** How many of `voters` servers are a majority. */
export function quorumSize(voters: number): number {
  return Math.floor(voters / 2) + 1;
}

/**
 * The greatest value that a majority has reached, given the value of each voter; -Infinity without
 * voters. Sorts `values` in place: it is the caller's scratch, and this runs for every
 * acknowledgement.
 */
export function quorumValue(values: number[]): number {
  if (values.length === 0) return Number.NEGATIVE_INFINITY;
  // Insertion sort, descending: clusters have 3 to 7 voters, and nothing is allocated.
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

export type Verdict = 'won' | 'lost' | 'open';

/**
 * Where an election stands. Answers of servers that are not voters do not count, nor does a
 * repeated one.
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
