/**
 * All operations of the API. A route whose path or method is not here does not compile
 * (`DeclaredRoute` of http/routes/types.ts), nor does one without a method that is here.
 */
import { NODE_OPERATIONS } from './agent.js';
import { CHANGE_OPERATIONS } from './change.js';
import { CONFIG_OPERATIONS } from './config.js';
import { DECISION_OPERATIONS } from './decisions.js';
import { EXPLAIN_OPERATIONS } from './explain.js';
import { HISTORY_OPERATIONS } from './history.js';
import { IDENTITY_OPERATIONS } from './identities.js';
import { IMPORT_OPERATIONS } from './imports.js';
import { LINT_OPERATIONS } from './lint.js';
import { LOGIN_EXPLAIN_OPERATIONS } from './login-explain.js';
import { type ObjectKeys, objectOperations } from './objects.js';
import { OIDC_OPERATIONS } from './oidc.js';
import type { Method, Operation, Operations } from './operation.js';
import { OPERATOR_OPERATIONS } from './operator.js';
import { RIGHTS_OPERATIONS } from './rights.js';
import { SET_OPERATIONS } from './sets.js';
import { TOKEN_OPERATIONS } from './tokens.js';
import { USAGE_OPERATIONS } from './usage.js';

const DECLARED = {
  ...CONFIG_OPERATIONS,
  ...CHANGE_OPERATIONS,
  ...LINT_OPERATIONS,
  ...EXPLAIN_OPERATIONS,
  ...DECISION_OPERATIONS,
  ...RIGHTS_OPERATIONS,
  ...LOGIN_EXPLAIN_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...IDENTITY_OPERATIONS,
  ...OIDC_OPERATIONS,
  ...USAGE_OPERATIONS,
  ...IMPORT_OPERATIONS,
  ...SET_OPERATIONS,
  ...OPERATOR_OPERATIONS,
  ...HISTORY_OPERATIONS,
  ...NODE_OPERATIONS,
} satisfies Operations;

type Keys = keyof typeof DECLARED | ObjectKeys;
type MethodsOf<K, P extends string> = K extends `${infer M extends Method} ${P}` ? M : never;

/** The methods of each path. */
export type MethodsByPath = {
  readonly [P in Keys extends `${Method} ${infer Path}` ? Path : never]: MethodsOf<Keys, P>;
};

/** Returns the operations of each path by method. */
export function allOperations(): Readonly<Record<string, { readonly [M in Method]?: Operation }>> {
  const paths: Record<string, { [M in Method]?: Operation }> = {};
  for (const [key, operation] of Object.entries({ ...DECLARED, ...objectOperations() })) {
    const [method, path] = key.split(' ') as [Method, string];
    paths[path] = { ...paths[path], [method]: operation };
  }
  return paths;
}

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
