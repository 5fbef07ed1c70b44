/** Queries of the feed of rights at one server, by the product's own service. */
import { ApiError } from '../../src/base/errors.js';
import type { Index } from '../../src/raft/types.js';
import type { ReadOptions } from '../../src/service/common/types.js';
import { RightsFeed } from '../../src/service/explain/rights-feed.js';
import { LongWork } from '../../src/service/reads/long-work.js';
import type { NodeService } from '../../src/service/reads/node-service.js';
import { StorageError } from '../../src/storage/errors.js';
import type { SimLoop } from './loop.js';
import type { RightsCheck } from './rights-check.js';

/** What a query asks for, apart from the token. */
export type Queried = Pick<ReadOptions, 'mode' | 'index' | 'waitMs' | 'shown'>;

/** The answer to a query, and what the state was that gave it. */
export interface RightsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of that state; undefined if it may have been wrong, or old without a fault of the server. */
  readonly applied: Index | undefined;
  /** What the token may do by that state, in words. */
  readonly decisions: string;
}

export interface RightsQueriesParts {
  readonly service: NodeService;
  readonly check: RightsCheck;
  readonly loop: SimLoop;
  readonly violated: (violation: unknown) => void;
  /** The index of the state; undefined if it may be wrong or, for a default read, too old. */
  readonly trusted: (mode: ReadOptions['mode']) => Index | undefined;
}

const TIMEOUT_MS = 1_000;

export class RightsQueries {
  readonly #parts: RightsQueriesParts;
  readonly #feed: RightsFeed;

  constructor(parts: RightsQueriesParts) {
    const { service, check, loop } = parts;
    this.#parts = parts;
    this.#feed = new RightsFeed({
      service,
      authorizers: check.cached,
      longWork: new LongWork(),
      defaultPolicy: 'deny',
      nowMs: () => loop.wall(),
      rightsFeedBytes: 1_000_000,
      inOneTurn: true,
    });
  }

  /** Answers a query, unless the process ends before. */
  ask(tokenKey: string, query: Queried, done: (answer: RightsAnswer) => void): void {
    const { loop, violated } = this.#parts;
    loop.touch();
    this.#answer(tokenKey, query).then(
      (answer) => {
        if (loop.alive) done(answer);
      },
      (error) => {
        // a record that cannot be read ends the process
        if (!(error instanceof StorageError)) violated(error);
      },
    );
  }

  /** Answers as the route does. Throws StorageError. */
  async #answer(tokenKey: string, query: Queried): Promise<RightsAnswer> {
    const { check, trusted } = this.#parts;
    const whose = { caller: { tokenKey }, ns: 'default' };
    const answered = (status: number, body: string, headers = {}): RightsAnswer => {
      const [applied, decisions] = [trusted(query.mode), check.storedOf(tokenKey)];
      return { status, headers, body, applied, decisions };
    };
    try {
      const options = { ...query, timeoutMs: TIMEOUT_MS };
      const { index, value } = await this.#feed.read(whose, options, false);
      if (value === undefined) return answered(404, '');
      const headers = { etag: value.etag, 'x-consul-index': String(index) };
      const isKnown = value.etag === query.shown;
      return answered(isKnown ? 304 : 200, isKnown ? '' : String(value.bytes()), headers);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code } = error.refusal;
      return answered(code === 'acl_not_found' ? 403 : 503, JSON.stringify({ code }));
    }
  }
}
