/** ACL policies. Links show their names, so a rename or a deletion is told through `policyLink`. */
import { BUILT_IN_POLICIES, isReservedId } from '../acl/builtin.js';
import { type Refusal, refusal } from '../errors.js';
import { keys } from './keys.js';
import { buryLink, linkFact, nameLink } from './links.js';
import { namespaceProblem, noteChange, noteDeletion, refused, stored } from './lists.js';
import type { ApplyContext, Command, Handler } from './types.js';

/** A policy as it is stored. */
export interface Policy {
  readonly ID: string;
  readonly Name: string;
  readonly Description: string;
  readonly Rules: string;
  /** Stored as it was sent, even if empty: lists show that; other answers leave an empty one out. */
  readonly Datacenters?: readonly string[];
  readonly Hash: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly Namespace: string;
}

/** Creates a policy under a new id, or replaces one. The text of the rules was parsed before. */
export interface PolicySet extends Command {
  readonly type: 'policy.set';
  readonly ns: string;
  readonly id: string;
  readonly create: boolean;
  readonly policy: {
    readonly Name: string;
    readonly Description: string;
    readonly Rules: string;
    /** Present, even if empty, when the client sent it. */
    readonly Datacenters?: readonly string[];
  };
  readonly hash: string;
}

export interface PolicyDelete extends Command {
  readonly type: 'policy.delete';
  readonly ns: string;
  readonly id: string;
}

/** Stores a policy; answers it. */
export const setPolicy: Handler<PolicySet> = (context, command) => {
  const { draft, index } = context;
  const { ns, id, policy } = command;
  const before = stored<Policy>(draft, keys.policy(ns, id));
  const problem = namespaceProblem(draft, ns) ?? policyProblem(context, command, before);
  if (problem !== undefined) return refused(problem);
  return {
    ok: true,
    value: putPolicy(context, {
      ID: id,
      Name: policy.Name,
      Description: policy.Description,
      Rules: policy.Rules,
      ...(policy.Datacenters === undefined ? {} : { Datacenters: policy.Datacenters }),
      Hash: command.hash,
      CreateIndex: before?.CreateIndex ?? index,
      ModifyIndex: index,
      Namespace: ns,
    }),
  };
};

/** Writes a policy and all that follows from it; gives its text. */
export function putPolicy(context: ApplyContext, policy: Policy): string {
  const { draft } = context;
  const { ID: id, Name: name, Namespace: ns } = policy;
  const before = stored<Policy>(draft, keys.policy(ns, id));
  if (before?.Name !== name) {
    if (before !== undefined) {
      draft.del(keys.policyName(ns, before.Name));
      noteDeletion(context, 'policy', ns);
    }
    draft.put(keys.policyName(ns, name), id);
    nameLink(context, { target: 'policy', ns, id }, name);
  }
  noteChange(context, 'policy', ns);
  const text = JSON.stringify(policy);
  draft.put(keys.policy(ns, id), text);
  return text;
}

/** Deletes a policy; `true` when there was one. Links to it stay stored and show nothing. */
export const deletePolicy: Handler<PolicyDelete> = (context, { ns, id }) => {
  const policy = stored<Policy>(context.draft, keys.policy(ns, id));
  if (policy === undefined) return { ok: true, value: 'false' };
  if (isReservedId(id)) {
    const why = `Delete operation not permitted on the builtin ${policy.Name} policy`;
    return refused(refusal('invalid', why));
  }
  removePolicy(context, policy);
  return { ok: true, value: 'true' };
};

/** Takes a policy and what follows from it out of the state. */
export function removePolicy(context: ApplyContext, { ID: id, Name, Namespace: ns }: Policy): void {
  context.draft.del(keys.policy(ns, id));
  context.draft.del(keys.policyName(ns, Name));
  buryLink(context, { target: 'policy', ns, id });
  noteDeletion(context, 'policy', ns);
}

function policyProblem(
  { draft }: ApplyContext,
  { ns, id, create, policy }: PolicySet,
  before: Policy | undefined,
): Refusal | undefined {
  if (!create && before === undefined) return refusal('not_found', `cannot find policy ${id}`);
  // what links show is kept by id alone, so ids are unique across namespaces
  if (create && linkFact(draft, 'policy', id) !== undefined) {
    return refusal('conflict', `Policy ID ${id} is already in use`);
  }
  if (before !== undefined && isReservedId(id)) {
    const problem = builtInProblem(before, policy);
    if (problem !== undefined) return problem;
  }
  if (before?.Name !== policy.Name && draft.get(keys.policyName(ns, policy.Name)) !== undefined) {
    const why = `Invalid Policy: A Policy with Name ${JSON.stringify(policy.Name)} already exists`;
    return refusal('conflict', why, { pointer: '/Name' });
  }
  return undefined;
}

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
