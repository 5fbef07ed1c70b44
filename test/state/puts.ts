/** A command that puts a key, and entries with it. */
import { refusal } from '../../src/base/errors.js';
import type { Entry } from '../../src/raft/types.js';
import { encodeProposal } from '../../src/state/proposal.js';
import type { Command, Handler, Handlers } from '../../src/state/types.js';

type Put = Command & { readonly key: string; readonly value?: string; readonly refuse?: boolean };

/** Puts or deletes a key. Answers the index. */
export const put: Handler<Put> = ({ draft, index }, { key, value, refuse }) => {
  if (value === undefined) draft.del(key);
  else draft.put(key, value);
  if (refuse === true) return { ok: false, refusal: refusal('conflict', 'no') };
  return { ok: true, value: String(index) };
};
/** The command alone. */
export const handlers: Handlers = { put };

/** An entry with a command, sent after index `since`. */
export function entry(index: number, command: object, id = `id-${index}`, since = 0): Entry {
  const data = encodeProposal({ id, since, command: { v: 1, ...command } as Command });
  return { kind: 'command', index, term: 1, data };
}
/** An entry with `put`. */
export const putEntry = (index: number, key: string, value?: string, id?: string): Entry =>
  entry(index, { type: 'put', key, value }, id);
