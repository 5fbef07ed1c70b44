/** Use cases of policies. */
import { randomUUID } from 'node:crypto';
import { policyHash } from '../acl/hash.js';
import { policyNameProblem } from '../acl/names.js';
import { parseRules } from '../acl/rules.js';
import { ApiError, reject } from '../errors.js';
import { keys } from '../state/keys.js';
import { keysBelow, stored } from '../state/lists.js';
import type { Policy, PolicyDelete, PolicySet } from '../state/policies.js';
import type { Answer, View } from '../state/types.js';
import { type Decoded, description, ignored, index, list, text } from './decode.js';
import type { FilterOf } from './filters.js';
import type { ListPlan } from './lists.js';
import {
  listedNamespaces,
  listPosition,
  mustBeUuid,
  mustRead,
  readNamed,
  readText,
} from './reading.js';
import type { ReadUseCase, Service } from './types.js';
import { mayWrite, mustMatchPath, propose, type Write } from './writing.js';

export const POLICY_FIELDS = {
  ID: text,
  Name: text,
  Description: description,
  Rules: text,
  Datacenters: list(text),
  Namespace: text,
  Hash: ignored,
  CreateIndex: index,
  ModifyIndex: index,
};
export type PolicyBody = Decoded<typeof POLICY_FIELDS>;

/** Creates a policy (`id` undefined) or replaces one; gives it as answered. */
export async function writePolicy(
  service: Service,
  write: Write,
  id: string | undefined,
  body: PolicyBody,
): Promise<string> {
  if (id === undefined && (body.ID ?? '') !== '') {
    reject('invalid', 'Cannot specify the ID when creating a new policy', { pointer: '/ID' });
  }
  mustMatchPath(body.ID, id, 'Policy');
  await mayWrite(service, write);
  const name = body.Name ?? '';
  const problem = policyNameProblem(name);
  if (problem !== undefined) reject('invalid', problem, { pointer: '/Name' });
  if (id !== undefined) mustBeUuid(id, 'Policy ID invalid UUID');
  const rules = parseRules(body.Rules ?? '', write.ns);
  if (!rules.ok) throw new ApiError(rules.refusal);
  const policy = {
    Name: name,
    Description: body.Description ?? '',
    Rules: body.Rules ?? '',
    ...(body.Datacenters === undefined ? {} : { Datacenters: body.Datacenters }),
  };
  const command: PolicySet = {
    type: 'policy.set',
    v: 1,
    ns: write.ns,
    id: id?.toLowerCase() ?? randomUUID(),
    create: id === undefined,
    policy,
    hash: policyHash(policy),
  };
  return policyShown(await propose(service, write, command));
}

/** A policy as one that is read: empty Datacenters show in lists alone. No value can hold these bytes unescaped. */
const policyShown = (text: string): string => text.replace(',"Datacenters":[]', '');

/** Reads a policy by its id. */
function policyOf(view: View, ns: string, id: string): Answer<string | undefined> {
  const answer = readText(view, keys.policy(ns, id), 'policy', ns);
  return { ...answer, value: answer.value && policyShown(answer.value) };
}

/** Deletes a policy; `true` or `false`. */
export async function deletePolicy(service: Service, write: Write, id: string): Promise<string> {
  await mayWrite(service, write);
  const command: PolicyDelete = {
    type: 'policy.delete',
    v: 1,
    ns: write.ns,
    id: mustBeUuid(id, 'policy ID'),
  };
  return propose(service, write, command);
}

export const readPolicy =
  (ns: string, id: string): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    return policyOf(view, ns, mustBeUuid(id, 'policy ID'));
  };

export const readPolicyByName =
  (ns: string, name: string): ReadUseCase<string | undefined> =>
  ({ view, authorizer }) => {
    mustRead(authorizer, ns);
    return readNamed(view, keys.policyName(ns, name), { table: 'policy', ns }, (id) =>
      policyOf(view, ns, id),
    );
  };

/** The policies of a namespace (`*`: of all), by name, without their rules. */
export const listPolicies =
  (ns: string, filter: FilterOf): ReadUseCase<ListPlan> =>
  ({ view, authorizer }) => {
    const { shown, filtered } = listedNamespaces(view, authorizer, ns);
    const matches = filter('policy');
    const candidates = shown.flatMap((each) => [...keysBelow(view, 'policy-name', each)]);
    const render: ListPlan['render'] = (of, nameKey) => {
      const id = of.get(nameKey);
      if (id === undefined) return undefined;
      const [, each] = nameKey.split('\u0000') as [string, string];
      const item = listItem(stored<Policy>(of, keys.policy(each, id))!);
      return matches(item) ? JSON.stringify(item) : undefined;
    };
    return {
      value: { candidates, render },
      filtered,
      ...listPosition(view, 'policy', ns, shown),
    };
  };

const listItem = ({ Rules: _rules, Datacenters, ...rest }: Policy) => {
  const { ID, Name, Description, ...others } = rest;
  return { ID, Name, Description, Datacenters: Datacenters ?? null, ...others };
};
