/** What roles and tokens grant besides their links, as stored and answered. Empty lists are left out. */
export interface Grants {
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  readonly NodeIdentities?: readonly NodeIdentity[];
  readonly TemplatedPolicies?: readonly TemplatedPolicyLink[];
}

export interface ServiceIdentity {
  readonly ServiceName: string;
  /** Left out when empty: all datacenters. */
  readonly Datacenters?: readonly string[];
}

export interface NodeIdentity {
  readonly NodeName: string;
  readonly Datacenter: string;
}

export interface TemplatedPolicyLink {
  readonly TemplateID: string;
  readonly TemplateName: string;
  readonly TemplateVariables?: { readonly name?: string };
  readonly Datacenters?: readonly string[];
}
