/** What policies, roles and identities a token or a role is linked to, as clients send it. */
import type { TemplatedPolicyLink } from '../state/grants.js';

export type { NodeIdentity, ServiceIdentity } from '../state/grants.js';
export type { LinkInput as Link } from '../state/links.js';
/** The server finds the ID of the template. */
export interface TemplatedPolicy
  extends Omit<TemplatedPolicyLink, 'TemplateID' | 'TemplateVariables'> {
  readonly TemplateVariables?: Readonly<Record<string, string>>;
}
