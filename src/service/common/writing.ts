/** What use cases that write share: the caller, rights, ids, proposals. */
import type { Authorizer } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { isReason, REASON_BYTES_MAX } from '../../state/stamp.js';
import type { View } from '../../state/types.js';
import type { Requester, Service } from './types.js';

export { isReason, REASON_BYTES_MAX };

/** Who writes, and in which namespace. */
export interface Write extends Requester {
  readonly ns: string;
  /** Called with the warnings of lint about what is written: `broad_write@1:1, redundant@2:1`. */
  readonly noteLint?: (found: string) => void;
}

/** Returns a requester with the reason that a body gives, if any. Throws ApiError 400. */
export function reasoned<R extends Requester>(requester: R, reason = ''): R {
  if (reason === '') return requester;
  if (!isReason(reason)) {
    const why = `Reason has at most ${REASON_BYTES_MAX} bytes and no control characters`;
    reject('invalid', why, { pointer: '/Reason' });
  }
  requester.notes?.reasoned(reason);
  return { ...requester, reason };
}

/**
 * Permits a write of ACL objects of a namespace, before its body is checked. Throws ApiError 403.
 */
export const mayWrite = (service: Service, write: Write): Promise<Authorizer> =>
  service.permit(write, (authorizer) => authorizer.denial('acl', 'write', undefined, write.ns));

/**
 * Permits a request that needs a right in some namespace, or to some name. Called before the body
 * is read, because the body may say which. Throws ApiError 403.
 */
export const maySomewhere = (
  service: Service,
  requester: Requester,
  ...[resource, access]: Parameters<Authorizer['anywhere']>
): Promise<Authorizer> =>
  service.permit(requester, (authorizer) =>
    authorizer.anywhere(resource, access) ? undefined : authorizer.denial(resource, access),
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
  return reject('precondition_failed', `Precondition failed: ${what} ${present}`, {
    about: { kind: 'version', current: index ?? null },
  });
}
