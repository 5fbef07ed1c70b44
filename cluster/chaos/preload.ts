/**
 * Injects faults into a node, which loads this module before its own code (`node --import`). As the
 * control file says, its clocks jump or stand still, its disk is slow or hangs, reads included, and
 * its file system reports that it is full. The code of the node is unchanged.
 */
import fs, { readFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { CONTROL_VARIABLE, type Control, NO_FAULTS } from './control.js';

const POLL_MS = 50;
/** A node reads the time at each Raft tick. If it did not for this long, it was stopped. */
const STOPPED_MS = 100;

let control: Control = NO_FAULTS;
const file = process.env[CONTROL_VARIABLE]!;
function readControl(): void {
  try {
    control = JSON.parse(readFileSync(file, 'utf8')) as Control;
  } catch {
    // The file is not written yet, or is being replaced.
  }
}
readControl();
setInterval(readControl, POLL_MS).unref();

const RealDate = Date;
class ShiftedDate extends RealDate {
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(ShiftedDate.now());
    else super(...(parts as [number]));
  }
  static override now(): number {
    return RealDate.now() + control.clockMs;
  }
  /** Node itself creates dates of the original class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.toString.call(value) === '[object Date]';
  }
}
globalThis.Date = ShiftedDate as DateConstructor;

const realNow = performance.now.bind(performance);
/** Time that was hidden from earlier processes of the node. */
const frozenBeforeMs = control.frozenMs;
let lastReadMs = realNow();
performance.now = () => {
  const nowMs = realNow();
  // The first reading after a freeze must not show the time that passed.
  if (nowMs - lastReadMs > STOPPED_MS) readControl();
  lastReadMs = nowMs;
  return nowMs - (control.frozenMs - frozenBeforeMs);
};

const { statfs } = fsPromises;
fsPromises.statfs = (async (...parameters: Parameters<typeof statfs>) => {
  const found = await statfs(...parameters);
  if (control.noSpace) Object.assign(found, { bavail: 0, bfree: 0 });
  return found;
}) as typeof statfs;

async function diskAnswers(): Promise<void> {
  if (control.syncMs > 0) await sleep(control.syncMs);
  while (control.hangs) await sleep(POLL_MS);
}

/** Reads stop the whole process, as a synchronous read of a disk does. */
const paused = new Int32Array(new SharedArrayBuffer(4));
function diskReads(): void {
  if (control.readMs > 0) Atomics.wait(paused, 0, 0, control.readMs);
  while (control.readsHang) {
    Atomics.wait(paused, 0, 0, POLL_MS);
    readControl();
  }
}

type Method = (this: object, ...parameters: unknown[]) => Promise<unknown>;
/** Wraps methods of an object or prototype with `around`. */
function wrap(
  target: object,
  names: readonly string[],
  around: (self: object, run: () => Promise<unknown>) => Promise<unknown>,
): void {
  // The types do not declare these methods, or declare overloads.
  const methods = target as Record<string, Method>;
  for (const name of names) {
    const real = methods[name]!;
    methods[name] = function (...parameters) {
      return around(this, () => real.apply(this, parameters));
    };
  }
}

/** Files of snapshots and archives. */
const handle = await fsPromises.open('/dev/null');
wrap(Object.getPrototypeOf(handle), ['write', 'writeFile', 'sync', 'datasync'], (_file, run) =>
  diskAnswers().then(run),
);
await handle.close();

type Call = (...parameters: unknown[]) => unknown;
// The types declare overloads, which one signature cannot express.
const calls = fs as unknown as Record<string, Call>;

/** Descriptors of the log and of the identity: a write to them is durable when it returns. */
const durable = new Set<number>();
const { open, closeSync, readSync } = fs;
calls['open'] = (path, flags, ...rest) => {
  const done = rest.pop() as Call;
  (open as Call)(path, flags, ...rest, (error: unknown, fd: number) => {
    if (error === null && (Number(flags) & fs.constants.O_DSYNC) !== 0) durable.add(fd);
    done(error, fd);
  });
};
fs.closeSync = (fd) => {
  durable.delete(fd);
  closeSync(fd);
};

calls['readSync'] = (fd, ...rest) => {
  if (durable.has(fd as number)) diskReads();
  return (readSync as Call)(fd, ...rest);
};

/** Delays calls that end with a callback, if their first parameter is one that counts. */
function delay(names: readonly string[], counts: (first: unknown) => boolean): void {
  for (const name of names) {
    const real = calls[name]!;
    calls[name] = (...parameters) => {
      if (counts(parameters[0])) void diskAnswers().then(() => real(...parameters));
      else real(...parameters);
    };
  }
}

delay(['write', 'fdatasync'], (fd) => durable.has(fd as number));
delay(['fsync', 'rename', 'unlink'], () => true);
syncBuiltinESMExports();

/** Writes to a database keep their order. */
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

const database = ClassicLevel.prototype as unknown as Record<string, Call>;
const { _getSync } = database;
database['_getSync'] = function (this: object, ...parameters) {
  diskReads();
  return _getSync!.apply(this, parameters);
};

wrap(ClassicLevel.prototype, ['_batch', '_put', '_del', '_clear'], inTurn);
const level = ClassicLevel.prototype as unknown as { _chainedBatch(): object };
const { _chainedBatch } = level;
level._chainedBatch = function () {
  const batch = _chainedBatch.call(this);
  wrap(batch, ['_write'], (_batch, run) => inTurn(this, run));
  return batch;
};
