/** The records of the history in a draft, with the account of what is kept and forgotten. */
import { tableOf } from '../checksum.js';
import type { Draft } from '../types.js';
import { countedBytes } from './records.js';
import { FLOOR_FACT, type Floors } from './settings.js';

/** The records of the history in a draft, and the account of what is kept and forgotten. */
export class Ledger {
  readonly draft: Draft;
  readonly floors: { -readonly [K in keyof Floors]: Floors[K] };

  constructor(draft: Draft, floors: Floors) {
    this.draft = draft;
    this.floors = { ...floors };
  }

  /** Writes a record whose key has none. */
  put(key: string, text: string): void {
    this.draft.put(key, text);
    this.#count(key, countedBytes(key, text));
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

  /** Writes the account, unless it is as it was. */
  close(before: Floors | undefined): void {
    const text = JSON.stringify(this.floors);
    if (text !== JSON.stringify(before)) this.draft.put(FLOOR_FACT, text);
  }

  #count(key: string, bytes: number): void {
    this.floors.Bytes += bytes;
    if (tableOf(key) === 'login-change') this.floors.LoginBytes += bytes;
  }
}
