/** Use cases of owners: how much each owns, and the release of their objects. */
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { Owners, Released } from '../../api/endpoints/imports.js';
import { reject } from '../../base/errors.js';
import { compare } from '../../base/text.js';
import { keysBelow, stored } from '../../state/lists.js';
import { type OwnerRelease, RELEASED_MAX, releaseDenial } from '../../state/owner-release.js';
import type { ObjectPlace, Ownership } from '../../state/owners.js';
import { tableOfType } from '../../state/refs.js';
import type { PinnedView, View } from '../../state/types.js';
import { mustRead, readState } from '../common/reading.js';
import type { ReadOutcome, Requester, Service, StateRead } from '../common/types.js';
import { type LongWorkParts, ownerOf } from '../reads/long-work.js';
import { isUnseen, mayReadObject, objectAt } from './found.js';

/** Lists the owners of objects that the caller may read. Throws ApiError. */
export async function listOwners(
  { service, longWork }: LongWorkParts,
  { caller, options, ns }: StateRead,
): Promise<ReadOutcome<string>> {
  const outcome = await readState(service, { caller, options }, ({ authorizer }) => {
    if (!authorizer.anywhere('acl', 'read')) mustRead(authorizer, ns);
    return authorizer;
  });
  const work = countOwners(service.pin(), outcome.value);
  const { rows, filtered } = await longWork.runSoon(ownerOf(service, caller), 'list', work);
  return { ...outcome, filtered, value: JSON.stringify(rows) };
}

/** Closes the view. */
function* countOwners(
  view: PinnedView,
  authorizer: Authorizer,
): Steps<{ readonly rows: Owners; readonly filtered: boolean }> {
  try {
    const counts = new Map<string, number>();
    let filtered = false;
    for (const { owner, place } of owned(view)) {
      yield;
      if (owner === '') continue;
      // Rules name services exactly, and keys of entries are in lower case.
      const spelled = place.table === 'config' ? objectAt(view, place) : place;
      if (spelled === undefined) continue;
      if (mayReadObject(authorizer, spelled)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
      else filtered ||= !isUnseen(authorizer, place);
    }
    const rows = [...counts].map(([Owner, Objects]) => ({ Owner, Objects }));
    return { rows: rows.sort((a, b) => compare(a.Owner, b.Owner)), filtered };
  } finally {
    view.close();
  }
}

function* owned(view: View): Iterable<{ readonly owner: string; readonly place: ObjectPlace }> {
  for (const key of keysBelow(view, 'owner')) {
    const [, type = '', ns = '', id = ''] = key.split('\u0000');
    const table = tableOfType(type);
    const owner = stored<Ownership>(view, key)?.Owner;
    if (table !== undefined && owner !== undefined) yield { owner, place: { table, ns, id } };
  }
}

/** Permits a release before its body is read. Throws ApiError 403. */
export const mayRelease = (service: Service, requester: Requester): Promise<unknown> =>
  service.permit(requester, releaseDenial);

/** Takes an owner's name from all its objects, in as many entries as needed. Throws ApiError. */
export async function releaseOwner(
  { service, longWork }: LongWorkParts,
  requester: Requester,
  owner: string,
): Promise<Released> {
  if (owner === '') reject('invalid', 'Owner is required', { pointer: '/Owner' });
  await service.catchUp(requester.timeoutMs);
  const work = placesOf(service.pin(), owner);
  const found = await longWork.runSoon(ownerOf(service, requester.caller), 'list', work);
  let answer: Released = { Released: 0, Index: 0 };
  for (let at = 0; at < found.length; at += RELEASED_MAX) {
    const objects = found.slice(at, at + RELEASED_MAX);
    const command: OwnerRelease = { type: 'owner.release', v: 1, owner, objects };
    const { Released, Index } = JSON.parse(await service.write(requester, command)) as Released;
    answer = { Released: answer.Released + Released, Index };
  }
  return answer;
}

/** Closes the view. */
function* placesOf(view: PinnedView, owner: string): Steps<readonly ObjectPlace[]> {
  try {
    const found: ObjectPlace[] = [];
    for (const one of owned(view)) {
      yield;
      if (one.owner === owner) found.push(one.place);
    }
    return found;
  } finally {
    view.close();
  }
}
