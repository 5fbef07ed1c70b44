import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import { HANDLERS } from '../../src/state/handlers.js';
import { Machine } from '../../src/state/machine.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { keyAt, placeOf, type Rest, type SetApply, type SetChange } from '../../src/state/sets.js';
import type { Command, Result, View } from '../../src/state/types.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { randomCommand, randomSet } from '../support/random-commands.js';
import { actualKeys, expectedKeys } from './derived.js';

const AT = '2030-01-01T00:00:00Z';

/** A machine with all commands. */
class State {
  readonly store = new MemoryState();
  readonly machine = new Machine(this.store, HANDLERS);

  constructor() {
    this.must({ type: 'system.init', createTime: AT });
    this.must({ type: 'system.level', level: 3 });
  }

  get index(): number {
    return this.machine.appliedIndex();
  }

  apply(command: object): Result {
    const index = this.index + 1;
    const proposal = { id: `r${index}`, since: 0, command: { v: 1, ...command } as Command };
    const data = encodeProposal(proposal);
    const [result] = this.machine.apply([{ kind: 'command', index, term: 1, data }]);
    this.store.sync();
    return result!;
  }

  must(command: object): void {
    const result = this.apply(command);
    expect(result.ok, JSON.stringify(result)).to.equal(true);
  }

  /** Another state with the same objects. */
  copy(): State {
    const copy = new State();
    copy.store.commit([...copy.store.keys('')].map((key) => [key, undefined] as const));
    copy.store.commit(recordsOf(this.store).map(([key, value]) => [key, value] as const));
    copy.store.sync();
    copy.machine.reload();
    return copy;
  }
}

const recordsOf = (view: View): [string, string][] =>
  [...view.keys('')].map((key) => [key, view.get(key)!]);

/** What belongs to the log, or is made at an index. */
const OWN = /^(request|machine|version|change|login-change|fact|index|deleted)(\0|$)/;

/** The objects and their records, without indexes. */
const contentOf = (view: View): Map<string, string> =>
  new Map(
    recordsOf(view)
      .filter(([key]) => !OWN.test(key))
      .map(([key, value]) => [
        key,
        value.replaceAll(/"(CreateIndex|ModifyIndex|Index)":\d+/g, '"$1":0'),
      ]),
  );

function* ordersOf<T>(items: readonly T[]): Iterable<T[]> {
  if (items.length === 0) yield [];
  for (const [i, first] of items.entries()) {
    const rest = [...items.slice(0, i), ...items.slice(i + 1)];
    for (const order of ordersOf(rest)) yield [first, ...order];
  }
}

const set = (changes: readonly SetChange[], rests: readonly Rest[] = []): object => ({
  type: 'set.apply',
  datacenter: 'dc1',
  at: AT,
  changes,
  rests,
});
const policySet = (n: number, Name: string, create = true): Command =>
  ({
    type: 'policy.set',
    v: 1,
    ns: 'default',
    id: idOf(n),
    create,
    hash: Name,
    policy: { Name, Description: '', Rules: '' },
  }) as Command;
const policyDelete = (n: number) =>
  ({ type: 'policy.delete', v: 1, ns: 'default', id: idOf(n) }) as Command;
const idOf = (n: number): string => `00000009-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;

describe('state: sets', () => {
  it('equal their changes made one after the other, in some order that is allowed', () => {
    let [accepted, compared, refused] = [0, 0, 0];
    for (let seed = 1; seed <= 6; seed += 1) {
      const random = new Random(seed);
      const state = new State();
      for (let n = 1; n <= 140; n += 1) {
        const draw = { random, n, view: state.store, applied: state.index };
        if (random.chance(0.6)) {
          state.apply(randomCommand(draw));
          continue;
        }
        const command = randomSet(draw, 4);
        const before = contentOf(state.store);
        const singles = state.copy();
        const result = state.apply(command);
        expect(actualKeys(state.store), `seed ${seed}, ${n}`).to.deep.equal(
          expectedKeys(state.store),
        );
        if (!result.ok) {
          refused += 1;
          expect(contentOf(state.store)).to.deep.equal(before);
          continue;
        }
        accepted += 1;
        for (const { command: one } of command.changes) mustBeAt(state, one, result.index);
        const outcomes = outcomesOf(singles, command);
        if (outcomes.length === 0) continue;
        compared += 1;
        const own = withoutOwners(contentOf(state.store));
        const isOne = outcomes.some((other) => isEqual(own, withoutOwners(other)));
        expect(isOne, `seed ${seed}, ${n}: ${JSON.stringify(command)}`).to.equal(true);
      }
    }
    expect(
      [accepted, compared, refused].every((count) => count > 20),
      `${accepted} ${compared} ${refused}`,
    ).to.equal(true);
  }).timeout(120_000);

  it('give up names before they take them', () => {
    const state = new State();
    state.must(set([{ command: policySet(1, 'a') }, { command: policySet(2, 'b') }]));
    const was = state.index;
    state.must(
      set([
        { command: policySet(1, 'b', false), was },
        { command: policySet(2, 'A', false), was },
      ]),
    );
    const holder = (name: string) => state.store.get(`policy-name\0default\0${name}`);
    expect([holder('a'), holder('b')]).to.deep.equal([idOf(2), idOf(1)]);
    state.must(set([{ command: policyDelete(2), was: was + 1 }, { command: policySet(3, 'a') }]));
    expect(holder('a')).to.equal(idOf(3));
    const taken = state.apply(
      set([{ command: policySet(4, 'a') }, { command: policySet(5, 'c') }]),
    );
    expect(taken.ok).to.equal(false);
    expect(holder('c')).to.equal(undefined);
  });

  it('do nothing if an object, its owner, or what they rest on has changed', () => {
    const state = new State();
    state.must(set([{ command: policySet(1, 'a'), owner: { Owner: 'one' } }]));
    const was = state.index;
    const owned = JSON.stringify({ Owner: 'one' });
    const key = keyAt(placeOf(policySet(1, 'a'))!);
    const change = { command: policySet(1, 'b', false), was, owned };
    const before = contentOf(state.store);
    const name = 'policy-name\0default\0a';
    const stale = [
      set([{ ...change, was: was - 1 }]),
      set([{ ...change, owned: JSON.stringify({ Owner: 'two' }) }]),
      set([{ command: policySet(1, 'b', false) }]),
      set([change], [[key, was - 1]]),
      set([change], [[key, null]]),
      set([change], [[name, idOf(2)]]),
      set([change], [['role\0default\0x', 3]]),
    ];
    for (const command of stale) {
      const result = state.apply(command);
      expect(result.ok ? '' : result.refusal.code).to.equal('precondition_failed');
      expect(contentOf(state.store)).to.deep.equal(before);
    }
    state.must(
      set(
        [change],
        [
          [key, was],
          [name, idOf(1)],
          ['role\0default\0x', null],
        ],
      ),
    );
  });

  it('forget the owner of an object with it, in every way that removes one', () => {
    const state = new State();
    const namespace = { Name: 'gone', PolicyDefaults: [], RoleDefaults: [] };
    const method = { Name: 'M1', Type: 'jwt', Config: {} };
    const rule = { Description: '', AuthMethod: 'M1', BindType: 'service', BindName: 'x' };
    const entry = JSON.stringify({ Kind: 'service-defaults', Name: 'Web', Protocol: 'http' });
    const ns = 'gone';
    const changes = [
      { type: 'namespace.set', policyId: idOf(9), namespace },
      { type: 'method.set', ns, method },
      { type: 'rule.set', ns, id: idOf(2), create: true, rule },
      { ...policySet(1, 'a'), ns },
      {
        type: 'config.set',
        ns,
        kind: 'service-defaults',
        name: 'Web',
        entry,
        cas: null,
        at: AT,
        datacenter: 'dc1',
      },
    ].map((command) => ({
      command: { v: 1, ...command } as Command,
      owner: { Owner: 'one', ...(command.type === 'rule.set' && { Handle: 'h' }) },
    }));
    state.must(set(changes));
    const owners = () => [...state.store.keys('owner\0'), ...state.store.keys('rule-handle\0')];
    expect(owners()).to.have.length(6);
    state.must({ type: 'method.delete', ns, name: 'm1' });
    expect(owners()).to.have.length(3);
    state.must({ type: 'namespace.delete', name: ns, at: AT });
    state.must({ type: 'namespace.reap', name: ns });
    expect(owners()).to.deep.equal([]);
  });
});

/** The contents that the changes have one after the other, in each order that is allowed. */
function outcomesOf(before: State, { changes }: SetApply): Map<string, string>[] {
  const found: Map<string, string>[] = [];
  for (const order of ordersOf(changes)) {
    const state = before.copy();
    // entries have the time of the set in their Status
    if (order.every(({ command }) => state.apply({ ...command, at: AT }).ok))
      found.push(contentOf(state.store));
  }
  return found;
}

const withoutOwners = (content: Map<string, string>): Map<string, string> =>
  new Map([...content].filter(([key]) => !key.startsWith('owner\0')));

const isEqual = (one: Map<string, string>, other: Map<string, string>): boolean =>
  one.size === other.size && [...one].every(([key, value]) => other.get(key) === value);

function mustBeAt({ store }: State, command: Command, index: number): void {
  const text = store.get(keyAt(placeOf(command)!));
  if (text === undefined || command.type.startsWith('config.')) return;
  expect((JSON.parse(text) as { ModifyIndex: number }).ModifyIndex).to.equal(index);
}
