/** What history takes from the text of an object: its name, its content, what a login granted. */
import { definitionOf, isKind } from '../../kinds/definitions.js';
import type { Identity } from '../author.js';
import { HIDDEN, hideSecrets } from '../put-form.js';
import { tableOfType } from '../refs.js';
import type { Token } from '../tokens.js';
import type { Place } from './records.js';

/** Characters of a token's description that a line shows as its name. */
const NAME_CHARS = 128;

/** What stands first in the text of an object that has a name. */
const NAMED = new RegExp(
  '^\\{(?:"(?:ID|Kind|AccessorID|SecretID)":"[^"]*",)*' +
    '"(Name|Description)":("[^"\\\\]*(?:\\\\.[^"\\\\]*)*")',
);

/** What stands before the kind and before the name in the text of a config entry. */
const [BEFORE_KIND, BEFORE_NAME] = ['{"Kind":"', '","Name":"'];

/** Returns the name of an object: of a token its description, of a binding rule its ID. */
export function nameIn({ type, id }: Place, text: string): string {
  if (type === 'binding-rule') return id;
  if (type === 'config') {
    // Mostly the name is as it is in the key.
    const [kind, name] = [id.slice(0, id.indexOf('/')), id.slice(id.indexOf('/') + 1)];
    const at = BEFORE_KIND.length + kind.length + BEFORE_NAME.length;
    const isAsInKey =
      text.startsWith(kind, BEFORE_KIND.length) &&
      text.startsWith(BEFORE_NAME, at - BEFORE_NAME.length) &&
      text.startsWith(name, at) &&
      text[at + name.length] === '"';
    if (isAsInKey) return name;
  }
  const member = type === 'token' ? 'Description' : 'Name';
  const found = NAMED.exec(text);
  const name: string =
    found?.[1] === member ? JSON.parse(found[2]!) : (JSON.parse(text)[member] ?? '');
  if (type !== 'token' || name.length <= NAME_CHARS) return name;
  return [...name.slice(0, 2 * NAME_CHARS)].slice(0, NAME_CHARS).join('');
}

/** Returns the ID of an object as it is stored, whose key has it in lower case. */
export function spelledId({ type, id }: Place, name: string): string {
  if (type === 'auth-method') return name;
  return type === 'config' ? id.slice(0, id.indexOf('/') + 1) + name : id;
}

/** Whether a token is that of a login. Texts in it cannot contain the member, only escape it. */
export const isOfLogin = ({ type }: Place, text: string): boolean =>
  type === 'token' && text.includes(',"AuthMethod":"');

/** Returns the text of an object without its secrets. */
export function hiddenText({ type, id }: Place, text: string): string {
  if (type === 'token') return text.replace(/"SecretID":"[^"]*"/, `"SecretID":"${HIDDEN}"`);
  const kind = id.slice(0, id.indexOf('/'));
  const mayHide =
    type === 'auth-method' ||
    (type === 'config' && isKind(kind) && definitionOf(kind).secrets.length > 0);
  if (!mayHide) return text;
  return JSON.stringify(hideSecrets(tableOfType(type)!, JSON.parse(text) as object));
}

const ENDED = [
  'Policies',
  'Roles',
  'ServiceIdentities',
  'NodeIdentities',
  'TemplatedPolicies',
  'AuthMethod',
  'AuthMethodNamespace',
  'ExpirationTime',
  'CreateIndex',
] as const;
/** What the line of the end of a login's token keeps of it. */
export type Ended = { readonly [K in (typeof ENDED)[number]]?: Token[K] } & {
  readonly Identity?: Identity;
  /** The index of the revocation that ended it before it was removed. */
  readonly RevokedAt?: number;
};

/** Whose a login's token was, and the index at which that identity was revoked, if it was. */
export interface EndedLogin {
  readonly identity?: Identity;
  readonly revokedAt?: number | undefined;
}

/** Returns what is kept of a login's token that ends. */
export function endedOf(text: string, { identity, revokedAt }: EndedLogin): Ended {
  const token = JSON.parse(text) as Token;
  const kept: Record<string, unknown> = {};
  for (const name of ENDED) if (token[name] !== undefined) kept[name] = token[name];
  // The key that names the identity has the name of the method in lower case.
  if (identity !== undefined) kept['Identity'] = { ...identity, AuthMethod: token.AuthMethod };
  if (revokedAt !== undefined) kept['RevokedAt'] = revokedAt;
  return kept;
}

/** Whether two texts of a config entry differ only in what the server computes. */
export function isComputed({ type, id }: Place, before = '{}', after = '{}'): boolean {
  const kind = id.slice(0, id.indexOf('/'));
  if (type !== 'config' || !isKind(kind)) return false;
  if (kind === 'bound-api-gateway') return true;
  return definitionOf(kind).hasStatus && written(before) === written(after);
}

function written(text: string): string {
  const {
    Status: _status,
    CreateIndex: _created,
    ModifyIndex: _modified,
    ...entry
  } = JSON.parse(text);
  return JSON.stringify(entry);
}
