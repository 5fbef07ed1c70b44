/**
 * HTTP requests of this node to the servers that auth methods name. Each exchange is limited in
 * time, size and redirects, and goes only where the address rules allow.
 */

import { isUtf8 } from 'node:buffer';
import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { reject } from '../../base/errors.js';
import { request as httpRequest } from '../../base/node-http.js';
import { isObject } from '../../languages/fields.js';
import { parseExactJson } from '../../languages/json.js';
import { type AddressRules, addressProblem, urlProblem } from './addresses.js';
import type { FetchLimits } from './types.js';

/** A request to another server. */
export interface Exchange {
  readonly url: URL;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** CA certificates in PEM form to trust instead of the default ones. */
  readonly ca?: string | undefined;
}
/** The whole reply of another server. */
export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** A failed exchange. The message is short and contains no header, body or query. */
export class FetchFault extends Error {}

/** Redirects of one exchange. Each target is checked by the rules again. */
const REDIRECTS_MAX = 3;

/** Resolves a host to all of its addresses, as `dns.lookup` does. */
export type Resolve = (
  host: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface OutboundOptions {
  readonly limits: FetchLimits;
  readonly rules: AddressRules;
  readonly resolve?: Resolve;
}

/** Sends the requests of all auth methods of a node. */
export class Outbound {
  readonly #limits: FetchLimits;
  readonly #rules: AddressRules;
  readonly #resolve: Resolve;
  /** Exchanges in flight by the namespace of their method. */
  readonly #inFlight = new Map<string, number>();
  #count = 0;

  constructor({ limits, rules, resolve = lookup }: OutboundOptions) {
    this.#limits = limits;
    this.#rules = rules;
    this.#resolve = resolve;
  }

  get limits(): FetchLimits {
    return this.#limits;
  }

  /**
   * Returns why a method of a namespace may not use a URL; undefined if it may. See `urlProblem`.
   */
  problem(url: URL, namespace: string): string | undefined {
    return urlProblem(url, namespace, this.#rules);
  }

  /**
   * Sends a request for a method of a namespace and reads the whole reply. Rejects with FetchFault,
   * and with ApiError `too_many` if too many exchanges are in flight. One namespace may have half
   * of them.
   */
  async exchange(what: Exchange, namespace: string): Promise<Reply> {
    const { issuerRequests } = this.#limits;
    const own = this.#inFlight.get(namespace) ?? 0;
    if (this.#count >= issuerRequests || own >= Math.ceil(issuerRequests / 2)) {
      reject('too_many', 'This node sends too many requests to issuers: try again in a moment');
    }
    this.#note(namespace, 1);
    try {
      return await this.#follow(what, namespace);
    } finally {
      this.#note(namespace, -1);
    }
  }

  #note(namespace: string, change: 1 | -1): void {
    this.#count += change;
    const own = (this.#inFlight.get(namespace) ?? 0) + change;
    if (own === 0) this.#inFlight.delete(namespace);
    else this.#inFlight.set(namespace, own);
  }

  async #follow(what: Exchange, namespace: string): Promise<Reply> {
    const limits = this.#limits;
    const signal = AbortSignal.timeout(limits.timeoutMs);
    let { url } = what;
    for (let hops = 0; ; hops++) {
      const problem = this.problem(url, namespace);
      if (problem !== undefined) throw new FetchFault(problem);
      const resolve = this.#resolver(url, namespace);
      const response = await send({ ...what, url }, { signal, resolve }, limits.timeoutMs);
      const status = response.statusCode ?? 0;
      const target = redirectTarget(what, url, response);
      if (target === undefined) return { status, text: await read(response, signal, limits) };
      response.destroy();
      if (hops === REDIRECTS_MAX) {
        throw new FetchFault(`${url.host} redirects more than ${REDIRECTS_MAX} times`);
      }
      url = target;
    }
  }

  /**
   * Returns a lookup that checks addresses by the rules. The socket connects to the checked
   * address, so DNS rebinding (another address at the next lookup) cannot bypass the check.
   */
  #resolver(url: URL, namespace: string): LookupFunction {
    return (host, options, done) => {
      this.#resolve(host, { ...options, all: true }, (error, addresses) => {
        const problem = (addresses ?? [])
          .map(({ address }) => addressProblem(url, address, namespace, this.#rules))
          .find((found) => found !== undefined);
        const [first] = addresses ?? [];
        if (error !== null) done(error, '');
        else if (problem !== undefined) done(new FetchFault(problem), '');
        else if (first === undefined) done(new FetchFault('the name has no address'), '');
        else if (options.all === true) done(null, addresses);
        else done(null, first.address, first.family);
      });
    };
  }
}

/**
 * Returns the target of a redirect that may be followed; undefined for other replies. Requests with
 * a body or credentials are not redirected. Throws FetchFault for a redirect from TLS to plain
 * text.
 */
function redirectTarget(what: Exchange, from: URL, response: IncomingMessage): URL | undefined {
  const { location } = response.headers;
  const status = response.statusCode ?? 0;
  if (location === undefined || status < 300 || status > 399 || what.method === 'POST')
    return undefined;
  if (what.headers?.['authorization'] !== undefined) return undefined;
  const target = URL.canParse(location, from.href)
    ? httpUrl(new URL(location, from).href)
    : undefined;
  if (target === undefined || (from.protocol === 'https:' && target.protocol !== 'https:')) {
    throw new FetchFault(`${from.host} redirects to a URL that this node does not follow`);
  }
  return target;
}

function send(
  what: Exchange,
  { signal, resolve }: { readonly signal: AbortSignal; readonly resolve: LookupFunction },
  timeoutMs: number,
): Promise<IncomingMessage> {
  const { url, method = 'GET', headers = {}, body, ca } = what;
  const options: RequestOptions & { ca?: string } = {
    method,
    signal,
    agent: false,
    lookup: resolve,
    headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
    ...(ca === undefined ? {} : { ca }),
  };
  return new Promise<IncomingMessage>((resolve, fail) => {
    // Node throws at once for a header or certificate that cannot be used.
    const request =
      url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    request.once('response', resolve);
    request.on('error', fail);
    // A change of protocol that the server wants ends the request without an error.
    request.once('close', () => fail(new Error('no reply')));
    request.end(body);
  }).catch((error: unknown) => {
    throw new FetchFault(`${url.host}: ${reasonOf(error, signal, timeoutMs)}`);
  });
}

async function read(
  response: IncomingMessage,
  signal: AbortSignal,
  limits: FetchLimits,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limits.bodyBytesMax) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new FetchFault(reasonOf(error, signal, limits.timeoutMs));
  }
  if (size > limits.bodyBytesMax)
    throw new FetchFault(`the reply is longer than ${limits.bodyBytesMax} bytes`);
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes)) throw new FetchFault('the reply is not UTF-8');
  return bytes.toString('utf8');
}

function reasonOf(error: unknown, signal: AbortSignal, timeoutMs: number): string {
  if (signal.aborted) return `no reply within ${timeoutMs} ms`;
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

/** Parses a URL of http or https without user and password; undefined for anything else. */
export function httpUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  return web && url.username === '' && url.password === '' ? url : undefined;
}

/**
 * Parses the reply of a server as a JSON object, as strictly as a body: nesting without end takes
 * long to parse. Throws FetchFault.
 */
export function jsonObject({ status, text }: Reply, host: string): Record<string, unknown> {
  if (status < 200 || status > 299) throw new FetchFault(`${host} answers with status ${status}`);
  const parsed = parseExactJson(text);
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  throw new FetchFault(`${host} does not answer with a JSON object`);
}
