/** The command that drops remembered results because they may contain secrets. */
import type { Index } from '../raft/types.js';
import { keys } from './keys.js';
import { keysBelow, stored } from './lists.js';
import { requestKeyOf, splitRecord } from './request-records.js';
import type { Command, Handler, View } from './types.js';

/**
 * Drops the oldest results up to the index `upTo`, about `max` of them, because they may contain
 * the secret of a token that has been deleted. The leader proposes it once no caller can wait for
 * them, and repeats it until none is left.
 */
export interface RequestForget extends Command {
  readonly type: 'request.forget';
  readonly upTo: Index;
  readonly max: number;
}

/** `{"Index":n}`: all results up to this index were dropped by `request.forget`. */
export const FORGOTTEN_FACT = keys.fact('forgotten');

/** Returns the index up to which `request.forget` dropped all results; 0 if it never did. */
export const forgottenAt = (view: View): Index =>
  stored<{ Index: Index }>(view, FORGOTTEN_FACT)?.Index ?? 0;

/**
 * Drops results, whole records and those results of a page that are due, until `max` is reached.
 * Answers the index of the newest one, or 0. The machine then drops the same ones from memory
 * (`forgetThrough`). All earlier results must be committed.
 */
export const forgetRequests: Handler<RequestForget> = ({ draft }, { upTo, max }) => {
  const due: (readonly [key: string, rest: string])[] = [];
  let count = 0;
  let newest: Index = 0;
  let isDone = true;
  for (const key of keysBelow(draft, 'request')) {
    const { index } = requestKeyOf(key);
    if (index > upTo) break;
    // The results of one entry go together: what is forgotten is told by index.
    isDone = count < max || index === newest;
    if (!isDone) break;
    const { before, last, rest } = splitRecord(key, draft.get(key)!, upTo);
    if (before === 0) continue;
    due.push([key, rest]);
    count += before;
    newest = last;
  }
  for (const [key, rest] of due) {
    if (rest === '') draft.del(key);
    else draft.put(key, rest);
  }
  if (isDone) draft.put(FORGOTTEN_FACT, JSON.stringify({ Index: upTo }));
  return { ok: true, value: String(newest) };
};
