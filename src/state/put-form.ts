/**
 * The form in which a PUT would send a stored object (beyond.md 2.2, 2.6): its writable members,
 * links by name, secrets hidden. What decoding adds by itself is left out. Writing the form changes
 * nothing.
 *
 *     {"ID":"2f…","Name":"ops","Description":"","Policies":[{"ID":"7c…"}],"Hash":…,…}
 *     →  {"Name":"ops","Policies":[{"Name":"read-web"}]}
 */
import { type Refusal, refusal } from '../base/errors.js';
import { definitionOf, isKind } from '../kinds/definitions.js';
import type { Field, Fields, Type } from '../languages/fields.js';
import type { Table } from './keys.js';
import { type Link, type LinkTarget, linkFact } from './links.js';
import { ADDED } from './object.js';
import { OBJECTS } from './objects.js';
import type { View } from './types.js';

/** Replaces a secret that is not shown. */
export const HIDDEN = '<hidden>';

/** An object of any type as JSON. */
export type Body = Readonly<Record<string, unknown>>;

/** What the form of an object follows from, of its definition. */
interface Shape {
  readonly fields: Fields;
  /** Shown whatever its value. */
  readonly identity: string;
  readonly secrets: readonly string[];
  readonly secretKeys: Readonly<Record<string, ReadonlySet<string>>>;
}

const NO_SHAPE: Shape = { fields: {}, identity: 'Name', secrets: [], secretKeys: {} };

function shapeOf(table: Table, object: Body): Shape {
  if (table !== 'config') return OBJECTS[table];
  const kind = object['Kind'] ?? object['kind'];
  if (typeof kind !== 'string' || !isKind(kind)) return NO_SHAPE;
  const { type, secrets } = definitionOf(kind);
  const { identity, secretKeys } = NO_SHAPE;
  return { fields: type.fields, identity, secrets, secretKeys };
}

/** How the form of an object is shown. */
interface FormOptions {
  /** With the ID of a policy, role or binding rule. */
  readonly ids?: boolean;
  /** With secrets in clear text, to compare objects. */
  readonly inClear?: boolean;
}

/**
 * Returns a stored object as a PUT would send it. Links have the names that the view knows; those
 * to deleted objects are left out, as in answers.
 */
export function putForm(
  view: View,
  table: Table,
  object: object,
  { ids = false, inClear = false }: FormOptions = {},
): Body {
  const stored = object as Body;
  const { fields, identity } = shapeOf(table, stored);
  const form: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(stored, name)) continue;
    const field = fields[name]!;
    const isAdded = ADDED.has(name) && !(ids && name === 'ID');
    if (isAdded || field.type.computed !== undefined) continue;
    const value = sentMember(view, field, stored[name], name === identity);
    if (value !== undefined) form[name] = value;
  }
  return inClear ? form : hideSecrets(table, form);
}

/** Returns a member as it is sent; undefined if decoding adds it by itself. */
function sentMember(view: View, { type, mode }: Field, value: unknown, isNeeded = false): unknown {
  if (mode === 'never') return undefined;
  if (mode === 'always' && !isNeeded && isZero(type, value)) return undefined;
  return sent(view, type, value);
}

/** Returns a value as it is sent; undefined if nothing of its links is left. */
function sent(view: View, { description: of }: Type<unknown>, value: unknown): unknown {
  if (value === null) return null;
  switch (of.is) {
    case 'links': {
      const names = (value as readonly Link[]).flatMap(({ ID }) => {
        const name = linkFact(view, of.to as LinkTarget, ID)?.Name;
        return name === undefined ? [] : [{ Name: name }];
      });
      return names.length > 0 ? names : undefined;
    }
    case 'list':
      if (isPlain(of.of)) return value;
      return (value as readonly unknown[]).map((item) => sent(view, of.of, item));
    case 'map':
      if (isPlain(of.of)) return value;
      return mapped(value as Body, (item) => sent(view, of.of, item));
    case 'object': {
      const members = Object.entries(value as Body).flatMap(([name, item]) => {
        const field = of.fields[name];
        const kept = field === undefined ? item : sentMember(view, field, item);
        return kept === undefined ? [] : [[name, kept] as const];
      });
      const hasLinks = Object.values(of.fields).some(({ type }) => type.description.is === 'links');
      return hasLinks && members.length === 0 ? undefined : Object.fromEntries(members);
    }
    default:
      return value;
  }
}

/** Whether the values of a type are sent as they are stored. */
const isPlain = ({ description: { is } }: Type<unknown>): boolean =>
  is !== 'links' && is !== 'list' && is !== 'map' && is !== 'object';

/** Maps the values of an object with free keys, which may be `__proto__`. */
const mapped = (value: Body, of: (item: unknown) => unknown): Body =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [key, of(item)]));

/** The values of absent members as JSON. */
const ZEROS = new WeakMap<Type<unknown>, string>();

function isZero(type: Type<unknown>, value: unknown): boolean {
  let zero = ZEROS.get(type);
  if (zero === undefined) {
    zero = JSON.stringify(type.zero());
    ZEROS.set(type, zero);
  }
  return JSON.stringify(value) === zero;
}

interface Secret {
  /** Where it is: a member, or one of a free object. */
  readonly path: readonly string[];
  /** The same for all spellings of its place. */
  readonly id: string;
  readonly value: unknown;
}

/** Returns the secrets of an object, stored or as it is sent. Empty ones do not count. */
export function secretsOf(table: Table, object: object): readonly Secret[] {
  const body = object as Body;
  const { fields, secrets, secretKeys } = shapeOf(table, body);
  const found: Secret[] = [];
  const add = (path: Secret['path'], id: string, value: unknown): void => {
    if ((value ?? '') !== '') found.push({ path, id, value });
  };
  for (const name of secrets) {
    for (const spelled of [name, ...(fields[name]!.spellings ?? [name.toLowerCase()])]) {
      if (Object.hasOwn(body, spelled)) add([spelled], name, body[spelled]);
    }
  }
  for (const [name, keys] of Object.entries(secretKeys)) {
    for (const [key, value] of Object.entries((body[name] ?? {}) as Body)) {
      const lower = key.toLowerCase();
      if (keys.has(lower)) add([name, key], `${name}.${lower}`, value);
    }
  }
  return found;
}

function replaced(body: Body, [name = '', key]: Secret['path'], value: unknown): Body {
  const inside = (): Body => ({ ...(body[name] as Body), [key!]: value });
  return { ...body, [name]: key === undefined ? value : inside() };
}

/** Returns an object with `<hidden>` in place of its secrets. */
export const hideSecrets = <T extends object>(table: Table, object: T): T =>
  secretsOf(table, object).reduce<Body>(
    (body, { path }) => replaced(body, path, HIDDEN),
    object as Body,
  ) as T;

/**
 * Returns a body with the stored secrets in place of `<hidden>`, or the refusal of one that is not
 * stored, or would be sent to another server. `stored` is the object that the body replaces. Must
 * be done before decoding.
 */
export function keepSecrets(
  table: Table,
  body: Body,
  stored: object | undefined,
): { readonly body: Body } | { readonly problem: Refusal } {
  const known = stored === undefined ? [] : secretsOf(table, stored);
  let kept = body;
  for (const { path, id, value } of secretsOf(table, body)) {
    if (value !== HIDDEN) continue;
    const same = known.find((secret) => secret.id === id);
    if (same === undefined) {
      const why = `${path.join('.')} is "${HIDDEN}", which keeps a stored value, and there is none`;
      return { problem: refusal('invalid', why, { pointer: `/${path.join('/')}` }) };
    }
    const moved = movedSecret(id, body, stored!);
    if (moved !== undefined)
      return { problem: refusal('invalid', moved, { pointer: `/${path.join('/')}` }) };
    kept = replaced(kept, path, same.value);
  }
  return { body: kept };
}

/** Where secrets that nobody is shown are sent, by the keys of a Config. */
const SENT_TO: Readonly<Record<string, string>> = {
  'Config.oidcclientsecret': 'OIDCDiscoveryURL',
};

/** Returns why a secret is not kept; undefined if it goes where it went before. */
function movedSecret(id: string, body: Body, stored: object): string | undefined {
  const key = SENT_TO[id];
  if (key === undefined) return undefined;
  const of = (object: Body): unknown =>
    Object.entries((object['Config'] ?? {}) as Body).find(
      ([name]) => name.toLowerCase() === key.toLowerCase(),
    )?.[1];
  if (of(body) === of(stored as Body)) return undefined;
  return `a new ${key} needs its secret: "${HIDDEN}" would send it that of another server`;
}
