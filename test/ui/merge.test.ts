/** What two people typed into one object. */
import { expect } from 'chai';
import type { Field } from '../../src/ui/objects/fields.js';
import { mergeForms } from '../../src/ui/objects/merge.js';

const fieldOf = (key: string, type: 'text' | 'json'): Field =>
  ({ key, label: key, initial: '', control: { type } }) as Field;
const FIELDS = [fieldOf('Name', 'text'), fieldOf('Description', 'text'), fieldOf('Entry', 'json')];

/** Returns the merged entry of three objects, or of texts. */
function entryOf(before: unknown, mine: unknown, theirs: unknown): string {
  const textOf = (value: unknown): string =>
    typeof value === 'string' ? value : JSON.stringify(value);
  const [old, own, other] = [before, mine, theirs].map((value) => ({ Entry: textOf(value) }));
  return mergeForms(FIELDS, old!, own!, other!)['Entry']!;
}

describe('ui: a merge', () => {
  it('keeps the fields that mine changed, and takes all others from theirs', () => {
    const before = { Name: 'a', Description: 'old', Entry: '{}' };
    const mine = { ...before, Description: 'mine' };
    const theirs = { ...before, Name: 'b', Description: 'theirs' };
    const merged = { Name: 'b', Description: 'mine', Entry: '{}' };
    expect(mergeForms(FIELDS, before, mine, theirs)).to.deep.equal(merged);
  });

  it('keeps members of JSON that mine changed, added or removed', () => {
    const before = { Protocol: 'http', Mode: 'a', Gone: 1, Same: { x: 1 } };
    const mine = { Protocol: 'grpc', Mode: 'a', Same: { x: 1 }, New: [2] };
    const theirs = { Protocol: 'tcp', Mode: 'b', Gone: 1, Same: { x: 1 }, Theirs: true };
    const merged = { Protocol: 'grpc', Mode: 'b', Same: { x: 1 }, Theirs: true, New: [2] };
    expect(JSON.parse(entryOf(before, mine, theirs))).to.deep.equal(merged);
  });

  it('removes what theirs removed and mine left alone', () => {
    expect(JSON.parse(entryOf({ a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1 }))).to.deep.equal({ a: 2 });
  });

  it('keeps the text of mine where it is no JSON object', () => {
    expect(entryOf('{}', '{ "a": ', '{"b":1}')).to.equal('{ "a": ');
    expect(entryOf({}, '[1]', { b: 1 })).to.equal('[1]');
  });
});
