/**
 * Follows the feed of rights of one token: one held query at a time, to one node after another.
 */
import {
  type Clock,
  ConclaveError,
  type Connection,
  inRandomOrder,
  isSecret,
  Nodes,
  requestOf,
} from './nodes.js';

const PATH = '/v1/acl/token/self/rights';
/** The SecretID of the anonymous token. */
const ANONYMOUS = 'anonymous';
/** What a node did whose feed is that of the anonymous token, although another one was sent. */
const TOKEN_LOST = 'did not get the token: a proxy may remove the header Authorization';
const PROVIDER_FAILED = 'the provider of the token failed';
/** The hold is this part of the time in which a feed is fresh, so that two fit into it. */
const HOLD_PART = 0.4;
/** What a node may add to a hold, and a network to an answer, as parts of the hold. */
const ADDED_PART = 1 / 16;
const SLACK_PART = 1 / 4;
const SLACK_MIN_MS = 250;
const ANSWER_MIN_MS = 1_000;
const EARLY_DELAY_MS = 100;

/** How a feed is followed. */
export interface FeedOptions extends Connection {
  readonly freshForMs: number;
  readonly sources: boolean;
  readonly consistent: boolean;
  readonly clock: Clock;
}

/** What a query brings. Times are those of the clock. */
export interface Answer {
  /** When the query was sent. */
  readonly sentAt: number;
  readonly index: number;
  /** When the token expires. */
  readonly expiresAt: number | undefined;
  /** The feed, parsed; undefined if it has not changed. */
  readonly feed: unknown;
}

/** Why there are no rights: the token has ended, or its feed is too large. */
export type End = 'ended' | 'too_large';

/** Who is told what queries bring. */
export interface FeedListener {
  onAnswer(answer: Answer): void;
  onEnd(why: End): void;
  onError(sentence: string): void;
}

/** Counts what happened. */
export interface FeedCounts {
  queries: number;
  changed: number;
  unchanged: number;
  failures: number;
  refusals: number;
}

/** Follows a feed until it is closed, or its token has ended for good. */
export class FeedReader {
  readonly counts: FeedCounts = { queries: 0, changed: 0, unchanged: 0, failures: 0, refusals: 0 };
  readonly nodes: Nodes;
  /** The token that is asked with; undefined until the provider has named one. */
  secret: string | undefined;
  readonly #options: FeedOptions;
  readonly #listener: FeedListener;
  readonly #holdMs: number;
  #etag: string | undefined;
  #index = 0;
  /** Whether the next query is held. After a failure it is not, to be answered at once. */
  #holds = false;
  /** Whether an index was below an earlier one: a consistent answer has to confirm it. */
  #doubts = false;
  /** When the provider is asked for the next token. */
  #renewAt = Number.POSITIVE_INFINITY;
  #asking: Promise<void> | undefined;
  /** The token that the provider has named, for the next query. */
  #provided: string | undefined;
  #isClosed = false;
  #interrupt: () => void = () => {};

  constructor(options: FeedOptions, listener: FeedListener) {
    this.#options = options;
    this.#listener = listener;
    this.#holdMs = options.freshForMs * HOLD_PART;
    const random = (): number => options.clock.random();
    this.nodes = new Nodes(inRandomOrder(options.addresses, random), 0, random);
    if (options.tokenProvider === undefined) this.secret = options.token ?? '';
    void this.#follow();
  }

  close(): void {
    this.#isClosed = true;
    this.#interrupt();
  }

  async #follow(): Promise<void> {
    for (let delay: number | undefined = 0; delay !== undefined && !this.#isClosed; ) {
      if (delay > 0) await this.#wait(delay);
      if (!this.#isClosed) delay = await this.#step();
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(ms, resolve);
      this.#interrupt = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Asks once. Returns the milliseconds until the next query, or undefined if there is none. */
  async #step(): Promise<number | undefined> {
    const hasToken = await this.#hasToken();
    if (this.#isClosed) return undefined;
    if (!hasToken) return this.nodes.failed();
    const { address } = this.nodes;
    const isConsistent = this.#options.consistent || this.#doubts;
    const sentAt = this.#options.clock.now();
    this.counts.queries += 1;
    try {
      return await this.#query(address, isConsistent, (response) =>
        response.status === 200 || (response.status === 304 && this.#etag !== undefined)
          ? this.#accept(response, sentAt, isConsistent)
          : this.#refused(response, address),
      );
    } catch (failure) {
      if (this.#isClosed) return undefined;
      return this.#failed(ConclaveError.unreachable(address, failure).message);
    }
  }

  #failed(sentence: string, retryAfter?: string | null): number {
    this.counts.failures += 1;
    this.#holds = false;
    this.#listener.onError(sentence);
    return this.nodes.failed(retryAfter);
  }

  /** Asks the provider for a token where one is needed. Waits for it if there is none meanwhile. */
  async #hasToken(): Promise<boolean> {
    const { tokenProvider, clock } = this.#options;
    const isDue = this.secret === undefined || clock.now() >= this.#renewAt;
    if (tokenProvider !== undefined && isDue) {
      this.#asking ??= this.#ask(tokenProvider);
      if (this.secret === undefined) await this.#answered();
    }
    const secret = this.#provided ?? this.secret;
    this.#provided = undefined;
    if (secret !== this.secret) this.#forget(secret);
    return secret !== undefined;
  }

  /** Waits for the provider as long as for a node. One that is silent is asked again. */
  async #answered(): Promise<void> {
    const ms = Math.max(ANSWER_MIN_MS, this.#holdMs);
    const isLate = this.#wait(ms).then(() => !this.#isClosed);
    if (await Promise.race([this.#asking, isLate])) {
      this.#asking = undefined;
      this.#listener.onError(PROVIDER_FAILED);
    }
    this.#interrupt();
  }

  async #ask(provider: NonNullable<Connection['tokenProvider']>): Promise<void> {
    try {
      const secret: unknown = await provider();
      if (!isSecret(secret)) throw new TypeError();
      this.#provided = secret;
    } catch {
      this.#listener.onError(PROVIDER_FAILED);
    }
    this.#asking = undefined;
  }

  #forget(secret: string | undefined): void {
    this.secret = secret;
    this.#etag = undefined;
    this.#index = 0;
    this.#holds = false;
    this.#renewAt = Number.POSITIVE_INFINITY;
  }

  async #query<T>(
    address: string,
    isConsistent: boolean,
    use: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { sources, clock, fetch = globalThis.fetch } = this.#options;
    const query = new URLSearchParams();
    if (sources) query.set('sources', 'true');
    if (isConsistent) query.set('consistent', 'true');
    let timeoutMs = Math.max(ANSWER_MIN_MS, this.#holdMs);
    if (this.#holds) {
      query.set('index', String(this.#index));
      query.set('wait', `${Math.round(this.#holdMs)}ms`);
      const slackMs = Math.max(SLACK_MIN_MS, this.#holdMs * SLACK_PART);
      timeoutMs = this.#holdMs * (1 + ADDED_PART) + slackMs;
    }
    const aborter = new AbortController();
    this.#interrupt = () => aborter.abort();
    const cancel = clock.after(timeoutMs, this.#interrupt);
    try {
      const headers = this.#etag && { 'If-None-Match': this.#etag };
      const request = requestOf(this.#options, this.secret!, aborter.signal, headers);
      return await use(await fetch(`${address}${PATH}?${query}`, request));
    } finally {
      cancel();
    }
  }

  async #accept(response: Response, sentAt: number, isConsistent: boolean): Promise<number> {
    const { headers, status } = response;
    const feed: unknown = status === 200 ? await response.json() : undefined;
    const { Anonymous, Index, ExpiresInMs } = Object(feed);
    if (Anonymous === true && this.secret !== '' && this.secret !== ANONYMOUS)
      return this.#failed(`${new URL(this.nodes.address).host} ${TOKEN_LOST}`);
    const index = Number(headers.get('x-consul-index') ?? Index);
    if (!Number.isSafeInteger(index)) throw new TypeError('no index');
    this.#doubts = index < this.#index && !isConsistent;
    if (this.#doubts) {
      this.#holds = false;
      return 0;
    }
    const wasHeld = this.#holds;
    const { clock, freshForMs } = this.#options;
    const leftMs = Number(headers.get('x-consul-expires-in-ms') ?? ExpiresInMs ?? Number.NaN);
    const expiresAt = Number.isNaN(leftMs) ? undefined : sentAt + leftMs;
    if (expiresAt !== undefined && this.#renewAt === Number.POSITIVE_INFINITY)
      this.#renewAt = expiresAt - Math.min(2 * freshForMs, leftMs / 2);
    this.#index = index;
    if (status === 200) this.#etag = headers.get('etag') ?? undefined;
    this.#holds = this.#etag !== undefined;
    this.nodes.succeeded();
    this.counts[status === 200 ? 'changed' : 'unchanged'] += 1;
    this.#listener.onAnswer({ sentAt, index, expiresAt, feed });
    if (!this.#holds) return this.#holdMs;
    // A node that stops, or a proxy, may answer before the hold is over: not to be asked in a loop.
    const isEarly = wasHeld && status === 304 && clock.now() - sentAt < this.#holdMs;
    return isEarly ? EARLY_DELAY_MS : 0;
  }

  async #refused(response: Response, address: string): Promise<number | undefined> {
    const { status, code, retryAfter } = await ConclaveError.of(response);
    if (status !== 401 && status !== 413 && code !== 'acl_not_found') {
      const asksToWait = status === 429 || status === 503;
      const sentence = `${new URL(address).host} answered ${status} ${code}`.trim();
      return this.#failed(sentence, asksToWait ? retryAfter : null);
    }
    this.counts.refusals += 1;
    const { tokenProvider, freshForMs } = this.#options;
    const isTooLarge = status === 413;
    this.#forget(isTooLarge || tokenProvider === undefined ? this.secret : undefined);
    this.#listener.onEnd(isTooLarge ? 'too_large' : 'ended');
    if (isTooLarge) return freshForMs;
    return tokenProvider === undefined ? undefined : this.nodes.failed();
  }
}
