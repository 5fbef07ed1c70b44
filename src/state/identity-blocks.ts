/**
 * Identities that are revoked or blocked (beyond.md 7.2), by the auth method that knows them. A
 * revocation ends the tokens of the logins that were before it, however many there are, because
 * each login notes how many revocations of its method came before:
 *
 *     identity-block·default·k8s            →  {"Made":2,"Index":140}     revocations so far
 *     identity-block·default·k8s·revoked·2  →  {"Subject":"prod/web",…}   until the tokens are gone
 *     identity-block·default·k8s·subject·prod/web·<id>  →  {"ID":…}       logins that are refused
 *     identity-block·default·k8s·prefix·prod/·<id>      →  {"ID":…}
 *
 * A token of `prod/web` with less than 2 revocations before it is dead.
 */
import { refusal } from '../base/errors.js';
import type { Author } from './author.js';
import { keys } from './keys.js';
import { take } from './links.js';
import { keysBelow, lastPart, noteChange, stored } from './lists.js';
import { isSubject } from './stamp.js';
import { type ApplyContext, keyOf, type View } from './types.js';

/** The auth method that identities belong to. */
export interface MethodPlace {
  readonly ns: string;
  readonly name: string;
}

/** Whom it is about: one subject, or all that begin with a prefix. */
export type Whom =
  | { readonly Subject: string; readonly SubjectPrefix?: undefined }
  | { readonly SubjectPrefix: string; readonly Subject?: undefined };

/** What is stored of a method whose identities were revoked or blocked. */
interface Account {
  /** How many revocations there were. */
  readonly Made: number;
  /** The index of the last change. */
  readonly Index: number;
}

/** A revocation some of whose tokens may still be stored. */
export type Revocation = Whom & {
  readonly Index: number;
  /** The key of `subject` up to which its tokens have been removed. */
  readonly After?: string;
};

/** A block: logins of these subjects are refused. */
export type IdentityBlock = Whom & {
  readonly ID: string;
  /** When it is over, RFC 3339; null if it is not until it is lifted. */
  readonly Until: string | null;
  readonly Author: Author | null;
  readonly Time: string;
  readonly Reason: string;
  readonly ModifyIndex: number;
};

/** The refusal of a login whose identity is blocked. The client gets a shorter text. */
export const BLOCKED = refusal('permission_denied', 'Permission denied: the identity is blocked', {
  about: { kind: 'blocked' },
});

/** The table. */
export const IDENTITY_BLOCK = 'identity-block';

/** Returns what a method knows of revocations. */
export const accountOf = (view: View, { ns, name }: MethodPlace): Account =>
  (mayHaveBlocks(view) ? stored<Account>(view, keys.identityBlock(ns, name)) : undefined) ??
  NO_ACCOUNT;
const NO_ACCOUNT: Account = { Made: 0, Index: 0 };

/** Whether revocations or blocks concern a subject. */
export const concerns = (whom: Whom, subject: string): boolean =>
  whom.Subject === undefined ? subject.startsWith(whom.SubjectPrefix) : whom.Subject === subject;

/** Returns the keys of the revocations of a method whose tokens may not all be gone. */
export const revocationKeys = (view: View, { ns, name }: MethodPlace): Iterable<string> =>
  keysBelow(view, IDENTITY_BLOCK, ns, name.toLowerCase(), 'revoked');

/**
 * Returns the index of the revocation that has ended the token of a login; undefined if none has.
 * `before`: how many revocations of the method came before the login.
 */
export function revokedAt(
  view: View,
  method: MethodPlace,
  { subject, before }: { readonly subject: string; readonly before: number },
): number | undefined {
  for (const key of revocationKeys(view, method)) {
    if (Number(lastPart(key)) <= before) continue;
    const revocation = stored<Revocation>(view, key);
    if (revocation !== undefined && concerns(revocation, subject)) return revocation.Index;
  }
  return undefined;
}

/** Returns a method with a revocation whose tokens may not all be gone; undefined if none has. */
export function nextRevocation(view: View): MethodPlace | undefined {
  if (!mayHaveBlocks(view)) return undefined;
  let after = '';
  for (;;) {
    // each method has one record of its own before the others
    const [own] = take(view.keys(keyOf(IDENTITY_BLOCK, ''), after), 1);
    if (own === undefined) return undefined;
    const [, ns = '', name = ''] = own.split('\u0000');
    if (take(revocationKeys(view, { ns, name }), 1).length > 0) return { ns, name };
    after = keyOf(own, '\uffff');
  }
}

/** Whether a method may have revocations or blocks. Costs less than to look. */
export const mayHaveBlocks = (view: View): boolean => view.mayHave?.(IDENTITY_BLOCK) ?? true;

/** Returns the block that refuses a login of a subject at a time (Unix ms); undefined if none. */
export function blockOf(
  view: View,
  { ns, name }: MethodPlace,
  subject: string | undefined,
  nowMs: number,
): IdentityBlock | undefined {
  if (subject === undefined || !mayHaveBlocks(view)) return undefined;
  const of = [IDENTITY_BLOCK, ns, name.toLowerCase()] as const;
  const find = (keysOf: Iterable<string>): IdentityBlock | undefined => {
    for (const key of keysOf) {
      const block = stored<IdentityBlock>(view, key)!;
      if (!isOver(block, nowMs)) return block;
    }
    return undefined;
  };
  return find(keysBelow(view, ...of, 'subject', subject)) ?? find(prefixesOf(view, of, subject));
}

function* prefixesOf(view: View, of: readonly string[], subject: string): Iterable<string> {
  for (const key of keysBelow(view, ...of, 'prefix')) {
    if (subject.startsWith(key.split('\u0000')[4]!)) yield key;
  }
}

/** Whether a block is over at a time. */
export const isOver = ({ Until }: Pick<IdentityBlock, 'Until'>, nowMs: number): boolean =>
  Until !== null && Date.parse(Until) <= nowMs;

/** Yields the keys of the blocks of a method, those that are over included. */
export function* blockKeys(view: View, { ns, name }: MethodPlace): Iterable<string> {
  const of = [IDENTITY_BLOCK, ns, name.toLowerCase()] as const;
  yield* keysBelow(view, ...of, 'prefix');
  yield* keysBelow(view, ...of, 'subject');
}

/** Returns the key of a block. */
export const blockKey = (method: MethodPlace, whom: Whom, id: string): string =>
  whom.Subject === undefined
    ? keys.identityBlock(method.ns, method.name, 'prefix', whom.SubjectPrefix, id)
    : keys.identityBlock(method.ns, method.name, 'subject', whom.Subject, id);

/** Returns the prefix of the keys of the tokens that a revocation concerns. */
export const subjectPrefix = ({ ns, name }: MethodPlace, whom: Whom): string => {
  const prefix = keyOf('subject', ns, name.toLowerCase(), whom.Subject ?? whom.SubjectPrefix ?? '');
  return whom.Subject === undefined ? prefix : keyOf(prefix, '');
};

/** Forgets the revocations and blocks of a method that is deleted. */
export function dropIdentityBlocks(context: ApplyContext, { ns, name }: MethodPlace): void {
  const { draft } = context;
  const own = keys.identityBlock(ns, name);
  if (draft.get(own) === undefined) return;
  for (const key of [own, ...keysBelow(draft, own)]) draft.del(key);
  noteChange(context, IDENTITY_BLOCK, ns);
}

/** Returns what is wrong with a record of the table; undefined if nothing is. */
export function identityBlockProblem(key: string, text: string): string | undefined {
  const [, ns = '', name = '', kind] = key.split('\u0000');
  let record: Readonly<Record<string, unknown>> | null;
  try {
    record = JSON.parse(text);
  } catch {
    record = null;
  }
  if (record === null || typeof record !== 'object') return 'a record is not a JSON object';
  const areWhole = (...members: string[]): boolean =>
    members.every((member) => Number.isSafeInteger(record[member]));
  if (kind === undefined) return areWhole('Made', 'Index') ? undefined : 'a count is missing';
  const { Subject, SubjectPrefix, ID, Until, Time, Reason, After = '' } = record;
  const isWhom =
    [Subject, SubjectPrefix].filter(isSubject).length === 1 &&
    [Subject, SubjectPrefix].includes(undefined);
  if (!isWhom) return 'a record names nobody';
  if (kind === 'revoked') {
    const isNumber = /^\d{9,}$/.test(lastPart(key));
    const isWhole = isNumber && areWhole('Index') && typeof After === 'string';
    return isWhole ? undefined : 'a revocation is not valid';
  }
  const texts = [ID, Time, Reason, Until ?? ''];
  const isBlock =
    texts.every((each) => typeof each === 'string') &&
    (Until === null || !Number.isNaN(Date.parse(`${Until}`))) &&
    areWhole('ModifyIndex') &&
    key === blockKey({ ns, name }, record as unknown as Whom, `${ID}`);
  return isBlock ? undefined : 'a block is not valid';
}
