/** Runs the driver in the head of src/raft/raft.ts as it stands there, with hosts in memory. */
import { readFileSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { expect } from 'chai';
import { createRaft } from '../../src/raft/raft.js';
import type { Entry, Input, Message, NodeId, SnapshotMeta } from '../../src/raft/types.js';
import { MemoryLog } from '../support/memory-log.js';
import { configuration, diskWith, logOf, options, TICK_MS } from './cluster.js';
import { randomFrom } from './world.js';

interface Driver {
  take(input: Input): void;
  install(meta: SnapshotMeta, state: readonly string[], from: NodeId): void;
  leads(): boolean;
}
interface Ports {
  readonly now: () => number;
  readonly soon: (run: () => void) => void;
  readonly send: (message: Message) => void;
  readonly sendSnapshot: (sent: { readonly to: NodeId; readonly message: Message }) => void;
}
const [head = ''] = readFileSync('src/raft/raft.ts', 'utf8').split('*/', 1);
const code = [...head.matchAll(/^ \* {5}(.*)$/gm)].map(([, line]) => line).join('\n');
const drive = compileFunction(
  `const { now, soon, send, sendSnapshot } = ports; const report = () => {};
   ${code}
   return { take, install, leads: () => core.status().role === 'leader' };`,
  ['createRaft', 'options', 'log', 'machine', 'ports'],
);
const IDS = ['a', 'b', 'c'];

/** A server: what survives a crash, and its present run. */
class Host {
  readonly disk = diskWith(logOf('a b c'), { term: 1, votedFor: null });
  snapshot: readonly string[] = [];
  log = new MemoryLog({}, this.disk);
  driver!: Driver;
  readonly machine = {
    applied: 0,
    state: [] as readonly string[],
    apply: (entry: Entry): void => {
      expect(entry.index).to.equal(this.machine.applied + 1);
      expect(this.disk.term(entry.index), 'applied but not durable').to.equal(entry.term);
      this.machine.applied = entry.index;
      if (entry.kind !== 'command') return;
      this.machine.state = [...this.machine.state, new TextDecoder().decode(entry.data)];
    },
    replace: (applied: number, state: readonly string[]): void => {
      Object.assign(this.machine, { applied, state });
      this.snapshot = state;
    },
  };

  /** Starts, after a power cut if it ran. */
  start(id: NodeId, random: () => number, ports: Ports): void {
    const log = new MemoryLog({}, this.disk);
    this.log = log;
    this.driver = drive(createRaft, options(id, 0, { random }), log, this.machine, {
      ...ports,
      soon: (run: () => void) => ports.soon(() => this.log === log && run()),
      send: (message: Message) => {
        this.#checkPromise(message);
        ports.send(message);
      },
    });
  }

  compact(): void {
    const { applied: index, state } = this.machine;
    const term = this.disk.term(index);
    if (term === undefined || index < this.disk.first()) return;
    this.snapshot = state;
    this.log.compact({ index, term, configuration: configuration(...IDS) }, () => {});
  }

  /** A message must not promise what a crash would take back. */
  #checkPromise(message: Message): void {
    if (message.type === 'appendResponse' || message.type === 'voteResponse')
      expect(this.disk.hard.term, 'the term of an answer').to.be.at.least(message.term);
    if (message.type === 'appendResponse' && message.success)
      expect(this.log.term(message.index)).to.be.oneOf([undefined, this.disk.term(message.index)]);
    if (message.type === 'voteResponse' && message.granted)
      expect(this.disk.hard).to.deep.equal({ term: message.term, votedFor: message.to });
  }
}

const proposal = (id: number): Input => {
  const data = new TextEncoder().encode(`${id}`);
  return { type: 'propose', commands: [{ id, data }] };
};

/**
 * Three hosts. Messages are lost and repeated, disks are slow, servers crash and are cut off at
 * random; then one alone is cut off, and at last all is well.
 */
function run(seed: number) {
  const random = randomFrom(seed);
  const hosts = new Map(IDS.map((id) => [id, new Host()]));
  const counts = { proposed: 0, crashes: 0, snapshots: 0, byTwo: 0 };
  const wire: Message[] = [];
  const due: (() => void)[] = [];
  let now = 0;
  let faults = 1;
  let cut: NodeId | undefined;
  const applied = (): number => Math.max(...[...hosts.values()].map((h) => h.machine.applied));
  const hits = (chance: number): boolean => random() < chance * faults;
  const ports: Ports = {
    now: () => now,
    soon: (task) => due.push(task),
    send: (message) => void wire.push(message),
    sendSnapshot: ({ to, message }) => {
      const { meta, from } = message as Message & { readonly type: 'snapshot' };
      const target = hosts.get(to)!.driver;
      const state = hosts.get(from)!.snapshot;
      target.take({ type: 'message', message });
      ports.soon(() => {
        counts.snapshots += 1;
        target.install(meta, state, from);
        hosts.get(from)!.driver.take({ type: 'snapshotSent', to, ok: true });
      });
    },
  };
  const settle = (): void => {
    for (let task = due.shift(); task !== undefined; task = due.shift()) task();
  };
  for (const [id, host] of hosts) host.start(id, random, ports);
  for (let turn = 0; turn < 600; turn++) {
    if (turn === 300) [cut, counts.byTwo] = ['c', -applied()];
    if (turn === 400) counts.byTwo += applied();
    if (turn === 500) [cut, faults] = [undefined, 0];
    if (turn < 300 && turn % 30 === 0) cut = hits(0.5) ? IDS[Math.floor(random() * 3)] : undefined;
    now += TICK_MS;
    for (const message of wire.splice(0)) {
      if (hits(0.1) || message.to === cut || message.from === cut) continue;
      hosts.get(message.to)!.driver.take({ type: 'message', message });
      if (hits(0.1)) wire.push(message);
    }
    for (const [id, host] of hosts) {
      if (hits(0.01)) {
        counts.crashes += 1;
        host.start(id, random, ports);
      }
      if (host.driver.leads() && hits(0.5)) {
        counts.proposed += 1;
        host.driver.take(proposal(counts.proposed));
      }
      if (hits(0.02)) host.compact();
      host.driver.take({ type: 'tick' });
      settle();
      if (!hits(0.7)) host.log.sync(hits(0.5) ? 1 : undefined);
      settle();
    }
  }
  return { counts, states: [...hosts.values()].map(({ machine }) => machine.state) };
}

describe('the driver in the head of raft.ts', () => {
  it('replicates, through lost messages, slow disks, crashes and snapshots', () => {
    const total = { proposed: 0, crashes: 0, snapshots: 0, applied: 0 };
    for (let seed = 1; seed <= 10; seed++) {
      const { counts, states } = run(seed);
      const [first, ...others] = states;
      for (const other of others) expect(other, `seed ${seed}`).to.deep.equal(first);
      expect(counts.byTwo, `seed ${seed}`).to.be.above(0);
      total.proposed += counts.proposed;
      total.crashes += counts.crashes;
      total.snapshots += counts.snapshots;
      total.applied += first!.length;
    }
    expect(total.crashes).to.be.above(40);
    expect(total.snapshots).to.be.above(5);
    expect(total.applied).to.be.above(total.proposed / 2);
  });
});
