/** Names of the groups of tokens that grant alike. */
import type { Group } from '../api/types.js';
import { TEXT } from '../texts.js';

const grantsOf = (group: Group): readonly string[] => [
  ...group.Policies.map(({ Name, ID }) => `policy ${Name ?? ID}`),
  ...group.Roles.map(({ Name, ID }) => `role ${Name ?? ID}`),
  ...group.ServiceIdentities.map(({ ServiceName }) => `service ${ServiceName}`),
  ...group.NodeIdentities.map(({ NodeName }) => `node ${NodeName}`),
  ...group.TemplatedPolicies.map(({ TemplateName }) => TemplateName),
];

/** What the tokens of a group have in common, as text. */
export function groupName(group: Group): string {
  const grants = grantsOf(group).join(', ');
  const from = group.AuthMethod === '' ? '' : TEXT.whoCan.logins(group.AuthMethod);
  return [grants === '' ? TEXT.whoCan.nothing : grants, from].filter(Boolean).join(', ');
}

/** What tells a group from others, whatever was asked. */
export const keyOf = (group: Group): string => {
  const { AuthMethod, Namespace, Policies, Roles } = group;
  const { ServiceIdentities, NodeIdentities, TemplatedPolicies } = group;
  return JSON.stringify([
    AuthMethod,
    Namespace,
    Policies,
    Roles,
    ServiceIdentities,
    NodeIdentities,
    TemplatedPolicies,
  ]);
};
