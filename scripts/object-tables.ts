/** Makes the module src/api/objects.d.ts describes from the definitions of objects and kinds. */

import { NAMED_PATHS, OBJECT_PATHS } from '../src/api/endpoints/objects.js';
import type { KindRow, Member, ObjectName, ObjectTable, Shown } from '../src/api/objects.js';
import { definitionOf } from '../src/kinds/definitions.js';
import { KINDS } from '../src/kinds/types.js';
import type { Fields } from '../src/languages/fields.js';
import type { ObjectDefinition } from '../src/state/object.js';
import { OBJECTS } from '../src/state/objects.js';

/** Returns a name in words: `Max token TTL`, and `AccessorID` as it is. */
const inWords = (name: string): string =>
  name.replace(/(?<=[a-z])[A-Z](?!D$)(?=([A-Z]?))/g, (letter, next: string) =>
    next === '' ? ` ${letter.toLowerCase()}` : ` ${letter}`,
  );

function* membersOf(fields: Fields, above = ''): Iterable<[string, Member]> {
  for (const [name, { type }] of Object.entries(fields)) {
    const { description } = type;
    const linked =
      description.is === 'object' &&
      Object.values(description.fields).some((field) => field.type.description.is === 'links');
    if (linked) yield* membersOf(description.fields, `${name}.`);
    else
      yield [
        above + name,
        {
          label: inWords(name),
          is: formOf(name, type.description),
          ...(description.is === 'links' && { to: description.to as ObjectName }),
          ...(description.is === 'text' &&
            description.values && { values: description.values.filter((one) => one !== '') }),
          ...(type.computed && { isComputed: true }),
        },
      ];
  }
}

function formOf(name: string, description: Fields[string]['type']['description']): Member['is'] {
  // Some times are stored as text.
  if (description.is === 'time' || /(?:Time|At)$/.test(name)) return 'time';
  if (description.is === 'boolean' || description.is === 'links') return description.is;
  if (description.is === 'list')
    return description.of.description.is === 'text' ? 'texts' : 'objects';
  if (description.is === 'map') return 'pairs';
  if (description.is === 'free') return 'json';
  if (description.is !== 'object') return 'text';
  const values = Object.values(description.fields);
  return values.every((field) => field.type.description.is === 'text') ? 'pairs' : 'json';
}

/** Reads what a definition says about columns or lines (state/object.ts). */
function* shownIn(
  text: string,
  members: ObjectTable['members'],
  labelOf: (name: string) => string,
): Iterable<Shown> {
  for (const item of text.split(', ')) {
    const [, names = '', label = labelOf(names), minor] = /^(.+?)(?: as (.+?))?(\?)?$/.exec(item)!;
    const of = names.split(' ');
    const unknown = of.find((name) => members[name] === undefined);
    if (unknown !== undefined) throw new Error(`there is no member ${unknown}`);
    yield {
      label,
      of,
      ...(/^(?:ID|AccessorID|Name)$/.test(names) && { isWhole: true }),
      ...(minor === '?' && { isMinor: true }),
    };
  }
}

function tableOf(name: ObjectName, definition: ObjectDefinition): ObjectTable {
  const { noun, plural, identity, secrets, columns, lines, below } = definition;
  const { one, all } = OBJECT_PATHS[name];
  const isReadByName = name in NAMED_PATHS;
  const members = Object.fromEntries(membersOf(definition.fields));
  return {
    noun,
    plural,
    slug: one.slice(one.lastIndexOf('/') + 1),
    path: one,
    listPath: all,
    identity,
    ...(isReadByName && { isReadByName }),
    secrets,
    members,
    columns: [...shownIn(columns, members, inWords)],
    lines: [...shownIn(`${lines}, CreateIndex, ModifyIndex`, members, (member) => member)],
    ...(below !== undefined && { below }),
  };
}

const tables = Object.entries(OBJECTS).map(([name, definition]) => [
  name,
  tableOf(name as ObjectName, definition),
]);
const kinds = KINDS.map((kind): KindRow => {
  const { onlyName, scope, permissions } = definitionOf(kind);
  const { resource, access, named } = permissions.apply;
  return {
    kind,
    ...(onlyName !== '' && { onlyName }),
    ...(scope === 'cluster' && { isClusterWide: true }),
    ...(resource !== 'never' && { needs: `${resource}:${access}` }),
    ...(named && { isOnName: true }),
  };
});

/** The text of the module. */
export const OBJECT_TABLES = [
  `export const OBJECTS = ${JSON.stringify(Object.fromEntries(tables))};\n`,
  `export const KINDS = ${JSON.stringify(kinds)};\n`,
].join('');
