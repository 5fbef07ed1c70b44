/**
 * How objects are named across types (beyond.md 0.2): a type for each table, and a Ref for each
 * object.
 *
 *     table method, in default, "jwt1"   →   auth-method/default/jwt1
 *     table token, "8a2d…"               →   token/8a2d…
 */
import type { Table } from './keys.js';

/** The types of objects by table, in the order in which a set is planned. */
export const TYPES = {
  namespace: 'namespace',
  policy: 'policy',
  role: 'role',
  method: 'auth-method',
  rule: 'binding-rule',
  token: 'token',
  config: 'config',
} as const satisfies Readonly<Record<Table, string>>;

/** The type of an object, as clients name it. */
export type ObjectType = (typeof TYPES)[Table];

const TABLES = new Map<string, Table>(
  Object.entries(TYPES).map(([table, type]) => [type, table as Table]),
);

/** Returns the table of a type; undefined for a text that is no type. */
export const tableOfType = (type: string): Table | undefined => TABLES.get(type);

/**
 * Returns the Ref of an object. `name` is its Name, the AccessorID of a token, the Handle (else the
 * ID) of a binding rule, and `<kind>/<name>` of a config entry.
 */
export function refOf(type: ObjectType, ns: string, name: string): string {
  const isGlobal = type === 'token' || type === 'namespace';
  return isGlobal ? `${type}/${name}` : `${type}/${ns}/${name}`;
}
