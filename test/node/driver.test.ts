import { expect } from 'chai';
import { Driver, type DriverEvents } from '../../src/node/driver.js';
import type { Outcome } from '../../src/node/proposals.js';
import type { Entry, Message, Output } from '../../src/raft/types.js';
import { encodeProposal } from '../../src/state/proposal.js';
import { FakeClock, FakeLog, FakeMachine, FakeWire, heartbeat, ScriptedCore } from './fakes.js';

const LIMITS = { tickMs: 20, stallMs: 100, applyEntriesMax: 2, applyBytesMax: 1000 };

const command = (index: number, term = 1, id = `id-${index}`): Entry => ({
  ...{ kind: 'command', index, term },
  data: encodeProposal({ id, since: 0, command: { type: `c${index}`, v: 1 } }),
});
const vote = (to: string): Message => ({
  ...{ type: 'voteResponse', from: 'a', to, term: 1, granted: true },
});

function build(events: Partial<DriverEvents> = {}) {
  const clock = new FakeClock();
  const log = new FakeLog();
  const wire = new FakeWire();
  const machine = new FakeMachine();
  const core = new ScriptedCore();
  const quiet: DriverEvents = {
    gather: () => {},
    role: () => {},
    configuration: () => {},
    applied: () => {},
    sendSnapshot: () => {},
    tick: () => {},
  };
  const parts = { core, log, wire, machine, clock, limits: LIMITS };
  const driver = new Driver({ ...parts, events: { ...quiet, ...events } });
  driver.start();
  clock.settle();
  return { ...parts, driver };
}

/** Answers exactly one step with this output. */
function once(core: ScriptedCore, output: Partial<Output>): void {
  core.respond = () => {
    core.respond = () => ({});
    return output;
  };
}

/** Answers each step with a proposal in it by what `output` says of the proposal's id. */
function onPropose(core: ScriptedCore, output: (id: number) => Partial<Output>): void {
  core.respond = (inputs) => {
    const propose = inputs.find((input) => input.type === 'propose');
    return propose === undefined ? {} : output(propose.commands[0]!.id);
  };
}

describe('node/driver: order of effects', () => {
  it('sends appends at once, votes and acks only when what they promise is durable', () => {
    const { driver, core, clock, wire, log } = build();
    const append = heartbeat('a', 'b', 1);
    once(core, { sendNow: [append], sendAfterStore: [vote('b')], entries: [command(1)] });
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(wire.sent).to.deep.equal([append]);
    log.synced();
    expect(wire.sent).to.deep.equal([append, vote('b')]);
  });

  it('holds a message back for batches handed over before it, though it stores nothing itself', () => {
    const { driver, core, clock, wire, log } = build();
    once(core, { hardState: { term: 1, votedFor: 'b' }, sendAfterStore: [vote('b')] });
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    once(core, { sendAfterStore: [vote('b')] });
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(wire.sent).to.deep.equal([]);
    log.synced();
    expect(wire.sent).to.deep.equal([vote('b'), vote('b')]);
  });

  it('sends at once what waits for nothing', () => {
    const { driver, core, clock, wire } = build();
    once(core, { sendAfterStore: [vote('c')] });
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(wire.sent).to.deep.equal([vote('c')]);
  });

  it('tells the core of the newest durable position, never of entries that are being replaced', () => {
    const { driver, core, clock, log } = build();
    once(core, { entries: [command(1), command(2), command(3)] });
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    once(core, { entries: [command(2, 2)] });
    driver.receive(heartbeat('b', 'a', 2));
    clock.settle();
    log.synced();
    clock.settle();
    expect(core.steps.at(-1)!.inputs).to.deep.equal([{ type: 'stored', index: 1, term: 1 }]);
    log.synced();
    clock.settle();
    expect(core.steps.at(-1)!.inputs).to.deep.equal([{ type: 'stored', index: 2, term: 2 }]);
  });

  it('applies and answers nothing that is committed but not durable here', () => {
    const { driver, core, clock, log, machine } = build();
    const outcomes: Outcome[] = [];
    onPropose(core, (id) => ({
      entries: [command(1)],
      appended: [{ id, index: 1, term: 1 }],
      commit: 1,
    }));
    driver.propose(new Uint8Array(), (outcome) => outcomes.push(outcome));
    clock.settle();
    expect([machine.index, outcomes.length]).to.deep.equal([0, 0]);
    log.synced();
    clock.settle();
    const result = { ok: true, index: 1, value: 'c1' };
    expect(outcomes).to.deep.equal([{ kind: 'applied', index: 1, result }]);
  });
});

describe('node/driver: clocks', () => {
  for (const [direction, jumpMs] of [
    ['ahead', 5000],
    ['back', -5000],
  ] as const)
    it(`tells the core when the wall clock has jumped ${direction}, before what has arrived, and once`, () => {
      const { driver, core, clock } = build();
      clock.wallAheadMs += jumpMs;
      driver.receive(heartbeat('b', 'a', 1));
      driver.read('lease', () => {});
      clock.turn();
      expect(core.types).to.deep.equal(['clockSuspect', 'message', 'read']);
      driver.read('lease', () => {});
      clock.turn();
      expect(core.steps.at(-1)!.inputs.map(({ type }) => type)).to.deep.equal(['read']);
    });

  it('puts a tick off by the part of it that the core asks for', () => {
    const { core, clock } = build();
    const ticks = (): number => core.types.filter((type) => type === 'tick').length;
    clock.advance(19);
    once(core, { lengthenTick: 0.5 });
    clock.advance(1);
    expect(ticks()).to.equal(1);
    clock.advance(20);
    expect(ticks()).to.equal(2);
    clock.advance(29);
    expect(ticks()).to.equal(2);
    clock.advance(1);
    expect(ticks()).to.equal(3);
  });

  it('notices that the clocks drift apart slowly', () => {
    const { driver, core, clock } = build();
    for (let i = 0; i < 4; i++) {
      clock.wallAheadMs += 4;
      driver.read('lease', () => {});
      clock.turn();
    }
    expect(core.types.filter((type) => type === 'clockSuspect')).to.have.length(1);
  });
});

describe('node/driver: one step for all that arrived', () => {
  it('gives the core messages, proposals and reads of one turn together, in that order', () => {
    const { driver, core, clock } = build();
    driver.read('lease', () => {});
    driver.propose(new Uint8Array([1]), () => {});
    driver.receive(heartbeat('b', 'a', 1));
    driver.propose(new Uint8Array([2]), () => {});
    driver.read('lease', () => {});
    clock.turn();
    expect(core.steps).to.have.length(1);
    expect(core.types).to.deep.equal(['message', 'propose', 'read']);
    const propose = core.steps[0]!.inputs[1];
    expect(propose?.type === 'propose' && propose.commands).to.have.length(2);
  });

  it('releases all readers of a turn by one read', () => {
    const { driver, core, clock } = build();
    const released: (number | undefined)[] = [];
    core.respond = (inputs) => {
      const read = inputs.find((input) => input.type === 'read');
      return read === undefined ? {} : { reads: [{ id: read.ids[0]!, index: 7 }] };
    };
    for (let i = 0; i < 3; i++) driver.read('quorum', (index) => released.push(index));
    clock.settle();
    expect(released).to.deep.equal([7, 7, 7]);
  });

  it('applies in slices and handles messages between them', () => {
    const { driver, core, clock, log, machine } = build();
    once(core, { entries: [1, 2, 3, 4, 5].map((i) => command(i)) });
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    once(core, { commit: 5 });
    log.synced();
    clock.turn();
    expect(machine.index).to.equal(2);
    driver.receive(heartbeat('b', 'a', 1));
    clock.turn();
    expect(core.steps.at(-1)!.inputs.map(({ type }) => type)).to.include('message');
    expect(machine.index).to.equal(4);
    clock.settle();
    expect(machine.index).to.equal(5);
    expect(core.steps.at(-1)!.inputs).to.deep.include({ type: 'applied', index: 5 });
  });

  it('applies nothing while the state is exchanged, and handles messages', () => {
    const { driver, core, clock, log, machine } = build();
    driver.pauseApply();
    once(core, { entries: [command(1)], commit: 1 });
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    log.synced();
    clock.settle();
    expect(machine.index).to.equal(0);
    expect(core.types).to.include('stored');
    driver.resumeApply();
    clock.settle();
    expect(machine.index).to.equal(1);
  });
});

describe('node/driver: fate of proposals', () => {
  it('never gives the result of another leader’s command at the same index', () => {
    const { driver, core, clock, log } = build();
    const outcomes: Outcome[] = [];
    onPropose(core, (id) => ({ entries: [command(1)], appended: [{ id, index: 1, term: 1 }] }));
    driver.propose(new Uint8Array(), (outcome) => outcomes.push(outcome));
    clock.settle();
    once(core, { entries: [command(1, 2, 'other')], commit: 1 });
    driver.receive(heartbeat('b', 'a', 2));
    clock.settle();
    while (log.storing.length > 0) log.synced();
    clock.settle();
    expect(outcomes).to.deep.equal([{ kind: 'unknown' }]);
    expect(driver.pending).to.equal(0);
  });

  it('tells what was dropped as certainly not proposed', () => {
    const { driver, core, clock } = build();
    const outcomes: Outcome[] = [];
    onPropose(core, (id) => ({ dropped: [{ id, reason: 'not_leader' }] }));
    driver.propose(new Uint8Array(), (outcome) => outcomes.push(outcome));
    clock.settle();
    expect(outcomes).to.deep.equal([{ kind: 'dropped', reason: 'not_leader' }]);
  });

  it('cannot tell about proposals that an installed snapshot has swallowed', () => {
    const { driver, core, clock, log, machine } = build();
    const outcomes: Outcome[] = [];
    onPropose(core, (id) => ({ entries: [command(1)], appended: [{ id, index: 1, term: 1 }] }));
    driver.propose(new Uint8Array(), (outcome) => outcomes.push(outcome));
    clock.settle();
    const meta = { index: 9, term: 3, configuration: { members: [] } };
    machine.index = 9;
    driver.switched(meta, 'b', () => {});
    clock.settle();
    expect(outcomes).to.deep.equal([{ kind: 'unknown' }]);
    expect(log.firstIndex()).to.equal(10);
    expect(core.types.slice(-2)).to.deep.equal(['snapshotStored', 'applied']);
  });
});

describe('node/driver: an installed snapshot', () => {
  const meta = { index: 9, term: 3, configuration: { members: [] } };

  it('makes no step between the switch and the moment it is durable; then the core hears of it first', () => {
    const { driver, core, clock, log, machine } = build();
    machine.index = 9;
    let durable = (): void => {};
    log.reset = (_meta, _hard, done) => {
      durable = done;
    };
    driver.switched(meta, 'b', () => {});
    driver.receive(heartbeat('b', 'a', 3));
    clock.settle();
    expect(core.steps).to.have.length(0);
    durable();
    clock.settle();
    expect(core.types).to.deep.equal(['snapshotStored', 'message', 'applied']);
  });

  it('leaves a log alone that goes beyond it already', () => {
    const { driver, core, clock, log, machine } = build();
    core.facts = { commit: 12 };
    machine.index = 9;
    driver.switched(meta, 'b', () => {});
    clock.settle();
    expect(log.snapshot()).to.equal(undefined);
    expect(core.types).to.deep.equal(['applied']);
  });
});

describe('node/driver: time', () => {
  it('ticks once per tick of the monotonic clock', () => {
    const { clock, core } = build();
    clock.advance(200);
    expect(core.types.filter((type) => type === 'tick')).to.have.length(10);
  });

  it('after a stall hears what waited in the sockets before it ticks, and ticks once', () => {
    const { clock, core, driver } = build();
    clock.nowMs += 400;
    clock.fireTimers();
    // Only now, after the timers, the sockets are read; it takes the loop more than one turn.
    clock.turn();
    driver.receive(heartbeat('b', 'a', 1));
    clock.turn();
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(core.types).to.deep.equal(['message', 'message', 'tick']);
    expect(driver.stats.stalls).to.equal(1);
    expect(driver.stats.stallMsMax).to.equal(380);
  });

  it('puts the tick behind the messages of the same turn', () => {
    const { clock, core, driver } = build();
    clock.nowMs += 20;
    clock.fireTimers();
    clock.turn();
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    expect(core.steps[0]!.inputs.map(({ type }) => type)).to.deep.equal(['message', 'tick']);
  });

  it('gives the core the time of the step, not of the arrival: a paused leader’s lease is over', () => {
    const { clock, core, driver } = build();
    driver.read('lease', () => {});
    clock.nowMs += 5000;
    clock.turn();
    expect(core.steps.at(-1)!.now).to.equal(clock.nowMs);
  });

  it('does nothing any more once it is stopped', () => {
    const { clock, core, driver, log, wire } = build();
    once(core, { entries: [command(1)], sendAfterStore: [vote('b')] });
    driver.receive(heartbeat('b', 'a', 1));
    clock.settle();
    driver.stop();
    log.synced();
    clock.advance(100);
    expect(wire.sent).to.deep.equal([]);
    expect(core.steps).to.have.length(1);
  });
});

describe('node/driver: a node that forgot what it acknowledged', () => {
  it('neither votes nor campaigns, but follows', () => {
    const { clock, core, driver } = build();
    driver.barred = true;
    const candidate = { from: 'b', to: 'a', term: 2, lastIndex: 0, lastTerm: 0 };
    driver.receive({ type: 'vote', ...candidate });
    driver.receive({ type: 'preVote', ...candidate });
    driver.receive({ type: 'timeoutNow', from: 'b', to: 'a', term: 2 });
    clock.advance(1000);
    expect(core.types).to.deep.equal([]);
    driver.receive(heartbeat('b', 'a', 2));
    clock.settle();
    expect(core.types).to.deep.equal(['message']);
    driver.barred = false;
    clock.advance(20);
    expect(core.types).to.include('tick');
  });
});
