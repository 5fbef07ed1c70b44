/** Which objects an object names, and which name it. */
import { targetsOf } from '../../kinds/references.js';
import { target } from '../../kinds/targets.js';
import type { ConfigEntry } from '../../kinds/types.js';
import { EntryUsers, exportedBy, OF_SERVICE } from '../../state/entry-users.js';
import { keysBelow, lastPart } from '../../state/lists.js';
import { DEFAULT_NAMESPACE, linksAt } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import type { ObjectPlace } from '../../state/owners.js';
import type { BindingRule } from '../../state/rules.js';
import type { Token } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { kindOf } from '../config/config-entries.js';
import { homeOf } from '../config/entry-rights.js';
import { entryIdOf, type FoundObject, objectAt } from './found.js';

/** Yields the objects that name an object. They exist. */
export function* usersOf(view: View, found: FoundObject): Iterable<ObjectPlace> {
  const { table, ns, id } = found;
  if (table === 'policy' || table === 'role') yield* holdersOf(view, found, table);
  if (table === 'method') {
    const name = id.toLowerCase();
    for (const key of keysBelow(view, 'rule-by-method', ns, name)) {
      yield { table: 'rule', ns, id: lastPart(key) };
    }
    for (const key of keysBelow(view, 'token-by-method', ns, name)) yield placedIn('token', key);
  }
  if (table === 'config') yield* new EntryUsers(view).of(ns, entryIdOf(id));
}

/** Returns the object whose namespace and identity end a key. */
function placedIn(table: 'role' | 'token', key: string): ObjectPlace {
  const [ns, id] = key.split('\u0000').slice(-2) as [string, string];
  return { table, ns, id };
}

function* holdersOf(
  view: View,
  { ns, id, name }: FoundObject,
  table: 'policy' | 'role',
): Iterable<ObjectPlace> {
  for (const holder of ['role', 'token'] as const) {
    for (const key of keysBelow(view, `${holder}-by-${table}`, id)) yield placedIn(holder, key);
  }
  for (const key of keysBelow(view, `namespace-by-${table}`, id)) {
    yield { table: 'namespace', ns: DEFAULT_NAMESPACE, id: lastPart(key) };
  }
  for (const key of keysBelow(view, 'rule', ns)) {
    const { ID, BindType, BindName } = JSON.parse(view.get(key)!) as BindingRule;
    const isBound = BindType === table && BindName.toLowerCase() === name.toLowerCase();
    if (isBound) yield { table: 'rule', ns, id: ID };
  }
}

/** The services that an entry is about without being part of their chains. */
const servicesIn = (one: ConfigEntry): readonly string[] => [
  ...(one.Kind === 'service-intentions' ? [one.Name] : []),
  ...exportedBy(one),
];

/** Yields the objects that an object names. They may not exist. */
export function* usesOf(view: View, found: FoundObject): Iterable<ObjectPlace> {
  const { table, ns, object } = found;
  if (table === 'config') {
    yield* entriesNamedIn(ns, object as unknown as ConfigEntry);
    return;
  }
  const home = table === 'namespace' ? DEFAULT_NAMESPACE : ns;
  for (const field of OBJECTS[table].linkFields) {
    for (const { ID } of linksAt(object, field)) yield { table: field.to, ns: home, id: ID };
  }
  if (table === 'token') {
    const { AuthMethod, AuthMethodNamespace = ns } = object as unknown as Token;
    if (AuthMethod) yield { table: 'method', ns: AuthMethodNamespace, id: AuthMethod };
  }
  if (table === 'rule') yield* boundBy(view, object as unknown as BindingRule);
}

/** Yields the auth method of a rule, and the policy or role that its BindName is. */
function* boundBy(view: View, rule: BindingRule): Iterable<ObjectPlace> {
  const { AuthMethod, BindType, BindName, Namespace: ns } = rule;
  yield { table: 'method', ns, id: AuthMethod };
  if (BindType !== 'policy' && BindType !== 'role') return;
  const id = view.get(OBJECTS[BindType].nameKey!(ns, BindName));
  if (id !== undefined) yield { table: BindType, ns, id };
}

function* entriesNamedIn(ns: string, one: ConfigEntry): Iterable<ObjectPlace> {
  const services = servicesIn(one)
    .filter((name) => name !== '*')
    .map(target.service);
  for (const named of new Set([...targetsOf(one), ...services])) {
    const at = named.indexOf(' ');
    const [word, name] = [named.slice(0, at), named.slice(at + 1)];
    for (const kind of word === 'service' ? OF_SERVICE : [kindOf(word)]) {
      const id = `${kind}/${name}`;
      if (id.toLowerCase() === `${one.Kind}/${one.Name}`.toLowerCase()) continue;
      yield { table: 'config', ns: homeOf(kind, ns), id };
    }
  }
}

/** Returns those that exist, as they are stored. */
export function* existing(view: View, ids: Iterable<ObjectPlace>): Iterable<FoundObject> {
  for (const id of ids) {
    const found = objectAt(view, id);
    if (found !== undefined) yield found;
  }
}
