import { expect } from 'chai';
import fc from 'fast-check';
import { ArrayReader, readPage } from '../../src/ui/lists/array-reader.js';
import { filterOf } from '../../src/ui/lists/filter.js';

/** A stream of a text in parts of these many bytes, and whether it was cancelled. */
function streamOf(text: string, size: number) {
  const bytes = new TextEncoder().encode(text);
  const seen = { sent: 0, isCancelled: false };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (seen.sent >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(seen.sent, seen.sent + size));
      seen.sent += size;
    },
    cancel() {
      seen.isCancelled = true;
    },
  });
  return { body, seen };
}

describe('ui: the reader of long lists', () => {
  it('finds the items wherever the text is cut', () => {
    const items = fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { maxLength: 6 });
    fc.assert(
      fc.property(items, fc.array(fc.nat(40)), fc.boolean(), (all, cuts, isPretty) => {
        const reader = new ArrayReader();
        let rest = JSON.stringify(all, null, isPretty ? 2 : 0);
        const found: unknown[] = [];
        for (const cut of cuts) {
          found.push(...reader.push(rest.slice(0, cut)));
          rest = rest.slice(cut);
        }
        found.push(...reader.push(rest));
        expect(found).to.deep.equal(JSON.parse(JSON.stringify(all)));
      }),
    );
  });

  it('skips to a page, and ends the request once it knows that there is more', async () => {
    const all = Array.from({ length: 5000 }, (_, at) => ({ Name: `é${at}` }));
    const { body, seen } = streamOf(JSON.stringify(all), 100);
    const page = await readPage<{ readonly Name: string }>(body, { from: 100, size: 50 });
    expect(page.items.map(({ Name }) => Name)).to.deep.equal(
      all.slice(100, 150).map(({ Name }) => Name),
    );
    expect(page.hasMore).to.equal(true);
    expect(seen.isCancelled).to.equal(true);
    expect(seen.sent).to.be.below(4000);
  });

  it('reads to the end of a list that is shorter', async () => {
    const { body } = streamOf('[{"a":1},{"a":"]}"}]', 3);
    expect(await readPage(body, { from: 1, size: 50 })).to.deep.equal({
      items: [{ a: ']}' }],
      skipped: 1,
      hasMore: false,
    });
    expect(await readPage(streamOf('[{},{}]', 1).body, { from: 9, size: 50 })).to.deep.equal({
      items: [],
      skipped: 2,
      hasMore: false,
    });
  });

  it('lets the page do other things meanwhile, and says how far it has come', async () => {
    const text = JSON.stringify(Array.from({ length: 1000 }, (_, at) => ({ at })));
    const chunk = 100;
    const told: number[] = [];
    let turns = 0;
    let isRead = false;
    const other = (): void => {
      turns += 1;
      if (!isRead) setImmediate(other);
    };
    setImmediate(other);
    let nowMs = 0;
    const onSkipped = (count: number): unknown => told.push(count);
    const part = { from: 990, size: 50, onSkipped };
    await readPage(streamOf(text, chunk).body, part, () => (nowMs += 5));
    isRead = true;
    // Each look at the clock takes 5 ms, so every third chunk is beyond 12 ms.
    expect(told).to.have.length(Math.floor(Math.ceil(text.length / chunk) / 3));
    expect(told).to.deep.equal([...told].sort((a, b) => a - b));
    expect(turns).to.be.at.least(told.length);
  });
});

describe('ui: the filter', () => {
  it('looks for a word in every member', () => {
    expect(filterOf('  ', ['Name'])).to.equal(undefined);
    expect(filterOf('web', ['Name', 'Description'])).to.equal(
      '"web" in Name or "web" in Description',
    );
  });

  it('takes a word as it is, whatever it means elsewhere', () => {
    expect(filterOf('a.b"c\\', ['Name'])).to.equal('"a.b\\x22c\\\\" in Name');
  });

  it('passes an expression on', () => {
    for (const typed of ['Name == "web"', '"x" in Name', 'Policies is not empty'])
      expect(filterOf(typed, ['Name'])).to.equal(typed);
  });
});
