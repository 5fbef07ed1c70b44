import { expect } from 'chai';
import { Deadlines } from '../../../src/replica/deadlines.js';
import { Watches } from '../../../src/replica/reads/watches.js';
import { FakeClock } from '../fakes.js';

function build() {
  const clock = new FakeClock();
  return { clock, watches: new Watches(clock, new Deadlines(clock)), seen: [] as string[] };
}

describe('replica: the set of watches', () => {
  it('wakes the watchers of a changed key once, and no others', () => {
    const { clock, watches, seen } = build();
    watches.watch(['a', 'b'], () => seen.push('ab'));
    watches.watch(['c'], () => seen.push('c'));
    watches.changed(['b']);
    watches.changed(['a', 'b']);
    clock.settle();
    expect(seen).to.deep.equal(['ab']);
    expect(watches.size).to.equal(1);
    watches.changed(['a']);
    clock.settle();
    expect(seen).to.deep.equal(['ab']);
  });

  it('a cancelled watch is not woken, even if it was about to be', () => {
    const { clock, watches, seen } = build();
    const before = watches.watch(['a'], () => seen.push('before'));
    const between = watches.watch(['a'], () => seen.push('between'));
    before();
    watches.changed(['a']);
    between();
    between();
    clock.settle();
    expect(seen).to.deep.equal([]);
    expect(watches.size).to.equal(0);
  });

  it('wakes each of those that wait for the same keys, but not who has left', () => {
    const { clock, watches, seen } = build();
    const watch = (keys: string[], name: string) => watches.watch(keys, () => seen.push(name));
    watch(['a', 'b'], 'one');
    const leave = watch(['a', 'b'], 'two');
    watch(['a', 'c'], 'other');
    watch(['a', 'b'], 'three');
    watch(['a'], 'fewer');
    leave();
    leave();
    expect(watches.size).to.equal(4);
    watches.changed(['b']);
    clock.settle();
    expect(seen).to.deep.equal(['one', 'three']);
    watches.changed(['a']);
    clock.settle();
    expect(seen).to.deep.equal(['one', 'three', 'other', 'fewer']);
    expect(watches.size).to.equal(0);
  });

  it('wakes a watch for keys that others have waited for and left', () => {
    const { clock, watches, seen } = build();
    watches.watch(['a', 'c'], () => seen.push('stays'));
    watches.watch(['a', 'b'], () => seen.push('gone'))();
    watches.watch(['a', 'b'], () => seen.push('first'));
    watches.changed(['b']);
    watches.watch(['a', 'b'], () => seen.push('second'));
    clock.settle();
    watches.changed(['b']);
    clock.settle();
    expect(seen).to.deep.equal(['first', 'second']);
    expect(watches.size).to.equal(1);
  });

  it('a watch set while others are woken waits for the next change', () => {
    const { clock, watches, seen } = build();
    watches.watch(['a'], () => {
      seen.push('first');
      watches.watch(['a'], () => seen.push('again'));
    });
    watches.changed(['a']);
    clock.settle();
    expect(seen).to.deep.equal(['first']);
    watches.changed(['a']);
    clock.settle();
    expect(seen).to.deep.equal(['first', 'again']);
  });

  it('holds ten thousand watches on one timer, and wakes them in slices of time', () => {
    const { clock, watches } = build();
    let woken = 0;
    const wake = () => {
      woken++;
      clock.nowMs += 0.1;
    };
    const until = clock.now() + 60_000;
    for (let i = 0; i < 10_000; i++) watches.watch(['hot', `own-${i}`], wake, until);
    expect([watches.size, clock.timers]).to.deep.equal([10_000, 1]);
    watches.changed(['hot']);
    expect(woken).to.equal(0);
    clock.turn();
    expect(woken, 'in one slice of 5 ms').to.be.within(40, 60);
    clock.settle();
    expect([woken, watches.size]).to.deep.equal([10_000, 0]);
  });

  it('wakes a watch at its deadline or for a change, whichever comes first, and once', () => {
    const { clock, watches, seen } = build();
    const until = clock.now() + 100;
    watches.watch(['a'], () => seen.push('changed'), until);
    watches.watch(['b'], () => seen.push('late'), until);
    watches.watch([], () => seen.push('no key'), until);
    watches.watch(['b'], () => seen.push('cancelled'), until)();
    watches.changed(['a']);
    clock.settle();
    expect(seen).to.deep.equal(['changed']);
    clock.advance(160);
    watches.changed(['a', 'b']);
    clock.advance(160);
    expect(seen).to.deep.equal(['changed', 'late', 'no key']);
    expect([watches.size, clock.timers]).to.deep.equal([0, 0]);
  });

  it('wakes all watches when a snapshot was installed', () => {
    const { clock, watches, seen } = build();
    watches.watch(['a'], () => seen.push('a'));
    watches.watch(['b', 'c'], () => seen.push('bc'));
    watches.wakeAll();
    clock.settle();
    expect(seen).to.deep.equal(['a', 'bc']);
  });
});
