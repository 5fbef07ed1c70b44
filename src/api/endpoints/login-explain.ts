/** The explanation of a login: what it would come to, and why. */
import type { RuleExplanation } from '../../acl/binding-explain.js';
import {
  always,
  anyObject,
  bodyOf,
  boolean,
  ifSent,
  type Normal,
  nonEmpty,
  type Sent,
  text,
  whole64,
} from '../../languages/fields.js';
import { grants } from '../../state/grants.js';
import { RIGHTS } from './explain.js';
import { ok, read, tagged } from './operation.js';
import {
  anyAs,
  IDENTITY,
  INDEX,
  linksTo,
  listOf,
  type Made,
  mapOf,
  oneOf,
  orNone,
  rows,
  shape,
} from './shapes.js';

const word = text();
const nullableText = orNone(word);

export const LOGIN_EXPLAIN = bodyOf({
  AuthMethod: ifSent('The name of the auth method.', text()),
  BearerToken: ifSent(
    'The bearer token of the login. It is checked, but nothing is written.',
    text(),
  ),
  Claims: ifSent('Claims to use instead of a bearer token.', anyObject),
  Namespace: ifSent('The namespace of the auth method.', text()),
});
export type LoginExplainBody = Sent<(typeof LOGIN_EXPLAIN)['fields']>;

const names = listOf(word);
const judgedRule = shape({
  ID: always('The ID of the rule.', word),
  Description: always('Its description.', word),
  BindType: always('What it binds.', word),
  BindName: always('The template from which it computes the name.', word),
  Selector: always('Its selector.', word),
  Matches: always('Whether it applies to the login.', boolean),
  Clause: always(
    'The selector in parts, each with its result. Null if it is empty or cannot be evaluated.',
    orNone(anyAs<Clause>()),
  ),
  Name: always('The name that the rule computes.', nullableText),
  Vars: always('The variables that the rule computes for a template.', orNone(anyAs<object>())),
  Target: always('What the name refers to.', orNone(anyAs<object>())),
  Effect: always('What the rule does for the login.', word),
  Problem: always('Why the rule cannot be evaluated.', word),
});
const loginToken = shape({
  Description: always('Its description.', word),
  Identity: IDENTITY,
  Policies: nonEmpty('Its policies.', linksTo('policy')),
  Roles: nonEmpty('Its roles.', linksTo('role')),
  ...grants,
  Local: always('Whether it belongs to one datacenter.', boolean),
  AuthMethod: always('The auth method.', word),
  AuthMethodNamespace: nonEmpty('The namespace of the auth method, if it differs.', word),
  ExpirationTTL: nonEmpty('How long the token is valid.', word),
  Namespace: always('Its namespace.', word),
});

const LOGIN_EXPLAINED = shape({
  AuthMethod: always('The name of the auth method.', word),
  Type: always('Its type.', word),
  Namespace: always('Its namespace.', word),
  Index: INDEX,
  Outcome: always('The outcome of the login.', oneOf('granted', 'refused')),
  ReasonCode: always('Why it is refused, in one word.', word),
  Reason: always('Why it is refused, in a sentence.', word),
  Verified: always('Whether the claims have been verified.', boolean),
  Checks: always(
    'The checks of the bearer token.',
    rows({
      Name: always('The name of the check.', word),
      Result: always('The result of the check.', oneOf('passed', 'failed', 'skipped')),
      Detail: always('Why it failed.', word),
    }),
  ),
  Values: always('The mapped values by name.', mapOf(word)),
  Lists: always('The mapped lists by name.', mapOf(names)),
  Missing: always(
    'Mapped names without a value.',
    shape({
      Values: always('The names of values.', names),
      Lists: always('The names of lists.', names),
    }),
  ),
  Unmapped: always('Claims that are not mapped.', names),
  TokenNamespace: always('The namespace of the token.', nullableText),
  NamespaceRule: always(
    'The rule that chooses that namespace.',
    orNone(
      shape({
        Selector: always('Its selector.', word),
        BindNamespace: always('The template from which it computes the namespace.', word),
        Namespace: always('The namespace.', nullableText),
      }),
    ),
  ),
  Rules: always('The binding rules, with matching ones first.', listOf(judgedRule)),
  MoreRules: always('How many rules are left out.', whole64),
  Token: always('The token, without its IDs and times.', orNone(loginToken)),
  Rights: always('The rights of the token.', orNone(RIGHTS)),
  Truncated: always('Whether rights are left out.', boolean),
});

/** A test of a selector, or several that are joined, with its result. */
export interface Clause {
  readonly Type: 'match' | 'and' | 'or' | 'not';
  readonly Text: string;
  readonly Result: boolean;
  readonly Terms?: readonly Clause[];
  readonly Actual?: unknown;
  readonly Missing?: boolean;
}
export type JudgedRule = Made<typeof judgedRule, RuleExplanation>;
/** `POST /v1/acl/login/explain`. */
export type LoginExplained = Normal<typeof LOGIN_EXPLAINED>;

export const LOGIN_EXPLAIN_OPERATIONS = tagged('explain', {
  'POST /v1/acl/login/explain': read('explainLogin', {
    description: 'Explains the outcome of a login. Nothing is written.',
    body: { members: LOGIN_EXPLAIN.fields },
    answers: ok('The login.', LOGIN_EXPLAINED, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
});
