/** Limits of what clients occupy for longer: blocking queries, long responses, compression. */
import { reject } from '../../base/errors.js';
import type { CallEnd } from '../../service/common/call-end.js';
import type { RefusalCounts } from './rates.js';

/** The client that a request counts for. */
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

/** The blocking queries that are held, counted in all and by client. */
export class HeldCalls {
  readonly #byAddress = new Tally();
  readonly #byToken = new Tally();
  readonly #anonymous = new Tally();
  readonly #held = new Set<CallEnd>();
  readonly #limits: HeldLimits;
  readonly #refused: RefusalCounts;
  #released = false;

  constructor(limits: HeldLimits, refused: RefusalCounts) {
    this.#limits = limits;
    this.#refused = refused;
  }

  /** Number of queries held now. */
  get count(): number {
    return this.#held.size;
  }

  /** Counts a query; throws 429. The caller calls `leave` at its end. */
  enter(client: Client, end: CallEnd): void {
    const { held, heldPerClient, heldPerToken, heldAnonymous } = this.#limits;
    const { address, tokenKey } = client;
    if (this.#held.size >= held) this.#refuse('held', 'by this server');
    if (this.#byAddress.of(address) >= heldPerClient)
      this.#refuse('heldPerClient', 'for this client');
    if (tokenKey === null && this.#anonymous.of(address) >= heldAnonymous)
      this.#refuse('heldAnonymous', 'for this client without a token');
    if (tokenKey !== null && this.#byToken.of(tokenKey) >= heldPerToken)
      this.#refuse('heldPerToken', 'for this token');
    this.#count(client, 1);
    this.#held.add(end);
    if (this.#released) end.end();
  }

  /** Ends what `enter` counted. */
  leave(client: Client, end: CallEnd): void {
    this.#count(client, -1);
    this.#held.delete(end);
  }

  /** Makes all held queries answer with what they would show now. */
  release(): void {
    for (const end of [...this.#held]) end.end();
  }

  /** The same, and holds no query from now on. */
  releaseForGood(): void {
    this.#released = true;
    this.release();
  }

  #count({ address, tokenKey }: Client, by: 1 | -1): void {
    this.#byAddress.change(address, by);
    if (tokenKey === null) this.#anonymous.change(address, by);
    else this.#byToken.change(tokenKey, by);
  }

  #refuse(limit: keyof HeldLimits, whose: string): never {
    this.#refused.add(limit);
    reject('too_many', `Too many blocking queries are held ${whose}; try again in a second`, {
      hint: `the limit is limits.${limit} of this node`,
    });
  }
}

/** Responses in pieces being read, by token or, without one, by address. */
export class Streams {
  readonly #open = new Tally();
  readonly #max: number;
  readonly #refused: RefusalCounts;

  constructor(max: number, refused: RefusalCounts) {
    this.#max = max;
    this.#refused = refused;
  }

  /** Counts a response; throws 429. Returns the function to call at its end. */
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

/** Slots for work that only a few may do at one time. */
class Slots {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes a slot; false if there is none. Whoever has one calls `leave` once. */
  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Resolves when a slot is free, and takes it. */
  async take(): Promise<void> {
    if (!this.tryTake()) await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** Gives a slot to the first that waits, or back. */
  leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/**
 * Slots of this process for compressing responses. That uses the four threads of libuv, in which
 * the syncs of the log wait their turn as well.
 */
export const packing = new Slots(2);
/** The same for unpacking bodies. */
export const unpacking = new Slots(2);
