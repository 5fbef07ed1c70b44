/** What the use cases that write share: who writes, rights, ids, proposing. */
import type { Authorizer } from '../acl/types.js';
import { reject } from '../errors.js';
import type { Command, View } from '../state/types.js';
import type { Caller, Service } from './types.js';

/** Who writes, where, and until when. */
export interface Write {
  readonly caller: Caller;
  readonly ns: string;
  readonly timeoutMs: number;
}

/** Lets a caller pass who may write ACL objects of the namespace: before its body is judged. */
export const mayWrite = (service: Service, { caller, ns, timeoutMs }: Write): Promise<Authorizer> =>
  service.permit(caller, timeoutMs, (authorizer) =>
    authorizer.denial('acl', 'write', undefined, ns),
  );

/**
 * Lets a caller pass who may write ACL objects of some namespace, before its body is read: which namespace, the body may
 * say. Throws ApiError 403.
 */
export const mayWriteSomewhere = (
  service: Service,
  write: Omit<Write, 'ns'>,
): Promise<Authorizer> =>
  service.permit(write.caller, write.timeoutMs, (authorizer) =>
    authorizer.anywhere('acl', 'write') ? undefined : authorizer.denial('acl', 'write'),
  );

/** A body may repeat the id of its path (undefined: an object to be created), and name no other. */
export function mustMatchPath(sent = '', id: string | undefined, what: string): void {
  if (sent === '' || sent === id) return;
  reject('invalid', `${what} ID in URL and payload do not match`, { pointer: '/ID' });
}

/**
 * What `find` sees in this node's state or, if that is nothing, in the state after a barrier: a courtesy check must not
 * miss what another node has just acknowledged.
 */
export async function settled<T>(
  service: Service,
  { timeoutMs }: Write,
  find: (view: View) => T | undefined,
): Promise<T | undefined> {
  const present = find(service.view);
  if (present !== undefined) return present;
  await service.catchUp(timeoutMs);
  return find(service.view);
}

/** Has a command applied; gives the text it answers. Throws ApiError when it is refused. */
export async function propose(
  service: Service,
  { caller, timeoutMs }: Omit<Write, 'ns'>,
  command: Command,
): Promise<string> {
  return (await service.write(caller, command, timeoutMs))!;
}
