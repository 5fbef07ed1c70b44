/** A clock that is moved by hand, and a server whose answers are given by hand. */
import { RightsCache, type RightsOptions } from '../../clients/typescript/src/cache.js';
import type { Clock } from '../../clients/typescript/src/nodes.js';

/** Lets everything go on that waits for nothing but promises. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Time that stands still until it is moved. */
class FakeClock implements Clock {
  #nowMs = 1_000_000;
  #timers = new Set<{ readonly at: number; readonly call: () => void }>();

  now(): number {
    return this.#nowMs;
  }
  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#nowMs + ms, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
  random(): number {
    return Math.random();
  }
  get timers(): number {
    return this.#timers.size;
  }
  /** Moves time on, timer by timer. */
  async move(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await settled();
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.at);
      next.call();
      await settled();
    }
    this.#nowMs = end;
    await settled();
  }
}

/** A query that waits for its answer. */
class Ask {
  readonly url: URL;
  readonly headers: Headers;
  readonly body: unknown;
  readonly isAborted: () => boolean;
  readonly #answer: (response: Response) => void;
  readonly #fail: (error: Error) => void;

  constructor(
    url: string,
    init: RequestInit,
    answer: (response: Response) => void,
    fail: (error: Error) => void,
  ) {
    this.url = new URL(url);
    this.headers = new Headers(init.headers);
    this.body = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    this.#answer = answer;
    this.#fail = fail;
    const { signal } = init;
    this.isAborted = () => signal!.aborted;
    signal!.addEventListener('abort', () => fail(signal!.reason));
  }

  get query(): Record<string, string> {
    return Object.fromEntries(this.url.searchParams);
  }
  get secret(): string | undefined {
    return this.headers.get('authorization')?.replace('Bearer ', '');
  }

  async with(status: number, body?: unknown, headers: Record<string, string> = {}): Promise<void> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    this.#answer(new Response(status === 304 ? null : (text ?? ''), { status, headers }));
    await settled();
  }
  /** Answers with a feed that allows to read some keys. */
  feed(index: number, keys: readonly string[], expiresInMs?: number): Promise<void> {
    const feed = feedOf(index, keys, expiresInMs);
    return this.with(200, feed, { 'x-consul-index': `${index}`, etag: `"${keys.join()}"` });
  }
  unchanged(index: number, expiresInMs?: number): Promise<void> {
    const expiry = expiresInMs !== undefined && { 'x-consul-expires-in-ms': `${expiresInMs}` };
    return this.with(304, undefined, { 'x-consul-index': `${index}`, ...expiry });
  }
  refuse(status: number, code: string, headers?: Record<string, string>): Promise<void> {
    return this.with(status, { status, code, detail: `refused: ${this.secret}` }, headers);
  }
  async cut(code = 'ECONNRESET'): Promise<void> {
    this.#fail(Object.assign(new TypeError('fetch failed'), { cause: { code } }));
    await settled();
  }
}

const named = { Form: 'named', Actions: ['read', 'write'], Default: 'deny' };

/** A feed that allows to read some keys. */
export function feedOf(index: number, keys: readonly string[], ExpiresInMs?: number): object {
  const key = { Exact: { read: keys }, Prefix: {}, Other: [] };
  return {
    Version: 1,
    AccessorID: 'a',
    Namespace: 'default',
    Index: index,
    ...(ExpiresInMs !== undefined && { ExpiresInMs }),
    Grants: { deny: [], read: ['read'] },
    Resources: { key: named },
    Application: { Resource: 'key', Action: 'read' },
    AnyByDefault: false,
    Layers: [
      {
        Layer: 'own',
        Sets: [{ Match: 'exact', Name: 'default', Scalars: {}, Named: { key } }],
      },
    ],
  };
}

/** Nodes whose answers the test gives. */
export class FakeServer {
  readonly clock = new FakeClock();
  /** All queries so far. */
  readonly asked: Ask[] = [];
  #waiting: ((ask: Ask) => void)[] = [];
  #unread: Ask[] = [];

  readonly fetch = (url: string | URL | Request, init: RequestInit = {}): Promise<Response> =>
    new Promise((answer, fail) => {
      const ask = new Ask(String(url), init, answer, fail);
      this.asked.push(ask);
      const reader = this.#waiting.shift();
      if (reader === undefined) this.#unread.push(ask);
      else reader(ask);
    });

  /** The next query. */
  next(): Promise<Ask> {
    const ask = this.#unread.shift();
    if (ask !== undefined) return Promise.resolve(ask);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
  /** The number of queries that no test has read. */
  get unread(): number {
    return this.#unread.length;
  }

  options(more: Partial<RightsOptions> = {}): RightsOptions {
    const { clock, fetch } = this;
    return { addresses: ['http://one:8500'], token: 'secret', clock, fetch, ...more };
  }
  open(more: Partial<RightsOptions> = {}): RightsCache {
    return new RightsCache(this.options(more));
  }
  /** Opens a cache that has a feed, and returns it with the query that is held then. */
  async ready(keys: readonly string[], more: Partial<RightsOptions> = {}) {
    const cache = this.open(more);
    await (await this.next()).feed(10, keys);
    return { cache, held: await this.next() };
  }
}
