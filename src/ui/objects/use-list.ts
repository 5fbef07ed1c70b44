/** One page of a list, which follows the changes of the list. */
import type { Stored } from '../api/types.js';
import { type ListPage, type Part, readPage } from '../lists/page.js';
import { useSettled, useWatch, type Watched } from '../parts/load.js';

/** Items of a page. */
export const PAGE_SIZE = 100;
/** Milliseconds after which a page says that it still reads. */
const PATIENCE_MS = 400;

/** A page of a list. */
export interface LoadedList extends Watched<ListPage<Stored>> {
  /** Whether the reading takes a while. */
  readonly isSlow: boolean;
}

/** Reads a page of a list, and again whenever it changes. */
export function useList(
  path: string,
  { subject, ...part }: Omit<Part, 'size'> & { readonly subject: string | undefined },
  ns: string,
): LoadedList {
  const list = useWatch(
    (signal) => readPage<Stored>(path, { ...part, size: PAGE_SIZE, signal, query: { subject } }),
    [path, part.typed, part.sort, part.after, subject, ns],
    // a page of a list is not held
    { isHeld: false },
  );
  const wasLoading = useSettled(list.isLoading, PATIENCE_MS);
  return { ...list, isSlow: list.isLoading && wasLoading };
}
