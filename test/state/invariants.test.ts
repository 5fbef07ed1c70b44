/** Each invariant of the state, with what breaks it. */
import { expect } from 'chai';
import { Checkpoints } from '../../src/state/checkpoints.js';
import { Overlay } from '../../src/state/draft.js';
import { LEVEL_KEY } from '../../src/state/levels.js';
import { Machine } from '../../src/state/machine.js';
import { handlers, putEntry } from './puts.js';
import { MapStore } from './store.js';

function takenDraft(): Overlay {
  const draft = new Overlay(new MapStore());
  draft.put('a', '1');
  draft.changes();
  return draft;
}

const CASES: readonly (readonly [broken: string, breaks: () => unknown])[] = [
  ['a draft is committed twice (changes 1)', () => takenDraft().changes()],
  ['a draft is discarded after its commit (undo 1, changes 1)', () => takenDraft().discard()],
  ['a draft is changed after its commit (changes 1)', () => takenDraft().put('b', '2')],
  ['a draft is changed after its commit (changes 1)', () => takenDraft().del('a')],
  [
    'a checkpoint before the newest one (index 4, newest 4)',
    () => {
      const checkpoints = new Checkpoints();
      for (const index of [2, 4, 4]) checkpoints.remember({ index, sums: {} });
    },
  ],
  [
    'the term of an entry falls (index 2, term 1, before 5)',
    () => {
      const machine = new Machine(new MapStore(), handlers);
      machine.apply([{ ...putEntry(1, 'a', '1'), term: 5 }, putEntry(2, 'a', '2')]);
    },
  ],
  [
    'the level falls (from 3, to 2)',
    () => {
      const store = new MapStore([[LEVEL_KEY, '{"Level":3,"Index":1}']]);
      const machine = new Machine(store, handlers, 3);
      store.map.set(LEVEL_KEY, '{"Level":2,"Index":1}');
      machine.reload();
    },
  ],
];

describe('the invariants of the state', () => {
  for (const [broken, breaks] of CASES)
    it(broken, () => expect(breaks).to.throw(`invariant broken: ${broken}`));
});
