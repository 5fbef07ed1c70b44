/** Reads part of a list of the API. */
import { type Ask, respond } from '../api/client.js';
import { type ListPage, type Part, readPage } from './array-reader.js';

/** Reads these items, and ends the request once it has them. Throws `Problem`. */
export async function readItems<T>(
  path: string,
  { from, size, onSkipped, ...how }: Part & Ask,
): Promise<ListPage<T>> {
  const { body } = await respond(path, how);
  return readPage<T>(body!, { ...(from && { from }), size, ...(onSkipped && { onSkipped }) });
}
