/** The addresses of nodes, when they are asked again, and how they refuse. */

/** How nodes are reached. */
export interface Connection {
  /** Base URLs of nodes, such as `https://node1:8500`. They are asked in a random order. */
  readonly addresses: readonly string[];
  /** The SecretID of the token. Without it and `tokenProvider`, requests are anonymous. */
  readonly token?: string;
  /** Returns the SecretID of a live token. To answer with a blank text is to fail. */
  readonly tokenProvider?: () => string | Promise<string>;
  /** More options for `fetch`; in Node for instance `dispatcher`, an agent of undici with a CA. */
  readonly tlsOptions?: object;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** Time, as the tests replace it. */
export interface Clock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls a function later. Returns what prevents it. */
  after(ms: number, call: () => void): () => void;
  /** A number from 0 to 1. */
  random(): number;
}

/** The clock of the process. */
export const CLOCK: Clock = {
  now: () => performance.now(),
  after: (ms, call) => {
    // A timer takes 31 bits.
    const timer = setTimeout(call, Math.min(ms, 2 ** 31 - 1));
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

const DELAY_MS = 100;
const DELAY_MAX_MS = 5_000;
/** The longest pause that an answer is given: the next node may well answer. */
const RETRY_AFTER_MAX_MS = 30_000;

/** Returns base URLs without their last slash, in a random order. Throws if there are none. */
export function inRandomOrder(
  addresses: readonly string[],
  random = Math.random,
): readonly string[] {
  if (addresses.length === 0) throw new TypeError('addresses are missing');
  return addresses
    .map((address) => {
      const { protocol, username, href } = new URL(address);
      if (!/^https?:$/.test(protocol) || username !== '')
        throw new TypeError('an address is a URL of http or https without a user');
      return { order: random(), url: href.replace(/\/$/, '') };
    })
    .sort((a, b) => a.order - b.order)
    .map(({ url }) => url);
}

/** Takes turns among nodes, for one request after the other. */
export class Nodes {
  readonly #addresses: readonly string[];
  #at: number;
  readonly #random: () => number;
  #failures = 0;

  constructor(addresses: readonly string[], at = 0, random = Math.random) {
    this.#addresses = addresses;
    this.#at = at;
    this.#random = random;
  }

  get at(): number {
    return this.#at;
  }
  get address(): string {
    return this.#addresses[this.#at]!;
  }
  succeeded(): void {
    this.#failures = 0;
  }
  /** Turns to the next node. Returns the milliseconds until it is asked, no less than usual. */
  failed(retryAfter?: string | null): number {
    this.#at = (this.#at + 1) % this.#addresses.length;
    this.#failures += 1;
    const askedMs = Number.parseInt(retryAfter ?? '', 10) * 1_000 || 0;
    const doubledMs = this.#failures === 1 ? 0 : DELAY_MS * 2 ** (this.#failures - 2);
    const leastMs = Math.min(askedMs, RETRY_AFTER_MAX_MS);
    return Math.max(leastMs, Math.min(DELAY_MAX_MS, doubledMs)) * (1 + this.#random() / 2);
  }
}

/** Why a node refused a request: a problem document (RFC 9457), or what is known without one. */
export class ConclaveError extends Error {
  readonly status: number;
  /** What programs branch on, such as `not_found`; `unreachable` if no node answered. */
  readonly code: string;
  /** The members of the problem document. */
  readonly problem: Readonly<Record<string, unknown>>;
  /** The header of this name. */
  readonly retryAfter: string | null;

  constructor(
    status: number,
    code: string,
    detail: string,
    problem = {},
    retryAfter: string | null = null,
  ) {
    super(detail);
    this.name = 'ConclaveError';
    this.status = status;
    this.code = code;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  /** Reads what an answer refuses with. */
  static async of(response: Response): Promise<ConclaveError> {
    const { status, headers } = response;
    const text = await response.text();
    let problem: Record<string, unknown> = {};
    try {
      problem = JSON.parse(text) ?? {};
    } catch {
      // a sentence, or what a proxy says
    }
    const { code, detail = text.trim() || `status ${status}` } = problem;
    const isCode = typeof code === 'string' && /^\w{1,40}$/.test(code);
    const known = text.startsWith('ACL not found') ? 'acl_not_found' : isCode ? code : '';
    const retryAfter = headers.get('retry-after');
    return new ConclaveError(status, known, String(detail), problem, retryAfter);
  }

  /** A request that no answer came to. Only the code of the failure is told. */
  static unreachable(address: string, failure: unknown): ConclaveError {
    const { cause, name } = Object(failure) as { cause?: { code?: unknown }; name?: unknown };
    const why = cause?.code ?? name ?? 'failed';
    const detail = `${new URL(address).host} did not answer (${why})`;
    return new ConclaveError(0, 'unreachable', detail, { failure: why });
  }
}

/** Whether this can be a secret. One that is blank would be sent as none: the anonymous token. */
export const isSecret = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '';

/** For browsers. */
const ALONE = { cache: 'no-store', credentials: 'omit' } as const;

/**
 * What all requests have: the token, and neither cookies nor the cache of a browser. Errors are
 * asked for as problem documents.
 */
export function requestOf(
  { tlsOptions }: Connection,
  secret: string,
  signal: AbortSignal,
  more?: Readonly<Record<string, string>> | '',
): RequestInit {
  const headers = { Accept: 'application/json, application/problem+json', ...more };
  return {
    ...tlsOptions,
    headers: secret === '' ? headers : { ...headers, Authorization: `Bearer ${secret}` },
    signal,
    redirect: 'error',
    ...ALONE,
  };
}
