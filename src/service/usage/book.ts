/**
 * When tokens and auth methods were used last (beyond.md 7.5), by the hour. It is no part of the
 * state: each node notes what it sees, and asks the others for what they have noted. So a read
 * writes nothing.
 *
 *     a request with a token   →   accessor 2f6a…, hour 497312
 *     a login by a method      →   auth-method/default/ci, hour 497312
 *     the others               →   theirs, the later hour counts
 */

/** What is noted at most. What was used longest ago is left out first. */
const NOTED_MAX = 200_000;
/** Uses in one answer to another member: about a quarter of a megabyte. */
const PAGE_USES = 5000;
/** Milliseconds of an hour, by which uses are counted. */
export const HOUR_MS = 3_600_000;

/** The accessor of a token, or an auth method, and the hour of its use, counted from the epoch. */
type Use = readonly [accessor: string, hour: number];

/** Some of the uses that a member has noted. */
export interface UsePage {
  /** The hour from which on it has noted them. */
  readonly since: number;
  readonly uses: readonly Use[];
  /** The place in its notes at which the next page begins; absent: there is none. */
  readonly next?: number;
}

const METHOD = 'auth-method/';

/** Returns what stands for an auth method among the accessors. */
export const methodUse = (ns: string, name: string): string =>
  `${METHOD}${ns}/${name.toLowerCase()}`;

/** Returns the namespace and name of an auth method that is noted; undefined for an accessor. */
export function methodOfUse(used: string): readonly [ns: string, name: string] | undefined {
  if (!used.startsWith(METHOD)) return undefined;
  const [ns = '', name = ''] = used.slice(METHOD.length).split('/');
  return [ns, name];
}

/** The notes of a node. */
export class UsageBook {
  /** By accessor, in the order in which they were noted last: in that of their places. */
  readonly #notes = new Map<string, { readonly hour: number; readonly place: number }>();
  readonly #nowMs: () => number;
  /** How often something was noted. */
  #place = 0;
  #since: number;
  #isNew = true;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#since = Math.floor(nowMs() / HOUR_MS);
  }

  /** The hour from which on uses are known. */
  get since(): number {
    return this.#since;
  }

  /** Whether uses from a time on are known. */
  knowsFrom(ms: number): boolean {
    return ms >= this.#since * HOUR_MS;
  }

  /** Notes that a token, or an auth method, is used now. */
  note(accessor: string): void {
    const hour = Math.floor(this.#nowMs() / HOUR_MS);
    if (this.lastOf(accessor) !== hour) this.#set(accessor, hour);
  }

  /** Returns the hour of the last use; undefined if none is known. */
  lastOf(accessor: string): number | undefined {
    return this.#notes.get(accessor)?.hour;
  }

  /** Whether something was used since a time, as far as is known. */
  usedSince(used: string, ms: number): boolean {
    return ((this.lastOf(used) ?? -2) + 1) * HOUR_MS > ms;
  }

  /** Returns what was noted from a place on. */
  page(from: number): UsePage {
    const uses: Use[] = [];
    let last = from;
    // the newest are at the end, so that what has been there before is skipped
    for (const [accessor, { hour, place }] of this.#notes) {
      if (place < from) continue;
      if (uses.length === PAGE_USES) return { since: this.#since, uses, next: last + 1 };
      uses.push([accessor, hour]);
      last = place;
    }
    return { since: this.#since, uses };
  }

  /** The place at which the next note will be. */
  get place(): number {
    return this.#place + 1;
  }

  /** Takes what another member has noted. */
  take({ since, uses }: UsePage): void {
    if (this.#isNew) this.#since = Math.min(this.#since, since);
    for (const [accessor, hour] of uses)
      if (hour > (this.lastOf(accessor) ?? -1)) this.#set(accessor, hour);
  }

  /** From here on it knows what it knows: others do not extend it. */
  begun(): void {
    this.#isNew = false;
  }

  /** Forgets what does not exist any more. */
  keep(exists: (accessor: string) => boolean): void {
    for (const accessor of [...this.#notes.keys()])
      if (!exists(accessor)) this.#notes.delete(accessor);
  }

  /** Returns the notes as the text of a file. */
  get text(): string {
    const lines = [...this.#notes].map(([accessor, { hour }]) => `${accessor} ${hour}\n`);
    return `${this.#since}\n${lines.join('')}`;
  }

  /** Takes the text of a file. Lines that are no notes are left out. */
  load(text: string): void {
    const [head = '', ...lines] = text.split('\n');
    if (!/^\d{1,9}$/.test(head)) return;
    this.#since = Math.min(this.#since, Number(head));
    this.#isNew = false;
    for (const line of lines) {
      const [, accessor, hour] =
        /^([0-9a-f-]{36}|auth-method\/[\w-]+\/[\w-]+) (\d{1,9})$/.exec(line) ?? [];
      if (accessor !== undefined) this.#set(accessor, Number(hour));
    }
  }

  #set(accessor: string, hour: number): void {
    this.#place += 1;
    this.#notes.delete(accessor);
    this.#notes.set(accessor, { hour, place: this.#place });
    if (this.#notes.size <= NOTED_MAX) return;
    const [oldest, left] = this.#notes.entries().next().value!;
    this.#notes.delete(oldest);
    this.#since = Math.max(this.#since, left.hour + 1);
  }
}

/** Whether a token was neither used nor created since a time, as far as is known. */
export const isUnused = (
  book: UsageBook,
  { AccessorID, CreateTime }: { readonly AccessorID: string; readonly CreateTime: string },
  beforeMs: number,
): boolean => !book.usedSince(AccessorID, beforeMs) && Date.parse(CreateTime) < beforeMs;

/** Reads a page of another member; undefined if it is none. */
export function usePageOf(text: string): UsePage | undefined {
  let page: unknown;
  try {
    page = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { since, uses, next } = (page ?? {}) as Partial<UsePage>;
  const isPage =
    Number.isSafeInteger(since) &&
    Array.isArray(uses) &&
    uses.every(([accessor, hour]) => typeof accessor === 'string' && Number.isSafeInteger(hour));
  if (!isPage) return undefined;
  return { since: since!, uses, ...(Number.isSafeInteger(next) && { next: next! }) };
}
