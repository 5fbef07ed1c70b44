/** What a set is about: its objects and deletes, each found in a state (beyond.md 2.5). */
import { randomUUID } from 'node:crypto';
import { isReservedId } from '../../acl/builtin.js';
import { isNamespaceName, isUuid } from '../../acl/names.js';
import type { Authorizer } from '../../acl/types.js';
import { SET_OBJECTS_MAX, type SetBody } from '../../api/endpoints/sets.js';
import { type Refusal, refusal, refuse, reject } from '../../base/errors.js';
import { lowerAscii } from '../../base/text.js';
import { unknownKind } from '../../kinds/decode.js';
import { definitionOf, isClusterWide, isKind } from '../../kinds/definitions.js';
import { pointerOf } from '../../languages/pointers.js';
import { didYouMean } from '../../languages/suggest.js';
import { allNamespaces } from '../../state/config-entries.js';
import { keys, type Table } from '../../state/keys.js';
import { linkFact } from '../../state/links.js';
import { keysBelow, stored } from '../../state/lists.js';
import { MANAGEMENT_POLICY } from '../../state/namespaces.js';
import { DEFAULT_NAMESPACE, type StoredObject } from '../../state/object.js';
import { type ObjectPlace, type Ownership, ownershipOf } from '../../state/owners.js';
import { type Body, putForm } from '../../state/put-form.js';
import { refOf, TYPES, tableOfType } from '../../state/refs.js';
import { keyAt } from '../../state/sets.js';
import { tokenByAccessor } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { denialOf } from '../config/entry-rights.js';

/** One object of a set, or one deletion. */
export interface Item extends ObjectPlace {
  readonly ref: string;
  /** As clients name it: of a config entry, `<kind>/<name>`. */
  readonly name: string;
  /** Where it stands in the body: `/Objects/3`. Empty: it is pruned. */
  readonly at: string;
  /** The stored object as JSON; undefined if it does not exist. */
  readonly before: string | undefined;
  readonly owned: Ownership | undefined;
  /** What a PUT would send. Absent: it is deleted. */
  readonly body?: Body;
  readonly handle?: string | undefined;
  readonly ifUnused?: boolean | undefined;
  /** The ID that was sent is not that of the object with the name. */
  readonly otherId?: true;
  /** Why the object cannot be meant. */
  readonly fault?: Refusal;
  /** The caller may not read it: it is as one that does not exist, under the name that was sent. */
  readonly isHidden?: true;
}

const LABEL = /^[A-Za-z0-9._/-]{1,128}$/;
const NO_CREDENTIALS = 'a set cannot contain credentials: create tokens with PUT /v1/acl/token';

/** Finds the objects of a set in a view. Throws ApiError 400 for a set that cannot be meant. */
export class Items {
  readonly all: Item[] = [];
  /** The Refs of deletions that find nothing, in lower case. */
  readonly missing = new Set<string>();
  readonly #view: View;
  readonly #ns: string;
  readonly #authorizer: Authorizer;
  readonly #seen = new Set<string>();
  /** The names and handles that the set gives to objects by their IDs. */
  readonly #named = new Map<string, string>();

  constructor(view: View, ns: string, authorizer: Authorizer) {
    this.#authorizer = authorizer;
    this.#view = view;
    this.#ns = ns;
  }

  /** Adds what the body of a set names, one item in each step. */
  *add({ Owner = '', Prune = false, Objects = [], Delete = [] }: SetBody): Generator<void> {
    if (Owner !== '') mustBeLabel(Owner, '/Owner');
    if (Prune && Owner === '') {
      reject('invalid', 'Prune needs an Owner: it deletes what the owner has', {
        pointer: '/Prune',
      });
    }
    if (Objects.length + Delete.length > SET_OBJECTS_MAX) {
      reject('too_large', `A set has at most ${SET_OBJECTS_MAX} Objects and Deletes`);
    }
    for (const { Handle = '', Object: sent = {} } of Objects)
      this.#named.set(textOf(sent['ID']).toLowerCase(), Handle || textOf(sent['Name']));
    for (const [i, object] of Objects.entries()) {
      const at = `/Objects/${i}`;
      this.#once(this.#object(object, at), at);
      yield;
    }
    for (const [i, one] of Delete.entries()) {
      const at = `/Delete/${i}`;
      this.#once({ ...this.#deletion(one, at), ifUnused: one.IfUnused }, at);
      yield;
    }
    if (Prune) yield* this.#prune(Owner);
  }

  #once(item: Item, at: string): void {
    const { table, ns, id, name, before, body, isHidden } = item;
    const own = `${table}\u0000${ns}\u0000`;
    const key = before === undefined && item.handle === undefined ? name : id;
    const seen = new Set([`${own}${key.toLowerCase()}`]);
    if (before === undefined && item.handle !== undefined) seen.add(`${own}${item.handle}`);
    for (const one of seen) {
      if (this.#seen.has(one))
        reject('invalid', `${item.ref} appears twice in the set`, { pointer: at });
      this.#seen.add(one);
    }
    if (before === undefined && body === undefined && isHidden === undefined) {
      this.missing.add(item.ref.toLowerCase());
    } else this.all.push(item);
  }

  #object(
    { Type = '', Namespace, Handle, Object: sent = {} }: NonNullable<SetBody['Objects']>[number],
    at: string,
  ): Item {
    const table = tableOf(Type, `${at}/Type`);
    mustBeOfRule(table, Handle, at);
    const own = table === 'config' || table === 'namespace' ? undefined : sent['Namespace'];
    const kind = sent['Kind'] ?? sent['kind'];
    const ns = this.#place(table, kind, { Namespace: Namespace || textOf(own), at });
    if (textOf(own) !== '' && textOf(own) !== ns) {
      const why = `${TYPES[table]} is written to namespace ${JSON.stringify(ns)}`;
      reject('invalid', why, { pointer: `${at}/Object/Namespace` });
    }
    const { Namespace: _ns, ID, ...body } = table === 'config' ? { ...sent, ID: undefined } : sent;
    const kept = table === 'config' ? sent : body;
    const found = this.#find(table, ns, { ...sent, ID }, { Handle, at });
    const isHidden = table === 'namespace' && this.#linksUnseen(found, sent);
    const seen = isHidden ? this.#absent(table, ns, found.name) : found;
    const mark = isHidden && { isHidden: true as const };
    return { ...seen, body: kept, at, ...(Handle && { handle: Handle }), ...mark };
  }

  /**
   * Whether a namespace is to link policies or roles of `default` that the caller may not read,
   * beside those that it links: what becomes of it would tell whether they exist.
   */
  #linksUnseen(found: Omit<Item, 'at'>, sent: Body): boolean {
    if (mayRead(this.#authorizer, 'policy', DEFAULT_NAMESPACE, '')) return false;
    const linked = new Set(namesIn(objectOf(found)));
    const shown = found.before && putForm(this.#view, 'namespace', JSON.parse(found.before));
    for (const name of namesIn(shown)) linked.add(name);
    return namesIn(sent).some((name) => !linked.has(name));
  }

  #place(
    table: Table,
    kind: unknown,
    { Namespace, at }: { readonly Namespace: string | undefined; readonly at: string },
  ): string {
    const isGlobal = typeof kind === 'string' && isKind(kind) && isClusterWide(kind);
    if (table === 'namespace' || (table === 'config' && isGlobal)) return DEFAULT_NAMESPACE;
    const ns = lowerAscii(Namespace || this.#ns);
    if (isNamespaceName(ns)) return ns;
    return reject('invalid', `${JSON.stringify(ns.slice(0, 64))} cannot be a namespace`, {
      pointer: `${at}/Namespace`,
    });
  }

  #find(
    table: Table,
    ns: string,
    sent: Body,
    { Handle = '', at }: { readonly Handle?: string | undefined; readonly at: string },
  ): Omit<Item, 'at'> {
    if (table === 'token') return this.#token(sent['AccessorID'], `${at}/Object/AccessorID`);
    if (table === 'config') {
      const [kind, name] = [
        textOf(sent['Kind'] ?? sent['kind']),
        textOf(sent['Name'] ?? sent['name']),
      ];
      const fixed = name === '' && isKind(kind) ? definitionOf(kind).onlyName : name;
      return this.#item({ table, ns, id: `${kind}/${fixed.toLowerCase()}` }, `${kind}/${fixed}`);
    }
    const name = textOf(sent['Name']);
    if (table === 'method' || table === 'namespace')
      return this.#item({ table, ns, id: name }, name);
    const id = textOf(sent['ID']).toLowerCase();
    if (id !== '' && !isUuid(id)) {
      reject('invalid', 'ID is not a valid UUID', { pointer: `${at}/Object/ID` });
    }
    if (table === 'rule') return this.#rule(ns, id, Handle, at);
    if (id !== '' && this.#has({ table, ns, id })) return this.#item({ table, ns, id }, name);
    const nameKey = table === 'policy' ? keys.policyName : keys.roleName;
    const brought = isBrought(this.#view, { table, ns, name }) ? randomUUID() : undefined;
    const known = this.#holder(nameKey(ns, name), name) ?? brought;
    if (known !== undefined) {
      const item = this.#item({ table, ns, id: known }, name);
      return id === '' ? item : { ...item, otherId: true };
    }
    return { ...this.#item({ table, ns, id: id || randomUUID() }, name), ...this.#taken(id) };
  }

  #rule(ns: string, id: string, handle: string, at: string): Omit<Item, 'at'> {
    if (handle !== '') mustBeLabel(handle, `${at}/Handle`);
    const table = 'rule';
    const known = id !== '' && this.#has({ table, ns, id });
    const held = handle === '' ? undefined : this.#holder(keys.ruleHandle(ns, handle), handle);
    if (handle === '' && id === '') {
      reject('invalid', 'a binding rule has no name: give it a Handle, or its ID', { pointer: at });
    }
    const own = known ? id : (held ?? (id || randomUUID()));
    const item = this.#item({ table, ns, id: own }, handle);
    const other = id !== '' && own !== id && { otherId: true as const };
    return { ...item, ...other, ...(item.before === undefined && this.#taken(id)) };
  }

  #token(sent: unknown, pointer: string): Omit<Item, 'at'> {
    const id = textOf(sent).toLowerCase();
    const token = isUuid(id) ? tokenByAccessor(this.#view, id) : undefined;
    const may = (ns: string): boolean => this.#authorizer.allowed('acl', 'read', undefined, ns);
    if (token !== undefined && may(token.Namespace)) {
      return this.#item({ table: 'token', ns: token.Namespace, id }, id);
    }
    // A token that the caller may not read is as one that does not exist.
    if (may(this.#ns)) reject('invalid', NO_CREDENTIALS, { pointer });
    return this.#absent('token', this.#ns, id);
  }

  #deletion(sent: NonNullable<SetBody['Delete']>[number], at: string): Item {
    const { Type = '', Namespace, Name = '', ID = '', Handle = '' } = sent;
    const table = tableOf(Type, `${at}/Type`);
    if (table === 'token') reject('invalid', NO_CREDENTIALS, { pointer: `${at}/Type` });
    mustBeOfRule(table, Handle, at);
    const slash = Name.indexOf('/');
    const kind = Name.slice(0, Math.max(0, slash));
    const ns = this.#place(table, table === 'config' ? kind : undefined, { Namespace, at });
    if (table === 'config') {
      const pointer = `${at}/Name`;
      if (slash < 0) reject('invalid', 'Name must be <kind>/<name>', { pointer });
      if (!isKind(kind)) refuse({ ...unknownKind(kind), pointer });
      return { ...this.#item({ table, ns, id: Name.toLowerCase() }, Name), at };
    }
    if (Name === '' && ID === '' && Handle === '') {
      reject('invalid', 'Name, ID or Handle is needed', { pointer: at });
    }
    const nameKey = { policy: keys.policyName, role: keys.roleName }[table as string];
    const byName = nameKey === undefined ? Name : (this.#view.get(nameKey(ns, Name)) ?? '');
    const byHandle = Handle === '' ? '' : (this.#view.get(keys.ruleHandle(ns, Handle)) ?? '');
    const id = ID.toLowerCase() || (table === 'rule' ? byHandle : byName);
    const place = { table, ns, id };
    const name = (table === 'rule' ? Handle : Name) || ID;
    if (id === '' || !this.#has(place)) return { ...this.#absent(table, ns, name), at };
    return { ...this.#item(place, ID === '' ? name : ''), at };
  }

  /** Adds what an owner has and the set does not hold, in steps. */
  *#prune(owner: string): Generator<void> {
    const mark = `"Owner":${JSON.stringify(owner)}`;
    for (const key of keysBelow(this.#view, 'owner')) {
      yield;
      const value = this.#view.get(key);
      if (value?.includes(mark) !== true) continue;
      const [, type = '', ns = '', id = ''] = key.split('\u0000');
      const table = tableOfType(type);
      if (table === undefined || table === 'token') continue;
      const item = { ...this.#item({ table, ns, id }, ''), at: '' };
      const seen = `${table}\u0000${ns}\u0000${id.toLowerCase()}`;
      const isThere = item.before !== undefined || item.isHidden === true;
      if (isThere && !this.#seen.has(seen)) this.all.push(item);
    }
  }

  /** Returns the ID of what has a name, unless the set gives that object another name. */
  #holder(nameKey: string, name: string): string | undefined {
    const id = this.#view.get(nameKey);
    const given = this.#named.get(id ?? '') || name;
    return given.toLowerCase() === name.toLowerCase() ? id : undefined;
  }

  #has = (place: ObjectPlace): boolean => this.#view.get(keyAt(place)) !== undefined;

  /** Returns an item. `sent` is the name in the set; empty: it has that of the stored object. */
  #item(place: ObjectPlace, sent: string): Omit<Item, 'at'> {
    const { table, ns, id } = place;
    const before = this.#view.get(keyAt(place));
    const owned = ownershipOf(this.#view, place);
    const name = nameOf(place, before, sent, owned);
    const asSent = this.#absent(table, ns, sent || id);
    if (asSent.isHidden) return asSent;
    if (!mayRead(this.#authorizer, table, ns, name)) return { ...asSent, isHidden: true };
    return { ...place, ref: refOf(TYPES[table], ns, name), name, before, owned };
  }

  /** Returns an object of which nothing is known but the name. */
  #absent(table: Table, ns: string, name: string): Omit<Item, 'at'> {
    const ref = refOf(TYPES[table], ns, name);
    const isHidden = !mayRead(this.#authorizer, table, ns, name) && { isHidden: true as const };
    return { table, ns, id: name, ref, name, before: undefined, owned: undefined, ...isHidden };
  }

  /** Returns why an ID cannot be taken by a new object; undefined if it can. */
  #taken(id: string): { readonly fault?: Refusal } {
    if (id === '') return {};
    const view = this.#view;
    const isTaken =
      linkFact(view, 'policy', id)?.Name !== undefined ||
      linkFact(view, 'role', id)?.Name !== undefined ||
      view.get(keys.tokenAccessor(id)) !== undefined ||
      allNamespaces(view).some((ns) => view.get(keys.rule(ns, id)) !== undefined);
    const pointer = '/ID';
    if (isTaken) return { fault: refusal('conflict', `ID ${id} is already in use`, { pointer }) };
    if (!isReservedId(id)) return {};
    return { fault: refusal('invalid', `ID ${id} is reserved`, { pointer }) };
  }
}

/** Whether an object is the policy that its namespace, which does not exist yet, brings. */
export const isBrought = (view: View, { table, ns, name }: Pick<Item, 'table' | 'ns' | 'name'>) =>
  table === 'policy' &&
  name === MANAGEMENT_POLICY.Name &&
  view.get(keys.namespace(ns)) === undefined;

/** Returns the IDs and names of the defaults of a namespace. */
function namesIn(namespace: unknown): readonly string[] {
  const { ACLs } = (namespace ?? {}) as { readonly ACLs?: unknown };
  return [...JSON.stringify(ACLs ?? {}).matchAll(/"(?:ID|Name)":("(?:[^"\\]|\\.)*")/g)].map(
    ([, name]) => (JSON.parse(name!) as string).toLowerCase(),
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function tableOf(type: string, pointer: string): Table {
  const shown = JSON.stringify(type.slice(0, 64));
  const known = Object.values(TYPES);
  const why = `${shown} is not a type: the types are ${known.join(', ')}${didYouMean(type, known)}`;
  return tableOfType(type) ?? reject('invalid', why, { pointer });
}

/** Throws ApiError 400 for the handle of what has a name. */
function mustBeOfRule(table: Table, handle: string | undefined, at: string): void {
  if (!handle || table === 'rule') return;
  reject('invalid', 'Only binding rules have a Handle', { pointer: `${at}/Handle` });
}

function mustBeLabel(text: string, pointer: string): void {
  if (LABEL.test(text)) return;
  const why = 'Only 1 to 128 letters, digits and the characters . _ / - are allowed';
  reject('invalid', why, { pointer });
}

/** Returns the name of an item, with the stored spelling if it has one. */
function nameOf(
  { table, id }: ObjectPlace,
  before: string | undefined,
  sent: string,
  owned: Ownership | undefined,
): string {
  if (table === 'token') return id;
  if (table === 'rule') return sent || owned?.Handle || id;
  const object = before === undefined ? undefined : (JSON.parse(before) as StoredObject);
  if (object === undefined) return sent;
  const kind = table === 'config' ? `${(object as { Kind?: string }).Kind}/` : '';
  const spelled = `${kind}${object.Name}`;
  return sent === '' || sent.toLowerCase() === spelled.toLowerCase() ? spelled : sent;
}

function mayRead(authorizer: Authorizer, table: Table, ns: string, name: string): boolean {
  if (table === 'namespace') return authorizer.allowed('namespace', 'read', name);
  if (table !== 'config') return authorizer.allowed('acl', 'read', undefined, ns);
  const slash = name.indexOf('/');
  const kind = name.slice(0, slash);
  if (!isKind(kind)) return true;
  return denialOf(authorizer, 'get', { kind, name: name.slice(slash + 1) }, ns) === undefined;
}

/** Returns the stored object of an item. */
export const objectOf = ({ before }: Pick<Item, 'before'>): StoredObject | undefined =>
  before === undefined ? undefined : (JSON.parse(before) as StoredObject);

/** Returns a JSON pointer to an item of `Expected`. */
export const expectedPointer = (ref: string): string => pointerOf(['Expected', ref]);

/** Returns the object at a place as it is stored; undefined if there is none. */
export const storedAt = <T>(view: View, place: ObjectPlace): T | undefined =>
  stored<T>(view, keyAt(place));
