/** The grants of stored policies, templated policies and identities. */
import { NOTHING, storedRules } from './rules.js';
import { atOnce } from './steps.js';
import { NAME_VARIABLE, type TemplateVariables, templateByName } from './templates.js';
import type { Grant, Named, Rules } from './types.js';

const CLUSTER_WIDE_NAMED: ReadonlySet<Named> = new Set(['event', 'query']);

/** Returns the grant of a stored policy. Its rules have offsets. See `storedRules`. */
export const policyGrant = (rules: string, namespace: string): Grant => ({
  rules: atOnce(storedRules(rules, namespace)),
  namespace,
});

/**
 * The parsed rules of each template, with its variable and offsets. A role may have many
 * identities.
 */
const PARSED = new Map<string, Rules>();

/** Fills a template. The result equals the parsed text of the synthetic policy. */
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
 * Returns the grant of a templated policy of a token or role in `namespace`, where it applies.
 * Nodes belong to `default` and may read the services of all namespaces.
 */
export function templateGrant(
  templateName: string,
  variables: TemplateVariables | undefined,
  namespace: string,
): Grant {
  // Rules for the resource `identity` have no effect.
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
  const services = rules.named.filter(({ resource }) => resource === 'service');
  const everywhere = { name: '', prefix: true, rules: { ...NOTHING, named: services } };
  return { rules: { ...rules, namespaces: [everywhere] }, namespace };
}
