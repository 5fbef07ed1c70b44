/** Decides in this process by rights that follow the server. The README has what it promises. */
import { type Answer, type End, FeedReader } from './feed.js';
import { CLOCK, type Clock, type Connection, isSecret, requestOf } from './nodes.js';
import { type Decision, Rights, type Source } from './rights.js';

export type { Connection } from './nodes.js';
export { type Decision, Rights, type Rule, type Source, type Step } from './rights.js';

/**
 * How much a cache knows. `fresh`: what was taken away more than `freshFor` ago is denied. `stale`:
 * nothing was heard since. `cut_off`: not for `maxStale`, or not yet. `ended`: the token has ended,
 * its feed is too large, or the cache is closed.
 */
export type State = 'fresh' | 'stale' | 'cut_off' | 'ended';

/** How rights are cached. Times are milliseconds. */
export interface RightsOptions extends Connection {
  /** How old a decision may be: 1,000 to 600,000. Default 10,000. */
  readonly freshFor?: number;
  /** How long decisions go on without an answer: `freshFor` to 24 hours. Default 60,000. */
  readonly maxStale?: number;
  /** What holds after that. Default `deny`; `extend` goes on by the last feed. */
  readonly whenStale?: 'deny' | 'extend';
  /** Whether `explain` says where a rule is written. */
  readonly sources?: boolean;
  /** Reads the feed in mode `consistent`, which trusts no clock of a node. */
  readonly consistent?: boolean;
  /** Whether `canAsync` asks a node where the cache cannot decide. */
  readonly askServer?: boolean;
  /** For tests. */
  readonly clock?: Clock;
}

/** A decision of a cache. */
export interface CachedDecision extends Omit<Decision, 'reason'> {
  readonly reason: Decision['reason'] | End | 'not_ready' | 'cut_off' | 'closed';
  readonly state: State;
  /** With `sources`: where the rule is written. */
  readonly sources?: readonly Source[];
}

/** The events of a cache, and what listeners get. */
export interface Events {
  readonly state: State;
  /** The index of rights that have changed. */
  readonly rights: number;
  /** What failed, in a sentence without secrets. */
  readonly error: string;
}

interface In {
  /** The namespace of the question. Default: that of the token. */
  readonly namespace?: string;
}

const HOUR_MS = 3_600_000;
/** The answers that are remembered: at least the last so many. */
const REMEMBERED = 1_024;
/** What the server can decide when the cache cannot. */
const ASKED: readonly string[] = ['not_ready', 'too_large', 'version'];
const ASK_TIMEOUT_MS = 5_000;

type Remembered = Map<unknown, Map<unknown, Map<unknown, Map<unknown, Decision>>>>;

/** Returns the map at a key, a new one at first. */
function within<K, V extends Map<unknown, unknown>>(map: Map<K, V>, key: K): V {
  let value = map.get(key);
  if (value === undefined) {
    value = new Map() as V;
    map.set(key, value);
  }
  return value;
}

/** Rights, and the last answers they gave. */
class Remembering {
  readonly rights: Rights;
  #recent: Remembered = new Map();
  #before: Remembered = new Map();
  #count = 0;

  constructor(rights: Rights) {
    this.rights = rights;
  }

  decide(type: string, action: string, id: string, namespace?: string): Decision {
    const answers = within(within(within(this.#recent, type), action), namespace);
    const found = answers.get(id);
    if (found !== undefined) return found;
    const before = this.#before.get(type)?.get(action)?.get(namespace)?.get(id);
    const decision = before ?? this.rights.decide(type, action, id, namespace);
    answers.set(id, decision);
    this.#count += 1;
    if (this.#count === REMEMBERED) {
      this.#before = this.#recent;
      this.#recent = new Map();
      this.#count = 0;
    }
    return decision;
  }
}

/** The rights of one token in this process. */
export class RightsCache {
  readonly #options: Required<Pick<RightsOptions, 'freshFor' | 'maxStale' | 'whenStale'>>;
  readonly #connection: RightsOptions;
  readonly #clock: Clock;
  readonly #feed: FeedReader;
  readonly #listeners: { readonly [E in keyof Events]: Set<(value: Events[E]) => void> } = {
    state: new Set(),
    rights: new Set(),
    error: new Set(),
  };
  #cached: Remembering | undefined;
  /** When the newest query was sent that was answered. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #expiresAt = Number.POSITIVE_INFINITY;
  #end: End | 'closed' | undefined;
  #told: State = 'cut_off';
  #isReady = false;
  readonly #waiting = new Set<() => void>();
  #cancel: () => void = () => {};

  constructor(options: RightsOptions) {
    const { freshFor = 10_000, sources = false, consistent = false, clock = CLOCK } = options;
    const { maxStale = Math.max(60_000, freshFor), whenStale = 'deny' } = options;
    if (!(freshFor >= 1_000 && freshFor <= HOUR_MS / 6))
      throw new RangeError('freshFor is 1,000 to 600,000 milliseconds');
    if (!(maxStale >= freshFor && maxStale <= 24 * HOUR_MS))
      throw new RangeError('maxStale is freshFor to 24 hours in milliseconds');
    this.#options = { freshFor, maxStale, whenStale };
    this.#connection = options;
    this.#clock = clock;
    this.#feed = new FeedReader(
      { ...options, freshForMs: freshFor, sources, consistent, clock },
      {
        onAnswer: (answer) => this.#accept(answer),
        onEnd: (why) => this.#ended(why),
        onError: (sentence) => this.#end !== 'closed' && this.#tell('error', sentence),
      },
    );
  }

  /** Whether an action on a resource is allowed. It never throws. */
  can(type: string, action: string, id: string, where?: In): boolean {
    return this.#decide(type, action, id, where?.namespace).allow;
  }

  /** As `can`, with the reason and the rule. */
  explain(type: string, action: string, id: string, where?: In): CachedDecision {
    const decision = this.#decide(type, action, id, where?.namespace);
    const sources = decision.rule && this.#cached?.rights.sourcesOf(decision.rule);
    return { ...decision, state: this.state(), ...(sources?.length && { sources }) };
  }

  /** As `can`; with `askServer` a node is asked where the cache cannot decide. It never rejects. */
  async canAsync(type: string, action: string, id: string, where?: In): Promise<boolean> {
    const namespace = where?.namespace;
    const { allow, reason } = this.#decide(type, action, id, namespace);
    if (!this.#connection.askServer || !ASKED.includes(reason)) return allow;
    try {
      return await this.#ask(type, action, id, namespace);
    } catch {
      return false;
    }
  }

  state(): State {
    if (this.#end !== undefined) return 'ended';
    const now = this.#clock.now();
    if (now >= this.#expiresAt) return 'ended';
    const ageMs = now - this.#knownAt;
    if (ageMs <= this.#options.freshFor) return 'fresh';
    return ageMs <= this.#options.maxStale ? 'stale' : 'cut_off';
  }

  /** The rights of the newest feed; undefined without one. */
  rights(): Rights | undefined {
    return this.#cached?.rights;
  }

  /** Waits for the first answer, which may be that the token has ended, or so long at most. */
  async ready(withinMs?: number): Promise<void> {
    if (this.#isReady) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        cancel?.();
        this.#waiting.delete(done);
        resolve();
      };
      const cancel = withinMs === undefined ? undefined : this.#clock.after(withinMs, done);
      this.#waiting.add(done);
    });
  }

  /** Calls a listener with events. Returns what ends that. */
  on<E extends keyof Events>(event: E, listener: (value: Events[E]) => void): () => void {
    this.#listeners[event].add(listener);
    return () => this.#listeners[event].delete(listener);
  }

  /** Counts of queries, and the age of what is known in milliseconds. */
  metrics(): Readonly<Record<string, number>> {
    return { ...this.#feed.counts, ageMs: this.#clock.now() - this.#knownAt };
  }

  /** Ends the query. From now on everything is denied. */
  close(): void {
    this.#feed.close();
    this.#ended('closed');
  }

  #decide(
    type: string,
    action: string,
    id: string,
    namespace: string | undefined,
  ): Omit<CachedDecision, 'state'> {
    const state = this.state();
    if (state === 'ended') return { allow: false, reason: this.#end ?? 'ended' };
    if (this.#cached === undefined) return { allow: false, reason: 'not_ready' };
    if (state === 'cut_off' && this.#options.whenStale === 'deny')
      return { allow: false, reason: 'cut_off' };
    return this.#cached.decide(type, action, id, namespace);
  }

  #accept({ sentAt, index, expiresAt, feed }: Answer): void {
    if (this.#end === 'closed') return;
    this.#end = undefined;
    this.#knownAt = sentAt;
    if (expiresAt !== undefined) this.#expiresAt = expiresAt;
    if (feed !== undefined) {
      this.#cached = new Remembering(new Rights(feed));
      if (expiresAt === undefined) this.#expiresAt = Number.POSITIVE_INFINITY;
      this.#tell('rights', index);
    }
    this.#settle();
  }

  #ended(why: End | 'closed'): void {
    if (this.#end === 'closed') return;
    this.#end = why;
    this.#cached = undefined;
    this.#settle();
  }

  /** Tells a change of the state, and waits for the next. */
  #settle(): void {
    this.#cancel();
    this.#isReady ||= this.#cached !== undefined || this.#end !== undefined;
    if (this.#isReady) for (const done of this.#waiting) done();
    const state = this.state();
    if (state !== this.#told) {
      this.#told = state;
      this.#tell('state', state);
    }
    if (state === 'ended') return;
    const { freshFor, maxStale } = this.#options;
    const last = state === 'fresh' ? freshFor : maxStale;
    // The last moment of a state belongs to it.
    const ageEnd = state === 'cut_off' ? Number.POSITIVE_INFINITY : this.#knownAt + last + 1;
    const next = Math.min(ageEnd, this.#expiresAt);
    if (next < Number.POSITIVE_INFINITY)
      this.#cancel = this.#clock.after(next - this.#clock.now(), () => this.#settle());
  }

  #tell<E extends keyof Events>(event: E, value: Events[E]): void {
    for (const listener of this.#listeners[event])
      try {
        listener(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
  }

  /** Asks nodes for a decision. Throws if none decides. */
  async #ask(type: string, action: string, id: string, namespace?: string): Promise<boolean> {
    const { fetch = globalThis.fetch } = this.#connection;
    const { nodes, secret = '' } = this.#feed;
    const aborter = new AbortController();
    const cancel = this.#clock.after(ASK_TIMEOUT_MS, () => aborter.abort());
    try {
      const response = await fetch(`${nodes.address}/access/v1/evaluation`, {
        ...requestOf(this.#connection, secret, aborter.signal, {
          'Content-Type': 'application/json',
        }),
        method: 'POST',
        body: JSON.stringify({
          subject: { type: 'token', id: 'self' },
          action: { name: action },
          resource: { type, id, ...(namespace !== undefined && { properties: { namespace } }) },
        }),
      });
      const answer: unknown = await response.json();
      return response.status === 200 && Object(answer).decision === true;
    } finally {
      cancel();
    }
  }
}

/** Follows the rights of a token. Throws where the options make no sense. */
export function openRights(options: RightsOptions): RightsCache {
  return new RightsCache(options);
}

/** How many tokens a pool keeps, and how long without a use. */
export interface PoolOptions extends Omit<RightsOptions, 'token' | 'tokenProvider'> {
  readonly maxTokens?: number;
  readonly idleMs?: number;
}

/**
 * Caches of many tokens, as a gateway needs them: `pool(secret)` for each request. It throws
 * TypeError if the secret is blank.
 */
export interface Pool {
  (secret: string): RightsCache;
  /** The number of tokens. */
  readonly size: number;
  close(): void;
}

interface Pooled {
  readonly cache: RightsCache;
  usedAt: number;
  endedAt: number;
}

/** Makes a pool. Tokens that are not used for the longest time go first. */
export function openPool(options: PoolOptions): Pool {
  const { maxTokens = 10_000, idleMs = 600_000, freshFor = 10_000, clock = CLOCK } = options;
  const caches = new Map<string, Pooled>();
  let cancel: (() => void) | undefined;

  const drop = (secret: string): void => {
    caches.get(secret)?.cache.close();
    caches.delete(secret);
  };
  function dropIdle(): void {
    cancel = undefined;
    for (const [secret, { usedAt }] of caches) {
      const leftMs = usedAt + idleMs - clock.now();
      if (leftMs > 0) {
        cancel = clock.after(leftMs, dropIdle);
        return;
      }
      drop(secret);
    }
  }
  function open(secret: string): Pooled {
    const cache = openRights({ ...options, token: secret });
    const made = { cache, usedAt: 0, endedAt: Number.POSITIVE_INFINITY };
    cache.on('state', (state) => {
      made.endedAt = state === 'ended' ? clock.now() : Number.POSITIVE_INFINITY;
    });
    return made;
  }
  const pool = (secret: string): RightsCache => {
    if (!isSecret(secret)) throw new TypeError('the secret is blank');
    const known = caches.get(secret);
    // A token that has ended may be made again: it is asked about again, but not at each request.
    const isOver = known !== undefined && clock.now() - known.endedAt > freshFor;
    if (isOver) drop(secret);
    const used = isOver || known === undefined ? open(secret) : known;
    used.usedAt = clock.now();
    caches.delete(secret);
    caches.set(secret, used);
    const [oldest] = caches.keys();
    if (caches.size > maxTokens) drop(oldest!);
    cancel ??= clock.after(idleMs, dropIdle);
    return used.cache;
  };
  const close = (): void => {
    cancel?.();
    for (const secret of caches.keys()) drop(secret);
  };
  return Object.defineProperty(Object.assign(pool, { close }), 'size', {
    get: () => caches.size,
  }) as Pool;
}
