/** Rate limits: token buckets by client, and the number of refusals by limit. */
import { reject } from '../../base/errors.js';
import type { Target } from '../routes/types.js';

/** Requests per second and client; 0: any number. */
export interface RateLimits {
  readonly requestsPerAddress: number;
  readonly requestsPerToken: number;
  readonly writesPerAddress: number;
  readonly writesPerToken: number;
  readonly loginsPerAddress: number;
  readonly loginsPerMethod: number;
  readonly loginsPerIdentity: number;
  readonly jwtChecksPerAddress: number;
  readonly jwtChecksPerMethod: number;
}
/** A rate limit, as the configuration names it. */
export type RateName = keyof RateLimits;

const NAMES: Readonly<Record<RateName, string>> = {
  requestsPerAddress: 'requests from this address',
  requestsPerToken: 'requests with this token',
  writesPerAddress: 'writes from this address',
  writesPerToken: 'writes with this token',
  loginsPerAddress: 'logins from this address',
  loginsPerMethod: 'logins with this auth method',
  loginsPerIdentity: 'logins of this identity',
  jwtChecksPerAddress: 'JWTs to verify from this address',
  jwtChecksPerMethod: 'JWTs to verify with this auth method',
};

/**
 * Seconds of its rate that a client may spend at once: clients send in bursts, mostly after a
 * restart.
 */
const BURST_SECONDS = 5;
/**
 * Clients that one limit remembers, some 100 bytes each. A client that is forgotten starts again
 * with a full bucket.
 */
const CLIENTS_MAX = 16_384;

/**
 * Token buckets by client. The least recently used one is dropped for a new client. Taking from the
 * bucket of a known client allocates nothing.
 */
export class Buckets {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #max: number;
  readonly #slots = new Map<string, number>();
  readonly #clients: string[] = [];
  readonly #levels: Float64Array;
  readonly #filledMs: Float64Array;
  /** The list of slots by last use: each slot's neighbours. */
  readonly #newer: Int32Array;
  readonly #older: Int32Array;
  #newest = -1;
  #oldest = -1;

  constructor(perSecond: number, max = CLIENTS_MAX) {
    this.#perMs = perSecond / 1000;
    this.#burst = Math.max(1, perSecond * BURST_SECONDS);
    this.#max = perSecond === 0 ? 0 : max;
    this.#levels = new Float64Array(this.#max);
    this.#filledMs = new Float64Array(this.#max);
    this.#newer = new Int32Array(this.#max);
    this.#older = new Int32Array(this.#max);
  }

  get size(): number {
    return this.#slots.size;
  }

  /**
   * Takes a token from a client's bucket. Returns false if it is empty. `nowMs` never decreases.
   */
  take(client: string, nowMs: number): boolean {
    if (this.#max === 0) return true;
    let slot = this.#slots.get(client);
    if (slot === undefined) slot = this.#open(client, nowMs);
    else if (slot !== this.#newest) {
      this.#unlink(slot);
      this.#link(slot);
    }
    const gained = (nowMs - this.#filledMs[slot]!) * this.#perMs;
    const level = Math.min(this.#burst, this.#levels[slot]! + gained);
    this.#filledMs[slot] = nowMs;
    this.#levels[slot] = level < 1 ? level : level - 1;
    return level >= 1;
  }

  #open(client: string, nowMs: number): number {
    let slot = this.#slots.size;
    if (slot === this.#max) {
      slot = this.#oldest;
      this.#slots.delete(this.#clients[slot]!);
      this.#unlink(slot);
    }
    this.#slots.set(client, slot);
    this.#clients[slot] = client;
    this.#levels[slot] = this.#burst;
    this.#filledMs[slot] = nowMs;
    this.#link(slot);
    return slot;
  }

  #link(slot: number): void {
    this.#older[slot] = this.#newest;
    this.#newer[slot] = -1;
    if (this.#newest >= 0) this.#newer[this.#newest] = slot;
    else this.#oldest = slot;
    this.#newest = slot;
  }

  #unlink(slot: number): void {
    const [newer, older] = [this.#newer[slot]!, this.#older[slot]!];
    if (newer >= 0) this.#older[newer] = older;
    else this.#newest = older;
    if (older >= 0) this.#newer[older] = newer;
    else this.#oldest = newer;
  }
}

/** The limits above which requests and connections are refused with 429. */
const LIMITS = [
  'held',
  'heldPerClient',
  'heldPerToken',
  'heldAnonymous',
  'streamsPerToken',
  'eventStreams',
  'eventStreamsPerClient',
  'eventStreamsPerToken',
  'eventStreamsAnonymous',
  'requestsPerAddress',
  'requestsPerToken',
  'writesPerAddress',
  'writesPerToken',
  'loginsPerAddress',
  'loginsPerMethod',
  'loginsPerIdentity',
  'refusalsPerAddress',
  'jwtChecksPerAddress',
  'jwtChecksPerMethod',
  'pendingBodyBytes',
  'connections',
  'connectionsPerAddress',
];

/**
 * Number of requests refused with 429, by the name of the limit in the configuration. Each is there
 * from the start: a counter that appears with its first refusal hides it from rates.
 */
export class RefusalCounts {
  readonly counts: Record<string, number> = Object.fromEntries(LIMITS.map((name) => [name, 0]));

  add(limit: string): void {
    this.counts[limit]! += 1;
  }
}

/** All rate limits of one front end. */
export class Rates {
  readonly #buckets: Readonly<Record<RateName, Buckets>>;
  readonly #limits: RateLimits;
  readonly #refused: RefusalCounts;

  constructor(limits: RateLimits, refused: RefusalCounts) {
    this.#limits = limits;
    this.#refused = refused;
    this.#buckets = {
      requestsPerAddress: new Buckets(limits.requestsPerAddress),
      requestsPerToken: new Buckets(limits.requestsPerToken),
      writesPerAddress: new Buckets(limits.writesPerAddress),
      writesPerToken: new Buckets(limits.writesPerToken),
      loginsPerAddress: new Buckets(limits.loginsPerAddress),
      loginsPerMethod: new Buckets(limits.loginsPerMethod),
      loginsPerIdentity: new Buckets(limits.loginsPerIdentity),
      jwtChecksPerAddress: new Buckets(limits.jwtChecksPerAddress),
      jwtChecksPerMethod: new Buckets(limits.jwtChecksPerMethod),
    };
  }

  /** Charges a request to its address and its token. Throws 429. */
  spendRequest(
    { route, method }: Target,
    address: string,
    tokenKey: string | null,
    nowMs: number,
  ): void {
    if (route.counts === 'probe') return;
    this.spend('requestsPerAddress', address, nowMs);
    if (tokenKey !== null) this.spend('requestsPerToken', tokenKey, nowMs);
    if (route.counts === 'login') this.spend('loginsPerAddress', address, nowMs);
    if (method === 'GET' || route.counts !== undefined) return;
    this.spend('writesPerAddress', address, nowMs);
    if (tokenKey !== null) this.spend('writesPerToken', tokenKey, nowMs);
  }

  /** Charges one to a limit. Throws 429. */
  spend(limit: RateName, client: string, nowMs: number): void {
    if (this.#buckets[limit].take(client, nowMs)) return;
    this.#refused.add(limit);
    reject(
      'too_many',
      `Too many ${NAMES[limit]}: ` +
        `at most ${this.#limits[limit]} a second are accepted; try again in a second`,
      { hint: `the limit is limits.${limit} of this node` },
    );
  }
}
