/**
 * What explanations, lint, logins and templated policies answer. Clients read some of it by the
 * types of answers.ts.
 */

import {
  anyObject,
  boolean,
  items,
  keep,
  object,
  omit,
  type Type,
  text,
  utcTime,
  whole64,
} from '../../languages/fields.js';
import { grants } from '../../state/grants.js';
import { links } from '../../state/links.js';
import type {
  Clause,
  Decision,
  Effective,
  Explained,
  Findings,
  JudgedRule,
  Linted,
  LoginExplained,
  LoginToken,
  Result,
  Right,
  Source,
  WhoCan,
} from './answers.js';
import { anyAs, listOf, mapOf, oneOf, orNone, shape } from './shapes.js';

const word = text();
const LEVEL = orNone(oneOf('deny', 'read', 'list', 'write'));
const nullableText = orNone(word);

const step = object({
  Type: keep('The type of the step.', word),
  ID: keep('The ID of the object.', word),
  Name: keep('The name of the object.', word),
});
const source: Type<Source> = shape({
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
const explanation: Type<Result> = shape({
  Resource: keep('The resource of the question.', word),
  Access: keep('The access of the question.', word),
  Segment: keep('The name of the resource.', word),
  Namespace: keep('The namespace of the resource.', word),
  Allow: keep('Whether the access is allowed.', boolean),
  Reason: keep('The reason, in one word.', word),
  Layer: omit('own, or namespace_default if the defaults of the namespace decide.', word),
  Level: keep('The level of the rule that decides.', LEVEL),
  Text: keep('The reason, in a sentence.', word),
  Winner: keep('The rule that decides.', orNone(shape(ruleFields))),
  Candidates: keep(
    'Other rules that concern the question.',
    listOf(shape({ ...ruleFields, Why: keep('Why the rule does not decide.', word) })),
  ),
  MoreCandidates: keep('How many rules are left out.', whole64),
});

const whose = {
  AccessorID: keep('The token.', word),
  Namespace: keep('The namespace of the token.', word),
  Anonymous: keep('Whether it is the anonymous token.', boolean),
  DefaultPolicy: keep('The decision if no rule applies.', word),
};
const INDEX = keep('The index of the state that was read.', whole64);

/** `POST /v1/acl/authorize/explain`. */
export const EXPLAINED: Type<Explained> = shape({
  ...whose,
  Description: keep('The description of the token.', word),
  Index: INDEX,
  Results: keep('The answers, in the order of the questions.', listOf(explanation)),
});

const RIGHTS: Type<readonly Right[]> = listOf(
  shape({
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
  }),
);

/** `GET /v1/acl/token/self/effective`. */
export const EFFECTIVE: Type<Effective> = shape({
  ...whose,
  ExpirationTime: omit('When the token expires.', utcTime),
  Truncated: keep('Whether rights are left out.', boolean),
  Rights: keep('The merged rights.', RIGHTS),
});

/** `POST /v1/acl/who-can`. */
export const WHO: Type<WhoCan> = shape({
  Index: INDEX,
  Scanned: keep('How many tokens were examined.', whole64),
  Allowed: keep('How many of them are allowed the access.', whole64),
  Truncated: keep('Whether the search stopped before the last token.', boolean),
  Filtered: keep('Whether namespaces that the caller may not read were left out.', boolean),
  Groups: keep(
    'Groups of tokens with the same grants, the largest first.',
    listOf(
      shape({
        Tokens: keep('How many tokens are in the group.', whole64),
        AuthMethod: keep('The auth method of their logins, if any.', word),
        Namespace: keep('Their namespace.', word),
        Policies: keep('Their policies.', links('policy')),
        Roles: keep('Their roles.', links('role')),
        ServiceIdentities: keep('Their service identities.', grants.ServiceIdentities.type),
        NodeIdentities: keep('Their node identities.', grants.NodeIdentities.type),
        TemplatedPolicies: keep('Their templated policies.', grants.TemplatedPolicies.type),
        Sample: keep(
          'Some of the tokens.',
          listOf(
            shape({
              AccessorID: keep('The token.', word),
              Description: keep('Its description.', word),
            }),
          ),
        ),
        Result: keep('Why they are allowed the access.', explanation),
      }),
    ),
  ),
  MoreGroups: keep('How many groups are left out.', whole64),
});

/** `GET /v1/acl/decision/:id`. */
export const DECISION: Type<Decision> = shape({
  ID: keep('The ID of the decision.', word),
  Time: keep('When it was made.', utcTime),
  Node: keep('The node that made it.', word),
  Type: keep('What was decided.', oneOf('authorization', 'unknown_token', 'login')),
  Method: keep('The HTTP method of the request.', word),
  Path: keep('The path of the request.', word),
  RemoteAddr: keep('The address of the client.', word),
  AccessorID: keep('The token of the request.', nullableText),
  Namespace: keep('The namespace of the request.', word),
  Resource: keep('The resource that was asked for.', nullableText),
  Access: keep('The access that was asked for.', nullableText),
  Segment: keep('The name of the resource.', nullableText),
  Message: keep('The message of the refusal.', word),
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

const names = listOf(word);
const judgedRule: Type<JudgedRule> = shape({
  ID: keep('The ID of the rule.', word),
  Description: keep('Its description.', word),
  BindType: keep('What it binds.', word),
  BindName: keep('The template from which it computes the name.', word),
  Selector: keep('Its selector.', word),
  Matches: keep('Whether it applies to the login.', boolean),
  Clause: keep(
    'The selector in parts, each with its result. Null if it is empty or cannot be evaluated.',
    orNone(anyAs<Clause>({ Type: 'match', Text: '', Result: false })),
  ),
  Name: keep('The name that the rule computes.', nullableText),
  Vars: keep('The variables that the rule computes for a template.', orNone(anyObject)),
  Target: keep('What the name refers to.', orNone(anyObject)),
  Effect: keep('What the rule does for the login.', word),
  Problem: keep('Why the rule cannot be evaluated.', word),
});
const loginToken: Type<LoginToken> = shape({
  Description: keep('Its description.', word),
  Policies: omit('Its policies.', links('policy')),
  Roles: omit('Its roles.', links('role')),
  ...grants,
  Local: keep('Whether it belongs to one datacenter.', boolean),
  AuthMethod: keep('The auth method.', word),
  AuthMethodNamespace: omit('The namespace of the auth method, if it differs.', word),
  ExpirationTTL: omit('How long the token is valid.', word),
  Namespace: keep('Its namespace.', word),
});

/** `POST /v1/acl/login/explain`. */
export const LOGIN_EXPLAINED: Type<LoginExplained> = shape({
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
    listOf(
      shape({
        Name: keep('The name of the check.', word),
        Result: keep('The result of the check.', oneOf('passed', 'failed', 'skipped')),
        Detail: keep('Why it failed.', word),
      }),
    ),
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

const severity = keep('The severity of the problem.', oneOf('error', 'warning', 'info'));

/** Lint of a policy or of a binding rule. */
export const LINT: Type<Linted> = shape({
  Valid: keep('Whether a write would be accepted.', boolean),
  Problems: keep(
    'What lint finds, in the order of the text.',
    listOf(
      shape({
        Severity: severity,
        Code: keep('The problem, in one word.', word),
        Message: keep('The problem, in a sentence.', word),
        Field: omit('The field of the object.', word),
        Line: keep('The line in the text.', whole64),
        Column: keep('The column in the line.', whole64),
        Claim: omit('The claim that the problem concerns.', word),
        Fix: omit('A corrected text.', word),
        Hint: omit('A suggestion that may help.', word),
      }),
    ),
  ),
  More: omit('How many problems are left out.', whole64),
});

/** `GET /v1/acl/lint`. */
export const FINDINGS: Type<Findings> = shape({
  Index: INDEX,
  Findings: keep(
    'What lint finds.',
    listOf(
      shape({
        Ref: keep('The object: its type, namespace and name.', word),
        Severity: severity,
        Code: keep('The problem, in one word.', word),
        Message: keep('The problem, in a sentence.', word),
        Line: omit('The line in the rules of a policy.', whole64),
      }),
    ),
  ),
  More: keep('How many findings are left out.', whole64),
});

/** A templated policy. */
export const TEMPLATE = shape({
  TemplateName: keep('The name of the template.', word),
  Schema: keep('The JSON Schema of its variables, as text. Empty if it has none.', word),
  Template: keep('The rules, with placeholders for the variables.', word),
  Description: keep('What the template grants.', word),
});
/** All templates by name. */
export const TEMPLATES = mapOf(TEMPLATE);

const synthetic = {
  ID: keep('The ID of the policy. It is not stored.', word),
  Name: keep('The name of the policy.', word),
  Description: keep('Where the policy comes from.', word),
  Rules: keep('The rules.', word),
  Datacenters: omit('The datacenters in which it applies.', items(word)),
  Hash: keep('A hash of the content.', word),
  CreateIndex: keep('Always 0.', whole64),
  ModifyIndex: keep('Always 0.', whole64),
};
/** A policy that a template yields. */
export const PREVIEW = shape(synthetic);

/** `POST /v1/internal/acl/authorize`. */
export const AUTHORIZED = listOf(
  shape({
    Resource: keep('The resource.', word),
    Access: keep('The access.', word),
    Segment: omit('The name of the resource.', word),
    Allow: keep('Whether the access is allowed.', boolean),
  }),
);
