/** Calls a Conclave server: any of its nodes, again where that is safe. */
import {
  CLOCK,
  type Clock,
  ConclaveError,
  type Connection,
  inRandomOrder,
  isSecret,
  Nodes,
  requestOf,
} from './nodes.js';

/** How a server is called. */
export interface ClientOptions extends Connection {
  /** How long a call takes at most, apart from what a node holds it. Default 30,000 ms. */
  readonly timeoutMs?: number;
  /** For tests. */
  readonly clock?: Clock;
}

/** What one call does differently. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** More headers, such as `If-Match`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a call brings. */
export interface Answer<T> {
  readonly body: T;
  /** The index of the answer, for the next blocking query. */
  readonly index: number | undefined;
  readonly headers: Headers;
}

/** An operation, as the functions of operations name it. */
interface Asked {
  readonly method: string;
  /** Below the address of a node, with names of parameters in braces; or a whole URL. */
  readonly path: string;
  readonly type?: string;
  readonly answer?: 'text' | 'stream';
  /** Whether nothing is changed, although the method is not GET. */
  readonly isRead?: boolean;
}

/** What the functions of operations call. */
export interface Caller {
  call<T>(asked: Asked, given: object, options?: CallOptions): Promise<Answer<T>>;
}

const TIMEOUT_MS = 30_000;
/** How Node says that there was no connection, on which something could have been sent. */
const NOT_SENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'];
const JSON_TYPE = 'application/json';
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
/** How long a node holds a blocking query without `wait`, and at most; and what it adds to that. */
const HELD_MS = 300_000;
const HELD_MS_MAX = 600_000;
const ADDED_PART = 1 / 16;
/** How long a node is asked to hold one: `fetch` of Node waits 300 s for an answer to begin. */
const WAIT_MS_MAX = 270_000;
/**
 * Whether nothing has been done: no node was reached, or it has no leader, does not serve, or asks
 * to wait. A 429 that does not is an answer: the cluster is not healthy.
 */
const isRetried = ({ status, code, retryAfter }: ConclaveError): boolean =>
  (status === 429 && retryAfter !== null) || status === 503 || code === 'unreachable';

/** A server, and the token to call it with. */
export class Conclave implements Caller {
  readonly #options: ClientOptions;
  readonly #addresses: readonly string[];
  readonly #clock: Clock;
  #at = 0;
  #secret: string | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#addresses = inRandomOrder(options.addresses);
    this.#clock = options.clock ?? CLOCK;
    if (options.tokenProvider === undefined) this.#secret = options.token ?? '';
  }

  /** Calls an operation. Throws ConclaveError. */
  async call<T>(asked: Asked, given: object, options: CallOptions = {}): Promise<Answer<T>> {
    const { body, ...parameters } = given as { readonly body?: unknown };
    // A stream begins at once.
    const waitMs = asked.answer === 'stream' ? 0 : heldMs(given);
    const wait = waitMs > WAIT_MS_MAX ? { wait: `${WAIT_MS_MAX}ms` } : {};
    const path = filled(asked.path, { ...parameters, ...wait });
    const { timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS, signal } = options;
    const deadline = this.#clock.now() + timeoutMs + waitMs * (1 + ADDED_PART);
    // It cannot be sent twice.
    const isOnce = body instanceof ReadableStream;
    const nodes = new Nodes(this.#addresses, this.#at);
    for (let hasRenewed = false; ; ) {
      const url = path.startsWith('/') ? nodes.address + path : path;
      const leftMs = Math.max(0, deadline - this.#clock.now());
      this.#secret ??= await this.#provided(leftMs, signal);
      const secret = this.#secret;
      const once = { ...options, timeoutMs: leftMs };
      const outcome = await this.#attempt<T>(asked, url, body, secret, once);
      if (!(outcome instanceof ConclaveError)) return outcome;
      const isEnded = outcome.status === 401 || outcome.code === 'acl_not_found';
      if (isEnded && this.#options.tokenProvider !== undefined && !hasRenewed) {
        hasRenewed = true;
        // Another call may have asked the provider meanwhile.
        if (this.#secret === secret) this.#secret = undefined;
        if (!isOnce) continue;
      }
      const delayMs = nodes.failed(outcome.retryAfter);
      if (isRetried(outcome) || outcome.status === 0) this.#at = nodes.at;
      const isOver = signal?.aborted || this.#clock.now() + delayMs >= deadline;
      if (isOver || !isRetried(outcome) || isOnce) throw outcome;
      if (delayMs > 0) await this.#wait(delayMs, signal);
    }
  }

  /** Asks the provider. Throws ConclaveError for no secret, or silence until the call is over. */
  async #provided(ms: number, signal: AbortSignal | undefined): Promise<string> {
    const { tokenProvider = () => '' } = this.#options;
    const answered = new AbortController();
    const ends = AbortSignal.any([answered.signal, ...(signal ? [signal] : [])]);
    const silence = this.#wait(ms, ends).then(() => ends);
    try {
      const secret: unknown = await Promise.race([tokenProvider(), silence]);
      if (isSecret(secret)) return secret;
      const isLate = secret === ends;
      const why = isLate
        ? 'the token provider did not answer in time'
        : 'the provider of the token failed';
      throw new ConclaveError(0, 'unreachable', why);
    } finally {
      answered.abort();
    }
  }

  /** Waits, until the signal ends the call at most. */
  async #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return;
    const over = new AbortController();
    await new Promise<void>((done) => {
      const cancel = this.#clock.after(ms, done);
      const end = (): void => {
        cancel();
        done();
      };
      signal?.addEventListener('abort', end, { signal: over.signal });
    });
    over.abort();
  }

  /** Asks one node. Returns why there is no answer. */
  async #attempt<T>(
    asked: Asked,
    url: string,
    body: unknown,
    secret: string,
    { timeoutMs = 0, signal, headers }: CallOptions,
  ): Promise<Answer<T> | ConclaveError> {
    const { method, type = JSON_TYPE, answer, isRead = method === 'GET' } = asked;
    const { fetch = globalThis.fetch } = this.#options;
    if (signal?.aborted) return ConclaveError.unreachable(url, signal.reason);
    const aborter = new AbortController();
    const abort = (): void => aborter.abort(signal?.reason);
    // That of the call goes on to end a stream.
    const ends =
      answer === 'stream' && signal ? AbortSignal.any([aborter.signal, signal]) : aborter.signal;
    const cancel = this.#clock.after(timeoutMs, abort);
    signal?.addEventListener('abort', abort);
    const isJson = /json$/.test(type);
    try {
      const response = await fetch(url, {
        ...requestOf(this.#options, secret, ends, {
          ...headers,
          ...(body !== undefined && { 'Content-Type': type }),
        }),
        method,
        ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as string) }),
        ...(!isJson && { duplex: 'half' }),
      });
      if (!response.ok) return await ConclaveError.of(response);
      const index = Number(response.headers.get('x-consul-index') ?? Number.NaN);
      return {
        body: (answer === 'stream' ? response.body : await response[answer ?? 'json']()) as T,
        index: Number.isNaN(index) ? undefined : index,
        headers: response.headers,
      };
    } catch (failure) {
      const error = ConclaveError.unreachable(url, failure);
      // A write that was sent may still happen.
      const isUnknown = !isRead && !NOT_SENT.includes(String(error.problem['failure']));
      const { status, message } = error;
      return isUnknown ? new ConclaveError(status, 'outcome_unknown', message) : error;
    } finally {
      cancel();
      signal?.removeEventListener('abort', abort);
    }
  }
}

/** Puts parameters into a path, and the others behind it. */
function filled(path: string, parameters: object): string {
  const query = new URLSearchParams();
  let made = path;
  for (const [name, value] of Object.entries(parameters)) {
    const place = `{${name}}`;
    const text = String(value);
    if (!made.includes(place)) {
      if (value !== undefined && value !== false) query.set(name, text);
    } else if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} must not be "${text}"`);
    else made = made.replace(place, () => encodeURIComponent(text));
  }
  return query.size === 0 ? made : `${made}?${query}`;
}

/** The milliseconds for which a node may hold a blocking query; 0 for other calls. */
function heldMs({ index, wait }: { readonly index?: unknown; readonly wait?: unknown }): number {
  if (index === undefined || /^0*$/.test(String(index))) return 0;
  const parts = [...String(wait).matchAll(/([\d.]+)(ns|us|ms|s|m|h)/g)];
  const askedMs = parts.reduce((ms, [, n, unit]) => ms + Number(n) * UNIT_MS[unit!]!, 0);
  return Math.min(askedMs || HELD_MS, HELD_MS_MAX);
}
