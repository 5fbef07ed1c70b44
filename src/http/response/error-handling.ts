/** Turns errors into responses. */
import type { ServerResponse } from 'node:http';
import type Koa from 'koa';
import { ApiError, ERROR_STATUS, type Refusal, refusal } from '../../base/errors.js';
import type { Front } from '../front.js';
import type { Additions, Context, Middleware, State } from '../request/context.js';
import { shownUrl } from '../request/shown-url.js';
import { traceOf } from '../request/trace.js';
import { noteRefused, refusalBody } from './refusal-body.js';
import { addDecision, addRequestId } from './response-headers.js';
import { isGone, sendUnread } from './send.js';

const INTERNAL = refusal('internal', 'Internal error; see the server log');

/**
 * The first middleware: answers whatever a later one throws. Emits faults of this server as `error`
 * events of the application.
 */
export const errorHandling =
  (front: Front): Middleware =>
  async (context, next) => {
    // Every response is written to `res`: some end after their middleware, and flat lists of
    // headers and text from the store cost less than Koa's body types. See decision 10.
    context.respond = false;
    try {
      await next();
    } catch (error) {
      const why = error instanceof ApiError ? error.refusal : INTERNAL;
      const { res } = context;
      const isBegun = res.headersSent;
      const isFault = isBegun ? !(error instanceof ApiError) : why.code === 'internal';
      if (isFault) context.app.emit('error', error, context);
      // aborted, so that the client cannot mistake it for complete
      if (isBegun) res.destroy();
      else if (context.state.request === undefined) refuseEarly(front, context, why);
      else {
        const carrier = error instanceof ApiError ? error : undefined;
        context.state.request.refuse(why, undefined, carrier);
      }
    }
  };

/**
 * Sends an error to a client of which nothing is known yet. `extra` is a flat list of headers.
 */
export function refuseEarly(
  front: Front,
  { req, res, state: { route } }: Context,
  why: Refusal,
  extra: readonly string[] = [],
): void {
  const { names, refusals } = front;
  const decision = noteRefused(front, req, { namespace: 'default', refusal: why });
  const { type, body } = refusalBody(req, why, route, decision);
  const status = ERROR_STATUS[why.code];
  const headers = ['Content-Type', type, ...names.base, ...names.unkept, ...extra];
  addDecision(headers, names, decision);
  if (route?.isStandard) addRequestId(headers, req);
  const respond = (): void => refusals.refuseStranger(req, res, { status, headers, body });
  const noted = front.options.audit?.answered({
    incoming: req,
    endpoint: shownUrl(front, req),
    status,
    isGone: isGone(req, res),
    ms: 0,
    namespace: 'default',
    reason: '',
    decision: decision ?? '',
  });
  if (noted === undefined) respond();
  // What was to be refused is refused; a required record that is missing says so.
  else
    void noted.then((unaudited) =>
      unaudited ? respondUnaudited(front, res, unaudited) : respond(),
    );
}

/** Answers in place of a refusal that must be in the audit log, and cannot be. */
function respondUnaudited(front: Front, res: ServerResponse, why: Refusal): void {
  const headers = ['Content-Type', 'text/plain; charset=utf-8', ...front.names.base];
  sendUnread(res, { status: ERROR_STATUS[why.code], headers, body: `${why.message}\n` }, 0);
}

/** Reports what the application emits, but for errors of connections, which Koa emits as well. */
export function reportErrors(koa: Koa<State, Additions>, { options }: Front): void {
  koa.on('error', (error: unknown, { req, state }: Context) => {
    if (error === req.socket.errored) return;
    const trace_id = traceOf(req);
    const path = state.route?.path ?? '';
    options.report({ code: 'internal', path, error, ...(trace_id !== '' && { trace_id }) });
  });
}
