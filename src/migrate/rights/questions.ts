/**
 * The questions that tell two rights apart (moving-in.md 5.1). The answer about a name depends on
 * which exact rule equals it and which longest prefix covers it, on each side. So each name of an
 * exact rule is asked, and for each prefix one name below it that no longer rule matches.
 */
import { CLUSTER_WIDE, type Layer, type Rights } from '../../acl/layer.js';
import type { Asked } from '../../acl/reasons.js';
import type { RuleSet } from '../../acl/rule-set.js';
import { type Access, type Level, NAMED, type Resource, SCALARS } from '../../acl/types.js';

interface Group {
  readonly resource: Resource;
  readonly namespace: string;
  readonly accesses: readonly Access[];
  readonly segments: readonly string[];
}

/** The questions about two rights. */
export interface Questions {
  readonly count: number;
  /** Whether those that no differing rule is about were left out. */
  readonly byRule: boolean;
  /** Yields them: names of rules first, then names below prefixes. */
  all(): Iterable<Asked>;
}

/** Questions of one comparison: more are asked about differing rules alone (moving-in.md 5.1). */
const QUESTIONS_MAX = 200_000;
/** Rules among which a decision on `write-prefix` looks as long as others take altogether. */
const RULES_PER_QUESTION = 100;

const READ_WRITE: readonly Access[] = ['read', 'write'];
const OF_KEYS: readonly Access[] = ['read', 'list', 'write'];
const NAMED_ASKED = [...NAMED, 'intention'] as const;
type NamedAsked = (typeof NAMED_ASKED)[number];

/** Returns the questions that tell two rights apart, in namespaces that exist and all others. */
export function questionsAbout(
  sides: readonly [Rights, Rights],
  existing: Iterable<string>,
  max = QUESTIONS_MAX,
): Questions {
  const namespaces = [...namespacesOf(sides, existing)];
  const all = groupsOf(sides, namespaces, false);
  const byRule = countOf(all) > max || workOf(all) > max;
  const groups = byRule ? groupsOf(sides, namespaces, true) : all;
  return { count: countOf(groups), byRule, all: () => each(groups) };
}

const countOf = (groups: readonly Group[]): number =>
  groups.reduce((sum, { accesses, segments }) => sum + accesses.length * segments.length, 0);

/** Returns the work of questions on `write-prefix`. There are about as many names as rules. */
const workOf = (groups: readonly Group[]): number =>
  groups
    .filter(({ accesses }) => accesses.includes('write-prefix'))
    .reduce((sum, { segments: { length } }) => sum + (length * length) / RULES_PER_QUESTION, 0);

function* each(groups: readonly Group[]): Iterable<Asked> {
  for (const { resource, namespace, accesses, segments } of groups) {
    for (const segment of segments) {
      for (const access of accesses) yield { resource, access, segment, namespace };
    }
  }
}

/**
 * Yields one namespace of each kind: those with the same blocks about them are alike. Below each
 * prefix of a block there is one that no longer block matches.
 */
function* namespacesOf(
  sides: readonly [Rights, Rights],
  existing: Iterable<string>,
): Iterable<string> {
  const layers = sides.flatMap((rights) => rights.layers);
  const exact = new Set(['default']);
  const prefixes = new Set(['']);
  for (const layer of layers) {
    for (const [{ match, name }] of layer.placedSets()) {
      (match === 'exact' ? exact : prefixes).add(name);
    }
  }
  yield* exact;
  const below = belowEach(prefixes, [...exact, ...prefixes]);
  const covering = (name: string): string =>
    JSON.stringify([...prefixes].filter((prefix) => name.startsWith(prefix)));
  const known = new Set<string>();
  for (const name of [...existing, ...below]) {
    const kind = covering(name);
    if (exact.has(name) || known.has(kind)) continue;
    known.add(kind);
    yield name;
  }
}

/** Makes the questions of all namespaces. `byRule`: those that differing rules are about. */
function groupsOf(
  sides: readonly [Rights, Rights],
  namespaces: readonly string[],
  byRule: boolean,
): Group[] {
  const names: Group[] = [];
  const below: Group[] = [];
  for (const namespace of namespaces) {
    const sets = sides.map((rights) => setsIn(rights.layers, namespace));
    const isAsked = (resource: Resource) => namespace === 'default' || !CLUSTER_WIDE.has(resource);
    for (const resource of SCALARS.filter(isAsked)) {
      names.push({ resource, namespace, accesses: READ_WRITE, segments: [''] });
    }
    for (const resource of NAMED_ASKED.filter(isAsked)) {
      const accesses = resource === 'key' ? OF_KEYS : READ_WRITE;
      const { exact, prefixes } = namesOf(sets.flat(), resource);
      const all = [...exact, ...prefixes];
      const differing = byRule ? differingNames(sets, resource) : new Set(all);
      const isAbout = (name: string): boolean => differing.has(name);
      const first = [...exact].filter(isAbout);
      if (resource === 'intention') first.push('*');
      const asked = new Set(byRule ? ['', ...[...prefixes].filter(isAbout)] : prefixes);
      names.push({ resource, namespace, accesses, segments: first });
      below.push({ resource, namespace, accesses, segments: belowEach(asked, all) });
      if (resource !== 'key') continue;
      const segments = stretches(all, byRule ? prefixesOf(first.concat(...asked)) : undefined);
      below.push({ resource, namespace, accesses: ['write-prefix'], segments });
    }
  }
  const ofNamespaces: Group = {
    resource: 'namespace',
    namespace: 'default',
    accesses: READ_WRITE,
    segments: namespaces,
  };
  return [...names, ...below, ofNamespaces];
}

/** Returns the rule sets that apply in a namespace, with what tells those of one side apart. */
const setsIn = (layers: readonly Layer[], namespace: string): (readonly [string, RuleSet])[] =>
  layers.flatMap((layer, at) =>
    [...layer.placedSetsFor(namespace)].map(
      ([{ match, name }, rules]) => [JSON.stringify([at, match, name]), rules] as const,
    ),
  );

/** Returns the names of the exact rules and the prefixes, with the empty one. */
function namesOf(sets: readonly (readonly [string, RuleSet])[], resource: NamedAsked) {
  const exact = new Set<string>();
  const prefixes = new Set(['']);
  for (const [, { named }] of sets) {
    for (const name of named.get(resource)?.exact.keys() ?? []) exact.add(name);
    for (const name of named.get(resource)?.prefix.keys() ?? []) prefixes.add(name);
  }
  return { exact, prefixes };
}

/** Returns the names at which the sides have different rules, or rules in different places. */
function differingNames(
  sides: readonly (readonly (readonly [string, RuleSet])[])[],
  resource: NamedAsked,
): ReadonlySet<string> {
  const [one, other] = sides.map((sets) => {
    const levels = new Map<string, readonly [name: string, level: Level]>();
    for (const [place, { named }] of sets) {
      for (const match of ['exact', 'prefix'] as const) {
        for (const [name, level] of named.get(resource)?.[match] ?? []) {
          levels.set(JSON.stringify([place, match, name]), [name, level]);
        }
      }
    }
    return levels;
  });
  const differing = new Set<string>();
  for (const [a, b] of [
    [one!, other!],
    [other!, one!],
  ] as const) {
    for (const [key, [name, level]] of a) if (b.get(key)?.[1] !== level) differing.add(name);
  }
  return differing;
}

/** Characters that names have. `*` is left out: it has a meaning for intentions. */
const USUAL = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** The first of the characters that are taken after these: few names have them. */
const UNUSUAL_FROM = 0xa1;

/** Returns a character that is none of the given ones. */
function freshCharacter(taken: ReadonlySet<string> | undefined): string {
  for (const character of USUAL) if (!taken?.has(character)) return character;
  let code = UNUSUAL_FROM;
  while (taken?.has(String.fromCharCode(code))) code += 1;
  return String.fromCharCode(code);
}

/** Returns the characters that follow each of the prefixes in some names. */
function followers(
  prefixes: ReadonlySet<string>,
  names: Iterable<string>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const lengths = [...new Set([...prefixes].map(({ length }) => length))];
  const found = new Map<string, Set<string>>();
  for (const name of names) {
    for (const length of lengths) {
      const prefix = name.slice(0, length);
      if (length >= name.length || !prefixes.has(prefix)) continue;
      const characters = found.get(prefix) ?? new Set();
      found.set(prefix, characters.add(name[length]!));
    }
  }
  return found;
}

/** Returns a name below each prefix that follows it in no name. */
function belowEach(prefixes: ReadonlySet<string>, names: Iterable<string>): string[] {
  const next = followers(prefixes, names);
  return [...prefixes].map((prefix) => prefix + freshCharacter(next.get(prefix)));
}

/**
 * Returns a prefix of each stretch of the tree of names within which the rules above and below are
 * the same, and one beside each: the nodes where the tree branches or a name ends, and the first
 * character after each along each branch. `only`: those of them that are wanted.
 */
function stretches(names: Iterable<string>, only?: ReadonlySet<string>): string[] {
  const sorted = [...new Set(['', ...names])].sort();
  const nodes = new Set(sorted);
  for (const [i, name] of sorted.entries()) {
    const next = sorted[i + 1] ?? '';
    let common = 0;
    while (common < next.length && name[common] === next[common]) common += 1;
    nodes.add(next.slice(0, common));
  }
  const firsts = [...followers(nodes, sorted)].flatMap(([node, characters]) =>
    [...characters].map((character) => node + character),
  );
  const all = new Set([...nodes, ...firsts].filter((node) => only?.has(node) !== false));
  return [...all, ...belowEach(all, sorted)];
}

/** Returns every prefix of some names, themselves among them. */
const prefixesOf = (names: Iterable<string>): ReadonlySet<string> => {
  const all = new Set<string>();
  for (const name of names) {
    for (let length = 0; length <= name.length; length += 1) all.add(name.slice(0, length));
  }
  return all;
};
