/** What use cases that write share: the caller, rights, ids, proposals. */
import type { Authorizer } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import type { View } from '../../state/types.js';
import type { Caller, Service } from './types.js';

/** The caller and namespace of a write, and its timeout in milliseconds. */
export interface Write {
  readonly caller: Caller;
  readonly ns: string;
  readonly timeoutMs: number;
  /** Called with the warnings of lint about what is written: `broad_write@1:1, redundant@2:1`. */
  readonly noteLint?: (found: string) => void;
}

/**
 * Permits a write of ACL objects of a namespace, before its body is checked. Throws ApiError 403.
 */
export const mayWrite = (service: Service, { caller, ns, timeoutMs }: Write): Promise<Authorizer> =>
  service.permit(caller, timeoutMs, (authorizer) =>
    authorizer.denial('acl', 'write', undefined, ns),
  );

/**
 * Permits a write of ACL objects of some namespace. Called before the body is read, because the
 * body may name the namespace. Throws ApiError 403.
 */
export const mayWriteSomewhere = (
  service: Service,
  write: Omit<Write, 'ns'>,
): Promise<Authorizer> =>
  service.permit(write.caller, write.timeoutMs, (authorizer) =>
    authorizer.anywhere('acl', 'write') ? undefined : authorizer.denial('acl', 'write'),
  );

/**
 * Throws ApiError if a body has another ID than the path. The path has none when an object is
 * created.
 */
export function mustMatchPath(sent = '', id: string | undefined, what: string): void {
  if (sent === '' || sent === id) return;
  reject('invalid', `${what} ID in URL and payload do not match`, { pointer: '/ID' });
}

/**
 * Returns what `find` finds in the state after a barrier: a check before a write must not miss what
 * another node has just acknowledged.
 */
export async function settled<T>(
  service: Service,
  { timeoutMs }: Write,
  find: (view: View) => T | undefined,
): Promise<T | undefined> {
  await service.catchUp(timeoutMs);
  return find(service.view);
}

/**
 * Throws ApiError 412 that says which version an object has, for clients that ask for more than
 * `false`. `index` is undefined if it does not exist.
 */
export function versionRefused(what: string, index: number | undefined): never {
  const present = index === undefined ? 'does not exist' : `has ModifyIndex ${index}`;
  return reject('precondition_failed', `Precondition failed: ${what} ${present}`);
}
