/** The context of Koa as the middlewares of this front end type it. */
import type { DefaultContextExtends, Middleware as KoaMiddleware, ParameterizedContext } from 'koa';
import type { Route } from '../routes/types.js';
import type { HttpRequest } from './request.js';

/** What the middlewares hand to each other, in the order in which they set it. */
export interface State {
  path: string;
  route?: Route;
  /** Methods of routes that only add some to this path. */
  added?: readonly string[];
  /** The request with its token; from here on errors are answered by it. */
  request?: HttpRequest;
}

/** What middlewares add to the context besides `state`: nothing. Koa's default is anything. */
export type Additions = DefaultContextExtends;

/** A request and its response, as Koa passes them. */
export type Context = ParameterizedContext<State, Additions>;

/** A middleware of this front end. */
export type Middleware = KoaMiddleware<State, Additions>;
