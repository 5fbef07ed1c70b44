/** Names of what there is, for completion. */

import type { Call } from '../cli.js';
import { readProfiles } from '../client/profiles.js';
import { POLICIES, ROLES, TOKENS } from '../commands/acl-objects.js';
import { METHODS } from '../commands/auth-method.js';
import { RULES } from '../commands/binding-rule.js';
import { type Entry, KINDS } from '../commands/entries.js';
import { NAMESPACES } from '../commands/namespace.js';
import type { ObjectType } from '../commands/objects.js';
import { joiningOf, peersOf, type Server } from '../commands/operator.js';
import { WATCHABLE } from '../commands/watch-command.js';

/** A candidate. */
export interface Candidate {
  readonly value: string;
  readonly what: string;
}

type Source = (call: Call<object>, args: readonly string[]) => Promise<readonly Candidate[]>;

/** Returns the source of the names, or IDs with descriptions, of a type. */
function of<T>(type: ObjectType<T>): Source {
  return async ({ api }, args) => {
    if (args.length > 0) return [];
    const items = (await api.get(type.listPath, { isRead: true })).json<T[]>();
    return items.map((item) => ({
      value: (type.name ?? type.id)(item),
      what: (item as { Description?: string }).Description ?? '',
    }));
  };
}

const kinds: Source = async (_call, args) =>
  args.length > 0 ? [] : KINDS.map((value) => ({ value, what: '' }));

/** Kinds first, then the names of that kind. */
const entries: Source = async (call, args) => {
  const [kind] = args;
  if (kind === undefined) return kinds(call, args);
  if (args.length > 1) return [];
  const found = (await call.api.get(`/v1/config/${encodeURIComponent(kind)}`)).json<Entry[]>();
  return found.map(({ Name }) => ({ value: Name, what: '' }));
};

/** The kinds that make chains. */
const CHAIN_KINDS = ['service-defaults', 'service-resolver', 'service-router', 'service-splitter'];

/** Services that have entries of their own. */
const services: Source = async ({ api }, args) => {
  if (args.length > 0) return [];
  const lists = CHAIN_KINDS.map(async (kind) =>
    (await api.get(`/v1/config/${kind}`)).json<Entry[]>(),
  );
  const names = (await Promise.all(lists)).flat().map(({ Name }) => Name);
  return [...new Set(names)].map((value) => ({ value, what: '' }));
};

const profiles: Source = async ({ io }, args) =>
  args.length > 0
    ? []
    : Object.entries(readProfiles(io).profiles).map(([value, one]) => ({
        value,
        what: one.httpAddr ?? '',
      }));

const templates: Source = async ({ api }, args) => {
  if (args.length > 0) return [];
  const all = (await api.get('/v1/acl/templated-policies')).json<Record<string, object>>();
  return Object.keys(all).map((value) => ({ value, what: '' }));
};

const watchable: Source = async (_call, args) =>
  args.length > 0 ? [] : [...KINDS, ...WATCHABLE].map((value) => ({ value, what: '' }));

/** Returns the source of the servers that a list has, by name. */
const serversOf =
  (list: (call: Call<object>) => Promise<readonly Server[]>): Source =>
  async (call, args) =>
    args.length > 0
      ? []
      : (await list(call)).map(({ Node, Address }) => ({ value: Node, what: Address }));

/** Sources by option, or by the beginning of the path of a command. */
const SOURCES: readonly (readonly [place: string, source: Source])[] = [
  ['acl policy', of(POLICIES)],
  ['acl role', of(ROLES)],
  ['acl token', of(TOKENS)],
  ['acl auth-method', of(METHODS)],
  ['acl binding-rule', of(RULES)],
  ['acl templated-policy', templates],
  ['namespace', of(NAMESPACES)],
  ['config list', kinds],
  ['config schema', kinds],
  ['config chain', services],
  ['config', entries],
  ['watch', watchable],
  ['operator raft transfer-leader', serversOf(peersOf)],
  ['operator raft remove-peer', serversOf(peersOf)],
  ['operator raft admit', serversOf(joiningOf)],
  ['profile', profiles],
  ['completion', async () => ['bash', 'zsh', 'fish'].map((value) => ({ value, what: '' }))],
  ['--policy-name', of(POLICIES)],
  ['--append-policy-name', of(POLICIES)],
  ['--default-policy-name', of(POLICIES)],
  ['--policy', of(POLICIES)],
  ['--role', of(ROLES)],
  ['--role-name', of(ROLES)],
  ['--append-role-name', of(ROLES)],
  ['--default-role-name', of(ROLES)],
  ['--accessor', of(TOKENS)],
  ['--method', of(METHODS)],
  ['--auth-method', of(METHODS)],
  ['--templated-policy', templates],
  ['--namespace', of(NAMESPACES)],
  ['--kind', kinds],
  ['--profile', profiles],
];

/** Returns the names that can stand at a place: an option, or the path of a command. */
export async function namesFor(
  call: Call<object>,
  place: readonly string[],
  args: readonly string[],
): Promise<readonly Candidate[]> {
  const text = place.join(' ');
  const isOption = text.startsWith('--');
  const found = SOURCES.find(([known]) => text === known || text.startsWith(`${known} `));
  return found === undefined ? [] : found[1](call, isOption ? [] : args);
}
