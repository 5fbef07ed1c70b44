/** Host names and addresses in entries: as patterns, which schemas show, and as checks. */

/** A label of a DNS name as gateways accept it. */
const LABEL = '[A-Za-z0-9_-]{1,63}';
/** The same with `*` in it. The caller checks where it stands. */
const WILD_LABEL = '[A-Za-z0-9_*-]{1,63}';
const named = (label: string): string => `${label}(?:\\.${label})*\\.?`;

/** A DNS name without a wildcard, as a regular expression of JSON Schema. */
export const PLAIN_NAME = `^${named(LABEL)}$`;
/** The same, or with a wildcard as its leftmost label. */
export const HOST_NAME = `^(?:\\*\\.?|(?:\\*\\.)?${named(LABEL)})$`;
/** A text in which a wildcard is only the leftmost label of more. */
export const LEFTMOST_WILDCARD = '^(?:\\*\\.)?[^*]*$';
/** A DNS name without a wildcard, or what has the letters of an IP address. */
export const NAME_OR_ADDRESS = `^(?:${named(LABEL)}|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*)$`;

/** Maximum number of characters of a DNS name. */
const NAME_LENGTH_MAX = 254;
const isName = new RegExp(`^${named(WILD_LABEL)}$`);

/** Whether the text is a DNS name as gateways accept it. The caller checks where `*` stands. */
export const isDomainName = (name: string): boolean =>
  name.length <= NAME_LENGTH_MAX && isName.test(name);

/** Whether the text is an IPv4 or IPv6 address. */
export function isAddress(value: string): boolean {
  if (/^(\d{1,3}\.){3}\d{1,3}$/.test(value)) {
    return value.split('.').every((part) => Number(part) <= 255 && !/^0\d/.test(part));
  }
  return value.includes(':') && isIpv6(value);
}

function isIpv6(value: string): boolean {
  const halves = value.split('::');
  if (halves.length > 2) return false;
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const parts = halves.flatMap(groups);
  const last = parts.at(-1);
  let size = parts.length;
  if (last?.includes('.')) {
    if (!isAddress(last)) return false;
    parts.pop();
    size += 1;
  }
  if (!parts.every((part) => /^[0-9A-Fa-f]{1,4}$/.test(part))) return false;
  return halves.length === 2 ? size <= 7 : size === 8;
}
