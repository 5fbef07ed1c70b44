/**
 * Splits a set that one entry does not take into parts that apply one after the other (beyond.md
 * 2.5). What must change together stays together: names that are handed on, and config entries that
 * rules between entries connect. The parts are then made in order, as apply will make them, so that
 * none of a valid plan is refused.
 */

import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import { KIND_ORDER } from '../../api/kind-order.js';
import { refusal } from '../../base/errors.js';
import { targetsOf } from '../../kinds/references.js';
import { target } from '../../kinds/targets.js';
import type { ConfigEntry, EntryLookup, Kind } from '../../kinds/types.js';
import { Entries } from '../../state/config-entries.js';
import { Overlay } from '../../state/draft.js';
import { keys } from '../../state/keys.js';
import type { AuthMethod } from '../../state/methods.js';
import { MANAGEMENT_POLICY } from '../../state/namespaces.js';
import type { BindingRule } from '../../state/rules.js';
import { applyChanges, keyAt, lateness, SET_CHANGES_MAX } from '../../state/sets.js';
import type { View } from '../../state/types.js';
import { knowsAllOf } from '../acl/auth-methods.js';
import type { AuthMethodTypes } from '../login/index.js';
import {
  type Compared,
  type CompareParts,
  type Found,
  type ItemChange,
  problemOf,
  toldOf,
} from './compare.js';
import { objectOf, storedAt } from './items.js';

/** The parts of a set as Refs, and why it has none. */
interface Parts {
  readonly parts: readonly (readonly string[])[];
  readonly problems: readonly Found[];
}

type Part = readonly ItemChange[];

/** Bytes of a command beside its changes: its head, and some of what assertions rest on. */
const HEAD_BYTES = 16 * 1024;

/** Whether one entry takes all changes of a set. */
export const fitsOne = (changed: Part, bodyBytes: number): boolean =>
  changed.length <= SET_CHANGES_MAX && bytesOf(changed) <= bodyBytes - HEAD_BYTES;

const bytesOf = (changes: Part): number =>
  changes.reduce((sum, { change }) => sum + Buffer.byteLength(JSON.stringify(change)), 0);

/** Returns the parts of a set. Each has at most as many changes, and bytes, as an entry takes. */
export function* partsOf(
  { datacenter, methodTypes, nowMs, bodyBytes }: CompareParts & { readonly bodyBytes: number },
  { changes, draft, index, authorizer }: Compared & { readonly authorizer: Authorizer },
  view: View,
): Steps<Parts> {
  const all = changes.filter(({ change }) => change !== undefined);
  const objects = all.filter(({ item }) => item.table !== 'config');
  const entries = all.filter(({ item }) => item.table === 'config');
  const problems: Found[] = [];
  const parts: Part[] = [];
  const pack = (units: readonly Part[]): void => {
    parts.push(...packed(units, bodyBytes - HEAD_BYTES, problems));
  };
  const reshaped = objects.filter((one) => mapsLess(methodTypes, draft, one));
  const named = together(objects, new Set(reshaped.map(({ item }) => keyAt(item))));
  const isWrite = ({ item }: ItemChange): boolean => item.body !== undefined;
  const writes = named.filter((unit) => unit.some(isWrite));
  const late = (unit: Part): number =>
    Math.min(...unit.filter(isWrite).map(({ item }) => lateness(item)));
  pack(writes.sort((a, b) => late(a) - late(b)));
  const groups = yield* connected(entries, draft);
  const kept = groups.flatMap((group) => (group.length > SET_CHANGES_MAX ? split(group) : [group]));
  pack(kept.filter((unit) => unit.some(isWrite)));
  pack(kept.filter((unit) => !unit.some(isWrite)));
  const deletes = named.filter((unit) => !unit.some(isWrite));
  const last = (unit: Part): number => Math.max(...unit.map(({ item }) => lateness(item)));
  pack(deletes.sort((a, b) => last(b) - last(a)));
  if (problems.length > 0) return { parts: [], problems };
  const facts = { datacenter, at: new Date(nowMs()).toISOString() };
  const overlay = new Overlay(view);
  for (const part of parts) {
    const made = part.map(({ change }) => change!);
    yield* applyChanges({ draft: overlay, index: index + 1 }, made, facts, (at, why) => {
      const told = toldOf(authorizer, overlay, made[at]!, why);
      problems.push(problemOf(part[at]!.item, told));
    });
  }
  return { parts: parts.map((part) => part.map(({ item }) => item.ref)), problems };
}

/** Fills parts with units in order. A unit that fits into none is a problem. */
function packed(units: readonly Part[], bytesMax: number, problems: Found[]): Part[] {
  const parts: ItemChange[][] = [];
  let bytes = 0;
  for (const unit of units) {
    const more = bytesOf(unit);
    if (unit.length > SET_CHANGES_MAX || more > bytesMax) {
      const what = `these ${unit.length} entries depend on each other and must change in one entry`;
      const most = unit.length > SET_CHANGES_MAX ? `${SET_CHANGES_MAX}` : `${bytesMax} bytes`;
      const why = refusal('too_large', `${what}; the limit is ${most}`);
      problems.push(problemOf(unit[0]!.item, why));
      continue;
    }
    const last = parts.at(-1);
    const fits = (last?.length ?? 0) + unit.length <= SET_CHANGES_MAX && bytes + more <= bytesMax;
    if (last !== undefined && fits) last.push(...unit);
    else parts.push([...unit]);
    bytes = last !== undefined && fits ? bytes + more : more;
  }
  return parts;
}

/** Groups of items that are connected by what they have in common. */
class Groups {
  readonly #parents = new Map<string, string>();

  rootOf(id: string): string {
    let at = id;
    for (let up = this.#parents.get(at); up !== undefined; up = this.#parents.get(at)) at = up;
    if (at !== id) this.#parents.set(id, at);
    return at;
  }

  join(one: string, other: string): void {
    const [a, b] = [this.rootOf(one), this.rootOf(other)];
    if (a !== b) this.#parents.set(a, b);
  }

  /** Returns the changes by group, in their order. */
  of(changes: Part, idOf: (change: ItemChange) => string): ItemChange[][] {
    const groups = new Map<string, ItemChange[]>();
    for (const change of changes) {
      const root = this.rootOf(idOf(change));
      const group = groups.get(root);
      if (group === undefined) groups.set(root, [change]);
      else group.push(change);
    }
    return [...groups.values()];
  }
}

/** Whether an object is an auth method that loses mappings, so that rules may not fit it. */
function mapsLess(types: AuthMethodTypes, draft: View, { item }: ItemChange): boolean {
  if (item.table !== 'method') return false;
  const [past, present] = [
    objectOf(item) as AuthMethod | undefined,
    storedAt<AuthMethod>(draft, item),
  ];
  const type = present && types.get(present.Type);
  if (past === undefined || type === undefined) return false;
  return !knowsAllOf(type.shapeOf(present!.Config), type.shapeOf(past.Config));
}

/**
 * Groups objects of which one takes a name or handle that another gives up, new namespaces with the
 * policies that they bring, and auth methods that map less with their rules.
 */
function together(changes: Part, reshaped: ReadonlySet<string>): ItemChange[][] {
  const groups = new Groups();
  const idOf = ({ item }: ItemChange): string => `object ${keyAt(item)}`;
  for (const change of changes) {
    const { item } = change;
    const { table, ns, id, name, handle, owned } = item;
    if (table === 'namespace') groups.join(idOf(change), `policy ${id} ${MANAGEMENT_POLICY.Name}`);
    if (table === 'policy' || table === 'role') {
      const names = [objectOf(item)?.Name, item.body === undefined ? undefined : name];
      for (const one of names) {
        if (one !== undefined) groups.join(idOf(change), `${table} ${ns} ${one.toLowerCase()}`);
      }
    }
    if (table !== 'rule') continue;
    const { AuthMethod = '' } = (objectOf(item) ?? {}) as Partial<BindingRule>;
    const method = keys.method(ns, AuthMethod);
    if (reshaped.has(method)) groups.join(idOf(change), `object ${method}`);
    for (const one of [owned?.Handle, handle]) {
      if (one !== undefined) groups.join(idOf(change), `handle ${ns} ${one}`);
    }
  }
  return groups.of(changes, idOf);
}

/** Kinds whose entries are about the service that they are named after. */
const OF_SERVICE: ReadonlySet<string> = new Set([
  'service-defaults',
  'service-resolver',
  'service-splitter',
  'service-router',
  'service-intentions',
]);

/** Kinds whose changes may be felt by any entry. */
const OF_ALL: ReadonlySet<string> = new Set(['proxy-defaults', 'mesh', 'exported-services']);

/** Groups the entries that rules between entries connect, directly or through stored entries. */
function* connected(changes: Part, draft: View): Steps<ItemChange[][]> {
  const groups = new Groups();
  const idOf = ({ item }: ItemChange): string => `entry ${keyAt(item)}`;
  const reachesAll = changes.some(({ item }) =>
    OF_ALL.has(item.name.slice(0, item.name.indexOf('/'))),
  );
  const lookups = new Map<string, EntryLookup>();
  const lookupOf = (ns: string): EntryLookup => {
    const known = lookups.get(ns) ?? new Entries(draft, ns);
    lookups.set(ns, known);
    return known;
  };
  const seen = new Set<string>();
  const pending: [ns: string, target: string][] = [];
  /** Connects an entry with what it names, and with the service that it is about. */
  const join = (id: string, ns: string, entry: ConfigEntry): void => {
    const { Kind: kind, Name: name } = entry;
    const own = OF_SERVICE.has(kind) ? target.service(name) : `${kind} ${name.toLowerCase()}`;
    for (const one of [own, ...targetsOf(entry)]) {
      const place = one.startsWith('jwt-provider ') ? 'default' : ns;
      groups.join(id, `${place} ${one}`);
      if (seen.has(`${ns} ${one}`)) continue;
      seen.add(`${ns} ${one}`);
      pending.push([ns, one]);
    }
    if (reachesAll) groups.join(id, 'all');
  };
  for (const change of changes) {
    const { item } = change;
    for (const text of [item.before, draft.get(keyAt(item))]) {
      if (text !== undefined) join(idOf(change), item.ns, JSON.parse(text) as ConfigEntry);
    }
    yield;
  }
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [ns, named] = next;
    const lookup = lookupOf(ns);
    const service = named.startsWith('service ') ? named.slice('service '.length) : undefined;
    const stored =
      service === undefined
        ? []
        : [...OF_SERVICE].map((kind) => ({ kind: kind as Kind, name: service }));
    for (const { kind, name } of [...lookup.naming(named), ...stored]) {
      const entry = lookup.get(kind, name);
      if (entry !== undefined) join(`${ns} ${named}`, ns, entry);
    }
    yield;
  }
  return groups.of(changes, idOf);
}

/**
 * Splits a group that is too large for one entry: by kind if it only creates; else its deletions
 * come after its writes.
 */
function split(group: Part): ItemChange[][] {
  const deletes = group.filter(({ item }) => item.body === undefined);
  const writes = group.filter(({ item }) => item.body !== undefined);
  const apart = deletes.length > 0 ? [deletes] : [];
  if (writes.length <= SET_CHANGES_MAX) return [writes, ...apart];
  if (!writes.every(({ action }) => action === 'create')) return [[...group]];
  const kindOf = ({ item: { name } }: ItemChange): number =>
    KIND_ORDER.indexOf(name.slice(0, name.indexOf('/')) as Kind);
  const sorted = [...writes].sort((a, b) => kindOf(a) - kindOf(b));
  const units: ItemChange[][] = [];
  for (let at = 0; at < sorted.length; at += SET_CHANGES_MAX) {
    units.push(sorted.slice(at, at + SET_CHANGES_MAX));
  }
  return [...units, ...apart];
}
