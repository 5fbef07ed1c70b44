import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { LongWork, type WorkOwner } from '../../src/service/reads/long-work.js';

const owner = (token: string, namespace = 'default'): WorkOwner => ({ token, namespace });

/** Work that lasts until it is told to end. */
class Work {
  isBegun = false;
  isOver = false;
  *steps(): Generator<void, string> {
    this.isBegun = true;
    while (!this.isOver) yield;
    return 'done';
  }
}

/** Lets waiting works begin, if they may. */
async function someTurns(): Promise<void> {
  for (let n = 0; n < 20; n++) await turn();
}

const refusal = async (run: Promise<unknown>): Promise<string> => {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return (error as { refusal?: { code: string } } | undefined)?.refusal?.code ?? 'none';
};

describe('long work', () => {
  it('of one token, or of one created namespace, leaves a place to the others', async () => {
    const longWork = new LongWork();
    const first = new Work();
    const running = longWork.run(owner('a', 'alpha'), 'explain', () => first.steps());
    const same = new Work();
    for (const other of [owner('a', 'alpha'), owner('b', 'alpha'), owner('a')]) {
      const run = longWork.run(other, 'explain', () => same.steps());
      expect(await refusal(run), JSON.stringify(other)).to.equal('too_many');
    }
    expect(same.isBegun).to.equal(false);
    const second = new Work();
    const beside = longWork.run(owner('c'), 'lint', () => second.steps());
    const third = longWork.run(owner('d'), 'lint', () => new Work().steps());
    expect(await refusal(third)).to.equal('too_many');
    first.isOver = true;
    second.isOver = true;
    expect(await Promise.all([running, beside])).to.deep.equal(['done', 'done']);
  });

  it('of default may take both places, with two tokens', async () => {
    const longWork = new LongWork();
    const works = [new Work(), new Work()];
    const runs = works.map((work, n) => longWork.run(owner(`${n}`), 'explain', () => work.steps()));
    await someTurns();
    expect(works.map(({ isBegun }) => isBegun)).to.deep.equal([true, true]);
    for (const work of works) work.isOver = true;
    await Promise.all(runs);
  });

  it('about one token needs no place if it is short, and waits for one if it is long', async () => {
    const longWork = new LongWork();
    const scans = [new Work(), new Work()];
    const scanning = scans.map((work, n) =>
      longWork.run(owner(`${n}`), 'explain', () => work.steps()),
    );
    const short = new Work();
    short.isOver = true;
    // The slice of a turn may be taken by others.
    await turn();
    expect(await longWork.runSoon(owner('0'), 'explain', short.steps())).to.equal('done');
    const long = new Work();
    const waiting = longWork.runSoon(owner('c'), 'explain', long.steps());
    const behind = new Work();
    const sameToken = longWork.runSoon(owner('c'), 'explain', behind.steps());
    await someTurns();
    scans[0]!.isOver = true;
    long.isOver = true;
    behind.isOver = true;
    expect(await Promise.all([waiting, sameToken])).to.deep.equal(['done', 'done']);
    scans[1]!.isOver = true;
    await Promise.all(scanning);
  });

  it('that waits goes on in another turn than the one in which it gets its place', async () => {
    const longWork = new LongWork();
    let [now, isOver] = [0, false];
    const count = (): void => {
      now += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    const ended = { first: 0, second: 0 };
    const holding = new Work();
    function* first(): Generator<void, void> {
      yield* holding.steps();
      ended.first = now;
    }
    function* second(): Generator<void, void> {
      while (!holding.isOver) yield;
      ended.second = now;
    }
    const runs = [first(), second()].map((work) => longWork.runSoon(owner('a'), 'explain', work));
    await someTurns();
    holding.isOver = true;
    await Promise.all(runs);
    isOver = true;
    expect(ended.second).to.be.greaterThan(ended.first);
  });

  it('that waits is bounded for each owner, and ends without a trace', async () => {
    const longWork = new LongWork();
    const holding = new Work();
    const held = longWork.run(owner('a', 'alpha'), 'explain', () => holding.steps());
    let ended = 0;
    function* endless(): Generator<void, void> {
      try {
        while (!holding.isOver) yield;
      } finally {
        ended += 1;
      }
    }
    const runs = Array.from({ length: 70 }, (_, n) =>
      longWork.runSoon(owner(`t${n}`, 'alpha'), 'explain', endless()),
    );
    const codes = Promise.all(runs.map(refusal));
    await someTurns();
    holding.isOver = true;
    expect((await codes).filter((code) => code === 'too_many')).to.have.length(6);
    expect(ended).to.be.at.least(64);
    await held;
  });
});
