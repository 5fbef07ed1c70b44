/** The commands on policies, roles, tokens, auth methods, binding rules and namespaces. */
import type { Command } from 'commander';
import type { Link } from '../../api/links.js';
import type { Call, Cli } from '../cli.js';
import { documentOf, objectsOf } from '../files/documents.js';
import { readInput, readNamed, textOption } from '../files/files.js';
import { misused } from '../print/error.js';
import { nodeIdentity, pairsOf, serviceIdentity } from './links.js';
import { addObject, type Flag, type ObjectCommands, withOne } from './object-commands.js';
import {
  find,
  hidden,
  idIn,
  type ObjectType,
  type OneOptions,
  pathOf,
  type Stored,
  TYPE,
  wanted,
} from './objects.js';
import { addMethodUsage, addTokenUsage } from './token-usage.js';

type Read = NonNullable<Flag['read']>;

const flag = (flags: string, what: string, member: string, read?: Read): Flag => ({
  flags,
  what,
  member,
  ...(read && { read }),
});
const repeatable = (flags: string, what: string, member: string, read?: Read): Flag => ({
  ...flag(flags, what, member, read),
  isRepeatable: true,
});

const NAME = flag('--name <name>', 'its name', 'Name');
const DESCRIPTION = flag('--description <text>', 'what it is for', 'Description');

const byName = (names: readonly string[]): Link[] => names.map((Name) => ({ Name }));
const WHOLE_ID = 36;
const byId =
  (type: ObjectType) =>
  async (ids: readonly string[], call: Call<object>): Promise<Link[]> => {
    const links: Link[] = [];
    for (const id of ids) {
      const isWhole = id.length === WHOLE_ID;
      links.push({
        ID: isWhole ? id : idIn(type, await find(call, type, { text: id, by: 'id' })),
      });
    }
    return links;
  };
const services = (texts: readonly string[]) => texts.map(serviceIdentity);
const nodes = (texts: readonly string[]) => texts.map(nodeIdentity);

const linked = (word: string, member: string, type: ObjectType): readonly Flag[] => [
  repeatable(`--${word}-name <name>`, `${word} to link; repeatable`, member, byName),
  repeatable(
    `--${word}-id <id>`,
    'the same, by ID or a unique prefix of it; repeatable',
    member,
    byId(type),
  ),
];
const POLICY_LINKS = linked('policy', 'Policies', TYPE.policy);
const ROLE_LINKS = linked('role', 'Roles', TYPE.role);
const TEMPLATES = 'TemplatedPolicies';
const IDENTITIES: readonly Flag[] = [
  repeatable(
    '--service-identity <name>',
    'NAME or NAME:DATACENTER,…; repeatable',
    'ServiceIdentities',
    services,
  ),
  repeatable('--node-identity <name>', 'NAME:DATACENTER; repeatable', 'NodeIdentities', nodes),
  flag(
    '--templated-policy <name>',
    'templated policy, such as builtin/service',
    TEMPLATES,
    (TemplateName: string, { options }) => {
      const variables = options['var'] as readonly string[] | undefined;
      return [
        { TemplateName, ...(variables && { TemplateVariables: pairsOf('--var', variables) }) },
      ];
    },
  ),
  {
    flags: '--var <pair>',
    what: 'variable of the templated policy, such as name:web',
    isRepeatable: true,
    read(_, { options }) {
      if (options['templatedPolicy'] === undefined) misused('--var needs --templated-policy');
    },
  },
  repeatable(
    '--templated-policy-file <file>',
    'file with templated policies as JSON or YAML',
    TEMPLATES,
    async (files: readonly string[]) => {
      const read = files.map((file) => objectsOf(file, readNamed('--templated-policy-file', file)));
      // The server checks the members of each.
      return (await Promise.all(read)).flat();
    },
  ),
];
const TOKEN_LINKS = [...POLICY_LINKS, ...ROLE_LINKS, ...IDENTITIES];
const LINK_MEMBERS = ['Policies', 'Roles', 'ServiceIdentities', 'NodeIdentities', TEMPLATES];

/** The options that add to the links of a token. */
const APPENDED: readonly Flag[] = TOKEN_LINKS.filter(
  ({ flags }) => !/--(?:var|templated-policy-file)\b/.test(flags),
).map(({ flags, member, read }) => ({
  flags: flags.replace('--', '--append-').replace(/-(name|id) <.*/, '-$1 <which>'),
  what: 'add to the existing ones',
  member: member!,
  isRepeatable: true,
  adds: 'always',
  read:
    member !== TEMPLATES
      ? read!
      : ([TemplateName, ...others]: readonly string[]) => {
          if (others.length > 0)
            misused(
              '--append-templated-policy can be given only once; ' +
                'use --templated-policy-file for several',
            );
          return [{ TemplateName }];
        },
}));

const merging = (flags: readonly Flag[]): readonly Flag[] =>
  flags.map((one) => ({ ...one, adds: 'merging' }));

const POLICY: ObjectCommands = {
  type: TYPE.policy,
  description: 'rules that tokens and roles link to',
  flags: [
    NAME,
    DESCRIPTION,
    flag(
      '--rules <rules>',
      'the rules: text, @FILE, or - for standard input',
      'Rules',
      (text: string, { io }) => textOption(io, '--rules', text),
    ),
    repeatable(
      '--valid-datacenter <name>',
      'datacenter where it applies; repeatable',
      'Datacenters',
    ),
  ],
  kept: ['Name', 'Description', 'Rules', 'Datacenters'],
  required: ['Name'],
};

const ROLE: ObjectCommands = {
  type: TYPE.role,
  description: 'named sets of policies and identities',
  more: { update: ', and add links' },
  flags: [NAME, DESCRIPTION, ...merging([...POLICY_LINKS, ...IDENTITIES])],
  kept: ['Name', 'Description', ...LINK_MEMBERS],
  required: ['Name'],
  filters: [
    ['--policy <policy>', 'list only roles that are linked to this policy', 'policy', TYPE.policy],
  ],
};

const TOKEN: ObjectCommands = {
  type: TYPE.token,
  description: 'who may do what: secrets with policies and roles',
  more: {
    create: '; its SecretID is shown once',
    update: '; a given list of links replaces the old one',
  },
  flags: [
    DESCRIPTION,
    flag('--expires-ttl <duration>', 'how long it is valid, such as 8h', 'ExpirationTTL'),
    flag('--local', 'valid in this datacenter only', 'Local'),
    flag('--accessor <id>', 'its AccessorID (default: random)', 'AccessorID'),
    flag(
      '--secret-file <file>',
      'file with its SecretID, or - for standard input (default: random)',
      'SecretID',
      async (file: string, { io }) => (await readInput(io, '--secret-file', file)).trim(),
    ),
    { flags: '--secret <id>', what: '', instead: 'use --secret-file instead' },
    ...TOKEN_LINKS,
  ],
  updateFlags: [DESCRIPTION, ...APPENDED, ...TOKEN_LINKS],
  kept: ['Description', 'Local', ...LINK_MEMBERS],
  required: ['Local'],
  filters: [
    ['--policy <policy>', 'list only tokens that are linked to this policy', 'policy', TYPE.policy],
    ['--role <role>', 'list only tokens that are linked to this role', 'role', TYPE.role],
    ['--auth-method <name>', 'list only tokens from logins through this method', 'authmethod'],
  ],
};

const JWT_FILE = '--kubernetes-service-account-jwt-file';
const METHOD: ObjectCommands = {
  type: TYPE.method,
  description: 'ways to log in with an external identity',
  flags: [
    flag('--type <type>', 'jwt, oidc or kubernetes', 'Type'),
    flag('--display-name <text>', 'human-readable name', 'DisplayName'),
    DESCRIPTION,
    flag(
      '--max-token-ttl <duration>',
      'lifetime of the tokens that its logins create',
      'MaxTokenTTL',
    ),
    flag('--token-locality <which>', 'local or global', 'TokenLocality'),
    flag(
      '--config <config>',
      'its Config: JSON, @FILE (JSON or YAML), or - for standard input',
      'Config',
      async (text: string, { io }) =>
        (await documentOf('--config', await textOption(io, '--config', text))).value,
    ),
    flag(
      '--namespace-rule-selector <selector>',
      'which logins get a token in another namespace',
      'NamespaceRules[]',
      (Selector: string) => ({ Selector }),
    ),
    flag(
      '--namespace-rule-bind-namespace <name>',
      'the namespace of those tokens',
      'NamespaceRules[]',
      (BindNamespace: string) => ({ BindNamespace }),
    ),
    flag('--kubernetes-host <url>', 'URL of the Kubernetes API', 'Config', (Host: string) => ({
      Host,
    })),
    flag(
      '--kubernetes-ca-cert <pem>',
      'CA certificate of that API: PEM, or @FILE',
      'Config',
      async (text: string, { io }) => ({
        CACert: await textOption(io, '--kubernetes-ca-cert', text),
      }),
    ),
    flag(
      `${JWT_FILE} <file>`,
      'file with the JWT for requests to that API',
      'Config',
      (file: string) => ({ ServiceAccountJWT: readNamed(JWT_FILE, file).trim() }),
    ),
    {
      flags: '--kubernetes-service-account-jwt <jwt>',
      what: '',
      instead: `use ${JWT_FILE} instead`,
    },
  ],
  required: ['Name', 'Type'],
  instead: 'use conclave acl auth-method update to change it',
};

/** The commands on binding rules. */
export const RULE = {
  type: TYPE.rule,
  description: 'what logins through an auth method are granted',
  flags: [
    flag('--method <name>', 'the auth method it belongs to', 'AuthMethod'),
    DESCRIPTION,
    flag('--selector <selector>', 'which logins it applies to (default: all)', 'Selector'),
    flag('--bind-type <type>', 'role, policy, service, node, or templated-policy', 'BindType'),
    flag('--bind-name <name>', 'name of what it binds, such as team-${value.team}', 'BindName'),
    repeatable(
      '--bind-vars <pair>',
      'NAME=VALUE, a variable of the templated policy; repeatable',
      'BindVars',
      (texts: readonly string[]) => pairsOf('--bind-vars', texts),
    ),
  ],
  kept: ['AuthMethod', 'Description', 'Selector', 'BindType', 'BindName', 'BindVars'],
  required: ['AuthMethod'],
  filters: [['--method <name>', 'list only the rules of this auth method', 'authmethod']],
} satisfies ObjectCommands;

const defaults = (word: string, member: string): readonly Flag[] => [
  repeatable(
    `--default-${word}-name <name>`,
    `${word} that every token in it has; repeatable`,
    member,
    byName,
  ),
  repeatable(
    `--default-${word}-id <id>`,
    'the same, by ID; repeatable',
    member,
    (ids: readonly string[]) => ids.map((ID) => ({ ID })),
  ),
];
const NAMESPACE: ObjectCommands = {
  type: TYPE.namespace,
  description: 'separate sets of objects and entries',
  flags: [
    DESCRIPTION,
    ...merging([
      ...defaults('policy', 'ACLs.PolicyDefaults'),
      ...defaults('role', 'ACLs.RoleDefaults'),
      repeatable('--meta <pair>', 'NAME=VALUE; repeatable', 'Meta', (texts: readonly string[]) =>
        pairsOf('--meta', texts),
      ),
    ]),
  ],
  kept: ['Name', 'Description', 'ACLs.PolicyDefaults', 'ACLs.RoleDefaults', 'Meta'],
  required: ['Name'],
  instead: 'use conclave namespace update to change it, or write to replace it',
};

/** Returns the commands to which a lint is added. */
export function addAclObjects(acl: Command, cli: Cli) {
  const token = addObject(acl, cli, TOKEN);
  addTokenRead(token.commands.find((one) => one.name() === 'read')!, cli);
  addClone(token, cli);
  addTokenUsage(token, cli);
  const policy = addObject(acl, cli, POLICY);
  addObject(acl, cli, ROLE);
  addMethodUsage(addObject(acl, cli, METHOD), cli);
  return { policy, rule: addObject(acl, cli, RULE) };
}

function addTokenRead(read: Command, cli: Cli): void {
  read
    .option('--self', 'show your own token')
    .option('--expanded', 'include the policies, roles and rules that apply to it')
    .action(
      cli.action<OneOptions & Partial<Record<'self' | 'expanded' | 'showSecret', boolean>>>(
        async (call, argument) => {
          const { expanded, self, showSecret } = call.options;
          const which = self ? undefined : wanted(TYPE.token, argument, call.options);
          const id =
            which === undefined ? 'self' : idIn(TYPE.token, await find(call, TYPE.token, which));
          const query = expanded ? { expanded: 'true' } : {};
          const found = (await call.api.get(pathOf(TYPE.token, id), { query })).json<Stored>();
          const shown = showSecret ? found : hidden(TYPE.token, found);
          if (expanded && call.print.format === 'table') await call.print.value(shown);
          else await call.print.item(shown, TYPE.token.shape);
        },
      ),
    );
}

function addClone(token: Command, cli: Cli): void {
  const clone = token.command('clone').description('create a token with the rights of another');
  withOne(clone, TYPE.token)
    .option('--description <text>', 'what the new token is for')
    .action(
      cli.action<OneOptions & { description?: string }>(async (call, argument) => {
        const found = await find(call, TYPE.token, wanted(TYPE.token, argument, call.options));
        const body = { Description: call.options.description };
        const path = `${pathOf(TYPE.token, idIn(TYPE.token, found))}/clone`;
        const made = (await call.api.ask('PUT', path, { body })).json<Stored>();
        await call.print.item(made, TYPE.token.shape);
      }),
    );
}

export function addNamespace(program: Command, cli: Cli): void {
  addObject(program, cli, NAMESPACE)
    .command('write')
    .description('create or replace a namespace from a file')
    .argument('<file>', 'JSON or YAML file, or - for standard input')
    .action(
      cli.action(async (call, file) => {
        const text = await readInput(call.io, 'cannot read the file', file!);
        const { value, json } = await documentOf(file!, text);
        const name = value['Name'];
        if (typeof name !== 'string') misused(`${file}: Name is missing`);
        const body = json === undefined ? { body: value } : { json };
        const answer = await call.api.ask('PUT', pathOf(TYPE.namespace, name), body);
        await call.print.item(answer.json<Stored>(), TYPE.namespace.shape);
      }),
    );
}
