/** docs/reference.md as text: endpoints and fields, from the declarations of the API. */

import { BODIES } from '../../src/api/document/body-schemas.js';
import { schemaOf } from '../../src/api/document/json-schema.js';
import type { JsonSchema } from '../../src/api/document/text-schema.js';
import { allOperations } from '../../src/api/endpoints/endpoints.js';
import { type Operation, TAGS } from '../../src/api/endpoints/operation.js';
import { QUERY } from '../../src/api/endpoints/parameters.js';
import { definitionOf } from '../../src/kinds/definitions.js';
import { KINDS } from '../../src/kinds/types.js';
import type { Fields, Type } from '../../src/languages/fields.js';

const HEAD = `# Endpoints and fields

Written by \`npm run docs\` from the declarations of the source; do not edit it. Every node serves
the same as \`/v1/openapi.json\` and \`/v1/schema/…\`, with the answers and all limits.
[api.md](api.md) says where the API differs from Consul's, and why.

Every endpoint takes \`dc\`, \`ns\`, \`partition\`, \`pretty\`, every read \`stale\`,
\`consistent\`, \`max_stale\`. Those with \`index\` answer blocking queries.
`;

const cell = (text: string): string => text.replaceAll('|', '\\|');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map(cell).join(' | ')} |\n`)
    .join('');
const code = (text: string): string => `\`${text}\``;

/** The page. */
export function referencePage(): string {
  const kinds = KINDS.map((kind) => {
    const { description: says, type } = definitionOf(kind);
    return `\n### ${kind}\n\n${says}\n\n${fieldsTable(type.fields)}${rulesTable(type)}`;
  });
  const bodies = Object.entries(BODIES).flatMap(
    ([name, { description: says, fields, configs = {} }]) => [
      `\n### ${name}\n\n${says}\n\n${fieldsTable(fields)}`,
      ...Object.entries(configs).map(
        ([type, config]) =>
          `\nThe \`Config\` of the type \`${type}\`; ` +
          'letter case does not matter in its names:\n\n' +
          fieldsTable(config.fields) +
          rulesTable(config),
      ),
    ],
  );
  const sections = Object.entries(TAGS).map(
    ([tag, says]) => `\n### ${tag}\n\n${says}\n\n${operationsTable(tag)}`,
  );
  const parameters = Object.entries(QUERY).map(([name, { description }]) => [
    code(name),
    description,
  ]);
  return [
    HEAD,
    '\n## Endpoints\n',
    ...sections,
    '\n## Query parameters\n\n',
    table(['parameter', 'what it does'], parameters),
    '\n## Config entries\n',
    ...kinds,
    '\n## Other bodies\n',
    ...bodies,
  ].join('');
}

function operationsTable(tag: string): string {
  const rows = Object.entries(allOperations()).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tag === tag)
      .map(([method, operation]) => rowOf(method, path, operation)),
  );
  return table(['endpoint', 'what it does', 'right', 'query'], rows);
}

const rowOf = (
  method: string,
  path: string,
  { description: says, rights = [], query = [] }: Operation,
): string[] => [code(`${method} ${path}`), says, rights.join(', '), query.map(code).join(', ')];

function fieldsTable(fields: Fields): string {
  return table(['field', 'type', 'what it is'], [...rowsOf(fields, '')]);
}

function* rowsOf(fields: Fields, above: string): Iterable<string[]> {
  for (const [name, { description: says, type }] of Object.entries(fields)) {
    const place = `${above}${name}`;
    yield [code(place), typeText(type), says];
    const [inner, end] = innerOf(type, '');
    if (inner.description.is === 'object')
      yield* rowsOf(inner.description.fields, `${place}${end}.`);
  }
}

/** The rules between fields, with the objects that they are about. Empty if there are none. */
function rulesTable(type: Type<unknown, unknown>): string {
  const rows = [...rulesIn(type, '')].map(([place, says]) => [
    place === '' ? '' : code(place),
    says,
  ]);
  return rows.length === 0 ? '' : `\n${table(['in', 'rule'], rows)}`;
}

function* rulesIn({ description }: Type<unknown, unknown>, at: string): Iterable<[string, string]> {
  if (description.is !== 'object') return;
  for (const { description: says } of description.rules ?? []) yield [at, says];
  for (const [name, { type }] of Object.entries(description.fields)) {
    const [inner, end] = innerOf(type, '');
    yield* rulesIn(inner, `${at}${at === '' ? '' : '.'}${name}${end}`);
  }
}

/** Returns the type of the items of lists and maps, with what stands behind the name for them. */
function innerOf(type: Type<unknown>, end: string): readonly [Type<unknown>, string] {
  const { description } = type;
  if (description.is === 'list') return innerOf(description.of, `${end}[]`);
  return description.is === 'map' ? innerOf(description.of, `${end}.*`) : [type, end];
}

function typeText(type: Type<unknown>): string {
  if (type.computed !== undefined) return 'set by the server';
  const { description } = type;
  switch (description.is) {
    case 'list':
      return `list of ${typeText(description.of)}`;
    case 'map':
      return `map to ${typeText(description.of)}`;
    case 'links':
      return 'list of links: ID or Name';
    case 'duration':
      return 'duration';
    case 'free':
      return 'object with any members';
    case 'foreign':
      return 'unset';
    case 'object':
      return 'object';
    case 'fraction':
      return 'number';
    case 'whole':
      return wholeText(schemaOf(type, { of: 'sent', at: '#' }));
    case 'text':
      return description.values === undefined
        ? 'text'
        : description.values
            .filter((value) => value !== '')
            .map(code)
            .join(', ');
    default:
      return description.is;
  }
}

const UNBOUNDED = new Set<unknown>([
  Number.MIN_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER,
  4_294_967_295,
]);

function wholeText({ minimum, maximum }: JsonSchema): string {
  const from = UNBOUNDED.has(minimum) ? '' : ` from ${String(minimum)}`;
  const to = UNBOUNDED.has(maximum) ? '' : ` to ${String(maximum)}`;
  return `number${from}${to}`;
}
