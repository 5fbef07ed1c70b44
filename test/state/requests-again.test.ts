import { expect } from 'chai';
import fc from 'fast-check';
import type { Entry } from '../../src/raft/types.js';
import { tableOf } from '../../src/state/checksum.js';
import { LEVEL_KEY } from '../../src/state/levels.js';
import { Machine } from '../../src/state/machine.js';
import { recordOf } from '../../src/state/machine-record.js';
import { ACL_HANDLERS } from '../../src/state/objects.js';
import { forgetRequests } from '../../src/state/request-forget.js';
import { RESTORE_FACT } from '../../src/state/restore.js';
import type { Command, Handler, Handlers, Result } from '../../src/state/types.js';
import { AT, State } from './acl-state.js';
import { entry } from './puts.js';
import { MapStore, sumsOf } from './store.js';

const NUL = '\u0000';

describe('the answer to a request that is sent again', () => {
  const limits = { requestsMax: 40, pageRequests: 4, checkpointEvery: 7 };
  const begin = (store: MapStore): Machine => new Machine(store, ACL_HANDLERS, undefined, limits);
  const levelled = (): MapStore =>
    new MapStore([[LEVEL_KEY, JSON.stringify({ Level: 3, Index: 0 })]]);
  const state = new State();
  const role = (n: number, create: boolean, Description: string) => {
    const command = state.role(idOf(n), `role-${n}`, [], create);
    return { ...command, role: { ...command.role, Description } };
  };
  const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const first = { type: 'system.init', createTime: AT };

  it('is what it got the first time, whatever has become of the object', () => {
    const step = fc.record({
      n: fc.nat(2),
      what: fc.constantFrom('create', 'update', 'update', 'delete', 'token', 'logout', 'again'),
      isLast: fc.boolean(),
      isRestart: fc.constantFrom(false, false, true),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
        const store = levelled();
        let machine = begin(store);
        machine.apply([entry(1, first, 'init')]);
        const sent = new Map<
          string,
          { readonly command: object; readonly since: number; result?: Result }
        >();
        let batch: [id: string, Entry][] = [];
        let index = 1;
        for (const [at, { n, what, isLast, isRestart }] of steps.entries()) {
          index += 1;
          const { id, command } = ((): { readonly id: string; readonly command: object } => {
            const earlier = [...sent].at(-1 - ((n * 7) % Math.max(1, sent.size)));
            if (what === 'again' && earlier !== undefined)
              return { id: earlier[0], command: earlier[1].command };
            const type = what === 'delete' ? 'role.delete' : 'token.delete';
            const { accessor } = state.token(n);
            const made: Readonly<Record<string, object>> = {
              create: role(n, true, `made at ${index} "ModifyIndex":${index}`),
              update: role(n, false, `changed at ${index}`),
              token: state.token(n),
            };
            const gone = { type, ns: 'default', ...(what === 'logout' ? { accessor } : {}) };
            return { id: `r-${at}`, command: made[what] ?? { ...gone, id: idOf(n) } };
          })();
          const since = sent.get(id)?.since ?? index - 1;
          if (!sent.has(id)) sent.set(id, { command, since });
          batch.push([id, entry(index, command, id, since)]);
          if (!isLast) continue;
          const results = machine.apply(batch.map(([, each]) => each));
          for (const [position, [sentId]] of batch.entries()) {
            const known = sent.get(sentId)!;
            known.result ??= results[position]!;
            const isForgotten = known.result.index <= recordOf(store)!.floor;
            if (!isForgotten) expect(results[position]).to.deep.equal(known.result);
          }
          batch = [];
          if (isRestart) machine = begin(store);
          const floor = recordOf(store)!.floor;
          for (const [each, { result }] of sent)
            if (result !== undefined && result.index > floor)
              expect(machine.remembered(each)).to.deep.equal(result);
          expect(machine.checksum().sums).to.deep.equal(sumsOf(store));
        }
      }),
    );
  });

  it('does not store the object again, until the object changes', () => {
    const store = levelled();
    const machine = begin(store);
    machine.apply([entry(1, first, 'init'), entry(2, role(1, true, 'the first'), 'a')]);
    // the history keeps what an object was
    const kept = (): string[] => [...store.keys('')].filter((key) => tableOf(key) !== 'change');
    const copies = (): number =>
      kept().filter((key) => store.get(key)!.includes('the first')).length;
    expect(copies()).to.equal(1);
    const [answer] = machine.apply([entry(3, role(1, true, 'the first'), 'a', 0)]);
    machine.apply([entry(4, role(1, false, 'the second'), 'b')]);
    expect(copies()).to.equal(1);
    machine.apply([entry(5, role(1, false, 'the third'), 'c')]);
    expect(copies()).to.equal(1);
    expect(answer).to.deep.equal(machine.remembered('a'));
    expect(answer).to.have.property('index', 2);
  });

  it('is unknown after a restore, which may have brought another object with its index', () => {
    const store = levelled();
    const machine = begin(store);
    machine.apply([entry(1, first, 'init'), entry(2, role(1, true, 'the first'), 'a')]);
    store.map.set(RESTORE_FACT, '{"Index":3}');
    expect(machine.remembered('a')).to.have.nested.property('refusal.code', 'outcome_unknown');
  });

  /** Changes many roles in one entry, as a set does. */
  const many: Handler<Command & { readonly roles: readonly Command[] }> = (context, command) => {
    for (const each of command.roles) ACL_HANDLERS['role.set']!(context, each as never);
    return { ok: true };
  };
  const all = { ...ACL_HANDLERS, many, 'request.forget': forgetRequests } as Handlers;

  for (const [what, text, some] of [
    ['more results than a page takes', '', limits],
    ['results that are longer than a page', 'x'.repeat(5000), undefined],
  ] as const) {
    const roles = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const texts = (one: Machine) => roles.map((n) => one.remembered(`r-${n}`));
    const start = (store: MapStore): Machine => new Machine(store, all, undefined, some);
    const changed = () => {
      const store = levelled();
      const machine = start(store);
      machine.apply([entry(1, first, 'init')]);
      for (const n of roles) machine.apply([entry(n + 1, role(n, true, text), `r-${n}`)]);
      const before = texts(machine);
      const updates = roles.map((n) => ({ v: 1, ...role(n, false, 'changed') }));
      machine.apply([entry(11, { type: 'many', roles: updates }, 'many', 10)]);
      return { store, machine, before };
    };

    it(`survives an entry that leaves ${what}`, () => {
      const { store, machine, before } = changed();
      for (const one of [machine, start(store)]) {
        expect(texts(one)).to.deep.equal(before);
        expect(one.checksum().sums).to.deep.equal(sumsOf(store));
      }
      for (let index = 12; index < 60; index++) {
        machine.apply([entry(index, role(1, false, String(index)), undefined, index - 1)]);
        expect(machine.checksum().sums).to.deep.equal(sumsOf(store));
      }
    });

    it(`is forgotten as a whole after an entry that leaves ${what}`, () => {
      const { store, machine } = changed();
      const forget = { type: 'request.forget', upTo: 11, max: 11 };
      const [forgotten] = machine.apply([entry(12, forget, 'forget', 11)]);
      expect(forgotten).to.deep.include({ ok: true, value: '11' });
      expect([...store.keys(`request${NUL}`)]).to.have.length(1);
      for (const one of [machine, start(store)]) {
        expect(texts(one)).to.deep.equal(roles.map(() => undefined));
        expect(one.checksum().sums).to.deep.equal(sumsOf(store));
      }
    });
  }

  for (const restarts of [false, true]) {
    const when = restarts ? 'after restarts' : 'without a restart';
    it(`does not make the state remember fewer requests than it may, ${when}`, () => {
      const store = levelled();
      let machine = begin(store);
      machine.apply([entry(1, first, 'init'), entry(2, role(1, true, '2'), 'a')]);
      const update = (index: number): void => {
        if (restarts) machine = begin(store);
        machine.apply([entry(index, role(1, false, String(index)), undefined, index - 1)]);
      };
      for (let index = 3; index <= limits.requestsMax; index++) update(index);
      expect(machine.remembered('a')).to.include({ index: 2 });
      expect(recordOf(store)!.floor).to.equal(0);
      update(limits.requestsMax + 1);
      expect(recordOf(store)!.floor).to.be.greaterThan(0);
    });
  }
});
