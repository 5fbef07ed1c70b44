/**
 * Pages of lists: some items, in an order, from the end of another page on. The order of a list is
 * kept for its other pages, and brought up to date by what has changed since.
 */
import sortedBtree from 'sorted-btree';
import type { Authorizer } from '../../acl/types.js';
import { reject } from '../../base/errors.js';
import { compare } from '../../base/text.js';
import { createIndexOf, modifyIndexOf } from '../../state/lists.js';
import { recordOf } from '../../state/machine-record.js';
import { RESTORE_FACT } from '../../state/restore.js';
import type { View } from '../../state/types.js';
import { inSlices } from '../common/event-loop.js';
import { Links } from '../common/reading.js';
import type { PageMeta, ReadUseCase, Service } from '../common/types.js';
import { WeightedCache } from '../common/weighted-cache.js';
import type { ListPlan, PagePlan, PageQuery, Sort } from './list-plan.js';

/** The items of a page, and what its headers say. */
interface Page extends PageMeta {
  readonly candidates: readonly string[];
  /** Items of the list are hidden from the caller. */
  readonly filtered: boolean;
}

/** Items of all orders that are kept: about 300 bytes each. */
const KEPT_ITEMS_MAX = 300_000;

/** Characters of a name by which items are sorted. */
const NAME_CHARS = 256;
/** Comes after all times. */
const NEVER = '~';

const readers = new WeakMap<Authorizer, number>();
let readerCount = 0;

/** Returns a number that no other authorizer has. */
function readerNumber(authorizer: Authorizer): number {
  const known = readers.get(authorizer);
  if (known !== undefined) return known;
  readerCount += 1;
  readers.set(authorizer, readerCount);
  return readerCount;
}

/** Returns the plan of a page of a list that `reader` reads at an index. */
export const withPage = (
  plan: ListPlan,
  query: PageQuery,
  reader: Authorizer,
  index: number,
): ListPlan => ({
  ...plan,
  page: {
    ...query,
    key: `${readerNumber(reader.of ?? reader)} ${query.sort} ${query.list}`,
    index,
  },
});

/** Returns the use case of a page of a list. */
export const paged =
  (useCase: ReadUseCase<ListPlan>, query: PageQuery): ReadUseCase<ListPlan> =>
  (context) => {
    const answer = useCase(context);
    const value = withPage(answer.value, query, context.authorizer, answer.index);
    return { ...answer, value };
  };

/** The orders of lists, by what `PagePlan` calls their key. */
const keptOf = new WeakMap<Service, WeightedCache<ListOrder>>();

/** Returns a page of a list in this view. Throws ApiError 400 if a filter takes too much work. */
export async function pageOf(
  service: Service,
  view: View,
  plan: ListPlan,
  page: PagePlan,
): Promise<Page> {
  let kept = keptOf.get(service);
  if (kept === undefined) {
    kept = new WeightedCache(KEPT_ITEMS_MAX);
    keptOf.set(service, kept);
  }
  const order = kept.get(page.key) ?? new ListOrder();
  kept.set(page.key, order, order.size);
  const found = await order.page(view, plan, page);
  kept.set(page.key, order, order.size);
  return found;
}

/** What an order knows of an item. */
interface Item {
  readonly text: string;
  /** The place in the order; undefined if the list does not show the item. */
  readonly place: string | undefined;
  readonly isHidden: boolean;
}

/** The items of a list in order, as of one state. */
class ListOrder {
  #items = new Map<string, Item>();
  readonly #places = new sortedBtree.default<string, string>(undefined, compare);
  /** Identifies the state; undefined while it is brought up to date. */
  #stamp: string | undefined;
  #hidden = 0;
  /** One page after the other is read, each as of its own state. */
  #last: Promise<unknown> = Promise.resolve();

  get size(): number {
    return this.#items.size;
  }

  page(view: View, plan: ListPlan, page: PagePlan): Promise<Page> {
    const read = async (): Promise<Page> => {
      await this.#update(view, plan, page);
      const { after } = page;
      const isItem = after !== undefined && 'item' in after;
      const place = isItem ? await inSlices(this.#placeOf(after.item), 'list') : after?.place;
      return this.#cut(page, place);
    };
    const next = this.#last.then(read, read);
    this.#last = next.catch(() => {});
    return next;
  }

  async #update(view: View, plan: ListPlan, page: PagePlan): Promise<void> {
    // A filter looks at the names of links too, which change without the items.
    const isPlain = plan.filter === undefined || plan.filtersByText === true;
    const index = isPlain ? page.index : recordOf(view)?.index;
    const stamp = `${index} ${view.get(RESTORE_FACT) ?? ''}`;
    if (stamp === this.#stamp) return;
    if (!isPlain || this.#stamp === undefined) this.#forget();
    this.#stamp = undefined;
    await inSlices(this.#changed(view, plan, page), 'list');
    this.#stamp = stamp;
  }

  #forget(): void {
    this.#items.clear();
    this.#places.clear();
    this.#hidden = 0;
  }

  /** Adds, replaces and removes what has changed. */
  *#changed(view: View, plan: ListPlan, { sort }: PagePlan): Generator<void, void> {
    const shows = plan.filter?.();
    const links = new Links(view);
    const items = new Map<string, Item>();
    for (const candidate of plan.candidates()) {
      const text = plan.textOf === undefined ? view.get(candidate) : plan.textOf(view, candidate);
      const known = this.#items.get(candidate);
      if (known !== undefined && known.text === text) {
        items.set(candidate, known);
        this.#items.delete(candidate);
      } else if (text !== undefined) {
        const shown = shows?.(view, candidate, links) ?? true;
        const value = shown === true ? sortedBy(plan, sort, candidate, text) : undefined;
        const place = value === undefined ? undefined : `${value}\u0000${candidate}`;
        if (known !== undefined) this.#remove(candidate, known);
        const item = { text, place, isHidden: shown === 'hidden' };
        items.set(candidate, item);
        if (place !== undefined) this.#places.set(place, candidate);
        if (item.isHidden) this.#hidden += 1;
      }
      yield;
    }
    for (const [candidate, gone] of this.#items) {
      this.#remove(candidate, gone);
      yield;
    }
    this.#items = items;
  }

  #remove(candidate: string, { place, isHidden }: Item): void {
    this.#items.delete(candidate);
    if (place !== undefined) this.#places.delete(place);
    if (isHidden) this.#hidden -= 1;
  }

  /** Returns the place of an item, given its ID or a name of its own. Throws ApiError 400. */
  *#placeOf(sent: string): Generator<void, string> {
    const named = sent.toLowerCase();
    const name = JSON.stringify(named.slice(named.indexOf('/') + 1)).slice(1, -1);
    let found: string | undefined;
    for (const { text, place } of this.#items.values()) {
      yield;
      if (place === undefined || !text.toLowerCase().includes(name)) continue;
      const { ids, names } = namesOf(text);
      if (ids.includes(named)) return place;
      if (!names.includes(named)) continue;
      // to go on behind the wrong one shows items again, or never
      if (found !== undefined) refuseAfter(sent, 'is the name of several items: send', 'ID');
      found = place;
    }
    return found ?? refuseAfter(sent, 'should be', 'ID or name');
  }

  #cut({ limit, isDescending }: PagePlan, after: string | undefined): Page {
    const places = this.#places;
    const ordered = isDescending ? places.entriesReversed(after) : places.entries(after);
    const candidates: string[] = [];
    let next: string | undefined;
    let last: string | undefined;
    for (const [place, candidate] of ordered) {
      if (place === after) continue;
      if (candidates.length === limit) {
        next = last;
        break;
      }
      candidates.push(candidate);
      last = place;
    }
    return { candidates, total: places.size, next, filtered: this.#hidden > 0 };
  }
}

/** Returns what an item is sorted by. Texts are compared, so numbers have leading zeros. */
function sortedBy(plan: ListPlan, sort: Sort, candidate: string, text: string): string {
  if (sort === 'created') return padded(createIndexOf(text));
  if (sort === 'modified') return padded(modifyIndexOf(text));
  if (sort === 'name' && !plan.isDescribed)
    return candidate
      .split('\u0000')
      .slice(-(plan.namedByParts ?? 1))
      .join('\u0000');
  const { Description = '', ExpirationTime = NEVER } = JSON.parse(text) as {
    readonly Description?: string;
    readonly ExpirationTime?: string;
  };
  return sort === 'expires' ? ExpirationTime : Description.slice(0, NAME_CHARS).toLowerCase();
}

function refuseAfter(sent: string, what: string, names: string): never {
  const shown = JSON.stringify(sent.slice(0, 60));
  const how = `the header Next of the page before, or the ${names} of an item`;
  return reject('invalid', `Invalid parameter "after": ${shown} ${what} ${how}`);
}

/** Returns what names an item, in lower case: its IDs, and its name, with and without a kind. */
function namesOf(text: string): Readonly<Record<'ids' | 'names', readonly string[]>> {
  const { ID, AccessorID, Kind, Name } = JSON.parse(text) as Readonly<Record<string, string>>;
  const lower = (...all: readonly (string | undefined)[]): string[] =>
    all.flatMap((name) => (name ? [name.toLowerCase()] : []));
  return { ids: lower(ID, AccessorID, Kind && `${Kind}/${Name}`), names: lower(Name) };
}

const padded = (index: number): string => String(index).padStart(16, '0');
