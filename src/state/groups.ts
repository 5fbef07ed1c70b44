/** Groups of keys, in which a state counts them: a rule asks whether there are any at all. */
import { tableOf } from './checksum.js';

const NUL = '\u0000';
const CONFIG = `config${NUL}`;

/** Returns the group of the config entries of a kind. */
export const configGroup = (ns: string, kind: string): string => `${CONFIG}${ns}${NUL}${kind}`;

/** The group of config entries that was asked for last: states and archives are in order. */
const last = { below: NUL, group: '' };

/** Returns the group of a key: its table, and of a config entry also namespace and kind. */
export function groupOf(key: string): string {
  if (!key.startsWith(CONFIG)) return tableOf(key);
  if (key.startsWith(last.below)) return last.group;
  const ns = key.indexOf(NUL, CONFIG.length);
  const kind = ns < 0 ? -1 : key.indexOf(NUL, ns + 1);
  if (kind < 0) return key;
  last.group = key.slice(0, kind);
  last.below = last.group + NUL;
  return last.group;
}

/** Returns the kind of the config entries of a group; undefined for other groups. */
export const kindOf = (group: string): string | undefined =>
  group.startsWith(CONFIG) ? group.slice(group.lastIndexOf(NUL) + 1) : undefined;

/** Returns the group of all keys that start with a prefix; undefined if there may be several. */
export function groupBelow(prefix: string): string | undefined {
  const group = groupOf(prefix);
  return group.length < prefix.length ? group : undefined;
}
