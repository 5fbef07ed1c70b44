/** Objects of all types as arguments: `policy ops`, `config service-defaults/web`. */
import type { Command } from 'commander';
import { isUuid } from '../../acl/names.js';
import type { Feed } from '../../api/endpoints/history.js';
import { didYouMean } from '../../languages/suggest.js';
import type { Call } from '../cli.js';
import { TYPES } from '../files/sets.js';
import { isMissing, misused } from '../print/error.js';
import { find, idIn, type ObjectType, TYPE } from './objects.js';

/** An object that may be gone. */
export interface HistoryObject {
  readonly type: string;
  readonly id: string;
  /** `/v1/history/policy/ID` */
  readonly path: string;
}

const typeCalled = (slug: string): ObjectType | undefined =>
  Object.values(TYPE).find((one) => one.slug === slug);

/** Adds the arguments that name an object. */
export const withObject = (command: Command): Command =>
  command
    .argument('[type]', `${TYPES.join(', ')}; or TYPE/NAME`)
    .argument('[name]', 'its name or ID; of an entry KIND/NAME');

/**
 * Finds an object. One that no longer exists is searched for by name in the history. The type and
 * the ID are appended to the path `below`.
 */
export async function objectCalled(
  call: Call<object>,
  first = '',
  second?: string,
  below = '/v1/history',
): Promise<HistoryObject> {
  const slash = second === undefined ? first.indexOf('/') : -1;
  const type = slash < 0 ? first : first.slice(0, slash);
  const name = slash < 0 ? (second ?? '') : first.slice(slash + 1);
  if (!(TYPES as readonly string[]).includes(type) || name === '')
    misused(
      name === ''
        ? 'name the object: TYPE NAME'
        : `unknown type "${type}"${didYouMean(type, TYPES)}`,
      `the types are ${TYPES.join(', ')}`,
    );
  if (type === 'config' && !name.includes('/')) misused('name the entry: config KIND/NAME');
  const id = await idOf(call, type, name);
  // The ID takes the rest of the path, so its slashes stay.
  const rest = id.split('/').map(encodeURIComponent).join('/');
  return { type, id, path: `${below}/${type}/${rest}` };
}

async function idOf(call: Call<object>, type: string, name: string): Promise<string> {
  const objects = typeCalled(type);
  if (objects === undefined || objects.identity === 'Name' || isUuid(name)) return name;
  try {
    return idIn(objects, await find(call, objects, { text: name }));
  } catch (error) {
    if (!isMissing(error)) throw error;
    const id = await idOfGone(call, type, name);
    if (id === undefined) throw error;
    return id;
  }
}

/** How many changes are searched for the name of a deleted object. */
const CHANGES_MAX = '1000';

async function idOfGone(
  { api }: Call<object>,
  types: string,
  name: string,
): Promise<string | undefined> {
  const query = { types, limit: CHANGES_MAX };
  const { Changes } = (await api.get('/v1/history', { query })).json<Feed>();
  return Changes.find(({ Name }) => Name.toLowerCase() === name.toLowerCase())?.ID;
}
