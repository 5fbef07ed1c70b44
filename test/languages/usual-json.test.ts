/** What is read in one pass has the value that the strict reader gives it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseStrictJson } from '../../src/languages/json.js';
import { readUsual } from '../../src/languages/usual-json.js';
import { USUAL_REQUEST } from '../../src/service/decisions/requests.js';

const read = (text: string): unknown => readUsual(Buffer.from(text), USUAL_REQUEST);

/** The value without the members that are absent. */
const given = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Throws unless a text is not usual, or has the same value for both readers. */
function agrees(text: string): boolean {
  const usual = read(text);
  if (usual === undefined) return false;
  expect(parseStrictJson(text), text).to.deep.equal({ ok: true, value: given(usual) });
  return true;
}

const word = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('', 'a', '<&>', "it's", '0') },
  { weight: 1, arbitrary: fc.string() },
);
const entity = fc.record({ type: word, id: word }, { requiredKeys: ['type'] });
const members = { subject: entity, action: fc.record({ name: word }), resource: entity };
/** An object has a member at least. */
const item = fc.record(members, { requiredKeys: ['action'] });
const request = fc.record(
  { ...members, evaluations: fc.array(item, { minLength: 1 }) },
  { requiredKeys: ['resource'] },
);
/** Parts of texts that may change what a text means. */
const PIECES = [
  ...['"', '\\', '\\"', '\\u0041', '\\ud800', '{', '}', '[', ']', ',', ':', ' ', '\n', '\t', '\0'],
  ...['null', '1', '""', '{}', '[]', 'ü', '\u2028', '😀', '"id":"x",', ',"type":"t"', '"a":1,'],
  ...[
    '"__proto__":{"id":"x"},',
    '"subject":{"type":"a","id":"b"},',
    '/**/',
    '\ufeff',
    'e9',
    '\x7f',
  ],
];
const edit = fc.record({
  at: fc.nat(9_999),
  cut: fc.nat(3),
  piece: fc.constantFrom('', ...PIECES),
});

describe('usual JSON', () => {
  it('is read in any order of members, with spaces or without', () => {
    const texts = [
      '{"subject":{"type":"token","id":"self"},"action":{"name":"a"}}',
      ' { "resource" : { "id" : "" , "type" : "t" } , "action" : { "name" : "a" } } ',
      '{"evaluations":[{"resource":{"type":"t","id":"1"}},{"action":{"name":"b"}}]}',
    ];
    for (const text of texts) expect(agrees(text), text).to.equal(true);
  });

  it('has the value of the strict reader, if its texts have no escapes', () => {
    fc.assert(
      fc.property(request, (value) => {
        const text = JSON.stringify(value);
        const isPlain = /^[\x20-\x7f]*$/.test(text) && !text.includes('\\');
        expect(agrees(text), text).to.equal(isPlain);
      }),
      { numRuns: 1000 },
    );
  });

  it('is not what the strict reader refuses or reads otherwise', () => {
    let usual = 0;
    fc.assert(
      fc.property(request, fc.array(edit, { minLength: 1, maxLength: 2 }), (value, edits) => {
        let text = JSON.stringify(value);
        for (const { at, cut, piece } of edits) {
          const from = at % (text.length + 1);
          text = text.slice(0, from) + piece + text.slice(from + cut);
        }
        if (agrees(text)) usual += 1;
      }),
      { numRuns: 20_000 },
    );
    expect(usual).to.be.greaterThan(100);
  });

  it('is no object with a name twice', () => {
    for (const inner of ['"name":"a","name":"a"', '"name":"a","name":"b"'])
      expect(read(`{"action":{${inner}}}`), inner).to.equal(undefined);
  });

  it('has at most as many values as the strict reader accepts', () => {
    const textOf = (items: number): string =>
      `{"evaluations":[${Array(items).fill('{"action":{"name":"a"}}').join(',')}]}`;
    expect(agrees(textOf(9_999))).to.equal(true);
    expect(read(textOf(10_000))).to.equal(undefined);
    expect(parseStrictJson(textOf(10_000)).ok).to.equal(false);
  });

  it('is no text of bytes that are not ASCII', () => {
    const bytes = Buffer.from('{"action":{"name":"ü"}}', 'latin1');
    expect(readUsual(bytes, USUAL_REQUEST)).to.equal(undefined);
  });
});
