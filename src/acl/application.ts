/** How `key` rules speak of the types and actions of applications (decisions.md 3). */

/** Begins a type that is an application's, whatever its name. */
export const APPLICATION = 'app:';

/** Returns a part of a key: a slash in it separates nothing. */
export const escaped = (part: string): string =>
  part.includes('/') || part.includes('%')
    ? part.replaceAll('%', '%25').replaceAll('/', '%2F')
    : part;

/** Returns a part of a key before it was escaped; undefined if nothing is escaped like that. */
export function unescaped(part: string): string | undefined {
  const text = part.replaceAll('%2F', '/').replaceAll('%25', '%');
  return escaped(text) === part ? text : undefined;
}

/** Returns the key that decides about an action on something of an application. */
export const applicationKey = (type: string, action: string, id: string): string =>
  `${escaped(type)}/${escaped(action)}/${id}`;
