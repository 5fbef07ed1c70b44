/** What a start finds of a real log, and what it may find. */
import type { Index } from '../../src/raft/types.js';
import type { SegmentLog } from '../../src/storage/log.js';
import { LogContent } from '../support/memory-log.js';

/** All that a log holds. */
export function contentOf(log: SegmentLog): LogContent {
  const content = new LogContent();
  content.hard = log.hardState();
  content.meta = log.snapshot();
  content.bar = log.bar();
  content.entries = log.entries(log.firstIndex(), log.lastIndex(), Infinity);
  return content;
}

/**
 * Whether a start may find this where that is durable. The start itself writes the first entry of
 * an empty log, and completes a snapshot whose state was switched in without the log.
 */
export function explains(durable: LogContent, found: LogContent): boolean {
  const isNew = durable.last() === 0 && durable.hard.term === 0;
  if (isNew) return found.last() <= 1;
  if ((found.meta?.index ?? 0) > (durable.meta?.index ?? 0) && found.entries.length === 0)
    return found.hard.term >= durable.hard.term;
  const isSame = (index: Index): boolean => found.term(index) === durable.term(index);
  const { first, last } = { first: durable.first(), last: durable.last() };
  if (found.first() !== first || found.last() !== last) return false;
  for (let index = first - 1; index <= last; index++) if (!isSame(index)) return false;
  const factsOf = ({ hard, bar }: LogContent) => [hard.term, hard.votedFor, bar?.index];
  return JSON.stringify(factsOf(found)) === JSON.stringify(factsOf(durable));
}

/** Whether this log has all that one has, so that none of it is lost. */
export function holds(found: LogContent, durable: LogContent): boolean {
  const { term, votedFor } = durable.hard;
  if (found.hard.term < term) return false;
  if (found.hard.term === term && votedFor !== null && found.hard.votedFor !== votedFor)
    return false;
  for (let index = found.first(); index <= durable.last(); index++) {
    const held = found.term(index);
    if (held === undefined || held < (durable.term(index) ?? 0)) return false;
  }
  return true;
}

/** A log in a few words. */
export const describe = (log: LogContent): string =>
  `${log.first()}..${log.last()} ${JSON.stringify(log.hard)} bar ${log.bar?.index}`;
