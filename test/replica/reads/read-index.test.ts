import { expect } from 'chai';
import { Deadlines } from '../../../src/replica/deadlines.js';
import { AppliedIndex } from '../../../src/replica/reads/applied-index.js';
import { type BarrierMode, ReadIndexClient } from '../../../src/replica/reads/read-index.js';
import { FakeClock } from '../fakes.js';

type IndexRequest = { mode: BarrierMode; done: (index: number | undefined) => void };

function build() {
  const clock = new FakeClock();
  const state = { applied: 0, retries: 0 };
  const all = new Deadlines(clock);
  const deadlines: number[] = [];
  const requests: IndexRequest[] = [];
  const applied = new AppliedIndex(() => state.applied);
  const barriers: ReadIndexClient = new ReadIndexClient({
    id: 'a',
    limits: { askMs: 500 },
    loop: {
      role: { role: 'leader', term: 1, leader: 'a' },
      read: (mode, done) =>
        requests.push({ mode: mode === 'lease' ? 'default' : 'consistent', done }),
      wake: () => clock.soon(() => barriers.drain()),
    },
    rpc: { callLeader: () => {} },
    applied,
    clock,
    deadlines: {
      at: (atMs, run) => {
        deadlines.push(atMs);
        return all.at(atMs, run);
      },
    },
    retryLater: () => {
      state.retries += 1;
    },
  });
  const results: string[] = [];
  const wait = (name: string, mode: BarrierMode = 'default', timeoutMs = 1000): void =>
    barriers.wait(mode, timeoutMs, (passed) => results.push(`${name} ${passed}`));
  const apply = (index: number): void => {
    state.applied = index;
    applied.reached(index);
  };
  return { clock, state, requests, barriers, results, deadlines, wait, apply };
}

describe('replica: a node that asks for a read index', () => {
  it('one request serves all readers of a turn, who read once its index is applied here', () => {
    const { clock, requests, wait, results, apply } = build();
    wait('one');
    wait('two');
    clock.settle();
    expect(requests.map(({ mode }) => mode)).to.deep.equal(['default']);
    requests[0]!.done(5);
    expect(results).to.deep.equal([]);
    apply(4);
    expect(results).to.deep.equal([]);
    apply(5);
    expect(results).to.deep.equal(['one true', 'two true']);
  });

  it('§6.4 a reader that arrives after the request shares the next one', () => {
    const { clock, requests, wait, results } = build();
    wait('early');
    clock.settle();
    wait('late');
    wait('later');
    clock.settle();
    expect(requests).to.have.length(1);
    requests[0]!.done(0);
    clock.settle();
    expect(results).to.deep.equal(['early true']);
    expect(requests).to.have.length(2);
    requests[1]!.done(0);
    expect(results).to.deep.equal(['early true', 'late true', 'later true']);
  });

  it('readers share a barrier, unless their modes or timeouts differ or one comes late', () => {
    const { clock, wait, deadlines } = build();
    const start = clock.now();
    wait('one');
    wait('other mode', 'consistent');
    clock.nowMs += 49;
    wait('shares');
    wait('other timeout', 'default', 500);
    wait('shares this', 'default', 500);
    clock.nowMs += 50;
    wait('late', 'default', 500);
    const within = deadlines.map((atMs) => atMs - start);
    expect(within).to.deep.equal([1050, 1050, 599, 649]);
  });

  it('no reader that joins a barrier waits for less than it asked for', () => {
    const { clock, wait, results } = build();
    const start = clock.now();
    wait('one', 'default', 100);
    clock.nowMs += 49;
    wait('two', 'default', 100);
    while (results.length < 2) {
      clock.advance(1);
      if (results.length > 0) expect(clock.now() - start).to.be.at.least(149);
    }
    expect(results).to.deep.equal(['one false', 'two false']);
  });

  it('requests an index for each mode independently', () => {
    const { clock, requests, wait } = build();
    wait('a');
    wait('b', 'consistent');
    clock.settle();
    expect(requests.map(({ mode }) => mode)).to.deep.equal(['default', 'consistent']);
  });

  it('asks the next leader once if the first one returned no index', () => {
    const { clock, requests, wait, results, barriers, state } = build();
    wait('a');
    clock.settle();
    requests[0]!.done(undefined);
    clock.settle();
    expect([requests.length, state.retries]).to.deep.equal([1, 1]);
    wait('b');
    clock.settle();
    expect(requests).to.have.length(1);
    barriers.retry(true);
    clock.settle();
    expect(requests).to.have.length(2);
    requests[1]!.done(0);
    expect(results).to.deep.equal(['a true', 'b true']);
  });

  it('ignores the response of a leader that was deposed meanwhile', () => {
    const { clock, requests, wait, results, barriers } = build();
    wait('a');
    clock.settle();
    barriers.retry(true);
    clock.settle();
    requests[0]!.done(0);
    expect(results).to.deep.equal([]);
    requests[1]!.done(0);
    expect(results).to.deep.equal(['a true']);
  });

  it('retrying a failed request leaves a request in flight alone', () => {
    const { clock, requests, wait, results, barriers } = build();
    wait('a');
    clock.settle();
    barriers.retry(false);
    clock.settle();
    expect(requests).to.have.length(1);
    requests[0]!.done(0);
    expect(results).to.deep.equal(['a true']);
  });

  it('ends at the deadline, before and after the response, and only once', () => {
    const { clock, requests, wait, results, apply } = build();
    wait('unanswered', 'default', 100);
    clock.advance(210);
    expect(results).to.deep.equal(['unanswered false']);
    requests[0]!.done(3);
    wait('unapplied', 'default', 100);
    clock.settle();
    requests[1]!.done(9);
    clock.advance(210);
    apply(9);
    expect(results).to.deep.equal(['unanswered false', 'unapplied false']);
  });
});

describe('replica: deadlines', () => {
  it('thousands of deadlines need one timer; none fires early, and all fire', () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock);
    const late: number[] = [];
    for (let i = 0; i < 5000; i++) {
      const atMs = clock.now() + (i % 500);
      deadlines.at(atMs, () => late.push(clock.now() - atMs));
    }
    expect(clock.timers).to.equal(1);
    clock.advance(600);
    expect(late).to.have.length(5000);
    expect(Math.min(...late)).to.be.at.least(0);
    expect(clock.timers).to.equal(0);
  });

  it('a cancelled deadline does not fire, and a jump in time fires all that are due', () => {
    const clock = new FakeClock();
    const deadlines = new Deadlines(clock);
    const seen: string[] = [];
    const cancel = deadlines.at(clock.now() + 100, () => seen.push('cancelled'));
    deadlines.at(clock.now() + 100, () => seen.push('first'));
    deadlines.at(clock.now() + 5000, () => seen.push('second'));
    cancel();
    clock.nowMs += 60_000;
    clock.fireTimers();
    expect(seen).to.deep.equal(['first', 'second']);
  });
});
