import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import type { WireSocket } from '../../src/transport/sockets.js';
import { SimLoop } from './loop.js';
import { type Link, QUIET } from './network.js';
import { Scheduler } from './scheduler.js';
import { type Machine, ProcessSockets } from './sockets.js';

/** Two machines, a and b; b listens. */
class TwoMachines {
  readonly scheduler = new Scheduler();
  readonly links = new Map<string, Link>();
  readonly machines = new Map<string, Machine>();
  readonly accepted: Seen[] = [];
  readonly a = this.#start('a');
  readonly b = this.#start('b');

  constructor() {
    this.b
      .listen((socket) => this.accepted.push(new Seen(socket)))
      .listen({ host: 'b', port: 1 }, () => {});
  }

  #start(id: string): ProcessSockets {
    const { scheduler } = this;
    const loop = new SimLoop({
      scheduler,
      rate: 1,
      turnMs: () => 0.1,
      hasPromises: false,
      onTurn: () => {},
      onDeath: (cause) => expect.fail(String(cause)),
    });
    const sockets = new ProcessSockets(id, loop, {
      scheduler,
      random: new Random(7),
      temper: { windowBytes: 100, highWaterMark: 50, fragmented: 1 },
      link: (from, to) => this.link(from, to),
      hears: (of) => this.machines.get(of)!.isOn,
      machine: (of) => this.machines.get(of)!,
      newPort: () => 1,
    });
    this.machines.set(id, { isOn: true, sockets });
    return sockets;
  }

  link(from: string, to: string): Link {
    const name = `${from}>${to}`;
    const link = this.links.get(name) ?? { cut: false, ...QUIET };
    this.links.set(name, link);
    return link;
  }

  dial(): Seen {
    const seen: Seen = new Seen(
      this.a.dial({ host: 'b', port: 1 }, () => seen.events.push('connect')),
    );
    return seen;
  }

  pass(ms: number): Promise<void> {
    return this.scheduler.runUntil(this.scheduler.now + ms);
  }
}

/** A socket, and what its process has seen of it. */
class Seen {
  readonly events: string[] = [];
  readonly bytes: number[] = [];
  readonly socket: WireSocket;
  constructor(socket: WireSocket) {
    this.socket = socket;
    socket.on('data', (bytes) => this.bytes.push(...bytes));
    socket.on('drain', () => this.events.push('drain'));
    socket.on('error', (error) => this.events.push(error.message));
    socket.on('close', () => this.events.push('close'));
  }
}

const MANY = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));

describe('simulated sockets', () => {
  it('bring all bytes in order, in whatever pieces, and let a writer wait', async () => {
    const world = new TwoMachines();
    const dialled = world.dial();
    await world.pass(100);
    expect(dialled.events).to.deep.equal(['connect']);
    expect(dialled.socket.write(MANY)).to.equal(false);
    expect(dialled.socket.writableNeedDrain).to.equal(true);
    expect(dialled.socket.writableLength).to.equal(900);
    await world.pass(1000);
    expect(dialled.events).to.deep.equal(['connect', 'drain']);
    expect(world.accepted[0]?.bytes).to.deep.equal([...MANY]);
  });

  it('are refused where nobody listens, and get no answer from a machine that is off', async () => {
    const world = new TwoMachines();
    const { b } = world;
    b.end(false);
    const refused = world.dial();
    await world.pass(100);
    expect(refused.events).to.deep.equal(['connect ECONNREFUSED b:1', 'close']);
    world.machines.get('b')!.isOn = false;
    const silent = world.dial();
    await world.pass(5000);
    expect(silent.events).to.deep.equal([]);
  });

  it('bring later what a cut held back', async () => {
    const world = new TwoMachines();
    const dialled = world.dial();
    await world.pass(100);
    world.link('a', 'b').cut = true;
    dialled.socket.write(Buffer.from([1, 2, 3]));
    await world.pass(1000);
    expect(world.accepted[0]?.bytes).to.deep.equal([]);
    world.link('a', 'b').cut = false;
    await world.pass(5000);
    expect(world.accepted[0]?.bytes).to.deep.equal([1, 2, 3]);
    expect(dialled.events).to.deep.equal(['connect']);
  });

  it('break at a reset, on both sides', async () => {
    const world = new TwoMachines();
    const dialled = world.dial();
    await world.pass(100);
    world.link('a', 'b').resetProbability = 1;
    dialled.socket.write(Buffer.from([1]));
    await world.pass(100);
    expect(dialled.events).to.deep.equal(['connect', 'read ECONNRESET', 'close']);
    expect(world.accepted[0]?.events).to.deep.equal(['read ECONNRESET', 'close']);
    expect(world.accepted[0]?.bytes).to.deep.equal([]);
  });

  it('end on both sides when one ends, after what was written', async () => {
    const world = new TwoMachines();
    const dialled = world.dial();
    await world.pass(100);
    dialled.socket.write(MANY);
    dialled.socket.end();
    await world.pass(1000);
    expect(world.accepted[0]?.bytes).to.deep.equal([...MANY]);
    expect(world.accepted[0]?.events).to.deep.equal(['close']);
    expect(dialled.events.at(-1)).to.equal('close');
  });

  it('learn only by writing that the other machine went off and came back', async () => {
    const world = new TwoMachines();
    const dialled = world.dial();
    await world.pass(100);
    world.b.end(true);
    world.machines.get('b')!.isOn = false;
    await world.pass(1000);
    expect(dialled.events).to.deep.equal(['connect']);
    world.machines.get('b')!.isOn = true;
    dialled.socket.write(Buffer.from([1]));
    await world.pass(1000);
    expect(dialled.events).to.deep.equal(['connect', 'read ECONNRESET', 'close']);
  });
});
