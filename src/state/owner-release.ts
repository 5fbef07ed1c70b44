/** The command that takes an owner's name from its objects, which stay as they are. */
import type { Authorizer } from '../acl/types.js';
import type { Refusal } from '../base/errors.js';
import type { Commands } from './object.js';
import { type ObjectPlace, ownerKey, ownershipOf, putOwnership } from './owners.js';
import type { Command, Handler } from './types.js';

/** Takes an owner's name from objects that have it, at most RELEASED_MAX. Answers how many. */
export interface OwnerRelease extends Command {
  readonly type: 'owner.release';
  readonly owner: string;
  readonly objects: readonly ObjectPlace[];
}

/** The objects that one entry releases at most: an entry must not delay heartbeats. */
export const RELEASED_MAX = 1000;

/** Returns the 403 of a caller who may not release owners. */
export const releaseDenial = (authorizer: Authorizer): Refusal | undefined =>
  authorizer.denial('operator', 'write') ?? authorizer.denial('acl', 'write');

const release: Handler<OwnerRelease> = (context, { owner, objects }) => {
  let Released = 0;
  for (const place of objects) {
    const before = ownershipOf(context.draft, place);
    if (before?.Owner !== owner) continue;
    const { Handle } = before;
    if (Handle === undefined) context.draft.del(ownerKey(place));
    else putOwnership(context, place, { Owner: '', Handle });
    Released += 1;
  }
  return { ok: true, value: JSON.stringify({ Released, Index: context.index }) };
};

export const ownerCommands: Commands = {
  'owner.release': { right: releaseDenial, apply: release },
};
