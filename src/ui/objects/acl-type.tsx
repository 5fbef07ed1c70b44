/** The types of ACL objects: what their endpoints have in common. */
import { ask, find } from '../api/client.js';
import { Problem } from '../api/problem.js';
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

/**
 * Makes the type. The API has no condition for these writes, so the object is read again before
 * each, and is not written if its index differs from that of the object that was edited.
 */
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
  const isChanged = async (before: Version, signal: AbortSignal): Promise<boolean> =>
    (await read([keyOf(before.object)], signal))?.index !== before.index;
  return {
    ...given,
    list: () => plural,
    schema: () => singular.replace(/^.*\//, '/v1/schema/'),
    idOf: (object) => [keyOf(object)],
    nameOf: given.nameOf ?? ((object) => String(object['Name'] ?? keyOf(object))),
    find: read,
    async write(body: Body, before, signal): Promise<Written | undefined> {
      if (before !== undefined && (await isChanged(before, signal))) return undefined;
      const path = before === undefined ? singular : pathOf(keyOf(before.object));
      await mustBeNew(before, body, signal);
      const { value, lint } = await ask<Stored>(path, { method: 'PUT', body, signal });
      onWritten?.(value);
      return { to: [given.slug, keyOf(value)], lint };
    },
    async remove(before, signal) {
      if (await isChanged(before, signal)) return false;
      await ask(pathOf(keyOf(before.object)), { method: 'DELETE', signal });
      return true;
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
