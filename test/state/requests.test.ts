import { expect } from 'chai';
import { OWN, refusal } from '../../src/base/errors.js';
import { Checksums } from '../../src/state/checksum.js';
import { LEVEL_KEY } from '../../src/state/levels.js';
import { refused } from '../../src/state/lists.js';
import { Machine } from '../../src/state/machine.js';
import { forgetRequests, forgottenAt } from '../../src/state/request-forget.js';
import { RequestMemory } from '../../src/state/requests.js';
import type { Command, Handler, Handlers, Result, StateRecord } from '../../src/state/types.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { entry, handlers, put, putEntry } from './puts.js';
import { MapStore, sumsOf } from './store.js';

const NUL = '\u0000';
describe('remembered requests', () => {
  const limits = { requestsMax: 4, pageRequests: 2 };
  const remember = (
    memory: RequestMemory,
    store: MapStore,
    result: Result,
    inPage = true,
  ): void => {
    memory.remember(`id-${result.index}`, result, inPage ? 2 : 1);
    store.commit(memory.takeChanges(store).map(({ key, value }) => [key, value]));
  };

  for (const inPage of [false, true]) {
    const where = inPage ? 'in pages' : 'as single records';
    it(`${where}: older requests are refused if their outcome is unknown`, () => {
      const store = new MapStore();
      const memory = new RequestMemory(0, limits);
      for (let index = 1; index <= 10; index++)
        remember(memory, store, { ok: true, index }, inPage);
      expect(store.map.size).to.equal(inPage ? 2 : 4);
      expect(memory.floor).to.equal(6);
      const ask = (id: string, since: number, from: RequestMemory) =>
        from.recall(store, { id, since, command: { type: 'put', v: 1 } }, 11);
      for (const from of [memory, RequestMemory.load(store, memory.floor, limits)]) {
        expect(ask('id-7', 0, from)).to.deep.equal({ ok: true, index: 7 });
        expect(ask('id-6', 5, from)).to.deep.include({ ok: false });
        expect(ask('id-6', 5, from)).to.have.nested.property('refusal.code', 'outcome_unknown');
        expect(ask('new', 6, from)).to.equal(undefined);
      }
    });

    it(`${where}: are not found while the store has another state already`, () => {
      const [store, other] = [new MapStore(), new MapStore()];
      const memory = new RequestMemory(0, limits);
      for (let index = 1; index <= 3; index++) remember(memory, store, { ok: true, index }, inPage);
      expect(memory.find(store, 'id-2')).to.deep.equal({ ok: true, index: 2 });
      expect(memory.find(other, 'id-2')).to.equal(undefined);
      remember(new RequestMemory(0, limits), other, { ok: true, index: 1 }, inPage);
      expect(memory.find(other, 'id-2')).to.equal(undefined);
    });

    it(`${where}: are the same before a commit, after it, and after a start`, () => {
      const store = new MapStore();
      const memory = new RequestMemory(0, limits);
      const results: Result[] = [
        { ok: true, index: 1, value: '{"a":"\\n\n\u0000"}' },
        { ok: false, index: 2, refusal: refusal('invalid', 'no', { pointer: '/A', hint: 'b' }) },
        { ok: true, index: 4 },
      ];
      const ids = ['a', '__proto__', '"\n\\\ud800'];
      const found = (from: RequestMemory) => ids.map((id) => from.find(store, id));
      for (const [at, result] of results.entries())
        memory.remember(ids[at]!, result, inPage ? 2 : 1);
      expect(found(memory)).to.deep.equal(results);
      store.commit(memory.takeChanges(store).map(({ key, value }) => [key, value]));
      expect(memory.takeChanges(store)).to.deep.equal([]);
      expect(found(memory)).to.deep.equal(results);
      expect(found(RequestMemory.load(store, 0, limits))).to.deep.equal(results);
    });
  }
});

describe('stored request results', () => {
  for (const level of [1, 2]) {
    it(`are forgotten on command, the oldest first, a few at a time, at level ${level}`, () => {
      const store = new MapStore([[LEVEL_KEY, JSON.stringify({ Level: level, Index: 0 })]]);
      const all: Handlers = { put, 'request.forget': forgetRequests };
      const limits = { requestsMax: 99, pageRequests: 2, checkpointEvery: 256 };
      const start = (): Machine => new Machine(store, all, undefined, limits);
      const machine = start();
      machine.apply([1, 2, 3, 4].map((n) => putEntry(n, 'a', String(n))));
      const results = (): number =>
        [1, 2, 3, 4, 5, 6].filter((n) => start().remembered(`id-${n}`) !== undefined).length;
      const forget = (index: number) =>
        machine.apply([
          entry(index, { type: 'request.forget', upTo: 3, max: 2 }, undefined, index - 1),
        ]);
      expect(forget(5)).to.deep.equal([{ ok: true, value: '2', index: 5 }]);
      expect([results(), forgottenAt(store)]).to.deep.equal([3, 0]);
      expect(forget(6)).to.deep.equal([{ ok: true, value: '3', index: 6 }]);
      expect([results(), forgottenAt(store)]).to.deep.equal([3, 3]);
      expect(machine.checksum().sums).to.deep.equal(sumsOf(store));
      for (const one of [machine, start()]) {
        expect(one.remembered('id-3')).to.equal(undefined);
        expect(one.remembered('id-4')).to.include({ ok: true, value: '4' });
      }
      const [again] = machine.apply([entry(7, { type: 'put', key: 'a', value: 'x' }, 'id-3', 2)]);
      expect(again).to.have.nested.property('refusal.code', 'outcome_unknown');
      expect(store.get('a')).to.equal('4');
    });
  }

  it('a repeated request takes effect once and has the same result, also after a restart', () => {
    const store = new MapStore();
    const machine = new Machine(store, handlers);
    const first = machine.apply([putEntry(1, 'a', '1', 'same')])[0] as Result;
    machine.apply([putEntry(2, 'a', '2')]);
    expect(machine.apply([putEntry(3, 'a', '1', 'same')])[0]).to.deep.equal(first);
    const restarted = new Machine(store, handlers);
    expect(restarted.remembered('same')).to.deep.equal(first);
    expect(restarted.remembered('other')).to.equal(undefined);
    expect(restarted.apply([putEntry(4, 'a', '1', 'same')])[0]).to.deep.equal(first);
    expect(store.get('a')).to.equal('2');
  });

  for (const level of [1, 2]) {
    it(`have nothing of a refusal that older releases do not keep, at level ${level}`, () => {
      const state = (about: object) => {
        const store = new MapStore([[LEVEL_KEY, JSON.stringify({ Level: level, Index: 0 })]]);
        const why = refusal('conflict', 'no', { pointer: '/Name', ...about });
        const machine = new Machine(store, { ...handlers, no: () => refused(why) });
        const result = machine.apply([entry(1, { type: 'no' }, 'one')])[0];
        return { result, machine, sums: sumsOf(store), kept: machine.remembered('one') };
      };
      const [old, present] = [state({}), state(OWN)];
      expect(present.sums).to.deep.equal(old.sums);
      expect(present.result).to.have.nested.property('refusal.about.kind', 'own');
      expect(present.kept).to.deep.equal(old.result);
      expect(present.machine.apply([entry(2, { type: 'no' }, 'one')])[0]).to.deep.equal(old.result);
    });

    it(`are dropped without a read, but for those of before a restart, at level ${level}`, () => {
      const store = new MapStore([[LEVEL_KEY, JSON.stringify({ Level: level, Index: 0 })]]);
      const limits = { requestsMax: 4, pageRequests: 2, checkpointEvery: 256 };
      const start = (): Machine => new Machine(store, handlers, undefined, limits);
      let machine = start();
      const read: string[] = [];
      const get = store.get.bind(store);
      store.get = (key) => {
        const value = get(key);
        if (value !== undefined && key.startsWith('request')) read.push(key);
        return value;
      };
      const add = (index: number): void => {
        read.length = 0;
        machine.apply([entry(index, { type: 'put', key: 'a', value: '1' }, undefined, index - 1)]);
      };
      const addTo = (from: number, to: number): void => {
        for (let index = from; index <= to; index++) {
          add(index);
          const kept = Math.min(index, level === 1 ? 4 : 3 + (index % 2 === 0 ? 1 : 0));
          for (const one of [machine, start()]) {
            const known = Array.from({ length: index }, (_, at) => one.remembered(`id-${at + 1}`));
            expect(known.filter((each) => each !== undefined)).to.have.length(kept);
            expect(known.at(-kept)).to.include({ ok: true, index: index - kept + 1 });
          }
          expect(machine.checksum().sums).to.deep.equal(sumsOf(store));
        }
      };
      addTo(1, 8);
      machine = start();
      addTo(9, 20);
      add(21);
      expect(read).eql([]);
    });
  }

  it('are records of their own until the level is raised, and fill pages from then on', () => {
    const store = new MapStore();
    const limits = { requestsMax: 99, pageRequests: 3, checkpointEvery: 256 };
    const machine = new Machine(store, handlers, undefined, limits);
    const shapes = (): string[] =>
      [...store.keys('request')].map((key) =>
        key.split(NUL).length === 4
          ? 'single'
          : `page of ${store.get(key)!.split('\n').length - 1}`,
      );
    machine.apply([putEntry(1, 'a', '1'), putEntry(2, 'a', '2')]);
    expect(shapes()).to.deep.equal(['single', 'single']);
    machine.apply([
      putEntry(3, 'a', '3'),
      entry(4, { type: 'system.level', level: 2 }),
      putEntry(5, 'a', '5'),
    ]);
    machine.apply([6, 7, 8].map((index) => putEntry(index, 'a', String(index))));
    const single = ['single', 'single', 'single'];
    expect(shapes()).to.deep.equal([...single, 'page of 3', 'page of 2']);
    for (const one of [machine, new Machine(store, handlers, undefined, limits)]) {
      for (const index of [1, 5, 8])
        expect(one.remembered(`id-${index}`)).to.deep.equal({ ok: true, index, value: `${index}` });
    }
    expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
  });

  it('of great length end a page early', () => {
    const store = new MapStore([[LEVEL_KEY, JSON.stringify({ Level: 2, Index: 0 })]]);
    const long: Handlers = { put: () => ({ ok: true, value: 'x'.repeat(5000) }) };
    const machine = new Machine(store, long);
    for (let index = 1; index <= 5; index++) machine.apply([putEntry(index, 'a', '1')]);
    const sizes = [...store.keys('request')].map((key) =>
      Math.round(store.get(key)!.length / 5000),
    );
    expect(sizes).to.deep.equal([2, 2, 1]);
  });
});

describe('a state that is installed while an entry replaces the present one', () => {
  it('brings the floor of its remembered requests', async () => {
    const limits = { requestsMax: 2, pageRequests: 1, checkpointEvery: 100 };
    const records: StateRecord[] = [];
    const replace: Handler<Command> = () => ({
      ok: true,
      state: { slices: () => [records][Symbol.iterator]() as never, changed: [] },
    });
    const all: Handlers = { put, replace };
    const ahead = new MemoryState();
    const other = new Machine(ahead, all, undefined, limits);
    other.apply([1, 2, 3, 4, 5].map((index) => putEntry(index, 'a', String(index))));

    const store = new MemoryState();
    const machine = new Machine(store, all, undefined, limits);
    const resumed = new Promise((resolve) => {
      machine.apply([entry(1, { type: 'replace' })], resolve);
    });
    const installation = store.install();
    for (const key of ahead.keys('')) await installation.add([[key, ahead.get(key)!]]);
    await installation.finish();
    machine.reload();
    expect(await resumed).to.equal(undefined);

    const late = [entry(6, { type: 'put', key: 'b', value: '6' }, 'late', 0)];
    const [result] = machine.apply(late);
    expect(result).to.deep.equal(other.apply(late)[0]);
    expect(result).to.have.nested.property('refusal.code', 'outcome_unknown');
    expect(machine.checksum()).to.deep.equal(other.checksum());
  });
});
