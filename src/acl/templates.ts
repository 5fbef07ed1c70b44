/**
 * The built-in templated policies, and the synthetic policies that they and the identities stand
 * for.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { policyHash } from './hash.js';
import { identityNameProblem, isIdentityName } from './names.js';

/** Stands in a template for the value of its variable. */
export const NAME_VARIABLE = '{{.Name}}';

/** A templated policy as it is answered. */
export interface Template {
  readonly TemplateName: string;
  /** A JSON schema as text; empty when there are no variables. */
  readonly Schema: string;
  /** Policy rules in which `{{.Name}}` stands for the variable. */
  readonly Template: string;
  readonly Description: string;
}

/** A policy that is stored nowhere: it follows from an identity or a templated policy. */
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

/** Variables of a template in their answered form. */
export interface TemplateVariables {
  readonly name?: string;
}

const NAME_SCHEMA = `{
	"type": "object",
	"properties": {
		"name": { "type": "string", "$ref": "#/definitions/min-length-one" }
	},
	"required": ["name"],
	"definitions": {
		"min-length-one": {
			"type": "string",
			"minLength": 1
		}
	}
}`;

/**
 * One block of rules. Template texts are part of synthetic ids and hashes, so white space counts.
 */
const block = (indent: string, resource: string, name: string, level: string): string =>
  `${resource} "${name}" {\n${indent}policy = "${level}"\n}`;
const tab = (resource: string, name: string, level: string): string =>
  block('\t', resource, name, level);
const two = (resource: string, name: string, level: string): string =>
  block('  ', resource, name, level);

interface BuiltIn extends Template {
  readonly id: string;
  /** Sort of name the variable must be: an identity's, or any that is not empty. */
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

/** Every template by name, as listed. */
export const TEMPLATES: Readonly<Record<string, Template>> = Object.fromEntries(
  [...BUILT_IN].map(([name, template]) => [name, answered(template)]),
);

/** A template by name; letter case counts. */
export function templateByName(name: string): Template | undefined {
  const template = BUILT_IN.get(name);
  return template && answered(template);
}

/** The fixed TemplateID of a template. */
export const templateId = (name: string): string | undefined => BUILT_IN.get(name)?.id;

/** Compiled when it is first needed. */
let nameSchema: ValidateFunction | undefined;

/**
 * What is wrong with the variables of a template that exists, in the words that follow a caller's
 * lead-in; undefined when nothing is. `variables` undefined: none were sent. Empty text counts as
 * not given. `forPreview`: the text is only shown, so a name that would change the meaning of the
 * rules is let through.
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
  nameSchema ??= new Ajv().compile(JSON.parse(NAME_SCHEMA));
  if (!nameSchema(name === '' ? {} : { name })) {
    return schemaProblem(nameSchema.errors?.[0]);
  }
  if (!forPreview && changesRules(name)) {
    return `name ${JSON.stringify(name)} may not hold a quote, a backslash, a control character or "\${"`;
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
 * Templates are filled by plain substitution inside a quoted name, so such a name could add rules
 * of its own.
 */
const changesRules = (name: string): boolean =>
  /["\\\u0000-\u001f\u007f\ufffd]/.test(name) || name.includes('${');

const FNV_OFFSET = '6c62272e07bb014262b821756295c58d';

/** The policy that a template stands for; the template exists and its variables were found good. */
export function syntheticPolicy(
  templateName: string,
  variables: TemplateVariables | undefined,
  datacenters?: readonly string[],
): SyntheticPolicy {
  const template = BUILT_IN.get(templateName);
  if (template === undefined) throw new Error(`no template ${JSON.stringify(templateName)}`);
  // split and join: a replacement text would give `$&` in a name a meaning
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

/** The policy that counts wherever one of two with the same rules does. */
export function inAllDatacenters(one: SyntheticPolicy, other: SyntheticPolicy): SyntheticPolicy {
  const { ID, Name, Description, Rules } = one;
  const isLimited = one.Datacenters !== undefined && other.Datacenters !== undefined;
  const all = isLimited ? new Set([...one.Datacenters, ...other.Datacenters]) : [];
  return limitedTo({ ID, Name, Description, Rules }, [...all].sort());
}

/** A policy for these datacenters; none: for all. */
function limitedTo(
  policy: Pick<SyntheticPolicy, 'ID' | 'Name' | 'Description' | 'Rules'>,
  datacenters: readonly string[] = [],
): SyntheticPolicy {
  const content = { ...policy, ...(datacenters.length > 0 ? { Datacenters: datacenters } : {}) };
  return { ...content, Hash: policyHash(content), CreateIndex: 0, ModifyIndex: 0 };
}

/** The policy of a service identity. */
export const servicePolicy = (name: string, datacenters?: readonly string[]): SyntheticPolicy =>
  syntheticPolicy('builtin/service', { name }, datacenters);

/** The policy of a node identity: it counts in its datacenter only. */
export const nodePolicy = (name: string, datacenter: string): SyntheticPolicy =>
  syntheticPolicy('builtin/node', { name }, [datacenter]);

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX[byte];
  return text;
}
