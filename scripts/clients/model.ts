/** Operations and types of the OpenAPI document, as the writers of both languages need them. */

/** A schema of the document, as far as it is read here. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly readOnly?: boolean;
}

/** A type of a value. `plain` is a body that is no JSON but text, and `stream` any other. */
export type Type =
  | { readonly kind: 'text' | 'integer' | 'number' | 'boolean' | 'any' | 'plain' | 'stream' }
  | { readonly kind: 'list' | 'map'; readonly of: Type }
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  | { readonly kind: 'struct'; readonly name: string };

/** A member of a struct. */
export interface Member {
  readonly name: string;
  readonly type: Type;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  /** What holds if it is absent, where that is not the zero value. */
  readonly default?: unknown;
}

/** A type that has a name: a struct or, for a component without members, another type. */
export interface Named {
  readonly name: string;
  readonly description: string;
  readonly members?: readonly Member[];
  readonly type?: Type;
}

/** A group of query parameters, which may have all of another. */
export interface Query {
  readonly name: string;
  readonly base?: string;
  readonly members: readonly Member[];
}

/** An operation of the API. */
export interface Operation {
  readonly name: string;
  readonly description: string;
  readonly method: string;
  readonly path: string;
  /** The parameters in the path, in its order. */
  readonly parameters: readonly Member[];
  readonly query: Query;
  readonly body?: { readonly type: Type; readonly contentType: string };
  readonly answer: Type;
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}
interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly schema: Schema;
  readonly allowEmptyValue?: boolean;
}
interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Media>>;
}

/** The parts of the document that are read. */
export interface OpenApi {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

/** What the writers write. */
export interface Model {
  readonly version: string;
  readonly named: readonly Named[];
  readonly queries: readonly Query[];
  readonly operations: readonly Operation[];
}

const JSON_TYPES = /^application\/(?:json|merge-patch\+json)$/;
/** Components that the libraries have by hand. */
const BY_HAND = new Set(['Problem']);
/** Better names for types that several objects share. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  TokenPolicy: 'Link',
  TokenServiceIdentity: 'ServiceIdentity',
  TokenNodeIdentity: 'NodeIdentity',
  TokenTemplatedPolicy: 'TemplatedPolicy',
  SearchSubjectsResult: 'SearchResult',
};
/** The queries that most operations share, from small to large. */
const SHARED: readonly (readonly [name: string, last: string, base?: string])[] = [
  ['CommonQuery', 'pretty'],
  ['ReadQuery', 'max_stale', 'CommonQuery'],
  ['BlockingQuery', 'wait', 'ReadQuery'],
];

/** Returns the upper-case form of a name: `reason_admin` becomes `ReasonAdmin`. */
export const pascal = (name: string): string =>
  name.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first: string) => first.toUpperCase());
const singular = (name: string): string =>
  /ies$/.test(name) ? name.replace(/ies$/, 'y') : name.replace(/([^s])s$/, '$1');

/** Reads the document. */
export function modelOf(document: OpenApi): Model {
  const types = new Types(document);
  const queries: Query[] = [];
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, described]) => {
      const answer = described.responses['200'];
      if (answer === undefined) return [];
      const name = pascal(described.operationId);
      const all = (described.parameters ?? []).map(({ $ref, ...own }) =>
        $ref === undefined ? own : document.components.parameters[$ref.split('/').at(-1)!]!,
      );
      const inPath = all.filter((one) => one.in === 'path').map(memberOf);
      const inQuery = all.filter((one) => one.in === 'query').map(memberOf);
      const both = inPath.find((one) => inQuery.some((other) => other.name === one.name));
      if (both !== undefined) throw new Error(`${name} has two parameters ${both.name}`);
      const body = bodyOf(types, described, name);
      return {
        name: described.operationId,
        description: described.summary,
        method: method.toUpperCase(),
        path,
        parameters: inPath,
        query: queryOf(queries, name, inQuery),
        answer: types.ofMedia(answer, `${name}Result`),
        ...(body && { body }),
      };
    }),
  );
  const used = operations.flatMap(({ answer, body }) => [answer, ...(body ? [body.type] : [])]);
  return {
    version: document.info.version,
    named: types.reachedFrom(used),
    queries,
    operations,
  };
}

const memberOf = ({ name, description, schema, allowEmptyValue }: Parameter): Member => ({
  name,
  description,
  type: { kind: allowEmptyValue || schema.type === 'boolean' ? 'boolean' : 'text' },
  isRequired: false,
  isNullable: false,
});

function bodyOf(types: Types, { requestBody }: Described, name: string): Operation['body'] {
  const [contentType, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (contentType === undefined) return undefined;
  if (!JSON_TYPES.test(contentType)) return { contentType, type: { kind: 'stream' } };
  return { contentType, type: types.of(media?.schema ?? {}, `${name}Body`, 'body') };
}

/** Returns the group of parameters, and adds to `queries` what is not there yet. */
function queryOf(queries: Query[], name: string, members: readonly Member[]): Query {
  let query: Query = { name: 'NoQuery', members: [] };
  let seen = 0;
  for (const [shared, last, base] of SHARED) {
    const end = members.findIndex((one) => one.name === last) + 1;
    if (end <= seen) break;
    const known = queries.find((one) => one.name === shared);
    query = known ?? { name: shared, ...(base && { base }), members: members.slice(seen, end) };
    if (known === undefined) queries.push(query);
    seen = end;
  }
  if (seen === members.length) return query;
  const own = { name: `${name}Query`, base: query.name, members: members.slice(seen) };
  queries.push(own);
  return own;
}

/**
 * What a schema is of: an answer; the body of one operation, whose types end with `Body`; or a body
 * that has a component of its own, `TokenBody`, whose members are added to those of `Token`.
 */
type Use = 'answer' | 'body' | 'component';

/** Gives names to the types of schemas. Types that are alike share one. */
class Types {
  readonly #schemas: Readonly<Record<string, Schema>>;
  readonly #named = new Map<string, Named>();
  readonly #byShape = new Map<string, string>();

  constructor(document: OpenApi) {
    this.#schemas = document.components.schemas;
    // Objects give their names to what answers about them share.
    for (const name of Object.keys(this.#schemas))
      if (!name.endsWith('Body')) this.#ofReference(`#/components/schemas/${name}`);
  }

  /** Returns the types that some types are made from, in the order of their names. */
  reachedFrom(types: readonly Type[]): readonly Named[] {
    const reached = new Map<string, Named>();
    const reach = (type: Type): void => {
      if (type.kind === 'union') for (const one of type.of) reach(one);
      if (type.kind === 'list' || type.kind === 'map') reach(type.of);
      if (type.kind !== 'struct' || reached.has(type.name)) return;
      const named = this.#named.get(type.name)!;
      reached.set(type.name, named);
      if (named.type !== undefined) reach(named.type);
      for (const member of named.members ?? []) reach(member.type);
    };
    for (const type of types) reach(type);
    return [...reached.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  ofMedia({ content = {} }: Media, name: string): Type {
    const media = Object.entries(content).find(([type]) => JSON_TYPES.test(type));
    if (media !== undefined) return this.of(media[1].schema ?? {}, name, 'answer');
    return { kind: 'text/plain' in content ? 'plain' : 'stream' };
  }

  /** Returns the type of a schema. A struct gets the name, unless it has one already. */
  of(schema: Schema, name: string, use: Use): Type {
    const { $ref, anyOf, items, additionalProperties, properties } = schema;
    if ($ref !== undefined) return this.#ofReference($ref);
    const types = [schema.type ?? []].flat().filter((one) => one !== 'null');
    if (types.length > 1) return { kind: 'any' };
    const [type] = types;
    if (type === undefined && anyOf !== undefined && properties === undefined)
      return { kind: 'union', of: anyOf.map((one, n) => this.of(one, `${name}${n + 1}`, use)) };
    if (type === 'string' || typeof schema.const === 'string') return { kind: 'text' };
    if (type === 'boolean' || typeof schema.const === 'boolean') return { kind: 'boolean' };
    if (type === 'integer' || type === 'number') return { kind: type };
    if (type === 'array') return { kind: 'list', of: this.of(items ?? {}, name, use) };
    if (properties !== undefined) return this.#struct(schema, name, use);
    if (type !== 'object') return { kind: 'any' };
    const of = typeof additionalProperties === 'object' ? additionalProperties : {};
    return { kind: 'map', of: this.of(of, name, use) };
  }

  #ofReference(reference: string): Type {
    const [, , , component = '', ...rest] = reference.split('/');
    const schema = this.#schemas[component];
    if (schema === undefined || rest.length > 0) throw new Error(`${reference} is not a component`);
    if (BY_HAND.has(component)) return { kind: 'any' };
    const answered = component.replace(/Body$/, '');
    const isPair = answered !== component && answered in this.#schemas;
    if (isPair) this.#ofReference(reference.replace(/Body$/, ''));
    const name = isPair ? answered : component;
    if (this.#byShape.get(reference) !== undefined) return { kind: 'struct', name };
    this.#byShape.set(reference, name);
    const known = this.#named.get(name);
    const description = known?.description ?? schema.description ?? '';
    const use: Use = isPair ? 'component' : 'answer';
    if (schema.properties === undefined)
      this.#named.set(name, known ?? { name, description, type: this.of(schema, name, use) });
    else this.#named.set(name, { name, description, members: this.#members(schema, name, use) });
    if (schema.properties === undefined) this.of(schema, name, use); // the bodies of a union
    return { kind: 'struct', name };
  }

  #struct(schema: Schema, stem: string, use: Use): Type {
    const whole = use === 'body' && !stem.endsWith('Body') ? `${stem}Body` : stem;
    const name = SHARED_NAMES[whole] ?? whole;
    const members = this.#members(schema, name, use);
    const shape = JSON.stringify(members);
    const known = this.#byShape.get(shape) ?? name;
    if (use !== 'component' && known === name && this.#named.has(name))
      throw new Error(`two types are named ${name}`);
    this.#byShape.set(shape, known);
    if (known === name)
      this.#named.set(name, { name, description: schema.description ?? '', members });
    return { kind: 'struct', name: known };
  }

  #members(schema: Schema, name: string, use: Use): readonly Member[] {
    const { properties = {}, required = [] } = schema;
    const stem = name.replace(/(?:Body|Result)$/, '');
    const known = new Map(this.#named.get(name)?.members?.map((one) => [one.name, one]));
    for (const [own, of] of Object.entries(properties)) {
      // Other spellings of a member refer to it; members that are only answered are not sent.
      const isAlias = (of.$ref?.split('/').length ?? 0) > 4;
      const isTwice = own === 'partition' && 'Partition' in properties;
      if (isAlias || isTwice || of.readOnly) continue;
      const before = known.get(own);
      const isMany = of.items !== undefined || of.additionalProperties instanceof Object;
      const inner = `${stem}${isMany ? singular(pascal(own)) : pascal(own)}`;
      const given = structOf(before?.type) ?? (inner === name ? `${inner}Item` : inner);
      const type = this.of(of, given, use);
      known.set(own, {
        name: own,
        description: before?.description ?? of.description ?? '',
        type: before?.type ?? type,
        isRequired: before?.isRequired ?? (use !== 'component' && required.includes(own)),
        isNullable: before?.isNullable ?? (Array.isArray(of.type) && of.type.includes('null')),
        ...(Boolean(of.default ?? before?.default) && { default: of.default ?? before?.default }),
      });
    }
    return [...known.values()];
  }
}

/** The struct that a type is made of. */
function structOf(type: Type | undefined): string | undefined {
  if (type?.kind === 'list' || type?.kind === 'map') return structOf(type.of);
  return type?.kind === 'struct' ? type.name : undefined;
}
