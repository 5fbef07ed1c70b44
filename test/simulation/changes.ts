/**
 * Clients that change objects with what level 3 has: sets, preconditions, undo, the bounds of the
 * history. Each command has a reason of its own, by which it is found among the committed entries.
 */
import type { Random } from '../../cluster/checker/random.js';
import { linesUpTo } from '../../src/state/history/lines.js';
import { hasAuthors } from '../../src/state/levels.js';
import { modifyIndexOf } from '../../src/state/lists.js';
import { ownerKey } from '../../src/state/owners.js';
import { keyAt, placeOf } from '../../src/state/sets.js';
import { stamped } from '../../src/state/stamp.js';
import { type Command, keyOf, type Match } from '../../src/state/types.js';
import { type Draw, randomCommand, randomSet } from '../support/random-commands.js';
import { entryCommand } from '../support/random-entries.js';
import { setApply } from './product-commands.js';
import { knows } from './releases.js';
import type { Scheduler } from './scheduler.js';
import type { SimServer } from './server.js';
import type { WriteOutcome } from './workload.js';

/** What a client was told of a command. */
export interface Told {
  readonly command: Command;
  readonly outcome: WriteOutcome;
}

export interface ChangeClientParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  /** Servers that are up. */
  readonly up: () => readonly SimServer[];
  readonly trace: (text: string) => void;
}

/** Milliseconds between two commands, at most. */
const CHANGE_MS = 250;
const TIMEOUT_MS = 3_000;
const START_MS = Date.parse('2030-01-01T00:00:00.000Z');
/** Entries from which one to undo is drawn. */
const UNDONE_AMONG = 6;
const FACTS = { at: '2030-01-01T00:00:00Z', datacenter: 'dc1' } as const;

/** Which numbers the commands of this client have: those of others do not meet them. */
const FIRST = 100_000;

export class ChangeClient {
  readonly told: Told[] = [];
  readonly #parts: ChangeClientParts;
  #n = FIRST;
  #stopped = false;

  constructor(parts: ChangeClientParts) {
    this.#parts = parts;
  }

  start(): void {
    const { scheduler, random, up } = this.#parts;
    scheduler.after(random.next() * CHANGE_MS, () => {
      if (this.#stopped) return;
      const servers = up();
      if (servers.length > 0) {
        const server = random.pick(servers);
        // a server whose state cannot be read ends by itself
        server.visit(() => this.#change(server));
      }
      this.start();
    });
  }

  /** Sends nothing more. */
  stop(): void {
    this.#stopped = true;
  }

  #change(server: SimServer): void {
    const { random, scheduler, trace } = this.#parts;
    const { view } = server;
    const n = ++this.#n;
    const draw = { random, n, view, applied: server.look()!.applied };
    const made = random.pick(CHANGES)(draw);
    if (made === undefined || !knows(server.release, { ...made, reason: '' })) return;
    const author = { AccessorID: `author-${n % 3}`, Description: `client ${n % 3}` };
    const by = { author, nowMs: START_MS + scheduler.now, reason: `change ${n}` };
    const isTold = hasAuthors(view) || random.chance(0.5);
    const command = isTold ? stamped(made, by) : made;
    const call = scheduler.now;
    server.write(command, TIMEOUT_MS, (outcome) => {
      trace(`change ${n} ${command.type} at ${server.id}: ${textOf(outcome)}`);
      if (isTold && !server.wasWrong(call)) this.told.push({ command, outcome });
    });
  }
}

const textOf = (outcome: WriteOutcome): string => {
  if ('refusal' in outcome) return outcome.refusal.code;
  const { result } = outcome;
  return `${result.ok ? 'ok' : result.refusal.code} @${result.index}`;
};

type Change = (draw: Draw) => Command | undefined;

const set: Change = (draw) => randomSet(draw, 6);
const linked: Change = ({ random, n }) => setApply(random, n);

/** Gives some policies another owner, whose content stays. */
const own: Change = ({ random, view }) => {
  const changes = [];
  for (const key of view.keys(keyOf('policy', 'default', ''))) {
    if (changes.length >= 3) break;
    const place = { table: 'policy', ns: 'default', id: key.split('\u0000')[2]! } as const;
    const owned = view.get(ownerKey(place));
    const command = { type: 'owner.set', v: 1, ...place };
    const owner = { Owner: random.pick(['one', 'two', 'three']) };
    const was = modifyIndexOf(view.get(key)!);
    changes.push({ command, was, owner, ...(owned !== undefined && { owned }) });
  }
  return { type: 'set.apply', v: 1, ...FACTS, changes } as Command;
};

/** A command of one object, on a condition that holds, or held a while ago, or never. */
const conditional: Change = (draw) => {
  const { random, n, view } = draw;
  const command = random.chance(0.4) ? entryCommand(random, n) : randomCommand(draw);
  const place = placeOf(command);
  if (place === undefined || ['token.create', 'token.clone'].includes(command.type))
    return undefined;
  const text = view.get(keyAt(place));
  const index = text === undefined ? 1 : modifyIndexOf(text);
  const match = random.pick<Match>([
    [index],
    [index],
    [index],
    [1, index],
    [index - 1],
    'any',
    'none',
  ]);
  return { ...command, match };
};

const undo: Change = ({ random, n, view, applied }) => {
  const indexes = new Set<number>();
  for (const { index } of linesUpTo(view, 'change', applied)) {
    indexes.add(index);
    if (indexes.size >= UNDONE_AMONG) break;
  }
  if (indexes.size === 0) return undefined;
  const undone = random.pick([...indexes]);
  return { type: 'undo', v: 1, undone, caller: '', nowMs: START_MS + n, ...FACTS } as Command;
};

/** Low bounds leave nothing to compare, so they are rare. */
const bounds: Change = ({ random }) => {
  const VersionsPerObject = random.pick([200, 200, 200, 10, 2]);
  const kept = { Bytes: 2 ** 28, LoginBytes: random.pick([2 ** 26, 0]), MaxAge: '' };
  return { type: 'history.configure', v: 1, bounds: { VersionsPerObject, ...kept } } as Command;
};

/** As housekeeping does. */
const trim: Change = ({ random }) =>
  ({ type: 'history.trim', v: 1, nowMs: START_MS + random.int(3_600_000) }) as Command;

const CHANGES: readonly Change[] = [
  ...[set, set, set, linked, linked, own, conditional, conditional, conditional, conditional],
  ...[undo, undo, undo, undo, bounds, trim],
];
