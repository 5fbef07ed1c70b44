/** The command that deletes tokens which are not used (beyond.md 7.6). */
import { ANONYMOUS_ACCESSOR, GLOBAL_MANAGEMENT_ID } from '../acl/builtin.js';
import { keys } from './keys.js';
import { stored } from './lists.js';
import type { CommandCheck, Commands } from './object.js';
import { removeToken, type Token } from './tokens.js';
import type { Command, Handler, ManyTokens } from './types.js';

/** Deletes tokens, each only if it is still as it was seen: the ModifyIndex is equal. */
export interface TokenGc extends Command {
  readonly type: 'token.gc';
  readonly tokens: readonly {
    readonly ns: string;
    readonly accessor: string;
    readonly index: number;
  }[];
}

const mayDelete: CommandCheck = (authorizer, command) => {
  const namespaces = new Set((command as TokenGc).tokens.map(({ ns }) => ns));
  for (const ns of namespaces) {
    const denied = authorizer.denial('acl', 'write', undefined, ns);
    if (denied !== undefined) return denied;
  }
  return undefined;
};

/** Answers the accessors of the tokens that it has deleted. */
const collect: Handler<TokenGc> = (context, { tokens, author }) => {
  const Deleted: string[] = [];
  const counts = new Map<string, ManyTokens>();
  for (const { ns, accessor, index } of tokens) {
    const token = stored<Token>(context.draft, keys.token(ns, accessor));
    const isManager = token?.Policies?.some(({ ID }) => ID === GLOBAL_MANAGEMENT_ID) === true;
    const isSpared =
      isManager || accessor === ANONYMOUS_ACCESSOR || accessor === author?.AccessorID;
    if (token?.ModifyIndex !== index || isSpared) continue;
    removeToken(context, token);
    Deleted.push(accessor);
    const { AuthMethod: method, AuthMethodNamespace: home = ns } = token;
    if (method === undefined) continue;
    const id = `${home}/${method}`;
    const count = (counts.get(id)?.count ?? 0) + 1;
    counts.set(id, { operation: 'gc', ns: home, method, subject: '', count });
  }
  const value = JSON.stringify({ Deleted, Index: context.index });
  return { ok: true, value, many: [...counts.values()] };
};

export const gcCommands: Commands = { 'token.gc': { right: mayDelete, apply: collect } };
