import { expect } from 'chai';
import fc from 'fast-check';
import { bodySchemas } from '../../src/api/document/body-schemas.js';
import { mistakesIn } from '../../src/ui/schema/check.js';
import { type Described, offersAt, sentenceAt } from '../../src/ui/schema/help.js';
import { type JsonNode, rangeOf, readJson } from '../../src/ui/schema/json-text.js';
import { type Schema, without } from '../../src/ui/schema/schema.js';

const schemas = bodySchemas() as unknown as Readonly<Record<string, Schema>>;
const entry = (kind: string): Schema =>
  without(schemas[`config/${kind}`]!, new Set(['Kind', 'Name']));

/** The value of a node. */
function readAs(node: JsonNode): unknown {
  if (node.is === 'scalar') return node.value;
  if (node.is === 'array') return node.items.map(readAs);
  return Object.fromEntries(node.members.map(({ name, value }) => [name, readAs(value!)]));
}

/** A text with its schema, and where `|` stands in it. */
function typed(schema: Schema, marked: string): { described: Described; at: number } {
  const at = marked.indexOf('|');
  const text = marked.replace('|', '');
  return { described: { text: readJson(text), length: text.length, schema, body: schema }, at };
}
const offers = (schema: Schema, marked: string): string[] => {
  const { described, at } = typed(schema, marked);
  return offersAt(described, at)?.offers.map(({ label }) => label) ?? [];
};
const sentence = (schema: Schema, marked: string): string | undefined => {
  const { described, at } = typed(schema, marked);
  return sentenceAt(described, at);
};
const mistakes = (schema: Schema, text: string): string[] =>
  mistakesIn(readJson(text), schema).map(({ message, from, to }) => {
    return `${text.slice(from, to)} ${message}`;
  });

describe('ui: JSON text with places', () => {
  it('reads every JSON text without faults, and its values where they stand', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(objects, fc.boolean(), (value, isPretty) => {
        const text = JSON.stringify(value, null, isPretty ? 2 : 0);
        const { root, faults } = readJson(text);
        expect(faults).to.deep.equal([]);
        expect(text.slice(root!.from, root!.to)).to.equal(text);
        expect(JSON.stringify(readAs(root!))).to.equal(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('finds a fault exactly where JSON.parse does not accept a text', () => {
    const piece = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"a"', '"b"', '"', '1', '01', 'true', 'nil', ' ', '\n'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        const { root, faults } = readJson(text);
        const other = faults.filter(({ code }) => code !== 'twice');
        expect(root !== undefined && other.length === 0, text).to.equal(isJson);
      }),
      { numRuns: 2000 },
    );
  });

  it('finds the place of a pointer, or the nearest around it', () => {
    const text = '{"a": [1, {"b": true}]}';
    const at = (...path: string[]): string => {
      const { from, to } = rangeOf(readJson(text).root!, path);
      return text.slice(from, to);
    };
    expect(at('a', '1', 'b')).to.equal('true');
    expect(at('a', '1', 'x')).to.equal('{"b": true}');
    expect(at('a', '9')).to.equal('[1, {"b": true}]');
  });
});

describe('ui: help for JSON by a schema', () => {
  it('offers the fields that are not there yet, in their first spelling', () => {
    const splits = offers(entry('service-splitter'), '{ "Splits": [{ "Weight": 1, | }] }');
    expect(splits).to.include.members(['Service', 'ServiceSubset', 'RequestHeaders']);
    expect(splits).not.to.include.members(['Weight']);
    expect(splits).not.to.include('service');
    expect(offers(entry('service-splitter'), '{|')).to.include('Splits');
    expect(offers(entry('service-splitter'), '{ "Sp|" }')).to.include('Splits');
    expect(offers(entry('service-splitter'), '{ "Splits": [{}] |')).to.include('Meta');
  });

  it('offers the values of a field, whatever is typed of them', () => {
    const modes = ['', 'none', 'local', 'remote'];
    for (const marked of ['|', '"|"', '"lo|"', '"|', '\n|\n'])
      expect(
        offers(entry('service-defaults'), `{"MeshGateway": {"Mode": ${marked}`),
        marked,
      ).to.have.members(modes.slice(1));
    expect(
      offers(entry('service-resolver'), '{"Subsets":{"v1":{"OnlyPassing": |}}}'),
    ).to.deep.equal(['true', 'false']);
  });

  it('offers nothing where anything may stand', () => {
    expect(offers(entry('service-splitter'), '{"Meta": {"|"}}')).to.deep.equal([]);
    expect(offers(entry('service-splitter'), '{"Splits": [{"Service": "|"}]}')).to.deep.equal([]);
    expect(offers(entry('service-splitter'), '{"Nothing": |}')).to.deep.equal([]);
  });

  it('says what a field is, at its name and at its value', () => {
    const says = /^Splits › Weight: The share of requests, in percent\. .* Takes a number\.$/;
    for (const marked of ['"We|ight": 1', '"Weight": 1|', '"Weight": |'])
      expect(sentence(entry('service-splitter'), `{"Splits": [{${marked}}]}`)).to.match(says);
    expect(sentence(entry('service-splitter'), '{"No|thing": 1}')).to.equal(undefined);
  });

  it('tells the mistakes of a text with their places', () => {
    const of = (text: string): string[] => mistakes(entry('service-splitter'), text);
    expect(of('{"Splits": [{"Weight": 100}]}')).to.deep.equal([]);
    expect(of('{"splits": [{"weight": 100, "service": null}]}')).to.deep.equal([]);
    expect(of('{"Splits": [{"Wieght": 100}]}')).to.deep.equal([
      '"Wieght" there is no field "Wieght" here; did you mean "Weight"?',
    ]);
    expect(of('{"Splits": [{"Weight": "all"}]}')).to.deep.equal([
      '"all" expected a number, found a string',
    ]);
    expect(of('{}')).to.deep.equal(['{ the field "Splits" is missing']);
    expect(of('{"Splits": []}')).to.deep.equal(['[ needs at least 1 item']);
    expect(of('{"Splits": [{}],}')).to.deep.equal(['} there must be no comma before }']);
    expect(of('{"Splits": [{"Weight": 1 "Service": "a"}]}')).to.deep.equal(['" expected a comma']);
    const mode = mistakes(entry('service-defaults'), '{"MutualTLSMode":"far","Protocol":"HTTP"}');
    expect(mode).to.deep.equal(['"far" one of "strict", "permissive"']);
    const protocol = mistakes(entry('service-defaults'), '{"Protocol":"smtp"}');
    expect(protocol[0]).to.match(/^"smtp" one of "tcp", "http"/);
  });

  it('finds no mistake in what every schema gives as an example of itself', () => {
    for (const [name, schema] of Object.entries(schemas))
      for (const [field, each] of Object.entries(schema.properties ?? {}))
        for (const example of each.examples ?? []) {
          const found = mistakes(
            { ...schema, allOf: [], required: [] },
            JSON.stringify({ [field]: example }),
          );
          expect(found, `${name} ${field}`).to.deep.equal([]);
        }
  });
});
