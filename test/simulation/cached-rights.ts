/**
 * Clients that decide by rights which they have cached: the library of clients itself, over
 * simulated calls. Whatever fails, a cache that calls itself fresh allows nothing by rights that
 * were taken more than `freshFor` before (decisions.md 8, P2).
 */
import { openRights, type RightsCache } from '../../clients/typescript/src/cache.js';
import type { Random } from '../../cluster/checker/random.js';
import type { Index } from '../../src/raft/types.js';
import { Violation } from './invariants.js';
import { decisionsOf, tokenKeyIn } from './rights-check.js';
import type { Queried, RightsAnswer } from './rights-queries.js';
import type { Scheduler } from './scheduler.js';
import type { SimServer } from './server.js';

const CACHES = 3;
/** Milliseconds between two decisions, and for which a token is followed, at most. */
const DECISION_MS = 60;
const LIFE_MS = 15_000;
/** How long rights are fresh, and how long decisions go on after that, in milliseconds. */
const FRESH_MS = [1_000, 1_500, 3_000];
const STALE_FOR_MS = 5_000;
/** Milliseconds that a call or its answer is under way, at most, and the share that is lost. */
const CALL_MS = 40;
const LOST_SHARE = 0.03;

export interface CachedRightsParts {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly servers: () => readonly SimServer[];
  readonly violated: (violation: unknown) => void;
}

/** All clients with caches of a world. */
export class CachedRights {
  readonly #parts: CachedRightsParts;
  /** When a command was known to be acknowledged, and its index. */
  readonly #history: { readonly at: number; readonly index: Index }[] = [];
  #isRunning = false;

  constructor(parts: CachedRightsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#isRunning = true;
    for (let n = 0; n < CACHES; n++) this.#follow();
  }

  stop(): void {
    this.#isRunning = false;
  }

  /** A command was acknowledged. */
  acknowledged(index: Index): void {
    this.#history.push({ at: this.#parts.scheduler.now, index });
  }

  /** The index of the newest command that was acknowledged by then. */
  #acknowledgedAt(time: number): Index {
    return this.#history.findLast(({ at }) => at <= time)?.index ?? 0;
  }

  /** Follows the rights of one token, and later those of another. */
  #follow(): void {
    const { scheduler, random, servers } = this.#parts;
    if (!this.#isRunning) return;
    const up = servers().filter((server) => server.up);
    const token = up.length === 0 ? undefined : tokenKeyIn(random.pick(up).view, random.next());
    if (token === undefined) {
      scheduler.after(DECISION_MS, () => this.#follow());
      return;
    }
    const freshFor = random.pick(FRESH_MS);
    const client = new CacheClient(this.#parts, token, freshFor);
    const until = scheduler.now + random.next() * LIFE_MS;
    const next = (): void => {
      scheduler.after(random.next() * DECISION_MS, () => {
        scheduler.touch();
        try {
          client.decide((age) => this.#acknowledgedAt(scheduler.now - age));
        } catch (violation) {
          this.#parts.violated(violation);
        }
        if (this.#isRunning && scheduler.now < until) next();
        else {
          client.close();
          this.#follow();
        }
      });
    };
    next();
  }
}

/** A client with a cache of the rights of one token. */
class CacheClient {
  readonly #parts: CachedRightsParts;
  readonly #tokenKey: string;
  readonly #freshFor: number;
  readonly #cache: RightsCache;
  /** The answer that came last, and the one that the cache goes by. */
  #answered: RightsAnswer | undefined;
  #told: RightsAnswer | undefined;
  #accepted = 0;

  constructor(parts: CachedRightsParts, tokenKey: string, freshFor: number) {
    const { scheduler, random, servers } = parts;
    this.#parts = parts;
    this.#tokenKey = tokenKey;
    this.#freshFor = freshFor;
    scheduler.touch();
    this.#cache = openRights({
      addresses: servers().map(({ id }) => `http://${id}`),
      token: tokenKey,
      freshFor,
      maxStale: freshFor + STALE_FOR_MS,
      consistent: random.chance(0.2),
      fetch: (url, init) => this.#fetch(new URL(String(url)), init!),
      clock: {
        now: () => scheduler.now,
        random: () => random.next(),
        after(ms, call) {
          const event = scheduler.after(ms, () => {
            scheduler.touch();
            call();
          });
          return () => {
            event.cancelled = true;
          };
        },
      },
    });
  }

  close(): void {
    this.#parts.scheduler.touch();
    this.#cache.close();
  }

  /** Decides by the cache. Throws a violation if it should not have. `known`: see CachedRights. */
  decide(known: (ageMs: number) => Index): void {
    const cache = this.#cache;
    const state = cache.state();
    // the token may be of another namespace than the one that all are asked about
    const where = { namespace: 'default' };
    const decisions = decisionsOf((type, access, name = '') =>
      cache.can(type, access, name, where),
    );
    this.#noteAccepted();
    if (decisions === '' && (state === 'cut_off' || state === 'ended')) return;
    const told = this.#told;
    if (decisions !== told?.decisions)
      this.#violate(`allows ${decisions || 'nothing'}, was told ${told?.decisions || 'nothing'}`);
    const atLeast = known(this.#freshFor);
    if (state === 'fresh' && told.applied !== undefined && told.applied < atLeast)
      this.#violate(`is fresh by rights of ${told.applied}, after ${atLeast}`);
  }

  /** Notes whether the cache goes by the last answer: it asks again if an index has fallen. */
  #noteAccepted(): void {
    const { changed, unchanged } = this.#cache.metrics();
    const accepted = changed! + unchanged!;
    if (accepted > this.#accepted) this.#told = this.#answered;
    this.#accepted = accepted;
  }

  #violate(how: string): never {
    const text = `a cache of ${this.#tokenKey.slice(-4)} ${how}`;
    throw new Violation('caches heed rights that were taken', text);
  }

  #fetch({ hostname, searchParams }: URL, { headers, signal }: RequestInit): Promise<Response> {
    const { scheduler, random, servers } = this.#parts;
    if (this.#cache !== undefined) this.#noteAccepted();
    const mode = searchParams.has('consistent') ? 'consistent' : 'default';
    const query: Queried = {
      mode,
      index: Number(searchParams.get('index') ?? 0),
      waitMs: Number.parseInt(searchParams.get('wait') ?? '0', 10),
      shown: new Headers(headers).get('if-none-match') ?? undefined,
    };
    return new Promise((resolve, reject) => {
      const later = (run: () => void): void => {
        if (random.chance(LOST_SHARE)) return;
        scheduler.after(random.next() * CALL_MS, () => {
          scheduler.touch();
          run();
        });
      };
      signal!.addEventListener('abort', () => reject(new Error('aborted')));
      later(() => {
        const server = servers().find(({ id }) => id === hostname);
        if (!server?.up) {
          reject(new Error('refused'));
          return;
        }
        const answered = (answer: RightsAnswer): void =>
          later(() => {
            if (signal!.aborted) return;
            this.#answered = answer;
            resolve(responseOf(answer));
          });
        server.visit(() => server.feed.ask(this.#tokenKey, query, answered));
      });
    });
  }
}

/** The part of a response that the library reads. Its body is there at once. */
const responseOf = ({ status, headers, body }: RightsAnswer): Response =>
  ({
    status,
    headers: new Headers(headers),
    text: async () => body,
    json: async () => JSON.parse(body),
  }) as object as Response;
