/** The explanation of a login: what it would come to, and why. */
import type { RuleExplanation } from '../../acl/binding-explain.js';
import {
  anyObject,
  bodyOf,
  boolean,
  given,
  keep,
  type Normal,
  omit,
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
  AuthMethod: given('The name of the auth method.', text()),
  BearerToken: given(
    'The bearer token of the login. It is checked, but nothing is written.',
    text(),
  ),
  Claims: given('Claims to use instead of a bearer token.', anyObject),
  Namespace: given('The namespace of the auth method.', text()),
});
export type LoginExplainBody = Sent<(typeof LOGIN_EXPLAIN)['fields']>;

const names = listOf(word);
const judgedRule = shape({
  ID: keep('The ID of the rule.', word),
  Description: keep('Its description.', word),
  BindType: keep('What it binds.', word),
  BindName: keep('The template from which it computes the name.', word),
  Selector: keep('Its selector.', word),
  Matches: keep('Whether it applies to the login.', boolean),
  Clause: keep(
    'The selector in parts, each with its result. Null if it is empty or cannot be evaluated.',
    orNone(anyAs<Clause>()),
  ),
  Name: keep('The name that the rule computes.', nullableText),
  Vars: keep('The variables that the rule computes for a template.', orNone(anyAs<object>())),
  Target: keep('What the name refers to.', orNone(anyAs<object>())),
  Effect: keep('What the rule does for the login.', word),
  Problem: keep('Why the rule cannot be evaluated.', word),
});
const loginToken = shape({
  Description: keep('Its description.', word),
  Identity: IDENTITY,
  Policies: omit('Its policies.', linksTo('policy')),
  Roles: omit('Its roles.', linksTo('role')),
  ...grants,
  Local: keep('Whether it belongs to one datacenter.', boolean),
  AuthMethod: keep('The auth method.', word),
  AuthMethodNamespace: omit('The namespace of the auth method, if it differs.', word),
  ExpirationTTL: omit('How long the token is valid.', word),
  Namespace: keep('Its namespace.', word),
});

const LOGIN_EXPLAINED = shape({
  AuthMethod: keep('The name of the auth method.', word),
  Type: keep('Its type.', word),
  Namespace: keep('Its namespace.', word),
  Index: INDEX,
  Outcome: keep('The outcome of the login.', oneOf('granted', 'refused')),
  ReasonCode: keep('Why it is refused, in one word.', word),
  Reason: keep('Why it is refused, in a sentence.', word),
  Verified: keep('Whether the claims have been verified.', boolean),
  Checks: keep(
    'The checks of the bearer token.',
    rows({
      Name: keep('The name of the check.', word),
      Result: keep('The result of the check.', oneOf('passed', 'failed', 'skipped')),
      Detail: keep('Why it failed.', word),
    }),
  ),
  Values: keep('The mapped values by name.', mapOf(word)),
  Lists: keep('The mapped lists by name.', mapOf(names)),
  Missing: keep(
    'Mapped names without a value.',
    shape({
      Values: keep('The names of values.', names),
      Lists: keep('The names of lists.', names),
    }),
  ),
  Unmapped: keep('Claims that are not mapped.', names),
  TokenNamespace: keep('The namespace of the token.', nullableText),
  NamespaceRule: keep(
    'The rule that chooses that namespace.',
    orNone(
      shape({
        Selector: keep('Its selector.', word),
        BindNamespace: keep('The template from which it computes the namespace.', word),
        Namespace: keep('The namespace.', nullableText),
      }),
    ),
  ),
  Rules: keep('The binding rules, with matching ones first.', listOf(judgedRule)),
  MoreRules: keep('How many rules are left out.', whole64),
  Token: keep('The token, without its IDs and times.', orNone(loginToken)),
  Rights: keep('The rights of the token.', orNone(RIGHTS)),
  Truncated: keep('Whether rights are left out.', boolean),
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
    says: 'Explains the outcome of a login. Nothing is written.',
    body: { members: LOGIN_EXPLAIN.fields },
    answers: ok('The login.', LOGIN_EXPLAINED, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
});
