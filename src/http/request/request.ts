/** One request of the API: its token, parameters and body, and one answer. */
import type { Context } from 'koa';
import { refuse, reject, UNKNOWN_TOKEN } from '../../base/errors.js';
import { named } from '../../base/works.js';
import type { Type } from '../../languages/fields.js';
import { SET_VALUES_MAX } from '../../languages/json.js';
import { readUsual } from '../../languages/usual-json.js';
import { CallEnd } from '../../service/common/call-end.js';
import { decodeBody, respelledBody } from '../../service/common/decode.js';
import type { Caller, Match, Notes, ReadOptions } from '../../service/common/types.js';
import type { Front } from '../front.js';
import { clientOf } from '../listener/addresses.js';
import { Responder } from '../response/responder.js';
import { isGone, onceGone } from '../response/send.js';
import type {
  ApiRequest,
  BodyOptions,
  BodyType,
  JsonObject,
  Method,
  Target,
} from '../routes/types.js';
import { mustBeObject, parseJson } from './body.js';
import {
  checkCacheControl,
  checkPartition,
  HELD_MS_MAX,
  NO_QUERY,
  namespaceName,
  parameterOf,
  parseQuery,
  readOptionsOf,
  reasonOf,
} from './parameters.js';
import { checkConditions, matchOf } from './preconditions.js';
import { checkNames } from './query-names.js';
import { callerOf, secretOf } from './token.js';

/** A body of this size is read and parsed within some 100 µs. */
const TINY_BODY_BYTES = 4096;

/** A header that is accepted under two names. */
type PrefixedHeader = 'namespace' | 'partition' | 'reason';

/** Implements `ApiRequest`. The constructor throws 400 for a bad query string or token. */
export class HttpRequest extends Responder implements ApiRequest {
  readonly secret: string | null;
  readonly caller: Caller;
  /** Of a request that is no read, once it is prepared. */
  reason: string | undefined;
  notes: Notes | undefined;
  readonly #context: Context;
  readonly #captures: readonly string[];
  #tokenNamespace: string | undefined;
  /** The namespace of the request, once it is known. */
  #namespace: string | undefined;
  /** Of a blocking query. */
  #end: CallEnd | undefined;

  constructor(front: Front, target: Target, context: Context, captures: readonly string[] = []) {
    const { originalUrl } = context;
    const at = originalUrl.indexOf('?');
    super(front, target, context, at < 0 ? NO_QUERY : parseQuery(originalUrl.slice(at + 1)));
    this.#context = context;
    this.#captures = captures;
    this.secret = secretOf(this.incoming, this.queries, front);
    this.caller = callerOf(this.incoming.socket, this.secret);
  }

  get method(): Method {
    return this.target.method;
  }

  protected get heldMs(): number {
    return this.#end?.heldMs ?? 0;
  }

  get timeoutMs(): number {
    return this.front.options.limits.requestMs;
  }

  /** Lets the audit log note the request. Throws 503 if it must, and cannot. */
  beginAudit(): void {
    const { route, method } = this.target;
    this.notes = this.front.options.audit?.begin(route, method, this.caller, this.incoming.url!);
  }

  /** Counts the request against the rates of its client; throws 429. */
  countAgainstRates(): void {
    const address = clientOf(this.incoming.socket);
    this.front.rates.spendRequest(this.target, address, this.caller.tokenKey, this.startedMs);
  }

  spendLogin(limit: 'loginsPerMethod' | 'loginsPerIdentity', who: string): void {
    this.front.rates.spend(limit, who, performance.now());
  }

  spendJwtCheck(method: string): void {
    const { rates } = this.front;
    const nowMs = performance.now();
    rates.spend('jwtChecksPerAddress', clientOf(this.incoming.socket), nowMs);
    rates.spend('jwtChecksPerMethod', method, nowMs);
  }

  // ---- parameters ----

  /**
   * Checks what every endpoint takes: datacenter, partition. Looks up the namespace of the token
   * where it may be needed, which may take a barrier. Throws 400, and 503 without a leader.
   */
  prepare(): Promise<void> | void {
    const { options } = this.front;
    const control = this.incoming.headers['cache-control'];
    if (control !== undefined) checkCacheControl(control);
    this.warning = checkNames(this.queries, this.target.route);
    checkConditions(this.incoming, this.target, options.routes);
    const reason = this.method === 'GET' ? undefined : this.#header('reason');
    if (reason !== undefined) this.reason = reasonOf(reason, this.#sentAs('reason'));
    this.#checkDatacenter();
    if (this.target.route.everywhere) return;
    checkPartition(this.query('partition'), () => 'query parameter: "partition"');
    checkPartition(this.#nameIn('partition'), () => `header: "${this.#sentAs('partition')}"`);
    const { tokenKey } = this.caller;
    if (tokenKey === null || this.query('ns') || this.#header('namespace')) return;
    const { service } = options;
    this.#tokenNamespace = service.namespaceOf(tokenKey);
    if (this.#tokenNamespace !== undefined || this.flag('stale')) return;
    // Another node may have made the token a moment ago. If it stays unknown, the endpoint refuses.
    return service.catchUp(this.timeoutMs).then(() => {
      this.#tokenNamespace = service.namespaceOf(tokenKey);
    });
  }

  #checkDatacenter(): void {
    const { datacenter } = this.front.options;
    const asked = this.query('datacenter') ?? this.query('dc');
    if (asked === undefined || asked === datacenter) return;
    const here = `this cluster is ${JSON.stringify(datacenter)}`;
    // clients look for these words when they apply entries
    const entries = 'exported-services writes must not target secondary datacenters';
    const isApply = this.method === 'PUT' && this.target.route.path === '/v1/config';
    reject('unknown_datacenter', 'No path to datacenter', {
      hint: isApply ? `${here}; ${entries}` : here,
    });
  }

  param(name: string): string {
    const { params, route } = this.target;
    const at = params.indexOf(name);
    if (at < 0) throw new Error(`route ${route.path} has no parameter ${name}`);
    const text = this.#captures[at] ?? '';
    return text.includes('%') ? decodeURIComponent(text) : text;
  }

  query(name: string): string | undefined {
    return parameterOf(this.queries, name);
  }

  flag(name: string): boolean {
    return this.queries.has(name);
  }

  namespace(bodyNamespace?: unknown): string {
    this.#namespace = this.#namespaceOf(bodyNamespace);
    return this.#namespace;
  }

  #namespaceOf(bodyNamespace: unknown): string {
    if (bodyNamespace !== undefined && bodyNamespace !== '' && bodyNamespace !== null) {
      if (typeof bodyNamespace === 'string')
        return namespaceName(bodyNamespace, 'field "Namespace"');
      reject('invalid', 'Invalid field "Namespace": expected a string', { pointer: '/Namespace' });
    }
    const named = this.query('ns');
    if (named !== undefined) return namespaceName(named, 'query parameter "ns"');
    const header = this.#nameIn('namespace');
    if (header !== undefined) return namespaceName(header, 'namespace header');
    return this.#tokenNamespace ?? 'default';
  }

  protected refusedNamespace(): string {
    try {
      return this.#namespace ?? this.namespace();
    } catch {
      // the refusal of a request whose namespace is no name
      return 'default';
    }
  }

  namespaceOrAll(): string {
    const named = this.query('ns') ?? this.#nameIn('namespace');
    return named === '*' ? '*' : this.namespace();
  }

  precondition(): Match | undefined {
    return this.method === 'GET' ? undefined : matchOf(this.incoming);
  }

  readOptions(): ReadOptions {
    const options = this.#noted(readOptionsOf(this.queries, this.timeoutMs));
    return options.index === 0 ? options : { ...options, end: this.#hold() };
  }

  singleReadOptions(): ReadOptions {
    return this.#noted({ ...readOptionsOf(this.queries, this.timeoutMs), index: 0, waitMs: 0 });
  }

  #noted(options: ReadOptions): ReadOptions {
    return this.notes === undefined ? options : { ...options, notes: this.notes };
  }

  /**
   * Counts a blocking query until its response is closed; throws 429. Returns its end: then, or
   * when the server stops.
   */
  #hold(): CallEnd {
    const { held } = this.front;
    const end = new CallEnd();
    this.#end = end;
    // The client may have left during the look-up of the token.
    if (isGone(this.incoming, this.res)) end.end();
    else {
      const client = this.client();
      held.enter(client, end, this.target.route.isFeed);
      // a long response before it on its connection leaves the time limit of its own reader
      const { stalledMs } = this.front.options.limits;
      if (this.res.socket === null) this.res.setTimeout(HELD_MS_MAX + stalledMs);
      // Node reads the rest of a request after its response. This need not wait for the change.
      this.incoming.resume();
      onceGone(this.incoming, this.res, () => {
        held.leave(client, end);
        end.end();
      });
    }
    return end;
  }

  /** Returns what a header names. Repeated ones come joined by ", ", and empty ones are absent. */
  #nameIn(name: 'namespace' | 'partition'): string | undefined {
    const header = this.#header(name);
    if (header === undefined) return undefined;
    const sent = header.split(',').map((part) => part.trim());
    const [first, ...others] = sent.filter((part) => part !== '');
    if (others.some((other) => other !== first)) rejectDiffering(name);
    return first;
  }

  #header(name: PrefixedHeader): string | undefined {
    const key = this.#keyOf(name);
    return key && (this.incoming.headers[key] as string);
  }

  /** Returns under which of its names a header was sent. */
  #keyOf(name: PrefixedHeader): string | undefined {
    const { headers } = this.incoming;
    let found: string | undefined;
    for (const key of this.front.incoming[name]) {
      const value = headers[key];
      if (typeof value !== 'string' || value === '') continue;
      if (found !== undefined && headers[found] !== value) rejectDiffering(name);
      found ??= key;
    }
    return found;
  }

  /** Returns the name of a header as it was sent, for messages: `X-Consul-Reason`. */
  #sentAs(name: PrefixedHeader): string {
    const key = this.#keyOf(name) ?? this.front.incoming[name][0]!;
    return key.replace(/(?:^|-)[a-z]/g, (first) => first.toUpperCase());
  }

  // ---- body ----

  get hasTinyBody(): boolean {
    const { 'content-length': length, 'content-encoding': coding } = this.incoming.headers;
    return coding === undefined && Number(length) <= TINY_BODY_BYTES;
  }

  async body(failure: string, type: BodyType, options?: BodyOptions): Promise<JsonObject> {
    return mustBeObject(await this.bodyValue(failure, type, options), failure);
  }

  async decoded<S>(failure: string, type: Type<unknown, S>, options?: BodyOptions): Promise<S> {
    const value = await this.bodyValue(failure, type, options);
    return decodeBody(failure, mustBeObject(value, failure), type);
  }

  async bodyValue(
    failure: string,
    type: BodyType,
    { optional = false, small = false, large = false, usual }: BodyOptions = {},
  ): Promise<unknown> {
    const known = small ? false : this.#isKnown();
    // to wait takes the turns of a promise, which nearly no request needs
    const isSmall = !(known instanceof Promise ? await known : known);
    const { readBody, readLargeBody, readSmallBody } = this.front;
    const readWhole = large ? readLargeBody : readBody;
    const bytes = await (isSmall ? readSmallBody : readWhole)(this.#context, failure);
    const read = usual && named('decode', () => readUsual(bytes, usual));
    if (read !== undefined) return read;
    const text = bytes.toString('utf8');
    if (optional && text.trim() === '') return null;
    const value = parseJson(text, failure, large ? SET_VALUES_MAX : undefined);
    if (this.front.options.fieldNames === 'exact') return value;
    return respelledBody(failure, value, type, { anyCase: true, lowerCase: true });
  }

  /** Whether the request carries a token; throws 403 for one that does not exist. */
  #isKnown(): boolean | Promise<boolean> {
    const { tokenKey } = this.caller;
    if (tokenKey === null) return false;
    const { service } = this.front.options;
    if (service.namespaceOf(tokenKey) !== undefined) return true;
    return service.catchUp(this.timeoutMs).then(() => {
      if (service.namespaceOf(tokenKey) === undefined) refuse(UNKNOWN_TOKEN);
      return true;
    });
  }
}

/** A proxy may have checked another than the one that would count. */
const rejectDiffering = (name: PrefixedHeader): never =>
  reject('invalid', `The request carries two headers "${name}" that differ: send one`);
