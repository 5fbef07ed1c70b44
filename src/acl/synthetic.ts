/** The rules of synthetic policies, and of any policy text that was accepted once. */
import { parseRules } from './rules.js';
import { NAME_VARIABLE, type TemplateVariables, templateByName } from './templates.js';
import type { Grant, Named, NamedRule, Rules } from './types.js';

const NOTHING: Rules = { scalars: {}, named: [], namespaces: [] };
const ALL_SERVICES_READ: NamedRule = {
  resource: 'service',
  prefix: true,
  name: '',
  level: 'read',
};
const CLUSTER_WIDE_NAMED: ReadonlySet<Named> = new Set(['event', 'query']);

/**
 * The grant of a stored policy. A text that cannot be read grants nothing: such a policy was
 * refused when written, so only a damaged state can hold one.
 */
export function policyGrant(rules: string, namespace: string): Grant {
  const outcome = parseRules(rules, namespace);
  return { rules: outcome.ok ? outcome.rules : NOTHING, namespace };
}

/**
 * Rules of templates as they are written, by name: parsed once, for a role may hold many
 * identities.
 */
const PARSED = new Map<string, Rules>();

/** The rules of a template for a name: what parsing the text of its synthetic policy gives. */
function filled(templateName: string, name: string): Rules {
  let rules = PARSED.get(templateName);
  if (rules === undefined) {
    const template = templateByName(templateName);
    if (template === undefined) throw new Error(`no template ${JSON.stringify(templateName)}`);
    rules = policyGrant(template.Template, 'default').rules;
    PARSED.set(templateName, rules);
  }
  const named = rules.named.map((rule) =>
    rule.name.includes(NAME_VARIABLE)
      ? { ...rule, name: rule.name.split(NAME_VARIABLE).join(name) }
      : rule,
  );
  return { ...rules, named };
}

/**
 * The grant of a templated policy of a token or role that lives in `namespace`. It acts in that
 * namespace; nodes belong to `default` and may read the services of all.
 */
export function templateGrant(
  templateName: string,
  variables: TemplateVariables | undefined,
  namespace: string,
): Grant {
  // identity rules have no effect
  if (templateName === 'builtin/workload-identity') return { rules: NOTHING, namespace };
  const rules = filled(templateName, variables?.name ?? '');
  if (namespace !== 'default') {
    const named = rules.named.filter(
      ({ resource, level }) =>
        !CLUSTER_WIDE_NAMED.has(resource) && !(resource === 'node' && level === 'write'),
    );
    return { rules: { ...rules, named }, namespace };
  }
  if (templateName !== 'builtin/node') return { rules, namespace };
  const everywhere = {
    name: '',
    prefix: true,
    rules: { ...NOTHING, named: [ALL_SERVICES_READ] },
  };
  return { rules: { ...rules, namespaces: [everywhere] }, namespace };
}

/** The grant of a service identity. */
export const serviceGrant = (name: string, namespace: string): Grant =>
  templateGrant('builtin/service', { name }, namespace);

/** The grant of a node identity, to be used in its datacenter only. */
export const nodeGrant = (name: string, namespace: string): Grant =>
  templateGrant('builtin/node', { name }, namespace);
