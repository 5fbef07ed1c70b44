/** Checks of single decoded values: each returns the value as its type or throws WireError. */
import { TEXT_MAX } from '../wire-limits.js';
import { WireError } from './types.js';

function wrong(expected: string, value: unknown): never {
  throw new WireError('protocol', `a frame holds ${typeof value} where ${expected} belongs`);
}

/** A whole number from 0 on. */
export function int(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) wrong('a whole number', value);
  return value as number;
}

export function bool(value: unknown): boolean {
  return typeof value === 'boolean' ? value : wrong('a boolean', value);
}

/** Text of bounded length, which may be empty. */
export function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > TEXT_MAX) wrong('a short text', value);
  return value;
}

/** Text that names something. */
export function id(value: unknown): string {
  return text(value) === '' ? wrong('a name', value) : (value as string);
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : wrong('a list', value);
}

export function bytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : wrong('bytes', value);
}

/**
 * A list of at least so many items. A newer release may append fields; they are ignored. This is
 * the check for frames, messages and questions, which only concern two members.
 */
export function fields(value: unknown, count: number): readonly unknown[] {
  const items = list(value);
  return items.length >= count ? items : wrong(`a list of at least ${count}`, value);
}

/** A field that older releases do not send: undefined where it is missing or null. */
export function optional<T>(value: unknown, check: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : check(value);
}

/**
 * A list of exactly so many items: for what is replicated (entries, configurations). To drop a
 * field there would make members differ, so a change of it needs a new level.
 */
export function tuple(value: unknown, length: number): readonly unknown[] {
  const items = list(value);
  return items.length === length ? items : wrong(`a list of ${length}`, value);
}
