/**
 * Join tokens. Each lets one server join, once, until it expires. They are one fact of the state,
 * so every leader knows them. The state contains only the hash of a token. A used token stays bound
 * to its server until it expires, so that this server may ask again after a change of leader.
 */
import { keys } from './keys.js';
import { stored } from './lists.js';
import type { FactSet } from './system.js';
import type { View } from './types.js';

/** A join token as it is stored. */
export interface JoinToken {
  /** SHA-256 of the token, in hex. */
  readonly Hash: string;
  /** Milliseconds since the epoch. */
  readonly ExpiresMs: number;
  /** The id of the server that used it. */
  readonly Server?: string;
}

/** Maximum number of tokens that have not expired: more than operators add servers at a time. */
export const JOIN_TOKENS_MAX = 100;

const NAME = 'join-tokens';
/** Their key. */
export const JOIN_TOKENS_FACT = keys.fact(NAME);

interface Stored {
  readonly Tokens: readonly JoinToken[];
  readonly ModifyIndex: number;
}
const NONE: Stored = { Tokens: [], ModifyIndex: 0 };

/** Returns the tokens that have not expired, and the `cas` with which to replace them. */
export function joinTokens(view: View, nowMs: number): { tokens: JoinToken[]; cas: number } {
  const { Tokens, ModifyIndex } = stored<Stored>(view, JOIN_TOKENS_FACT) ?? NONE;
  return { tokens: Tokens.filter(({ ExpiresMs }) => ExpiresMs > nowMs), cas: ModifyIndex };
}

/** Returns the command that replaces all tokens, unless they have changed since `cas`. */
export const setJoinTokens = (tokens: readonly JoinToken[], cas: number): FactSet => ({
  type: 'fact.set',
  v: 1,
  name: NAME,
  cas,
  value: { Tokens: tokens },
});
