/** What http asks of the use cases, and nothing of HTTP. */
import type { Authorizer } from '../acl/types.js';
import type { ReadMode } from '../node/types.js';
import type { Answer, Command, PinnedView, View } from '../state/types.js';

/** Who asks. The secret itself is needed by `token/self` and `logout` answers only and never leaves memory. */
export interface Caller {
  /** SHA-256 of the SecretID in hex; null when the request carries no token (the anonymous token acts). */
  readonly tokenKey: string | null;
}

/** Who asks for something, and how long the caller waits for barriers and writes. */
export interface Requester {
  readonly caller: Caller;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

export interface ReadOptions {
  readonly mode: ReadMode;
  /** Blocking query: hold until the answer's index is greater. 0: do not hold. */
  readonly index: number;
  /** How long to hold, jitter included, in milliseconds. */
  readonly waitMs: number;
  /** For barriers, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted when the client goes away. */
  readonly signal?: AbortSignal;
}

/** What a read use case sees: the state and what the caller may do, both of the same moment. */
export interface ReadContext {
  readonly view: View;
  readonly authorizer: Authorizer;
}
/** A read use case. It throws ApiError to refuse; a missing object is `value: undefined` so that its index is answered too. */
export type ReadUseCase<T> = (context: ReadContext) => Answer<T> & { readonly filtered?: boolean };

/** What an answer says of the read that made it. */
export interface QueryMeta {
  readonly index: number;
  readonly knownLeader: boolean;
  /** Milliseconds since this node heard from a leader. */
  readonly lastContactMs: number;
  /** Entries were left out because the caller may not read them. */
  readonly filtered: boolean;
}

/** The value of a read, and what it says of it. */
export interface ReadOutcome<T> extends QueryMeta {
  readonly value: T;
}

/** The engine the use cases run on: barriers, blocking, authorisation. */
export interface Service {
  /** This node's applied state, now: for courtesy checks before a write and for what its answer shows. */
  readonly view: View;
  /** A frozen view, for answers that are made in several turns of the loop; must be closed. */
  pin(): PinnedView;
  read<T>(caller: Caller, options: ReadOptions, useCase: ReadUseCase<T>): Promise<ReadOutcome<T>>;
  /** Proposes a command; gives the JSON text of the written object (undefined: none). Throws ApiError. */
  write(caller: Caller, command: Command, timeoutMs: number): Promise<string | undefined>;
  /** The caller's authorizer against this node's present state. Throws ApiError acl_not_found. */
  authorize(caller: Caller): Authorizer;
  /**
   * Lets a caller pass whom `denial` does not stop (undefined: allowed, else the 403 text). Asks this node's state and,
   * before it says no, the state after a barrier: a token made on another node a moment ago is not turned away. Writes
   * ask this before they judge a body; the leader decides again.
   */
  permit(
    caller: Caller,
    timeoutMs: number,
    denial: (authorizer: Authorizer) => string | undefined,
  ): Promise<Authorizer>;
  /** Resolves when the cluster has begun and this node has applied everything acknowledged before the call. */
  catchUp(timeoutMs: number): Promise<void>;
  /** The namespace of a token known to this node; undefined when it is not. */
  namespaceOf(tokenKey: string): string | undefined;
}
