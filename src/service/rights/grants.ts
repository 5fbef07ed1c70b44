/** Checks and normalises the identities and templated policies of roles and tokens. */
import { identityNameProblem, isIdentityName } from '../../acl/names.js';
import { TEMPLATES, templateId, variablesProblem } from '../../acl/templates.js';
import { reject } from '../../base/errors.js';
import type { Sent } from '../../languages/fields.js';
import { didYouMean } from '../../languages/suggest.js';
import type {
  Grants,
  grants,
  NodeIdentity,
  ServiceIdentity,
  TemplatedPolicyLink,
} from '../../state/grants.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';

type GrantsSent = Sent<typeof grants>;

/** What holds the grants: messages and some rules differ. */
export interface Holder {
  readonly is: 'role' | 'token';
  readonly ns: string;
  /** Whether it is a token of this datacenter only. */
  readonly local?: boolean;
}

/** Checks what was sent. Returns its normal form, without empty lists. Throws ApiError. */
export function normaliseGrants(sent: GrantsSent, holder: Holder): Grants {
  const services = serviceIdentities(sent.ServiceIdentities ?? [], holder);
  const nodes = nodeIdentities(sent.NodeIdentities ?? [], holder);
  const templates = templatedPolicies(sent.TemplatedPolicies ?? [], holder);
  return {
    ...(services.length > 0 ? { ServiceIdentities: services } : {}),
    ...(nodes.length > 0 ? { NodeIdentities: nodes } : {}),
    ...(templates.length > 0 ? { TemplatedPolicies: templates } : {}),
  };
}

type Items<K extends keyof GrantsSent> = NonNullable<GrantsSent[K]>;

/** Merges by name, in order. A restriction to datacenters outlives an unrestricted repeat. */
function serviceIdentities(sent: Items<'ServiceIdentities'>, holder: Holder): ServiceIdentity[] {
  const merged = new Map<string, string[]>();
  for (const [position, { ServiceName: name = '', Datacenters = [] }] of sent.entries()) {
    const pointer = `/ServiceIdentities/${position}`;
    if (name === '') {
      const why = `Service identity is missing the service name field on this ${holder.is}`;
      reject('invalid', why, { pointer });
    }
    if (!isIdentityName(name)) {
      reject('invalid', identityNameProblem('Service', name), { pointer });
    }
    if (holder.local === true && Datacenters.length > 0) {
      const why = `Service identity ${JSON.stringify(name)} cannot specify a list of datacenters on a local token`;
      reject('invalid', why, { pointer: `${pointer}/Datacenters` });
    }
    const known = merged.get(name);
    const all = known === undefined ? [...Datacenters] : [...new Set([...known, ...Datacenters])];
    merged.set(name, all.sort());
  }
  return [...merged].map(([ServiceName, Datacenters]) => ({
    ServiceName,
    ...(Datacenters.length > 0 ? { Datacenters } : {}),
  }));
}

function nodeIdentities(sent: Items<'NodeIdentities'>, { is, ns }: Holder): NodeIdentity[] {
  if (sent.length > 0 && ns !== DEFAULT_NAMESPACE) {
    const why = `Node identities are allowed only on a ${is} of the namespace "default", to which nodes belong`;
    reject('invalid', why, { pointer: '/NodeIdentities' });
  }
  const unique = new Map<string, NodeIdentity>();
  for (const [position, { NodeName = '', Datacenter = '' }] of sent.entries()) {
    const pointer = `/NodeIdentities/${position}`;
    if (NodeName === '') {
      reject('invalid', `Node identity is missing the node name field on this ${is}`, { pointer });
    }
    if (Datacenter === '') {
      reject('invalid', `Node identity is missing the datacenter field on this ${is}`, { pointer });
    }
    if (!isIdentityName(NodeName)) {
      reject('invalid', identityNameProblem('Node', NodeName), { pointer });
    }
    const key = JSON.stringify([NodeName, Datacenter]);
    if (!unique.has(key)) unique.set(key, { NodeName, Datacenter });
  }
  return [...unique.values()];
}

function templatedPolicies(
  sent: Items<'TemplatedPolicies'>,
  holder: Holder,
): TemplatedPolicyLink[] {
  const unique = new Map<string, TemplatedPolicyLink>();
  for (const [position, item] of sent.entries()) {
    const pointer = `/TemplatedPolicies/${position}`;
    const { TemplateName = '', TemplateVariables, Datacenters = [] } = item;
    const id = knownTemplate(TemplateName, item.TemplateID, holder, pointer);
    const problem = variablesProblem(TemplateName, TemplateVariables);
    if (problem !== undefined) {
      const leadIn =
        holder.is === 'role'
          ? 'encountered role with invalid templated policy: '
          : `validation error for templated policy ${JSON.stringify(TemplateName)}: `;
      reject('invalid', leadIn + problem, { pointer: `${pointer}/TemplateVariables` });
    }
    const takesName = TEMPLATES[TemplateName]?.Schema !== '';
    const key = JSON.stringify([TemplateName, takesName ? TemplateVariables?.name : null]);
    if (unique.has(key)) continue;
    unique.set(key, {
      TemplateID: id,
      TemplateName,
      ...(TemplateVariables === undefined ? {} : { TemplateVariables }),
      ...(Datacenters.length > 0 ? { Datacenters } : {}),
    });
  }
  return [...unique.values()];
}

/** Returns the id of a template. Throws ApiError if there is none. */
function knownTemplate(
  name: string,
  sentId: string | undefined,
  { is }: Holder,
  pointer: string,
): string {
  if (name === '') {
    const why = `templated policy is missing the template name field on this ${is}`;
    reject('invalid', why, { pointer });
  }
  const id = templateId(name);
  if (id === undefined) {
    const hint = didYouMean(name, Object.keys(TEMPLATES));
    const why =
      is === 'role'
        ? `templated policy with an invalid templated name: ${name} for this role${hint}`
        : `no such ACL templated policy with Name ${JSON.stringify(name)}${hint}`;
    reject('unknown_reference', why, { pointer: `${pointer}/TemplateName` });
  }
  if (sentId !== undefined && sentId !== '' && sentId !== id) {
    const why = `TemplateID ${JSON.stringify(sentId)} is not the id of ${name}, which is ${id}`;
    reject('invalid', why, { pointer: `${pointer}/TemplateID` });
  }
  return id;
}
