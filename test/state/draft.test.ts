import { expect } from 'chai';
import fc from 'fast-check';
import { Overlay } from '../../src/state/draft.js';
import { groupOf } from '../../src/state/groups.js';
import { MapStore } from './store.js';

const key = fc.constantFrom('a', 'a\0b', 'a\0c', 'ab', 'b', 'b\0a', '__proto__');
const change = fc.record({ key, value: fc.option(fc.constantFrom('1', '2'), { nil: undefined }) });

describe('draft', () => {
  it('shows the state as it will be after its commit, and does not change it before', () => {
    const changes = fc.array(change, { maxLength: 12 });
    const prefix = fc.constantFrom('', 'a', 'a\0', 'b', 'x');
    fc.assert(
      fc.property(changes, changes, prefix, fc.option(key), (before, made, start, after) => {
        const store = new MapStore();
        store.commit(before.map((one) => [one.key, one.value] as const));
        const model = new MapStore(store.map);
        const draft = new Overlay(store);
        for (const one of made) {
          if (one.value === undefined) draft.del(one.key);
          else draft.put(one.key, one.value);
          model.commit([[one.key, one.value]]);
        }
        const from = after ?? undefined;
        expect([...draft.keys(start, from)]).to.deep.equal([...model.keys(start, from)]);
        for (const one of made) expect(draft.get(one.key)).to.equal(model.get(one.key));
        const untouched = new MapStore(store.map);
        const changes = draft.changes();
        expect(store.map).to.deep.equal(untouched.map);
        for (const [changed, value] of changes) expect(store.get(changed)).not.to.equal(value);
        store.commit(changes);
        expect(new Map([...store.map].sort())).to.deep.equal(new Map([...model.map].sort()));
      }),
    );
  });

  it('makes a value into text when somebody reads it, and at the commit', () => {
    const draft = new Overlay(new MapStore());
    let asked = 0;
    const counter = {
      get text(): string {
        asked += 1;
        return `${asked}`;
      },
    };
    draft.put('a', counter);
    draft.accept();
    draft.put('a', counter);
    expect(draft.peek('a')).to.equal(counter);
    expect([...draft.keys('')]).to.deep.equal(['a']);
    expect(asked).to.equal(0);
    expect(draft.get('a')).to.equal('1');
    expect(draft.changes()).to.deep.equal([['a', '2']]);
  });

  it('holds the changes of the commands that were accepted, and not those of others', () => {
    const command = fc.record({
      changes: fc.array(change, { maxLength: 4 }),
      isRefused: fc.boolean(),
    });
    const prefix = fc.constantFrom('', 'a', 'a\0', 'b', 'x');
    const before = fc.array(change, { maxLength: 8 });
    fc.assert(
      fc.property(before, fc.array(command), prefix, (present, commands, start) => {
        const store = new MapStore();
        store.commit(present.map((one) => [one.key, one.value] as const));
        const model = new MapStore(store.map);
        const draft = new Overlay(store);
        for (const { changes, isRefused } of commands) {
          const past = new MapStore(model.map);
          for (const one of changes) {
            if (one.value === undefined) draft.del(one.key);
            else draft.put(one.key, one.value);
            model.commit([[one.key, one.value]]);
          }
          expect([...draft.keys(start)]).to.deep.equal([...model.keys(start)]);
          const visited = new Map<string, readonly unknown[]>();
          if (isRefused) {
            draft.discard();
            model.map.clear();
            for (const [key, value] of past.map) model.map.set(key, value);
          } else draft.accept((key, was, is) => visited.set(key, [was, is]));
          expect([...draft.keys(start)]).to.deep.equal([...model.keys(start)]);
          for (const one of model.map.keys()) expect(draft.mayHave(groupOf(one))).to.equal(true);
          for (const { key } of changes) {
            const [was, is] = [past.get(key), model.get(key)];
            expect(visited.get(key)).to.deep.equal(was === is ? undefined : [was, is]);
          }
        }
        store.commit(draft.changes());
        expect(new Map([...store.map].sort())).to.deep.equal(new Map([...model.map].sort()));
      }),
    );
  });

  it('may be changed while its keys are iterated', () => {
    const store = new MapStore([
      ['a', '1'],
      ['b', '1'],
      ['c', '1'],
    ]);
    const draft = new Overlay(store);
    const walked: string[] = [];
    for (const at of draft.keys('')) {
      walked.push(at);
      draft.del(at);
      draft.put('c', '2');
    }
    expect(walked).to.deep.equal(['a', 'b', 'c']);
    expect([...draft.keys('')]).to.deep.equal(['c']);
  });
});
