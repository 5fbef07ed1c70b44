/**
 * Tokens that come from elsewhere, with their IDs, secrets and times (moving-in.md 1.1). What they
 * come from is the owner of each, which its name as a source begins: `dc1` → `migrate/dc1`.
 */
import { atOnce, type Steps } from '../acl/steps.js';
import type { Authorizer } from '../acl/types.js';
import { type Refusal, refusal } from '../base/errors.js';
import { accountOf } from './identity-blocks.js';
import { keys } from './keys.js';
import { namespaceProblem, refused, stored } from './lists.js';
import type { AuthMethod } from './methods.js';
import type { CommandCheck, Commands } from './object.js';
import { ownershipOf, putOwnership } from './owners.js';
import {
  allLinks,
  build,
  contentOf,
  idProblem,
  type NewToken,
  replaceContent,
  type TokenInput,
} from './token-content.js';
import { isOfMethod } from './token-login.js';
import {
  addToken,
  identityOf,
  isAlive,
  type LoggedIn,
  removeToken,
  type Token,
  tokenByAccessor,
} from './tokens.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

/** A token as its source has it. */
export interface ImportedToken extends Omit<NewToken, keyof Command> {
  readonly token: TokenInput;
  readonly expirationTime?: string;
  /** The auth method whose login made it. */
  readonly method?: { readonly ns: string; readonly name: string };
  /** Who logged in, if the source says so. */
  readonly subject?: string;
}

/** Creates, updates and deletes the tokens of a source: all of them, or none. */
export interface TokensImport extends Command {
  readonly type: 'tokens.import';
  readonly source: string;
  /** Whether tokens that are not of the source may be taken. */
  readonly takeOver: boolean;
  readonly nowMs: number;
  readonly tokens: readonly ImportedToken[];
  readonly deletes: readonly { readonly ns: string; readonly accessor: string }[];
}

/** The tokens that one entry takes at most: an entry must not delay heartbeats. */
export const IMPORTED_MAX = 500;

/** Returns the owner of the tokens of a source. */
export const ownerOfSource = (source: string): string => `migrate/${source}`;

/** What an import does. */
export interface ImportCounts {
  Created: number;
  Updated: number;
  Deleted: number;
  Unchanged: number;
}

/** Why a token cannot be imported: `code` tells more than that of `why`, which has the place. */
export interface ImportProblem {
  /** Which list of the command, and where in it. */
  readonly list: 'tokens' | 'deletes';
  readonly position: number;
  readonly code: string;
  readonly why: Refusal;
}

/**
 * Makes an import in the draft, in steps. Calls `refuse` for what cannot be: the caller must then
 * discard the draft. No sentence has a secret in it.
 */
export function* importSteps(
  context: ApplyContext,
  command: Omit<TokensImport, keyof Command>,
  refuse: (problem: ImportProblem) => void,
): Steps<ImportCounts> {
  const counts = { Created: 0, Updated: 0, Deleted: 0, Unchanged: 0 };
  for (const [position, place] of command.deletes.entries()) {
    const token = stored<Token>(context.draft, keys.token(place.ns, place.accessor));
    yield;
    if (token === undefined) continue;
    const why = ownerProblem(context.draft, token, command.source);
    if (why !== undefined) refuse({ list: 'deletes', position, code: 'owned', why });
    removeToken(context, token);
    counts.Deleted += 1;
  }
  for (const [position, imported] of command.tokens.entries()) {
    const found = importOne(context, command, imported);
    if (typeof found === 'string') counts[found] += 1;
    else refuse({ list: 'tokens', position, ...found });
    yield;
  }
  return counts;
}

type Refused = Pick<ImportProblem, 'code' | 'why'>;

const no = (why: Refusal, code: string = why.code): Refused => ({ code, why });

function importOne(
  context: ApplyContext,
  command: Omit<TokensImport, keyof Command>,
  imported: ImportedToken,
): keyof ImportCounts | Refused {
  const { draft } = context;
  const { ns, accessor, token, method: used } = imported;
  const closed = namespaceProblem(draft, ns);
  if (closed !== undefined) return no({ ...closed, pointer: '/Namespace' });
  const method = used && stored<AuthMethod>(draft, keys.method(used.ns, used.name));
  if (used !== undefined && method === undefined) {
    const why = `Auth method ${JSON.stringify(used.name)} does not exist`;
    return no(refusal('unknown_reference', why, { pointer: '/AuthMethod' }));
  }
  const links = allLinks(draft, ns, token);
  if ('problem' in links) return no(links.problem);
  const content = { ...token, ...links };
  const owner = ownerOfSource(command.source);
  const place = { table: 'token', ns, id: accessor } as const;
  const before = tokenByAccessor(draft, accessor);
  if (before === undefined) {
    const taken = idProblem(draft, imported);
    if (taken !== undefined) return no(taken);
    const built = build(context, imported, content, { end: imported.expirationTime, method });
    addToken(context, built, method && loginOf(draft, imported));
    putOwnership(context, place, { Owner: owner });
    return 'Created';
  }
  const problem = presentProblem(draft, before, { command, imported, method });
  if (problem !== undefined) return problem;
  const isSame = JSON.stringify(contentOf(content)) === JSON.stringify(contentOf(before));
  const isOwn = ownershipOf(draft, place)?.Owner === owner;
  if (!isSame) replaceContent(context, before, content);
  if (!isOwn) putOwnership(context, place, { Owner: owner });
  return isSame && isOwn ? 'Unchanged' : 'Updated';
}

/** Who logged in to get a token, as far as its source tells. It counts for no limit of logins. */
const loginOf = (view: View, { method, subject }: ImportedToken): LoggedIn => ({
  identity: '',
  subject,
  before: subject === undefined ? 0 : accountOf(view, method!).Made,
});

/** Returns why a token that exists cannot be the imported one; undefined if it can. */
function presentProblem(
  view: View,
  before: Token,
  {
    command: { source, takeOver, nowMs },
    imported: { ns, secret, token, method: used, subject, expirationTime },
    method,
  }: {
    readonly command: Omit<TokensImport, keyof Command>;
    readonly imported: ImportedToken;
    readonly method: AuthMethod | undefined;
  },
): Refused | undefined {
  const differs = (member: string): Refused => {
    const why = `A token with this AccessorID exists, with another ${member}`;
    return no(refusal('conflict', why, { pointer: `/${member}` }));
  };
  if (before.Namespace !== ns) return differs('Namespace');
  if (before.SecretID !== secret) return { ...differs('SecretID'), code: 'secret_differs' };
  const why = takeOver ? undefined : ownerProblem(view, before, source);
  if (why !== undefined) return no(why, 'owned');
  const isOfIt = method === undefined ? !before.AuthMethod : isOfMethod(before, method);
  if (!isOfIt) return differs('AuthMethod');
  if (before.Local !== token.Local) return differs('Local');
  if (before.ExpirationTime !== expirationTime) return differs('ExpirationTime');
  const isOther = subject !== undefined && identityOf(view, before)?.Subject !== subject;
  if (used !== undefined && isOther) return differs('Identity');
  if (isAlive(view, before, nowMs)) return undefined;
  return no(refusal('conflict', 'The token with this AccessorID has ended and is being removed'));
}

/** Returns why a token is not that of a source; undefined if it is. */
function ownerProblem(view: View, token: Token, source: string): Refusal | undefined {
  const place = { table: 'token', ns: token.Namespace, id: token.AccessorID } as const;
  const owner = ownershipOf(view, place)?.Owner ?? '';
  if (owner === ownerOfSource(source)) return undefined;
  const whose = owner === '' ? 'was made here' : `belongs to ${JSON.stringify(owner)}`;
  return refusal('conflict', `Token ${token.AccessorID} ${whose}`, { pointer: '/AccessorID' });
}

const mayImport: CommandCheck = (authorizer, command) => {
  const { tokens: imported, deletes } = command as TokensImport;
  return importDenial(authorizer, [...imported, ...deletes]);
};

/** Returns the 403 of a caller who may not import tokens into some namespaces. */
export function importDenial(
  authorizer: Authorizer,
  places: readonly { readonly ns: string }[],
): Refusal | undefined {
  const operator = authorizer.denial('operator', 'write');
  if (operator !== undefined) return operator;
  for (const ns of new Set(places.map((place) => place.ns))) {
    const denied = authorizer.denial('acl', 'write', undefined, ns);
    if (denied !== undefined) return denied;
  }
  return undefined;
}

/** Answers what was done. */
const importTokens: Handler<TokensImport> = (context, command) => {
  let first: Refusal | undefined;
  const counts = atOnce(
    importSteps(context, command, ({ why }) => {
      first ??= why;
    }),
  );
  if (first !== undefined) return refused(first);
  return { ok: true, value: JSON.stringify({ Index: context.index, ...counts }) };
};

export const importCommands: Commands = {
  'tokens.import': { right: mayImport, apply: importTokens },
};
