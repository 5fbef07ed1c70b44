/** One request of the API: parameters in, one answer out. */

import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERROR_STATUS, type Refusal, reject } from '../errors.js';
import type { Caller, ReadOptions, ReadOutcome } from '../service/types.js';
import { clientOf } from './addresses.js';
import {
  addQueryHeaders,
  contentTypes,
  type HeaderNames,
  refusalBody,
  send,
  sendPieces,
} from './answers.js';
import type { BodyReader } from './body.js';
import type { Client, HeldCalls, Streams } from './held.js';
import { escapeHtml, mustBeObject, parseJson, prettyJson } from './json.js';
import type { HttpOptions } from './options.js';
import {
  checkCacheControl,
  checkParameters,
  namespaceName,
  parseIndex,
  parseWait,
  type Query,
} from './parameters.js';
import type { Rates } from './rates.js';
import type { Refusals } from './refusals.js';
import { secretOf } from './token.js';
import type { ApiRequest, JsonObject, Method, Pieces, Route } from './types.js';

/**
 * How long a blocking query waits that names no time, and the longest it may name: as long as
 * Consul's.
 */
const WAIT_DEFAULT_MS = 300_000;
const WAIT_MAX_MS = 600_000;
/**
 * Up to 1/16 of the wait is added by chance, so that watchers that came together do not leave
 * together.
 */
const JITTER = 1 / 16;
/** The longest that a blocking query is held. */
export const HELD_MS_MAX = WAIT_MAX_MS * (1 + JITTER);
/** Characters of an answer that may outgrow what the system holds of it for the client. */
const LONG_LENGTH = 64 * 1024;
/** A body of this size is read and parsed within some 20 µs. */
const TINY_BODY_BYTES = 1024;
const NEVER = new AbortController().signal;
/** Why a signal is aborted: one for all, since to build an error costs more than to answer. */
const ENDED = new Error('the call has ended');
/** What may have passed in a second. */
const RETRY: ReadonlySet<string> = new Set(['too_many', 'no_leader', 'unavailable']);
/** What strangers hear, and clients that ask for too much. */
const STRANGE: ReadonlySet<string> = new Set([
  'unauthenticated',
  'permission_denied',
  'acl_not_found',
  'too_large',
  'too_many',
]);
const conflicting = (other: string): string =>
  `Cannot specify ?${other} with ?consistent, conflicting semantics.`;

/** What all requests of one front end share. */
export interface Shared {
  readonly options: HttpOptions;
  readonly names: HeaderNames;
  /** Lower-case header names by what they carry, the own prefix first. */
  readonly incoming: Readonly<Record<'token' | 'namespace' | 'partition', readonly string[]>>;
  readonly held: HeldCalls;
  readonly streams: Streams;
  readonly rates: Rates;
  readonly refusals: Refusals;
  readonly readBody: BodyReader;
  /** For callers who are not known. */
  readonly readSmallBody: BodyReader;
}

export class HttpRequest implements ApiRequest {
  readonly method: Method;
  readonly incoming: IncomingMessage;
  readonly secret: string | null;
  readonly caller: Caller;
  private readonly shared: Shared;
  private readonly res: ServerResponse;
  private readonly route: Route;
  private readonly values: readonly string[];
  private readonly queries: Query;
  private readonly startedMs = performance.now();
  private abort: AbortController | undefined;
  private tokenNamespace: string | undefined;

  constructor(
    shared: Shared,
    message: { req: IncomingMessage; res: ServerResponse },
    target: { route: Route; method: Method; values: readonly string[]; query: Query },
  ) {
    this.shared = shared;
    this.incoming = message.req;
    this.res = message.res;
    this.route = target.route;
    this.method = target.method;
    this.values = target.values;
    this.queries = target.query;
    this.secret = secretOf(message.req, target.query, shared);
    this.caller = { tokenKey: this.secret === null ? null : hash('sha256', this.secret) };
  }

  get timeoutMs(): number {
    return this.shared.options.limits.requestMs;
  }

  private get client(): Client {
    return { address: clientOf(this.incoming.socket), tokenKey: this.caller.tokenKey };
  }

  /** Counts the request against the rates of its client; throws 429. */
  spend(): void {
    const { rates } = this.shared;
    const address = clientOf(this.incoming.socket);
    const { tokenKey } = this.caller;
    const { startedMs, route, method } = this;
    if (route.counts === 'probe') return;
    rates.spend('requestsPerAddress', address, startedMs);
    if (tokenKey !== null) rates.spend('requestsPerToken', tokenKey, startedMs);
    if (route.counts === 'login') rates.spend('loginsPerAddress', address, startedMs);
    if (method === 'GET' || route.counts !== undefined) return;
    rates.spend('writesPerAddress', address, startedMs);
    if (tokenKey !== null) rates.spend('writesPerToken', tokenKey, startedMs);
  }

  spendLogin(limit: 'loginsPerMethod' | 'loginsPerIdentity', who: string): void {
    this.shared.rates.spend(limit, who, this.startedMs);
  }

  get signal(): AbortSignal {
    return this.aborter().signal;
  }

  private aborter(): AbortController {
    if (this.abort === undefined) {
      const abort = new AbortController();
      this.abort = abort;
      if (this.res.destroyed) abort.abort();
      else this.res.once('close', () => abort.abort(ENDED));
    }
    return this.abort;
  }

  // ---- parameters ----

  /**
   * What is the same for every endpoint: datacenter, partitions. Resolves the token's namespace
   * where it may be needed.
   */
  prepare(): Promise<void> | void {
    const { options } = this.shared;
    const control = this.incoming.headers['cache-control'];
    if (control !== undefined) checkCacheControl(control);
    checkParameters(this.queries, this.route.parameters);
    const dc = this.query('datacenter') ?? this.query('dc');
    if (dc !== undefined && dc !== options.datacenter) {
      const here = `this cluster is ${JSON.stringify(options.datacenter)}`;
      // clients look for these words when they apply entries
      const entries = 'exported-services writes must not target secondary datacenters';
      const hint =
        this.method === 'PUT' && this.route.path === '/v1/config' ? `${here}; ${entries}` : here;
      reject('unknown_datacenter', 'No path to datacenter', { hint });
    }
    const partitions = [this.query('partition'), this.header('partition')];
    if (partitions.some((name) => name !== undefined && name !== 'default'))
      reject(
        'invalid',
        'Invalid parameter "partition": this server has no admin partitions but "default"',
      );
    const { tokenKey } = this.caller;
    if (tokenKey === null || this.query('ns') || this.header('namespace')) return;
    const { service } = options;
    this.tokenNamespace = service.namespaceOf(tokenKey);
    if (this.tokenNamespace !== undefined || this.flag('stale')) return;
    // a token made a moment ago on another node; if it stays unknown the endpoint itself refuses it
    return service
      .catchUp(this.timeoutMs)
      .catch(() => undefined)
      .then(() => {
        this.tokenNamespace = service.namespaceOf(tokenKey);
      });
  }

  param(name: string): string {
    const at = parameterNames(this.route).indexOf(name);
    if (at < 0) throw new Error(`route ${this.route.path} has no parameter ${name}`);
    return this.values[at] ?? '';
  }

  query(name: string): string | undefined {
    return this.queries.get(name) || undefined;
  }

  flag(name: string): boolean {
    return this.queries.has(name);
  }

  namespace(bodyNamespace?: unknown): string {
    if (bodyNamespace !== undefined && bodyNamespace !== '' && bodyNamespace !== null) {
      if (typeof bodyNamespace === 'string')
        return namespaceName(bodyNamespace, 'field "Namespace"');
      reject('invalid', 'Invalid field "Namespace": expected a string', { pointer: '/Namespace' });
    }
    const named = this.query('ns');
    if (named !== undefined) return namespaceName(named, 'query parameter "ns"');
    const header = this.header('namespace');
    if (header !== undefined) return namespaceName(header, 'namespace header');
    return this.tokenNamespace ?? 'default';
  }

  namespaceOrAll(): string {
    const named = this.query('ns') ?? this.header('namespace');
    return named === '*' ? '*' : this.namespace();
  }

  readOptions(blocking = true): ReadOptions {
    const mode = this.mode();
    const waitText = this.query('wait');
    const waitAsked = waitText === undefined ? 0 : parseWait(waitText);
    if (waitAsked === undefined)
      reject('invalid', `Invalid wait time: ${quoted(waitText!)} is no duration such as 30s or 5m`);
    const indexText = this.query('index');
    const index = indexText === undefined ? 0 : parseIndex(indexText);
    if (index === undefined)
      reject('invalid', `Invalid index: ${quoted(indexText!)} is no unsigned 64-bit number`);
    const { timeoutMs } = this;
    if (!blocking || index === 0) return { mode, index: 0, waitMs: 0, timeoutMs, signal: NEVER };
    this.hold();
    const wait = waitAsked <= 0 ? WAIT_DEFAULT_MS : Math.min(waitAsked, WAIT_MAX_MS);
    const waitMs = wait + Math.random() * wait * JITTER;
    return { mode, index, waitMs, timeoutMs, signal: this.signal };
  }

  private mode(): ReadOptions['mode'] {
    const consistent = this.flag('consistent');
    if (consistent && this.flag('stale')) reject('invalid', conflicting('stale'));
    if (consistent && this.flag('cached')) reject('invalid', conflicting('cached'));
    const boundText = this.query('max_stale');
    const bound = boundText === undefined ? 0 : parseWait(boundText);
    if (bound === undefined)
      reject('invalid', `Invalid max_stale value ${quoted(boundText!)}: no duration such as 10s`);
    if (consistent && bound > 0) reject('invalid', conflicting('max_stale'));
    if (consistent) return 'consistent';
    return this.flag('stale') || bound > 0 ? 'stale' : 'default';
  }

  private hold(): void {
    const { held } = this.shared;
    const { client } = this;
    const abort = this.aborter();
    // who went away while we looked the token up has closed already, and would never leave
    if (this.res.destroyed) return;
    held.enter(client, abort);
    this.res.once('close', () => held.leave(client, abort));
  }

  private header(name: 'token' | 'namespace' | 'partition'): string | undefined {
    const { headers } = this.incoming;
    for (const key of this.shared.incoming[name]) {
      const value = headers[key];
      // repeated headers come joined by ", ": the first one counts
      if (typeof value === 'string' && value !== '') return value.split(',', 1)[0]!.trim();
    }
    return undefined;
  }

  // ---- body ----

  get hasTinyBody(): boolean {
    const { headers } = this.incoming;
    const length = headers['content-length'];
    return length !== undefined && Number(length) <= TINY_BODY_BYTES;
  }

  async body(failure: string): Promise<JsonObject> {
    return mustBeObject(await this.bodyValue(failure), failure);
  }

  async bodyValue(
    failure: string,
    { optional = false, small = false }: { optional?: boolean; small?: boolean } = {},
  ): Promise<unknown> {
    const isSmall = small || !(await this.isKnown());
    const { readBody, readSmallBody } = this.shared;
    const text = await (isSmall ? readSmallBody : readBody)(this.incoming, failure);
    if (optional && text.trim() === '') return null;
    return parseJson(text, failure);
  }

  /** Whether the request carries a token; throws 403 for one that does not exist. */
  private async isKnown(): Promise<boolean> {
    const { tokenKey } = this.caller;
    if (tokenKey === null) return false;
    const { service } = this.shared.options;
    if (service.namespaceOf(tokenKey) === undefined) {
      await service.catchUp(this.timeoutMs);
      if (service.namespaceOf(tokenKey) === undefined) reject('acl_not_found', 'ACL not found');
    }
    return true;
  }

  // ---- answers ----

  answerRead(
    outcome: ReadOutcome<string | undefined>,
    missing = 'Not found',
    more: Readonly<Record<string, string>> = {},
  ): void {
    if (outcome.value === undefined) {
      this.refuse({ code: 'not_found', message: missing }, outcome);
      return;
    }
    const headers = this.headersOf(contentTypes.json, outcome);
    headers.push(...Object.entries(more).flat());
    this.finish(200, headers, this.rendered(outcome.value));
  }

  answerList(outcome: ReadOutcome<readonly string[]>): void {
    const headers = this.headersOf(contentTypes.json, outcome);
    this.finish(200, headers, this.rendered(`[${outcome.value.join(',')}]`));
  }

  answerJson(text: string, status = 200, more: Readonly<Record<string, string>> = {}): void {
    const headers = this.headersOf(contentTypes.json);
    headers.push(...Object.entries(more).flat());
    this.finish(status, headers, this.rendered(text));
  }

  answerValue(value: unknown, status = 200): void {
    this.answerJson(JSON.stringify(value), status);
  }

  answerText(text: string, options: { status?: number; contentType?: string } = {}): void {
    const headers = this.headersOf(options.contentType ?? contentTypes.text);
    this.finish(options.status ?? 200, headers, text);
  }

  async answerStream(
    pieces: Pieces,
    options: {
      contentType?: string;
      headers?: Readonly<Record<string, string>>;
      outcome?: Omit<ReadOutcome<unknown>, 'value'>;
    } = {},
  ): Promise<void> {
    const headers = this.headersOf(options.contentType ?? contentTypes.json, options.outcome);
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.push(name, value);
    const compress = options.contentType === undefined;
    // a client that stops reading would keep the view that the pieces come from for ever
    const { stalledMs, streamBytesPerSecond } = this.shared.options.limits;
    const leave = this.shared.streams.enter(this.client);
    try {
      this.cutStalled();
      const pace = { graceMs: stalledMs, bytesPerSecond: streamBytesPerSecond };
      await sendPieces(this.incoming, this.res, headers, pieces, { compress, pace });
    } finally {
      leave();
    }
    this.observe(200);
  }

  /** Answers with an error; `outcome` adds the index headers. */
  refuse(why: Refusal, outcome?: Omit<ReadOutcome<unknown>, 'value'>): void {
    const { type, body } = refusalBody(this.incoming, why, this.route.parameters !== undefined);
    const headers = this.headersOf(type, outcome);
    if (RETRY.has(why.code)) headers.push('Retry-After', '1');
    const answer = { status: ERROR_STATUS[why.code], headers, body };
    const { refusals } = this.shared;
    const { incoming, res } = this;
    const given = (): void => this.observe(answer.status);
    if (STRANGE.has(why.code)) refusals.answerStranger(incoming, res, answer, given);
    else {
      refusals.answer(incoming, res, answer);
      given();
    }
  }

  private headersOf(contentType: string, outcome?: Omit<ReadOutcome<unknown>, 'value'>): string[] {
    const { names } = this.shared;
    const headers = ['Content-Type', contentType, ...names.base];
    if (outcome === undefined) headers.push(...names.unkept);
    else addQueryHeaders(headers, names, outcome);
    return headers;
  }

  private rendered(text: string): string {
    return escapeHtml(this.queries.size > 0 && this.flag('pretty') ? prettyJson(text) : text);
  }

  private finish(status: number, headers: string[], body: string): void {
    // what the endpoint left unread stands before the next request of the connection
    if (!this.incoming.complete) this.incoming.resume();
    if (body.length > LONG_LENGTH) this.cutStalled();
    send(this.incoming, this.res, status, headers, body);
    this.observe(status);
  }

  /** Ends the connection when its client takes no byte of the answer for long. */
  private cutStalled(): void {
    this.res.setTimeout(this.shared.options.limits.stalledMs, () => this.res.destroy());
  }

  private observe(status: number): void {
    this.shared.options.observe?.({
      route: this.route,
      method: this.method,
      status,
      ms: performance.now() - this.startedMs,
    });
  }
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 60));

const namesByRoute = new WeakMap<Route, readonly string[]>();
/** The names of a route's path parameters, in order. */
function parameterNames(route: Route): readonly string[] {
  let names = namesByRoute.get(route);
  if (names === undefined) {
    names = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
    namesByRoute.set(route, names);
  }
  return names;
}
