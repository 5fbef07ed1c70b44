/** Which object a path of the history names, and who may read it. */
import type { Authorizer } from '../../acl/types.js';
import { LEVEL, type Refusal, refuse, refuseIf, reject } from '../../base/errors.js';
import { nameRefusal } from '../../kinds/decode.js';
import type { Author } from '../../state/author.js';
import { timeOfIndex } from '../../state/history/lines.js';
import { holderOf, NotKnown } from '../../state/history/past.js';
import { objectKeyOf, type Place } from '../../state/history/records.js';
import { HISTORY_LEVEL, isKept } from '../../state/history/settings.js';
import { keys } from '../../state/keys.js';
import { levelOf } from '../../state/levels.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import { TYPES, tableOfType } from '../../state/refs.js';
import type { View } from '../../state/types.js';
import { entryIdOf, mustBeType } from '../change/found.js';
import { mustBeUuid, mustRead } from '../common/reading.js';
import type { ReadContext } from '../common/types.js';
import { denialOf, homeOf } from '../config/entry-rights.js';

/** Throws ApiError 503 below the level of the history. */
export function mustBeKept(view: View): void {
  if (isKept(view)) return;
  const why = `This needs level ${HISTORY_LEVEL}, the cluster is at level ${levelOf(view)}`;
  reject(
    'unavailable',
    `${why}: GET /v1/operator/level shows which member runs a release without it`,
    LEVEL,
  );
}

/** Returns the 403 of a caller who may not read an object. Names of entries count as spelled. */
export function readDenial(authorizer: Authorizer, { type, ns, id }: Place): Refusal | undefined {
  if (type === 'namespace') return authorizer.denial('namespace', 'read', id);
  if (type !== 'config') return authorizer.denial('acl', 'read', undefined, ns);
  return denialOf(authorizer, 'get', entryIdOf(id), ns);
}

/**
 * Returns the object that a path names, which need not exist; undefined for a token that the caller
 * may not know of. Throws ApiError 400, and 403 without the right to read it.
 */
export function placeOfPath(
  { view, authorizer }: ReadContext,
  ns: string,
  { type: sent, id }: { readonly type: string; readonly id: string },
): Place | undefined {
  const type = TYPES[mustBeType(sent)];
  if (type === 'config') {
    const { kind, name } = entryIdOf(id);
    const problem = nameRefusal(kind, name);
    if (problem !== undefined) refuse(problem);
    const home = homeOf(kind, ns);
    refuseIf(readDenial(authorizer, { type, ns: home, id }));
    return { type, ns: home, id: `${kind}/${name.toLowerCase()}` };
  }
  if (type === 'token') {
    const accessor = mustBeUuid(id, 'token AccessorID');
    const home = view.get(keys.tokenAccessor(accessor)) ?? holderOf(view, 'token', accessor);
    const mayRead = home !== undefined && authorizer.allowed('acl', 'read', undefined, home);
    if (!mayRead) mustRead(authorizer, ns);
    return mayRead ? { type, ns: home, id: accessor } : undefined;
  }
  const isNamed = type === 'namespace' || type === 'auth-method';
  const place: Place = {
    type,
    ns: type === 'namespace' ? DEFAULT_NAMESPACE : ns,
    id: isNamed ? id.toLowerCase() : mustBeUuid(id, OBJECTS[tableOfType(type) as 'policy'].idLabel),
  };
  refuseIf(readDenial(authorizer, place));
  return place;
}

/** Returns the present text of an object. */
export const presentText = (view: View, place: Place): string | undefined =>
  view.get(objectKeyOf(place));

/** Returns an author as a caller may see it: with the right to read ACL objects where it stands. */
export const shownAuthor = (
  authorizer: Authorizer,
  ns: string,
  author: Author | null,
): Author | null => (authorizer.allowed('acl', 'read', undefined, ns) ? author : null);

/** Returns a time of the history as answers show it. */
export const shownTime = (ms: number | null): string | null =>
  ms === null || ms === 0 ? null : new Date(ms).toISOString();

/** Returns what `read` returns. Throws ApiError 404 for what is no longer known. */
export function known<T>(view: View, index: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NotKnown)) throw error;
    return refuseUnknown(view, index, error.oldest);
  }
}

/**
 * Throws ApiError 404: what held at an index, or a time, is no longer known. `oldest`: the oldest
 * index that is known; undefined if none is.
 */
export function refuseUnknown(view: View, at: number | string, oldest: number | undefined): never {
  const moment = typeof at === 'number' ? `index ${at}` : at;
  const why = `What held at ${moment} is no longer known`;
  if (oldest === undefined) return reject('not_found', why, { hint: 'the history is empty' });
  const Oldest = { Index: oldest, Time: shownTime(timeOfIndex(view, oldest)) };
  return reject('not_found', why, { members: { Oldest } });
}
