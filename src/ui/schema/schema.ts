/** JSON Schemas as the API writes them: what may stand at a place, and what it means. */

/** The keywords that the schemas of the API have. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly readOnly?: boolean;
}

/** Returns the schema to which a reference such as `#/properties/Name` leads, or the same one. */
export function resolved(root: Schema, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const steps = schema.$ref.split('/').slice(1);
  const found = steps.reduce<unknown>((at, step) => {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    return (at as Readonly<Record<string, unknown>> | undefined)?.[name];
  }, root);
  return (found ?? {}) as Schema;
}

/**
 * Returns the schema of the value at a path below a schema; undefined where nothing is known about
 * it. `root` is the schema to which references lead.
 */
export function schemaAt(
  root: Schema,
  path: readonly string[],
  from: Schema = root,
): Schema | undefined {
  return path.reduce<Schema | undefined>(
    (schema, step) => {
      if (schema === undefined) return undefined;
      const { properties, additionalProperties, items } = schema;
      const known = properties && Object.hasOwn(properties, step) ? properties[step] : undefined;
      const rest = typeof additionalProperties === 'object' ? additionalProperties : undefined;
      const next = known ?? items ?? rest;
      return next && resolved(root, next);
    },
    resolved(root, from),
  );
}

/** Returns the types of a schema. null stands for an absent member and is left out. */
export const typesOf = ({ type = [] }: Schema): readonly string[] =>
  [type].flat().filter((each) => each !== 'null');

/** Returns the values that a schema allows; undefined for any of its type. */
export function valuesOf(schema: Schema): readonly unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  const values = schema.enum ?? schema.anyOf?.find((each) => each.enum !== undefined)?.enum;
  if (values !== undefined) return values.filter((value) => value !== null && value !== '');
  return typesOf(schema).includes('boolean') ? [true, false] : undefined;
}

/** Returns the names of the members that an object may have, each in its first spelling. */
export const namesOf = ({ properties = {} }: Schema): readonly string[] =>
  Object.entries(properties)
    .filter(([, { $ref, readOnly }]) => $ref === undefined && readOnly !== true)
    .map(([name]) => name);

/** Returns the names that must be given, each in its first spelling. */
export const neededNames = ({ required = [], allOf = [] }: Schema): readonly string[] => [
  ...required,
  ...allOf.flatMap(({ anyOf = [] }) => anyOf[0]?.required ?? []),
];

/** Returns the schema of an object without some of its members, in all their spellings. */
export function without(root: Schema, names: ReadonlySet<string>): Schema {
  const isKept = ([name, { $ref }]: readonly [string, Schema]): boolean =>
    !names.has(name) && !($ref !== undefined && names.has($ref.split('/').at(-1) ?? ''));
  return {
    ...root,
    properties: Object.fromEntries(Object.entries(root.properties ?? {}).filter(isKept)),
    required: (root.required ?? []).filter((name) => !names.has(name)),
    allOf: (root.allOf ?? []).filter(
      ({ anyOf = [] }) =>
        !anyOf.some(({ required = [] }) => required.some((name) => names.has(name))),
    ),
  };
}
