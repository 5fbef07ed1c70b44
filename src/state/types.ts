/**
 * The types of the state machine. The state is one ordered map of text keys to text values (JSON),
 * and each table is the keys below a readable prefix:
 *
 *     policy NUL default NUL 2f6a…        →  {"ID":"2f6a…","Name":"read-web",…}
 *     policy-name NUL default NUL read-web  →  2f6a…
 *
 * NUL joins the parts of a key, so no part may contain it.
 */
import type { Refusal } from '../base/errors.js';
import type { Author } from './author.js';

/** Joins the parts of a key. */
export const keyOf = (...parts: string[]): string => parts.join('\u0000');

/** A consistent, synchronous view of the state. */
export interface View {
  get(key: string): string | undefined;
  /**
   * Yields the keys that start with `prefix`, ascending, strictly after `after` if given. The
   * iteration is valid only until the next change.
   */
  keys(prefix: string, after?: string): Iterable<string>;
  /**
   * Whether there may be keys of a group (see groups.ts); false is certain. Costs less than `keys`,
   * because it needs no order. Absent: there may be.
   */
  mayHave?(group: string): boolean;
}

/** A view that includes the changes of the command being applied. */
export interface Draft extends View {
  put(key: string, value: string): void;
  del(key: string): void;
}

/** A key and its value. */
export type StateRecord = readonly [key: string, value: string];

/** A change of one record. An undefined value deletes it. */
export type Change = readonly [key: string, value: string | undefined];

/**
 * The store of the state: LevelDB, or memory in tests. Reads see a commit at once. It becomes
 * durable later, atomically and in order: the log can restore it, so no commit is synced by itself.
 */
export interface StateStore extends View {
  /**
   * Commits changes atomically. Those of records below NEXT (keys.ts) are in `next`. To replace
   * these takes a time that does not depend on their number.
   */
  commit(changes: readonly Change[], next?: NextChanges): void;
  /** Resolves once every earlier commit is synced to disk. */
  flush(): Promise<void>;
  /** Returns a view that later commits do not change. The caller must close it. */
  pin(): PinnedView;
  /**
   * Replaces all records. Draws the new ones in slices, one per turn of the event loop, and writes
   * them aside, where no reader sees them. Once `slices` returns true they become the state,
   * atomically and durably: after a crash the state is the old one or the new one. If it returns
   * false, or another state is installed meanwhile, nothing changes. Commits made meanwhile are
   * lost with the old state. Calls `done` once, after this call has returned, with whether the
   * state was replaced. Handles an error thrown by `slices` as an error of the disk. With
   * `isNext`, the new state consists of the records below NEXT, under their own keys, and those of
   * `slices`, which should be few.
   */
  rewrite(
    slices: Iterator<readonly StateRecord[], boolean>,
    done: (replaced: boolean) => void,
    isNext?: boolean,
  ): void;
  close(): Promise<void>;
}

/** A view that later commits do not change. It occupies resources until it is closed. */
export interface PinnedView extends View {
  close(): void;
}

/** The outcome of a command, the same on every node. `value` is the answer as JSON text. */
export type Result =
  | { readonly ok: true; readonly index: number; readonly value?: string }
  | { readonly ok: false; readonly index: number; readonly refusal: Refusal };

/**
 * What a command handler may use. `index` is the log index of the command. Random values and times
 * are members of the command.
 */
export interface ApplyContext {
  readonly draft: Draft;
  readonly index: number;
}

/** A state that replaces the present one, except for the records that the machine keeps. */
export interface NewState {
  /**
   * Yields its records, read from the present state, in slices of bounded work. If it returns a
   * refusal, the command is refused and nothing changes.
   */
  readonly slices: (view: View) => Iterator<readonly StateRecord[], Refusal | undefined>;
  /** The keys reported to listeners as changed, in place of every key of the state. */
  readonly changed: readonly string[];
  /** Set if the records below NEXT belong to the new state: their checksums by table. */
  readonly nextSums?: Readonly<Record<string, string>>;
}

/** What one command does to many tokens or to logins, for the history (beyond.md 3.1). */
export interface ManyTokens {
  readonly operation: 'revoke' | 'unblock' | 'gc' | 'delete';
  /** Their auth method. */
  readonly ns: string;
  readonly method: string;
  /** Whose they are: a subject or the beginning of one; empty for everybody. */
  readonly subject: string;
  readonly count: number;
}

/** What one command does to many tokens, by their auth methods. */
export type Many = readonly ManyTokens[];

/** Changes of the records below NEXT. */
export interface NextChanges {
  /** Whether to delete those that are there before. */
  readonly replaces: boolean;
  /** Records to add, under their own keys. */
  readonly records: readonly StateRecord[];
}

/**
 * Decides one command. Never throws for bad input: it returns the value to answer, if there is one,
 * or a refusal, and then its draft is discarded. With `state` the draft is discarded too, and the
 * whole state is replaced over many turns of the event loop.
 */
export type Handler<C> = (
  context: ApplyContext,
  command: C,
) =>
  | {
      readonly ok: true;
      readonly value?: string;
      readonly state?: NewState;
      readonly next?: NextChanges;
      readonly many?: Many;
    }
  | { readonly ok: false; readonly refusal: Refusal };

/** Handlers by command type, all of version 1. */
// A handler takes the command of its own type, which the type of a table cannot express.
// biome-ignore lint/suspicious/noExplicitAny: each handler declares the command it takes
export type Handlers = Readonly<Record<string, Handler<any>>>;

/**
 * The version that an object must have before a command changes it: one of these ModifyIndexes,
 * any at all, or none because it must not exist.
 */
export type Match = readonly number[] | 'any' | 'none';

/** A command, with its type and version. An unknown type or version stops the node. */
export interface Command {
  readonly type: string;
  readonly v: 1;
  /** Its precondition; see match.ts. Absent: none. */
  readonly match?: Match;
  /** Who caused it. Absent below level 3. */
  readonly author?: Author;
  /** The time of the request, RFC 3339 with milliseconds. Absent below level 3. */
  readonly time?: string;
  /** Why, in the words of the client. Absent if it gave none. */
  readonly reason?: string;
}

/**
 * The content of a log entry: the command, the id of its request, and an index of the log before
 * which the request was certainly not sent. If the id was applied already, its remembered result is
 * returned. If `since` is older than all remembered results, the proposal is refused as
 * outcome_unknown, because the machine cannot tell whether the request was applied.
 */
export interface Proposal {
  readonly id: string;
  readonly since: number;
  readonly command: Command;
}

/** The answer to a read: the value, its index, and the keys whose change may change it. */
export interface Answer<T> {
  readonly value: T;
  readonly index: number;
  readonly keys: readonly string[];
}
