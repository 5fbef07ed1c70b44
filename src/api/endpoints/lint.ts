/** Lint of policies, of binding rules, and of everything that is stored. */
import type { Lint } from '../../acl/lint/findings.js';
import {
  bodyOf,
  boolean,
  given,
  keep,
  type Normal,
  omit,
  text,
  whole64,
} from '../../languages/fields.js';
import { rules } from '../../state/rules.js';
import { ok, read, tagged } from './operation.js';
import { INDEX, type Made, oneOf, rows, shape } from './shapes.js';

const word = text();

/** The body of a lint of a policy: its rules, or the ID of a stored policy. */
export const POLICY_LINT = bodyOf({
  Rules: given('The rules to lint.', text()),
  ID: given('The ID of a stored policy, to use instead of rules.', text()),
  Namespace: given('The namespace of the policy.', text()),
});

/** The body of a lint of a binding rule: its members, or the ID of a stored rule and changes. */
export const RULE_LINT = bodyOf(rules.fields);
/** Lint also judges a rule whose BindType is missing or unknown. */
const LINTED_RULE = {
  ...RULE_LINT.fields,
  BindType: given(RULE_LINT.fields.BindType.says, text()),
};

const severity = keep('The severity of the problem.', oneOf('error', 'warning', 'info'));

export const LINTED = rows({
  Severity: severity,
  Code: keep('The problem, in one word.', word),
  Message: keep('The problem, in a sentence.', word),
  Field: omit('The field of the object.', word),
  Line: keep('The line in the text.', whole64),
  Column: keep('The column in the line.', whole64),
  Claim: omit('The claim that the problem concerns.', word),
  Fix: omit('A corrected text.', word),
  Hint: omit('A suggestion that may help.', word),
});

const LINT = shape({
  Valid: keep('Whether a write would be accepted.', boolean),
  Problems: keep('What lint finds, in the order of the text.', LINTED),
  More: omit('How many problems are left out.', whole64),
});

const FINDINGS = shape({
  Index: INDEX,
  Findings: keep(
    'What lint finds.',
    rows({
      Ref: keep('The object: its type, namespace and name.', word),
      Severity: severity,
      Code: keep('The problem, in one word.', word),
      Message: keep('The problem, in a sentence.', word),
      Line: omit('The line in the rules of a policy.', whole64),
    }),
  ),
  More: keep('How many findings are left out.', whole64),
});

export type Linted = Made<typeof LINT, Lint>;
export type Finding = Linted['Problems'][number];
/** `GET /v1/acl/lint`. */
export type Findings = Normal<typeof FINDINGS>;
export type StoredFinding = Findings['Findings'][number];

export const LINT_OPERATIONS = tagged('explain', {
  'POST /v1/acl/policy/lint': read('lintPolicy', {
    says: 'Lints rules, or a stored policy.',
    body: { members: POLICY_LINT.fields },
    answers: ok('What lint finds.', LINT, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'POST /v1/acl/binding-rule/lint': read('lintBindingRule', {
    says: 'Lints a new or stored binding rule.',
    body: { members: LINTED_RULE },
    answers: ok('What lint finds.', LINT, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'GET /v1/acl/lint': read('lintCluster', {
    says: 'Lints everything that is stored, and the relationships between objects.',
    query: ['severity'],
    answers: ok('What lint finds.', FINDINGS, 'index'),
    rights: ['acl:read'],
  }),
});
