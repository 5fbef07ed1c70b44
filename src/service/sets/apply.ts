/** Applies a set as one entry of the log: all of its changes, or none. */
import type { Applied } from '../../api/endpoints/sets.js';
import { ApiError, refusal, refuse, reject } from '../../base/errors.js';
import { cut } from '../../languages/shown-values.js';
import { TYPES } from '../../state/refs.js';
import { keyAt, SET_CHANGES_MAX, type SetApply } from '../../state/sets.js';
import type { View } from '../../state/types.js';
import type { VersionConflict } from '../../state/undo.js';
import { modifyIndexOf } from '../common/reading.js';
import type { Requester } from '../common/types.js';
import type { ItemChange } from './compare.js';
import {
  indexOf,
  judge,
  mustBeValid,
  noteDrift,
  overView,
  type Planned,
  type SetParts,
  type SetRequest,
  shownProblems,
} from './judge.js';
import { hasId } from './plan.js';

/** How often a set is compared again because the state has changed meanwhile. */
const RETRIES_MAX = 5;
/** Characters of the header that names owners. */
const OWNERS_LENGTH_MAX = 512;

/** Refusals of apply that may come from what has changed since the set was compared. */
const MOVED: ReadonlySet<string> = new Set([
  'precondition_failed',
  'conflict',
  'invalid',
  'unknown_reference',
  'not_found',
]);

/** What was done, and whose objects a set without an owner has changed. */
export interface AppliedSet {
  readonly applied: Applied;
  readonly owners: string;
}

/** Applies a set. Throws ApiError. */
export async function applySet(
  parts: SetParts,
  request: SetRequest & Pick<Requester, 'timeoutMs' | 'reason' | 'notes'>,
): Promise<AppliedSet> {
  const { service } = parts;
  const { body, caller, timeoutMs, reason, notes } = request;
  await service.catchUp(timeoutMs);
  for (let retries = 0; ; retries += 1) {
    const { planned, command } = await overView(parts, request, async (view) => {
      const judged = await judge(parts, request, { view, showsWarnings: false });
      noteDrift(parts, request, judged);
      mustBeValid(judged);
      return { planned: judged, command: commandOf(parts, judged) };
    });
    if (command === undefined) return shown(planned, planned.index);
    try {
      const answer = await service.write({ caller, timeoutMs, reason, notes }, command);
      parts.drift.note(body.Owner ?? '', 0);
      return shown(planned, (JSON.parse(answer) as { readonly Index: number }).Index);
    } catch (error) {
      if (!(error instanceof ApiError) || !MOVED.has(error.refusal.code)) throw error;
      const isPinned = body.Expected !== undefined || body.Digest !== undefined;
      if (isPinned) mustNotHaveMoved(planned, service.view);
      if (retries < RETRIES_MAX) continue;
      refuse(refusal('conflict', 'The state kept changing while the set was compared: try again'));
    }
  }
}

/** Returns the command of a set; undefined if nothing changes. Throws ApiError 413. */
function commandOf(
  { datacenter, bodyBytes, nowMs }: SetParts,
  { changed, rests }: Planned,
): SetApply | undefined {
  if (changed.length === 0) return undefined;
  const command: SetApply = {
    type: 'set.apply',
    v: 1,
    datacenter,
    at: new Date(nowMs()).toISOString(),
    changes: changed.map(({ change }) => change!),
    ...(rests.length > 0 && { rests }),
  };
  const bytes = Buffer.byteLength(JSON.stringify(command));
  if (changed.length <= SET_CHANGES_MAX && bytes <= bodyBytes) return command;
  const why =
    changed.length > SET_CHANGES_MAX
      ? `The set changes ${changed.length} objects; the limit is ${SET_CHANGES_MAX}`
      : `The changes of the set have ${bytes} bytes; the limit is ${bodyBytes}`;
  return reject('too_large', why, {
    hint: 'apply it in parts: conclave apply --in-parts',
    members: { Changes: changed.length, Limit: SET_CHANGES_MAX },
  });
}

/** Throws ApiError 412 that names the objects that have changed since the set was compared. */
function mustNotHaveMoved({ changed }: Planned, view: View): void {
  const Conflicts = changed.flatMap((one): VersionConflict[] => {
    const text = view.get(keyAt(one.item));
    const [Expected, Actual] = [indexOf(one), text === undefined ? 0 : modifyIndexOf(text)];
    return Expected === Actual ? [] : [{ Ref: one.item.ref, Expected, Actual: Actual || null }];
  });
  const [first] = Conflicts;
  if (first === undefined) return;
  const what = `${first.Ref} has ModifyIndex ${first.Actual ?? 0}`;
  reject('precondition_failed', `Precondition failed: ${what}`, {
    members: { Problems: shownProblems([], Conflicts), Conflicts },
  });
}

function shown({ changes, changed, asserts }: Planned, index: number): AppliedSet {
  const owners = changed
    .filter(({ item, change }) => item.owned?.Owner && change?.owner === undefined)
    .map(({ item }) => item.owned!.Owner);
  return {
    applied: {
      Index: index,
      Changed: changed.length,
      Unchanged: changes.length - changed.length,
      Changes: changed.map((one) => shownChange(one, index)),
      Asserts: asserts,
    },
    owners: cut([...new Set(owners)].join(', ')).slice(0, OWNERS_LENGTH_MAX),
  };
}

function shownChange(one: ItemChange, index: number): Applied['Changes'][number] {
  const { item, action, change } = one;
  const { table, ns: Namespace, ref: Ref, name: Name, id } = item;
  const isSame = change?.command.type === 'owner.set';
  return {
    Ref,
    Type: TYPES[table],
    Namespace,
    Name,
    ...(hasId(table) && { ID: id }),
    Action: action as Applied['Changes'][number]['Action'],
    ...(action !== 'delete' && { ModifyIndex: isSame ? indexOf(one) : index }),
  };
}
