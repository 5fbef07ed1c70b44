/**
 * Members of two releases apply every entry alike: results, texts of refusals and checksums of all
 * tables are equal after each entry, at level 1, where each cluster begins, and at the level of the
 * older release.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Random } from '../../cluster/checker/random.js';
import type { Entry } from '../../src/raft/types.js';
import { HANDLERS } from '../../src/state/handlers.js';
import { COMMAND_LEVELS } from '../../src/state/levels.js';
import { Machine } from '../../src/state/machine.js';
import { encodeProposal } from '../../src/state/proposal.js';
import type { Command, Handlers, Result } from '../../src/state/types.js';
import { MemoryState } from '../../src/storage/memory-state.js';
import { type Draw, randomCommand, restoreCommands } from '../support/random-commands.js';
import { programValue, unpackRelease } from './releases.js';

const SEEDS = 12;
const COMMANDS = 400;
/** Commands between two restores, and at which the level is raised. */
const RESTORE_EVERY = 97;
const RAISE_AT = 50;

/** A state machine with its state. */
interface Member {
  readonly state: MemoryState;
  readonly machine: Pick<Machine, 'apply' | 'checksum'>;
}

/** Applies one entry, which may take several turns. */
const applied = ({ machine }: Member, entry: Entry): Promise<Result | undefined> =>
  new Promise((resolve) => {
    const results = machine.apply([entry], resolve);
    if (results.length === 1) resolve(results[0]);
  });

const sums = ({ machine }: Member): string =>
  JSON.stringify(Object.entries(machine.checksum().sums).sort());

/** Which records differ, for the text of a failure. */
function differences([one, other]: readonly Member[]): string[] {
  const [a, b] = [one!.state, other!.state];
  const all = new Set([...a.keys(''), ...b.keys('')]);
  return [...all]
    .filter((key) => a.get(key) !== b.get(key))
    .map((key) => `${JSON.stringify(key)}: here ${a.get(key)}, before ${b.get(key)}`);
}

/** A result as it is stored: what its refusal is about is for the present caller alone. */
function replicated(result: Awaited<ReturnType<typeof applied>>): unknown {
  if (result === undefined || result.ok) return result;
  const { about: _, ...refusal } = result.refusal;
  return { ...result, refusal };
}

/** Two members that apply the same entries. */
class Pair {
  readonly members: readonly [Member, Member];
  readonly #random: Random;
  readonly #ids: string[] = [];
  index = 0;

  constructor(members: readonly [Member, Member], random: Random) {
    this.members = members;
    this.#random = random;
  }

  /** Some requests are sent twice, and some too late. Returns whether it was refused. */
  async apply(command: Command): Promise<boolean> {
    const random = this.#random;
    const index = ++this.index;
    const isAgain = random.chance(0.03) && this.#ids.length > 0;
    const id = isAgain ? random.pick(this.#ids) : `request-${index}`;
    this.#ids.push(id);
    const since = Math.max(0, index - 1 - random.int(30));
    const data = encodeProposal({ id, since, command });
    const entry: Entry = { kind: 'command', index, term: 1, data };
    const [here, before] = [
      await applied(this.members[0], entry),
      await applied(this.members[1], entry),
    ];
    const what = `entry ${index}: ${JSON.stringify(command)}`;
    expect(replicated(here), what).to.deep.equal(before);
    if (sums(this.members[0]) !== sums(this.members[1]))
      throw new Error(`${what}\n${differences(this.members).join('\n')}`);
    return here?.ok === false;
  }
}

describe('this release and the one before', () => {
  let dir: string;
  let old: { Machine: typeof Machine; HANDLERS: Handlers; SUPPORTED_LEVEL: number };
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'conclave-agree-'));
    const main = await unpackRelease(dir);
    old = {
      Machine: await programValue(main, 'Machine'),
      HANDLERS: await programValue(main, 'HANDLERS'),
      SUPPORTED_LEVEL: await programValue(main, 'SUPPORTED_LEVEL'),
    };
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const seen = new Map<string, { done: number; refused: number }>();

  for (let seed = 1; seed <= SEEDS; seed++)
    it(`apply the same entries alike: ${seed}`, async () => {
      const random = new Random(seed);
      const level = old.SUPPORTED_LEVEL;
      const member = (Class: typeof Machine, handlers: Handlers): Member => {
        const state = new MemoryState();
        return { state, machine: new Class(state, handlers, level) };
      };
      const members = [member(Machine, HANDLERS), member(old.Machine, old.HANDLERS)] as const;
      const pair = new Pair(members, random);
      const apply = async (command: Command): Promise<void> => {
        const count = seen.get(command.type) ?? { done: 0, refused: 0 };
        count[(await pair.apply(command)) ? 'refused' : 'done'] += 1;
        seen.set(command.type, count);
      };
      /** Without the members that are proposed only above the level of the older release. */
      const permitted = (command: Command): Command => {
        const members = Object.entries(command).filter(
          ([name]) => (COMMAND_LEVELS[`${command.type}/${name}`] ?? 1) <= level,
        );
        return Object.fromEntries(members) as unknown as Command;
      };
      const isKnown = (type: string): boolean => Object.hasOwn(old.HANDLERS, type);
      const draw = (n: number): Draw => {
        const { index: at } = pair;
        return { random, n, view: members[0].state, applied: at };
      };
      const namespace = { Name: 'team', PolicyDefaults: [], RoleDefaults: [] };
      const commands: object[] = [
        { type: 'system.init', v: 1, createTime: '2030-01-01T00:00:00Z' },
        { type: 'namespace.set', v: 1, policyId: 'team-policy', namespace },
      ];
      for (const command of commands) await apply(command as Command);
      for (let n = 1; n < COMMANDS; n++) {
        if (n === RAISE_AT) await apply({ type: 'system.level', v: 1, level } as Command);
        if (n % RESTORE_EVERY !== 0) await apply(permitted(randomCommand(draw(n), isKnown)));
        else for (const command of restoreCommands(draw(n))) await apply(command);
      }
    });

  it('were given commands of all kinds that took effect', () => {
    const needed = Object.keys(old.HANDLERS).filter((type) => (seen.get(type)?.done ?? 0) === 0);
    expect(needed, JSON.stringify([...seen])).to.deep.equal([]);
  });
});
