/** One page of a list. The server filters, and is not asked for more than the page shows. */
import { respond } from '../api/client.js';
import type { Stored } from '../api/types.js';
import { type ListPage, readPage } from '../lists/array-reader.js';
import { filterOf } from '../lists/filter.js';
import { type Loaded, useLoad } from '../parts/load.js';

/** Items of a page. */
export const PAGE_SIZE = 100;

/** Reads a page of a list, counted from 0. */
export const useList = (
  path: string,
  given: { readonly typed: string; readonly members: readonly string[]; readonly page: number },
  ns: string,
): Loaded<ListPage<Stored>> =>
  useLoad(
    async (signal) => {
      const query = { filter: filterOf(given.typed, given.members) };
      const { body } = await respond(path, { query, signal });
      return readPage<Stored>(body!, given.page * PAGE_SIZE, PAGE_SIZE);
    },
    [path, given.typed, given.page, ns],
  );
