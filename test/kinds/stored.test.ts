import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { storedProblem } from '../../src/kinds/decode.js';
import { decodeEntry } from './decode-entry.js';

interface Row {
  readonly accepted: boolean;
  readonly input: unknown;
}
const rows = JSON.parse(readFileSync('test/tables/config-decode.json', 'utf8')) as Row[];

describe('the form of stored entries', () => {
  const stored = rows.flatMap(({ accepted, input }) => {
    const decoded = accepted ? decodeEntry(input, { namespace: 'default' }) : undefined;
    return decoded?.ok ? [JSON.parse(JSON.stringify(decoded.entry)) as Stored] : [];
  });
  type Stored = Record<string, unknown> & { Kind: 'mesh' };

  it('matches every accepted entry', () => {
    expect(stored.length).to.be.greaterThan(50);
    for (const entry of stored) {
      expect(storedProblem(entry.Kind, entry), JSON.stringify(entry)).to.equal(undefined);
    }
  });

  it('does not match an entry with a member of another type or spelling, or without one', () => {
    for (const entry of stored) {
      for (const [name, value] of Object.entries(entry)) {
        if (name === 'Kind' || name === 'Name') continue;
        const { [name]: _left, ...rest } = entry;
        const others = [
          { ...rest, [name]: [null] },
          { ...rest, [`x${name}`]: value },
        ];
        if (Array.isArray(value)) others.push({ ...rest, [name]: 7 }, { ...rest, [name]: [7] });
        for (const other of others) {
          const what = JSON.stringify(other);
          expect(storedProblem(entry.Kind, other as Stored), what).to.be.a('string');
        }
      }
    }
  });
});
