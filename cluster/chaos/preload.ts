/**
 * Loaded into a node before its own code (`node --import`): makes its clocks jump and stand still,
 * its disk slow or hang, and its file system say that it is almost full, as the control file tells.
 * The node itself knows nothing of this.
 */
import { readFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { CONTROL_VARIABLE, type Control, NO_FAULTS } from './control.js';

const POLL_MS = 50;
/**
 * A process that asks for the time at each tick of Raft, and did not for this long, was held up or
 * stopped.
 */
const STOPPED_MS = 100;

let control: Control = NO_FAULTS;
const file = process.env[CONTROL_VARIABLE]!;
function look(): void {
  try {
    control = JSON.parse(readFileSync(file, 'utf8')) as Control;
  } catch {
    // not written yet, or just being replaced
  }
}
look();
setInterval(look, POLL_MS).unref();

const RealDate = Date;
class ShiftedDate extends RealDate {
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(ShiftedDate.now());
    else super(...(parts as [number]));
  }
  static override now(): number {
    return RealDate.now() + control.clockMs;
  }
  /** Dates that Node itself makes are of the class that was there before. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === '[object Date]';
  }
}
globalThis.Date = ShiftedDate as DateConstructor;

const realNow = performance.now.bind(performance);
/** What earlier processes of this node lost does not concern this one. */
const frozenBeforeMs = control.frozenMs;
let askedMs = realNow();
performance.now = () => {
  const nowMs = realNow();
  // the first look at the clock after a freeze must not show the time that has passed
  if (nowMs - askedMs > STOPPED_MS) look();
  askedMs = nowMs;
  return nowMs - (control.frozenMs - frozenBeforeMs);
};

const { statfs } = fsPromises;
fsPromises.statfs = (async (...parameters: Parameters<typeof statfs>) => {
  const found = await statfs(...parameters);
  if (control.noSpace) Object.assign(found, { bavail: 0, bfree: 0 });
  return found;
}) as typeof statfs;
syncBuiltinESMExports();

async function diskAnswers(): Promise<void> {
  if (control.syncMs > 0) await sleep(control.syncMs);
  while (control.hangs) await sleep(POLL_MS);
}

type Method = (this: object, ...parameters: unknown[]) => Promise<unknown>;
/** Lets calls of a method wait as `around` says. */
function wrap(
  target: object,
  names: readonly string[],
  around: (self: object, run: () => Promise<unknown>) => Promise<unknown>,
): void {
  // methods that the types do not show, or show with overloads
  const methods = target as Record<string, Method>;
  for (const name of names) {
    const real = methods[name]!;
    methods[name] = function (...parameters) {
      return around(this, () => real.apply(this, parameters));
    };
  }
}

/** Files of the data folder beside the databases. */
const handle = await fsPromises.open('/dev/null');
wrap(Object.getPrototypeOf(handle), ['write', 'writeFile', 'sync', 'datasync'], (_file, run) =>
  diskAnswers().then(run),
);
await handle.close();

/** Writes of one database reach the disk in the order in which they were given. */
const lastOf = new WeakMap<object, Promise<unknown>>();
function inTurn(database: object, run: () => Promise<unknown>): Promise<unknown> {
  const last = lastOf.get(database) ?? Promise.resolve();
  const mine = last.then(diskAnswers).then(run);
  lastOf.set(
    database,
    mine.catch(() => {}),
  );
  return mine;
}

wrap(ClassicLevel.prototype, ['_batch', '_put', '_del', '_clear'], inTurn);
const level = ClassicLevel.prototype as unknown as { _chainedBatch(): object };
const { _chainedBatch } = level;
level._chainedBatch = function () {
  const batch = _chainedBatch.call(this);
  wrap(batch, ['_write'], (_batch, run) => inTurn(this, run));
  return batch;
};
