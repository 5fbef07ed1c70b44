import { expect } from 'chai';
import fc from 'fast-check';
import type { Action, Operation, Sweep, Value } from '../../cluster/checker/history.js';
import { checkHistory } from '../../cluster/checker/linearizability.js';

type Rest = Partial<Pick<Operation, 'outcome' | 'seen' | 'matched' | 'client' | 'key'>>;
const op = (call: number, end: number, action: Action, rest: Rest = {}): Operation => ({
  client: 'c',
  key: 'k',
  outcome: 'ok',
  action,
  call,
  return: end,
  ...rest,
});
const write = (call: number, end: number, value: Value, rest: Rest = {}): Operation =>
  op(call, end, { type: 'write', value }, rest);
const read = (call: number, end: number, seen: Value, rest: Rest = {}): Operation =>
  op(call, end, { type: 'read' }, { seen, ...rest });
const cas = (
  call: number,
  end: number,
  expected: Value,
  value: Value,
  matched: boolean,
  rest: Rest = {},
): Operation => op(call, end, { type: 'cas', expected, value }, { matched, ...rest });
const verdict = (...history: Operation[]): string => checkHistory(history).result;

describe('linearizability checker', () => {
  describe('accepts', () => {
    it('an empty history', () => expect(verdict()).to.equal('linearizable'));
    it('reads that follow writes', () =>
      expect(verdict(read(0, 1, null), write(2, 3, 'a'), read(4, 5, 'a'))).to.equal(
        'linearizable',
      ));
    it('either value while a write is under way', () => {
      expect(verdict(write(0, 10, 'a'), read(1, 2, null), read(3, 4, 'a'))).to.equal(
        'linearizable',
      );
    });
    it('concurrent writes in the order that the reads demand', () => {
      expect(
        verdict(write(0, 10, 'a'), write(0, 10, 'b'), read(11, 12, 'a'), read(13, 14, 'a')),
      ).to.equal('linearizable');
    });
    it('a write of unknown outcome that shows up late, or never', () => {
      const lost = write(0, 1, 'a', { outcome: 'unknown' });
      expect(verdict(lost, read(5, 6, null), read(50, 51, 'a'))).to.equal('linearizable');
      expect(verdict(lost, read(5, 6, null), read(50, 51, null))).to.equal('linearizable');
    });
    it('a refused compare-and-set that only an unknown write explains', () => {
      expect(
        verdict(
          write(0, 1, 'a'),
          write(2, 3, 'b', { outcome: 'unknown' }),
          cas(4, 5, 'a', 'c', false),
        ),
      ).to.equal('linearizable');
    });
    it('keys that are each in order, though not together', () => {
      expect(
        verdict(
          write(0, 1, 'a', { key: 'x' }),
          read(2, 3, null, { key: 'y' }),
          write(4, 5, 'b', { key: 'y' }),
        ),
      ).to.equal('linearizable');
    });
  });

  describe('refuses', () => {
    it('a lost write', () =>
      expect(verdict(write(0, 1, 'a'), read(2, 3, null))).to.equal('violation'));
    it('a stale read after a newer one', () => {
      expect(
        verdict(write(0, 1, 'a'), write(2, 20, 'b'), read(3, 4, 'b'), read(5, 6, 'a')),
      ).to.equal('violation');
    });
    it('a value that was never written', () =>
      expect(verdict(write(0, 1, 'a'), read(2, 3, 'z'))).to.equal('violation'));
    it('a write that took effect although it was reported as failed', () => {
      expect(verdict(write(0, 1, 'a', { outcome: 'fail' }), read(2, 3, 'a'))).to.equal('violation');
    });
    it('a value from the future', () =>
      expect(verdict(read(0, 1, 'a'), write(2, 3, 'a'))).to.equal('violation'));
    it('two compare-and-sets that both matched the same value', () => {
      expect(
        verdict(write(0, 1, 'a'), cas(2, 9, 'a', 'b', true), cas(2, 9, 'a', 'c', true)),
      ).to.equal('violation');
    });
    it('a compare-and-set refused without a reason', () => {
      expect(verdict(write(0, 1, 'a'), cas(2, 3, 'a', 'b', false))).to.equal('violation');
    });
    it('a write applied twice', () => {
      expect(
        verdict(write(0, 1, 'a'), write(2, 3, 'b'), read(4, 5, 'b'), read(6, 7, 'a')),
      ).to.equal('violation');
    });
    it('and names the operation that cannot be explained', () => {
      const found = checkHistory([write(0, 1, 'a'), read(2, 3, null, { client: 'reader-7' })]);
      expect(found.result).to.equal('violation');
      if (found.result === 'violation') expect(found.explanation.join('\n')).to.contain('reader-7');
    });
  });

  describe('with reads and writes of all registers at once', () => {
    const sweep = (
      call: number,
      end: number,
      type: 'read' | 'write',
      values: Record<string, Value>,
      rest: Partial<Sweep> = {},
    ): Sweep => ({
      ...{ client: 's', outcome: 'ok', type, call, return: end },
      values: new Map(Object.entries(values)),
      ...rest,
    });
    const judged = (history: Operation[], ...sweeps: Sweep[]): string =>
      checkHistory(history, { sweeps }).result;

    it('treats each as an operation on every register', () => {
      const history = [write(0, 1, 'a'), read(6, 7, 'a'), write(8, 9, 'b'), read(12, 13, 'a')];
      const restored = sweep(10, 11, 'write', { k: 'a' });
      expect(judged(history, sweep(2, 3, 'read', { k: 'a' }), restored)).to.equal('linearizable');
      expect(judged(history, sweep(2, 3, 'read', { k: 'z' }), restored)).to.equal('violation');
      expect(judged(history, sweep(2, 3, 'read', {}), restored)).to.equal('violation');
      expect(judged(history, sweep(10, 11, 'write', {}))).to.equal('violation');
    });
    it('refuses a value that was never written to a register, or read before its write', () => {
      expect(judged([], sweep(0, 1, 'read', { x: 'a' }))).to.equal('violation');
      expect(judged([write(5, 6, 'a')], sweep(0, 1, 'read', { k: 'a' }))).to.equal('violation');
      expect(judged([write(5, 6, 'a')], sweep(0, 1, 'read', {}))).to.equal('linearizable');
    });
    it('lets a write of unknown outcome take effect only until its end, if at all', () => {
      const lost = { outcome: 'unknown', until: 10 } as const;
      const emptied = sweep(2, 3, 'write', {}, lost);
      const history = [write(0, 1, 'a'), read(4, 5, 'a'), read(6, 7, 'a')];
      expect(judged([...history, read(8, 9, null)], emptied)).to.equal('linearizable');
      expect(judged([...history, read(12, 13, 'a')], emptied)).to.equal('linearizable');
      expect(judged([...history, read(12, 13, null)], emptied)).to.equal('linearizable');
      const late = [...history, read(11, 12, 'a'), read(13, 14, null)];
      expect(judged(late, emptied)).to.equal('violation');
      expect(judged(late, { ...emptied, until: 11 })).to.equal('linearizable');
    });
    it('ignores a failed one', () => {
      const failed = sweep(2, 3, 'write', {}, { outcome: 'fail' });
      expect(judged([write(0, 1, 'a'), read(4, 5, null)], failed)).to.equal('violation');
      expect(judged([write(0, 1, 'a'), read(4, 5, 'a')], failed)).to.equal('linearizable');
    });
  });

  it('fails instead of passing when the search takes too long', () => {
    const history = Array.from({ length: 12 }, (_, i) => write(0, 100, `v${i}`));
    const reads = [read(101, 102, 'v1'), read(103, 104, 'v2')];
    expect(checkHistory([...history, ...reads], { stepsMax: 1000 }).result).to.equal('undecided');
  });

  it('decides a history with many writes of unknown outcome', () => {
    const lost = Array.from({ length: 25 }, (_, i) =>
      write(i, i + 1, `lost${i}`, { outcome: 'unknown' }),
    );
    const rounds = Array.from({ length: 10 }, (_, i) => [
      write(100 + 10 * i, 101 + 10 * i, `v${i}`),
      cas(102 + 10 * i, 103 + 10 * i, `v${i}`, `w${i}`, false),
    ]).flat();
    expect(verdict(...lost, ...rounds)).to.equal('linearizable');
    expect(verdict(...lost, ...rounds, read(500, 501, 'v3'))).to.equal('violation');
  });

  /** Runs actions one after another on a register and stretches each around its moment. */
  const histories = fc.array(
    fc.record({
      kind: fc.constantFrom('read', 'write', 'cas', 'lost'),
      before: fc.integer({ min: 0, max: 40 }),
      after: fc.integer({ min: 0, max: 40 }),
      expected: fc.integer({ min: 0, max: 30 }),
      happens: fc.boolean(),
    }),
    { maxLength: 60 },
  );
  type Plan = typeof histories extends fc.Arbitrary<infer T> ? T : never;
  function play(plan: Plan): Operation[] {
    let state: Value = null;
    return plan.map((step, i) => {
      const call = i * 10 - step.before;
      const end = i * 10 + step.after + 1;
      if (step.kind === 'read') return read(call, end, state);
      if (step.kind === 'cas') {
        const expected = step.happens ? state : `v${step.expected}`;
        const matched = expected === state;
        if (matched) state = `v${i}`;
        return cas(call, end, expected, `v${i}`, matched);
      }
      const lost = step.kind === 'lost';
      if (!lost || step.happens) state = `v${i}`;
      return write(call, end, `v${i}`, lost ? { outcome: 'unknown' } : {});
    });
  }

  it('accepts every history of a real register, however the calls overlap', () => {
    fc.assert(
      fc.property(histories, (plan) => {
        expect(checkHistory(play(plan)).result).to.equal('linearizable');
      }),
      { numRuns: 300 },
    );
  });

  it('agrees with a brute-force search on small histories', () => {
    const value = fc.constantFrom<Value>(null, 'a', 'b');
    const small = fc.array(
      fc.record({
        kind: fc.constantFrom('read', 'write', 'cas'),
        call: fc.integer({ min: 0, max: 8 }),
        length: fc.integer({ min: 1, max: 5 }),
        first: value,
        second: value,
        matched: fc.boolean(),
        lost: fc.constantFrom('no', 'no', 'for ever', 'until'),
      }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(small, (plan) => {
        const history = plan.map((p): Operation => {
          const end = p.call + p.length;
          if (p.kind === 'read') return read(p.call, end, p.first);
          const rest: Partial<Operation> =
            p.lost === 'no'
              ? {}
              : { outcome: 'unknown', ...(p.lost === 'until' && { until: end }) };
          if (p.kind === 'write') return { ...write(p.call, end, p.first), ...rest };
          return { ...cas(p.call, end, p.first, p.second, p.matched), ...rest };
        });
        expect(checkHistory(history).result === 'linearizable').to.equal(someOrder(history, null));
      }),
      { numRuns: 2000 },
    );
  });
});

/** The definition: is there an order of all answered operations and some of the others? */
function someOrder(rest: readonly Operation[], state: Value, latestCall = 0): boolean {
  const answered = rest.filter((o) => o.outcome === 'ok');
  if (answered.length === 0) return true;
  const firstEnd = Math.min(...answered.map((o) => o.return));
  return rest.some((o, i) => {
    if (o.call > firstEnd || (o.until ?? latestCall) < latestCall) return false;
    const { action } = o;
    let next = state;
    if (action.type === 'read') {
      if (o.seen !== state) return false;
    } else if (action.type === 'write') next = action.value;
    else {
      const matches = state === action.expected;
      if (o.outcome === 'ok' && matches !== o.matched) return false;
      if (matches) next = action.value;
    }
    const others = [...rest.slice(0, i), ...rest.slice(i + 1)];
    return someOrder(others, next, Math.max(latestCall, o.call));
  });
}
