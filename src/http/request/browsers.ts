/**
 * Keeps pages of other sites from reaching this server through a browser inside the network: checks
 * the host that is asked for (against DNS rebinding) and the origin of the request.
 */
import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../../base/address.js';
import type { Refusal } from '../../base/errors.js';
import type { Front } from '../front.js';
import { refuseEarly } from '../response/error-handling.js';
import { headerOf } from '../response/response-headers.js';
import type { Middleware } from './context.js';

interface BrowserOptions {
  /** Hosts without port; `*` allows any. Undefined: loopback names and addresses. */
  readonly allowedHosts: readonly string[] | undefined;
  /** Whether pages are served, to which other sites may link. */
  readonly hasPages: boolean;
  /** The operator's own `Access-Control-Allow-Origin`, if any: pages of that origin are let in. */
  readonly allowedOrigin: string | undefined;
  /**
   * Paths that answer to any host: an orchestrator probes the address of a container, and a page
   * that reaches them learns no more than that the server is there.
   */
  readonly probes: ReadonlySet<string>;
}

/** Spellings of Host that are allowed, cached so that each is checked once. */
const KNOWN_MAX = 64;

/** Refuses requests for other hosts and from pages of other sites. */
export function browserCheck(front: Front): Middleware {
  const { allowedHosts, responseHeaders, routes, ui } = front.options;
  const check = new BrowserCheck({
    allowedHosts,
    hasPages: ui !== undefined,
    allowedOrigin: headerOf(responseHeaders, 'access-control-allow-origin'),
    probes: new Set(routes.filter(({ counts }) => counts === 'probe').map(({ path }) => path)),
  });
  return (context, next) => {
    const why = check.problem(context.req);
    return why === undefined ? next() : refuseEarly(front, context, why);
  };
}

class BrowserCheck {
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

  /** Returns why a request is refused; undefined if it is not. */
  problem(req: IncomingMessage): Refusal | undefined {
    const { headers } = req;
    if (hasTwoHosts(req.rawHeaders)) {
      return { code: 'invalid', message: 'The request has more than one Host header: send one' };
    }
    const { host } = headers;
    if (host === undefined && req.httpVersion === '1.1') {
      return { code: 'invalid', message: 'The request has no Host header: send one' };
    }
    const strange = this.#isStrange(host) ? host : this.#strangeTarget(req.url);
    if (strange !== undefined && !this.#isProbe(req.url)) {
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
        message:
          'Permission denied: the request comes from a page of another origin, ' + quoted(origin),
        hint: 'an Access-Control-Allow-Origin in http.responseHeaders allows pages of that origin',
      };
    }
    if (site !== 'cross-site' || (this.#options.hasPages && followsLink(req))) return undefined;
    return {
      code: 'permission_denied',
      message: 'Permission denied: the request comes from a page of another site',
    };
  }

  #isProbe(url = '/'): boolean {
    return this.#options.probes.has(url.split('?', 1)[0]!);
  }

  /** HTTP/1.0 does not require Host, and no browser uses it. */
  #isStrange(host: string | undefined): boolean {
    if (this.#takesAny || host === undefined || this.#known.has(host)) return false;
    const name = nameOf(host);
    if (!(this.#allowed?.has(name) ?? isLoopback(name))) return true;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.add(host);
    return false;
  }

  /** Returns the host of a target in absolute form, which takes precedence over the header. */
  #strangeTarget(url = '/'): string | undefined {
    if (url.startsWith('/')) return undefined;
    const host = /^https?:\/\/([^/?]*)/i.exec(url)?.[1];
    return this.#isStrange(host) ? host : undefined;
  }
}

/** Whether a window goes to a page of the web UI. Links of other sites do that, and no more. */
const followsLink = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' &&
  /^\/(?:ui(?:[/?]|$)|(?:\?|$))/.test(url ?? '') &&
  headers['sec-fetch-mode'] === 'navigate' &&
  headers['sec-fetch-dest'] === 'document';

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));

/** Node keeps the first of several Host headers; a proxy may have checked another. */
function hasTwoHosts(raw: readonly string[]): boolean {
  let count = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

/** Returns a host without port, brackets of an IPv6 address, and the final dot. */
function nameOf(host: string): string {
  const bare = host.startsWith('[')
    ? host.slice(1, host.indexOf(']'))
    : host.replace(/:\d*$/, '').replace(/\.$/, '');
  return bare.toLowerCase();
}

const isOwn = (origin: string, host: string | undefined): boolean =>
  host !== undefined &&
  /^https?:\/\/(.*)$/i.exec(origin)?.[1]?.toLowerCase() === host.toLowerCase();
