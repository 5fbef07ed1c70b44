/**
 * The shapes the state machine hangs on. State is one ordered map of text keys to text values (JSON); every table is a
 * readable prefix of it. A key's parts are joined by NUL, so no part may hold one.
 */
import type { Refusal } from '../errors.js';

/** Joins the parts of a key. */
export const keyOf = (...parts: string[]): string => parts.join('\u0000');

/** A consistent, synchronous view of the state. */
export interface View {
  get(key: string): string | undefined;
  /** Keys that start with `prefix`, ascending, strictly after `after` if given. Stable only until the next change. */
  keys(prefix: string, after?: string): Iterable<string>;
}

/** A view with the changes of the command being applied on top. */
export interface Draft extends View {
  put(key: string, value: string): void;
  del(key: string): void;
}

/** A key and its value. */
export type StateRecord = readonly [key: string, value: string];

export type Change = readonly [key: string, value: string | undefined];

/**
 * Where the state lives: LevelDB, or memory in tests. Reads see a commit at once; it becomes durable later, whole and in
 * order (the log is the truth, so no commit is synced by itself).
 */
export interface StateStore extends View {
  /** Adds one atomic set of changes. */
  commit(changes: readonly Change[]): void;
  /** Resolves when everything committed before is synced to disk. */
  flush(): Promise<void>;
  /** A frozen view that outlives later commits; must be closed. */
  pin(): PinnedView;
  /**
   * Puts other records in the place of all. They are drawn in slices, with turns of the event loop in between, and written
   * aside; nobody sees them. When `slices` returns true they become the state as a whole, durably; a crash leaves the
   * old state or the new one. When it returns false, or when another state is installed, nothing changes. Commits made
   * meanwhile are gone with the old state. `done` is called once, with whether the state was replaced, never before this
   * call has returned. Errors of the slices go where errors of the disk go.
   */
  rewrite(
    slices: Iterator<readonly StateRecord[], boolean>,
    done: (replaced: boolean) => void,
  ): void;
  close(): Promise<void>;
}
export interface PinnedView extends View {
  close(): void;
}

/** The outcome of a command, the same on every node. `value`: JSON text of the object as it is answered. */
export type Result =
  | { readonly ok: true; readonly index: number; readonly value?: string }
  | { readonly ok: false; readonly index: number; readonly refusal: Refusal };

/** What a command handler may use. Chance and clock come with the command; `index` is its log index. */
export interface ApplyContext {
  readonly draft: Draft;
  readonly index: number;
}

/** A state that takes the place of the whole present one, but for what the machine keeps for itself. */
export interface NewState {
  /**
   * Its records, drawn from the present state in slices of bounded work. A refusal at the end: the command is refused, and
   * nothing changes.
   */
  readonly slices: (view: View) => Iterator<readonly StateRecord[], Refusal | undefined>;
  /** What is named to those who are told of changes; they cannot be told every key. */
  readonly changed: readonly string[];
}

/**
 * A handler decides one command. It never throws for bad input and returns either the value to answer (undefined: none)
 * or a refusal, in which case nothing of its draft is kept. With `state` its draft is not kept either: the whole state
 * is replaced, in many turns of the event loop.
 */
export type Handler<C> = (
  context: ApplyContext,
  command: C,
) =>
  | { readonly ok: true; readonly value?: string; readonly state?: NewState }
  | { readonly ok: false; readonly refusal: Refusal };

/** Every command has a type and a version of its own; anything unknown stops the node. */
export interface Command {
  readonly type: string;
  readonly v: 1;
}

/**
 * What is in a log entry: the command, the request's id and the log index before which the request was certainly not
 * sent. An id that was applied already gives the remembered result; a `since` older than what is remembered is refused
 * as outcome_unknown, because then nobody can tell.
 */
export interface Proposal {
  readonly id: string;
  readonly since: number;
  readonly command: Command;
}

/** What a read gives back: the value, the index of the answer, and the keys whose change may change it. */
export interface Answer<T> {
  readonly value: T;
  readonly index: number;
  readonly keys: readonly string[];
}
