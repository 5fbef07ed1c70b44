/** Where config entries belong, and who may read and write them. */
import type { Authorizer, Spelled } from '../../acl/types.js';
import { type Refusal, refusal } from '../../base/errors.js';
import { definitionOf, isClusterWide } from '../../kinds/definitions.js';
import { NEVER_ALLOWED, type Operation } from '../../kinds/permissions.js';
import type { EntryId, Kind } from '../../kinds/types.js';

/**
 * Returns the namespace of an entry. Cluster-wide kinds belong to `default`, whatever the request
 * names.
 */
export const homeOf = (kind: Kind, ns: string): string => (isClusterWide(kind) ? 'default' : ns);

/** Returns the 403 of a caller who lacks the right to an operation on an entry. */
export function denialOf(
  authorizer: Authorizer,
  operation: Operation,
  { kind, name }: Pick<EntryId, 'kind'> & { readonly name: string | Spelled },
  ns: string,
): Refusal | undefined {
  const { resource, access, named, orAnyService } = definitionOf(kind).permissions[operation];
  if (resource === 'none') return undefined;
  if (resource === 'never') return refusal('permission_denied', NEVER_ALLOWED);
  if (orAnyService !== undefined && authorizer.anywhere('service', orAnyService)) return undefined;
  return authorizer.denial(resource, access, named ? name : undefined, ns);
}

/** Returns a predicate of the names that a caller sees in lists of a kind. */
export function listRight(
  authorizer: Authorizer,
  kind: Kind,
  ns: string,
): (name: string) => boolean {
  const { resource, access, named } = definitionOf(kind).permissions.list;
  if (resource === 'never') return () => false;
  if (named && resource !== 'none') return (name) => authorizer.allowed(resource, access, name, ns);
  const all = denialOf(authorizer, 'list', { kind, name: '' }, ns) === undefined;
  return () => all;
}
