/** How the rights of a token differ before and after a change, by what enforcement decides. */
import { authorizerOf } from './authorizer.js';
import { CLUSTER_WIDE, type Rights } from './layer.js';
import { allRules } from './reasons.js';
import { endsStep, type Steps } from './steps.js';
import type { Authorizer, Level, Place, Resource, SpeakingRule } from './types.js';

/** A right that differs, as answers show it. Levels are those in force at the name; "" is none. */
export interface RightChange {
  /** A namespace, or the namespaces of a prefix, such as `team-*`. */
  readonly Namespace: string;
  readonly Resource: Resource;
  readonly Match: SpeakingRule['match'];
  /** The name or the prefix; empty for resources without names. */
  readonly Name: string;
  readonly Before: Level | '';
  readonly After: Level | '';
}

/** Questions that one comparison asks: some tenths of a second, in steps. */
const QUESTIONS_MAX = 100_000;

interface Subject {
  readonly resource: Resource;
  readonly match: SpeakingRule['match'];
  readonly name: string;
}

/** What allows more is greater. Without a rule, the default policy has decided already. */
const ORDER: Readonly<Record<Level | '', number>> = { '': 0, deny: 0, read: 1, list: 2, write: 3 };

/** Whether a change allows more than before. */
export const isGain = ({ Before, After }: RightChange): boolean => ORDER[After] > ORDER[Before];

const DEFAULT: Place = { match: 'exact', name: 'default' };

/**
 * Returns how the rights of a token differ: at each name and prefix of a rule, in each namespace of
 * a rule. `isWhole` is false if there are too many of them.
 */
export function* rightChanges(
  before: Rights,
  after: Rights,
  token: { readonly accessor: string; readonly anonymous: boolean },
): Steps<{ readonly changes: readonly RightChange[]; readonly isWhole: boolean }> {
  const subjects = new Map<string, Subject>();
  const places = new Map([['default', DEFAULT]]);
  yield* collect(before, subjects, places);
  yield* collect(after, subjects, places);
  const [past, present] = [authorizerOf(before, token), authorizerOf(after, token)];
  const changes: RightChange[] = [];
  const known = new Map<string, Place[]>();
  let count = 0;
  for (const [Namespace, place] of [...places].sort(widestFirst)) {
    for (const [id, subject] of subjects) {
      if (place !== DEFAULT && isGlobal(subject)) continue;
      count += 1;
      if (count > QUESTIONS_MAX) return { changes, isWhole: false };
      if (endsStep(count)) yield;
      const [Before, After] = [levelAt(past, subject, place), levelAt(present, subject, place)];
      if (ORDER[Before] === ORDER[After]) continue;
      // What is told of the namespaces of a prefix is not repeated for each of them.
      const same = `${id}\u0000${Before}\u0000${After}`;
      const told = known.get(same) ?? [];
      if (told.some((other) => covers(other, place))) continue;
      known.set(same, [...told, place]);
      const { resource: Resource, match: Match, name: Name } = subject;
      changes.push({ Namespace, Resource, Match, Name, Before, After });
    }
  }
  return { changes, isWhole: true };
}

/** Adds what the rules of some rights are about, and where they hold. */
function* collect(
  rights: Rights,
  subjects: Map<string, Subject>,
  places: Map<string, Place>,
): Steps<void> {
  const add = (subject: Subject): void => {
    subjects.set(`${subject.resource}\u0000${subject.match}\u0000${subject.name}`, subject);
  };
  let count = 0;
  for (const { place, resource, match, name, service } of allRules(rights)) {
    const shown = place.match === 'prefix' ? `${place.name}*` : place.name;
    if (!places.has(shown)) places.set(shown, place);
    add({ resource: service === undefined ? resource : 'intention', match, name });
    // Where they have no rules, these follow operator.
    if (resource === 'operator') add({ resource: 'mesh', match, name });
    if (resource === 'operator') add({ resource: 'peering', match, name });
    count += 1;
    if (endsStep(count)) yield;
  }
}

const isGlobal = ({ resource }: Subject): boolean =>
  resource === 'namespace' || CLUSTER_WIDE.has(resource);

type Shown = readonly [shown: string, place: Place];

/** Orders prefixes before what they may cover. */
const widestFirst = ([, a]: Shown, [, b]: Shown): number =>
  Number(a.match === 'exact') - Number(b.match === 'exact') || a.name.length - b.name.length;

/** Whether all namespaces of a place are below a prefix. Blocks for prefixes leave out default. */
const covers = (wide: Place, { name }: Place): boolean =>
  wide.match === 'prefix' && name.startsWith(wide.name) && name !== 'default';

/** Returns a name below a prefix that no longer rule matches, since no name contains NUL. */
const inside = (match: SpeakingRule['match'], name: string): string =>
  match === 'prefix' ? `${name}\u0000` : name;

/** Returns the level that a token has at a name, or below a prefix. */
function levelAt(authorizer: Authorizer, subject: Subject, place: Place): Level | '' {
  const { resource } = subject;
  const segment = inside(subject.match, subject.name);
  const namespace = inside(place.match, place.name);
  const allows = (access: 'read' | 'list' | 'write'): boolean =>
    authorizer.allowed(resource, access, segment, namespace);
  if (allows('write')) return 'write';
  if (resource === 'key' && allows('list')) return 'list';
  if (allows('read')) return 'read';
  const { rule } = authorizer.why(resource, 'read', segment, namespace);
  return rule === undefined ? '' : 'deny';
}
