/** Answers one request: index headers, JSON as text, lists, streams, errors. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Document } from '../../api/documents.js';
import { ApiError, ERROR_STATUS, type Refusal } from '../../base/errors.js';
import { escapeHtml } from '../../languages/json.js';
import type { Caller, Notes, QueryMeta, ReadOutcome } from '../../service/common/types.js';
import type { OpenedEvents } from '../../service/events/open.js';
import type { Front } from '../front.js';
import type { Client } from '../limits/concurrency.js';
import { clientOf } from '../listener/addresses.js';
import { prettyJson } from '../request/body.js';
import type { Query } from '../request/parameters.js';
import { shownUrl } from '../request/shown-url.js';
import { traceOf } from '../request/trace.js';
import type { Pieces, Tagged, Target } from '../routes/types.js';
import { bytesOf } from './document-bytes.js';
import { answerEvents } from './event-response.js';
import { PreparedResponse } from './prepared-response.js';
import { noteRefused, refusalBody, tokenHint } from './refusal-body.js';
import { addDecision, addQueryHeaders, addRequestId, contentTypes } from './response-headers.js';
import { isGone, send, sendPieces } from './send.js';

/** Bytes above which a response may not fit into the system's send buffer. */
const LONG_BYTES = 64 * 1024;
/** Errors after which a client may retry in a second. */
const RETRY: ReadonlySet<string> = new Set([
  'too_many',
  'no_leader',
  'unavailable',
  'audit_unavailable',
]);
/** Errors of clients that are unknown or ask for too much. */
const STRANGE: ReadonlySet<string> = new Set([
  'unauthenticated',
  'permission_denied',
  'acl_not_found',
  'too_large',
  'too_many',
]);
/** Other errors that are delayed for clients without a valid token. */
const MISTAKES: ReadonlySet<string> = new Set([
  'invalid',
  'unknown_reference',
  'unknown_datacenter',
]);

/** Whether the client has a version of which it names the entity tag (RFC 9110, section 13.1.2). */
const hasTag = ({ headers }: IncomingMessage, etag: string): boolean =>
  (headers['if-none-match'] ?? '')
    .split(',')
    .some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);

/** An answer as it is passed to the audit log. `why` is set for a refusal. */
interface Answered {
  readonly status: number;
  readonly why?: Refusal;
  readonly decision?: string | undefined;
  readonly error?: ApiError | undefined;
}

/** The response to one request. Each answers it once; see `ApiRequest`. */
export abstract class Responder {
  readonly incoming: IncomingMessage;
  abstract readonly caller: Caller;
  abstract readonly reason: string | undefined;
  abstract readonly notes: Notes | undefined;
  protected readonly front: Front;
  protected readonly res: ServerResponse;
  protected readonly target: Target;
  protected readonly queries: Query;
  protected readonly startedMs = performance.now();
  /** A warning about the request, for a header. */
  protected warning: string | undefined;
  /** Who owns what the request writes. */
  #owner = '';
  /** Whether the audit log has the answer. */
  #isNoted = false;

  constructor(
    front: Front,
    target: Target,
    { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
    query: Query,
  ) {
    this.front = front;
    this.target = target;
    this.incoming = req;
    this.res = res;
    this.queries = query;
  }

  /** Milliseconds for which this request was held as a blocking query. */
  protected abstract readonly heldMs: number;

  /** The client to which the limits charge this request. */
  protected client(): Client {
    return { address: clientOf(this.incoming.socket), tokenKey: this.caller.tokenKey };
  }

  noteOwner(owner: string): void {
    this.#owner = owner;
  }

  answerRead(
    outcome: ReadOutcome<string | undefined>,
    missing = 'Not found',
    more?: Readonly<Record<string, string>>,
  ): void {
    const { value } = outcome;
    if (value === undefined) this.answerMissing(outcome, missing);
    else if (more === undefined) this.#answerShared(value, outcome);
    else
      this.#finish(200, this.#headersOf(contentTypes.json, outcome, more), this.#rendered(value));
  }

  answerMissing(meta: QueryMeta, message: string, hint?: string, members: object = {}): void {
    const more = { members: { ...members }, ...(hint !== undefined && { hint }) };
    this.refuse({ code: 'not_found', message, ...more }, meta);
  }

  answerList(outcome: ReadOutcome<readonly string[]>): void {
    this.answerFound({ ...outcome, value: `[${outcome.value.join(',')}]` });
  }

  answerBytes(outcome: ReadOutcome<Uint8Array>): void {
    this.#answerShared(outcome.value, outcome);
  }

  answerTagged({ value, ...meta }: ReadOutcome<Tagged>): void {
    const { etag, bytes } = value;
    const headers = this.#headersOf(contentTypes.json, meta, { ETag: etag });
    if (hasTag(this.incoming, etag)) this.#answerUnchanged(headers.slice(2));
    else {
      const body = this.#bodyOf(bytes(), this.queries.has('pretty'));
      this.#send(new PreparedResponse(200, headers, body));
    }
  }

  answerJson(text: string, status = 200, more?: Readonly<Record<string, string>>): void {
    this.#finish(status, this.#headersOf(contentTypes.json, undefined, more), this.#rendered(text));
  }

  answerWritten(
    text: string,
    { lint, etag }: { lint?: string | undefined; etag?: string | undefined } = {},
  ): void {
    const headers = this.#headersOf(contentTypes.json);
    if (etag !== undefined) headers.push('ETag', etag);
    if (lint !== undefined) for (const name of this.front.names.lint) headers.push(name, lint);
    this.#finish(200, headers, this.#rendered(text));
  }

  answerValue(value: unknown, status = 200): void {
    this.answerJson(JSON.stringify(value), status);
  }

  answerFound(outcome: ReadOutcome<string>): void {
    this.#finish(200, this.#headersOf(contentTypes.json, outcome), this.#rendered(outcome.value));
  }

  answerPublic(value: object, seconds: number): void {
    const { names } = this.front;
    const headers = ['Content-Type', contentTypes.json, ...names.base];
    headers.push('Cache-Control', `public, max-age=${seconds}`);
    if (this.target.route.isStandard) addRequestId(headers, this.incoming);
    this.#finish(200, headers, this.#rendered(JSON.stringify(value)));
  }

  answerFiltered(value: unknown, isFiltered: boolean): void {
    const headers = this.#headersOf(contentTypes.json);
    if (isFiltered) for (const name of this.front.names.filtered) headers.push(name, 'true');
    this.#finish(200, headers, this.#rendered(JSON.stringify(value)));
  }

  answerDocument(document: Document): void {
    const { names } = this.front;
    const { etag } = document;
    const headers = ['ETag', etag, ...names.base, ...names.asked];
    if (hasTag(this.incoming, etag)) this.#answerUnchanged(headers);
    else {
      headers.unshift('Content-Type', contentTypes.json);
      const { body, packed } = bytesOf(document);
      this.#send(new PreparedResponse(200, headers, body, packed));
    }
  }

  #answerUnchanged(headers: string[]): void {
    this.#audited({ status: 304 }, () => {
      if (!this.incoming.complete) this.incoming.resume();
      this.res.writeHead(304, headers).end();
      this.#observe(304);
    });
  }

  answerText(text: string, options: { status?: number; contentType?: string } = {}): void {
    const headers = this.#headersOf(options.contentType ?? contentTypes.text);
    this.#finish(options.status ?? 200, headers, text);
  }

  async answerStream(
    pieces: Pieces,
    options: { contentType?: string; outcome?: QueryMeta } = {},
  ): Promise<void> {
    const headers = this.#headersOf(options.contentType ?? contentTypes.json, options.outcome);
    const compress = options.contentType === undefined;
    // a client that stops reading would keep the view that the pieces come from for ever
    const { stalledMs, streamBytesPerSecond } = this.front.options.limits;
    const leave = this.front.streams.enter(this.client());
    let isWhole: boolean;
    try {
      const refused = await this.#noted({ status: 200 });
      if (refused !== undefined) throw new ApiError(refused);
      this.#cutStalled();
      const pace = { graceMs: stalledMs, bytesPerSecond: streamBytesPerSecond };
      isWhole = await sendPieces(this.incoming, this.res, headers, pieces, { compress, pace });
    } finally {
      leave();
    }
    this.#observe(200, !isWhole);
  }

  async answerEvents(open: () => Promise<OpenedEvents>): Promise<void> {
    const { front, incoming, res } = this;
    const begin = performance.now();
    await answerEvents(
      { front, incoming, res, client: this.client() },
      {
        open: async () => {
          const opened = await open();
          const refused = await this.#noted({ status: 200 });
          if (refused !== undefined) throw new ApiError(refused);
          return opened;
        },
        headersOf: (meta) => this.#headersOf(contentTypes.events, meta),
        onEnd: (isCut) => this.#observe(200, isCut, performance.now() - begin),
      },
    );
  }

  /** Returns the namespace that a refusal concerns. */
  protected abstract refusedNamespace(): string;

  /**
   * Answers with an error; `meta` adds the index headers. `error` carried the refusal, if anything
   * did.
   */
  refuse(why: Refusal, meta?: QueryMeta, error?: ApiError): void {
    // Nothing was written, and who is refused may not know whose the object is.
    this.#owner = '';
    const { route } = this.target;
    const decision = STRANGE.has(why.code) ? this.#note(why, error) : undefined;
    const { type, body } = refusalBody(this.incoming, this.#helped(why), route, decision);
    const headers = this.#headersOf(type, meta);
    addDecision(headers, this.front.names, decision);
    const current = why.about?.kind === 'version' ? why.about.current : null;
    if (current !== null) headers.push('ETag', `"${current}"`);
    if (RETRY.has(why.code) && why.about?.kind !== 'removed') headers.push('Retry-After', '1');
    if (route.isStandard && why.code === 'unauthenticated')
      headers.push('WWW-Authenticate', 'Bearer realm="conclave"');
    const response = { status: ERROR_STATUS[why.code], headers, body };
    const { refusals } = this.front;
    const { incoming, res } = this;
    const onSent = (): void => this.#observe(response.status);
    this.#audited({ status: response.status, why, decision, error }, () => {
      if (this.#mayWait(why)) refusals.refuseStranger(incoming, res, response, onSent);
      else {
        refusals.refuse(incoming, res, response);
        onSent();
      }
    });
  }

  /** Sends an answer once the audit log has it, another one if it must have it and cannot. */
  #audited(answer: Answered, respond: () => void): void {
    const noted = this.#noted(answer);
    if (noted === undefined) respond();
    else
      noted.then(
        (why) => (why === undefined ? respond() : this.refuse(why)),
        (error: Error) => this.res.destroy(error),
      );
  }

  /** Lets the audit log note an answer. Resolves to what to refuse instead, if anything. */
  #noted(answer: Answered): Promise<Refusal | undefined> | undefined {
    const { status, why, decision = '', error } = answer;
    const { audit } = this.front.options;
    const isRefused = status === 401 || status === 403;
    if (audit === undefined || this.#isNoted || (this.notes === undefined && !isRefused)) return;
    if (why?.code === 'audit_unavailable') return;
    this.#isNoted = true;
    return audit.answered({
      incoming: this.incoming,
      endpoint: shownUrl(this.front, this.incoming),
      route: this.target.route,
      caller: this.caller,
      notes: this.notes,
      status,
      isGone: isGone(this.incoming, this.res),
      ms: performance.now() - this.startedMs,
      namespace: this.refusedNamespace(),
      reason: this.reason ?? '',
      decision,
      error,
    });
  }

  /** Whether an address that is refused like this again and again has to wait. */
  #mayWait({ code }: Refusal): boolean {
    if (!MISTAKES.has(code)) return STRANGE.has(code);
    const { tokenKey } = this.caller;
    return tokenKey === null || this.front.options.service.namespaceOf(tokenKey) === undefined;
  }

  /** Returns a refusal with a hint about the token, if it has none and that helps. */
  #helped(why: Refusal): Refusal {
    if (why.hint !== undefined || !STRANGE.has(why.code)) return why;
    const header = `${this.front.options.headerPrefix}-Token`;
    const how = { hasToken: this.caller.tokenKey !== null, header };
    const hint = tokenHint(why, this.incoming.headers, how);
    return hint === undefined ? why : { ...why, hint };
  }

  #note(refusal: Refusal, error: ApiError | undefined): string | undefined {
    const namespace = this.refusedNamespace();
    const { caller, incoming } = this;
    return noteRefused(this.front, incoming, { caller, namespace, refusal, error });
  }

  #headersOf(
    contentType: string,
    meta?: QueryMeta,
    more?: Readonly<Record<string, string>>,
  ): string[] {
    const { names } = this.front;
    const headers = ['Content-Type', contentType, ...names.base];
    if (meta === undefined || this.target.route.isSecret) headers.push(...names.unkept);
    if (meta !== undefined) addQueryHeaders(headers, names, meta);
    if (this.warning !== undefined)
      for (const name of names.warning) headers.push(name, this.warning);
    if (this.target.route.isStandard) addRequestId(headers, this.incoming);
    if (this.#owner !== '') for (const name of names.owner) headers.push(name, this.#owner);
    if (more !== undefined) headers.push(...Object.entries(more).flat());
    return headers;
  }

  #rendered(text: string): string {
    return escapeHtml(this.queries.has('pretty') ? prettyJson(text) : text);
  }

  /** Sends a value of a read: the last response, if it had the same value and headers. */
  #answerShared(value: string | Uint8Array, meta: QueryMeta): void {
    const { lastRead } = this.front;
    const isPretty = this.queries.has('pretty');
    // a warning is for this request alone, and the headers of secrets are others
    const isShared = this.warning === undefined && this.target.route.isSecret !== true;
    let response = isShared ? lastRead.find(value, meta, isPretty) : undefined;
    if (response === undefined) {
      const headers = this.#headersOf(contentTypes.json, meta);
      // on a follower, the time since the last contact differs from one reader to the next
      const body = lastRead.bodyOf(value, isPretty) ?? this.#bodyOf(value, isPretty);
      response = new PreparedResponse(200, headers, body);
      if (isShared) lastRead.keep(response, value, meta, isPretty);
    }
    this.#send(response);
  }

  #bodyOf(value: string | Uint8Array, isPretty: boolean): string | Uint8Array {
    if (typeof value === 'string') return this.#rendered(value);
    return isPretty ? this.#rendered(Buffer.from(value).toString()) : value;
  }

  #finish(status: number, headers: string[], body: string): void {
    this.#send(new PreparedResponse(status, headers, body));
  }

  #send(response: PreparedResponse): void {
    this.#audited(response, () => {
      // the unread body precedes the next request of the connection
      if (!this.incoming.complete) this.incoming.resume();
      if (response.length > LONG_BYTES) this.#cutStalled();
      send(this.incoming, this.res, response);
      this.#observe(response.status);
    });
  }

  /** Closes the connection if its client takes no byte of the response for `stalledMs`. */
  #cutStalled(): void {
    this.res.setTimeout(this.front.options.limits.stalledMs, () => this.res.destroy());
  }

  #observe(status: number, isCut = false, heldMs = this.heldMs): void {
    const { route, method } = this.target;
    const ms = performance.now() - this.startedMs;
    const traceId = traceOf(this.incoming);
    this.front.options.observe?.({ route, method, status, ms, heldMs, traceId, isCut });
  }
}
