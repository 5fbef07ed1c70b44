/** What answers add to stored entries and hide in them, and how writes restore hidden secrets. */
import { hash } from 'node:crypto';
import type { Authorizer } from '../../acl/types.js';
import type { Refusal } from '../../base/errors.js';
import { nameRefusal } from '../../kinds/decode.js';
import { definitionOf, isKind } from '../../kinds/definitions.js';
import type { ConfigEntry, EntryId, Kind } from '../../kinds/types.js';
import { isObject } from '../../languages/fields.js';
import { nameIn } from '../../state/config-entries.js';
import { type Body, keepSecrets, secretsOf } from '../../state/put-form.js';
import { HIDDEN } from '../common/reading.js';
import { WeightedCache } from '../common/weighted-cache.js';
import { denialOf } from './entry-rights.js';

/** Hexadecimal digits of a Hash: 48 bits, which every client holds exactly. */
const HASH_DIGITS = 12;
/** Characters of the entries that are kept with their Hash: some 8,000 small ones. */
const HASHED_CHARS = 4 * 2 ** 20;

/**
 * Returns a stored entry with its Hash: a number that is equal for equal content. What the server
 * makes, its Status, indexes and Namespace, does not count.
 */
export function withHash(kind: Kind, text: string): string {
  const end = text.lastIndexOf(',"CreateIndex":');
  const status = definitionOf(kind).hasStatus
    ? text.lastIndexOf(',"Status":{"Conditions":', end)
    : -1;
  const content = text.slice(0, status < 0 ? end : status);
  const value = Number.parseInt(hash('sha256', content).slice(0, HASH_DIGITS), 16);
  return `${text.slice(0, end)},"Hash":${value}${text.slice(end)}`;
}

/** Entries with their Hash by their stored text: what is read again needs no hash, of 2 µs. */
const hashed = new WeightedCache<string>(HASHED_CHARS);

/** As `withHash`, for entries that are read one by one. */
export function withKnownHash(kind: Kind, text: string): string {
  const known = hashed.get(text);
  if (known !== undefined) return known;
  const made = withHash(kind, text);
  hashed.set(text, made, text.length + made.length);
  return made;
}

/**
 * Returns a function that shows stored entries of a kind to a caller: with their Hash, and without
 * their secrets if the caller may not write them.
 */
export function shownTo(
  authorizer: Authorizer,
  kind: Kind,
  ns: string,
  addHash: typeof withHash = withHash,
): (text: string) => string {
  const { secrets } = definitionOf(kind);
  if (secrets.length === 0) return (text) => addHash(kind, text);
  const hidden = Object.fromEntries(secrets.map((field) => [field, HIDDEN]));
  return (text) => {
    const shown = addHash(kind, text);
    const isWriter = denialOf(authorizer, 'apply', { kind, name: nameIn(text) }, ns) === undefined;
    if (isWriter) return shown;
    return JSON.stringify({ ...(JSON.parse(shown) as ConfigEntry), ...hidden });
  };
}

/** Returns the sentence of the 404 for an entry. */
export const missingEntry = ({ kind, name }: EntryId): string =>
  `Config entry not found for ${JSON.stringify(kind)} / ${JSON.stringify(name.slice(0, 200))}`;

/** An entry that is sent with `<hidden>` in place of secrets. */
export interface Hiding {
  readonly id: EntryId;
  readonly body: Body;
}

/**
 * Returns the entry of a body (parsed JSON) that has `<hidden>` in place of secrets; undefined if
 * it has none, or names no entry.
 */
export function hidingEntry(body: unknown): Hiding | undefined {
  if (!isObject(body)) return undefined;
  const [kind, name] = [body['Kind'] ?? body['kind'], body['Name'] ?? body['name']];
  if (typeof kind !== 'string' || !isKind(kind) || typeof name !== 'string') return undefined;
  if (definitionOf(kind).secrets.length === 0 || nameRefusal(kind, name)) return undefined;
  const hides = secretsOf('config', { ...body, Kind: kind }).some(({ value }) => value === HIDDEN);
  return hides ? { id: { kind, name }, body } : undefined;
}

/**
 * Returns a body with the secrets of the stored entry, if there is one, in place of `<hidden>`, or
 * the refusal of one that is not stored.
 */
export const withSecrets = (
  { id, body }: Hiding,
  text: string | undefined,
): { readonly body: Body } | { readonly problem: Refusal } => {
  const stored = text === undefined ? undefined : (JSON.parse(text) as ConfigEntry);
  return keepSecrets('config', { ...body, Kind: id.kind }, stored);
};
