/** What the comparison of rights is given, and what it finds (moving-in.md 5 and 7). */
import type { Asked } from '../../acl/reasons.js';
import type { DifferenceCode } from '../../api/migration-report.js';

/**
 * Whose reading of rules a state has: `community` and `enterprise` are the editions of Consul (the
 * first knows no namespaces), `ours` is this server.
 */
export type Reader = 'community' | 'enterprise' | 'ours';

interface LinkShown {
  readonly ID?: string;
  readonly Name?: string;
}
/** What roles and tokens grant, as the API shows it. */
export interface HolderShown {
  readonly Policies?: readonly LinkShown[] | null;
  readonly Roles?: readonly LinkShown[] | null;
  readonly ServiceIdentities?:
    | readonly { readonly ServiceName: string; readonly Datacenters?: readonly string[] | null }[]
    | null;
  readonly NodeIdentities?:
    | readonly { readonly NodeName: string; readonly Datacenter: string }[]
    | null;
  readonly TemplatedPolicies?:
    | readonly {
        readonly TemplateName: string;
        readonly TemplateVariables?: { readonly name?: string; readonly Name?: string } | null;
        readonly Datacenters?: readonly string[] | null;
      }[]
    | null;
}
/** A policy as the API shows it. */
export interface PolicyShown {
  readonly ID: string;
  readonly Name: string;
  readonly Rules: string;
  readonly Datacenters?: readonly string[] | null;
  readonly Namespace?: string;
}
/** A role as the API shows it. */
export interface RoleShown extends HolderShown {
  readonly ID: string;
  readonly Name: string;
  readonly Namespace?: string;
}
/** A token as the API shows it. Its secret is not looked at. */
export interface TokenShown extends HolderShown {
  readonly AccessorID: string;
  readonly Description?: string;
  readonly Namespace?: string;
}
/** A namespace as the API shows it. */
export interface NamespaceShown {
  readonly Name: string;
  readonly ACLs?: {
    readonly PolicyDefaults?: readonly LinkShown[] | null;
    readonly RoleDefaults?: readonly LinkShown[] | null;
  } | null;
}

/** What decides rights on one side. The target's may be that which a dry run would write. */
export interface RightsState {
  readonly reader: Reader;
  readonly defaultPolicy: 'allow' | 'deny';
  readonly datacenter: string;
  readonly namespaces: readonly NamespaceShown[];
  readonly policies: readonly PolicyShown[];
  readonly roles: readonly RoleShown[];
  readonly tokens: readonly TokenShown[];
}

/** How rights are compared. */
export interface CompareOptions {
  /**
   * Objects of the source that are left out, such as `policy/default/ops` and `token/<AccessorID>`:
   * differences that follow from them are `left_out`.
   */
  readonly leftOut?: ReadonlySet<string>;
  /** Codes that do not count: the rest is equal without them. */
  readonly accept?: ReadonlySet<DifferenceCode>;
}

/** Tokens that are granted alike, with the questions that tell their rights apart. */
export interface GrantClass {
  readonly accessors: readonly string[];
  /** The questions in the order of 5.3: names of rules first, then names below prefixes. */
  questions(): Iterable<Asked>;
  /** What the source answers by its rules. */
  expected(asked: Asked): boolean;
}
