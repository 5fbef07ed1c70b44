/**
 * Reads sets of objects from files, merges them into one, and keeps the place of each object. A
 * document of a file is a set, or one item of its Objects (section 2.5 of the contract).
 */
import type { Export } from '../../api/endpoints/change.js';
import type { SetBody, SetDelete, SetItem } from '../../api/endpoints/sets.js';
import { KINDS } from '../../api/objects.js';
import { isObject } from '../../languages/fields.js';
import { pathOf } from '../../languages/pointers.js';
import { didYouMean } from '../../languages/suggest.js';
import { CliError } from '../print/error.js';
import type { Written } from './documents.js';

type Members = Readonly<Record<string, unknown>>;

/** The answer of `GET /v1/export`, whose objects are items of a set. */
export interface Exported extends Omit<Export, 'Objects'> {
  readonly Objects: readonly SetItem[];
}

/** The body of a plan and of an apply. The server judges its assertions. */
export interface WholeSet extends Omit<SetBody, 'Objects' | 'Delete' | 'Assert'> {
  readonly Objects: readonly SetItem[];
  readonly Delete: readonly SetDelete[];
  readonly Assert: readonly unknown[];
}

/** What a problem is about, as the server says it: an object, and a pointer into it or the set. */
export interface About {
  readonly Ref?: string;
  readonly Pointer?: string;
}

/** A set that was read. */
export interface ReadSet {
  readonly body: WholeSet;
  /** Returns `FILE:LINE:COLUMN` of what a problem is about; undefined if it stands in no file. */
  placeOf(about: About): string | undefined;
}

/** The types of objects, in the order in which they can be made. */
export const TYPES = [
  'namespace',
  'policy',
  'role',
  'auth-method',
  'binding-rule',
  'token',
  'config',
] as const;

const SETTINGS = ['Owner', 'Prune', 'TakeOver', 'Reason', 'Digest'] as const;
const LISTS = ['Objects', 'Delete', 'Assert'] as const;
/** What an export says besides its objects. */
const IGNORED = ['Index', 'At', 'Secrets', 'Unknown'];
const SET_MEMBERS: readonly string[] = [...SETTINGS, ...LISTS, 'Expected', 'Namespace', ...IGNORED];
const ITEM_MEMBERS = ['Type', 'Namespace', 'Handle', 'Object'];
const DOOMED_MEMBERS = ['Type', 'Namespace', 'Name', 'ID', 'Handle', 'IfUnused'];

/** Returns a member of an object in one of its two spellings. */
const named = (object: Members, name: string): unknown =>
  object[name] ?? object[name.toLowerCase()];

/** Returns the Ref of an item or a delete as far as it can be told from it. */
export function refOfItem(item: SetItem | SetDelete, namespace = 'default'): string {
  const { Type, Namespace = namespace, Handle } = item;
  const object: Members = 'Object' in item ? item.Object : { ...item };
  const name = named(object, 'Name');
  if (Type === 'token') return `token/${object['AccessorID'] ?? object['ID']}`;
  if (Type === 'namespace') return `namespace/${name}`;
  if (Type === 'binding-rule') return `binding-rule/${Namespace}/${Handle ?? object['ID']}`;
  if (Type !== 'config') return `${Type}/${Namespace}/${name}`;
  const [, ofDelete, rest] = /^([^/]*)\/(.*)$/s.exec(String(name)) ?? [];
  const kind = named(object, 'Kind') ?? ofDelete;
  const row = KINDS.find((one) => one.kind === kind);
  const own = named(object, 'Kind') === undefined ? rest : (name ?? row?.onlyName);
  return `config/${row?.isClusterWide ? 'default' : Namespace}/${kind}/${own}`;
}

/** Returns the delete of an object as exports hold it. A binding rule has no name. */
export function deletionOf({ Handle, Namespace, Object: object, Type }: SetItem): SetDelete {
  const { ID, Kind, Name = '' } = object as { ID?: string; Kind?: string; Name?: string };
  const name = Kind === undefined ? Name : `${Kind}/${Name || Kind}`;
  return {
    Type,
    ...(Namespace !== undefined && { Namespace }),
    ...(Type !== 'binding-rule' ? { Name: name } : Handle ? { Handle } : { ID: ID! }),
  };
}

/** Letter case does not matter in names, except in those of binding rules. */
export const keyOf = (ref: string): string =>
  ref.startsWith('binding-rule/') ? ref : ref.toLowerCase();

interface Spot {
  readonly document: Written;
  readonly path: readonly (string | number)[];
}

function placeIn({ document, path }: Spot, more: readonly string[] = []): string {
  const { line, column } = document.placeOf([...path, ...more]);
  return `${document.file}:${line}:${column}`;
}

const below = ({ document, path }: Spot, ...more: readonly (string | number)[]): Spot => ({
  document,
  path: [...path, ...more],
});

/** Returns an item in the namespace of its set, unless it names one. */
function inNamespace(item: unknown, { Namespace }: Members): unknown {
  if (!isObject(item) || typeof Namespace !== 'string') return item;
  const { Subject } = item;
  return {
    Namespace,
    ...item,
    ...(isObject(Subject) && { Subject: { Namespace, ...Subject } }),
  };
}

/** Returns why a value cannot be taken into a list, and where that is in it. */
function faultOf(
  list: (typeof LISTS)[number],
  value: unknown,
): readonly [words: string, path?: readonly string[]] | undefined {
  if (!isObject(value)) return ['expected an object'];
  if (list === 'Assert') return undefined;
  const { Type, Object: object } = value;
  if (typeof Type !== 'string') return ['Type is missing'];
  if (!(TYPES as readonly string[]).includes(Type))
    return [`unknown type "${Type}"${didYouMean(Type, TYPES)}`, ['Type']];
  return list === 'Objects' && !isObject(object) ? ['Object is missing'] : undefined;
}

/** A set while its documents are read. */
class Reading {
  readonly body = { Objects: [] as SetItem[], Delete: [] as SetDelete[], Assert: [] as unknown[] };
  readonly settings: Record<string, unknown> = {};
  readonly expected: Record<string, number> = {};
  readonly spots = { Objects: [] as Spot[], Delete: [] as Spot[], Assert: [] as Spot[] };
  /** Where settings and expected versions stand, by their pointers. */
  readonly others = new Map<string, Spot>();
  /** Where objects stand, by the keys of their Refs. */
  readonly byRef = new Map<string, Spot>();
  readonly faults: string[] = [];
  readonly #namespace: string | undefined;

  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  read(document: Written): void {
    const { value } = document;
    const spot = { document, path: [] };
    const isEntry = named(value, 'Kind') !== undefined;
    if ('Type' in value || 'Object' in value) this.#take('Objects', value, spot);
    else if (isEntry && !SET_MEMBERS.some((member) => member in value))
      this.#fault(spot, 'expected a set or an item: put the entry below "Object:" of an item');
    else this.#readSet(value, spot);
  }

  #readSet(value: Members, spot: Spot): void {
    this.#known(value, SET_MEMBERS, spot);
    for (const name of SETTINGS) if (name in value) this.#set(name, value[name], spot);
    for (const name of LISTS) {
      const list = value[name] ?? [];
      if (!Array.isArray(list)) this.#fault(spot, `${name} must be a list`, [name]);
      else
        for (const [at, one] of list.entries())
          this.#take(name, inNamespace(one, value), below(spot, name, at));
    }
    for (const [ref, index] of Object.entries((value['Expected'] ?? {}) as object)) {
      this.expected[ref] = index as number;
      this.others.set(`/Expected/${ref}`, below(spot, 'Expected', ref));
    }
  }

  /** Takes a setting. All sets that have it must agree. */
  #set(name: string, value: unknown, spot: Spot): void {
    const before = this.others.get(`/${name}`);
    if (before !== undefined && this.settings[name] !== value) {
      const other = JSON.stringify(this.settings[name]);
      const words = `${name} is ${JSON.stringify(value)}, but ${other} in ${placeIn(before)}`;
      this.#fault(spot, words, [name]);
    }
    this.settings[name] = value;
    this.others.set(`/${name}`, below(spot, name));
  }

  #take(list: (typeof LISTS)[number], value: unknown, spot: Spot): void {
    this.spots[list].push(spot);
    if (isObject(value) && list !== 'Assert')
      this.#known(value, list === 'Objects' ? ITEM_MEMBERS : DOOMED_MEMBERS, spot);
    const fault = faultOf(list, value);
    if (fault !== undefined) this.#fault(spot, ...fault);
    else if (list === 'Assert') this.body.Assert.push(value);
    else this.#add(list, value as SetItem & SetDelete, spot);
  }

  #add(list: 'Objects' | 'Delete', item: SetItem & SetDelete, spot: Spot): void {
    this.body[list].push(item);
    const ref = refOfItem(item, this.#namespace);
    if (ref.endsWith('/undefined')) return;
    const before = this.byRef.get(keyOf(ref));
    if (before !== undefined) this.#fault(spot, `${ref} appears twice, also at ${placeIn(before)}`);
    this.byRef.set(keyOf(ref), spot);
  }

  #known(value: Members, known: readonly string[], spot: Spot): void {
    for (const name of Object.keys(value))
      if (!known.includes(name))
        this.#fault(spot, `unknown member "${name}"${didYouMean(name, known)}`, [name]);
  }

  #fault(spot: Spot, words: string, path: readonly string[] = []): void {
    this.faults.push(`${placeIn(spot, path)}: ${words}`);
  }

  placeOf({ Ref = '', Pointer = '' }: About): string | undefined {
    const [list = '', at = '', ...path] = pathOf(Pointer);
    const known = Object.hasOwn(this.spots, list) ? this.spots[list as 'Objects'] : undefined;
    const spot = known?.[Number(at)];
    if (spot !== undefined) return placeIn(spot, path);
    const other = this.others.get(list === 'Expected' ? `/Expected/${at}` : `/${list}`);
    if (other !== undefined && (Ref === '' || list === 'Expected')) return placeIn(other);
    const object = this.byRef.get(keyOf(Ref));
    return object && placeIn(object, ['Object', ...pathOf(Pointer)]);
  }
}

/** What options say about a set. It takes precedence over the files. */
export interface SetSettings {
  readonly owner?: string | undefined;
  readonly prune?: boolean | undefined;
  readonly takeOver?: boolean | undefined;
}

/**
 * Merges documents into one set. `namespace` is that of objects that name none. Throws an error
 * that names the place of each fault.
 */
export function setOf(
  documents: readonly Written[],
  { owner, prune, takeOver }: SetSettings = {},
  namespace?: string,
): ReadSet {
  const reading = new Reading(namespace);
  for (const document of documents) reading.read(document);
  const [first, ...others] = reading.faults;
  if (first !== undefined)
    throw new CliError(first, {
      code: 'invalid',
      hint: [...others, 'nothing was sent'].join('\n  '),
    });
  const { expected, settings } = reading;
  const body: WholeSet = {
    ...settings,
    ...(owner !== undefined && { Owner: owner }),
    ...(prune !== undefined && { Prune: prune }),
    ...(takeOver !== undefined && { TakeOver: takeOver }),
    ...reading.body,
    ...(Object.keys(expected).length > 0 && { Expected: expected }),
  };
  return { body, placeOf: (about) => reading.placeOf(about) };
}
