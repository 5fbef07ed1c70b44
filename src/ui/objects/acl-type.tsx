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
  const keyOf = (object: Stored): string => String(object[identity]);
  const pathOf = (key: string): string => `${singular}/${encodeURIComponent(key)}`;
  const read: ObjectType['find'] = async ([key = ''], signal) => {
    const found = await find<Stored & { readonly SecretID?: unknown }>(pathOf(key), { signal });
    if (found === undefined) return undefined;
    // No page needs the secret of a token, and drafts would keep it in the tab.
    const { SecretID: _secret, ...object } = found;
    return { object, index: object.ModifyIndex };
  };
  const again = (before: Version, signal: AbortSignal) => () =>
    read([keyOf(before.object)], signal);
  return {
    ...given,
    list: () => plural,
    schema: () => singular.replace(/^.*\//, '/v1/schema/'),
    idOf: (object) => [keyOf(object)],
    nameOf: given.nameOf ?? ((object) => String(object['Name'] ?? keyOf(object))),
    find: read,
    async write(body: Body, before, { signal, reason }): Promise<Written | undefined> {
      const path = before === undefined ? singular : pathOf(keyOf(before.object));
      await mustBeNew(before, body, signal);
      const how = { method: 'PUT', body, signal, reason } as const;
      const send = (guard: Pick<Ask, 'ifMatch'>) => ask<Stored>(path, { ...how, ...guard });
      const written = await (before === undefined
        ? send({})
        : guarded(before, again(before, signal), send));
      if (written === undefined) return undefined;
      onWritten?.(written.value);
      return { to: [given.slug, keyOf(written.value)], lint: written.lint };
    },
    async remove(before, { signal, reason }) {
      const how = { method: 'DELETE', signal, reason } as const;
      const path = pathOf(keyOf(before.object));
      const send = (guard: Pick<Ask, 'ifMatch'>) => ask(path, { ...how, ...guard });
      const done = await guarded(before, again(before, signal), send);
      return done !== undefined;
    },
  };

  /** A write under a name that exists would replace the object where the name identifies it. */
  async function mustBeNew(
    before: Version | undefined,
    body: Body,
    signal: AbortSignal,
  ): Promise<void> {
    if (before !== undefined || identity !== 'Name') return;
    const name = String(body['Name'] ?? '');
    if (name === '' || (await read([name], signal)) === undefined) return;
    const detail = TEXT.form.exists(given.noun, name);
    throw new Problem(409, { detail, code: 'conflict', pointer: '/Name' });
  }
}

/**
 * Sends a write that is refused if the object has changed; undefined if it has. A cluster below
 * level 3 knows no such condition: there the object is read again before the write.
 */
async function guarded<T>(
  before: Version,
  find: () => Promise<Version | undefined>,
  send: (guard: Pick<Ask, 'ifMatch' | 'mayLack'>) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await send({ ifMatch: before.index, mayLack: true });
  } catch (error) {
    if (isOutdated(error)) return undefined;
    if (!isLacking(error)) throw error;
  }
  return (await find())?.index === before.index ? await send({}) : undefined;
}
