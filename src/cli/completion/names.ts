/** The names of existing objects, for completion. */
import { ACCESSES, RESOURCES } from '../../acl/types.js';
import type { Call } from '../cli.js';
import { readProfiles } from '../client/profiles.js';
import { type Entry, KINDS, kindPath } from '../commands/entries.js';
import { nameIn, type ObjectType, type Stored, TYPE } from '../commands/objects.js';
import { joiningOf, peersOf, type Server } from '../commands/operator.js';
import { WATCHABLE } from '../commands/watch-command.js';
import { TYPES } from '../files/sets.js';
import { SHELLS } from './scripts.js';

/** A candidate. */
export interface Candidate {
  readonly value: string;
  readonly what: string;
}

/** Returns the candidates at the first argument, or at the second by the first. */
type Source = (call: Call<object>, first: string | undefined) => Promise<readonly Candidate[]>;

const plain = (values: readonly string[]): Candidate[] =>
  values.map((value) => ({ value, what: '' }));
const known =
  (values: readonly string[]): Source =>
  async () =>
    plain(values);

/** Returns the source of the names, or IDs with descriptions, of a type. */
const of =
  (type: ObjectType): Source =>
  async ({ api }) => {
    const items = (await api.get(type.listPath, { isRead: true })).json<Stored[]>();
    return items.map((item) => ({ value: nameIn(type, item), what: item.Description ?? '' }));
  };

const entriesOf = async ({ api }: Call<object>, kind: string): Promise<string[]> =>
  (await api.get(kindPath(kind))).json<Entry[]>().map(({ Name }) => Name);
/** Kinds first, then the names of that kind. */
const entries: Source = async (call, kind) =>
  plain(kind === undefined ? KINDS : await entriesOf(call, kind));

const CHAIN_KINDS = ['service-defaults', 'service-resolver', 'service-router', 'service-splitter'];

/** Services that have entries of their own. */
const services: Source = async (call) => {
  const names = await Promise.all(CHAIN_KINDS.map((kind) => entriesOf(call, kind)));
  return plain([...new Set(names.flat())]);
};

/** Types first, then the names of that type; of entries their kinds. */
const objects: Source = async (call, slug) => {
  const type = Object.values(TYPE).find((one) => one.slug === slug);
  if (type !== undefined) return of(type)(call, undefined);
  return plain(slug === 'config' ? KINDS.map((kind) => `${kind}/`) : TYPES);
};

/** Accesses first, then the types of this server. Those of applications are not known. */
const rights: Source = async (_, access) =>
  plain(access === undefined ? ACCESSES : RESOURCES.map((type) => `${type}/`));

const subjects: Source = async (call) =>
  (await of(TYPE.role)(call, undefined)).map(({ value, what }) => ({
    value: `role:${value}`,
    what,
  }));

const PAIRS: readonly Source[] = [entries, objects, rights];

const profiles: Source = async ({ io }) =>
  Object.entries(readProfiles(io).profiles).map(([value, one]) => ({
    value,
    what: one.httpAddr ?? '',
  }));

const templates: Source = async ({ api }) =>
  plain(Object.keys((await api.get('/v1/acl/templated-policies')).json<object>()));

/** Returns the source of the servers that a list has, by name. */
const serversOf =
  (list: (call: Call<object>) => Promise<readonly Server[]>): Source =>
  async (call) =>
    (await list(call)).map(({ Node, Address }) => ({ value: Node, what: Address }));

/** Sources by option, or by the beginning of the path of a command. */
const SOURCES: readonly (readonly [place: RegExp, source: Source])[] = [
  ...Object.values(TYPE).map(
    (type) => [new RegExp(`^(?:acl )?${type.slug}\\b`), of(type)] as const,
  ),
  [/^(?:acl |--)templated-policy$|^acl templated-policy /, templates],
  [/^config (?:list|schema)$|^--kind$/, known(KINDS)],
  [/^acl can$/, rights],
  [/^--all$/, known(RESOURCES)],
  [/^--as$/, subjects],
  [/^config chain$/, services],
  [/^config /, entries],
  [/^(?:history(?: diff)?|refs|rollback)$/, objects],
  [/^--types$/, known(TYPES)],
  [/^watch$/, known([...KINDS, ...WATCHABLE])],
  [/^operator raft (?:transfer-leader|remove-peer)$/, serversOf(peersOf)],
  [/^operator raft admit$/, serversOf(joiningOf)],
  [/^(?:--)?profile\b/, profiles],
  [/^completion$/, known(SHELLS)],
  [/^--(?:append-|default-)?policy(?:-name)?$/, of(TYPE.policy)],
  [/^--(?:append-|default-)?role(?:-name)?$/, of(TYPE.role)],
  [/^--accessor$/, of(TYPE.token)],
  [/^--(?:auth-)?method$/, of(TYPE.method)],
  [/^(?:--namespace|-n)$/, of(TYPE.namespace)],
];

/** Returns the names that can stand at a place: an option, or the path of a command. */
export async function namesFor(
  call: Call<object>,
  place: string,
  args: readonly string[],
): Promise<readonly Candidate[]> {
  const given = place.startsWith('--') ? [] : args;
  const source = SOURCES.find(([at]) => at.test(place))?.[1];
  if (source === undefined || given.length > (PAIRS.includes(source) ? 1 : 0)) return [];
  return source(call, given[0]);
}
