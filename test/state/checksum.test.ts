import { expect } from 'chai';
import { Checksums } from '../../src/state/checksum.js';
import { MapStore } from './store.js';

describe('checksum', () => {
  it('has the same text whatever the order in which the tables came', () => {
    const text = (...tables: string[]): string =>
      JSON.stringify(Checksums.of(new MapStore(tables.map((table) => [table, '1']))));
    expect(text('a', 'b')).to.equal(text('b', 'a'));
    const sums = new Checksums();
    sums.change('b', undefined, '1');
    sums.change('a', undefined, '1');
    expect(JSON.stringify(sums)).to.equal(text('a', 'b'));
    expect(JSON.stringify(Checksums.from({ b: '01', a: '01' }))).to.equal('{"a":"01","b":"01"}');
  });

  it('differs if one value differs, and leaves out local data', () => {
    const sums = (entries: [string, string][]) => Checksums.of(new MapStore(entries)).toJSON();
    expect(sums([['policy\u0000a', '1']])).not.to.deep.equal(sums([['policy\u0000a', '2']]));
    expect(sums([['local\u0000a', '1']])).to.deep.equal({});
  });

  it('does not collide if key and value or two entries are swapped', () => {
    const sumOf = (...entries: [string, string][]) => Checksums.of(new MapStore(entries)).toJSON();
    const seen = new Set<string>();
    for (let n = 0; n < 20_000; n++) seen.add(sumOf([`t\u0000${n}`, '1'])['t']!.slice(0, 8));
    expect(seen.size).to.be.greaterThan(19_980);
    expect(sumOf(['t\u0000ab', 'c'])).not.to.deep.equal(sumOf(['t\u0000a', 'bc']));
    const there = sumOf(['t\u0000a', '1'], ['t\u0000b', '2']);
    expect(sumOf(['t\u0000a', '2'], ['t\u0000b', '1'])).not.to.deep.equal(there);
  });

  it('has a format that never changes, since states contain it', () => {
    const sums = Checksums.of(new MapStore([['t\u0000key', 'value']]));
    expect(sums.toJSON()).to.deep.equal({ t: 'f86d42ddf3c0d4ee' });
    expect(Checksums.from(sums.toJSON()).toJSON()).to.deep.equal(sums.toJSON());
  });
});
