import { expect } from 'chai';
import { ReadTurns } from '../../src/service/reads/read-turns.js';
import { keys } from '../../src/state/keys.js';
import { FakeClock } from '../replica/fakes.js';
import { MANAGER, Solo } from './solo.js';

describe('turns of reads', () => {
  let clock: FakeClock;
  let turns: ReadTurns;
  let read: string[];
  beforeEach(() => {
    clock = new FakeClock();
    turns = new ReadTurns(clock);
    read = [];
  });
  /** A read that takes some milliseconds. */
  const reads = (name: string, ms: number) => {
    read.push(name);
    clock.nowMs += ms;
  };
  const woken = (name: string, ms = 0) => turns.again(() => reads(name, ms));
  const arrive = (name: string, ms = 0) => void turns.soon().then(() => reads(name, ms));
  /** One turn of the event loop, with what follows it at once. Returns how many it read. */
  const turn = async (): Promise<number> => {
    const before = read.length;
    clock.turn();
    for (let i = 0; i < 1_000; i++) await null;
    return read.length - before;
  };

  it('end when their time is over, however many were woken', async () => {
    for (let i = 0; i < 100; i++) woken(`r${i}`, 1);
    expect(read).to.deep.equal([]);
    let count = 0;
    for (; read.length < 100; count++) expect(await turn()).to.be.within(1, 6);
    expect(count).to.be.within(16, 25);
    expect(read).to.deep.equal(Array.from({ length: 100 }, (_, i) => `r${i}`));
    expect(await turn()).to.equal(0);
  });

  it('take any number of reads that cost nothing', async () => {
    for (let i = 0; i < 300; i++) woken(`r${i}`);
    expect(await turn()).to.equal(300);
  });

  it('end when their answers are long', async () => {
    const text = 'x'.repeat(1024 * 1024);
    const long = (name: string) =>
      turns.again(() => {
        read.push(name);
        turns.answers(text);
      });
    for (let i = 0; i < 10; i++) long(`r${i}`);
    expect(await turn()).to.equal(5);
    expect(await turn()).to.equal(5);
  });

  it('go to new and to woken reads by turns', async () => {
    for (const name of ['w1', 'w2', 'w3']) woken(name);
    for (const name of ['a1', 'a2']) arrive(name);
    await turn();
    expect(read).to.deep.equal(['a1', 'w1', 'a2', 'w2', 'w3']);
  });

  it('begin at once for a read that does not wait for the end of the turn', async () => {
    await turns.now();
    reads('at once', 10);
    await turns.now();
    reads('again', 10);
    expect(read).to.deep.equal(['at once', 'again']);
  });

  it('share the time among those that begin at once', async () => {
    for (let i = 0; i < 20; i++) void turns.now().then(() => reads(`r${i}`, 1));
    for (let i = 0; i < 1_000; i++) await null;
    expect(read.length).to.be.within(1, 8);
    while (read.length < 20) expect(await turn()).to.be.within(1, 8);
  });
});

describe('blocking queries that one change wakes', () => {
  it('do not all read in one turn of the event loop', async () => {
    const READERS = 60;
    const solo = new Solo();
    const key = keys.fact('test');
    let index = 7;
    let ran = 0;
    const slow = () => {
      ran += 1;
      for (const until = performance.now() + 2; performance.now() < until; );
      return { value: 'x', index, keys: [key] };
    };
    const options = { mode: 'stale', index, waitMs: 600_000, timeoutMs: 1_000 } as const;
    const answers = Array.from({ length: READERS }, () =>
      solo.service.read(MANAGER, options, slow),
    );
    while (solo.watches.size < READERS) await new Promise(setImmediate);
    ran = 0;
    index += 1;
    solo.watches.changed([key]);
    const inTurn: number[] = [];
    while (ran < READERS) {
      const before = ran;
      await new Promise(setImmediate);
      inTurn.push(ran - before);
    }
    await Promise.all(answers);
    expect(Math.max(...inTurn)).to.be.at.most(READERS / 4);
  });
});
