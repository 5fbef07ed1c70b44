/** What callers give a replica and get from it. */
import type { Refusal } from '../base/errors.js';
import type { Command, View } from '../state/types.js';

/**
 * `default` reads wait for a barrier by lease, `consistent` ones for a barrier by quorum, `stale`
 * ones for none (§6.4).
 */
export type ReadMode = 'stale' | 'default' | 'consistent';

/** A command to replicate, and on whose behalf. */
export interface WriteRequest {
  /** SHA-256 of the caller's SecretID in hex; null for a caller without a token. */
  readonly tokenKey: string | null;
  readonly command: Command;
  /** Milliseconds until the caller must have a result. */
  readonly timeoutMs: number;
}

/**
 * The key of commands that a leader proposes by itself. No hash of a secret looks like it, and no
 * peer may send it.
 */
export const INTERNAL_KEY = 'internal';

/**
 * Asked on the leader, against its applied state, before a command is proposed: may this caller do
 * this? Also called for commands the server makes itself, with the key INTERNAL_KEY.
 */
export type Gate = (view: View, tokenKey: string | null, command: Command) => Refusal | undefined;

/** Calls `run` when the gate can decide about a caller at once: now, or in a later turn. */
export type PrepareGate = (tokenKey: string | null, run: () => void) => void;

/** A server that asks to become a member and waits for an operator. */
export interface JoiningServer {
  readonly id: string;
  readonly name: string;
  readonly address: string;
  readonly level: number;
  /** Of the certificate it has shown, where TLS is used. */
  readonly subject?: string;
  /** Of its data folder, as it has proved. */
  readonly publicKey?: string;
}

/**
 * The level in force, what the answering server's release supports, and what each member's does.
 */
export interface LevelStatus {
  readonly level: number;
  readonly supported: number;
  readonly members: readonly {
    readonly id: string;
    readonly name: string;
    /** Undefined: the member did not answer. */
    readonly supported: number | undefined;
  }[];
}
