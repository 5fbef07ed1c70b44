import { expect } from 'chai';
import fc from 'fast-check';
import type { Entry } from '../../src/raft/types.js';
import { Checksums } from '../../src/state/checksum.js';
import { FatalError } from '../../src/state/fatal.js';
import { keys } from '../../src/state/keys.js';
import { levelOf } from '../../src/state/levels.js';
import { Machine } from '../../src/state/machine.js';
import { recordOf } from '../../src/state/machine-record.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { forgetRequests } from '../../src/state/request-forget.js';
import type { Command, Handler, Handlers } from '../../src/state/types.js';
import { entry, handlers, put, putEntry } from './puts.js';
import { MapStore } from './store.js';

describe('state machine', () => {
  it('commits changes, result and position of an entry in one commit', () => {
    const store = new MapStore();
    const machine = new Machine(store, handlers);
    expect(machine.apply([putEntry(1, 'a', '1')])).to.deep.equal([
      { ok: true, index: 1, value: '1' },
    ]);
    expect(store.commits).to.equal(1);
    expect(store.get('a')).to.equal('1');
    expect(new Machine(store, handlers).appliedIndex()).to.equal(1);
  });

  it('commits all entries of an apply in one commit, and each checkpoint by itself', () => {
    const store = new MapStore();
    const limits = { requestsMax: 9, pageRequests: 2, checkpointEvery: 4 };
    const machine = new Machine(store, handlers, undefined, limits);
    machine.apply([putEntry(1, 'a', '1'), putEntry(2, 'a', '2'), putEntry(3, 'b', '3')]);
    expect(store.commits).to.equal(1);
    expect(recordOf(store)).to.include({ index: 3, term: 1 });
    machine.apply([putEntry(4, 'a', '4'), putEntry(5, 'a', '5')]);
    expect(store.commits).to.equal(3);
    expect(machine.checkpoint(4)?.sums['a']).not.to.equal(machine.checksum().sums['a']);
    machine.apply([]);
    expect(store.commits).to.equal(3);
  });

  it('has the same results, state and checkpoints however entries are grouped', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 't\u0000a', 't\u0000b'),
      value: fc.option(fc.constantFrom('1', '2'), { nil: undefined }),
      refuse: fc.boolean(),
      id: fc.constantFrom(undefined, 'one', 'two'),
      since: fc.nat(3),
      isNoop: fc.constantFrom(false, false, false, true),
      isForget: fc.constantFrom(false, false, false, true),
      isRaise: fc.constantFrom(false, false, false, false, true),
      isLast: fc.boolean(),
    });
    const all: Handlers = { put, 'request.forget': forgetRequests };
    const limits = { requestsMax: 5, pageRequests: 3, checkpointEvery: 4 };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const entries = steps.map((one, at): Entry => {
          const index = at + 1;
          if (one.isNoop) return { kind: 'noop', index, term: 1 };
          if (one.isForget) {
            const upTo = Math.max(0, at - one.since);
            const command = { type: 'request.forget', upTo, max: 2 };
            return entry(index, command, undefined, at);
          }
          if (one.isRaise) return entry(index, { type: 'system.level', level: 2 }, undefined, at);
          const { id, since, ...rest } = one;
          return entry(index, { type: 'put', ...rest }, id, Math.max(0, at - since));
        });
        const outcomes = (['single', 'grouped', 'restarted'] as const).map((how) => {
          const store = new MapStore();
          const touched = new Set<string>();
          const start = (): Machine => {
            const started = new Machine(store, all, undefined, limits);
            started.onChanged((changed) => {
              for (const key of changed) touched.add(key);
            });
            return started;
          };
          let machine = start();
          const results: unknown[] = [];
          let group: Entry[] = [];
          for (const [at, each] of entries.entries()) {
            group.push(each);
            if (how !== 'single' && !steps[at]!.isLast) continue;
            results.push(...machine.apply(group));
            group = [];
            if (how === 'restarted') machine = start();
          }
          results.push(...machine.apply(group));
          expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
          // A start forgets the checkpoints.
          const checkpoints =
            how === 'restarted' || entries.map(({ index }) => machine.checkpoint(index));
          const { sums, ...record } = recordOf(store) ?? { sums: {} };
          store.map.delete(keys.machine);
          return {
            results,
            checkpoints,
            record,
            sums,
            touched,
            state: new Map([...store.map].sort()),
          };
        });
        expect(outcomes[1]).to.deep.equal(outcomes[0]);
        expect(outcomes[2]).to.deep.equal({ ...outcomes[0], checkpoints: true });
      }),
      { numRuns: 300 },
    );
  });

  it('keeps only the result of a refused command', () => {
    const store = new MapStore();
    const machine = new Machine(store, handlers);
    const refused = entry(1, { type: 'put', key: 'a', value: '1', refuse: true });
    expect(machine.apply([refused])[0]).to.deep.include({ ok: false, index: 1 });
    expect([...store.map.keys()].map((key) => key.split('\u0000', 1)[0])).to.have.members([
      keys.machine,
      'request',
    ]);
  });

  it('records where a secret was deleted or replaced, and assumes so for existing states', () => {
    const store = new MapStore();
    const machine = new Machine(store, handlers);
    const token = keys.token('default', 'a');
    const method = keys.method('default', 'm');
    const certificate = keys.config('default', 'inline-certificate', 'c');
    const entryKey = keys.config('default', 'service-defaults', 's');
    const steps: readonly (readonly [key: string, value: string | undefined, left: number])[] = [
      [token, '1', 0],
      [token, '2', 0],
      [token, undefined, 3],
      [token, undefined, 3],
      [method, '1', 3],
      [method, '1', 3],
      [method, '2', 7],
      [entryKey, '1', 7],
      [entryKey, undefined, 7],
      [certificate, '1', 7],
      [certificate, '2', 11],
      [certificate, undefined, 12],
      [entryKey, '3', 12],
    ];
    for (const [at, [key, value, left]] of steps.entries()) {
      machine.apply([putEntry(at + 1, key, value)]);
      expect(machine.secretLeftAt(), `step ${at + 1}`).to.equal(left);
    }
    expect(new Machine(store, handlers).secretLeftAt()).to.equal(13);
  });

  it('advances its position for entries without a command', () => {
    const machine = new Machine(new MapStore(), handlers);
    const results = machine.apply([
      { kind: 'noop', index: 1, term: 4 },
      { kind: 'configuration', index: 2, term: 4, configuration: { members: [] } },
    ]);
    expect(results).to.deep.equal([undefined, undefined]);
    expect([machine.appliedIndex(), machine.appliedTerm()]).to.deep.equal([2, 4]);
  });

  it('refuses an entry applied twice, and a gap', () => {
    const machine = new Machine(new MapStore(), handlers);
    machine.apply([putEntry(1, 'a', '1')]);
    expect(() => machine.apply([putEntry(1, 'a', '2')])).to.throw(FatalError);
    expect(() => machine.apply([putEntry(3, 'a', '2')])).to.throw(FatalError);
  });

  it('stops at unknown types, versions and bytes, keeping earlier changes', () => {
    for (const bad of [
      entry(2, { type: 'nope' }),
      entry(2, { type: '__proto__' }),
      entry(2, { type: 'constructor' }),
      entry(2, { type: 'put', v: 2 }),
      { kind: 'command', index: 2, term: 1, data: Uint8Array.of(0x91, 1) } as Entry,
      { kind: 'command', index: 2, term: 1, data: Uint8Array.of(0xc1) } as Entry,
    ]) {
      const machine = new Machine(new MapStore(), handlers);
      expect(() => machine.apply([putEntry(1, 'a', '1'), bad])).to.throw(FatalError);
      expect(machine.appliedIndex()).to.equal(1);
    }
  });

  it('reports once per apply which keys changed, without refused and equal writes', () => {
    const machine = new Machine(new MapStore(), handlers);
    const reported: (readonly string[])[] = [];
    machine.onChanged((changed) => reported.push(changed));
    machine.apply([putEntry(1, 'a', '1'), putEntry(2, 'b', '1'), putEntry(3, 'a', '2')]);
    machine.apply([
      putEntry(4, 'a', '2'),
      entry(5, { type: 'put', key: 'c', value: '1', refuse: true }),
    ]);
    expect(reported).to.deep.equal([['a', 'b']]);
  });

  it('writes entries and its own record in formats that later versions can read', () => {
    const command = { type: 'put', v: 1, key: 'a', value: '1' } as Command;
    const data = encodeProposal({ id: 'id', since: 7, command });
    expect(Buffer.from(data).toString('latin1')).to.equal(
      '\x94\x01\xa2id\x07\xd9*{"type":"put","v":1,"key":"a","value":"1"}',
    );
    const store = new MapStore();
    new Machine(store, handlers).apply([{ kind: 'command', index: 1, term: 3, data }]);
    expect(store.get('machine')).to.equal(
      '{"v":1,"index":1,"term":3,"floor":0,"sums":{"a":"98772d626393b3c5","request":"7764fcc9b629fb61"}}',
    );
    expect(store.get('request\x000000000000000001\x0033\x00id')).to.equal(
      '{"ok":true,"value":"1","index":1}',
    );
    const [later, lost] = [3, 2].map(
      (v) => new MapStore([['machine', `{"v":${v},"index":1,"term":3,"floor":0,"sums":{}}`]]),
    );
    expect(() => new Machine(later!, handlers)).to.throw(FatalError, 'another version');
    // The level is in a record of its own, which this state does not have.
    expect(() => new Machine(lost!, handlers)).to.throw(FatalError, 'has lost the level');
  });

  it('is at level 1 until a command raises it; then older programs refuse its record', () => {
    const raise = (index: number, level: number) =>
      entry(index, { type: 'system.level', level } as never);
    const store = new MapStore();
    const machine = new Machine(store, handlers, 3);
    expect(levelOf(store)).to.equal(1);
    const [first, lower] = machine.apply([raise(1, 2), raise(2, 1)]);
    expect([first, lower]).to.deep.equal([
      { ok: true, value: 'true', index: 1 },
      { ok: true, value: 'false', index: 2 },
    ]);
    expect(store.get('level')).to.equal('{"Level":2,"Index":1}');
    expect(store.get('machine')).to.match(/^\{"v":2,/);
    expect(machine.checksum().sums).to.have.property('level');
    expect(new Machine(store, handlers, 2).appliedIndex()).to.equal(2);
    expect(() => new Machine(store, handlers, 1)).to.throw(FatalError, 'another version');
    // It is not applied, so that a release that supports it can still open the folder.
    const old = new MapStore();
    expect(() => new Machine(old, handlers, 1).apply([raise(1, 2)])).to.throw(
      FatalError,
      'another version: the cluster is at level 2, this release supports up to level 1',
    );
    expect(levelOf(old)).to.equal(1);
  });

  it('reports its position once everything before it is durable', async () => {
    const store = new MapStore();
    const machine = new Machine(store, handlers);
    machine.apply([putEntry(1, 'a', '1')]);
    const flushed = new Promise((resolve) => machine.flush((...position) => resolve(position)));
    machine.apply([putEntry(2, 'a', '2')]);
    expect(await flushed).to.deep.equal([1, 1]);
  });

  it('reports no position, and leaves no rejection unhandled, if the disk fails', async () => {
    const store = new MapStore();
    store.flush = () => Promise.reject(new Error('the disk failed'));
    const machine = new Machine(store, handlers);
    machine.apply([putEntry(1, 'a', '1')]);
    const unhandled: unknown[] = [];
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.once('unhandledRejection', (error) => unhandled.push(error));
    const positions: number[] = [];
    machine.flush((index) => positions.push(index));
    await new Promise(setImmediate);
    process.removeAllListeners('unhandledRejection');
    for (const listener of others) process.on('unhandledRejection', listener);
    expect({ positions, unhandled }).to.deep.equal({ positions: [], unhandled: [] });
  });

  it('loads another state as a whole, and reports that everything may have changed', () => {
    const other = new MapStore();
    const source = new Machine(other, handlers);
    source.apply([putEntry(1, 'a', '1', 'known'), putEntry(2, 'b', '1')]);
    const store = new MapStore();
    const machine = new Machine(store, handlers);
    let resets = 0;
    machine.onReset(() => (resets += 1));
    machine.apply([putEntry(1, 'c', '1')]);
    store.map.clear();
    for (const [key, value] of other.map) store.map.set(key, value);
    machine.reload();
    expect([resets, machine.appliedIndex()]).to.deep.equal([1, 2]);
    expect(machine.checksum()).to.deep.equal(source.checksum());
    expect(machine.remembered('known')).to.deep.include({ ok: true, index: 1 });
    expect(machine.remembered('id-1')).to.equal(undefined);
  });

  it('keeps special member names in a command unchanged', () => {
    const seen: unknown[] = [];
    const spy: Handler<Command> = (_context, command) => {
      seen.push(command);
      return { ok: true };
    };
    const command = JSON.parse('{"v":1,"type":"spy","m":{"__proto__":{"x":1},"constructor":2}}');
    new Machine(new MapStore(), { spy }).apply([entry(1, command)]);
    expect(JSON.stringify(seen[0])).to.equal(JSON.stringify(command));
  });
});

describe('checksums of the machine', () => {
  const change = fc.record({
    table: fc.constantFrom('policy', 'role', 'local'),
    name: fc.constantFrom('a', 'b', 'c', '__proto__'),
    value: fc.option(fc.string(), { nil: undefined }),
    refuse: fc.boolean(),
  });

  it('updated step by step equal those computed from the whole state', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const store = new MapStore();
        let machine = new Machine(store, handlers);
        changes.forEach(({ table, name, value, refuse }, position) => {
          const key = `${table}\u0000${name}`;
          machine.apply([entry(position + 1, { type: 'put', key, value, refuse })]);
          if (position % 7 === 3) machine = new Machine(store, handlers);
        });
        expect(machine.checksum().sums).to.deep.equal(Checksums.of(store).toJSON());
      }),
    );
  });

  it('are stored at indexes that all members pass', () => {
    const machine = new Machine(new MapStore(), handlers);
    for (let index = 1; index <= 600; index++) machine.apply([{ kind: 'noop', index, term: 1 }]);
    expect(machine.checkpoint()?.index).to.equal(512);
    expect(machine.checkpoint(256)?.index).to.equal(256);
    expect(machine.checkpoint(300)).to.equal(undefined);
  });
});
