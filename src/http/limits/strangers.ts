/**
 * Requests without a token, which anyone who reaches the API can send. They take turns, and get a
 * bounded share of the event loop while the cluster is written to.
 */
import type { IncomingMessage } from 'node:http';
import { Slice } from '../../service/common/event-loop.js';
import type { LoopShare } from '../../service/common/loop-share.js';
import { Queue } from '../../service/common/queue.js';
import { isStranger } from '../request/token.js';

/** Paths of probes of the node's health. */
export const PROBES = '/v1/health/';

interface Waiting {
  readonly req: IncomingMessage;
  readonly run: () => void;
}

/** The turns of requests without a token. */
export class Strangers {
  readonly #share: Pick<LoopShare, 'turn'>;
  readonly #tokenHeaders: readonly string[];
  readonly #waiting = new Queue<Waiting>();
  #isScheduled = false;

  /** `tokenHeaders`: the headers that may carry a token, in lower case. */
  constructor(share: Pick<LoopShare, 'turn'>, tokenHeaders: readonly string[]) {
    this.#share = share;
    this.#tokenHeaders = tokenHeaders;
  }

  /** Calls `run`: at once for a probe and for a request with a token, otherwise in its turn. */
  begin(req: IncomingMessage, run: () => void): void {
    if (!isStranger(req, this.#tokenHeaders) || req.url?.startsWith(PROBES)) {
      run();
      return;
    }
    this.#waiting.add({ req, run });
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#share.turn(() => this.#run());
  }

  #run(): void {
    this.#isScheduled = false;
    for (const slice = new Slice(); !slice.isOver; ) {
      const next = this.#waiting.take();
      if (next === undefined) return;
      // a client may have left meanwhile
      if (!next.req.destroyed) next.run();
    }
    if (!this.#waiting.isEmpty) this.#schedule();
  }
}
