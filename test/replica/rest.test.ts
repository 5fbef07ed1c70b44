/** The Raft loop when nothing is due. */
import { expect } from 'chai';
import { RaftLoop } from '../../src/replica/loop.js';
import { FakeClock, FakeLog, FakeMachine, FakeWire, heartbeat, ScriptedCore } from './fakes.js';

function build() {
  const clock = new FakeClock();
  const core = new ScriptedCore();
  const none = (): void => {};
  const loop = new RaftLoop({
    core,
    clock,
    log: new FakeLog(),
    wire: new FakeWire(),
    machine: new FakeMachine(),
    limits: { tickMs: 20, stallMs: 100, applyEntriesMax: 2, applyBytesMax: 1000 },
    hangTicks: 10,
    events: {
      turn: none,
      role: none,
      configuration: none,
      applied: none,
      sendSnapshot: none,
      tick: none,
    },
  });
  loop.start();
  clock.settle();
  return { loop, core, clock };
}

describe('replica: the Raft loop (rest)', () => {
  it('lets an idle core rest, and tells it the ticks of that before what arrives', () => {
    const { loop, core, clock } = build();
    core.rest = 3;
    clock.advance(20);
    const steps = (): string[] => core.steps.map(({ inputs }) => inputs.map(type).join(' '));
    const type = (input: { readonly type: string }): string => input.type;
    expect(steps()).to.deep.equal(['tick']);
    clock.advance(45);
    core.rest = 1;
    loop.receive(heartbeat('b', 'a', 1));
    clock.turn();
    clock.advance(15);
    expect(steps()).to.deep.equal(['tick', 'tick tick message', 'tick']);
  });

  it('makes no turn for ticks alone while heartbeats come', () => {
    const { loop, core, clock } = build();
    core.rest = 4;
    clock.advance(20);
    for (let beat = 0; beat < 4; beat += 1) {
      clock.advance(50);
      loop.receive(heartbeat('b', 'a', 1));
      clock.settle();
    }
    const alone = core.steps.filter(({ inputs }) => inputs.every(({ type }) => type === 'tick'));
    expect(alone).to.have.length(1);
    clock.advance(80);
    expect(core.types.slice(-4)).to.deep.equal(['tick', 'tick', 'tick', 'tick']);
  });

  it('lets no core rest for longer than four ticks, or while something is due sooner', () => {
    const { loop, core, clock } = build();
    core.rest = 100;
    clock.advance(20);
    clock.advance(79);
    expect(core.steps).to.have.length(1);
    clock.advance(1);
    expect(core.types).to.deep.equal(Array.from({ length: 5 }, () => 'tick'));
    core.rest = 1;
    loop.receive(heartbeat('b', 'a', 1));
    clock.settle();
    clock.advance(20);
    expect(core.types.slice(5)).to.deep.equal(['message', 'tick']);
  });
});
