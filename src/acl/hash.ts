/**
 * The `Hash` of ACL objects: base64 of BLAKE2b-256 over the content's parts, without separators.
 * Equal content gives an equal hash; ids, indexes and the names of linked policies do not enter.
 */
import { blake2b } from '@noble/hashes/blake2.js';

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

/** Standard base64, with padding, of BLAKE2b-256 over the UTF-8 bytes of the parts. */
export function contentHash(parts: readonly string[]): string {
  const digest = blake2b(new TextEncoder().encode(parts.join('')), { dkLen: 32 });
  return btoa(String.fromCharCode(...digest));
}

/** Hash of a policy, synthetic ones included. */
export function policyHash(policy: PolicyContent): string {
  return contentHash([
    policy.Name,
    policy.Description,
    policy.Rules,
    ...(policy.Datacenters ?? []),
  ]);
}

/** Hash of a role. */
export function roleHash(role: RoleContent): string {
  return contentHash([role.Name, role.Description, ...ids(role.Policies), ...identityParts(role)]);
}

/** Hash of a token: a function of description, locality and what it grants. */
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
