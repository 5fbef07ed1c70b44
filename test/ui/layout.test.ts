/** Forms over JSON texts. */
import { expect } from 'chai';
import fc from 'fast-check';
import { bodySchemas } from '../../src/api/document/body-schemas.js';
import {
  evenShares,
  type FieldPart,
  fieldValue,
  type Json,
  type Layout,
  objectIn,
  type RowsPart,
  rowsIn,
  textOf,
  valueAt,
  withRows,
  withValue,
  wordsOf,
} from '../../src/ui/forms/layout.js';
import { ENTRY_LAYOUTS, METHOD_LAYOUTS } from '../../src/ui/forms/layouts.js';
import { type Schema, schemaAt, typesOf } from '../../src/ui/schema/schema.js';

const json = fc.dictionary(
  fc.constantFrom('A', 'B', 'C'),
  fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('A', 'B'), fc.jsonValue())),
) as fc.Arbitrary<Json>;
const path = fc.constantFrom('A', 'B', 'A.B', 'B.A', 'C.A.B');

/** The types of JSON that the parts of a form make. */
const MADE = {
  text: 'string',
  area: 'string',
  select: 'string',
  check: 'boolean',
  list: 'array',
  blocks: 'array',
  pairs: 'object',
};

/** Yields each field that makes what the API does not take. */
function* misfits(root: Schema, of: Schema, layout: Layout): Iterable<string> {
  for (const part of layout) {
    if (part.is === 'choice') {
      for (const { parts } of part.choices) yield* misfits(root, of, parts);
      continue;
    }
    const found = schemaAt(root, part.at.split('.'), of) ?? {};
    const types = [found, ...(found.anyOf ?? [])].flatMap(typesOf);
    if (part.is === 'rows') {
      const row = schemaAt(root, [...part.at.split('.'), '0'], of);
      if (!types.includes(part.key === undefined ? 'array' : 'object')) yield part.at;
      yield* misfits(root, row!, part.columns);
    } else if (part.is === 'number') {
      if (!types.includes('number') && !types.includes('integer')) yield part.at;
    } else if (!types.includes(MADE[part.is])) yield part.at;
  }
}

describe('ui: forms over JSON', () => {
  it('make values of the types that the API takes', () => {
    const bodies = bodySchemas() as Readonly<Record<string, Schema>>;
    for (const [kind, layout] of Object.entries(ENTRY_LAYOUTS)) {
      const root = bodies[`config/${kind}`]!;
      expect([...misfits(root, root, layout)], kind).to.deep.equal([]);
    }
    const method = bodies['auth-method']!;
    const types = method.allOf as readonly { readonly if: Schema; readonly then: Schema }[];
    for (const [type, layout] of Object.entries(METHOD_LAYOUTS)) {
      const of = types.find((each) => each.if.properties?.['Type']?.const === type);
      const config = of!.then.properties!['Config']!;
      expect([...misfits(method, config, layout)], type).to.deep.equal([]);
    }
  });

  it('change one member, and keep all others', () => {
    fc.assert(
      fc.property(json, path, fc.oneof(fc.string(), fc.integer()), (object, at, value) => {
        const changed = withValue(object, at, value);
        expect(valueAt(changed, at)).to.equal(value);
        const [top] = at.split('.');
        for (const [name, other] of Object.entries(object))
          if (name !== top) expect(changed[name]).to.equal(other);
        const again = withValue(changed, at, undefined);
        expect(valueAt(again, at)).to.equal(undefined);
        expect(Object.keys(again).filter((name) => name !== top)).to.deep.equal(
          Object.keys(object).filter((name) => name !== top),
        );
      }),
    );
  });

  it('remove objects that have no other member, and only those', () => {
    expect(withValue({ A: { B: 1 } }, 'A.B', undefined)).to.deep.equal({});
    expect(withValue({ A: { B: 1, C: 2 } }, 'A.B', undefined)).to.deep.equal({ A: { C: 2 } });
    expect(withValue({ A: {} }, 'A.B', undefined)).to.deep.equal({ A: {} });
  });

  it('read what they wrote', () => {
    const part = (is: FieldPart['is']): FieldPart => ({ is, at: 'A' });
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(textOf(part('text'), fieldValue(part('text'), text))).to.equal(text);
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[^\n]+$/)), (texts) => {
        const value = fieldValue(part('list'), texts.join('\n'));
        expect(value ?? []).to.deep.equal(texts);
        expect(textOf(part('list'), value)).to.equal(texts.join('\n'));
      }),
    );
    expect(fieldValue(part('number'), '12.5')).to.equal(12.5);
    for (const text of ['many', 'Infinity', '1e999'])
      expect(fieldValue(part('number'), text), 'the server refuses it').to.equal(text);
    expect(fieldValue(part('check'), 'false')).to.equal(undefined);
  });

  it('keep the members of rows that have no column', () => {
    const list: RowsPart = {
      is: 'rows',
      at: 'S',
      noun: 's',
      columns: [{ is: 'text', at: 'Name' }],
    };
    const named: RowsPart = { ...list, key: 'Name' };
    const row = fc.dictionary(fc.constantFrom('Name', 'X'), fc.jsonValue()) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), (rows) => {
        const object = { S: rows, Other: 1 };
        expect(withRows(object, list, rowsIn(object, list))).to.deep.equal(object);
        const map = { S: Object.fromEntries(rows.map((each, nth) => [`n${nth}`, each])) };
        expect(withRows(map, named, rowsIn(map, named))).to.deep.equal(map);
      }),
    );
    expect(withRows({ S: [{}] }, list, [])).to.deep.equal({});
  });

  it('wait while the text is no object', () => {
    expect(objectIn('')).to.deep.equal({});
    for (const text of ['{', '[]', '1', 'null']) expect(objectIn(text)).to.equal(undefined);
  });

  it('even out shares so that they add up to 100', () => {
    for (let count = 1; count <= 60; count += 1) {
      const shares = evenShares(count);
      const sum = shares.reduce((all, share) => all + Math.round(share * 100), 0);
      expect(sum, String(count)).to.equal(10_000);
      expect(Math.max(...shares) - Math.min(...shares)).to.be.below(1);
    }
  });

  it('name members in words', () => {
    const names = [
      'BoundAudiences',
      'Match.HTTP.PathPrefix',
      'LocalRequestTimeoutMs',
      'ExternalSNI',
    ];
    expect(names.map(wordsOf)).to.deep.equal([
      ...['Bound audiences', 'Path prefix', 'Local request timeout ms', 'External SNI'],
    ]);
  });
});
