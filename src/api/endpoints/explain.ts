/** The explanations of rights: why a token may do something or may not, and who may. */
import type { Explanation, RightsRow } from '../../acl/explain.js';
import {
  bodyOf,
  boolean,
  given,
  items,
  keep,
  type Normal,
  omit,
  type Sent,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { grants } from '../../state/grants.js';
import { tokens } from '../../state/tokens.js';
import { ok, read, tagged } from './operation.js';
import {
  IDENTITY,
  INDEX,
  identity,
  linksTo,
  listOf,
  type Made,
  oneOf,
  orNone,
  rows,
  shape,
} from './shapes.js';

const word = text();
const LEVEL = orNone(oneOf('deny', 'read', 'list', 'write'));
const nullableText = orNone(word);

const { Policies, Roles, ServiceIdentities, NodeIdentities, TemplatedPolicies } = tokens.fields;
/** The members of a token that does not exist. */
export const draftFields = {
  Policies,
  Roles,
  ServiceIdentities,
  NodeIdentities,
  TemplatedPolicies,
  Rules: given('The rules of an additional policy for the token.', text()),
};
/** A token that does not exist, as it is sent. */
export type Draft = Sent<typeof draftFields>;

/** The members of a question. */
export const QUESTION_FIELDS = {
  Resource: given('The resource, such as service, key or namespace.', text()),
  Access: given('The access, such as read or write.', text()),
  Segment: given('The name of the resource. Omitted for resources without names.', text()),
  Namespace: given('The namespace of the resource. Defaults to that of the request.', text()),
};
export type SentQuestion = Sent<typeof QUESTION_FIELDS>;

export const EXPLAIN = bodyOf({
  AccessorID: given(
    'The token whose rights are explained. Defaults to the token of the request.',
    text(),
  ),
  Draft: given('A token that does not exist, to use instead of AccessorID.', bodyOf(draftFields)),
  Requests: given('Between 1 and 64 questions.', items(bodyOf(QUESTION_FIELDS))),
  Namespace: given('The namespace of the request.', text()),
});
export type ExplainBody = Sent<(typeof EXPLAIN)['fields']>;

/** The body of a search for who may do something: one question. */
export const WHO_CAN = bodyOf(QUESTION_FIELDS);

const step = shape({
  Type: keep('The type of the step.', word),
  ID: keep('The ID of the object.', word),
  Name: keep('The name of the object.', word),
  Version: omit('With at: the index of the version that was read.', whole64),
});
const source = shape({
  Path: keep('The path from the token to the text.', listOf(step)),
  Line: keep('The line in the text.', orNone(whole64)),
  Column: keep('The column in the line.', orNone(whole64)),
  Level: keep('The level that the text specifies.', LEVEL),
  Counts: keep('Whether the level counts, because no stronger level overrides it.', boolean),
});
const place = shape({
  Match: keep('exact or prefix.', word),
  Name: keep('The namespace, or the prefix of its name.', word),
});
const ruleFields = {
  Resource: keep('The resource of the rule.', nullableText),
  Match: keep('exact, prefix or scalar.', nullableText),
  Name: omit('The name of the rule. Omitted for scalar rules.', word),
  NamespaceBlock: omit('The namespace block that contains the rule.', place),
  Level: keep('The merged level of the rule.', LEVEL),
  Rule: keep('The rule as written in policies.', nullableText),
  Sources: keep('The texts from which the level comes.', listOf(source)),
  MoreSources: keep('How many sources are left out.', whole64),
};
const rule = shape(ruleFields);
const candidate = shape({ ...ruleFields, Why: keep('Why the rule does not decide.', word) });
const explanation = shape({
  Resource: keep('The resource of the question.', word),
  Access: keep('The access of the question.', word),
  Segment: keep('The name of the resource.', word),
  Namespace: keep('The namespace of the resource.', word),
  Allow: keep('Whether the access is allowed.', boolean),
  Reason: keep('The reason, in one word.', word),
  Layer: omit('own, or namespace_default if the defaults of the namespace decide.', word),
  Level: keep('The level of the rule that decides.', LEVEL),
  Text: keep('The reason, in a sentence.', word),
  Winner: keep('The rule that decides.', orNone(rule)),
  Candidates: keep('Other rules that concern the question.', listOf(candidate)),
  MoreCandidates: keep('How many rules are left out.', whole64),
});

const whose = {
  AccessorID: keep('The token.', word),
  Namespace: keep('The namespace of the token.', word),
  Anonymous: keep('Whether it is the anonymous token.', boolean),
  DefaultPolicy: keep('The decision if no rule applies.', word),
};

const AT = omit(
  'With at: the moment that the answer is about.',
  shape({
    Index: keep('The index.', whole64),
    Time: keep('The time of the newest change up to it.', utcTime),
  }),
);

const EXPLAINED = shape({
  At: AT,
  ...whose,
  Description: keep('The description of the token.', word),
  Identity: IDENTITY,
  Index: INDEX,
  Results: keep('The answers, in the order of the questions.', listOf(explanation)),
});

export const RIGHTS = rows({
  Layer: keep('own, or namespace_default.', word),
  Namespace: keep('The namespaces in which the right applies.', place),
  Resource: keep('The resource.', word),
  Match: keep('exact, prefix or scalar.', word),
  Name: omit('The name, or its prefix. Omitted for scalar rights.', word),
  Level: keep('The merged level.', word),
  Intentions: omit('For services: the level for intentions.', word),
  IntentionsExplicit: omit('Whether a text specifies that level.', boolean),
  Sources: keep('The texts from which the level comes.', listOf(source)),
  MoreSources: keep('How many sources are left out.', whole64),
});

const EFFECTIVE = shape({
  At: AT,
  ...whose,
  Identity: IDENTITY,
  ExpirationTime: omit('When the token expires.', utcTime),
  Truncated: keep('Whether rights are left out.', boolean),
  Rights: keep('The merged rights.', RIGHTS),
});

const WHO = shape({
  At: AT,
  LoginsSince: omit('With at: login tokens that have ended are known from this index on.', whole64),
  Index: INDEX,
  Scanned: keep('How many tokens were examined.', whole64),
  Allowed: keep('How many of them are allowed the access.', whole64),
  Truncated: keep('Whether the search stopped before the last token.', boolean),
  Filtered: keep('Whether namespaces that the caller may not read were left out.', boolean),
  Groups: keep(
    'Groups of tokens with the same grants, the largest first.',
    rows({
      Tokens: keep('How many tokens are in the group.', whole64),
      Subjects: keep('How many different subjects logged in to get them.', whole64),
      AuthMethod: keep('The auth method of their logins, if any.', word),
      Namespace: keep('Their namespace.', word),
      Policies: keep('Their policies.', linksTo('policy')),
      Roles: keep('Their roles.', linksTo('role')),
      ServiceIdentities: keep('Their service identities.', grants.ServiceIdentities.type),
      NodeIdentities: keep('Their node identities.', grants.NodeIdentities.type),
      TemplatedPolicies: keep('Their templated policies.', grants.TemplatedPolicies.type),
      Sample: keep(
        'Some of the tokens.',
        rows({
          AccessorID: keep('The token.', word),
          Description: keep('Its description.', word),
          Identity: IDENTITY,
        }),
      ),
      Result: keep('Why they are allowed the access.', explanation),
    }),
  ),
  MoreGroups: keep('How many groups are left out.', whole64),
});

const DECISION = shape({
  ID: keep('The ID of the decision.', word),
  Time: keep('When it was made.', utcTime),
  Node: keep('The node that made it.', word),
  Type: keep('What was decided.', oneOf('authorization', 'unknown_token', 'login', 'evaluation')),
  Method: keep('The HTTP method of the request.', word),
  Path: keep('The path of the request.', word),
  RemoteAddr: keep('The address of the client.', word),
  AccessorID: keep('The token of the request.', nullableText),
  Identity: keep(
    'Who is behind that token, or who tried to log in. Null if nobody is known, or if the ' +
      'caller may not read the token.',
    orNone(identity),
  ),
  Namespace: keep('The namespace of the request.', word),
  Resource: keep('The resource that was asked for.', nullableText),
  Access: keep('The access that was asked for.', nullableText),
  Segment: keep('The name of the resource.', nullableText),
  Message: keep('The message of the refusal.', word),
  SubjectType: omit('Of an evaluation: the type of its subject.', word),
  RequestID: omit('Of an evaluation: the X-Request-ID of its request. May be empty.', word),
  TraceID: keep('The trace of the request. Empty if its traceparent names none.', word),
  AppliedIndex: keep('The index of the state on which the decision was based.', whole64),
  Then: keep(
    'Why it was refused.',
    orNone(
      shape({
        Reason: keep('The reason, in one word.', word),
        Level: keep('The level of the rule that decided.', LEVEL),
        Rule: keep('The rule that decided.', nullableText),
      }),
    ),
  ),
  Now: keep('The explanation according to the current state.', orNone(explanation)),
  Changed: keep('Whether the decision or its reason differs now.', boolean),
  Login: keep(
    'The login that was refused.',
    orNone(
      shape({
        AuthMethod: keep('The auth method.', word),
        Namespace: keep('Its namespace.', word),
        ReasonCode: keep('The reason, in one word.', word),
        Reason: keep('The reason, in a sentence.', word),
      }),
    ),
  ),
});

export type Step = Normal<typeof step>;
/** Where a rule stands. Texts that the server writes have no lines. */
export type Source = Normal<typeof source>;
export type Rule = Normal<typeof rule>;
/** A rule that does not decide. */
export type Candidate = Normal<typeof candidate>;
/** The answer to one question about rights. */
export type Result = Made<typeof explanation, Explanation>;
/** `POST /v1/acl/authorize/explain`. */
export type Explained = Normal<typeof EXPLAINED>;
export type Right = Made<typeof RIGHTS, readonly RightsRow[]>[number];
/** `GET /v1/acl/token/:accessor/effective`. */
export type Effective = Normal<typeof EFFECTIVE>;
/** `POST /v1/acl/who-can`. */
export type WhoCan = Normal<typeof WHO>;
/** Tokens that grant alike. */
export type Group = WhoCan['Groups'][number];
/** `GET /v1/acl/decision/:id`. */
export type Decision = Normal<typeof DECISION>;

export const EXPLAIN_OPERATIONS = tagged('explain', {
  'GET /v1/acl/token/self/effective': read('readOwnRights', {
    query: ['at'],
    says: 'Reads all rights of the token of the request, merged.',
    answers: ok('The rights.', EFFECTIVE, 'index'),
    refuses: [404],
    blocks: true,
  }),
  'GET /v1/acl/token/:accessor/effective': read('readRights', {
    query: ['at'],
    says: 'Reads all rights of a token, merged.',
    answers: ok('The rights.', EFFECTIVE, 'index'),
    refuses: [404],
    rights: ['acl:read'],
    blocks: true,
  }),
  'GET /v1/acl/decision/:id': read('readDecision', {
    says: 'Explains why a request was refused, by the decision ID in the header of the refusal.',
    answers: ok('The decision.', DECISION, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'POST /v1/acl/authorize/explain': read('explainAuthorization', {
    query: ['at'],
    says: 'Explains what a token, or a draft of one, may do.',
    body: { members: EXPLAIN.fields },
    answers: ok('The reasons.', EXPLAINED, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'POST /v1/acl/who-can': read('findWhoCan', {
    query: ['at'],
    says: 'Finds the tokens that are allowed a given access.',
    body: { members: WHO_CAN.fields },
    answers: ok('The tokens, in groups.', WHO, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
});
