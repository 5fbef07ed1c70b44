/**
 * Raises the level of the cluster once every member runs a release that supports it, and refuses
 * commands that need a higher level until then. While the level in force is below its own, each
 * member asks the others what they support; the leader proposes the raise.
 */
import { LEVEL, type Refusal, refusal } from '../../base/errors.js';
import type { Index, NodeId } from '../../raft/types.js';
import { type LevelRaise, type LevelTable, levelFor, levelOf } from '../../state/levels.js';
import { encodeProposal } from '../../state/proposal.js';
import type { Command, View } from '../../state/types.js';
import type { RaftLoop } from '../loop.js';
import type { ReplicaLimits } from '../options.js';
import type { ClockPort, WirePort } from '../ports.js';
import type { AppliedIndex } from '../reads/applied-index.js';
import type { Rpc, RpcDone } from '../rpc.js';
import type { ServerFacts } from '../rpc-codec.js';
import type { LevelStatus } from '../types.js';

export interface LevelsParts {
  readonly id: NodeId;
  readonly loop: RaftLoop;
  readonly rpc: Rpc;
  readonly wire: Pick<WirePort, 'reachable'>;
  readonly clock: Pick<ClockPort, 'now'>;
  readonly view: View;
  readonly applied: AppliedIndex;
  readonly table: LevelTable;
  readonly limits: Pick<ReplicaLimits, 'askMs'>;
  readonly newId: () => string;
  /** Whether a configuration change is under way that status() does not show yet. */
  readonly isChanging: () => boolean;
}

/** Milliseconds between two rounds of requests, and after which a response is too old to count. */
const LOOK_MS = 1000;
const FRESH_MS = 2000;
/** The level of a member that has not responded: it keeps the level from rising. */
const UNKNOWN = 1;

interface Heard {
  /** Undefined: it did not respond. */
  readonly level: number | undefined;
  readonly atMs: number;
  /** The configuration in force when the request was sent. */
  readonly configurationIndex: Index;
}

/** The level in force, and what the members support. */
export class Levels {
  readonly #parts: LevelsParts;
  readonly #heard = new Map<NodeId, Heard>();
  #lookedMs = -LOOK_MS;
  #lookedIndex: Index = 0;
  #wasLeader = false;
  /** The level in force is at least what this release supports, so nothing is left to do. */
  #isReached = false;
  /** The level that this leader has proposed and whose outcome is open; 0: none. */
  #proposed = 0;

  constructor(parts: LevelsParts) {
    this.#parts = parts;
  }

  /** The highest level that this release supports. */
  get supported(): number {
    return this.#parts.table.supported;
  }

  /** Whether the level in force permits what `LevelTable.commands` names. */
  permits(name: string): boolean {
    const { table, view } = this.#parts;
    return levelOf(view) >= (table.commands[name] ?? Infinity);
  }

  /** Asks the members, and raises the level on the leader, when it is time to. */
  tick(nowMs: number): void {
    if (this.#isReached) return;
    const { loop, view } = this.#parts;
    const level = levelOf(view);
    this.#isReached = level >= this.supported;
    if (this.#isReached) return;
    const { configurationIndex } = loop.status();
    const leads = loop.role.role === 'leader';
    const isNew = configurationIndex !== this.#lookedIndex || (leads && !this.#wasLeader);
    this.#wasLeader = leads;
    if (isNew || nowMs - this.#lookedMs >= LOOK_MS) this.#look(nowMs, configurationIndex);
    if (leads) this.#raise(level, nowMs);
  }

  /** Why a command must wait (503); undefined when the level in force allows it. */
  refusal(command: Command): Refusal | undefined {
    const needed = levelFor(this.#parts.table, command);
    if (needed === 1) return undefined;
    const level = levelOf(this.#parts.view);
    if (needed <= level) return undefined;
    const why = `This needs level ${needed}, the cluster is at level ${level}`;
    return refusal('unavailable', `${why}: ${this.#waitingFor(needed)}`, LEVEL);
  }

  #waitingFor(needed: number): string {
    const { id, loop } = this.#parts;
    const { members } = loop.status().configuration;
    const others = members.filter((member) => member.id !== id);
    const heard = others.map(({ id: of, name }) => ({ name, level: this.#heard.get(of)?.level }));
    const old = heard.filter(({ level }) => level !== undefined && level < needed);
    const silent = heard.filter(({ level }) => level === undefined);
    const reasons = [
      ...(old.length > 0
        ? [`${namesOf(old)} ${old.length > 1 ? 'run' : 'runs'} a release without it`]
        : []),
      ...(silent.length > 0
        ? [`${namesOf(silent)} ${silent.length > 1 ? 'do' : 'does'} not answer`]
        : []),
    ];
    return reasons.length > 0 ? reasons.join('; ') : 'it is being raised';
  }

  /**
   * Runs `admit` if a server may become a member: it must support the level in force and the level
   * being proposed. Waits until everything in this leader's log is applied, so that a raise by an
   * earlier leader is seen.
   */
  admit({ name, level: its }: ServerFacts, admit: () => void, done: RpcDone): void {
    if (its >= this.supported) {
      admit();
      return;
    }
    const { applied, loop, view } = this.#parts;
    applied.when(loop.status().lastIndex, () => {
      const level = Math.max(levelOf(view), this.#proposed);
      if (its >= level) {
        admit();
        return;
      }
      const why = `The cluster is at level ${level}, and ${name} runs a release that supports up to level ${its}`;
      const hint = 'Install the release of the members on it, then let it join';
      done({ type: 'refused', refusal: refusal('conflict', why, { hint }) });
    });
  }

  /** Asks every member. `done` is called once, when all have responded or timed out. */
  report(done: (status: LevelStatus) => void): void {
    const { id, loop, view, wire } = this.#parts;
    const { members } = loop.status().configuration;
    const levels = new Map<NodeId, number>([[id, this.supported]]);
    const end = (): void => {
      const supporting = members.map(({ id: of, name }) => ({
        ...{ id: of, name, supported: levels.get(of) },
      }));
      done({ level: levelOf(view), supported: this.supported, members: supporting });
    };
    // One that is not connected would be waited for in vain.
    const reachable = wire.reachable?.() ?? members.map((member) => member.id);
    const others = members.filter((member) => member.id !== id && reachable.includes(member.id));
    let open = others.length;
    if (open === 0) end();
    for (const { id: of } of others) {
      this.#ask(of, (level) => {
        if (level !== undefined) levels.set(of, level);
        open -= 1;
        if (open === 0) end();
      });
    }
  }

  #ask(id: NodeId, done: (level: number | undefined) => void): void {
    this.#question(id, (response) => done(response?.level));
  }

  /** Asks a member how far it has applied the log. Undefined: it did not respond. */
  askApplied(id: NodeId, done: (applied: Index | undefined) => void): void {
    this.#question(id, (response) => done(response?.applied));
  }

  #question(
    id: NodeId,
    done: (response: { readonly level: number; readonly applied: Index } | undefined) => void,
  ): void {
    const { rpc, limits } = this.#parts;
    rpc.call(id, { type: 'level' }, limits.askMs, (response) =>
      done(response.type === 'level' ? response : undefined),
    );
  }

  #look(nowMs: number, configurationIndex: Index): void {
    const { id, loop, clock } = this.#parts;
    this.#lookedMs = nowMs;
    this.#lookedIndex = configurationIndex;
    const { members } = loop.status().configuration;
    for (const known of [...this.#heard.keys()]) {
      if (!members.some((member) => member.id === known)) this.#heard.delete(known);
    }
    for (const { id: of } of members) {
      if (of === id) continue;
      this.#ask(of, (level) =>
        this.#heard.set(of, { level, atMs: clock.now(), configurationIndex }),
      );
    }
  }

  /**
   * Proposes here and never forwards: the decision is valid for this leader's newest configuration
   * only.
   */
  #raise(level: number, nowMs: number): void {
    const { id, loop, newId, isChanging } = this.#parts;
    if (this.#proposed > 0 || isChanging()) return;
    const { configuration, configurationIndex } = loop.status();
    const supportedBy = (of: NodeId): number => {
      if (of === id) return this.supported;
      const heard = this.#heard.get(of);
      if (heard === undefined || heard.configurationIndex !== configurationIndex) return UNKNOWN;
      return nowMs - heard.atMs > FRESH_MS ? UNKNOWN : (heard.level ?? UNKNOWN);
    };
    const all = Math.min(...configuration.members.map((member) => supportedBy(member.id)));
    const next = Math.min(all, this.supported);
    if (next <= level) return;
    const command: LevelRaise = { type: 'system.level', v: 1, level: next };
    const since = loop.status().lastIndex;
    this.#proposed = next;
    loop.propose(encodeProposal({ id: newId(), since, command }), () => {
      this.#proposed = 0;
    });
  }
}

const namesOf = (members: readonly { readonly name: string }[]): string =>
  members.map(({ name }) => name).join(' and ');
