/** Hints that are added to refusals of use cases, which know nothing of paths. */
import { ApiError } from '../errors.js';
import type { ApiRequest } from './types.js';

/**
 * Whether a request waits for changes. Thousands may wait for one object, and all are answered in
 * one turn once it is deleted. No name is looked for then.
 */
export const isHeld = (request: ApiRequest): boolean => request.flag('index');

/** Returns the hint that names a similar name; undefined if there is none. */
export const suggestion = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : `did you mean ${JSON.stringify(name)}?`;

/** Resolves as `work` does. Adds a hint to a refusal of code `invalid` that matches `about`. */
export function withHint<T>(work: Promise<T>, about: RegExp, hint: string): Promise<T> {
  return work.catch((error: unknown) => {
    const why = error instanceof ApiError ? error.refusal : undefined;
    if (why?.code !== 'invalid' || why.hint !== undefined || !about.test(why.message)) throw error;
    throw new ApiError({ ...why, hint });
  });
}
