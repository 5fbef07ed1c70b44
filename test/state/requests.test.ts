import { expect } from 'chai';
import { RequestMemory } from '../../src/state/requests.js';
import { MapStore } from './store.js';

describe('remembered requests', () => {
  it('are limited in number; older requests are refused if their outcome is unknown', () => {
    const store = new MapStore();
    const memory = new RequestMemory(0, 3);
    for (let index = 1; index <= 10; index++) {
      const changes = memory.remember(`id-${index}`, index, { ok: true, index });
      store.commit(changes.map(({ key, value }) => [key, value]));
    }
    expect(store.map.size).to.equal(3);
    expect(memory.floor).to.equal(7);
    const ask = (id: string, since: number, from: RequestMemory) =>
      from.recall(store, { id, since, command: { type: 'put', v: 1 } }, 11);
    for (const from of [memory, RequestMemory.load(store, memory.floor, 3)]) {
      expect(ask('id-8', 0, from)).to.deep.equal({ ok: true, index: 8 });
      expect(ask('id-7', 6, from)).to.deep.include({ ok: false });
      expect(ask('id-7', 6, from)).to.have.nested.property('refusal.code', 'outcome_unknown');
      expect(ask('new', 7, from)).to.equal(undefined);
    }
  });
});
