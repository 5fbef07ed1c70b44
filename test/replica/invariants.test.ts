/** Each invariant of the replica, with what breaks it. */
import { expect } from 'chai';
import { newOutbox } from '../../src/raft/state.js';
import type { Entry, Output } from '../../src/raft/types.js';
import { DiskWatch } from '../../src/replica/disk-watch.js';
import { AppliedLog } from '../../src/replica/log/applied-log.js';
import { LogWriter } from '../../src/replica/log/log-writer.js';
import { RaftLoop } from '../../src/replica/loop.js';
import { PendingReads } from '../../src/replica/reads/pending-reads.js';
import { Applier } from '../../src/replica/state/applier.js';
import { PendingWrites } from '../../src/replica/writes/pending-writes.js';
import type { Result } from '../../src/state/types.js';
import { FakeClock, FakeLog, FakeMachine, FakeWire, ScriptedCore } from './fakes.js';

const noop = (index: number): Entry => ({ kind: 'noop', index, term: 1 });
const output = (...entries: Entry[]): Output => ({ ...newOutbox(), entries });
const data = new Uint8Array(1);
const append = (pending: PendingWrites, id: number, index: number): void =>
  pending.appended({ id, index, term: 1 }, [{ kind: 'noop', index, term: 1 }]);
const nothing = (): void => {};

function writer() {
  const log = new FakeLog();
  const parts = { log, wire: new FakeWire(), truncates: nothing, stored: nothing };
  return { log, writer: new LogWriter(parts) };
}

function applier() {
  const [log, machine, clock] = [new FakeLog(), new FakeMachine(), new FakeClock()];
  log.list = [noop(1), noop(2)];
  const limits = { applyEntriesMax: 10, applyBytesMax: 1000, tickMs: 10 };
  const disks = new DiskWatch({ hangTicks: 5, tickMs: 10 });
  const calls = { applied: nothing, wake: nothing, isBehind: () => false };
  return { log, machine, applier: new Applier({ log, machine, clock, limits, disks, ...calls }) };
}

const CASES: readonly (readonly [broken: string, breaks: () => unknown])[] = [
  [
    'entries leave a gap in the log (first 3, last 1)',
    () => {
      const { writer: storing } = writer();
      storing.store(output(noop(1)));
      storing.store(output(noop(3)));
    },
  ],
  [
    'a step while the log is replaced (durable 9)',
    () => {
      const { log, writer: storing } = writer();
      log.reset = () => {};
      storing.replace({ index: 9, term: 1, configuration: { members: [] } }, nothing);
      storing.store(output(noop(10)));
    },
  ],
  [
    'a batch is durable before an earlier one (position 1)',
    () => {
      const { log, writer: storing } = writer();
      storing.store(output(noop(1)));
      storing.store(output(noop(2)));
      log.storing[1]?.();
    },
  ],
  [
    'durable beyond the end of the log (durable 2, last 1)',
    () => {
      const { log, writer: storing } = writer();
      storing.store(output(noop(1), noop(2)));
      log.list.pop();
      log.synced();
    },
  ],
  [
    'what is durable falls (from 2, durable 1)',
    () => {
      const { log, writer: storing } = writer();
      storing.store(output(noop(1), noop(2)));
      log.synced();
      log.list.pop();
      storing.store({ ...output(), hardState: { term: 2, votedFor: null } });
      log.synced();
    },
  ],
  [
    'applied before committed and durable (applied 3, upTo 2)',
    () => {
      const [core, log, wire] = [new ScriptedCore(), new FakeLog(), new FakeWire()];
      const [machine, clock] = [new FakeMachine(), new FakeClock()];
      let resume = nothing;
      Object.assign(machine, {
        apply: (_entries: readonly Entry[], later: (result: Result) => void) => {
          resume = () => later({ ok: true, index: 1 });
          return [];
        },
      });
      const limits = { tickMs: 10, applyEntriesMax: 1, applyBytesMax: 1000, stallMs: 100 };
      const quiet = { turn: nothing, role: nothing, configuration: nothing, applied: nothing };
      const events = { ...quiet, sendSnapshot: nothing, tick: nothing };
      const loop = new RaftLoop({ core, log, wire, machine, clock, limits, hangTicks: 5, events });
      core.respond = () => ({
        entries: core.steps.length === 1 ? [noop(1), noop(2)] : [],
        commit: 2,
      });
      loop.start();
      loop.transfer();
      clock.settle();
      log.synced();
      clock.settle();
      machine.index = 3;
      resume();
    },
  ],
  [
    'a proposal is appended twice (id 1, index 6, term 1)',
    () => {
      const pending = new PendingWrites();
      const id = pending.add(nothing);
      append(pending, id, 5);
      append(pending, id, 6);
    },
  ],
  [
    'two proposals at one index (id 2, index 5, term 1)',
    () => {
      const pending = new PendingWrites();
      append(pending, pending.add(nothing), 5);
      append(pending, pending.add(nothing), 5);
    },
  ],
  [
    'a request is proposed twice (id 2, open 1)',
    () => {
      const pending = new PendingWrites();
      pending.offer(data, nothing, 'r');
      pending.offer(data, nothing, 'r');
    },
  ],
  [
    'more commands than writes (offered 1, open 0)',
    () => {
      const pending = new PendingWrites();
      pending.offer(data, nothing);
      pending.dropped(1, 'overloaded');
      pending.take();
    },
  ],
  [
    'a read is answered twice (id 1, index 8)',
    () => {
      const reads = new PendingReads();
      reads.add('lease', nothing);
      reads.take();
      reads.settle(1, 7);
      reads.settle(1, 8);
    },
  ],
  [
    'the log lacks the entry to apply (from 1, found 2, upTo 2)',
    () => {
      const { log, applier: applying } = applier();
      log.entries = () => [noop(2)];
      applying.applyUpTo(2);
    },
  ],
  [
    'applied other entries than given (applied 1, expected 2)',
    () => {
      const { machine, applier: applying } = applier();
      machine.apply = () => {
        machine.index = 1;
        return [undefined, undefined];
      };
      applying.applyUpTo(2);
    },
  ],
  [
    'applied out of order (index 2, at 0)',
    () => new AppliedLog(new FakeLog(), 0).advance([noop(2)]),
  ],
  ['compacted before applied (index 1, at 0)', () => new AppliedLog(new FakeLog(), 0).forget(1)],
];

describe('the invariants of the replica', () => {
  for (const [broken, breaks] of CASES)
    it(broken, () => expect(breaks).to.throw(`invariant broken: ${broken}`));
});
