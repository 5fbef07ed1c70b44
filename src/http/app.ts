/** The Koa application: what happens to every request, in order. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';
import { loopShare } from '../service/common/event-loop.js';
import { makeFront } from './front.js';
import type { HeldCalls } from './limits/concurrency.js';
import type { RefusalCounts } from './limits/rates.js';
import { Strangers } from './limits/strangers.js';
import type { HttpOptions } from './options.js';
import { browserCheck } from './request/browsers.js';
import type { Additions, Context, State } from './request/context.js';
import { pathDecoding, unknownPath } from './request/paths.js';
import { errorHandling, reportErrors } from './response/error-handling.js';
import { routing } from './routes/routing.js';
import { uiPages } from './routes/ui.js';

/** The application and what it counts. */
export interface HttpApp {
  readonly handler: (req: IncomingMessage, res: ServerResponse) => void;
  readonly held: HeldCalls;
  /** What was refused for being too much. */
  readonly refused: RefusalCounts;
  /** From here on every response closes its connection. */
  drain(): void;
}

/**
 * Koa without what it does around the middlewares: writing the response and reporting errors of
 * connections. Neither is used here, and the listeners cost 5 % of a read.
 */
class Application extends Koa<State, Additions> {
  handleRequest(context: Context, run: (context: Context) => Promise<void>): Promise<void> {
    return run(context).catch((error: Error) => context.onerror(error));
  }
}

/** Builds the application. */
export function createApp(options: HttpOptions): HttpApp {
  const front = makeFront(options);
  const koa = new Application();
  koa.use(errorHandling(front));
  koa.use(browserCheck(front));
  koa.use(pathDecoding(front));
  koa.use(routing(front));
  if (options.ui !== undefined) koa.use(uiPages(front, options.ui));
  koa.use((context) => unknownPath(front, context));
  reportErrors(koa, front);
  const handle = koa.callback();
  const strangers = new Strangers(options.strangers ?? loopShare(), front.incoming.token);
  return {
    // where the default policy is "allow", clients need no token
    handler:
      options.defaultPolicy === 'allow'
        ? handle
        : (req, res) => strangers.begin(req, () => void handle(req, res)),
    held: front.held,
    refused: front.refused,
    drain() {
      front.names.base.push('Connection', 'close');
      front.lastRead.forget();
    },
  };
}
