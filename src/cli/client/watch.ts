/** Watches: reads repeated by blocking queries, and what differs between their answers. */
import { CliError } from '../print/error.js';
import type { Api } from './http.js';

interface Watched {
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Whether it may be missing and is then awaited. Otherwise that is an error. */
  readonly mayBeMissing?: boolean;
}

/** What a read answered, if it differs from the answer before. */
interface Seen {
  readonly index: number;
  /** Undefined if there is none. */
  readonly value: unknown;
}

/** How long the server holds a read before it answers with the unchanged value. */
export const WAIT = '5m';
/** The same in milliseconds. The server adds up to a sixteenth. */
export const WAIT_MS = (300_000 * 17) / 16;

/** Yields what a read answers, and again after each change, until the user interrupts it. */
export async function* readsOf(
  api: Api,
  { path, query, mayBeMissing = false }: Watched,
): AsyncGenerator<Seen, never> {
  let index = 0;
  let shown: string | undefined;
  for (;;) {
    const held = index === 0 ? {} : { index: String(index), wait: WAIT };
    const heldMs = index === 0 ? 0 : WAIT_MS;
    const answer = await api.get(path, { query: { ...query, ...held }, heldMs, mayBeMissing });
    if (answer.index === 0)
      throw new CliError('this read cannot be watched: its answer has no index');
    // Smaller than before: the server was restored. The next read does not block.
    index = answer.index < index ? 0 : answer.index;
    const isMissing = answer.status === 404;
    const text = isMissing ? '' : answer.text;
    if (text === shown) continue;
    shown = text;
    yield { index: answer.index, value: isMissing ? undefined : answer.json() };
  }
}

/** A change of one object. */
export interface Change {
  readonly ref: string;
  readonly what: 'created' | 'changed' | 'deleted';
  /** The object as it is now; as it was if it is deleted. */
  readonly value: unknown;
  /** The members that differ, a line each. */
  readonly members: readonly string[];
}

/** Members that change with every write and say nothing else. */
const SILENT = new Set(['CreateIndex', 'ModifyIndex', 'Hash']);

/** Returns the changes between two sets of objects by their Refs, in the order of the Refs. */
export function changesBetween(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): Change[] {
  const refs = [...new Set([...before.keys(), ...after.keys()])].sort();
  return refs.flatMap((ref): Change[] => {
    const was = before.get(ref);
    const is = after.get(ref);
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    const what = was === undefined ? 'created' : is === undefined ? 'deleted' : 'changed';
    const members = what === 'deleted' ? [] : memberChanges(was, is);
    return [{ ref, what, value: is ?? was, members }];
  });
}

/** Returns a line for each member that differs: `Protocol: "http" → "grpc"`. */
export function memberChanges(before: unknown, after: unknown): string[] {
  const was = leavesOf(before);
  const is = leavesOf(after);
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((path) => {
    const [old, now] = [was.get(path), is.get(path)];
    if (old === now || SILENT.has(path)) return [];
    if (old === undefined) return [`${path}: ${now}`];
    return [`${path}: ${old} → ${now ?? 'none'}`];
  });
}

/** Returns the values in a JSON value, as JSON by their paths: `Routes[0].Match.Path`. */
function leavesOf(value: unknown, path = '', found = new Map<string, string>()) {
  if (typeof value !== 'object' || value === null) {
    if (value !== undefined) found.set(path, JSON.stringify(value));
  } else if (Array.isArray(value)) {
    value.forEach((item, at) => {
      leavesOf(item, `${path}[${at}]`, found);
    });
  } else
    for (const [name, item] of Object.entries(value))
      leavesOf(item, path === '' ? name : `${path}.${name}`, found);
  return found;
}
