/** What two people typed into one object. */
import { expect } from 'chai';
import type { Field } from '../../src/ui/objects/fields.js';
import { type Merged, mergeForms } from '../../src/ui/objects/merge.js';

const fieldOf = (key: string, type: Field['control']['type']): Field =>
  ({ key, label: key, initial: '', control: { type } }) as Field;
const FIELDS = [fieldOf('Name', 'text'), fieldOf('Description', 'text'), fieldOf('Entry', 'json')];

/** Merges the entries of three objects, or of texts. */
function merge(before: unknown, mine: unknown, theirs: unknown, theirsAt: string[] = []): Merged {
  const textOf = (value: unknown): string =>
    typeof value === 'string' ? value : JSON.stringify(value);
  const [old, own, other] = [before, mine, theirs].map((value) => ({ Entry: textOf(value) }));
  const versions = { before: old!, mine: own!, theirs: other! };
  return mergeForms(FIELDS, versions, new Set(theirsAt));
}

const entryOf = (...texts: Parameters<typeof merge>): string => merge(...texts).form['Entry']!;

/** Merges texts of one field; undefined if they collide. */
function fieldTextOf(type: Field['control']['type'], ...texts: readonly string[]) {
  const [before, mine, theirs] = texts.map((text) => ({ Field: text }));
  const versions = { before: before!, mine: mine!, theirs: theirs! };
  const { form, collisions } = mergeForms([fieldOf('Field', type)], versions);
  return collisions.length > 0 ? undefined : form['Field'];
}

describe('ui: a merge', () => {
  it('keeps the fields that mine changed, and takes all others from theirs', () => {
    const before = { Name: 'a', Description: 'old', Entry: '{}' };
    const mine = { ...before, Description: 'mine' };
    const theirs = { ...before, Name: 'b', Description: 'theirs' };
    const merged = { Name: 'b', Description: 'mine', Entry: '{}' };
    const { form, collisions } = mergeForms(FIELDS, { before, mine, theirs });
    expect(form).to.deep.equal(merged);
    expect(collisions.map(({ at }) => at)).to.deep.equal(['Description']);
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

  it('goes into members, and says where both changed the same in different ways', () => {
    const before = { A: { x: 1, y: 1 }, B: 1, C: 1 };
    const mine = { A: { x: 2, y: 1 }, B: 2, C: 2 };
    const theirs = { A: { x: 1, y: 3, z: 4 }, B: 2, C: 3 };
    const { form, collisions } = merge(before, mine, theirs);
    expect(JSON.parse(form['Entry']!)).to.deep.equal({ A: { x: 2, y: 3, z: 4 }, B: 2, C: 2 });
    expect(collisions).to.deep.equal([{ at: 'Entry.C', label: 'C', mine: '2', theirs: '3' }]);
    const other = entryOf(before, mine, theirs, ['Entry.C']);
    expect(JSON.parse(other)).to.include({ C: 3 });
  });

  it('has the links that either added, and none that either removed', () => {
    expect(fieldTextOf('links', 'a\nb\nc', 'a\nb\nmine', 'b\nc\ntheirs')).to.equal(
      'b\ntheirs\nmine',
    );
  });

  it('has the rules of both where they are apart, and collides where they are not', () => {
    const block = (name: string, level: string): string =>
      `service "${name}" {\n  policy = "${level}"\n}\n`;
    const rules = (...levels: readonly string[]): string =>
      levels.map((level, nth) => block(`s${nth}`, level)).join('\n');
    const mine = rules('write', 'read', 'read');
    const theirs = rules('read', 'read', 'deny');
    const merged = fieldTextOf('rules', rules('read', 'read', 'read'), mine, theirs);
    expect(merged).to.equal(rules('write', 'read', 'deny'));
    expect(fieldTextOf('rules', rules('read'), rules('write'), rules('deny'))).to.equal(undefined);
    const [longer, shorter] = [rules('read', 'read', 'write'), rules('read')];
    expect(fieldTextOf('rules', rules('read', 'read'), longer, shorter)).to.equal(undefined);
    const head = `# mine\n${rules('read', 'read')}`;
    const last = rules('read', 'read', 'write');
    expect(fieldTextOf('rules', rules('read', 'read'), head, last)).to.equal(`# mine\n${last}`);
  });
});
