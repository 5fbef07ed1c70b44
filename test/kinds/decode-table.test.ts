import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { validateChange } from '../../src/kinds/cross-entry-rules.js';
import { definitionOf } from '../../src/kinds/definitions.js';
import { NEVER_ALLOWED } from '../../src/kinds/permissions.js';
import type { Kind } from '../../src/kinds/types.js';
import { decodeEntry } from './decode-entry.js';
import { lookupOf } from './lookup.js';

interface Row {
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly accepted: boolean;
  readonly errorKey: string | null;
  readonly readBack: Record<string, unknown> | null;
}
const rows = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as Row[];
const context = { namespace: 'default' };

/** The entry without the members that the API adds. */
const withoutAdded = (value: Record<string, unknown>): unknown => {
  const added = ['CreateIndex', 'ModifyIndex', 'Hash', 'Namespace', 'Status'];
  const own = Object.entries(value).filter(([name]) => !added.includes(name));
  return Object.fromEntries(own.filter(([name]) => value['Kind'] !== 'mesh' || name !== 'Name'));
};

/** The error text with which a row is refused; undefined if it is accepted. */
function refusalFor(input: Record<string, unknown>): string | undefined {
  const decoded = decodeEntry(input, context);
  if (!decoded.ok) return decoded.refusal.message;
  const kind = (input['Kind'] ?? input['kind']) as Kind;
  if (definitionOf(kind).permissions.apply.resource === 'never') return NEVER_ALLOWED;
  const { entry } = decoded;
  return validateChange({ kind, name: entry.Name, after: entry }, lookupOf([entry]), {
    datacenter: 'dc1',
  })?.message;
}

describe('kinds: the decoder (table of recorded bodies)', () => {
  for (const row of rows.filter(({ accepted }) => accepted)) {
    it(`accepts ${row.name}`, () => {
      const decoded = decodeEntry(row.input, context);
      if (!decoded.ok) expect.fail(decoded.refusal.message);
      const answered = JSON.parse(JSON.stringify(decoded.entry));
      expect(withoutAdded(answered)).to.deep.equal(withoutAdded(row.readBack ?? {}));
    });
    it(`keeps ${row.name} unchanged when it is read and written again`, () => {
      const first = decodeEntry(row.input, context);
      if (!first.ok) expect.fail(first.refusal.message);
      const stored = JSON.stringify(first.entry);
      const again = decodeEntry(JSON.parse(stored), context);
      if (!again.ok) expect.fail(again.refusal.message);
      expect(JSON.stringify(again.entry)).to.equal(stored);
    });
  }
  it('rounds the weight of a split as a 32-bit number, half a hundredth up', () => {
    const Splits = [{ Weight: 0.285 }, { Weight: 99.71, Service: 'b' }];
    const decoded = decodeEntry({ Kind: 'service-splitter', Name: 'a', Splits }, context);
    if (!decoded.ok) expect.fail(decoded.refusal.message);
    expect(decoded.entry['Splits']).to.deep.equal([{ ...Splits[0], Weight: 0.29 }, Splits[1]]);
  });
  for (const row of rows.filter(({ accepted }) => !accepted)) {
    it(`refuses ${row.name}`, () => {
      expect(refusalFor(row.input)).to.contain(row.errorKey ?? '');
    });
  }
});
