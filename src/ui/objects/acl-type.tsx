/** The types of ACL objects: what their endpoints have in common. */
import { type Ask, ask, find } from '../api/client.js';
import { Problem } from '../api/problem.js';
import { isLacking, isOutdated } from '../api/sets.js';
import type { Stored } from '../api/types.js';
import { TEXT } from '../texts.js';
import type { Body } from './fields.js';
import type { ObjectType, Version, Written } from './type.js';

/** What differs between the types. */
export interface AclType
  extends Omit<ObjectType, 'list' | 'schema' | 'idOf' | 'nameOf' | 'find' | 'write' | 'remove'> {
  /** The endpoint of the list. */
  readonly plural: string;
  /** The endpoint of one object. */
  readonly singular: string;
  /** The member that identifies an object. */
  readonly identity: 'ID' | 'AccessorID' | 'Name';
  readonly nameOf?: (object: Stored) => string;
  /** Called with the answer of a write. */
  readonly onWritten?: (object: Stored) => void;
}

/** Makes the type. */
export function aclType({ plural, singular, identity, onWritten, ...given }: AclType): ObjectType {
  const keyOf = (object: Stored | Body): string => String(object[identity]);
  const pathOf = (key: string): string => `${singular}/${encodeURIComponent(key)}`;
  const read: ObjectType['find'] = async ([key = ''], signal) => {
    const found = await find<Stored & { readonly SecretID?: unknown }>(pathOf(key), { signal });
    if (found === undefined) return undefined;
    // No page needs the secret of a token, and drafts would keep it in the tab.
    const { SecretID: _secret, ...object } = found;
    return { object, index: object.ModifyIndex };
  };
  return {
    ...given,
    list: () => plural,
    schema: () => singular.replace(/^.*\//, '/v1/schema/'),
    idOf: (object) => [keyOf(object)],
    nameOf: given.nameOf ?? ((object) => String(object['Name'] ?? keyOf(object))),
    find: read,
    async write(body: Body, before, { signal, reason }): Promise<Written | undefined> {
      const key = keyOf(before?.object ?? body);
      const path = before === undefined ? singular : pathOf(key);
      const how = { method: 'PUT', body, signal, reason } as const;
      const send = (guard: Guard) => ask<Stored>(path, { ...how, ...guard });
      // A write under a name that exists would replace the object where the name identifies it.
      const mayReplace = before !== undefined || identity === 'Name';
      const written = await (mayReplace
        ? guarded(before, () => read([key], signal), send)
        : send({}));
      if (written === undefined && before === undefined) {
        const detail = TEXT.form.exists(given.noun, key);
        throw new Problem(409, { detail, code: 'conflict', pointer: '/Name' });
      }
      if (written === undefined) return undefined;
      onWritten?.(written.value);
      return { to: [given.slug, keyOf(written.value)], lint: written.lint };
    },
    async remove(before, { signal, reason }) {
      const how = { method: 'DELETE', signal, reason } as const;
      const key = keyOf(before.object);
      const send = (guard: Guard) => ask(pathOf(key), { ...how, ...guard });
      const done = await guarded(before, () => read([key], signal), send);
      return done !== undefined;
    },
  };
}

/** The condition of a write. */
type Guard = Pick<Ask, 'ifMatch'>;

/**
 * Sends a write that is refused if the object is another version than `before`, or if it exists
 * where there was none; returns undefined then. A cluster below level 3 knows no such condition:
 * there the object is read before the write.
 */
async function guarded<T>(
  before: Version | undefined,
  find: () => Promise<Version | undefined>,
  send: (guard: Guard) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await send({ ifMatch: before?.index ?? 'none' });
  } catch (error) {
    if (isOutdated(error)) return undefined;
    if (!isLacking(error)) throw error;
  }
  return (await find())?.index === before?.index ? await send({}) : undefined;
}
