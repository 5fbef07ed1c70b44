/** Hints in answers about one object: a similar name, and paths in place of IDs. */
import { isUuid } from '../../acl/names.js';
import { ApiError } from '../../base/errors.js';
import type { ObjectUseCases } from '../../service/acl/objects.js';
import type { ReadOutcome } from '../../service/common/types.js';
import type { ApiRequest } from '../routes/types.js';

/** Names that a hint repeats. Others stay out of it. */
const PLAIN_NAME = /^[\w-]{1,64}$/;

/**
 * Answers the read of one object, or a 404 with the sentence `missing`. `nearest` returns a similar
 * name that exists, if there is one. It is not asked for requests that wait for changes: thousands
 * may wait for one object, and all are answered in one turn once it is deleted.
 */
export function answerOne(
  request: ApiRequest,
  outcome: ReadOutcome<string | undefined>,
  missing: string,
  nearest: () => string | undefined,
): void {
  const isFound = outcome.value !== undefined;
  const near = isFound || request.flag('index') ? undefined : nearest();
  const hint = near === undefined ? undefined : `did you mean ${JSON.stringify(near)}?`;
  if (isFound) request.answerRead(outcome);
  else request.answerMissing(outcome, missing, hint);
}

/** Returns the hint for an id; undefined if it is one. */
export type IdHelp = (id: string) => string | undefined;

/** Returns what helps where objects have IDs, and a name may have been sent instead. */
export function helpOf<B>(useCases: ObjectUseCases<B>, path: string, listPath: string): IdHelp {
  return (id) => {
    if (useCases.definition.identity === 'Name' || isUuid(id)) return undefined;
    const list = `the list is ${listPath}`;
    if (useCases.readByName === undefined) return list;
    return `by name it is ${path}/name/${PLAIN_NAME.test(id) ? id : ':name'}; ${list}`;
  };
}

/** Resolves as `work` does. Adds the hint for an id to the refusal that it is no UUID. */
export function withIdHint<T>(help: IdHelp, id: string | undefined, work: Promise<T>): Promise<T> {
  const hint = id === undefined ? undefined : help(id);
  if (hint === undefined) return work;
  return work.catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.refusal.about?.kind !== 'id') throw error;
    throw new ApiError({ ...error.refusal, hint });
  });
}
