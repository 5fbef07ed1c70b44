/** Lint of policies, of binding rules, and of everything that is stored. */
import type { Lint } from '../../acl/lint/findings.js';
import {
  always,
  bodyOf,
  boolean,
  ifSent,
  type Normal,
  nonEmpty,
  text,
  whole64,
} from '../../languages/fields.js';
import { rules } from '../../state/rules.js';
import { ok, read, tagged } from './operation.js';
import { INDEX, type Made, oneOf, rows, shape } from './shapes.js';

const word = text();

/** The body of a lint of a policy: its rules, or the ID of a stored policy. */
export const POLICY_LINT = bodyOf({
  Rules: ifSent('The rules to lint.', text()),
  ID: ifSent('The ID of a stored policy, to use instead of rules.', text()),
  Namespace: ifSent('The namespace of the policy.', text()),
});

/** The body of a lint of a binding rule: its members, or the ID of a stored rule and changes. */
export const RULE_LINT = bodyOf(rules.fields);
/** Lint also judges a rule whose BindType is missing or unknown. */
const LINTED_RULE = {
  ...RULE_LINT.fields,
  BindType: ifSent(RULE_LINT.fields.BindType.description, text()),
};

const severity = always('The severity of the problem.', oneOf('error', 'warning', 'info'));

export const LINTED = rows({
  Severity: severity,
  Code: always('The problem, in one word.', word),
  Message: always('The problem, in a sentence.', word),
  Field: nonEmpty('The field of the object.', word),
  Line: always('The line in the text.', whole64),
  Column: always('The column in the line.', whole64),
  Claim: nonEmpty('The claim that the problem concerns.', word),
  Fix: nonEmpty('A corrected text.', word),
  Hint: nonEmpty('A suggestion that may help.', word),
});

const LINT = shape({
  Valid: always('Whether a write would be accepted.', boolean),
  Problems: always('What lint finds, in the order of the text.', LINTED),
  More: nonEmpty('How many problems are left out.', whole64),
});

const FINDINGS = shape({
  Index: INDEX,
  Findings: always(
    'What lint finds.',
    rows({
      Ref: always('The object: its type, namespace and name.', word),
      Severity: severity,
      Code: always('The problem, in one word.', word),
      Message: always('The problem, in a sentence.', word),
      Line: nonEmpty('The line in the rules of a policy.', whole64),
    }),
  ),
  More: always('How many findings are left out.', whole64),
});

export type Linted = Made<typeof LINT, Lint>;
export type Finding = Linted['Problems'][number];
/** `GET /v1/acl/lint`. */
export type Findings = Normal<typeof FINDINGS>;
export type StoredFinding = Findings['Findings'][number];

export const LINT_OPERATIONS = tagged('explain', {
  'POST /v1/acl/policy/lint': read('lintPolicy', {
    description: 'Lints rules, or a stored policy.',
    body: { members: POLICY_LINT.fields },
    answers: ok('What lint finds.', LINT, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'POST /v1/acl/binding-rule/lint': read('lintBindingRule', {
    description: 'Lints a new or stored binding rule.',
    body: { members: LINTED_RULE },
    answers: ok('What lint finds.', LINT, 'index'),
    refuses: [404],
    rights: ['acl:read'],
  }),
  'GET /v1/acl/lint': read('lintCluster', {
    description: 'Lints everything that is stored, and the relationships between objects.',
    query: ['severity'],
    answers: ok('What lint finds.', FINDINGS, 'index'),
    rights: ['acl:read'],
  }),
});
