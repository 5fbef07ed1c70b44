/**
 * All operations of the API by path and method. A route whose path or method is not here does not
 * compile (`DeclaredRoute` of http/routes/types.ts), nor does one without a method that is here.
 */
import { EXPLAIN_OPERATIONS, TOKEN_OPERATIONS } from './acl-operations.js';
import { NODE_OPERATIONS, OPERATOR_OPERATIONS } from './cluster-operations.js';
import { CONFIG_OPERATIONS } from './config-operations.js';
import { type ObjectMethods, objectOperations } from './object-operations.js';
import type { Method, Operations } from './types.js';

const DECLARED = {
  ...CONFIG_OPERATIONS,
  ...EXPLAIN_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  ...NODE_OPERATIONS,
};

/** The methods of each path. */
export type MethodsByPath = {
  readonly [P in keyof typeof DECLARED]: keyof (typeof DECLARED)[P] & Method;
} & ObjectMethods;

/** Returns the query parameters of each path that has some, beside those of all endpoints. */
export const queryNames = (): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(allOperations())
      .map(([path, methods]): [string, readonly string[]] => {
        const names = Object.values(methods).flatMap(({ query = [] }) => query);
        return [path, [...new Set(names)]];
      })
      .filter(([, names]) => names.length > 0),
  );

/** Returns all operations. */
export const allOperations = (): Operations => ({ ...DECLARED, ...objectOperations() });
