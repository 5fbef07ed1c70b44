/** Checks of single decoded values. Each returns the value with its type, or throws WireError. */
import { TEXT_MAX } from '../base/wire-limits.js';
import { WireError } from './types.js';

function wrong(expected: string, value: unknown): never {
  throw new WireError('protocol', `a frame contains ${typeof value} instead of ${expected}`);
}

/** A safe integer, at least 0. */
export function int(value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) wrong('a whole number', value);
  return value as number;
}

/** A boolean. */
export function bool(value: unknown): boolean {
  return typeof value === 'boolean' ? value : wrong('a boolean', value);
}

/** Text of bounded length; it may be empty. */
export function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > TEXT_MAX) wrong('a short text', value);
  return value;
}

/** Text of bounded length that is not empty. */
export function id(value: unknown): string {
  return text(value) === '' ? wrong('a name', value) : (value as string);
}

/** A list of any length. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : wrong('a list', value);
}

/**
 * A list of at least `count` items. A newer release may append fields; they are ignored. This check
 * is for frames, messages and requests, which concern only two members.
 */
export function fields(value: unknown, count: number): readonly unknown[] {
  const items = list(value);
  return items.length >= count ? items : wrong(`a list of at least ${count}`, value);
}

/** A field that older releases do not send: undefined if it is missing or null. */
export function optional<T>(value: unknown, check: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : check(value);
}

/**
 * A list of exactly `length` items. This check is for replicated data (entries, configurations).
 * Ignoring a field there would make members diverge, so a new field needs a new level.
 */
export function tuple(value: unknown, length: number): readonly unknown[] {
  const items = list(value);
  return items.length === length ? items : wrong(`a list of ${length}`, value);
}
