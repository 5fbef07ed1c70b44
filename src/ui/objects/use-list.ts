/** One page of a list. The server filters, and is not asked for more than the page shows. */
import { useState } from 'preact/hooks';
import type { Stored } from '../api/types.js';
import type { ListPage } from '../lists/array-reader.js';
import { filterOf } from '../lists/filter.js';
import { readItems } from '../lists/read-items.js';
import { type Loaded, useLoad, useSettled } from '../parts/load.js';

/** Items of a page. */
export const PAGE_SIZE = 100;
/** Milliseconds after which a page says that it still reads. */
const PATIENCE_MS = 400;

/** A page of a list, and how far its reading has come. */
export interface LoadedList extends Loaded<ListPage<Stored>> {
  /** Whether the reading takes a while. */
  readonly isSlow: boolean;
  /** Items that were passed over on the way to the page. */
  readonly skipped: number;
}

/** Reads a page of a list, counted from 0. */
export function useList(
  path: string,
  given: { readonly typed: string; readonly members: readonly string[]; readonly page: number },
  ns: string,
): LoadedList {
  const [skipped, setSkipped] = useState(0);
  const list = useLoad(
    (signal) => {
      setSkipped(0);
      const query = { filter: filterOf(given.typed, given.members) };
      const from = given.page * PAGE_SIZE;
      return readItems<Stored>(path, {
        query,
        signal,
        from,
        size: PAGE_SIZE,
        onSkipped: setSkipped,
      });
    },
    [path, given.typed, given.page, ns],
  );
  const wasLoading = useSettled(list.isLoading, PATIENCE_MS);
  return { ...list, isSlow: list.isLoading && wasLoading, skipped };
}
