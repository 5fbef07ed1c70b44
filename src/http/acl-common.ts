/** What the routes of ACL objects share. */
import { reject } from '../errors.js';
import type { BootstrapReset } from '../service/bootstrap.js';
import type { LoginParts } from '../service/login.js';
import type { Write } from '../service/reading.js';
import type { ApiRequest } from './types.js';

/** What the routes of ACL objects work on. */
export interface AclParts extends LoginParts {
  readonly nodeName: string;
  readonly defaultPolicy: 'deny' | 'allow';
  /** Where an operator allows another bootstrap. */
  readonly bootstrapReset?: BootstrapReset;
}

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
