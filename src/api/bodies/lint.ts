/** The bodies of requests that lint a policy or a binding rule. */
import { bodyOf, given, text } from '../../languages/fields.js';
import { rules } from '../../state/rules.js';

/** The body of a lint of a policy: its rules, or the ID of a stored policy. */
export const POLICY_LINT = bodyOf({
  Rules: given('The rules to lint.', text()),
  ID: given('The ID of a stored policy, to use instead of rules.', text()),
  Namespace: given('The namespace of the policy.', text()),
});

/** The body of a lint of a binding rule: its members, or the ID of a stored rule and changes. */
export const RULE_LINT = bodyOf(rules.fields);
