/** The keys of a state in memory. */
import { expect } from 'chai';
import fc from 'fast-check';
import { tableOf } from '../../src/state/checksum.js';
import { groupOf } from '../../src/state/groups.js';
import { crcOf } from '../../src/storage/crc.js';
import { Tally } from '../../src/storage/key-index.js';
import { StateKeys } from '../../src/storage/state-keys.js';

const NUL = '\u0000';
const key = fc.constantFrom(
  ...[
    'level',
    'role',
    `role${NUL}a`,
    `role${NUL}b`,
    `role-name${NUL}a`,
    'role\u0001',
    '\uffff',
    '𝄞',
  ],
  ...[`config${NUL}n${NUL}k${NUL}a`, `config${NUL}n${NUL}k${NUL}b`, `config${NUL}n${NUL}kk${NUL}a`],
  ...[`config${NUL}m${NUL}k${NUL}a`, `config${NUL}m`, 'config', `request${NUL}1`],
);
const prefix = fc.oneof(
  key,
  fc.constantFrom('', 'r', `role${NUL}`, 'config', `config${NUL}`, `config${NUL}n${NUL}`),
  fc.constantFrom(`config${NUL}n${NUL}k`, `config${NUL}n${NUL}k${NUL}`, `none${NUL}`),
);
const below = (keys: Iterable<string>, start: string, after = ''): string[] =>
  [...keys].filter((one) => one.startsWith(start) && one > after).sort();

const inTable = (keys: Iterable<string>, table: string): number =>
  [...keys].filter((one) => tableOf(one) === table).length;

describe('keys of a state', () => {
  it('agree with a Set under any sequence of calls', () => {
    const step = fc.oneof(
      fc.record({ what: fc.constant('add' as const), key }),
      fc.record({ what: fc.constant('delete' as const), key }),
      fc.record({ what: fc.constant('list' as const), prefix, after: fc.option(key) }),
      fc.record({ what: fc.constant('freeze' as const), prefix, after: fc.option(key) }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(key), fc.array(step, { maxLength: 40 }), (loaded, steps) => {
        const keys = new StateKeys(loaded);
        const model = new Set(loaded);
        const frozen: (() => void)[] = [];
        for (const one of steps) {
          if (one.what === 'add') {
            keys.add(one.key);
            model.add(one.key);
          } else if (one.what === 'delete') {
            keys.delete(one.key);
            model.delete(one.key);
          } else {
            const after = one.after ?? undefined;
            const expected = below(model, one.prefix, after);
            if (one.what === 'list') {
              expect([...keys.keys(one.prefix, after)]).eql(expected);
            } else {
              const list = keys.frozen();
              frozen.push(() => expect([...list(one.prefix, after)]).eql(expected));
            }
          }
          const tally = new Tally();
          for (const each of model) tally.add(crcOf(each));
          expect(keys.tally.equals(tally)).to.equal(true);
          for (const each of loaded) expect(keys.has(each)).to.equal(model.has(each));
        }
        for (const [group, count] of keys.counts())
          if (!group.includes(NUL)) expect(count).to.equal(inTable(model, group));
        for (const check of frozen) check();
        const groups = new Set([...model].map(groupOf));
        for (const one of groups) expect(keys.mayHave(one)).to.equal(true);
        for (const one of ['none', 'role', 'request', `config${NUL}n${NUL}k`])
          expect(keys.mayHave(one)).to.equal(groups.has(one));
        for (const each of ['role', `config${NUL}n${NUL}k${NUL}a`, `none${NUL}`])
          expect(keys.has(each)).to.equal(model.has(each));
      }),
    );
  });

  it('of one table may be read while those of another are iterated', () => {
    const keys = new StateKeys(['a', 'b', 'c'].map((name) => `one${NUL}${name}`));
    for (let at = 0; at < 300; at++) keys.add(`two${NUL}${at}`);
    const seen: string[] = [];
    for (const each of keys.keys('')) {
      seen.push(each);
      for (const _ of keys.keys(`two${NUL}`)) break;
    }
    expect(seen.length).to.equal(303);
  });

  it('stay in order however many are added before anybody asks', () => {
    const keys = new StateKeys();
    const names = Array.from({ length: 10_000 }, (_, at) => `t${NUL}${(at * 7919) % 10_007}`);
    for (const name of names) keys.add(name);
    for (const name of names.slice(0, 5000)) keys.delete(name);
    expect([...keys.keys(`t${NUL}`)]).eql(below(new Set(names.slice(5000)), ''));
  });

  it('are ordered in steps if many of a table have changed, whatever changes meanwhile', () => {
    const names = Array.from({ length: 3000 }, (_, at) => `t${NUL}${(at * 7919) % 10_007}`);
    const keys = new StateKeys(names.slice(0, 1000).sort());
    for (const name of names.slice(1000)) keys.add(name);
    keys.add(`few${NUL}a`);
    let steps = 0;
    for (const _ of keys.order()) {
      keys.delete(names[steps]!);
      keys.delete(names[2999 - steps]!);
      keys.add(names[steps]!);
      steps += 1;
    }
    expect(steps).to.be.within(5, 10);
    expect([...keys.order()]).eql([]);
    expect([...keys.keys(`t${NUL}`)]).eql(below(new Set(names.slice(0, 3000 - steps)), ''));
  });
});
