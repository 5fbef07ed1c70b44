/**
 * Join tokens: each lets one server join, once, until it expires. They are one fact of the state, so every leader knows them;
 * of a token only its hash is kept. A token that was used stays bound to the server that used it until it expires, so that
 * this server may ask again after a change of leader.
 */
import { keys } from './keys.js';
import { stored } from './lists.js';
import type { FactSet } from './system.js';
import type { View } from './types.js';

export interface JoinToken {
  /** SHA-256 of the token, in hex. */
  readonly Hash: string;
  /** Milliseconds since the epoch. */
  readonly ExpiresMs: number;
  /** Id of the server that has used it. */
  readonly Server?: string;
}

/** Tokens that have not expired, beyond which no more are made. */
export const JOIN_TOKENS_MAX = 100;

const NAME = 'join-tokens';

interface Stored {
  readonly Tokens: readonly JoinToken[];
  readonly ModifyIndex: number;
}

/** The tokens that have not expired, and the index to change them by. */
export function joinTokens(view: View, nowMs: number): { tokens: JoinToken[]; cas: number } {
  const { Tokens, ModifyIndex } = stored<Stored>(view, keys.fact(NAME)) ?? {
    ...{ Tokens: [], ModifyIndex: 0 },
  };
  return { tokens: Tokens.filter(({ ExpiresMs }) => ExpiresMs > nowMs), cas: ModifyIndex };
}

/** Puts these in the place of all tokens, if nobody has changed them since `cas`. */
export const setJoinTokens = (tokens: readonly JoinToken[], cas: number): FactSet => ({
  ...{ type: 'fact.set', v: 1, name: NAME, cas },
  value: { Tokens: tokens },
});
