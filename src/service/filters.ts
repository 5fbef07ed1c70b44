/** The `filter` parameter of the ACL lists and of the members: expressions over the fields that an item shows. */
import { reject } from '../errors.js';
import {
  BudgetError,
  compileExpression,
  EVALUATION_BUDGET,
  type Shape,
} from '../languages/bexpr.js';

export type Filterable = 'policy' | 'role' | 'token' | 'method' | 'rule' | 'namespace' | 'member';
/** Whether an object, as it is answered, is shown. */
export type Matches = (object: object) => boolean;
/** The filter of a request that carries none. */
export const MATCHES_ALL: Matches = () => true;
/** Compiles a filter for the objects of a list; throws 400. */
export type FilterOf = (table: Filterable) => Matches;

const string: Shape = { kind: 'string' };
const index: Shape = { kind: 'uint64' };
const whole: Shape = { kind: 'int' };
const list = (of: Shape): Shape => ({ kind: 'list', of });
const map = (of: Shape): Shape => ({ kind: 'map', key: 'string', of });
const struct = (fields: Record<string, Shape>): Shape => ({ kind: 'struct', fields });
const indexes = { CreateIndex: index, ModifyIndex: index, Namespace: string };

const links = list(struct({ ID: string, Name: string }));
const variables = struct({ name: string });
const grants = {
  ServiceIdentities: list(struct({ ServiceName: string, Datacenters: list(string) })),
  NodeIdentities: list(struct({ NodeName: string, Datacenter: string })),
  TemplatedPolicies: list(
    struct({
      TemplateID: string,
      TemplateName: string,
      TemplateVariables: variables,
      Datacenters: list(string),
    }),
  ),
};

/** SecretIDs cannot be filtered by: who may not see them could guess them piece by piece. */
const SHAPES: Readonly<Record<Filterable, Shape>> = {
  policy: struct({
    ...{ ID: string, Name: string, Description: string, Datacenters: list(string), Hash: string },
    ...indexes,
  }),
  role: struct({
    ...{ ID: string, Name: string, Description: string, Policies: links, Hash: string },
    ...grants,
    ...indexes,
  }),
  token: struct({
    ...{ AccessorID: string, Description: string, Policies: links, Roles: links, Hash: string },
    ...{ Local: { kind: 'bool' }, AuthMethod: string, AuthMethodNamespace: string },
    ...{ ExpirationTime: string, CreateTime: string },
    ...grants,
    ...indexes,
  }),
  method: struct({
    ...{ Name: string, Type: string, DisplayName: string, Description: string },
    ...{ MaxTokenTTL: string, TokenLocality: string },
    ...indexes,
  }),
  rule: struct({
    ...{ ID: string, Description: string, AuthMethod: string, Selector: string },
    ...{ BindType: string, BindName: string, BindVars: variables },
    ...indexes,
  }),
  namespace: struct({
    ...{ Name: string, Description: string, Meta: map(string), DeletedAt: string },
    ACLs: struct({ PolicyDefaults: links, RoleDefaults: links }),
    ...{ CreateIndex: index, ModifyIndex: index },
  }),
  member: struct({
    ...{ Name: string, Addr: string, Port: whole, Tags: map(string), Status: whole },
    ...{ ProtocolMin: whole, ProtocolMax: whole, ProtocolCur: whole },
    ...{ DelegateMin: whole, DelegateMax: whole, DelegateCur: whole },
  }),
};

/** The filter of a request; without an expression everything is shown. */
export const filterOf =
  (expression: string | undefined): FilterOf =>
  (table) => {
    if (expression === undefined) return MATCHES_ALL;
    const compiled = compileExpression(expression, SHAPES[table]);
    if (!compiled.ok) {
      const { message, line, column } = compiled.problem;
      reject('invalid', `Invalid filter: ${message} at ${line}:${column}`);
    }
    const budget = { left: EVALUATION_BUDGET };
    return (object) => {
      try {
        return compiled.evaluate(object, budget);
      } catch (error) {
        if (!(error instanceof BudgetError)) throw error;
        return reject('invalid', 'Invalid filter: it takes too much work on this list');
      }
    };
  };
