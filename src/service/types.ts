/** What http asks of the use cases. It holds nothing of HTTP. */
import type { Authorizer } from '../acl/types.js';
import type { ReadMode } from '../node/types.js';
import type { Answer, Command, PinnedView, View } from '../state/types.js';

/** Who asks. */
export interface Caller {
  /** SHA-256 of the SecretID in hex; null without a token, where the anonymous token counts. */
  readonly tokenKey: string | null;
}

/** Who asks for something, and how long the caller waits for barriers and writes. */
export interface Requester {
  readonly caller: Caller;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

/** How current a read must be, and how long it may wait. */
export interface ReadOptions {
  readonly mode: ReadMode;
  /** Blocking query: waits until the answer's index is greater; 0 does not wait. */
  readonly index: number;
  /** How long to wait, in milliseconds. */
  readonly waitMs: number;
  /** How long a barrier may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal;
}

/** What a read use case sees: the state and the caller's rights, both of the same moment. */
export interface ReadContext {
  readonly view: View;
  readonly authorizer: Authorizer;
}
/**
 * A read use case. It throws ApiError to refuse. A missing object is `value: undefined`, so that
 * its index is answered too.
 */
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
  /** This node's applied state now: for checks before a write, and for what its answer shows. */
  readonly view: View;
  /** Returns a frozen view for answers that take several turns of the loop; must be closed. */
  pin(): PinnedView;
  /** Evaluates a read use case after its barrier, and again until its index is new enough. */
  read<T>(caller: Caller, options: ReadOptions, useCase: ReadUseCase<T>): Promise<ReadOutcome<T>>;
  /** Proposes a command; returns the JSON text of the written object, if any. Throws ApiError. */
  write(caller: Caller, command: Command, timeoutMs: number): Promise<string | undefined>;
  /** Returns the caller's authorizer in this node's state. Throws ApiError `acl_not_found`. */
  authorize(caller: Caller): Authorizer;
  /**
   * Throws 403 if `denial` returns a text. Asks it about this node's state and, if that denies,
   * about the state after a barrier: another node may have made the token a moment ago. Writes call
   * this before they read a body; the leader decides again.
   */
  permit(
    caller: Caller,
    timeoutMs: number,
    denial: (authorizer: Authorizer) => string | undefined,
  ): Promise<Authorizer>;
  /** Resolves when the cluster has begun and this node has applied what was acknowledged before. */
  catchUp(timeoutMs: number): Promise<void>;
  /** Returns the namespace of a token; undefined if this node does not know the token. */
  namespaceOf(tokenKey: string): string | undefined;
}
