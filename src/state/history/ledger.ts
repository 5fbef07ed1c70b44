/** The records of the history in a draft, with the account of what is kept and forgotten. */
import { tableOf } from '../checksum.js';
import type { Deferred } from '../draft.js';
import type { Draft } from '../types.js';
import { countedBytes, type Place, type Trace, traceKey, traceText } from './records.js';
import { FLOOR_FACT, type Floors } from './settings.js';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The account as the value of its record: entries change it, and the commit writes it. */
export class Account implements Deferred {
  readonly floors: Mutable<Floors>;
  #text: string | undefined;

  constructor(floors: Floors) {
    this.floors = { ...floors };
  }

  /** Notes that the account changes. */
  change(): this {
    this.#text = undefined;
    return this;
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.floors);
    return this.#text;
  }
}

/** The records of the history in a draft, and the account of what is kept and forgotten. */
export class Ledger {
  readonly draft: Draft;
  readonly floors: Mutable<Floors>;

  /** `floors` changes with the records. */
  constructor(draft: Draft, floors: Mutable<Floors>) {
    this.draft = draft;
    this.floors = floors;
  }

  /** Writes a record whose key has none. */
  put(key: string, text: string): void {
    this.draft.put(key, text);
    this.#count(key, countedBytes(key, text));
  }

  /** Replaces a record. */
  replace(key: string, before: string, after: string): void {
    this.draft.put(key, after);
    this.#count(key, countedBytes(key, after) - countedBytes(key, before));
  }

  /** Deletes a record. */
  drop(key: string, text: string): void {
    this.draft.del(key);
    this.#count(key, -countedBytes(key, text));
  }

  /** Notes that what was in force up to an index is forgotten. */
  forget(index: number, what: 'Index' | 'Logins' = 'Index'): void {
    this.floors[what] = Math.max(this.floors[what], index);
  }

  /** Notes that the line of an index was dropped, or has lost its content. */
  dropped(index: number): void {
    this.floors.Dropped = Math.max(this.floors.Dropped ?? 0, index);
  }

  /** Writes what no line tells of an object; see Trace. */
  trace(place: Place, trace: Trace): void {
    const text = traceText(trace);
    if (text !== undefined) this.draft.put(traceKey(place), text);
    else if (this.draft.get(traceKey(place)) !== undefined) this.draft.del(traceKey(place));
  }

  /** Writes the account. */
  close(): void {
    this.draft.put(FLOOR_FACT, JSON.stringify(this.floors));
  }

  #count(key: string, bytes: number): void {
    this.floors.Bytes += bytes;
    if (tableOf(key) === 'login-change') this.floors.LoginBytes += bytes;
  }
}
