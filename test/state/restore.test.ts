import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { Checksums } from '../../src/state/checksum.js';
import { HANDLERS } from '../../src/state/handlers.js';
import { keys, NEXT } from '../../src/state/keys.js';
import { Machine } from '../../src/state/machine.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { recordBytes } from '../../src/state/record-bytes.js';
import { FORGOTTEN_FACT } from '../../src/state/request-forget.js';
import { RESTORE_FACT, restoreParts, SLICE_RECORDS } from '../../src/state/restore.js';
import { type Command, keyOf, type Result, type StateRecord } from '../../src/state/types.js';
import { restorePart } from '../support/random-commands.js';
import { MapStore } from './store.js';

describe('state: restore', () => {
  let store: MapStore;
  let machine: Machine;
  const run = (command: object) => {
    const index = machine.appliedIndex() + 1;
    const proposal = { id: `id-${index}`, since: 0, command: { v: 1, ...command } as Command };
    const entry = { kind: 'command', index, term: 1, data: encodeProposal(proposal) } as const;
    let result: Result | undefined;
    [result] = machine.apply([entry], (late) => {
      result = late;
    });
    while (store.isRewriting) store.turn();
    return result!;
  };
  const add = (part: number, records: object, id = 'a') =>
    run({ type: 'restore.add', id, part, records });
  const commit = (parts: number, id = 'a') => run({ type: 'restore.commit', id, parts });
  /** What a client could see: everything but the machine's own record and the request results. */
  const seen = () =>
    Object.fromEntries([...store.map].filter(([key]) => !/^(machine|request)/.test(key)));
  const role = keys.role('default', 'r1');

  beforeEach(() => {
    store = new MapStore([
      ['old', 'x'],
      [role, '{"ID":"r1","ModifyIndex":1}'],
    ]);
    machine = new Machine(store, HANDLERS);
  });

  it('shows none of the parts until the commit, and afterwards nothing of the old state', () => {
    add(0, [['new', '1']]);
    add(1, [[role, '{"ID":"r1","Name":"n","CreateIndex":1,"ModifyIndex":2}']]);
    expect(store.get('old')).to.equal('x');
    expect(store.get(role)).to.equal('{"ID":"r1","ModifyIndex":1}');
    expect(commit(2)).to.deep.include({ ok: true, index: 3 });
    expect(seen()).to.deep.equal({
      new: '1',
      [role]: '{"ID":"r1","Name":"n","CreateIndex":1,"ModifyIndex":2}',
      [RESTORE_FACT]: '{"Index":3}',
    });
  });

  it('keeps the level of the cluster, whatever the snapshot contains', () => {
    machine = new Machine(store, HANDLERS, 3);
    run({ type: 'system.level', level: 2 });
    add(0, [['level', '{"Level":3,"Index":7}']]);
    commit(1);
    expect(store.get('level')).to.equal('{"Level":2,"Index":1}');
  });

  it('keeps the checksums correct', () => {
    add(0, [['new', '1']]);
    commit(1);
    expect(machine.checksum().sums).to.deep.equal(new Machine(store, HANDLERS).checksum().sums);
    expect(machine.checksum().sums).to.have.property('new');
  });

  it("lowers indexes beyond this log to the restore's, and raises those of lists to it", () => {
    const text = '{"Name":"\\"ModifyIndex\\":9","CreateIndex":2,"ModifyIndex":900}';
    const list = keys.index('role', 'default');
    const deleted = keys.deleted('role', 'default');
    add(0, [
      [role, text],
      [list, '1'],
      [deleted, '900'],
      [keys.policyLink('p'), '{"Name":"p","Index":800}'],
    ]);
    commit(1);
    expect(store.get(role)).to.equal(
      '{"Name":"\\"ModifyIndex\\":9","CreateIndex":2,"ModifyIndex":2}',
    );
    expect([store.get(list), store.get(deleted)]).to.deep.equal(['2', '2']);
    expect(store.get(keys.policyLink('p'))).to.equal('{"Name":"p","Index":2}');
  });

  it("leaves out what belongs to another node's log", () => {
    add(0, [
      [keys.machine, '{"index":900}'],
      [keys.request(5, 2, 'id'), '{}'],
      [keyOf('local', 'x'), '1'],
    ]);
    commit(1);
    expect(machine.appliedIndex()).to.equal(2);
    expect(new Machine(store, HANDLERS).appliedIndex()).to.equal(2);
    expect(store.get(keyOf('local', 'x'))).to.equal(undefined);
  });

  it('refuses records that members could not decode, and changes nothing', () => {
    for (const value of ['{"Index":', '[]', 'null', 'x']) {
      add(0, [
        ['new', '1'],
        [role, value],
      ]);
      expect(commit(1)).to.nested.include({ ok: false, 'refusal.code': 'invalid' });
      expect(store.get('old')).to.equal('x');
    }
  });

  it('refuses to commit an incomplete restore, and changes nothing', () => {
    add(0, [['new', '1']]);
    expect(commit(2)).to.nested.include({ ok: false, 'refusal.code': 'conflict' });
    expect(store.get('old')).to.equal('x');
  });

  /** Begins to apply a commit of all parts; the test runs its turns. */
  const begin = (parts: number) => {
    const index = machine.appliedIndex() + 1;
    const command = { type: 'restore.commit', v: 1, id: 'a', parts } as Command;
    const data = encodeProposal({ id: 'late', since: 0, command });
    const entry = { kind: 'command', index, term: 1, data } as const;
    const late: (Result | undefined)[] = [];
    const next = { kind: 'noop', index: index + 1, term: 1 } as const;
    expect(machine.apply([entry, next], (result) => late.push(result))).to.deep.equal([]);
    return { entry, late };
  };
  const manyRecords = (count: number, value = '1') =>
    Array.from({ length: count }, (_, n) => [`new\u0000${String(n).padStart(6, '0')}`, value]);

  it('does a limited amount of work per turn, however many records and requests', () => {
    for (let n = 0; n < 3 * SLICE_RECORDS; n++) run({ type: 'restore.abort', id: `none-${n}` });
    add(0, manyRecords(5 * SLICE_RECORDS));
    const { late } = begin(1);
    let reads = 0;
    const { get } = store;
    store.get = (key) => {
      reads += 1;
      return get.call(store, key);
    };
    let turns = 0;
    while (store.isRewriting) {
      reads = 0;
      expect(store.turn()).to.be.at.most(SLICE_RECORDS);
      expect(reads).to.be.at.most(SLICE_RECORDS + 1);
      turns += 1;
    }
    expect(late).to.have.length(1);
    expect(turns).to.be.at.least(8);
  });

  it('shows the old state until the last turn, to readers and after a restart', () => {
    add(0, manyRecords(2 * SLICE_RECORDS));
    const before = new Map(store.map);
    const { late } = begin(1);
    while (late.length === 0) {
      expect(store.map).to.deep.equal(before);
      expect(machine.appliedIndex()).to.equal(1);
      expect(new Machine(store, HANDLERS).appliedIndex()).to.equal(1);
      store.turn();
    }
    expect(late).to.deep.equal([{ ok: true, value: 'true', index: 2 }]);
    expect(machine.appliedIndex()).to.equal(2);
    expect(store.map.size).to.equal(2 * SLICE_RECORDS + 4);
  });

  for (const level of [1, 2])
    it(`tells the result only when it is applied, at level ${level}`, () => {
      machine = new Machine(store, HANDLERS, 2);
      if (level > 1) run({ type: 'system.level', level });
      add(0, manyRecords(2 * SLICE_RECORDS));
      const { late } = begin(1);
      while (late.length === 0) {
        expect(machine.remembered('late')).to.equal(undefined);
        store.turn();
      }
      expect(machine.remembered('late')).to.include({ ok: true }).and.to.deep.equal(late[0]);
    });

  it('has the same result after a crash or an interruption, and stores its result', () => {
    add(0, manyRecords(2 * SLICE_RECORDS));
    const first = begin(1);
    store.turn();
    store.turn();
    store.giveUp();
    expect(first.late).to.deep.equal([undefined]);
    expect(machine.remembered('late')).to.equal(undefined);
    const other = new MapStore(store.map);
    begin(1);
    while (store.isRewriting) store.turn();
    const uninterrupted = machine.checksum();
    store = other;
    machine = new Machine(store, HANDLERS);
    begin(1);
    while (store.isRewriting) store.turn();
    expect(machine.checksum()).to.deep.equal(uninterrupted);
    expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
    expect(machine.remembered('late')).to.deep.equal({ ok: true, value: 'true', index: 2 });
    expect(new Machine(store, HANDLERS).remembered('late')).to.include({ index: 2 });
  });

  it('reports once that everything may have changed, and only when it has', () => {
    const events: string[] = [];
    machine.onReset(() => events.push(`reset ${store.get('old')}`));
    machine.onChanged((changed) => events.push(...changed));
    add(0, manyRecords(1));
    events.length = 0;
    begin(1);
    store.turn();
    expect(events).to.deep.equal([]);
    while (store.isRewriting) store.turn();
    expect(events).to.deep.equal(['reset undefined', RESTORE_FACT]);
  });

  it('discards a restore that another one overtakes, or that was aborted', () => {
    add(0, [['new', '1']]);
    add(0, [['newer', '1']], 'b');
    expect(commit(1)).to.deep.include({ ok: false });
    run({ type: 'restore.abort', id: 'b' });
    expect(commit(1, 'b')).to.deep.include({ ok: false });
    expect([...store.map.keys()].filter((key) => key.startsWith('restore'))).to.deep.equal([]);
    expect(store.get('old')).to.equal('x');
  });
});

describe('state: a restore of parts that hold bytes', () => {
  const role = keys.role('default', 'r1');
  const OLD = [['old', 'x']] as const;
  let store: MapStore;
  let machine: Machine;
  const entryOf = (command: object, ahead = 1) => {
    const index = machine.appliedIndex() + ahead;
    const proposal = { id: `id-${index}`, since: 0, command: { v: 1, ...command } as Command };
    return { kind: 'command', index, term: 1, data: encodeProposal(proposal) } as const;
  };
  const run = (command: object): Result => {
    let result: Result | undefined;
    [result] = machine.apply([entryOf(command)], (late) => {
      result = late;
    });
    while (store.isRewriting) store.turn();
    return result!;
  };
  const add = (part: number, records: readonly StateRecord[], id = 'a') =>
    run(restorePart({ id, part, records }));
  const commit = (parts: number, records: number, id = 'a') =>
    run({ type: 'restore.commit', id, parts, records });
  const abort = (id: string) => run({ type: 'restore.abort', id });
  const seen = () => [...store.map].filter(([key]) => !/^(machine|request)/.test(key)).sort();
  const CONFLICT = { ok: false, 'refusal.code': 'conflict' } as const;

  beforeEach(() => {
    store = new MapStore(OLD);
    machine = new Machine(store, HANDLERS);
    machine.recount();
  });

  it('keeps the records aside until the commit, and afterwards nothing of the old state', () => {
    add(0, [['new', '1']]);
    add(1, [[role, '{"Name":"é"}']]);
    expect(store.get(NEXT + role)).to.equal('{"Name":"é"}');
    expect([store.get('new'), store.get(role)]).to.deep.equal([undefined, undefined]);
    expect(restoreParts(store)).to.deep.equal(new Map([['a', 2]]));
    expect(commit(2, 2)).to.deep.equal({ ok: true, value: 'true', index: 3 });
    expect(seen()).to.deep.equal([
      [RESTORE_FACT, '{"Index":3}'],
      ['new', '1'],
      [role, '{"Name":"é"}'],
    ]);
    expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
    expect(new Machine(store, HANDLERS).checksum()).to.deep.equal(machine.checksum());
  });

  it('has checksums that tell which records were added, before they are in force', () => {
    const sumsAfter = (value: string) => {
      store = new MapStore(OLD);
      machine = new Machine(store, HANDLERS);
      add(0, [['new', value]]);
      return machine.checksum().sums;
    };
    expect(sumsAfter('1')).to.deep.equal(sumsAfter('1'));
    expect(sumsAfter('1')).not.to.deep.equal(sumsAfter('2'));
  });

  it("leaves out what belongs to another cluster's log", () => {
    const own: StateRecord[] = [
      [keys.machine, '{"index":900}'],
      [keys.request(5, 2, 'id'), '{}'],
      ...['local', 'next', 'restore'].map((table): StateRecord => [keyOf(table, 'x'), '1']),
      ['level', '{"Level":9}'],
      [RESTORE_FACT, '{"Index":900}'],
      [FORGOTTEN_FACT, '{"Index":900}'],
    ];
    add(0, [...own, ['new', '1']]);
    expect([...store.keys(NEXT)]).to.deep.equal([`${NEXT}new`]);
    expect(commit(1, 1)).to.include({ ok: true });
    expect(machine.appliedIndex()).to.equal(2);
  });

  it('that is not whole is not committed, and one that is aborted leaves nothing', () => {
    add(0, [['new', '1']]);
    for (const [parts, records] of [
      [2, 1],
      [1, 2],
    ] as const)
      expect(commit(parts, records)).to.nested.include(CONFLICT);
    expect(commit(1, 1, 'b')).to.nested.include(CONFLICT);
    expect(seen()).to.deep.include(['old', 'x']);
    abort('b');
    expect(store.get(`${NEXT}new`)).to.equal('1');
    abort('a');
    expect(seen()).to.deep.equal(OLD);
    expect(add(1, [['late', '1']])).to.nested.include(CONFLICT);
    expect(commit(1, 1)).to.nested.include(CONFLICT);
    expect(seen()).to.deep.equal(OLD);
    expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
  });

  it('ends the one before it, whose later parts and commit are refused', () => {
    run(restorePart({ id: 'old', part: 0, records: [['x', '1']] }, false));
    add(0, [['first', '1']]);
    expect(restoreParts(store)).to.deep.equal(new Map([['a', 1]]));
    add(0, [['second', '1']], 'b');
    expect(add(1, [['first', '2']])).to.nested.include(CONFLICT);
    expect(commit(1, 1)).to.nested.include(CONFLICT);
    expect([...store.keys(NEXT)]).to.deep.equal([`${NEXT}second`]);
    expect(commit(1, 1, 'b')).to.include({ ok: true });
    expect(seen()).to.deep.equal([
      [RESTORE_FACT, '{"Index":6}'],
      ['second', '1'],
    ]);
  });

  it('refuses a part that cannot be read, and keeps what it has', () => {
    add(0, [['new', '1']]);
    const whole = recordBytes(['a', '1']);
    const cut = deflateRawSync(whole.subarray(0, -1)).toString('base64');
    for (const bytes of ['', 'AAAA', '!', cut, 7, null, {}])
      expect(run({ type: 'restore.add', id: 'a', part: 1, bytes })).to.nested.include({
        ok: false,
        'refusal.code': 'invalid',
      });
    expect(commit(1, 1)).to.include({ ok: true });
  });

  it('bounds the records that one call applies', () => {
    const many = Array.from({ length: 1500 }, (_, n): StateRecord => [`n${n}`, '1']);
    const entries = Array.from({ length: 8 }, (_, part) =>
      entryOf(restorePart({ id: 'a', part, records: many }), part + 1),
    );
    const results = machine.apply(entries);
    expect(results).to.have.length.within(1, 4);
    expect([machine.isReplacing, machine.appliedIndex()]).to.deep.equal([false, results.length]);
    expect(new Machine(store, HANDLERS).appliedIndex()).to.equal(results.length);
  });

  it('has the same result after an interruption, and only when it is applied', () => {
    add(0, [['new', '1']]);
    const late: (Result | undefined)[] = [];
    const last = entryOf({ type: 'restore.commit', id: 'a', parts: 1, records: 1 });
    expect(machine.apply([last], (result) => late.push(result))).to.deep.equal([]);
    expect(machine.isReplacing).to.equal(true);
    store.turn();
    const crashed = new Machine(new MapStore(store.map), HANDLERS);
    expect(crashed.appliedIndex()).to.equal(1);
    store.giveUp();
    expect([late, machine.isReplacing]).to.deep.equal([[undefined], false]);
    machine.apply([last], (result) => late.push(result));
    while (store.isRewriting) store.turn();
    expect(late[1]).to.deep.equal({ ok: true, value: 'true', index: 2 });
    expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
  });
});
