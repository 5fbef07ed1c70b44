/**
 * Loaded into a node before its own code (`node --import`): makes its clock jump, its disk slow, and its file system say
 * that it is almost full, as the control file tells. The node itself knows nothing of this.
 */
import { readFileSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { CONTROL_VARIABLE, type Control, NO_FAULTS } from './control.js';

const POLL_MS = 50;

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

const { statfs } = fsPromises;
fsPromises.statfs = (async (...parameters: Parameters<typeof statfs>) => {
  const found = await statfs(...parameters);
  if (control.noSpace) Object.assign(found, { bavail: 0, bfree: 0 });
  return found;
}) as typeof statfs;
syncBuiltinESMExports();

/** Batches of one database reach the disk in the order in which they were given. */
const lastOf = new WeakMap<object, Promise<unknown>>();
function inTurn<T>(database: object, run: () => Promise<T>): Promise<T> {
  const last = lastOf.get(database) ?? Promise.resolve();
  const mine = last.then(async () => {
    if (control.syncMs > 0) await sleep(control.syncMs);
    return run();
  });
  lastOf.set(
    database,
    mine.catch(() => {}),
  );
  return mine;
}

interface Internals {
  _chainedBatch(): { _write(options: object): Promise<void> };
  _batch(operations: unknown, options: object): Promise<void>;
}
const level = ClassicLevel.prototype as unknown as Internals;
const { _chainedBatch, _batch } = level;
level._chainedBatch = function () {
  const batch = _chainedBatch.call(this);
  const write = batch._write.bind(batch);
  batch._write = (options) => inTurn(this, () => write(options));
  return batch;
};
level._batch = function (operations, options) {
  return inTurn(this, () => _batch.call(this, operations, options));
};
