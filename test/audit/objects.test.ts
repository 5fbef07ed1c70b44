import { expect } from 'chai';
import fc from 'fast-check';
import { type ChangedObject, changedObjects } from '../../src/audit/objects.js';
import { differences } from '../../src/service/change/diff.js';
import { linesAt } from '../../src/state/history/lines.js';
import { RecentLines } from '../../src/state/history/recent.js';
import { objectKeyOf, placeOfLine } from '../../src/state/history/records.js';
import { putForm } from '../../src/state/put-form.js';
import { tableOfType } from '../../src/state/refs.js';
import { Recorded } from '../state/history/random-history.js';

const none = new RecentLines();
none.begin(Number.MAX_SAFE_INTEGER);

describe('the objects of an audit record', () => {
  it('are the same, whether they are in memory or read, with all that differs', () => {
    let compared = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), (seed) => {
        const recorded = new Recorded();
        const { machine, store: view } = recorded;
        machine.onChanged(() => {
          const index = machine.appliedIndex();
          const shown = changedObjects({ view, recent: machine.recent }, index, true);
          expect(shown).to.deep.equal(changedObjects({ view, recent: none }, index, true));
          const lines = linesAt(view, index);
          for (const [at, text] of shown.objects.entries()) {
            const { changes, action } = JSON.parse(text) as ChangedObject;
            const { content } = lines[at]!;
            if (changes === undefined || action !== 'update' || content === undefined) continue;
            const place = placeOfLine(lines[at]!);
            const table = tableOfType(place.type)!;
            const form = (text: string) => putForm(view, table, JSON.parse(text), { ids: true });
            const [before, after] = [content, view.get(objectKeyOf(place))!].map(form);
            const paths = differences(table, before, after).map(({ Path }) => Path);
            expect(changes.map(({ path }) => path)).to.deep.equal(paths);
            compared += 1;
          }
        });
        recorded.run(seed, 60);
      }),
      { numRuns: 20 },
    );
    expect(compared).to.be.greaterThan(20);
  });
});
