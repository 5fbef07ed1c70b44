/**
 * How often clients may ask: token buckets by client, and a count of what was refused, by limit.
 */
import { reject } from '../errors.js';

/** Requests per second and client; 0: any number. */
export interface RateLimits {
  readonly requestsPerAddress: number;
  readonly requestsPerToken: number;
  readonly writesPerAddress: number;
  readonly writesPerToken: number;
  readonly loginsPerAddress: number;
  readonly loginsPerMethod: number;
  readonly loginsPerIdentity: number;
}
export type RateName = keyof RateLimits;

const NAMES: Readonly<Record<RateName, string>> = {
  requestsPerAddress: 'requests from this address',
  requestsPerToken: 'requests with this token',
  writesPerAddress: 'writes from this address',
  writesPerToken: 'writes with this token',
  loginsPerAddress: 'logins from this address',
  loginsPerMethod: 'logins with this auth method',
  loginsPerIdentity: 'logins of this identity',
};

/**
 * Seconds of its rate that a client may spend at once: clients come in bursts, after a restart
 * above all.
 */
const BURST_SECONDS = 5;
/**
 * Clients remembered by one limit, some 100 bytes each. One that is forgotten begins anew with a
 * full bucket.
 */
const CLIENTS_MAX = 16_384;

/**
 * Buckets by client; the least recently used gives way. Taking allocates nothing for a client that
 * is known.
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

  /** Clients remembered at present. */
  get size(): number {
    return this.#slots.size;
  }

  /** Takes one for a client; false when it has none left. `nowMs` never goes back. */
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

/** What was refused with 429, by the name of the limit in the configuration. */
export class Refused {
  readonly counts: Record<string, number> = {};

  add(limit: string): void {
    this.counts[limit] = (this.counts[limit] ?? 0) + 1;
  }
}

/** All rate limits of one front end. */
export class Rates {
  readonly #buckets: Readonly<Record<RateName, Buckets>>;
  readonly #limits: RateLimits;
  readonly #refused: Refused;

  constructor(limits: RateLimits, refused: Refused) {
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
    };
  }

  /** Counts one against a limit; throws 429. */
  spend(limit: RateName, client: string, nowMs: number): void {
    if (this.#buckets[limit].take(client, nowMs)) return;
    this.#refused.add(limit);
    reject(
      'too_many',
      `Too many ${NAMES[limit]}: at most ${this.#limits[limit]} a second are taken; try again in a second`,
      { hint: `the limit is limits.${limit} of this node` },
    );
  }
}
