/** The explanations of rights: why a token may do something or may not, and who may. */
import type { Explanation, RightsRow } from '../../acl/explain.js';
import {
  always,
  bodyOf,
  boolean,
  ifSent,
  items,
  type Normal,
  nonEmpty,
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
  Rules: ifSent('The rules of an additional policy for the token.', text()),
};
/** A token that does not exist, as it is sent. */
export type Draft = Sent<typeof draftFields>;

/** The members of a question. */
export const QUESTION_FIELDS = {
  Resource: ifSent('The resource, such as service, key or namespace.', text()),
  Access: ifSent('The access, such as read or write.', text()),
  Segment: ifSent('The name of the resource. Omitted for resources without names.', text()),
  Namespace: ifSent('The namespace of the resource. Defaults to that of the request.', text()),
};
export type SentQuestion = Sent<typeof QUESTION_FIELDS>;

export const EXPLAIN = bodyOf({
  AccessorID: ifSent(
    'The token whose rights are explained. Defaults to the token of the request.',
    text(),
  ),
  Draft: ifSent('A token that does not exist, to use instead of AccessorID.', bodyOf(draftFields)),
  Requests: ifSent('Between 1 and 64 questions.', items(bodyOf(QUESTION_FIELDS))),
  Namespace: ifSent('The namespace of the request.', text()),
});
export type ExplainBody = Sent<(typeof EXPLAIN)['fields']>;

/** The body of a search for who may do something: one question. */
export const WHO_CAN = bodyOf(QUESTION_FIELDS);

const step = shape({
  Type: always('The type of the step.', word),
  ID: always('The ID of the object.', word),
  Name: always('The name of the object.', word),
  Version: nonEmpty('With at: the index of the version that was read.', whole64),
});
const source = shape({
  Path: always('The path from the token to the text.', listOf(step)),
  Line: always('The line in the text.', orNone(whole64)),
  Column: always('The column in the line.', orNone(whole64)),
  Level: always('The level that the text specifies.', LEVEL),
  Counts: always('Whether the level counts, because no stronger level overrides it.', boolean),
});
const place = shape({
  Match: always('exact or prefix.', word),
  Name: always('The namespace, or the prefix of its name.', word),
});
const ruleFields = {
  Resource: always('The resource of the rule.', nullableText),
  Match: always('exact, prefix or scalar.', nullableText),
  Name: nonEmpty('The name of the rule. Omitted for scalar rules.', word),
  NamespaceBlock: nonEmpty('The namespace block that contains the rule.', place),
  Level: always('The merged level of the rule.', LEVEL),
  Rule: always('The rule as written in policies.', nullableText),
  Sources: always('The texts from which the level comes.', listOf(source)),
  MoreSources: always('How many sources are left out.', whole64),
};
const rule = shape(ruleFields);
const candidate = shape({ ...ruleFields, Why: always('Why the rule does not decide.', word) });
const explanation = shape({
  Resource: always('The resource of the question.', word),
  Access: always('The access of the question.', word),
  Segment: always('The name of the resource.', word),
  Namespace: always('The namespace of the resource.', word),
  Allow: always('Whether the access is allowed.', boolean),
  Reason: always('The reason, in one word.', word),
  Layer: nonEmpty('own, or namespace_default if the defaults of the namespace decide.', word),
  Level: always('The level of the rule that decides.', LEVEL),
  Text: always('The reason, in a sentence.', word),
  Winner: always('The rule that decides.', orNone(rule)),
  Candidates: always('Other rules that concern the question.', listOf(candidate)),
  MoreCandidates: always('How many rules are left out.', whole64),
});

const whose = {
  AccessorID: always('The token.', word),
  Namespace: always('The namespace of the token.', word),
  Anonymous: always('Whether it is the anonymous token.', boolean),
  DefaultPolicy: always('The decision if no rule applies.', word),
};

const AT = nonEmpty(
  'With at: the moment that the answer is about.',
  shape({
    Index: always('The index.', whole64),
    Time: always('The time of the newest change up to it.', utcTime),
  }),
);

const EXPLAINED = shape({
  At: AT,
  ...whose,
  Description: always('The description of the token.', word),
  Identity: IDENTITY,
  Index: INDEX,
  Results: always('The answers, in the order of the questions.', listOf(explanation)),
});

export const RIGHTS = rows({
  Layer: always('own, or namespace_default.', word),
  Namespace: always('The namespaces in which the right applies.', place),
  Resource: always('The resource.', word),
  Match: always('exact, prefix or scalar.', word),
  Name: nonEmpty('The name, or its prefix. Omitted for scalar rights.', word),
  Level: always('The merged level.', word),
  Intentions: nonEmpty('For services: the level for intentions.', word),
  IntentionsExplicit: nonEmpty('Whether a text specifies that level.', boolean),
  Sources: always('The texts from which the level comes.', listOf(source)),
  MoreSources: always('How many sources are left out.', whole64),
});

const EFFECTIVE = shape({
  At: AT,
  ...whose,
  Identity: IDENTITY,
  ExpirationTime: nonEmpty('When the token expires.', utcTime),
  Truncated: always('Whether rights are left out.', boolean),
  Rights: always('The merged rights.', RIGHTS),
});

const WHO = shape({
  At: AT,
  LoginsSince: nonEmpty(
    'With at: login tokens that have ended are known from this index on.',
    whole64,
  ),
  Index: INDEX,
  Scanned: always('How many tokens were examined.', whole64),
  Allowed: always('How many of them are allowed the access.', whole64),
  Truncated: always('Whether the search stopped before the last token.', boolean),
  Filtered: always('Whether namespaces that the caller may not read were left out.', boolean),
  Groups: always(
    'Groups of tokens with the same grants, the largest first.',
    rows({
      Tokens: always('How many tokens are in the group.', whole64),
      Subjects: always('How many different subjects logged in to get them.', whole64),
      AuthMethod: always('The auth method of their logins, if any.', word),
      Namespace: always('Their namespace.', word),
      Policies: always('Their policies.', linksTo('policy')),
      Roles: always('Their roles.', linksTo('role')),
      ServiceIdentities: always('Their service identities.', grants.ServiceIdentities.type),
      NodeIdentities: always('Their node identities.', grants.NodeIdentities.type),
      TemplatedPolicies: always('Their templated policies.', grants.TemplatedPolicies.type),
      Sample: always(
        'Some of the tokens.',
        rows({
          AccessorID: always('The token.', word),
          Description: always('Its description.', word),
          Identity: IDENTITY,
        }),
      ),
      Result: always('Why they are allowed the access.', explanation),
    }),
  ),
  MoreGroups: always('How many groups are left out.', whole64),
});

const DECISION = shape({
  ID: always('The ID of the decision.', word),
  Time: always('When it was made.', utcTime),
  Node: always('The node that made it.', word),
  Type: always('What was decided.', oneOf('authorization', 'unknown_token', 'login', 'evaluation')),
  Method: always('The HTTP method of the request.', word),
  Path: always('The path of the request.', word),
  RemoteAddr: always('The address of the client.', word),
  AccessorID: always('The token of the request.', nullableText),
  Identity: always(
    'Who is behind that token, or who tried to log in. Null if nobody is known, or if the ' +
      'caller may not read the token.',
    orNone(identity),
  ),
  Namespace: always('The namespace of the request.', word),
  Resource: always('The resource that was asked for.', nullableText),
  Access: always('The access that was asked for.', nullableText),
  Segment: always('The name of the resource.', nullableText),
  Message: always('The message of the refusal.', word),
  SubjectType: nonEmpty('Of an evaluation: the type of its subject.', word),
  RequestID: nonEmpty('Of an evaluation: the X-Request-ID of its request. May be empty.', word),
  TraceID: always('The trace of the request. Empty if its traceparent names none.', word),
  AppliedIndex: always('The index of the state on which the decision was based.', whole64),
  Then: always(
    'Why it was refused.',
    orNone(
      shape({
        Reason: always('The reason, in one word.', word),
        Level: always('The level of the rule that decided.', LEVEL),
        Rule: always('The rule that decided.', nullableText),
      }),
    ),
  ),
  Now: always('The explanation according to the current state.', orNone(explanation)),
  Changed: always('Whether the decision or its reason differs now.', boolean),
  Login: always(
    'The login that was refused.',
    orNone(
      shape({
        AuthMethod: always('The auth method.', word),
        Namespace: always('Its namespace.', word),
        ReasonCode: always('The reason, in one word.', word),
        Reason: always('The reason, in a sentence.', word),
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
    description: 'Reads all rights of the token of the request, merged.',
    answers: ok('The rights.', EFFECTIVE, 'index'),
    refuses: [404],
    blocks: true,
  }),
  'GET /v1/acl/token/:accessor/effective': read('readRights', {
    query: ['at'],
    description: 'Reads all rights of a token, merged.',
    answers: ok('The rights.', EFFECTIVE, 'index'),
    refuses: [404],
    rights: ['acl:read'],
    blocks: true,
  }),
  'GET /v1/acl/decision/:id': read('readDecision', {
    description:
      'Explains why a request was refused, by the decision ID in the header of the refusal.',
    answers: ok('The decision.', DECISION, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'POST /v1/acl/authorize/explain': read('explainAuthorization', {
    query: ['at'],
    description: 'Explains what a token, or a draft of one, may do.',
    body: { members: EXPLAIN.fields },
    answers: ok('The reasons.', EXPLAINED, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'POST /v1/acl/who-can': read('findWhoCan', {
    query: ['at'],
    description: 'Finds the tokens that are allowed a given access.',
    body: { members: WHO_CAN.fields },
    answers: ok('The tokens, in groups.', WHO, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
});
