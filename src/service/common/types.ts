/** What the use cases are called with and return. Nothing here depends on HTTP. */
import type { Authorizer } from '../../acl/types.js';
import type { Refusal } from '../../base/errors.js';
import type { ReadMode } from '../../node/types.js';
import type { Author } from '../../state/author.js';
import type { Answer, Command, Match, PinnedView, View } from '../../state/types.js';
import type { CallEnd } from './call-end.js';

export type { Match } from '../../state/types.js';

/** The sender of a request. */
export interface Caller {
  /** SHA-256 of the SecretID in hex; null without a token, where the anonymous token counts. */
  readonly tokenKey: string | null;
}

/** Notes what a request does, for the audit log. */
export interface Notes {
  /** Returns what a read asks for its rights: it notes that, if the record is to show it. */
  asking(authorizer: Authorizer): Authorizer;
  /** Returns what a check of rights asks: it notes what is granted. The last check counts. */
  checking(authorizer: Authorizer): Authorizer;
  /** The body says why. */
  reasoned(reason: string): void;
  /** A command is about to be proposed: once a returned promise resolves, if there is one. */
  proposed(command: Command): Promise<void> | undefined;
  /** It took effect at this index. */
  written(index: number): void;
}

/** The caller of a use case, and how long the caller waits for barriers and writes. */
export interface Requester {
  readonly caller: Caller;
  readonly timeoutMs: number;
  /** Called before a write with the owner of the object, if it has one (state/owners.ts). */
  readonly noteOwner?: (owner: string) => void;
  /** Why, in the caller's words. */
  readonly reason?: string | undefined;
  /** The version that the written object must have. */
  readonly match?: Match | undefined;
  /** The author of the write. Absent: the token of the caller. */
  readonly author?: Author;
  readonly notes?: Notes | undefined;
}

/** Who reads, and how. */
export interface ReadBy {
  readonly caller: Caller;
  readonly options: ReadOptions;
}

/** Who reads, how, and of which namespace. */
export interface StateRead extends ReadBy {
  readonly ns: string;
}

/** How current a read must be, and how long it may wait. */
export interface ReadOptions {
  readonly mode: ReadMode;
  /** A blocking query waits until the index of the answer is greater. 0 does not wait. */
  readonly index: number;
  /** How long a blocking query waits, in milliseconds. */
  readonly waitMs: number;
  /** How long a barrier may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Of a blocking query. */
  readonly end?: CallEnd;
  /** The digest of what the client has. Absent: that at the beginning of a blocking query. */
  readonly shown?: string | undefined;
  readonly notes?: Notes | undefined;
}

/** What a read use case sees: the state, and the caller's rights in that state. */
export interface ReadContext {
  readonly view: View;
  readonly authorizer: Authorizer;
}
/** Identifies what a list shows; undefined for a list that shows every item. */
export type Digest = string | undefined | Promise<string | undefined>;

/**
 * A read use case. It throws ApiError to refuse. A missing object is `value: undefined`, so that
 * its index is answered too.
 */
export type ReadUseCase<T> = (context: ReadContext) => Answer<T> & {
  readonly filtered?: boolean;
  /** What the answer must wait for; then the use case is called again. */
  readonly pending?: Promise<void>;
  /**
   * Of an answer that changes less often than its index, such as a list without the items that are
   * hidden from the caller: a blocking query waits until the digest changes too.
   */
  readonly digest?: () => Digest;
  /** Milliseconds after which the answer ends by itself, such as by the expiry of a token. */
  readonly endsInMs?: number;
};

/** What a page says of its list. */
export interface PageMeta {
  /** Items of the whole list. */
  readonly total: number;
  /** Where the page ends; undefined if it is the last one. */
  readonly next: string | undefined;
}

/** Metadata of a read, as its answer shows it. */
export interface QueryMeta {
  readonly index: number;
  readonly knownLeader: boolean;
  /** Milliseconds since this node heard from a leader. */
  readonly lastContactMs: number;
  /** Entries were left out because the caller may not read them. */
  readonly filtered: boolean;
  /** Of a page of a list. */
  readonly page?: PageMeta | undefined;
  /** Milliseconds that are left of the token that the answer is about. */
  readonly expiresInMs?: number | undefined;
}

/** The value of a read and its metadata. */
export interface ReadOutcome<T> extends QueryMeta {
  readonly value: T;
}

/** What use cases run on: barriers, blocking queries, authorisation, proposals. */
export interface Service {
  /** This node's applied state now: for checks before a write, and for what its answer shows. */
  readonly view: View;
  /** Returns a frozen view for an answer that takes several turns. The caller must close it. */
  pin(): PinnedView;
  /** Evaluates a read use case after its barrier, and again until its index is new enough. */
  read<T>(caller: Caller, options: ReadOptions, useCase: ReadUseCase<T>): Promise<ReadOutcome<T>>;
  /**
   * Proposes a command. Returns the JSON text that it answers, which is `true` if it says nothing.
   * Throws ApiError if it is refused.
   */
  write(requester: Requester, command: Command): Promise<string>;
  /** Returns the caller's authorizer in this node's state. Rejects with `acl_not_found`. */
  authorize(caller: Caller): Promise<Authorizer>;
  /**
   * Throws what `denial` returns. Evaluates it over this node's state and, if that denies,
   * again after a barrier: another node may have created the token a moment ago. Writes call this
   * before they read a body. The leader authorises the command again.
   */
  permit(
    requester: Requester,
    denial: (authorizer: Authorizer) => Refusal | undefined,
  ): Promise<Authorizer>;
  /** Resolves when the cluster is initialized and this node has applied all acknowledged writes. */
  catchUp(timeoutMs: number): Promise<void>;
  /** Returns the namespace of a token; undefined if this node does not know the token. */
  namespaceOf(tokenKey: string): string | undefined;
}
