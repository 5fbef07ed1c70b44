/**
 * Compares a set with a state. Each object becomes the command that a PUT of it would propose, made
 * by the use case of the PUT against a draft in which what comes before it is done already. What
 * leaves an object as it is is no change. The changes are then made once more, as in apply:
 *
 *     {"Type":"role",…}  →  use case  →  role.set {…}  →  draft: other content?  →  applyChanges
 */
import type { Authorizer } from '../../acl/types.js';
import type { Problem, SetBody } from '../../api/endpoints/sets.js';
import { ApiError, type Refusal, refusal } from '../../base/errors.js';
import { compare as compareText } from '../../base/text.js';
import { decodeInSteps } from '../../kinds/decode.js';
import { type ConfigDelete, type ConfigSet, holdsContent } from '../../state/config.js';
import { Overlay } from '../../state/draft.js';
import { keys, type Table } from '../../state/keys.js';
import { refusedInBody } from '../../state/namespaces.js';
import type { ObjectDefinition, ObjectSet, StoredObject } from '../../state/object.js';
import { ACL_HANDLERS, OBJECTS } from '../../state/objects.js';
import type { Ownership } from '../../state/owners.js';
import { type Body, keepSecrets, putForm } from '../../state/put-form.js';
import { type ObjectType, TYPES } from '../../state/refs.js';
import { applyChanges, keyAt, lateness, type SetChange } from '../../state/sets.js';
import type { Command, View } from '../../state/types.js';
import { allUseCases } from '../acl/object-list.js';
import type { ObjectParts, ObjectUseCases } from '../acl/objects.js';
import { differences } from '../change/diff.js';
import { decodeBody } from '../common/decode.js';
import { inSlices, Slice } from '../common/event-loop.js';
import { modifyIndexOf, stateIndex } from '../common/reading.js';
import type { Caller } from '../common/types.js';
import { configSet, toldTo } from '../config/config-entries.js';
import { Captured, offline } from './captured.js';
import { type Item, Items, isBrought, objectOf } from './items.js';

/** What comparing needs of a node. */
export interface CompareParts extends ObjectParts {
  readonly datacenter: string;
}

/** Who compares what, with which state. */
export interface Comparison {
  readonly caller: Caller;
  readonly ns: string;
  readonly body: SetBody;
  readonly view: View;
}

/** What becomes of an item. */
export interface ItemChange {
  readonly item: Item;
  readonly action: 'create' | 'update' | 'delete' | 'unchanged' | 'hidden';
  /** Absent if nothing changes, or the object is refused. */
  readonly change?: SetChange;
}

/** A set that was compared with a state. */
export interface Compared {
  readonly index: number;
  /** In the order of plans. */
  readonly changes: readonly ItemChange[];
  /** The Refs of deletions that find nothing, in lower case. */
  readonly missing: ReadonlySet<string>;
  readonly problems: Found[];
  /** The state with the whole set in it. */
  readonly draft: Overlay;
}

/** A problem, with the status that it has in an apply. */
export interface Found extends Problem {
  readonly why: Refusal;
}

/** Returns a refusal as a problem of an item. */
export const problemOf = (item: Item, why: Refusal, inside = '/Object'): Found => ({
  Ref: item.ref,
  Code: why.code,
  Message: why.message,
  Pointer:
    item.at === ''
      ? ''
      : `${item.at}${why.pointer === undefined ? '' : inside}${why.pointer ?? ''}`,
  why,
});

/** Returns a refusal as a problem of the set itself. */
export const problemOfSet = (why: Refusal, code: string = why.code): Found => ({
  Ref: '',
  Code: code,
  Message: why.message,
  Pointer: why.pointer ?? '',
  why,
});

/**
 * Returns a refusal of a change in words that name only entries which the caller may read, with a
 * pointer into the object that was sent.
 */
export function toldOf(
  authorizer: Authorizer,
  view: View,
  { command }: SetChange,
  why: Refusal,
): Refusal {
  if (command.type === 'namespace.set') return refusedInBody(why);
  const isOfEntry = command.type === 'config.set' || command.type === 'config.delete';
  return isOfEntry ? toldTo(authorizer, view, command as ConfigSet | ConfigDelete, why) : why;
}

/** Compares a set with a view. Throws ApiError 400 for a set that cannot be meant. */
export async function compare(parts: CompareParts, asked: Comparison): Promise<Compared> {
  const { view, ns, body, caller } = asked;
  const authorizer = await parts.service.authorize(caller);
  const items = new Items(view, ns, authorizer);
  await inSlices(items.add(body), 'set');
  const compiler = new Compiler(parts, asked);
  const changes = await compiler.changes(items.all);
  const draft = new Overlay(view);
  const made = changes.filter(({ change }) => change !== undefined);
  const index = stateIndex(view);
  const { problems } = compiler;
  const facts = { datacenter: parts.datacenter, at: compiler.at };
  const list = made.map(({ change }) => change!);
  await inSlices(
    applyChanges({ draft, index: index + 1 }, list, facts, (at, why) => {
      problems.push(problemOf(made[at]!.item, toldOf(authorizer, draft, list[at]!, why)));
    }),
    'set',
  );
  const ordered = inPlanOrder(changes, ({ item: { table, ref, body } }) => ({
    type: TYPES[table],
    ref,
    isDeletion: body === undefined,
  }));
  return { index, changes: ordered, missing: items.missing, problems, draft };
}

/** Codes of refusals that are problems of an object. */
const COUNTS: ReadonlySet<string> = new Set([
  'invalid',
  'unknown_reference',
  'conflict',
  'not_found',
]);

/** Returns a change of an item, with what it is compared with in apply. */
function changeOf({ before, owned }: Item, command: Command): SetChange {
  return {
    command,
    ...(before !== undefined && { was: modifyIndexOf(before) }),
    ...(owned !== undefined && { owned: JSON.stringify(owned) }),
  };
}

/** Returns the text of a stored object without its ModifyIndex. */
function withoutIndex(text: string): string {
  const at = text.lastIndexOf('"ModifyIndex":');
  return `${text.slice(0, at)}${text.slice(at).replace(/^"ModifyIndex":\d+/, '')}`;
}

const ORDER = Object.values(TYPES);

/** Sorts changes as plans show them: by type, then by Ref; deletions last, in reverse. */
export function inPlanOrder<T>(
  changes: readonly T[],
  of: (one: T) => { readonly type: ObjectType; readonly ref: string; readonly isDeletion: boolean },
): T[] {
  const sorted = changes
    .map((one) => ({ one, ...of(one) }))
    .sort((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type) || compareText(a.ref, b.ref));
  const deletions = sorted.filter(({ isDeletion }) => isDeletion).reverse();
  return [...sorted.filter(({ isDeletion }) => !isDeletion), ...deletions].map(({ one }) => one);
}

class Compiler {
  readonly problems: Found[] = [];
  readonly at: string;
  readonly #asked: Comparison;
  readonly #draft: Overlay;
  readonly #index: number;
  readonly #useCases: ReadonlyMap<Table, ObjectUseCases<unknown>>;
  readonly #captured: Captured;
  readonly #datacenter: string;
  /** The IDs of the policies that new namespaces bring and the set holds, by namespace. */
  readonly #brought = new Map<string, string>();

  constructor(parts: CompareParts, asked: Comparison) {
    this.#asked = asked;
    this.#draft = new Overlay(asked.view);
    this.#index = stateIndex(asked.view) + 1;
    this.#datacenter = parts.datacenter;
    this.at = new Date(parts.nowMs()).toISOString();
    this.#captured = new Captured(parts.service, this.#draft);
    const own = {
      ...parts,
      service: this.#captured,
      lint: 'off',
      methodTypes: offline(parts.methodTypes),
    } as const;
    this.#useCases = new Map(allUseCases(own).map((one) => [one.definition.table, one]));
  }

  /** Returns what becomes of the items. Takes turns. */
  async changes(items: readonly Item[]): Promise<ItemChange[]> {
    const changes: ItemChange[] = [];
    const slice = new Slice();
    const shown: Item[] = [];
    for (const item of items) {
      if (item.isHidden) changes.push({ item, action: 'hidden' });
      else shown.push(item);
    }
    const deletes = shown.filter(({ body }) => body === undefined);
    for (const item of deletes.sort((a, b) => lateness(b) - lateness(a))) {
      changes.push(this.#deletion(item));
      if (slice.isOver) await slice.renew();
    }
    const writes = shown.filter(({ body }) => body !== undefined);
    for (const item of writes) {
      this.#release(item);
      if (isBrought(this.#asked.view, item)) this.#brought.set(item.ns, item.id);
    }
    for (const item of writes.sort((a, b) => lateness(a) - lateness(b))) {
      changes.push(await this.#write(item));
      if (slice.isOver) await slice.renew();
    }
    return changes;
  }

  #deletion(item: Item): ItemChange {
    const command = this.#deleteOf(item);
    this.#checkOwner(item);
    if (item.table !== 'config') this.#run(command);
    const more = item.ifUnused === true && ({ ifUnused: true } as const);
    return { item, action: 'delete', change: { ...changeOf(item, command), ...more } };
  }

  #deleteOf({ table, ns, id, name }: Item): Command {
    const head = { type: `${table}.delete`, v: 1 } as const;
    const { at } = this;
    if (table === 'namespace') return { ...head, name: id, at } as Command;
    if (table === 'method') return { ...head, ns, name } as Command;
    if (table !== 'config') return { ...head, ns, id } as Command;
    const slash = name.indexOf('/');
    const entry = { kind: name.slice(0, slash), name: name.slice(slash + 1), cas: null };
    return { ...head, ns, ...entry, at, datacenter: this.#datacenter } as Command;
  }

  /** Gives up the name of an object that gets another one, as apply does. */
  #release(item: Item): void {
    const before = objectOf(item);
    if (before === undefined || item.table === 'config') return;
    if (item.table === 'rule') {
      // An auth method of the set is judged by the rules that the set does not change.
      const { AuthMethod } = before as StoredObject & { readonly AuthMethod: string };
      this.#draft.del(keys.ruleByMethod(item.ns, AuthMethod, item.id));
    }
    const { nameKey } = OBJECTS[item.table] as ObjectDefinition;
    if (nameKey === undefined) return;
    const old = nameKey(item.ns, before.Name!);
    if (old !== nameKey(item.ns, item.name)) this.#draft.del(old);
  }

  async #write(item: Item): Promise<ItemChange> {
    const action = item.before === undefined ? 'create' : 'update';
    const owner = this.#ownerOf(item);
    this.#checkOwner(item);
    if (item.fault !== undefined) {
      this.problems.push(problemOf(item, item.fault));
      return { item, action };
    }
    let command: Command | undefined;
    try {
      command = await this.#commandOf(item);
    } catch (error) {
      if (!(error instanceof ApiError) || !COUNTS.has(error.refusal.code)) throw error;
      this.problems.push(problemOf(item, error.refusal));
      return { item, action };
    }
    if (command === undefined) return this.#kept(item, owner);
    const owned = owner !== undefined && { owner };
    return { item, action, change: { ...changeOf(item, command), ...owned } };
  }

  /** Returns what becomes of an object whose content stays. */
  #kept(item: Item, owner: Ownership | undefined): ItemChange {
    if (owner === undefined) return { item, action: 'unchanged' };
    const { table, ns, id } = item;
    const command = { type: 'owner.set', v: 1, table, ns, id } as Command;
    return { item, action: 'update', change: { ...changeOf(item, command), owner } };
  }

  /** Returns the owner that an object gets; undefined if that stays. */
  #ownerOf({ table, handle, owned }: Item): Ownership | undefined {
    const Owner = this.#asked.body.Owner || (owned?.Owner ?? '');
    const Handle = table === 'rule' ? (handle ?? owned?.Handle) : undefined;
    if (Owner === '' && Handle === undefined) return undefined;
    const owner = { Owner, ...(Handle !== undefined && { Handle }) };
    return JSON.stringify(owner) === JSON.stringify(owned) ? undefined : owner;
  }

  #checkOwner(item: Item): void {
    const { Owner = '', Prune = false, TakeOver = false } = this.#asked.body;
    if (Owner === '' || TakeOver || item.before === undefined) return;
    const has = item.owned?.Owner ?? '';
    if (has === Owner || (has === '' && (!Prune || item.body === undefined))) return;
    const [Code, why] =
      has === ''
        ? ['unowned', `${item.ref} has no owner, and a set that prunes takes it only with TakeOver`]
        : [
            'owned',
            `${item.ref} belongs to ${JSON.stringify(has)}, and is taken only with TakeOver`,
          ];
    this.problems.push({ ...problemOf(item, refusal('conflict', why)), Code });
  }

  /** Returns the command of an item; undefined if it changes nothing. Throws ApiError. */
  async #commandOf(item: Item): Promise<Command | undefined> {
    const { table, ns, before } = item;
    const object = objectOf(item);
    const kept = keepSecrets(table, item.body!, object);
    if ('problem' in kept) throw new ApiError(kept.problem);
    if (table === 'config') return this.#entryOf(item, kept.body);
    const useCases = this.#useCases.get(table)!;
    const failure = `${useCases.definition.title.replace(' ', '')} decoding failed`;
    const body = decodeBody(failure, kept.body, useCases.body);
    const hasId = useCases.definition.identity !== 'Name';
    const id = hasId && before !== undefined ? item.id : undefined;
    const { caller } = this.#asked;
    const made = await this.#captured.of(() =>
      useCases.write({ caller, ns, timeoutMs: 0 }, id, body),
    );
    const command = this.#completed(item, made, hasId && before === undefined);
    return this.#changes(item, command) ? command : undefined;
  }

  #completed({ table, ns, id }: Item, made: Command, isNew: boolean): Command {
    const policyId = table === 'namespace' ? this.#brought.get(id) : undefined;
    if (policyId !== undefined) return { ...made, policyId } as Command;
    if (!isNew) return made;
    const isThere = this.#brought.get(ns) === id;
    return { ...made, id, ...(isThere ? { create: false } : { revives: true }) } as ObjectSet;
  }

  async #entryOf(item: Item, body: Body): Promise<Command | undefined> {
    const { ns: namespace } = item;
    const decoded = await inSlices(decodeInSteps(body, { namespace }), 'decode');
    if (!decoded.ok) throw new ApiError(decoded.refusal);
    const facts = { ns: namespace, cas: null, at: this.at, datacenter: this.#datacenter };
    const command = configSet(decoded.entry, facts);
    const { before } = item;
    return before !== undefined && holdsContent(before, command.entry) ? undefined : command;
  }

  /** Makes a change in the draft. Returns whether the object has other content then. */
  #changes(item: Item, command: Command): boolean {
    const { before, table } = item;
    if (!this.#run(command) || before === undefined) return true;
    const key = keyAt(item);
    const after = this.#draft.get(key)!;
    if (withoutIndex(before) !== withoutIndex(after)) {
      const form = (text: string): Body =>
        putForm(this.#draft, table, JSON.parse(text) as object, { inClear: true });
      if (differences(table, form(before), form(after)).length > 0) return true;
    }
    this.#draft.put(key, before);
    return false;
  }

  #run(command: Command): boolean {
    const context = { draft: this.#draft, index: this.#index };
    return ACL_HANDLERS[command.type]!(context, command).ok;
  }
}
