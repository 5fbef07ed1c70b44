/**
 * What keeps pages of other sites from using a browser inside the network as their arm: the names
 * this server answers to (against DNS rebinding), and where a request comes from.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../address.js';
import type { Refusal } from '../errors.js';

export interface BrowserOptions {
  /**
   * Names and addresses in `Host`, without port; `*` for any. Undefined: loopback names and
   * addresses.
   */
  readonly allowedHosts: readonly string[] | undefined;
  /** The operator's own `Access-Control-Allow-Origin`, if any: pages of that origin are welcome. */
  readonly allowedOrigin: string | undefined;
}

/** Spellings of Host that were found good, kept so that each is looked at once. */
const KNOWN_MAX = 64;

export class BrowserCheck {
  readonly #options: BrowserOptions;
  readonly #allowed: ReadonlySet<string> | undefined;
  readonly #takesAny: boolean;
  readonly #known = new Set<string>();

  constructor(options: BrowserOptions) {
    this.#options = options;
    this.#allowed =
      options.allowedHosts && new Set(options.allowedHosts.map((name) => name.toLowerCase()));
    this.#takesAny = this.#allowed?.has('*') ?? false;
  }

  /** Why a request is not looked at any further. */
  problem(req: IncomingMessage): Refusal | undefined {
    const { headers } = req;
    if (hasTwoHosts(req.rawHeaders)) {
      return { code: 'invalid', message: 'The request has more than one Host header: send one' };
    }
    const { host } = headers;
    const strange = this.#isStrange(host) ? host : this.#strangeTarget(req.url);
    if (strange !== undefined) {
      return {
        code: 'permission_denied',
        message: `Permission denied: this server does not answer to the host ${quoted(strange)}`,
        hint: 'http.allowedHosts in its configuration names those it answers to',
      };
    }
    const { origin } = headers;
    const site = headers['sec-fetch-site'];
    if (origin === undefined && site !== 'cross-site') return undefined;
    const { allowedOrigin } = this.#options;
    if (allowedOrigin === '*' || (origin !== undefined && origin === allowedOrigin)) {
      return undefined;
    }
    if (origin !== undefined && !isOwn(origin, host)) {
      return {
        code: 'permission_denied',
        message: `Permission denied: the request comes from a page of another origin, ${quoted(origin)}`,
        hint: 'an Access-Control-Allow-Origin in http.responseHeaders lets pages of that origin in',
      };
    }
    if (site !== 'cross-site') return undefined;
    return {
      code: 'permission_denied',
      message: 'Permission denied: the request comes from a page of another site',
    };
  }

  /** HTTP/1.0 needs no Host, and no browser speaks it. */
  #isStrange(host: string | undefined): boolean {
    if (this.#takesAny || host === undefined || this.#known.has(host)) return false;
    const name = nameOf(host);
    if (!(this.#allowed?.has(name) ?? isLoopback(name))) return true;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.add(host);
    return false;
  }

  /** The host of a target in absolute form, which counts more than the header. */
  #strangeTarget(url = '/'): string | undefined {
    if (url.startsWith('/')) return undefined;
    const host = /^https?:\/\/([^/?]*)/i.exec(url)?.[1];
    return this.#isStrange(host) ? host : undefined;
  }
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));

/** Node shows the first of several Host headers alone; a proxy may have looked at another. */
function hasTwoHosts(raw: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

/** A host without its port, the brackets of an IPv6 address and the dot of the root. */
function nameOf(host: string): string {
  const bare = host.startsWith('[')
    ? host.slice(1, host.indexOf(']'))
    : host.replace(/:\d*$/, '').replace(/\.$/, '');
  return bare.toLowerCase();
}

const isOwn = (origin: string, host: string | undefined): boolean =>
  host !== undefined &&
  /^https?:\/\/(.*)$/i.exec(origin)?.[1]?.toLowerCase() === host.toLowerCase();
