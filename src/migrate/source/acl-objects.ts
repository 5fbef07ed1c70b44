/** Converts policies, roles, namespaces, auth methods and binding rules. */
import { type IdentityShape, ruleFaults } from '../../acl/binding.js';
import { isReservedId } from '../../acl/builtin.js';
import { identityNameProblem, isIdentityName, policyNameProblem } from '../../acl/names.js';
import { readRules } from '../../acl/rules.js';
import { KUBERNETES_SHAPE, shapeOfMappings } from '../../acl/shapes.js';
import { templateByName, variablesProblem } from '../../acl/templates.js';
import { METHOD_CONFIGS } from '../../api/auth-methods.js';
import { isObject } from '../../languages/fields.js';
import { placesIn } from '../../languages/syntax.js';
import {
  type Conversion,
  isHidden,
  isNothing,
  listIn,
  MANAGEMENT_POLICY,
  refOf,
  textOf,
} from './conversion.js';
import { mendSelector } from './selectors.js';
import type { MovedItem, Shown } from './types.js';

const itemOf = (Type: MovedItem['Type'], one: Shown, object: Shown): MovedItem => ({
  Type,
  ...(Type !== 'namespace' && { Namespace: textOf(one, 'Namespace') }),
  Object: object,
});

/** Converts a policy; undefined if it is not written. */
export function policyOf(conversion: Conversion, one: Shown): MovedItem | undefined {
  const [id, name, ns] = [textOf(one, 'ID'), textOf(one, 'Name'), textOf(one, 'Namespace')];
  if (isReservedId(id) || (name === MANAGEMENT_POLICY && ns !== 'default')) return undefined;
  const ref = refOf('policy', one);
  if (!conversion.stays(ref, one)) return undefined;
  const problem = policyNameProblem(name);
  if (problem !== undefined)
    return conversion.leaveOut(ref, 'invalid', problem, { Pointer: '/Name' });
  const own = conversion.members(ref, one, ['ID', 'Name', 'Description', 'Rules', 'Datacenters']);
  if (own === undefined) return undefined;
  const rules = rulesOf(conversion, ref, one);
  if (rules === undefined) return undefined;
  conversion.otherDatacenters(ref, 'the policy', one['Datacenters'], '/Datacenters');
  return itemOf('policy', one, { ...own, ID: conversion.idHere(id), Rules: rules });
}

/** Returns the rules to write: the source's, or mended; undefined if the policy is left out. */
function rulesOf(conversion: Conversion, ref: string, one: Shown): string | undefined {
  const rules = textOf(one, 'Rules');
  const ns = textOf(one, 'Namespace');
  const outcome = readRules(rules, ns);
  const { mend, mendRules } = conversion.options;
  const mended = mendRules?.(rules, ns);
  if (outcome.faults.length === 0 && mended === undefined) return rules;
  const isMended = mend && mended !== undefined;
  const { message, ...at } = firstFault(outcome);
  const place = {
    Pointer: '/Rules',
    ...at,
    Original: rules,
    ...(mended !== undefined && { Mended: mended }),
  };
  if (!isMended) return conversion.leaveOut(ref, 'rules', message, place);
  const words = { Lost: 'nothing: what is taken out granted nothing', Do: 'nothing: it is mended' };
  conversion.note(ref, 'rules', message, { ...place, ...words });
  return mended;
}

/** Returns what is wrong with rules, and where. Rules without a fault grant more here. */
function firstFault({ source, faults }: ReturnType<typeof readRules>) {
  const [first] = faults;
  if (first === undefined) return { message: 'this server reads more in the rules' };
  const { line: Line, column: Column } = placesIn(source)(first.at);
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : '';
  return { Line, Column, message: first.lead + first.say(`${Line}:${Column}`) + more };
}

/** Converts a role; undefined if it is not written. */
export function roleOf(conversion: Conversion, one: Shown): MovedItem | undefined {
  const ref = refOf('role', one);
  if (!conversion.stays(ref, one)) return undefined;
  const own = conversion.members(ref, one, ['ID', 'Name', 'Description', ...GRANTS]);
  if (own === undefined || !hasGoodGrants(conversion, ref, one)) return undefined;
  const ID = conversion.idHere(textOf(one, 'ID'));
  return itemOf('role', one, { ...own, ID, ...grantsOf(conversion, ref, one) });
}

/** The members of roles and tokens that grant something. */
export const GRANTS = [
  'Policies',
  'Roles',
  'ServiceIdentities',
  'NodeIdentities',
  'TemplatedPolicies',
] as const;

/** Returns what a role or token grants, as it is written. */
export function grantsOf(conversion: Conversion, ref: string, one: Shown): Shown {
  const roles = conversion.links(ref, one, 'Roles', 'role');
  // The server knows the IDs of templates; those that a client sent to a source may differ.
  const templates = listIn(one, 'TemplatedPolicies').map(
    ({ TemplateID: _id, TemplateVariables, ...rest }) =>
      isNothing(TemplateVariables) ? rest : { ...rest, TemplateVariables },
  );
  return {
    Policies: conversion.links(ref, one, 'Policies', 'policy'),
    ...('Roles' in one && { Roles: roles }),
    ...(templates.length > 0 && { TemplatedPolicies: templates }),
  };
}

/** Whether the identities of a role or token can be written. If not, it is left out. */
export function hasGoodGrants(conversion: Conversion, ref: string, one: Shown): boolean {
  for (const [member, at, identity] of GRANTS.slice(2).flatMap((name) =>
    listIn(one, name).map((item, index) => [name, index, item] as const),
  )) {
    const Pointer = `/${member}/${at}`;
    const problem = identityProblem(member, identity, textOf(one, 'Namespace'));
    if (problem !== undefined) {
      conversion.leaveOut(ref, 'invalid', problem, { Pointer });
      return false;
    }
    const isNode = member === 'NodeIdentities';
    const limits = isNode ? [identity['Datacenter']] : identity['Datacenters'];
    conversion.otherDatacenters(ref, 'an identity', limits, Pointer);
  }
  return true;
}

function identityProblem(member: string, identity: Shown, ns: string): string | undefined {
  if (member === 'TemplatedPolicies') {
    const name = textOf(identity, 'TemplateName');
    if (templateByName(name) === undefined)
      return `no such ACL templated policy with Name ${JSON.stringify(name)}`;
    const variables = identity['TemplateVariables'];
    const given = isObject(variables) ? { name: textOf(variables, 'name') } : undefined;
    return variablesProblem(name, given);
  }
  const [kind, name] =
    member === 'NodeIdentities'
      ? (['Node', textOf(identity, 'NodeName')] as const)
      : (['Service', textOf(identity, 'ServiceName')] as const);
  if (kind === 'Node' && ns !== 'default')
    return 'node identities are allowed only in the namespace "default"';
  return isIdentityName(name) ? undefined : identityNameProblem(kind, name);
}

/** Converts a namespace; undefined if it is not written. */
export function namespaceOf(conversion: Conversion, one: Shown): MovedItem | undefined {
  const ref = refOf('namespace', one);
  if (!conversion.stays(ref, { ...one, Namespace: 'default' })) return undefined;
  const own = conversion.members(ref, one, ['Name', 'Description', 'ACLs', 'Meta']);
  const acls = isObject(one['ACLs']) ? one['ACLs'] : {};
  if (own === undefined) return undefined;
  const ACLs = {
    PolicyDefaults: conversion.links(ref, acls, 'PolicyDefaults', 'policy'),
    RoleDefaults: conversion.links(ref, acls, 'RoleDefaults', 'role'),
  };
  return itemOf('namespace', one, { ...own, ACLs });
}

const METHOD_MEMBERS = [
  'Name',
  'Type',
  'DisplayName',
  'Description',
  'MaxTokenTTL',
  'TokenLocality',
  'NamespaceRules',
  'Config',
];

/** How tokens of logins are named unless a method tells. Releases from 1.22.7 on show it. */
const TOKEN_NAMES = '${auth_method_type}-${auth_method_name}';

/** Converts an auth method; undefined if it is not written. */
export function methodOf(conversion: Conversion, shown: Shown): MovedItem | undefined {
  const { TokenNameFormat = TOKEN_NAMES, ...one } = shown;
  const ref = refOf('auth-method', one);
  if (!conversion.stays(ref, one)) return undefined;
  const type = textOf(one, 'Type');
  const isKnown = type === 'jwt' || type === 'kubernetes' || type === 'oidc';
  if (!isKnown || (type === 'oidc' && !conversion.options.oidc)) {
    const why = isKnown ? 'that the level of the cluster does not have yet' : 'of another edition';
    const message = `its type is ${JSON.stringify(type)}, ${why}`;
    return conversion.leaveOut(ref, 'auth_method_type', message, { Pointer: '/Type' });
  }
  const own = conversion.members(ref, one, METHOD_MEMBERS);
  const config = own && configOf(conversion, ref, type, own);
  if (config !== undefined && TokenNameFormat !== TOKEN_NAMES) {
    const message = 'tokens have no names here: it is written without TokenNameFormat';
    const words = { Lost: 'the names of the tokens of logins', Do: 'read their descriptions' };
    conversion.note(ref, 'member', message, { Pointer: '/TokenNameFormat', ...words });
  }
  return config && itemOf('auth-method', one, { ...own, Config: config });
}

/** The secret in the Config of a type. */
const METHOD_SECRETS: Readonly<Record<string, string>> = {
  kubernetes: 'ServiceAccountJWT',
  oidc: 'OIDCClientSecret',
};

/** Returns the Config to write; undefined if the method is left out. */
function configOf(
  conversion: Conversion,
  ref: string,
  type: keyof typeof METHOD_CONFIGS,
  own: Shown,
): Shown | undefined {
  const known = new Set(Object.keys(METHOD_CONFIGS[type].fields).map((key) => key.toLowerCase()));
  const config: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(isObject(own['Config']) ? own['Config'] : {})) {
    if (known.has(key.toLowerCase())) config[key] = value;
    else if (!isNothing(value)) {
      const code = type === 'oidc' ? 'auth_method_type' : 'member';
      const message = `this server has no setting "${key}" of type ${type}`;
      return conversion.leaveOut(ref, code, message, { Pointer: `/Config/${key}` });
    }
  }
  const secret = METHOD_SECRETS[type] ?? '';
  const key = Object.keys(config).find((one) => one.toLowerCase() === secret.toLowerCase());
  const isPublic = type === 'oidc' && (key === undefined || config[key] === '');
  if (secret === '' || isPublic || (key !== undefined && !isHidden(config[key]))) return config;
  const message = `the source does not show ${secret}`;
  const Pointer = `/Config/${secret}`;
  if (type === 'kubernetes') return conversion.leaveOut(ref, 'hidden_secret', message, { Pointer });
  conversion.note(ref, 'hidden_secret', `${message}: it is written without`, { Pointer });
  delete config[key!];
  return config;
}

const RULE_MEMBERS = [
  'ID',
  'Description',
  'AuthMethod',
  'Selector',
  'BindType',
  'BindName',
  'BindVars',
];

/** Converts a binding rule; undefined if it is not written. */
export function bindingRuleOf(
  conversion: Conversion,
  { Handle, ...one }: Shown,
): MovedItem | undefined {
  const ref = refOf('binding-rule', { ...one, Handle });
  if (!conversion.stays(ref, one)) return undefined;
  const [ns, method] = [textOf(one, 'Namespace'), textOf(one, 'AuthMethod')];
  const methodRef = `auth-method/${ns}/${method}`;
  if (conversion.isLeftOut(methodRef))
    return conversion.leaveOut(ref, 'auth_method_type', `needs ${methodRef}`);
  const own = conversion.members(ref, one, RULE_MEMBERS);
  const mended = own && mendedBinding(conversion, ref, one);
  if (mended === undefined) return undefined;
  const ID = conversion.idHere(textOf(one, 'ID'));
  const item = itemOf('binding-rule', one, { ...own, ID, ...mended });
  return typeof Handle === 'string' && Handle !== '' ? { ...item, Handle } : item;
}

/** Returns what a binding rule is written with otherwise; undefined if it is left out. */
function mendedBinding(conversion: Conversion, ref: string, one: Shown): Shown | undefined {
  const method = conversion.source.authMethods.find(
    ({ Name, Namespace }) =>
      Namespace === one['Namespace'] &&
      String(Name).toLowerCase() === textOf(one, 'AuthMethod').toLowerCase(),
  );
  if (method === undefined) return {};
  const vars = one['BindVars'];
  const rule = {
    Selector: textOf(one, 'Selector'),
    BindType: textOf(one, 'BindType'),
    BindName: textOf(one, 'BindName'),
    ...(isObject(vars) && { BindVars: { name: textOf(vars, 'name') || textOf(vars, 'Name') } }),
  };
  const shape = shapeOf(method);
  const mended = mendSelector(rule.Selector, shape);
  const Mended = typeof mended === 'object' ? { Mended: mended.text } : {};
  for (const fault of ruleFaults(rule, shape, textOf(one, 'Namespace'))) {
    const { field, lead, message, line: Line, column: Column } = fault;
    const place = { Pointer: `/${field}`, Line, Column };
    if (field !== 'Selector') {
      const words = { Lost: 'the binding rule', Do: 'correct it at the source' };
      return conversion.leaveOut(ref, 'invalid', lead + message, { ...place, ...words });
    }
    const texts = { ...place, Original: rule.Selector, ...Mended };
    if (typeof mended !== 'object' || !conversion.options.mend) {
      const Lost = mended === 'never' ? 'nothing: it matches no login' : 'the binding rule';
      const Do = 'correct it at the source';
      return conversion.leaveOut(ref, 'rules', lead + message, { ...texts, Lost, Do });
    }
    const words = { Lost: 'nothing: it matches the same logins', Do: 'nothing: it is mended' };
    conversion.note(ref, 'rules', lead + message, { ...texts, ...words });
  }
  return typeof mended === 'object' ? { Selector: mended.text } : {};
}

/** Returns what the selectors of a method may be about. */
function shapeOf(method: Shown): IdentityShape {
  if (method['Type'] === 'kubernetes') return KUBERNETES_SHAPE;
  const config = isObject(method['Config']) ? method['Config'] : {};
  const mapOf = (member: string): Map<string, string> => {
    const key = Object.keys(config).find((one) => one.toLowerCase() === member.toLowerCase());
    const value = key === undefined ? {} : config[key];
    return new Map(Object.entries(isObject(value) ? value : {}).map(([k, v]) => [k, String(v)]));
  };
  return shapeOfMappings({ values: mapOf('ClaimMappings'), lists: mapOf('ListClaimMappings') });
}
