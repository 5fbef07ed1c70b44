/**
 * The `Hash` of ACL objects: base64 of BLAKE2b-256 over the parts of the content, without
 * separators. Objects with equal content have equal hashes. Ids, indexes and the names of linked
 * policies are not part of the content.
 */
import { blake2b256 } from './blake2b.js';

interface PolicyContent {
  readonly Name: string;
  readonly Description: string;
  readonly Rules: string;
  readonly Datacenters?: readonly string[] | null;
}
interface Link {
  readonly ID: string;
}
interface Identities {
  readonly ServiceIdentities?: readonly {
    readonly ServiceName: string;
    readonly Datacenters?: readonly string[];
  }[];
  readonly NodeIdentities?: readonly { readonly NodeName: string; readonly Datacenter: string }[];
  readonly TemplatedPolicies?: readonly {
    readonly TemplateID: string;
    readonly TemplateName: string;
    readonly TemplateVariables?: { readonly name?: string };
    readonly Datacenters?: readonly string[];
  }[];
}
interface RoleContent extends Identities {
  readonly Name: string;
  readonly Description: string;
  readonly Policies?: readonly Link[];
}
interface TokenContent extends Identities {
  readonly Description: string;
  readonly Local: boolean;
  readonly Policies?: readonly Link[];
  readonly Roles?: readonly Link[];
}

/** Returns padded base64 of BLAKE2b-256 over the UTF-8 bytes of the parts. */
export const contentHash = (parts: readonly string[]): string => blake2b256(parts.join(''));

/** Returns the hash of a stored or synthetic policy. */
export function policyHash(policy: PolicyContent): string {
  return contentHash([
    policy.Name,
    policy.Description,
    policy.Rules,
    ...(policy.Datacenters ?? []),
  ]);
}

/** Returns the hash of a role. */
export function roleHash(role: RoleContent): string {
  return contentHash([role.Name, role.Description, ...ids(role.Policies), ...identityParts(role)]);
}

/** Returns the hash of a token: over its description, its locality and its grants. */
export function tokenHash(token: TokenContent): string {
  return contentHash([
    token.Description,
    token.Local ? 'local' : 'global',
    ...ids(token.Policies),
    ...ids(token.Roles),
    ...identityParts(token),
  ]);
}

const ids = (links: readonly Link[] | undefined): string[] => (links ?? []).map((link) => link.ID);

function identityParts(content: Identities): string[] {
  return [
    ...(content.ServiceIdentities ?? []).flatMap((s) => [s.ServiceName, ...(s.Datacenters ?? [])]),
    ...(content.NodeIdentities ?? []).flatMap((n) => [n.NodeName, n.Datacenter]),
    ...(content.TemplatedPolicies ?? []).flatMap((t) => [
      t.TemplateID,
      t.TemplateName,
      t.TemplateVariables?.name ?? '',
      ...(t.Datacenters ?? []),
    ]),
  ];
}
