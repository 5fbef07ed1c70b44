/** ACL policies. Links show their names, so a rename or a deletion changes what links show. */
import { BUILT_IN_POLICIES, isReservedId } from '../acl/builtin.js';
import { policyNameProblem } from '../acl/names.js';
import { type Refusal, refusal } from '../base/errors.js';
import { always, type Infer, ifSent, items, text } from '../languages/fields.js';
import { keys } from './keys.js';
import { stored } from './lists.js';
import {
  contentHash,
  defineObject,
  description,
  indexes,
  type ObjectSet,
  putObject,
} from './object.js';
import type { ApplyContext } from './types.js';

const fields = {
  ID: always('The ID of the policy.', text()),
  Name: always('The name of the policy.', text()),
  Description: always('A human-readable description of the policy.', description),
  Rules: always('The rules, in the policy language or as JSON.', text()),
  // Stored as it was sent: lists show an empty one, other answers omit it.
  Datacenters: ifSent(
    'The datacenters in which the policy applies. Empty means all.',
    items(text()),
  ),
  Namespace: always('The namespace of the policy.', text()),
  Hash: always('A hash of the content.', contentHash),
  ...indexes,
};

export type Policy = Readonly<Infer<typeof fields>>;

/** Creates a policy under a new id, or replaces one. Its rules were parsed before the proposal. */
export interface PolicySet extends ObjectSet {
  readonly policy: {
    readonly Name: string;
    readonly Description: string;
    readonly Rules: string;
    /** Present if the client sent it, even if it is empty. */
    readonly Datacenters?: readonly string[];
  };
  readonly hash: string;
}

export const policies = defineObject<Policy, typeof fields>({
  table: 'policy',
  description: 'Rules that apply to the tokens and roles that link to them.',
  noun: 'policy',
  plural: 'policies',
  identity: 'ID',
  columns: 'Name, ID?, Datacenters?, Description',
  lines: 'Name, ID, Namespace, Description, Datacenters',
  below: 'Rules',
  fields,
  unlisted: ['Rules'],
  linkedAs: 'policy',
  key: keys.policy,
  nameKey: keys.policyName,
  nameProblem: policyNameProblem,
  complete: (content, command) => ({ ...content, Hash: (command as PolicySet).hash }),
  decide({ draft }, command, before) {
    const { ns, policy } = command as PolicySet;
    if (before !== undefined && isReservedId(before.ID)) {
      const problem = builtInProblem(before, policy);
      if (problem !== undefined) return problem;
    }
    const { Name } = policy;
    if (before?.Name === Name || draft.get(keys.policyName(ns, Name)) === undefined) {
      return undefined;
    }
    const why = `Invalid Policy: A Policy with Name ${JSON.stringify(Name)} already exists`;
    return refusal('conflict', why, { pointer: '/Name' });
  },
  keeps: ({ ID, Name }) =>
    isReservedId(ID)
      ? refusal('invalid', `Delete operation not permitted on the builtin ${Name} policy`)
      : undefined,
});

function builtInProblem(before: Policy, policy: PolicySet['policy']): Refusal | undefined {
  const name = BUILT_IN_POLICIES.find(({ ID }) => ID === before.ID)?.Name ?? before.Name;
  if (policy.Datacenters !== undefined) {
    const why = `Changing the Datacenters of the builtin ${name} policy is not permitted`;
    return refusal('invalid', why, { pointer: '/Datacenters' });
  }
  if (policy.Rules !== before.Rules) {
    const why = `Changing the Rules for the builtin ${name} policy is not permitted`;
    return refusal('invalid', why, { pointer: '/Rules' });
  }
  return undefined;
}

/** Writes a policy that the server creates itself. */
export const plantPolicy = (context: ApplyContext, policy: Policy): string =>
  putObject(
    context,
    policies,
    policy,
    stored<Policy>(context.draft, keys.policy(policy.Namespace, policy.ID)),
  );
