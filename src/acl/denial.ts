/** Denied accesses: as a sentence, and as data. */
import { type Refusal, refusal } from '../base/errors.js';
import { ACCESSES, type Access, RESOURCES, type Resource } from './types.js';

/** A denied access. `segment` is absent for accesses to no object in particular. */
export interface Denied {
  readonly resource: Resource;
  readonly access: Access;
  readonly segment?: string;
  readonly namespace: string;
}

/** Whose access is denied. */
interface Who {
  readonly accessor: string;
  readonly anonymous: boolean;
}

/**
 * Returns the 403 for a denied access. `sent`: another spelling of the segment, which alone is
 * told. `lack` replaces what the sentence says to be lacking.
 */
export function denialOf(
  { accessor, anonymous }: Who,
  denied: Denied,
  { sent, lack = lackOf(denied, sent) }: { readonly sent?: string; readonly lack?: string } = {},
): Refusal {
  const message = anonymous
    ? `Permission denied: anonymous token ${lack}. ` +
      'The anonymous token is used implicitly when a request does not specify a token.'
    : `Permission denied: token with AccessorID '${accessor}' ${lack}`;
  const { segment, ...rest } = denied;
  const told = sent === undefined && segment !== undefined ? { segment } : {};
  return refusal('permission_denied', message, { about: { kind: 'denied', ...rest, ...told } });
}

function lackOf({ resource, access, segment, namespace }: Denied, sent?: string): string {
  const spelled = sent === undefined ? '' : ' in the spelling of the stored entry';
  const what = segment === undefined ? '' : ` on ${JSON.stringify(sent ?? segment)}${spelled}`;
  const where = namespace === 'default' ? '' : ` in namespace ${JSON.stringify(namespace)}`;
  return `lacks permission '${resource}:${access}'${what}${where}`;
}

/** Returns the access that a refusal is about; undefined if it is about none, or an unknown one. */
export function deniedIn({ about }: Refusal): Denied | undefined {
  if (about?.kind !== 'denied') return undefined;
  const { kind: _, ...denied } = about;
  const isKnown =
    RESOURCES.some((each) => each === denied.resource) &&
    ACCESSES.some((each) => each === denied.access);
  return isKnown ? (denied as Denied) : undefined;
}
