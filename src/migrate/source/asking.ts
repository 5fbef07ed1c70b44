/** Requests to a source: not too many, again while it is busy, and with sentences for people. */
import {
  type Shown,
  type SourceAnswer,
  type SourceClock,
  type SourceConnection,
  SourceError,
} from './types.js';

/** Requests that are on their way at once: more would not make a source faster. */
const PARALLEL = 6;
/** Pauses while the source is busy or has no leader: half a minute in all, in milliseconds. */
const BUSY_MS = [250, 500, 1000, 2000, 4000, 8000, 15_000];
/** Characters of a refusal that an error quotes. */
const QUOTED_MAX = 200;

/** When each connection takes the next request: all that ask through it share its rate. */
const nextMs = new WeakMap<SourceConnection, number>();

/** Asks a source at a rate. */
export class Asking {
  readonly #connection: SourceConnection;
  readonly #clock: SourceClock;
  readonly #gapMs: number;

  /** `rate`: requests a second, at most. */
  constructor(connection: SourceConnection, clock: SourceClock, rate: number) {
    this.#connection = connection;
    this.#clock = clock;
    this.#gapMs = 1000 / rate;
  }

  /** Sends a request. Repeats it while the source is busy. Throws SourceError. */
  async get(path: string, query: Readonly<Record<string, string>> = {}): Promise<SourceAnswer> {
    const answer = await this.patiently(() => this.#connection.get(`/v1/${path}`, query));
    if (isBusy(answer)) throw refusedWith(path, answer);
    return answer;
  }

  /** Sends a request of any form in its turn. Repeats it while the source is busy. */
  async patiently(send: () => Promise<SourceAnswer>): Promise<SourceAnswer> {
    for (let tries = 0; ; tries += 1) {
      await this.#pace();
      const answer = await send();
      const pauseMs = BUSY_MS[tries];
      if (pauseMs === undefined || !isBusy(answer)) return answer;
      await this.#clock.sleep(pauseMs);
    }
  }

  /** Calls `work` for each item, a few at a time, and returns the results in their order. */
  async each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
    const results: R[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < items.length) {
        const at = next;
        next += 1;
        try {
          results[at] = await work(items[at]!);
        } catch (error) {
          // The other workers have nothing left to begin.
          next = items.length;
          throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
    return results;
  }

  async #pace(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const atMs = Math.max(nowMs, nextMs.get(this.#connection) ?? 0);
    nextMs.set(this.#connection, atMs + this.#gapMs);
    if (atMs > nowMs) await this.#clock.sleep(atMs - nowMs);
  }
}

const isBusy = ({ status, text }: SourceAnswer): boolean =>
  status === 429 || status === 503 || (status === 500 && /no cluster leader/i.test(text));

/** Returns the error of an answer that is of no use. */
export function refusedWith(path: string, { status, text }: SourceAnswer): SourceError {
  const why = text.trim().slice(0, QUOTED_MAX);
  return new SourceError(`the source answered GET /v1/${path} with status ${status}: ${why}`);
}

/** Returns the JSON of an answer. Throws SourceError. */
export function jsonOf<T>(path: string, { text }: SourceAnswer): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    // The text may hold secrets, so it is not quoted.
    const what = `the source answered GET /v1/${path} with text that is not JSON`;
    throw new SourceError(what, 'is it the address of a server of this API?');
  }
}

/** Returns the objects of a list. Throws SourceError. */
export function listOf(path: string, answer: SourceAnswer): readonly Shown[] {
  const list = jsonOf<unknown>(path, answer);
  if (list === null) return [];
  if (Array.isArray(list)) return list as Shown[];
  throw new SourceError(`the source answered GET /v1/${path} without a list`);
}
