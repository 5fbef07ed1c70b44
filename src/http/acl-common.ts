/** What the routes of ACL objects share. */
import { reject } from '../errors.js';
import type { Write } from '../service/reading.js';
import type { ApiRequest } from './types.js';

/** A parameter of the path; throws 400 `Missing <what>` when it is empty. */
export function mustHave(request: ApiRequest, name: string, what: string): string {
  const value = request.param(name);
  return value === '' ? reject('invalid', `Missing ${what}`) : value;
}

/** The write that a request asks for. ACL objects may name their namespace in the body. */
export const writeOf = (request: ApiRequest, bodyNamespace?: string): Write => ({
  caller: request.caller,
  ns: request.namespace(bodyNamespace),
  timeoutMs: request.timeoutMs,
});
