/** The same work on three nodes of this build and on three of a peer, in bursts in turn. */
import { type Burst, burst, inTurn, median, type Next, type Subject } from './bursts.js';
import type { Target } from './line.js';
import { figure, row, title } from './report.js';
import type { Setting } from './setting.js';

/** After two seconds of writes, the compiler is not done: a write takes 1.3 times as long. */
const WARM_UP_SECONDS = 8;
const WARM_UP_CONNECTIONS = 64;

/** A cluster under load. */
export interface Side extends Subject {
  readonly leader: Target;
}

/** Work of ours, and the work of the peer that comes closest. `run` separates the names of runs. */
export interface PeerRow {
  readonly what: string;
  readonly peer: string;
  readonly connections: number;
  readonly atLeader: boolean;
  readonly ours: (run: string) => Next;
  readonly theirs: (run: string) => Next;
}

/** Returns a cluster of this build. */
export async function sideOf(setting: Setting): Promise<Side> {
  const leader = setting.targets[await setting.leader()]!;
  return { targets: setting.targets, leader, cpuSeconds: () => setting.cpuSeconds() };
}

/** Measures both and prints a table. `members`: how those of both talk to each other. */
export async function compareSides(parts: {
  readonly ours: Side;
  readonly peer: Side;
  readonly name: string;
  readonly members: string;
  readonly rows: readonly PeerRow[];
  readonly rounds: number;
}): Promise<void> {
  const { ours, peer, name, rows, rounds } = parts;
  title(`This build to ${name}, members ${parts.members}`, [
    ...['what', 'connections', 'to', 'per second', `of ${name}`, `rate, this to ${name}`],
    ...['CPU µs per request', `of ${name}`, `CPU, this to ${name}`],
  ]);
  const run = (side: Side, { ours: own, theirs, atLeader }: PeerRow, of: string) => ({
    next: (side === ours ? own : theirs)(of),
    subject: atLeader ? { ...side, targets: [side.leader] } : side,
  });
  for (const side of [ours, peer])
    for (const each of new Map(
      rows.map((of) => [of[side === ours ? 'what' : 'peer'], of]),
    ).values()) {
      const { next } = run(side, each, 'warm');
      await burst(side, { connections: WARM_UP_CONNECTIONS, next }, WARM_UP_SECONDS);
    }
  for (const [at, each] of rows.entries()) {
    const { what, peer: theirs, connections, atLeader } = each;
    const found = await inTurn([ours, peer], rounds, (side, round) => {
      const { next, subject } = run(side, each, `${at}-${round}`);
      return burst(subject, { connections, next });
    });
    const [mine, others] = found as [readonly Burst[], readonly Burst[]];
    const of = (bursts: readonly Burst[], figureOf: keyof Burst) =>
      median(bursts.map((one) => one[figureOf]));
    const ratio = (figureOf: keyof Burst) =>
      median(mine.map((one, round) => one[figureOf] / others[round]![figureOf])).toFixed(2);
    row([
      ...[what === theirs ? what : `${what} / ${theirs}`, String(connections)],
      atLeader ? 'the leader' : 'all nodes',
      ...[figure(of(mine, 'perSec')), figure(of(others, 'perSec')), ratio('perSec')],
      ...[figure(of(mine, 'cpuUs')), figure(of(others, 'cpuUs')), ratio('cpuUs')],
    ]);
  }
}
