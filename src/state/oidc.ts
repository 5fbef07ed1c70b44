/**
 * What OIDC logins need of the state (beyond.md 7.4): the key under which clients keep what belongs
 * to a login in progress, and a mark for each login that was completed, so that none is completed
 * twice on any node.
 */
import { keys } from './keys.js';
import { keysBelow, stored } from './lists.js';
import type { Commands } from './object.js';
import { DEFAULT_NAMESPACE } from './object.js';
import type { ApplyContext, Command, Handler, View } from './types.js';

/** The keys in force: 32 bytes each, in base64. */
export interface OidcKeys {
  readonly Key: string;
  /** The one before a rotation. What it has encrypted is still read. */
  readonly Before?: string;
  readonly ModifyIndex: number;
}

/** Makes `key` the key, and keeps the present one beside it. */
export interface OidcRotate extends Command {
  readonly type: 'oidc.rotate';
  /** 32 bytes in base64. */
  readonly key: string;
}

/** What a login uses up: a State or a Renewal. */
export interface Once {
  /** SHA-256 of its text in hex. */
  readonly hash: string;
  /** Unix milliseconds until which it is valid, and its use is remembered. */
  readonly untilMs: number;
}

/** Bytes of a key: AES-256. */
export const KEY_BYTES = 32;

/** The record of the keys. */
export const OIDC_FACT = keys.fact('oidc');

/** The table of what was used. Archives neither contain nor replace it. */
export const OIDC_USED = 'oidc-used';

/** Marks that a login removes when they are over: more than it adds, so that none are left. */
const DROPPED_MAX = 8;

/** Returns the keys; undefined until the first method of type oidc is written. */
export const oidcKeys = (view: View): OidcKeys | undefined => stored<OidcKeys>(view, OIDC_FACT);

/** Stores a first key; keeps one that is there. */
export function plantOidcKey({ draft, index }: ApplyContext, key: string): void {
  if (oidcKeys(draft) !== undefined) return;
  draft.put(OIDC_FACT, JSON.stringify({ Key: key, ModifyIndex: index } satisfies OidcKeys));
}

/** Whether a State or Renewal was used before. */
export const isUsed = (view: View, { hash, untilMs }: Once): boolean =>
  view.get(keys.oidcUsed(untilMs, hash)) !== undefined;

/** Remembers a use, and forgets some that are over. */
export function use({ draft }: ApplyContext, { hash, untilMs }: Once, nowMs: number): void {
  let dropped = 0;
  for (const key of keysBelow(draft, OIDC_USED)) {
    if (Number(key.split('\u0000')[1]) > nowMs || dropped === DROPPED_MAX) break;
    draft.del(key);
    dropped += 1;
  }
  draft.put(keys.oidcUsed(untilMs, hash), '');
}

/** Answers the index of the change. */
const rotate: Handler<OidcRotate> = ({ draft, index }, { key }) => {
  const Before = oidcKeys(draft)?.Key;
  const made: OidcKeys = {
    Key: key,
    ...(Before !== undefined && { Before }),
    ModifyIndex: index,
  };
  draft.put(OIDC_FACT, JSON.stringify(made));
  return { ok: true, value: JSON.stringify({ ModifyIndex: index }) };
};

export const oidcCommands: Commands = {
  'oidc.rotate': {
    right: (authorizer) =>
      authorizer.denial('operator', 'write') ??
      authorizer.denial('acl', 'write', undefined, DEFAULT_NAMESPACE),
    apply: rotate,
  },
};
