/**
 * What endpoints are written with: a route names a path and a handler for each method; a handler
 * receives an `ApiRequest`.
 */
import type { IncomingMessage } from 'node:http';
import type { Document } from '../../api/documents.js';
import type { MethodsByPath } from '../../api/endpoints/endpoints.js';
import type { Method } from '../../api/endpoints/operation.js';
import type { Type } from '../../languages/fields.js';
import type { Shape } from '../../languages/usual-json.js';
import type {
  Caller,
  Match,
  Notes,
  QueryMeta,
  ReadOptions,
  ReadOutcome,
} from '../../service/common/types.js';
import type { OpenedEvents } from '../../service/events/open.js';

export type { Method } from '../../api/endpoints/operation.js';

/** Answers a request through one `answer…` call, or throws ApiError. May be synchronous. */
export type Endpoint = (request: ApiRequest) => Promise<void> | void;

/**
 * One path with its methods. HEAD is served wherever GET is; OPTIONS, `Allow` and 405 follow from
 * the methods. `:name` takes one segment of the path, the last `:name` the rest of it with its
 * slashes; both may be empty (`/v1/acl/role/`). Of two routes that match, the first one answers, so
 * `/name/:name` stands before `/:id`.
 */
export interface Route extends Partial<Readonly<Record<Method, Endpoint>>> {
  readonly path: string;
  /**
   * What its requests count as, if not what their methods say: a `probe` is not counted, a `login`
   * has limits of its own, a `read` may come as POST.
   */
  readonly counts?: 'probe' | 'login' | 'read';
  /**
   * Whether it answers the same whatever namespace and partition a request names, so that neither
   * is looked at, nor the token of the request by itself.
   */
  readonly everywhere?: true;
  /**
   * Whether Consul does not have the path. Unknown query parameters are then refused, and errors
   * are problem details unless plain text is asked for.
   */
  readonly isNew?: true;
  /** Whether its writes heed If-Match. A write elsewhere that carries it is refused. */
  readonly ifMatch?: true;
  /** Whether its PUT heeds `If-None-Match: *`. */
  readonly ifNoneMatch?: true;
  /**
   * Whether it follows the Authorization API 1.0: what is unknown in a request is ignored, errors
   * are text unless problem details are asked for by name, and X-Request-ID is sent back.
   */
  readonly isStandard?: true;
  /**
   * Whether its answers hold secrets: no cache may keep them, although they have an index.
   */
  readonly isSecret?: true;
  /** Whether it answers a feed of rights, of which those that are held are counted. */
  readonly isFeed?: true;
  /**
   * Whether it only adds methods to a path that another route has. That route, which comes later,
   * answers the other methods.
   */
  readonly adds?: true;
}

type RouteFor<P extends string, M extends Method> = Omit<Route, 'path' | Method> & {
  readonly path: P;
} & { readonly [N in M]: Endpoint } & { readonly [N in Exclude<Method, M>]?: never };

/**
 * A route of the API: its path and its methods are declared with their operations
 * (api/endpoints/endpoints.ts), all of them and no others.
 */
export type DeclaredRoute = {
  readonly [P in keyof MethodsByPath]: RouteFor<P, MethodsByPath[P]>;
}[keyof MethodsByPath];

/** An endpoint with its route. */
export interface Target {
  readonly route: Route;
  readonly method: Method;
  readonly endpoint: Endpoint;
  /** Names of the path's parameters, in order. */
  readonly params: readonly string[];
}

/**
 * A JSON object as it was sent: without duplicate keys and `__proto__`, with well-formed text and
 * finite numbers.
 */
export type JsonObject = { readonly [field: string]: unknown };

/** JSON text ready for the socket, or text in pieces for responses too large to hold at once. */
export type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** A value with its entity tag. */
export interface Tagged {
  readonly etag: string;
  /** Returns it as JSON text in UTF-8, escaped already and with a newline at the end. */
  readonly bytes: () => Uint8Array;
}

/** How a body is read. */
export interface BodyOptions {
  /** Whether an empty one counts as null. */
  readonly optional?: boolean;
  /** Whether the limit of callers without a token applies. */
  readonly small?: boolean;
  /** Whether the limit of sets applies. */
  readonly large?: boolean;
  /** How most clients send it. What has this shape is read faster, to the same value. */
  readonly usual?: Shape<unknown>;
}

/** The type of a body, from which the names of its fields follow. */
export type BodyType = Type<unknown, unknown>;

/** One request: its parameters, checked, and one answer. */
export interface ApiRequest {
  readonly method: Method;
  readonly caller: Caller;
  /** The SecretID as it was sent; null if none was. It is never logged, nor written to disk. */
  readonly secret: string | null;
  /** Milliseconds a write or a barrier may take. */
  readonly timeoutMs: number;
  /** Why it writes, in the words of its header; undefined for a read. */
  readonly reason: string | undefined;
  /** What notes the request for the audit log; undefined if nothing does. */
  readonly notes: Notes | undefined;
  /** The request itself, for bodies that are not JSON. */
  readonly incoming: IncomingMessage;

  /** Counts a login against the rate of its auth method or identity; throws 429. */
  spendLogin(limit: 'loginsPerMethod' | 'loginsPerIdentity', who: string): void;
  /** Counts a JWT to verify against the rates of the client and of its auth method; throws 429. */
  spendJwtCheck(method: string): void;

  /** Returns a parameter of the path, decoded once; '' if empty. */
  param(name: string): string;
  /** Returns a parameter of the query: the first one counts, and an empty one is absent. */
  query(name: string): string | undefined;
  /** Whether a parameter is present (`?expanded`, `?expanded=false`). */
  flag(name: string): boolean;
  /**
   * Returns the namespace of the request: `bodyNamespace` (ACL objects only), `ns`, the header,
   * that of the token, or `default`. Throws 400 for `*` and for what cannot be a name.
   */
  namespace(bodyNamespace?: unknown): string;
  /** The same for lists, where `*` means every namespace. */
  namespaceOrAll(): string;
  /** Returns the precondition of a write; undefined if it has none. Throws 400. */
  precondition(): Match | undefined;
  /** Returns consistency mode and blocking parameters; throws 400. */
  readOptions(): ReadOptions;
  /** The same for a read that never waits: index and wait are checked, then ignored. */
  singleReadOptions(): ReadOptions;
  /** Whether the whole body is so small that it costs less than the rest of the request. */
  readonly hasTinyBody: boolean;
  /**
   * Returns the body as a JSON object, not decoded, but with the names of fields that `type` has.
   * Throws 400 `<failure>: …` (`failure` like `Role decoding failed`) with line, column and what
   * was expected, or 413.
   */
  body(failure: string, type: BodyType, options?: BodyOptions): Promise<JsonObject>;
  /** Returns the body decoded. Throws as `body`, and 400 for what the type refuses. */
  decoded<S>(failure: string, type: Type<unknown, S>, options?: BodyOptions): Promise<S>;
  /**
   * The same as `body` for any JSON value. Without `small`, throws 403 for a token that does not
   * exist, before the body is read.
   */
  bodyValue(failure: string, type: BodyType, options?: BodyOptions): Promise<unknown>;
  /** Notes who owns what the request writes, for a header of its answer; empty for nobody. */
  noteOwner(owner: string): void;

  /**
   * Answers a query with its index headers. The value is JSON text, sent as it is; undefined is a
   * 404 with the sentence `missing` and the index to wait on.
   */
  answerRead(
    outcome: ReadOutcome<string | undefined>,
    missing?: string,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /** Answers a query with a 404 that carries the index to wait on. */
  answerMissing(meta: QueryMeta, message: string, hint?: string, members?: object): void;
  /** The same as `answerRead` for a list whose items are JSON texts. */
  answerList(outcome: ReadOutcome<readonly string[]>): void;
  /**
   * The same with the bytes of a JSON text, escaped already and with a newline at the end, which
   * several responses share.
   */
  answerBytes(outcome: ReadOutcome<Uint8Array>): void;
  /** Answers JSON text that was made for this request alone, with the headers of a read. */
  answerFound(outcome: ReadOutcome<string>): void;
  /** Answers what everybody may know and caches may keep for some seconds. */
  answerPublic(value: object, seconds: number): void;
  /** The same with an entity tag, or 304 if the client has it. */
  answerTagged(outcome: ReadOutcome<Tagged>): void;
  /** Answers JSON text without index headers. */
  answerJson(text: string, status?: number, headers?: Readonly<Record<string, string>>): void;
  /**
   * Answers a write. `lint`: what lint finds in what was written, for a header. `etag`: that of the
   * new version.
   */
  answerWritten(
    text: string,
    more?: { lint?: string | undefined; etag?: string | undefined },
  ): void;
  /** Answers a document that a cache may keep, or 304 if the client has it. */
  answerDocument(document: Document): void;
  /** Answers any value as JSON, without index headers. */
  answerValue(value: unknown, status?: number): void;
  /** The same for a list, with a header if the caller may not read some of it. */
  answerFiltered(value: unknown, isFiltered: boolean): void;
  /** Answers in pieces, with backpressure. `outcome` adds the index headers. */
  answerStream(
    pieces: Pieces,
    options?: { contentType?: string; outcome?: QueryMeta },
  ): Promise<void>;
  /** Answers with a stream of events. Takes a place for it, and leaves that at its end. */
  answerEvents(open: () => Promise<OpenedEvents>): Promise<void>;
  /** Answers with plain text, or nothing. Text that does not end with a newline gets one. */
  answerText(text: string, options?: { status?: number; contentType?: string }): void;
}
