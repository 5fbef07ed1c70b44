/** What endpoints are written with: a route names a path and a handler per method; a handler gets an ApiRequest. */
import type { IncomingMessage } from 'node:http';
import type { Caller, ReadOptions, ReadOutcome } from '../service/types.js';

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

/** Answers a request through one `answer…` call, or throws ApiError. May be synchronous. */
export type Endpoint = (request: ApiRequest) => Promise<void> | void;

/**
 * One path with its methods. HEAD is served wherever GET is; OPTIONS, `Allow` and 405 follow from the methods given.
 * `:name` takes one path segment, the last `:name` of a path takes all that is left, slashes included; both may be
 * empty (`/v1/acl/role/`). Of two routes that match, the one listed first answers, so `/name/:name` goes before `/:id`.
 */
export interface Route extends Partial<Readonly<Record<Method, Endpoint>>> {
  readonly path: string;
  /**
   * What its requests count as, other than their methods say: those of a `probe` are not counted, a `login` has limits of
   * its own, a `read` may come as POST.
   */
  readonly counts?: 'probe' | 'login' | 'read';
  /**
   * Of a path that clients of Consul's API do not know: the query parameters of its own. Others are refused, but for
   * those that all paths take, and errors are problem details unless plain text is asked for.
   */
  readonly parameters?: readonly string[];
}

/** A JSON object as it was sent: no duplicate keys, no `__proto__`, well-formed text, finite numbers. */
export type JsonObject = { readonly [field: string]: unknown };

/** JSON text ready for the socket, or text in pieces for answers too large to hold at once. */
export type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** One request: the parameters checked, the answer in one call. */
export interface ApiRequest {
  readonly method: Method;
  readonly caller: Caller;
  /** The SecretID as presented, for answers that need it (token/self, logout); null: none was. Never log or store it. */
  readonly secret: string | null;
  /** Milliseconds a write or a barrier may take. */
  readonly timeoutMs: number;
  /** Aborted when the client goes away, and for held calls when the server stops. */
  readonly signal: AbortSignal;
  /** The request itself, for bodies that are not JSON. */
  readonly incoming: IncomingMessage;

  /** Counts a login against the rate of its auth method; throws 429. */
  spendLogin(limit: 'loginsPerMethod' | 'loginsPerIdentity', who: string): void;

  /** A parameter of the path, decoded once; '' when empty. */
  param(name: string): string;
  /** A parameter of the query: the first one counts; empty counts as absent. */
  query(name: string): string | undefined;
  /** A parameter that counts by presence (`?expanded`, `?expanded=false`). */
  flag(name: string): boolean;
  /**
   * The namespace of the request: `bodyNamespace` (ACL objects only), `ns`, the header, the token's, `default`. Throws 400
   * for `*` and for anything that cannot be a namespace's name.
   */
  namespace(bodyNamespace?: unknown): string;
  /** The same for lists, where `*` means every namespace. */
  namespaceOrAll(): string;
  /** Consistency mode and blocking parameters; throws 400. Without `blocking` index and wait are checked, then ignored. */
  readOptions(blocking?: boolean): ReadOptions;
  /** Whether the whole body is so small that it costs less than the rest of the request. */
  readonly hasTinyBody: boolean;
  /**
   * The body as a JSON object. Throws 400 `<failure>: …` (`failure` like `Role decoding failed`) with line, column and
   * what was expected, or 413.
   */
  body(failure: string): Promise<JsonObject>;
  /**
   * The body as any JSON value; null when it is empty and `optional` is set. `small`: as of a caller without a token,
   * whoever asks. Without it, throws 403 for a token that does not exist, before the body is read.
   */
  bodyValue(failure: string, options?: { optional?: boolean; small?: boolean }): Promise<unknown>;

  /**
   * Answers a query with its index headers. The value is JSON text, written as it is; undefined is a 404 with the
   * sentence `missing` and the index to wait on.
   */
  answerRead(
    outcome: ReadOutcome<string | undefined>,
    missing?: string,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /** The same for a list whose items are JSON texts. */
  answerList(outcome: ReadOutcome<readonly string[]>): void;
  /** Answers JSON text without index headers. */
  answerJson(text: string, status?: number, headers?: Readonly<Record<string, string>>): void;
  /** Answers any value as JSON, without index headers. */
  answerValue(value: unknown, status?: number): void;
  /** Answers in pieces, with backpressure. `outcome` adds the index headers. */
  answerStream(
    pieces: Pieces,
    options?: {
      contentType?: string;
      headers?: Readonly<Record<string, string>>;
      outcome?: Omit<ReadOutcome<unknown>, 'value'>;
    },
  ): Promise<void>;
  /** Answers with plain text, or nothing. */
  answerText(text: string, options?: { status?: number; contentType?: string }): void;
}
