import { expect } from 'chai';
import fc from 'fast-check';
import { parseRules } from '../../../src/acl/rules.js';
import { compareRights } from '../../../src/migrate/rights/compare.js';
import { mend } from '../../../src/migrate/rights/mend.js';
import { readRules } from '../../../src/migrate/rights/rules.js';
import { sideOf } from './states.js';

const item = fc.oneof(
  fc.constantFrom(
    'acl = "read"',
    'ACL = "write"',
    'operator = "WRITE"',
    'mesh = ""',
    'servce "web" { policy = "read" }',
    'key {}',
    'namespace "x" { acl = "write" }',
    'key { "a" { policy = "list" } ab { policy = "deny" } }',
    'foo = [1, { a = "b" }]',
    '# a comment',
  ),
  fc
    .record({
      head: fc.constantFrom(
        'key "a"',
        'key_prefix ""',
        'service "a${b}"',
        'SERVICE_prefix a',
        'node "\\xff"',
      ),
      level: fc.constantFrom('read', 'write', 'deny', 'READ'),
      more: fc.constantFrom('', ' intentions = "write"', '\npolcy = "x"', ', policy = "read"'),
    })
    .map(({ head, level, more }) => `${head} { policy = "${level}"${more} }`),
);
const blocks = fc
  .array(fc.tuple(item, fc.constantFrom('\n', ' ', ',\n')), { maxLength: 4 })
  .map((items) => items.map((parts) => parts.join('')).join(''));
const jsonItem = fc.constantFrom(
  '"acl":"read"',
  '"acl":"WRITE"',
  '"key":{"a":{"policy":"write"},"b":{"policy":"Read"}}',
  '"service":[{"a":{"policy":"read","intentions":"deny"}}]',
  '"key" "c":{"policy":"list"}',
  '"foo":[1]',
  '"service_prefix":{"":{"policy":"Write"}}',
);
const json = fc
  .tuple(fc.array(jsonItem, { maxLength: 4 }), fc.constantFrom(',', ' ', ',\n'))
  .map(([items, between]) => `{${items.join(between)}}`);
/** A text with some characters cut out, and some put in. */
const damaged = fc
  .record({
    text: fc.oneof(blocks, json),
    at: fc.nat(200),
    cut: fc.constantFrom(0, 0, 1, 3, 500),
    put: fc.constantFrom('', '', '}', '"', ',', ' acl = "read"', ' "acl":"read"', '\r\n'),
  })
  .map(({ text, at, cut, put }) => {
    const place = Math.min(at, text.length);
    return text.slice(0, place) + put + text.slice(place + cut);
  });

describe('a mended text', () => {
  it('is taken here and grants exactly what the source grants by the original', () => {
    let mendedCount = 0;
    fc.assert(
      fc.property(damaged, (text) => {
        const mended = mend(text);
        const reading = readRules(text);
        if (mended === undefined) {
          // Then the original is taken as it is, or is nothing that the source can read.
          if (reading.ok) expect(parseRules(text).ok, text).to.equal(true);
          return;
        }
        mendedCount += 1;
        expect(parseRules(mended).ok, mended).to.equal(true);
        for (const defaultPolicy of ['deny', 'allow'] as const) {
          const { Differences } = compareRights(
            sideOf('community', text, { defaultPolicy }),
            sideOf('ours', mended, { defaultPolicy }),
          );
          // Under a default of allow, both decide reading all intentions otherwise.
          const others = Differences.filter(({ Segment }) => Segment !== '*');
          expect(others, mended).to.deep.equal([]);
        }
      }),
      { numRuns: 600 },
    );
    expect(mendedCount).to.be.greaterThan(100);
  });

  it('keeps what has an effect where it stands, and makes comments of the rest', () => {
    const text = [
      'acl = "read"',
      'servce "web" {',
      '  policy = "write"',
      '}',
      'key "a" {',
      '  polcy = "x", policy = "read" # why',
      '}',
      'operator = "WRITE" mesh = "read"',
    ];
    expect(mend(text.join('\r\n'))?.split('\n')).to.deep.equal([
      'acl = "read"',
      '# was: servce "web" {',
      '# was:   policy = "write"',
      '# was: }',
      'key "a" {',
      '  # was: polcy = "x"',
      ' policy = "read" # why',
      '}',
      '# was: operator = "WRITE"',
      ' mesh = "read"',
    ]);
  });

  it('is written anew, sorted, if the source reads what this server refuses', () => {
    const anew = [
      'acl = "write"\nkey "b" {\n  policy = "read"\n}\n',
      'service_prefix "a" {\n  policy = "write"\n}\n',
    ].join('');
    const member = '"service_prefix":{"a":{"policy":"write"}},"key":{"b":{"policy":"read"}}';
    for (const text of [
      [
        'service_prefix "a" { policy = "read" policy = "write" }',
        'acl = "read"\nacl = "write" key b { policy = "READ" }',
      ].join('\n'),
      `{${member},"acl":"write"} acl = "read"`,
      `{"acl":"write","x",${member}`,
      `{"acl":"write",${member} "acl":"read"}`,
    ]) {
      // A key without a value makes the source refuse what follows it.
      const isRead = !text.includes('"x",');
      expect(mend(text), text).to.equal(isRead ? anew : undefined);
    }
  });

  it('says a level that is not in lower case with what it does to intentions', () => {
    expect(mend('service "a" { policy = "Write" }')).to.equal(
      'service "a" {\n  policy = "write"\n  intentions = "deny"\n}\n',
    );
  });

  it('takes out a namespace block for a source that knows none, though it is valid here', () => {
    const text = 'namespace "x" { acl = "write" }\nacl = "read"';
    expect(mend(text)).to.equal('# was: namespace "x" { acl = "write" }\nacl = "read"');
    expect(mend(text, 'enterprise')).to.equal(undefined);
  });

  it('is not offered for a text that is read alike, and for one that the source refuses', () => {
    for (const text of ['', 'acl = "read"', 'acl = read', '{"acl":"read"']) {
      expect(mend(text), text).to.equal(undefined);
    }
  });
});
