/** What lists and their pages are rendered from. */
import type { View } from '../../state/types.js';
import type { Links } from '../common/reading.js';
import type { PageMeta } from '../common/types.js';

/** What items are sorted by. */
export const SORTS = ['name', 'created', 'modified', 'expires'] as const;
export type Sort = (typeof SORTS)[number];

/** Which items of a list a page has. */
export interface PageQuery {
  /** Items at most. */
  readonly limit: number;
  readonly sort: Sort;
  readonly isDescending: boolean;
  /** Where the page before ended: `PageMeta.next` of it, or the ID or name of its last item. */
  readonly after: { readonly place: string } | { readonly item: string } | undefined;
  /** What tells the list from others that the same caller may read. */
  readonly list: string;
}

/** How a plan is cut into pages. */
export interface PagePlan extends PageQuery {
  /** What tells the list from others, those of other callers included. */
  readonly key: string;
  readonly index: number;
}

/**
 * Whether a list shows the item of a key, or hides it from the caller. Throws ApiError 400 if that
 * takes too much work.
 */
export type Shows = (view: View, candidate: string, links: Links) => boolean | 'hidden';

/** What is in memory of a list while a client reads it. */
export interface Held {
  readonly items: number;
  /** Characters, approximately. */
  readonly length: number;
}

/** A list that is not rendered yet. */
export interface ListPlan {
  /**
   * Returns the state keys from which items are rendered, in the order of the answer: those of the
   * time of the first call.
   */
  readonly candidates: () => readonly string[];
  /** Returns the JSON text of an item; undefined if there is none. */
  readonly render: (view: View, candidate: string, links: Links) => string | undefined;
  /** Returns the stored text of an item, if that is not the value of its candidate. */
  readonly textOf?: (view: View, candidate: string) => string | undefined;
  /** Whether items are sorted by description, because they have no name. */
  readonly isDescribed?: boolean;
  /** How many parts at the end of a key name an item, for its order. Absent: one. */
  readonly namedByParts?: number;
  /** Begins to filter, with a budget of its own. Absent: all items are shown. */
  readonly filter?: (() => Shows) | undefined;
  /** Whether the filter decides by the stored text of an item alone. */
  readonly filtersByText?: boolean;
  /** Which page of the list is asked for. Absent: all of it. */
  readonly page?: PagePlan;
  /** Longer lists are sent in pieces. Absent: what is rendered in one turn. */
  readonly held?: Held | undefined;
  /** Whether every item is asked for. Then the list is whole, unless some are hidden. */
  readonly asksForAll?: boolean;
  /** Returns the bytes of a whole list that requests share; undefined if they do not. */
  readonly shared?:
    | ((view: View, shown: DecidedList) => Promise<Uint8Array | undefined>)
    | undefined;
}

/** What is rendered: keys, and how. */
export interface Rendered extends Pick<ListPlan, 'render'> {
  readonly candidates: readonly string[];
}

/** A list without the items that it does not show. */
export interface DecidedList extends Rendered, Pick<ListPlan, 'held' | 'shared'> {
  /** Items are hidden from the caller. */
  readonly filtered: boolean;
  /** What a page says of the list. */
  readonly page?: PageMeta;
}

/** Returns a function that calls `make` once, and returns what that returned. */
export function lazy<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
