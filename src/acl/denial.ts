/**
 * The text of a denied access. Members send it to each other, and the ids of decisions need what it
 * says, so the same file reads it.
 */
import type { Access, Resource } from './types.js';

/** A denied access. `segment` is absent for accesses to no object in particular. */
export interface Denied {
  readonly resource: Resource;
  readonly access: Access;
  readonly segment?: string;
  readonly namespace: string;
}

/** Returns the text of a 403. `accessor`: that of the token; undefined for the anonymous one. */
export function denialText(
  { resource, access, segment, namespace }: Denied,
  accessor: string | undefined,
): string {
  const what = segment === undefined ? '' : ` on ${JSON.stringify(segment)}`;
  const where = namespace === 'default' ? '' : ` in namespace ${JSON.stringify(namespace)}`;
  const lack = `lacks permission '${resource}:${access}'${what}${where}`;
  return accessor === undefined
    ? `Permission denied: anonymous token ${lack}. ` +
        'The anonymous token is used implicitly when a request does not specify a token.'
    : `Permission denied: token with AccessorID '${accessor}' ${lack}`;
}

const SPELLED = ' in the spelling of the stored entry';
const QUOTED = '("(?:[^"\\\\]|\\\\.)*")';
const DENIAL = new RegExp(
  "^Permission denied: (?:anonymous token|token with AccessorID '[^']*') " +
    `lacks permission '([a-z]+):([a-z-]+)'(?: on ${QUOTED}(?!${SPELLED}))?` +
    `(?: in namespace ${QUOTED})?`,
);
const ON = new RegExp(` on ${QUOTED}`);

/**
 * Returns the text of a 403 for the stored spelling of a name, without telling it: it names what
 * was sent.
 */
export const deniedAsStored = (text: string, sent: string): string =>
  text.replace(ON, () => ` on ${JSON.stringify(sent)}${SPELLED}`);

/** Returns what a text of `denialText` says; undefined for any other text. */
export function readDenial(text: string): Denied | undefined {
  const found = DENIAL.exec(text);
  if (found === null) return undefined;
  const [, resource, access, segment, namespace] = found;
  return {
    resource: resource as Resource,
    access: access as Access,
    ...(segment !== undefined && { segment: JSON.parse(segment) as string }),
    namespace: namespace === undefined ? 'default' : (JSON.parse(namespace) as string),
  };
}
