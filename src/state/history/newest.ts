/** The newest versions of objects, as far as the next lines need to know of them. */
import type { Ledger } from './ledger.js';
import type { Place } from './records.js';
import { numberOf, type Version, versionSince } from './versions.js';

/** What the line of the next version needs to know of the newest one. */
interface Newest {
  readonly index: number;
  readonly count: number;
  readonly mark: number;
}

/** An object that changes, and its key. */
export interface Subject {
  readonly key: string;
  readonly place: Place;
}

/** Objects whose newest versions are in memory. */
const NEWEST_MAX = 4096;

/**
 * The newest versions of objects that have changed lately, which need not be read. Only those with
 * a line are noted: of others, a member that starts again knows less, and members must agree.
 */
export class NewestVersions {
  /** By key; only the index of the line if that made the first version, as that of most does. */
  readonly #known = new Map<string, number | (Newest & { readonly at: number })>();

  /** Returns the version that is in force since the object changed last, at `at`. */
  of({ draft, floors }: Ledger, { key, place }: Subject, at: number): Newest {
    const known = this.#known.get(key);
    const { Dropped = 0 } = floors;
    if (known === at && at > Dropped) return { index: at, count: 1, mark: 0 };
    if (typeof known === 'object' && known.at === at && known.index > Dropped) return known;
    return newestOf(versionSince(draft, place, at, undefined));
  }

  note({ key }: Subject, at: number, { index, count, mark }: Newest): void {
    if (this.#known.size >= NEWEST_MAX) this.#known.clear();
    const isFirst = index === at && count === 1 && mark === 0;
    this.#known.set(key, isFirst ? at : { index, count, mark, at });
  }
}

const newestOf = (version: Version): Newest => ({
  index: version.index,
  count: numberOf(version),
  mark: version.line?.mark ?? 0,
});
