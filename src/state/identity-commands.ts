/** The commands that revoke and block the identities of an auth method (beyond.md 7.2). */
import { type Refusal, refusal } from '../base/errors.js';
import {
  accountOf,
  blockKey,
  blockKeys,
  IDENTITY_BLOCK,
  type IdentityBlock,
  isOver,
  type MethodPlace,
  type Revocation,
  revocationKeys,
  subjectPrefix,
  type Whom,
} from './identity-blocks.js';
import { keys } from './keys.js';
import { take } from './links.js';
import { lastPart, noteChange, refused, stored } from './lists.js';
import { type AuthMethod, CASCADE_MAX } from './methods.js';
import type { Commands } from './object.js';
import { ACL_WRITE } from './object-commands.js';
import { loggedIn, removeTokenAt } from './tokens.js';
import type { ApplyContext, Command, Handler } from './types.js';

/** Ends the tokens of identities, and may block their logins. Answers the ID of the block. */
export interface IdentityRevoke extends Command {
  readonly type: 'identity.revoke';
  readonly ns: string;
  readonly name: string;
  readonly whom: Whom;
  /** How many tokens its proposer has found, for the history. */
  readonly count: number;
  /** The block, until a time (RFC 3339) or until it is lifted. Absent: none. */
  readonly block?: { readonly id: string; readonly until: string | null };
}

/** Lifts a block. */
export interface IdentityUnblock extends Command {
  readonly type: 'identity.unblock';
  readonly ns: string;
  readonly name: string;
  readonly whom: Whom;
  readonly id: string;
}

/** Removes more tokens of revoked identities of a method. Answers how many. */
export interface IdentityReap extends Command {
  readonly type: 'identity.reap';
  readonly ns: string;
  readonly name: string;
}

/** Blocks that a method may have: each login looks for its own among them. */
const BLOCKS_MAX = 1000;
/** Revocations of a method whose tokens are not all removed: each use of a token looks at them. */
const REVOCATIONS_MAX = 100;

const noMethod = (name: string): Refusal =>
  refusal('not_found', `auth method ${JSON.stringify(name)} not found`);

const revoke: Handler<IdentityRevoke> = (context, command) => {
  const { draft, index } = context;
  const { ns, name, whom, count, block } = command;
  const method = stored<AuthMethod>(draft, keys.method(ns, name));
  if (method === undefined) return refused(noMethod(name));
  if (take(revocationKeys(draft, command), REVOCATIONS_MAX).length >= REVOCATIONS_MAX) {
    const why = `The tokens of ${REVOCATIONS_MAX} revocations are still being removed`;
    return refused(refusal('too_many', why, { hint: 'try again in a second' }));
  }
  if (block !== undefined) {
    const left = dropOver(context, command, Date.parse(command.time ?? ''));
    if (left >= BLOCKS_MAX) return refused(refusal('conflict', FULL, { hint: FULL_HINT }));
    const made: IdentityBlock = {
      ID: block.id,
      ...whom,
      Until: block.until,
      Author: command.author ?? null,
      Time: command.time ?? '',
      Reason: command.reason ?? '',
      ModifyIndex: index,
    };
    draft.put(blockKey(command, whom, block.id), JSON.stringify(made));
  }
  const { Made } = accountOf(draft, command);
  noteRevocations(context, command, Made + 1);
  removeSome(context, command, Made + 1, { ...whom, Index: index });
  const many = {
    operation: 'revoke',
    ns,
    method: method.Name,
    subject: textOf(whom),
    count,
  } as const;
  return {
    ok: true,
    value: JSON.stringify({ BlockID: block?.id ?? '', Index: index }),
    many: [many],
  };
};

const FULL = `The auth method has ${BLOCKS_MAX} blocked identities`;
const FULL_HINT = 'lift blocks, or block a prefix of many of them';

const textOf = (whom: Whom): string => whom.Subject ?? whom.SubjectPrefix;

const unblock: Handler<IdentityUnblock> = (context, command) => {
  const { draft } = context;
  const { ns, whom, id } = command;
  const key = blockKey(command, whom, id);
  const method = stored<AuthMethod>(draft, keys.method(ns, command.name));
  if (method === undefined || draft.get(key) === undefined)
    return refused(refusal('not_found', 'The block does not exist'));
  draft.del(key);
  noteRevocations(context, command, accountOf(draft, command).Made);
  const about = { ns, method: method.Name, subject: textOf(whom), count: 0 };
  return { ok: true, value: 'true', many: [{ operation: 'unblock', ...about }] };
};

const reap: Handler<IdentityReap> = (context, command) => {
  const [key] = take(revocationKeys(context.draft, command), 1);
  if (key === undefined) return { ok: true, value: '0' };
  const revocation = stored<Revocation>(context.draft, key)!;
  const removed = removeSome(context, command, Number(lastPart(key)), revocation);
  return { ok: true, value: String(removed) };
};

/** Notes that the revocations or blocks of a method change, and how many revocations there were. */
function noteRevocations(context: ApplyContext, { ns, name }: MethodPlace, made: number): void {
  const account = { Made: made, Index: context.index };
  context.draft.put(keys.identityBlock(ns, name), JSON.stringify(account));
  noteChange(context, IDENTITY_BLOCK, ns);
}

/**
 * Looks at the next tokens that a revocation concerns, removes those of logins before it, and notes
 * how far it has come. Forgets the revocation where it finds none, not with the last ones: what the
 * history keeps of them tells when they were revoked.
 */
function removeSome(
  { draft, index }: ApplyContext,
  method: MethodPlace,
  number: number,
  revocation: Revocation,
): number {
  const { After } = revocation;
  const found = take(draft.keys(subjectPrefix(method, revocation), After), CASCADE_MAX);
  const own = keys.identityBlock(
    method.ns,
    method.name,
    'revoked',
    String(number).padStart(9, '0'),
  );
  const last = found.at(-1);
  if (last === undefined) {
    draft.del(own);
    return 0;
  }
  draft.put(own, JSON.stringify({ ...revocation, After: last }));
  let removed = 0;
  for (const key of found) {
    const [ns, accessor] = key.split('\u0000').slice(-2) as [string, string];
    const login = draft.get(keys.tokenByMethod(method.ns, method.name, ns, accessor)) ?? '';
    if (loggedIn(login).before >= number) continue;
    removeTokenAt({ draft, index }, key);
    removed += 1;
  }
  return removed;
}

/** Removes the blocks of a method that are over. Returns how many are left. */
function dropOver({ draft }: ApplyContext, method: MethodPlace, nowMs: number): number {
  let left = 0;
  for (const key of [...blockKeys(draft, method)]) {
    if (isOver(stored<IdentityBlock>(draft, key)!, nowMs)) draft.del(key);
    else left += 1;
  }
  return left;
}

export const identityCommands: Commands = {
  'identity.revoke': { right: ACL_WRITE, apply: revoke },
  'identity.unblock': { right: ACL_WRITE, apply: unblock },
  'identity.reap': { right: 'internal', apply: reap },
};
