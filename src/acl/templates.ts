/** The built-in templated policies, and the synthetic policies of templates and identities. */
import type { ErrorObject } from 'ajv';
import { validateVariables } from '../base/validators.js';
import { policyHash } from './hash.js';
import { identityNameProblem, isIdentityName } from './names.js';
import { NAME_SCHEMA } from './template-schema.js';

/** The placeholder for the value of a template's variable. */
export const NAME_VARIABLE = '{{.Name}}';

/** A templated policy as answers contain it. */
export interface Template {
  readonly TemplateName: string;
  /** A JSON schema of the variables, as text. Empty if there are none. */
  readonly Schema: string;
  /** Policy rules with `{{.Name}}` in the place of the variable. */
  readonly Template: string;
  readonly Description: string;
}

/** A policy that is derived from an identity or a templated policy and never stored. */
export interface SyntheticPolicy {
  readonly ID: string;
  readonly Name: string;
  readonly Description: string;
  readonly Rules: string;
  readonly Datacenters?: readonly string[];
  readonly Hash: string;
  readonly CreateIndex: 0;
  readonly ModifyIndex: 0;
}

/** The variables of a template as answers contain them. */
export interface TemplateVariables {
  readonly name?: string;
}

/** Writes one block of rules. White space matters: synthetic ids and hashes depend on the text. */
const block = (indent: string, resource: string, name: string, level: string): string =>
  `${resource} "${name}" {\n${indent}policy = "${level}"\n}`;
const tab = (resource: string, name: string, level: string): string =>
  block('\t', resource, name, level);
const two = (resource: string, name: string, level: string): string =>
  block('  ', resource, name, level);

interface BuiltIn extends Template {
  readonly id: string;
  /** The kind of name: that of an identity, or any non-empty text. */
  readonly variable?: 'Service' | 'Node' | 'any';
}

function builtIn(
  id: number,
  name: string,
  variable: BuiltIn['variable'],
  description: string,
  lines: readonly string[],
): BuiltIn {
  return {
    id: `00000000-0000-0000-0000-${String(id).padStart(12, '0')}`,
    TemplateName: `builtin/${name}`,
    Schema: variable === undefined ? '' : NAME_SCHEMA,
    Template: lines.join('\n'),
    Description: description,
    ...(variable === undefined ? {} : { variable }),
  };
}

const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map(
  [
    builtIn(
      3,
      'service',
      'Service',
      'Gives the token or role permissions to register a service and discover services in the catalog.',
      [
        '',
        tab('service', NAME_VARIABLE, 'write'),
        tab('service', `${NAME_VARIABLE}-sidecar-proxy`, 'write'),
        tab('service_prefix', '', 'read'),
        tab('node_prefix', '', 'read'),
      ],
    ),
    builtIn(
      4,
      'node',
      'Node',
      'Gives the token or role permissions for a node to register itself and discover services.',
      ['', tab('node', NAME_VARIABLE, 'write'), tab('service_prefix', '', 'read')],
    ),
    builtIn(
      5,
      'dns',
      undefined,
      'Gives the token or role permissions to answer DNS questions about nodes, services and queries.',
      [
        '',
        tab('node_prefix', '', 'read'),
        tab('service_prefix', '', 'read'),
        tab('query_prefix', '', 'read'),
      ],
    ),
    builtIn(
      6,
      'nomad-server',
      undefined,
      'Gives the token or role permissions required by a Nomad server.',
      [
        '',
        'acl = "write"',
        two('agent_prefix', '', 'read'),
        two('node_prefix', '', 'read'),
        two('service_prefix', '', 'write'),
      ],
    ),
    builtIn(7, 'workload-identity', 'any', 'Names a workload; it grants nothing by itself.', [
      tab('identity', NAME_VARIABLE, 'write'),
    ]),
    builtIn(
      8,
      'api-gateway',
      'any',
      'Gives the token or role permissions required by an API gateway.',
      [
        'mesh = "read"',
        tab('node_prefix', '', 'read'),
        tab('service_prefix', '', 'read'),
        tab('service', NAME_VARIABLE, 'write'),
      ],
    ),
    builtIn(
      9,
      'nomad-client',
      undefined,
      'Gives the token or role permissions required by a Nomad client.',
      [
        two('agent_prefix', '', 'read'),
        two('node_prefix', '', 'read'),
        two('service_prefix', '', 'write'),
        two('key_prefix', '', 'read'),
      ],
    ),
  ].map((template) => [template.TemplateName, template]),
);

const answered = ({ TemplateName, Schema, Template, Description }: BuiltIn): Template => ({
  TemplateName,
  Schema,
  Template,
  Description,
});

export const TEMPLATES: Readonly<Record<string, Template>> = Object.fromEntries(
  [...BUILT_IN].map(([name, template]) => [name, answered(template)]),
);

/** Returns a template by name. Letter case matters. */
export function templateByName(name: string): Template | undefined {
  const template = BUILT_IN.get(name);
  return template && answered(template);
}

/** Returns the fixed TemplateID of a template. */
export const templateId = (name: string): string | undefined => BUILT_IN.get(name)?.id;

/**
 * Checks the variables of an existing template. Returns the problem as the end of a sentence that
 * the caller begins, or undefined. An empty text counts as absent. With `forPreview` the rules are
 * only shown, so the name may change their meaning.
 */
export function variablesProblem(
  templateName: string,
  variables: TemplateVariables | undefined,
  forPreview = false,
): string | undefined {
  const template = BUILT_IN.get(templateName);
  if (template?.variable === undefined) return undefined;
  if (variables === undefined) return 'Invalid type. Expected: object, given: null';
  const name = variables.name ?? '';
  const kind = template.variable;
  if (kind !== 'any')
    return isIdentityName(name) ? undefined : lowerFirst(identityNameProblem(kind, name));
  if (!validateVariables(name === '' ? {} : { name })) {
    return schemaProblem(validateVariables.errors?.[0]);
  }
  if (!forPreview && changesRules(name)) {
    return `name ${JSON.stringify(name)} must not contain a quote, a backslash, a control character or "\${"`;
  }
  return undefined;
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function schemaProblem(error: ErrorObject | undefined): string {
  return error?.keyword === 'required'
    ? `${error.params['missingProperty']} is required`
    : `${error?.instancePath} ${error?.message}`;
}

/**
 * Whether a name could add rules of its own. Templates are filled by plain substitution inside a
 * quoted name.
 */
const changesRules = (name: string): boolean =>
  /["\\\u0000-\u001f\u007f\ufffd]/.test(name) || name.includes('${');

const FNV_OFFSET = '6c62272e07bb014262b821756295c58d';

/** Returns the policy of a template. The template must exist and its variables must be valid. */
export function syntheticPolicy(
  templateName: string,
  variables: TemplateVariables | undefined,
  datacenters?: readonly string[],
): SyntheticPolicy {
  const template = BUILT_IN.get(templateName);
  if (template === undefined) throw new Error(`no template ${JSON.stringify(templateName)}`);
  // Not `replace`, which would interpret `$&` in a name.
  const rules = template.Template.split(NAME_VARIABLE).join(variables?.name ?? '');
  const id = hex(new TextEncoder().encode(rules)) + FNV_OFFSET;
  const content = {
    ID: id,
    Name: `synthetic-policy-${id}`,
    Description: `synthetic policy generated from templated policy: ${templateName}`,
    Rules: rules,
  };
  return limitedTo(content, datacenters);
}

/** Merges two policies with the same rules: the result applies wherever one of them does. */
export function inAllDatacenters(one: SyntheticPolicy, other: SyntheticPolicy): SyntheticPolicy {
  const { ID, Name, Description, Rules } = one;
  const isLimited = one.Datacenters !== undefined && other.Datacenters !== undefined;
  const all = isLimited ? new Set([...one.Datacenters, ...other.Datacenters]) : [];
  return limitedTo({ ID, Name, Description, Rules }, [...all].sort());
}

/** Limits a policy to datacenters. An empty list stands for all datacenters. */
function limitedTo(
  policy: Pick<SyntheticPolicy, 'ID' | 'Name' | 'Description' | 'Rules'>,
  datacenters: readonly string[] = [],
): SyntheticPolicy {
  const content = { ...policy, ...(datacenters.length > 0 ? { Datacenters: datacenters } : {}) };
  return { ...content, Hash: policyHash(content), CreateIndex: 0, ModifyIndex: 0 };
}

/** Returns the policy of a service identity. */
export const servicePolicy = (name: string, datacenters?: readonly string[]): SyntheticPolicy =>
  syntheticPolicy('builtin/service', { name }, datacenters);

/** Returns the policy of a node identity, limited to its datacenter. */
export const nodePolicy = (name: string, datacenter: string): SyntheticPolicy =>
  syntheticPolicy('builtin/node', { name }, [datacenter]);

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}
