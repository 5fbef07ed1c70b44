/**
 * The results of recent requests, so that a command sent twice takes effect once (thesis §6.3).
 * They are in log order, limited in number and characters. The oldest ones are dropped first, a
 * record at a time (see request-records.ts). That raises the floor, the index below which the
 * machine cannot tell whether a request was applied:
 *
 *     dropped   remembered
 *     1  2  3 | 4  5  6  7        floor is 3: a request sent before index 3 whose id is not
 *                                 remembered may be one of 1 to 3, so its outcome is unknown
 *
 * A request that is sent again gets the answer that it got the first time. Nearly always the object
 * that it has written is still there, so that from level 3 on only the key is remembered. A later
 * command that changes or deletes the object leaves the text here first, as a result of its own:
 *
 *     entry 4, request a   writes role r      a: role r
 *     entry 6, request b   deletes role r     a: role r   past of role r at 4: {…}   b: true
 */
import { refusal } from '../base/errors.js';
import { compare } from '../base/text.js';
import type { Index } from '../raft/types.js';
import { GrowingHash, hashOf, type RecordHash, tableOf } from './checksum.js';
import { keys } from './keys.js';
import { keysBelow, modifyIndexOf } from './lists.js';
import type { ObjectTable } from './object.js';
import { lineOf, type Remembered, requestKeyOf, requestsOf, resultIn } from './request-records.js';
import { restoredAt } from './restore.js';
import type { Proposal, Result, View } from './types.js';

/**
 * Maximum number of remembered results. What is dropped decides later results on every member, so a
 * change of this or of CHARS_MAX, PAGE_REQUESTS or PAGE_CHARS needs a level (see levels.ts).
 */
export const REQUESTS_MAX = 65_536;
/** Maximum number of characters of all remembered results: a bound on the state they occupy. */
const CHARS_MAX = 64 * 1024 * 1024;
/** Results of a full page. Each commit writes the last page anew, so a page is small. */
export const PAGE_REQUESTS = 64;
/** Characters of a full page, which may be exceeded by one result. */
const PAGE_CHARS = 8192;

/** Limits of what is remembered. Only simulations and tests set others. */
export interface RequestLimits {
  readonly requestsMax: number;
  readonly pageRequests: number;
}

/** A change of a record of remembered requests. */
export interface RequestChange {
  readonly key: string;
  /** Undefined if the record is deleted. */
  readonly value: string | undefined;
  /** The hash of the record that is replaced or deleted; undefined if there is none. */
  readonly before: RecordHash | undefined;
  readonly after: RecordHash | undefined;
}

interface ChangedObject {
  readonly key: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

interface RequestRecord {
  readonly key: string;
  /** Its requests, in log order. */
  ids: string[];
  last: Index;
  /** Number of characters of its results. */
  chars: number;
  /** Whether it takes no further result. */
  isFull: boolean;
  /** What it contains, unless it is full and committed. */
  content: Content | undefined;
  /** The hash of the record in the state; absent if there is none or it is not known. */
  hash?: RecordHash | undefined;
  /** Whether the state has the record. */
  isCommitted: boolean;
}

/** The contents of a record, and its hash as far as it has grown. */
interface Content {
  text: string;
  readonly hash: GrowingHash;
}

/**
 * The remembered requests by id. Their results are in the state, because they are needed rarely.
 * What was remembered since the last commit is here, until `takeChanges`.
 */
export class RequestMemory {
  readonly #limits: RequestLimits;
  readonly #byId = new Map<string, RequestRecord>();
  /** How many of them are pasts of objects. */
  #pasts = 0;
  /** The objects that the command has changed whose result comes next. */
  #objects: ChangedObject[] = [];
  /** Records in log order, from `#head` on. Those before it are dropped, and removed in bulk. */
  #records: RequestRecord[] = [];
  #head = 0;
  #chars = 0;
  #floor: Index;
  /** Records that the state does not have as they are here. */
  readonly #changed = new Set<RequestRecord>();
  /** Records that the state still has. */
  #dropped: RequestRecord[] = [];
  /** The state whose requests are not read yet. */
  #unread: View | undefined;

  constructor(floor: Index, limits: RequestLimits) {
    this.#floor = floor;
    this.#limits = limits;
  }

  /**
   * Returns the remembered requests of a state. Reads them when the first is asked for or added:
   * until then, a node that starts answers reads.
   */
  static load(view: View, floor: Index, limits: RequestLimits): RequestMemory {
    const memory = new RequestMemory(floor, limits);
    memory.#unread = view;
    return memory;
  }

  /** The index of the newest request that was dropped; part of the machine's record. */
  get floor(): Index {
    return this.#floor;
  }

  /** Returns the result of an earlier entry with this id; undefined if it is not remembered. */
  find(view: View, id: string): Result | undefined {
    this.#read();
    const record = this.#byId.get(id);
    if (record === undefined) return undefined;
    const text = record.content?.text ?? view.get(record.key);
    // The store has another state, and the machine has not loaded it yet.
    const found = text === undefined ? undefined : resultIn(record.key, text, id);
    return found !== undefined && 'object' in found ? this.#answerOf(view, found) : found;
  }

  /** Returns the result whose value is an object as it was at an index. */
  #answerOf(view: View, { index, object }: Remembered & { readonly object: string }): Result {
    const past = this.find(view, pastOf(object, index));
    if (past?.ok === true) return { ...past, index };
    const value = view.get(object);
    // A restore may have brought another object with this index.
    if (value !== undefined && index > restoredAt(view) && modifyIndexOf(value) === index)
      return { ok: true, index, value };
    const why = 'The write has taken effect, but a restore has replaced all objects since';
    return { ok: false, index, refusal: refusal('outcome_unknown', why) };
  }

  /**
   * Returns the result of a proposal that was applied before, as `find` does. Returns a refusal as
   * its result if the proposal is so old that this cannot be known.
   */
  recall(view: View, proposal: Proposal, index: Index): Result | undefined {
    const known = this.find(view, proposal.id);
    if (known !== undefined) return known;
    if (proposal.since >= this.#floor) return undefined;
    const why = 'The outcome of this request is unknown: it was sent too long ago to be remembered';
    return { ok: false, index, refusal: refusal('outcome_unknown', why) };
  }

  /** Notes a change of a record by the command whose result is remembered next. */
  changed(key: string, before: string | undefined, after: string | undefined): void {
    if (!Object.hasOwn(OBJECT_TABLES, tableOf(key))) return;
    this.#objects.push({ key, before, after });
  }

  /**
   * Remembers a result, as the level says: in a page or as a record of its own, and an object by
   * its key. Drops what exceeds the limits.
   */
  remember(id: string, given: Result, level: number): void {
    this.#read();
    const answered = level > 2 ? this.#answeredBy(given) : undefined;
    this.#objects = [];
    this.#keep(id, answered ?? replicated(given), level > 1);
  }

  /**
   * Keeps the texts that objects had before the command if they may be answers. Returns the result
   * as a reference if it is the new text of one of them.
   */
  #answeredBy(given: Result): Remembered | undefined {
    const { index } = given;
    let answered: Remembered | undefined;
    // releases may differ in the order in which a command changes objects
    const relevant = this.#objects.filter(
      ({ before, after }) => before !== undefined || (given.ok && after === given.value),
    );
    for (const { key, before, after } of relevant.sort((a, b) => compare(a.key, b.key))) {
      if (given.ok && after !== undefined && after === given.value)
        answered = { index, object: key };
      const writtenAt = before === undefined ? 0 : modifyIndexOf(before);
      if (before === undefined || writtenAt <= this.#floor) continue;
      const past = pastOf(key, writtenAt);
      if (!this.#byId.has(past)) this.#keep(past, { ok: true, index, value: before }, true);
    }
    return answered;
  }

  #keep(id: string, result: Remembered, inPage: boolean): void {
    const { index } = result;
    if (inPage) this.#append(this.#openPage(index), id, index, lineOf(id, result));
    else {
      const value = JSON.stringify(result);
      const record = this.#begin(keys.request(index, value.length, id));
      this.#append(record, id, index, value);
      record.isFull = true;
    }
    const { requestsMax } = this.#limits;
    while (this.#byId.size - this.#pasts > requestsMax || this.#chars > CHARS_MAX) {
      // The record that takes results stays.
      if (this.#head === this.#records.length - 1) return;
      const dropped = this.#forgetOldest();
      this.#changed.delete(dropped);
      if (dropped.isCommitted) this.#dropped.push(dropped);
    }
  }

  /**
   * Returns what has changed since the last call, in an order in which it can be committed. `view`
   * is the state without these changes.
   */
  takeChanges(view: View): RequestChange[] {
    const changes: RequestChange[] = [];
    for (const record of this.#dropped) {
      const { key } = record;
      changes.push({
        key,
        value: undefined,
        before: committedHash(record, view),
        after: undefined,
      });
    }
    this.#dropped = [];
    for (const record of this.#changed) {
      const { key } = record;
      const { text, hash } = record.content!;
      const [before, after] = [committedHash(record, view), hash.value];
      changes.push({ key, value: text, before, after });
      record.hash = after;
      record.isCommitted = true;
      if (record.isFull) record.content = undefined;
    }
    this.#changed.clear();
    return changes;
  }

  /**
   * Drops the results up to `index` that `forgetRequests` dropped from the state. `view` is the
   * state after it. A page that has lost results takes no more: the result of `request.forget`
   * itself begins the next one, on every member.
   */
  forgetThrough(index: Index, view: View): void {
    if (index === 0) return;
    this.#read();
    while ((this.#records[this.#head]?.last ?? Infinity) <= index) this.#forgetOldest();
    this.#floor = index;
    const oldest = this.#records[this.#head];
    if (oldest === undefined || requestKeyOf(oldest.key).index > index) return;
    const text = view.get(oldest.key)!;
    const { ids } = requestsOf(oldest.key, text);
    for (const id of oldest.ids.slice(0, -ids.length)) this.#unname(id);
    this.#chars += text.length - oldest.chars;
    oldest.ids = ids;
    oldest.chars = text.length;
    oldest.hash = hashOf(oldest.key, text);
    oldest.content = undefined;
    oldest.isFull = true;
  }

  #read(): void {
    const view = this.#unread;
    if (view === undefined) return;
    this.#unread = undefined;
    for (const key of keysBelow(view, 'request')) this.#load(key, view);
    this.#openLast(view);
  }

  #load(key: string, view: View): void {
    const text = view.get(key)!;
    const { ids, last } = requestsOf(key, text);
    const chars = text.length;
    const record = { key, ids, last, chars, isFull: true, content: undefined, isCommitted: true };
    this.#records.push(record);
    for (const id of ids) this.#name(id, record);
    this.#chars += chars;
  }

  #name(id: string, record: RequestRecord): void {
    this.#byId.set(id, record);
    if (id.startsWith(PAST)) this.#pasts += 1;
  }

  #unname(id: string): void {
    this.#byId.delete(id);
    if (id.startsWith(PAST)) this.#pasts -= 1;
  }

  /** The last page may take further results. */
  #openLast(view: View): void {
    const last = this.#records.at(-1);
    if (last === undefined || requestKeyOf(last.key).id !== undefined) return;
    last.isFull = this.#isFull(last);
    if (!last.isFull) last.content = contentOf(last.key, view.get(last.key)!);
  }

  #isFull({ ids, chars }: RequestRecord): boolean {
    return ids.length >= this.#limits.pageRequests || chars >= PAGE_CHARS;
  }

  /** Returns the page that takes the result of an entry. */
  #openPage(index: Index): RequestRecord {
    const last = this.#records.at(-1);
    const isOpen = last !== undefined && this.#head < this.#records.length && !last.isFull;
    if (isOpen) return last;
    // One entry may fill many pages.
    const before = last === undefined ? undefined : requestKeyOf(last.key);
    const more = before?.index === index ? before.page + 1 : 0;
    return this.#begin(keys.requestPage(index, more));
  }

  #begin(key: string): RequestRecord {
    const content = contentOf(key, '');
    const record = { key, ids: [], last: 0, chars: 0, isFull: false, content, isCommitted: false };
    this.#records.push(record);
    return record;
  }

  #append(record: RequestRecord, id: string, index: Index, text: string): void {
    const content = record.content!;
    content.text += text;
    content.hash.add(text);
    record.ids.push(id);
    record.last = index;
    record.chars += text.length;
    record.isFull = this.#isFull(record);
    this.#name(id, record);
    this.#chars += text.length;
    this.#changed.add(record);
  }

  #forgetOldest(): RequestRecord {
    const record = this.#records[this.#head]!;
    this.#head += 1;
    this.#chars -= record.chars;
    for (const id of record.ids) this.#unname(id);
    this.#floor = record.last;
    if (this.#head > this.#records.length / 2) {
      this.#records = this.#records.slice(this.#head);
      this.#head = 0;
    }
    return record;
  }
}

/** The tables whose objects are remembered by their keys. */
const OBJECT_TABLES: Readonly<Record<ObjectTable, true>> = {
  policy: true,
  role: true,
  token: true,
  method: true,
  rule: true,
  namespace: true,
};
/** What the ids of pasts begin with. Those of requests are UUIDs. */
const PAST = 'past ';
/** Returns the id under which the text of an object is remembered that was written at `index`. */
const pastOf = (object: string, index: Index): string =>
  [PAST + index, ...object.split('\u0000')].join(' ');

/** Returns a result without what only the present caller needs; see `About`. */
function replicated(result: Result): Result {
  if (result.ok) return result;
  const { about: _, ...refused } = result.refusal;
  return { ...result, refusal: refused };
}

function contentOf(key: string, text: string): Content {
  const hash = new GrowingHash(key);
  hash.add(text);
  return { text, hash };
}

/** Returns the hash of a record in the state. Reads the record if it was loaded. */
function committedHash(
  { key, hash, isCommitted }: RequestRecord,
  view: View,
): RecordHash | undefined {
  return isCommitted ? (hash ?? hashOf(key, view.get(key)!)) : undefined;
}
