import { expect } from 'chai';
import type { Entry, Message, Output } from '../../src/raft/types.js';
import { type LoopEvents, RaftLoop } from '../../src/replica/loop.js';
import type { MachinePort } from '../../src/replica/ports.js';
import type { Outcome } from '../../src/replica/writes/pending-writes.js';
import { encodeProposal } from '../../src/state/proposal.js';
import type { Result } from '../../src/state/types.js';
import { FakeClock, FakeLog, FakeMachine, FakeWire, heartbeat, ScriptedCore } from './fakes.js';

const LIMITS = { tickMs: 20, stallMs: 100, applyEntriesMax: 2, applyBytesMax: 1000 };

const command = (index: number, term = 1, id = `id-${index}`): Entry => ({
  ...{ kind: 'command', index, term },
  data: encodeProposal({ id, since: 0, command: { type: `c${index}`, v: 1 } }),
});
const vote = (to: string): Message => ({
  ...{ type: 'voteResponse', from: 'a', to, term: 1, granted: true },
});

/** Ticks without progress after which a disk is considered hung. */
const HANG_TICKS = 10;

const QUIET: LoopEvents = {
  turn: () => {},
  role: () => {},
  configuration: () => {},
  applied: () => {},
  sendSnapshot: () => {},
  tick: () => {},
};

function build(events: Partial<LoopEvents> = {}, isBehind = () => false) {
  const clock = new FakeClock();
  const log = new FakeLog();
  const wire = new FakeWire();
  const machine = new FakeMachine();
  const core = new ScriptedCore();
  const parts = { core, log, wire, machine, clock, isBehind, limits: LIMITS };
  const loop = new RaftLoop({ ...parts, hangTicks: HANG_TICKS, events: { ...QUIET, ...events } });
  loop.start();
  clock.settle();
  return { ...parts, loop };
}

/** Returns this output from exactly one step. */
function once(core: ScriptedCore, output: Partial<Output>): void {
  core.respond = () => {
    core.respond = () => ({});
    return output;
  };
}

/** Returns `output` of the proposal's id from each step that has a proposal. */
function onPropose(core: ScriptedCore, output: (id: number) => Partial<Output>): void {
  core.respond = (inputs) => {
    const propose = inputs.find((input) => input.type === 'propose');
    return propose === undefined ? {} : output(propose.commands[0]!.id);
  };
}

describe('replica: a log that has lost entries', () => {
  /** The inputs of a start with a state at index 3 of term 4, beside a log of two terms. */
  const inputsOf = (terms: readonly number[], isBarred: boolean): readonly string[] => {
    const built = build();
    const { log, machine, core, clock } = built;
    built.loop.stop();
    log.list = terms.map((term, at) => command(at + 1, term));
    if (isBarred) Object.assign(log, { bar: () => ({ index: 5, term: 4 }) });
    Object.assign(machine, { index: 3, term: 4 });
    const loop = new RaftLoop({ ...built, hangTicks: HANG_TICKS, events: QUIET });
    loop.start();
    clock.settle();
    return core.types;
  };

  it('is taken for committed as far as the state where it holds the entry applied last', () => {
    expect(inputsOf([1, 1, 4], false)).to.include('applied');
    expect(inputsOf([1, 1, 4], true)).to.include('applied');
  });

  it('is not where it holds an older entry in that place, or none', () => {
    expect(inputsOf([1, 1, 2], true)).not.to.include('applied');
    expect(inputsOf([1, 1], true)).not.to.include('applied');
  });
});

describe('replica: the Raft loop (an entry that takes many turns)', () => {
  const long = () => {
    const applied: number[] = [];
    const built = build({ applied: (index) => applied.push(index) });
    const { machine, core, loop, clock, log } = built;
    const apply = machine.apply.bind(machine);
    const resumes: ((result: Result | undefined) => void)[] = [];
    (machine as MachinePort).apply = (entries, resume) => {
      const at = entries.findIndex(({ index }) => index === 2);
      if (at < 0 || machine.index >= 2) return apply(entries);
      const results = apply(entries.slice(0, at));
      machine.isReplacing = true;
      resumes.push((result) => {
        machine.isReplacing = false;
        if (result !== undefined) apply([entries[at]!]);
        resume(result);
      });
      return results;
    };
    once(core, { entries: [command(1), command(2), command(3)], commit: 3 });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    log.synced();
    clock.settle();
    return { ...built, applied, resumes };
  };
  const ok = (index: number): Result => ({ ok: true, index });

  it('applies nothing more until the entry is applied, and continues with everything else', () => {
    const { applied, resumes, clock, loop, core, machine } = long();
    expect(applied).to.deep.equal([1]);
    const steps = core.steps.length;
    loop.receive(heartbeat('b', 'a', 1));
    clock.advance(100);
    expect(core.steps.length).to.be.greaterThan(steps);
    expect(resumes).to.have.length(1);
    expect(machine.index).to.equal(1);
    resumes[0]!(ok(2));
    clock.settle();
    expect(applied).to.deep.equal([1, 2, 3]);
  });

  it('hands the entry to the state machine again if a snapshot was installed meanwhile', () => {
    const { applied, resumes, clock } = long();
    resumes[0]!(undefined);
    clock.advance(LIMITS.tickMs);
    expect(resumes).to.have.length(2);
    resumes[1]!(ok(2));
    clock.settle();
    expect(applied).to.deep.equal([1, 2, 3]);
  });

  it('ignores the result once it is stopped', () => {
    const { applied, resumes, loop, clock } = long();
    loop.stop();
    resumes[0]!(ok(2));
    clock.advance(100);
    expect(applied).to.deep.equal([1]);
  });
});

describe('replica: the Raft loop (order of effects)', () => {
  it('sends appends at once, and votes and acknowledgements only once they are durable', () => {
    const { loop, core, clock, wire, log } = build();
    const append = heartbeat('a', 'b', 1);
    once(core, { sendNow: [append], sendAfterStore: [vote('b')], entries: [command(1)] });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(wire.sent).to.deep.equal([append]);
    log.synced();
    expect(wire.sent).to.deep.equal([append, vote('b')]);
  });

  it('delays a message until earlier batches are durable, although its step stores nothing', () => {
    const { loop, core, clock, wire, log } = build();
    once(core, { hardState: { term: 1, votedFor: 'b' }, sendAfterStore: [vote('b')] });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    once(core, { sendAfterStore: [vote('b')] });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(wire.sent).to.deep.equal([]);
    log.synced();
    expect(wire.sent).to.deep.equal([vote('b'), vote('b')]);
  });

  it('sends messages at once when nothing is being stored', () => {
    const { loop, core, clock, wire } = build();
    once(core, { sendAfterStore: [vote('c')] });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(wire.sent).to.deep.equal([vote('c')]);
  });

  it('reports the newest durable position, never that of entries being replaced', () => {
    const { loop, core, clock, log } = build();
    once(core, { entries: [command(1), command(2), command(3)] });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    once(core, { entries: [command(2, 2)] });
    loop.receive(heartbeat('b', 'a', 2));
    clock.settle();
    log.synced();
    clock.settle();
    expect(core.steps.at(-1)!.inputs).to.deep.equal([{ type: 'stored', index: 1, term: 1 }]);
    log.synced();
    clock.settle();
    expect(core.steps.at(-1)!.inputs).to.deep.equal([{ type: 'stored', index: 2, term: 2 }]);
  });

  it('applies nothing, and answers nothing, that is committed but not durable here', () => {
    const { loop, core, clock, log, machine } = build();
    const outcomes: Outcome[] = [];
    onPropose(core, (id) => ({
      entries: [command(1)],
      appended: [{ id, index: 1, term: 1 }],
      commit: 1,
    }));
    loop.propose(new Uint8Array(), (outcome) => outcomes.push(outcome));
    clock.settle();
    expect([machine.index, outcomes.length]).to.deep.equal([0, 0]);
    log.synced();
    clock.settle();
    const result = { ok: true, index: 1, value: 'c1' };
    expect(outcomes).to.deep.equal([{ kind: 'applied', index: 1, result }]);
  });
});

describe('replica: the Raft loop (clocks)', () => {
  for (const [direction, jumpMs] of [
    ['ahead', 5000],
    ['back', -5000],
  ] as const)
    it(`reports once, and first of all, that the wall clock jumped ${direction}`, () => {
      const { loop, core, clock } = build();
      clock.wallAheadMs += jumpMs;
      loop.receive(heartbeat('b', 'a', 1));
      loop.read('lease', () => {});
      clock.turn();
      expect(core.types).to.deep.equal(['clockSuspect', 'message', 'read']);
      loop.read('lease', () => {});
      clock.turn();
      expect(core.steps.at(-1)!.inputs.map(({ type }) => type)).to.deep.equal(['read']);
    });

  it('delays a tick by the fraction that the core requests', () => {
    const { core, clock } = build();
    const ticks = (): number => core.types.filter((type) => type === 'tick').length;
    clock.advance(19);
    once(core, { lengthenTick: 0.5 });
    clock.advance(1);
    expect(ticks()).to.equal(1);
    clock.advance(29);
    expect(ticks()).to.equal(1);
    clock.advance(1);
    expect(ticks()).to.equal(2);
    clock.advance(20);
    expect(ticks()).to.equal(3);
  });

  it('detects that the clocks drift apart slowly', () => {
    const { loop, core, clock } = build();
    for (let i = 0; i < 4; i++) {
      clock.wallAheadMs += 4;
      loop.read('lease', () => {});
      clock.turn();
    }
    expect(core.types.filter((type) => type === 'clockSuspect')).to.have.length(1);
  });
});

describe('replica: the Raft loop (one step for everything that arrived)', () => {
  it("hands a turn's messages, proposals and reads to the core together, in that order", () => {
    const { loop, core, clock } = build();
    loop.read('lease', () => {});
    loop.propose(new Uint8Array([1]), () => {});
    loop.receive(heartbeat('b', 'a', 1));
    loop.propose(new Uint8Array([2]), () => {});
    loop.read('lease', () => {});
    clock.turn();
    expect(core.steps).to.have.length(1);
    expect(core.types).to.deep.equal(['message', 'propose', 'read']);
    const propose = core.steps[0]!.inputs[1];
    expect(propose?.type === 'propose' && propose.commands).to.have.length(2);
  });

  it('includes reads that are drained as a turn begins, and schedules no other turn', () => {
    let drained = -1;
    const turn = (): void => {
      if (++drained === 1) loop.read('lease', () => {});
    };
    const { loop, core, clock } = build({ turn });
    const before = loop.stats.turns;
    loop.wake();
    clock.settle();
    expect(core.types).to.deep.equal(['read']);
    expect([drained, loop.stats.turns - before]).to.deep.equal([1, 1]);
  });

  it('releases all reads of a turn with one read of the core', () => {
    const { loop, core, clock } = build();
    const released: (number | undefined)[] = [];
    core.respond = (inputs) => {
      const read = inputs.find((input) => input.type === 'read');
      return read === undefined ? {} : { reads: [{ id: read.ids[0]!, index: 7 }] };
    };
    for (let i = 0; i < 3; i++) loop.read('quorum', (index) => released.push(index));
    clock.settle();
    expect(released).to.deep.equal([7, 7, 7]);
  });

  it('applies in slices and handles messages between them', () => {
    const { loop, core, clock, log, machine } = build();
    once(core, { entries: [1, 2, 3, 4, 5].map((i) => command(i)) });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    once(core, { commit: 5 });
    const { turns } = loop.stats;
    log.synced();
    clock.turn();
    expect(machine.index).to.equal(2);
    loop.receive(heartbeat('b', 'a', 1));
    clock.turn();
    expect(core.steps.at(-1)!.inputs.map(({ type }) => type)).to.include('message');
    expect(machine.index).to.equal(4);
    clock.settle();
    expect([machine.index, loop.stats.turns - turns]).to.deep.equal([5, 3]);
  });

  it('fails when the log lacks the next entry, instead of requesting it forever', () => {
    const { loop, core, clock, log } = build();
    log.meta = { index: 5, term: 1, configuration: { members: [] } };
    once(core, { entries: [command(6)] });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    once(core, { commit: 6 });
    log.synced();
    expect(() => clock.settle()).to.throw(
      'the log lacks the entry to apply (from 1, found undefined',
    );
  });

  it('applies nothing while a snapshot is installed, but handles messages', () => {
    const { loop, core, clock, log, machine } = build();
    loop.pauseApply();
    once(core, { entries: [command(1)], commit: 1 });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    log.synced();
    clock.settle();
    expect(machine.index).to.equal(0);
    expect(core.types).to.include('stored');
    loop.resumeApply();
    clock.settle();
    expect(machine.index).to.equal(1);
  });
});

describe('replica: the Raft loop (outcomes of proposals)', () => {
  it("never reports the result of another leader's command at the same index", () => {
    const { loop, core, clock, log } = build();
    const outcomes: Outcome[] = [];
    onPropose(core, (id) => ({ entries: [command(1)], appended: [{ id, index: 1, term: 1 }] }));
    loop.propose(new Uint8Array(), (outcome) => outcomes.push(outcome));
    clock.settle();
    once(core, { entries: [command(1, 2, 'other')], commit: 1 });
    loop.receive(heartbeat('b', 'a', 2));
    clock.settle();
    while (log.storing.length > 0) log.synced();
    clock.settle();
    expect(outcomes).to.deep.equal([{ kind: 'dropped', reason: 'not_leader' }]);
    expect(loop.pending).to.equal(0);
  });

  it('reports a dropped proposal as certainly not proposed', () => {
    const { loop, core, clock } = build();
    const outcomes: Outcome[] = [];
    onPropose(core, (id) => ({ dropped: [{ id, reason: 'not_leader' }] }));
    loop.propose(new Uint8Array(), (outcome) => outcomes.push(outcome));
    clock.settle();
    expect(outcomes).to.deep.equal([{ kind: 'dropped', reason: 'not_leader' }]);
  });

  it('reports an unknown outcome for proposals that an installed snapshot may cover', () => {
    const { loop, core, clock, log, machine } = build();
    const outcomes: Outcome[] = [];
    onPropose(core, (id) => ({ entries: [command(1)], appended: [{ id, index: 1, term: 1 }] }));
    loop.propose(new Uint8Array(), (outcome) => outcomes.push(outcome));
    clock.settle();
    const meta = { index: 9, term: 3, configuration: { members: [] } };
    machine.index = 9;
    loop.switched(meta, 'b', () => {});
    clock.settle();
    expect(outcomes).to.deep.equal([{ kind: 'unknown' }]);
    expect(log.firstIndex()).to.equal(10);
    expect(core.types.slice(-2)).to.deep.equal(['snapshotStored', 'applied']);
  });
});

describe('replica: the Raft loop (an installed snapshot)', () => {
  const meta = { index: 9, term: 3, configuration: { members: [] } };

  it('makes no step until the snapshot is durable, and then reports it to the core first', () => {
    const { loop, core, clock, log, machine } = build();
    machine.index = 9;
    let durable = (): void => {};
    log.reset = (_meta, _hard, done) => {
      durable = done;
    };
    loop.switched(meta, 'b', () => {});
    loop.receive(heartbeat('b', 'a', 3));
    clock.settle();
    expect(core.steps).to.have.length(0);
    durable();
    clock.settle();
    expect(core.types).to.deep.equal(['snapshotStored', 'message', 'applied']);
  });

  it('wants no snapshot that ends before the log begins, even on one that lost its state', () => {
    const { loop, log } = build();
    log.meta = { index: 5000, term: 3, configuration: { members: [] } };
    log.list = [command(5001, 3)];
    loop.pauseApply();
    expect(loop.wants({ ...meta, index: 4000 })).to.equal(false);
    expect(loop.wants({ ...meta, index: 4999 })).to.equal(false);
    expect(loop.wants({ ...meta, index: 5000 })).to.equal(true);
    expect(loop.wants({ ...meta, index: 5001 })).to.equal(true);
  });

  it('leaves a log that already extends beyond the snapshot unchanged', () => {
    const { loop, core, clock, log, machine } = build();
    core.facts = { commit: 12 };
    machine.index = 9;
    loop.switched(meta, 'b', () => {});
    clock.settle();
    expect(log.snapshot()).to.equal(undefined);
    expect(core.types).to.deep.equal(['applied']);
  });
});

describe('replica: the Raft loop (time)', () => {
  it('ticks once per tick of the monotonic clock', () => {
    const { clock, core } = build();
    clock.advance(200);
    expect(core.types.filter((type) => type === 'tick')).to.have.length(10);
  });

  it('reads the sockets before it ticks after a stall, and ticks once', () => {
    const { clock, core, loop } = build();
    clock.nowMs += 400;
    clock.fireTimers();
    // The sockets are read only now, after the timers; it takes the loop more than one turn.
    clock.turn();
    loop.receive(heartbeat('b', 'a', 1));
    clock.turn();
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(core.types).to.deep.equal(['message', 'message', 'tick']);
    expect(loop.stats.stalls).to.equal(1);
    expect(loop.stats.stallMsMax).to.equal(380);
  });

  it('handles the tick after the messages of the same turn', () => {
    const { clock, core, loop } = build();
    clock.nowMs += 20;
    clock.fireTimers();
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(core.steps[0]!.inputs.map(({ type }) => type)).to.deep.equal(['message', 'tick']);
  });

  it("passes the time of the step, not of the arrival: a paused leader's lease has expired", () => {
    const { clock, core, loop } = build();
    loop.read('lease', () => {});
    clock.nowMs += 5000;
    clock.turn();
    expect(core.steps.at(-1)!.now).to.equal(clock.nowMs);
  });

  it('does nothing once it is stopped', () => {
    const { clock, core, loop, log, wire } = build();
    once(core, { entries: [command(1)], sendAfterStore: [vote('b')] });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    loop.stop();
    log.synced();
    clock.advance(100);
    expect(wire.sent).to.deep.equal([]);
    expect(core.steps).to.have.length(1);
  });
});

describe('replica: a node that lost entries it had acknowledged', () => {
  it('neither votes nor campaigns, but follows', () => {
    const { clock, core, loop } = build();
    loop.elections.votingSuspended = true;
    const candidate = { from: 'b', to: 'a', term: 2, lastIndex: 0, lastTerm: 0 };
    loop.receive({ type: 'vote', ...candidate });
    loop.receive({ type: 'preVote', ...candidate });
    loop.receive({ type: 'timeoutNow', from: 'b', to: 'a', term: 2 });
    clock.advance(1000);
    expect(core.types).to.deep.equal([]);
    loop.receive(heartbeat('b', 'a', 2));
    clock.settle();
    expect(core.types).to.deep.equal(['message']);
    loop.elections.votingSuspended = false;
    clock.advance(20);
    expect(core.types).to.include('tick');
  });
});

describe('replica: a disk that hangs', () => {
  const HANG_MS = HANG_TICKS * LIMITS.tickMs;
  /** Begins to store an entry; the batch stays under way until the test calls `log.synced()`. */
  const storing = (role?: Output['role']) => {
    const parts = build();
    once(parts.core, { entries: [command(1)], ...(role !== undefined && { role }) });
    parts.loop.receive(heartbeat('b', 'a', 1));
    parts.clock.settle();
    return parts;
  };
  const ticks = (core: ScriptedCore): number => core.types.filter((type) => type === 'tick').length;

  it('is detected by the duration of one write, and reported with its milliseconds', () => {
    const { loop, clock, log } = storing();
    clock.advance(HANG_MS - 1);
    expect(loop.disks.hang).to.equal(undefined);
    clock.advance(1);
    expect(loop.disks.hang).to.match(/disk of the log has not finished a write/);
    expect(loop.disks.logWaitMs).to.equal(HANG_MS);
    log.synced();
    expect([loop.disks.hang, loop.disks.logWaitMs]).to.deep.equal([undefined, 0]);
    clock.advance(HANG_MS * 2);
    expect(loop.disks.hang).to.equal(undefined);
  });

  it('is not concluded from a slow disk, nor from a paused process', () => {
    const { loop, core, clock, log } = storing();
    once(core, { entries: [command(2)] });
    loop.receive(heartbeat('b', 'a', 1));
    clock.advance(HANG_MS - 20);
    log.synced();
    clock.advance(HANG_MS - 20);
    expect(loop.disks.hang).to.equal(undefined);
    clock.nowMs += 10 * HANG_MS;
    clock.fireTimers();
    clock.turn();
    log.synced();
    clock.settle();
    expect(loop.disks.hang).to.equal(undefined);
  });

  it('keeps a node from voting and campaigning, but not from following, until it responds', () => {
    const { loop, core, clock, log } = storing();
    clock.advance(HANG_MS);
    const before = core.types.length;
    const candidate = { from: 'b', to: 'a', term: 2, lastIndex: 0, lastTerm: 0 };
    loop.receive({ type: 'vote', ...candidate });
    loop.receive({ type: 'preVote', ...candidate });
    loop.receive({ type: 'timeoutNow', from: 'b', to: 'a', term: 2 });
    for (const type of ['preVoteResponse', 'voteResponse'] as const)
      loop.receive({ type, from: 'b', to: 'a', term: 2, granted: true });
    clock.advance(HANG_MS);
    expect(core.types).to.have.length(before);
    loop.receive(heartbeat('b', 'a', 2));
    clock.settle();
    expect(core.types).to.have.length(before + 1);
    log.synced();
    clock.advance(20);
    loop.receive({ type: 'preVote', ...candidate });
    clock.settle();
    expect(core.types.slice(before + 1)).to.deep.equal(['stored', 'tick', 'message']);
  });

  it("does not stop a leader's ticks, which it needs to step down", () => {
    const { core, clock } = storing({ role: 'leader', term: 1, leader: 'a' });
    clock.advance(HANG_MS);
    const before = ticks(core);
    clock.advance(HANG_MS);
    expect(ticks(core)).to.equal(before + HANG_TICKS);
  });

  it("is also reported for the state's disk, when that keeps entries from being applied", () => {
    let isBehind = true;
    const { loop, core, clock, log, machine } = build({}, () => isBehind);
    once(core, { entries: [command(1)], commit: 1 });
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    log.synced();
    clock.advance(HANG_MS + 20);
    expect(loop.disks.hang).to.match(/disk of the state has not caught up/);
    expect(loop.disks.stateWaitMs).to.be.within(HANG_MS, HANG_MS + 20);
    // Votes depend only on the disk of the log, and other servers may need them.
    loop.receive({ type: 'timeoutNow', from: 'b', to: 'a', term: 1 });
    loop.receive({ type: 'vote', from: 'b', to: 'a', term: 2, lastIndex: 1, lastTerm: 1 });
    clock.settle();
    const received = core.steps
      .at(-1)!
      .inputs.map((input) => input.type === 'message' && input.message.type);
    expect(received).to.deep.equal(['vote']);
    isBehind = false;
    clock.advance(20);
    expect([machine.index, loop.disks.hang, loop.disks.stateWaitMs]).to.deep.equal([
      1,
      undefined,
      0,
    ]);
  });
});
