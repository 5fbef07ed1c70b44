/** Options of tokens and roles for what they are linked to. */
import type { Command } from 'commander';
import { type Call, several } from '../cli.js';
import { objectsOf } from '../files/documents.js';
import { readNamed } from '../files/files.js';
import { misused } from '../print/error.js';
import { POLICIES, ROLES } from './acl-objects.js';
import {
  type Link,
  type Links,
  nodeIdentity,
  pairsOf,
  serviceIdentity,
  type TemplatedPolicy,
} from './links.js';
import { find, type ObjectType } from './objects.js';

/** The options, as commander names them. */
export interface LinkOptions {
  readonly policyName?: readonly string[];
  readonly policyId?: readonly string[];
  readonly roleName?: readonly string[];
  readonly roleId?: readonly string[];
  readonly serviceIdentity?: readonly string[];
  readonly nodeIdentity?: readonly string[];
  readonly templatedPolicy?: string;
  readonly templatedPolicyFile?: readonly string[];
  readonly var?: readonly string[];
}

/** Adds the options; `isToken` adds those of roles. */
export function withLinks(command: Command, isToken: boolean): Command {
  command
    .option('--policy-name <name>', 'policy to link; repeatable', several)
    .option('--policy-id <id>', 'the same, by ID or a unique prefix of it; repeatable', several);
  if (isToken)
    command
      .option('--role-name <name>', 'role to link; repeatable', several)
      .option('--role-id <id>', 'the same, by ID or a unique prefix of it; repeatable', several);
  return command
    .option('--service-identity <name>', 'NAME or NAME:DATACENTER,…; repeatable', several)
    .option('--node-identity <name>', 'NAME:DATACENTER; repeatable', several)
    .option('--templated-policy <name>', 'templated policy, such as builtin/service')
    .option('--var <pair>', 'variable of the templated policy, such as name:web', several)
    .option(
      '--templated-policy-file <file>',
      'file with templated policies as JSON or YAML',
      several,
    );
}

/** Returns the links that the options give; lists that no option names are left out. */
export async function linksOf(call: Call<LinkOptions>): Promise<Links> {
  const { options } = call;
  const list = <T>(name: keyof Links, items: readonly T[]) =>
    items.length === 0 ? {} : { [name]: items };
  return {
    ...list('Policies', await linkedTo(call, POLICIES, options.policyName, options.policyId)),
    ...list('Roles', await linkedTo(call, ROLES, options.roleName, options.roleId)),
    ...list('ServiceIdentities', (options.serviceIdentity ?? []).map(serviceIdentity)),
    ...list('NodeIdentities', (options.nodeIdentity ?? []).map(nodeIdentity)),
    ...list('TemplatedPolicies', await templatesOf(options)),
  };
}

const WHOLE_ID = 36;

async function linkedTo<T>(
  call: Call<object>,
  type: ObjectType<T>,
  names: readonly string[] = [],
  ids: readonly string[] = [],
): Promise<Link[]> {
  const links: Link[] = names.map((Name) => ({ Name }));
  for (const id of ids)
    links.push({
      ID: id.length === WHOLE_ID ? id : type.id(await find(call, type, { text: id, by: 'id' })),
    });
  return links;
}

async function templatesOf(options: LinkOptions): Promise<TemplatedPolicy[]> {
  const { templatedPolicy, templatedPolicyFile = [], var: variables = [] } = options;
  if (templatedPolicy === undefined && variables.length > 0)
    misused('--var needs --templated-policy');
  const templates: TemplatedPolicy[] = [];
  if (templatedPolicy !== undefined)
    templates.push({
      TemplateName: templatedPolicy,
      ...(variables.length > 0 && { TemplateVariables: pairsOf('--var', variables) }),
    });
  for (const file of templatedPolicyFile) {
    const read = await objectsOf(file, readNamed('--templated-policy-file', file));
    // The server checks the members of each.
    templates.push(...(read as TemplatedPolicy[]));
  }
  return templates;
}
