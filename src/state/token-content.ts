/** What the commands that make tokens share: ids, links, and the token as it is stored. */
import { tokenHash } from '../acl/hash.js';
import { type Refusal, refusal } from '../base/errors.js';
import type { Grants } from './grants.js';
import { keys } from './keys.js';
import { type Link, type LinkInput, type LinkTarget, resolveLinks } from './links.js';
import type { AuthMethod } from './methods.js';
import { putObject } from './object.js';
import { addToken, secretKeyOf, type Token, tokenByAccessor, tokens } from './tokens.js';
import type { ApplyContext, Command, View } from './types.js';

/** The content of a token as a client writes it, normalised. */
export interface TokenInput extends Grants {
  readonly Description: string;
  readonly Policies: readonly LinkInput[];
  readonly Roles: readonly LinkInput[];
  readonly Local: boolean;
}

/** Creates a token under new ids. */
export interface NewToken extends Command {
  readonly ns: string;
  readonly accessor: string;
  readonly secret: string;
  readonly createTime: string;
}

/** Returns why the ids of a new token cannot be used: no two accessors or secrets may be equal. */
export function idProblem(
  view: View,
  { accessor, secret }: Pick<NewToken, 'accessor' | 'secret'>,
): Refusal | undefined {
  const taken = (id: string): boolean =>
    tokenByAccessor(view, id.toLowerCase()) !== undefined ||
    view.get(keys.tokenSecret(secretKeyOf(id))) !== undefined;
  for (const [field, id] of [
    ['AccessorID', accessor],
    ['SecretID', secret],
  ] as const) {
    if (taken(id)) {
      const why = `Invalid Token: ${field} is already in use`;
      return refusal('conflict', why, { pointer: `/${field}` });
    }
  }
  if (secret.toLowerCase() === accessor) {
    const why = 'Invalid Token: SecretID is already in use as the AccessorID, which is no secret';
    return refusal('conflict', why, { pointer: '/SecretID' });
  }
  return undefined;
}

/** Returns the targets of all links of a token, or the refusal of one that does not exist. */
export function allLinks(
  view: View,
  ns: string,
  token: TokenInput,
): { Policies: Link[]; Roles: Link[] } | { problem: Refusal } {
  const policies = resolveLinks(view, 'policy', ns, token.Policies);
  if ('problem' in policies) return policies;
  const roles = resolveLinks(view, 'role', ns, token.Roles);
  if ('problem' in roles) return roles;
  const link = (ID: string): Link => ({ ID });
  return { Policies: policies.ids.map(link), Roles: roles.ids.map(link) };
}

/** Returns those of the links whose targets exist. */
export function existing(
  view: View,
  target: LinkTarget,
  ns: string,
  links: readonly LinkInput[] = [],
): Link[] {
  const found = links.flatMap((link) => {
    const resolved = resolveLinks(view, target, ns, [link]);
    return 'ids' in resolved ? resolved.ids : [];
  });
  return [...new Set(found)].map((ID) => ({ ID }));
}

/** What a token is built from. */
export type Content = Grants &
  Pick<Token, 'Description' | 'Local'> & {
    readonly Policies?: readonly Link[];
    readonly Roles?: readonly Link[];
  };

/** Returns the members that a token's hash covers, in answer order, without empty lists. */
export function contentOf(content: Content): Content {
  const { Description, Local } = content;
  // Spreading what is there takes several times as long.
  const members: Record<string, unknown> = { Description };
  for (const list of LISTS) if (content[list]?.length) members[list] = content[list];
  members['Local'] = Local;
  // The members are those of the content.
  return members as unknown as Content;
}

const LISTS = [
  'Policies',
  'Roles',
  'ServiceIdentities',
  'NodeIdentities',
  'TemplatedPolicies',
] as const;

/** The members that no update changes, in answer order. */
const LASTING = ['AuthMethod', 'AuthMethodNamespace', 'ExpirationTime'] as const;

type Lasting = (typeof LASTING)[number];
/** What a token has beside its content. */
type Own = Omit<Token, keyof Content | Lasting | 'Hash'> & {
  readonly [K in Lasting]?: Token[K] | undefined;
};

/** Returns a token with its members in answer order. */
function tokenOf(own: Own, content: Content): Token {
  const { AccessorID, SecretID, CreateTime, CreateIndex, ModifyIndex, Namespace } = own;
  const token: Record<string, unknown> = { AccessorID, SecretID };
  Object.assign(token, content);
  for (const name of LASTING) if (own[name] !== undefined) token[name] = own[name];
  const Hash = tokenHash(content);
  // A token is what was put together here.
  return Object.assign(token, {
    CreateTime,
    Hash,
    CreateIndex,
    ModifyIndex,
    Namespace,
  }) as unknown as Token;
}

interface Made {
  /** When it expires. */
  readonly end?: string | undefined;
  /** Whose login makes it. */
  readonly method?: AuthMethod | undefined;
}

/** Returns a token as it is stored. */
export function build(
  { index }: ApplyContext,
  { ns, accessor, secret, createTime }: Omit<NewToken, 'type' | 'v'>,
  input: Content,
  { end, method }: Made = {},
): Token {
  const own = {
    AccessorID: accessor,
    SecretID: secret,
    AuthMethod: method?.Name,
    AuthMethodNamespace: method?.Namespace,
    ExpirationTime: end,
    CreateTime: createTime,
    CreateIndex: index,
    ModifyIndex: index,
    Namespace: ns,
  };
  return tokenOf(own, contentOf(input));
}

/** Replaces the content of a token. Returns it as JSON text. */
export function replaceContent(context: ApplyContext, before: Token, input: Content): string {
  const after = tokenOf({ ...before, ModifyIndex: context.index }, contentOf(input));
  return putObject(context, tokens, after, before);
}

/** Stores a token that the cluster creates itself, linked to policies of its namespace. */
export function plantToken(
  context: ApplyContext,
  ids: { ns: string; accessor: string; secret: string; createTime: string },
  description: string,
  policyIds: readonly string[],
): string {
  const content: Content = {
    Description: description,
    Policies: policyIds.map((ID) => ({ ID })),
    Roles: [],
    Local: false,
  };
  return addToken(context, build(context, ids, content));
}
