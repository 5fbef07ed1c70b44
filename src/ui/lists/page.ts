/** Pages of the lists of the API. */
import { type Answer, type Ask, ask } from '../api/client.js';
import { narrowing } from './filter.js';

/** Part of a list, in its order. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Items on all pages. */
  readonly total: number;
  /** Where the next page begins; undefined on the last one. */
  readonly next: string | undefined;
  /** Whether there are items that the user may not read. */
  readonly isFiltered: boolean;
}

/** Which part of a list is read. */
export interface Part {
  /** Items at most. */
  readonly size: number;
  /** What items are sorted by, after "-" in reverse; by name if undefined. */
  readonly sort?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** Words, or an expression of the filter language. */
  readonly typed?: string;
}

/** Reads a page of a list. Throws `Problem`. */
export async function readPage<T>(
  path: string,
  { size, sort, after, typed = '', query, ...how }: Part & Ask,
): Promise<Answer<ListPage<T>>> {
  const page = { limit: String(size), sort, after, ...narrowing(typed) };
  const answer = await ask<readonly T[]>(path, { ...how, query: { ...query, ...page } });
  const { value: items, headers } = answer;
  const total = Number(headers.get('X-Consul-Total') ?? items.length);
  const next = headers.get('X-Consul-Next') ?? undefined;
  const isFiltered = headers.get('X-Consul-Results-Filtered-By-ACLs') === 'true';
  return { ...answer, value: { items, total, next, isFiltered } };
}

/** Reads the first items of a list. Throws `Problem`. */
export const readFirst = async <T>(path: string, how: Part & Ask): Promise<ListPage<T>> =>
  (await readPage<T>(path, how)).value;
