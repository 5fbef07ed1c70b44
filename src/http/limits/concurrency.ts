/** Limits on what requests occupy for long: blocking queries, streamed responses, compression. */
import { reject } from '../../base/errors.js';
import type { CallEnd } from '../../service/common/call-end.js';
import type { RefusalCounts } from './rates.js';

/** The client to which a request is charged. */
export interface Client {
  /** As `clientOf` returns it. */
  readonly address: string;
  /** SHA-256 of the SecretID in hex; null without a token. */
  readonly tokenKey: string | null;
}

/** Counts by name. Names with a count of zero take no memory. */
export class Tally {
  readonly #counts = new Map<string, number>();
  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
  change(name: string, by: 1 | -1): void {
    const count = this.of(name) + by;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }
}

/** How many blocking queries may be held at one time. */
export interface HeldLimits {
  readonly held: number;
  /** From one address. */
  readonly heldPerClient: number;
  /** With one token. */
  readonly heldPerToken: number;
  /** Without a token from one address. */
  readonly heldAnonymous: number;
}

/** How many places of one kind clients may hold at a time. */
export interface PlaceLimits<N extends string> {
  /** The settings: in total, per address, per token, per address without a token. */
  readonly names: { readonly [K in 'all' | 'client' | 'token' | 'anonymous']: N };
  /** What they have, as refusals say it: `blocking queries are held`. */
  readonly what: string;
}

/** Places that clients hold for long, counted in total and per client. */
export class Places<N extends string> {
  readonly #byAddress = new Tally();
  readonly #byToken = new Tally();
  readonly #anonymous = new Tally();
  readonly #places: PlaceLimits<N>;
  readonly #limits: Readonly<Record<N, number>>;
  readonly #refused: RefusalCounts;
  #taken = 0;

  constructor(places: PlaceLimits<N>, limits: Readonly<Record<N, number>>, refused: RefusalCounts) {
    this.#places = places;
    this.#limits = limits;
    this.#refused = refused;
  }

  /** Takes a place, or throws 429. The caller must call `leave` when it is done. */
  enter(client: Client): void {
    const { names } = this.#places;
    const { address, tokenKey } = client;
    const limits = this.#limits;
    if (this.#taken >= limits[names.all]) this.#refuse(names.all, 'by this server');
    if (this.#byAddress.of(address) >= limits[names.client])
      this.#refuse(names.client, 'for this client');
    if (tokenKey === null && this.#anonymous.of(address) >= limits[names.anonymous])
      this.#refuse(names.anonymous, 'for this client without a token');
    if (tokenKey !== null && this.#byToken.of(tokenKey) >= limits[names.token])
      this.#refuse(names.token, 'for this token');
    this.#count(client, 1);
  }

  /** Gives back what `enter` took. */
  leave(client: Client): void {
    this.#count(client, -1);
  }

  #count({ address, tokenKey }: Client, by: 1 | -1): void {
    this.#taken += by;
    this.#byAddress.change(address, by);
    if (tokenKey === null) this.#anonymous.change(address, by);
    else this.#byToken.change(tokenKey, by);
  }

  #refuse(limit: N, whose: string): never {
    this.#refused.add(limit as never);
    reject('too_many', `Too many ${this.#places.what} ${whose}; try again in a second`, {
      hint: `the limit is limits.${limit} of this node`,
    });
  }
}

const HELD: PlaceLimits<keyof HeldLimits> = {
  names: {
    all: 'held',
    client: 'heldPerClient',
    token: 'heldPerToken',
    anonymous: 'heldAnonymous',
  },
  what: 'blocking queries are held',
};

/** How many event streams may be open at one time. */
export interface EventLimits {
  readonly eventStreams: number;
  /** From one address. */
  readonly eventStreamsPerClient: number;
  /** With one token. */
  readonly eventStreamsPerToken: number;
  /** Without a token from one address. */
  readonly eventStreamsAnonymous: number;
}

/** The places of event streams. */
export const EVENT_PLACES: PlaceLimits<keyof EventLimits> = {
  names: {
    all: 'eventStreams',
    client: 'eventStreamsPerClient',
    token: 'eventStreamsPerToken',
    anonymous: 'eventStreamsAnonymous',
  },
  what: 'event streams are open',
};

/** The blocking queries that are held. */
export class HeldCalls {
  readonly #places: Places<keyof HeldLimits>;
  readonly #held = new Set<CallEnd>();
  readonly #feeds = new Set<CallEnd>();
  #released = false;

  constructor(limits: HeldLimits, refused: RefusalCounts) {
    this.#places = new Places(HELD, limits, refused);
  }

  get count(): number {
    return this.#held.size;
  }

  /** Number of held queries that wait on a feed of rights. */
  get feeds(): number {
    return this.#feeds.size;
  }

  /** Counts a query, or throws 429. The caller must call `leave` when it ends. */
  enter(client: Client, end: CallEnd, isFeed = false): void {
    this.#places.enter(client);
    this.#held.add(end);
    if (isFeed) this.#feeds.add(end);
    if (this.#released) end.end();
  }

  /** Ends what `enter` counted. */
  leave(client: Client, end: CallEnd): void {
    this.#places.leave(client);
    this.#held.delete(end);
    this.#feeds.delete(end);
  }

  /** Ends all held queries: each answers with the current value. */
  release(): void {
    for (const end of [...this.#held]) end.end();
  }

  /** Ends all held queries, and holds no more from now on. */
  releaseForGood(): void {
    this.#released = true;
    this.release();
  }
}

/** Streamed responses in progress, per token or, without a token, per address. */
export class Streams {
  readonly #open = new Tally();
  readonly #max: number;
  readonly #refused: RefusalCounts;

  constructor(max: number, refused: RefusalCounts) {
    this.#max = max;
    this.#refused = refused;
  }

  /** Counts a response, or throws 429. Returns the function to call when it ends. */
  enter({ address, tokenKey }: Client): () => void {
    const whose = tokenKey ?? address;
    if (this.#open.of(whose) >= this.#max) {
      this.#refused.add('streamsPerToken');
      reject(
        'too_many',
        'Too many streamed responses are open for this token; finish reading one and retry',
        {
          hint: 'the limit is limits.streamsPerToken of this node',
        },
      );
    }
    this.#open.change(whose, 1);
    return () => this.#open.change(whose, -1);
  }
}

/** Slots for work of which only a few may run at a time. */
class Slots {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a slot. Returns false if none is free. Whoever takes one must call `leave` once. */
  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Resolves when a slot is free, and takes it. */
  async take(): Promise<void> {
    if (!this.tryTake()) await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** Passes the slot to the first in line, or frees it. */
  leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/**
 * Slots of this process for compressing responses. Compression uses libuv's four threads, for which
 * the fsyncs of the log queue as well.
 */
export const packing = new Slots(2);
/** The same for unpacking bodies. */
export const unpacking = new Slots(2);
