/** `acl auth-method`. */
import type { Command } from 'commander';
import { type Cli, refusedSecret } from '../cli.js';
import { documentOf } from '../files/documents.js';
import { readNamed, textOption } from '../files/files.js';
import { lines } from '../print/text.js';
import {
  addDelete,
  addList,
  addRead,
  mustBeNew,
  type ObjectType,
  type OneOptions,
  update,
  wanted,
  withOne,
  withUpdate,
} from './objects.js';

/** An auth method as the API answers it; lists leave out its Config. */
interface AuthMethod {
  readonly Name: string;
  readonly Type: string;
  readonly DisplayName?: string;
  readonly Description?: string;
  readonly MaxTokenTTL?: string;
  readonly TokenLocality?: string;
  readonly Config?: Readonly<Record<string, unknown>>;
  readonly NamespaceRules?: readonly unknown[];
  readonly Namespace?: string;
  readonly CreateIndex?: number;
  readonly ModifyIndex?: number;
}

/** Auth methods. */
export const METHODS: ObjectType<AuthMethod> = {
  noun: 'auth method',
  path: '/v1/acl/auth-method',
  listPath: '/v1/acl/auth-methods',
  id: ({ Name }) => Name,
  isNamed: true,
  dependents: {
    says: ['goes with it', 'go with it', 'went with it'],
    lists: [
      {
        noun: 'binding rule',
        path: '/v1/acl/binding-rules',
        query: ({ Name, Namespace }) => ({ ns: Namespace, authmethod: Name }),
      },
      {
        noun: 'token',
        path: '/v1/acl/tokens',
        // Its logins can have tokens in other namespaces.
        query: ({ Name, Namespace }) => ({
          authmethod: Name,
          ...(Namespace !== undefined && { ns: '*', 'authmethod-ns': Namespace }),
        }),
      },
    ],
  },
  shape: {
    columns: [
      { head: 'NAME', isWhole: true, cell: ({ Name }) => Name },
      { head: 'TYPE', cell: ({ Type }) => Type },
      { head: 'MAX TTL', cell: ({ MaxTokenTTL }) => MaxTokenTTL ?? '' },
      { head: 'DISPLAY NAME', isMinor: true, cell: ({ DisplayName }) => DisplayName ?? '' },
      { head: 'DESCRIPTION', cell: ({ Description }) => Description ?? '' },
    ],
    fields: (one) => [
      ['Name', one.Name],
      ['Type', one.Type],
      ['Namespace', one.Namespace ?? ''],
      ['DisplayName', one.DisplayName ?? ''],
      ['Description', one.Description ?? ''],
      ['MaxTokenTTL', one.MaxTokenTTL ?? ''],
      ['TokenLocality', one.TokenLocality ?? ''],
      ['NamespaceRules', (one.NamespaceRules ?? []).map((rule) => JSON.stringify(rule))],
      ['CreateIndex', String(one.CreateIndex ?? '')],
      ['ModifyIndex', String(one.ModifyIndex ?? '')],
    ],
    ref: ({ Namespace, Name }) => `auth-method/${Namespace ?? 'default'}/${Name}`,
    text: ({ Config }) =>
      Config === undefined ? '' : lines(`Config ${JSON.stringify(Config, null, 2)}`),
  },
};

interface MethodOptions extends OneOptions {
  readonly type?: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly maxTokenTtl?: string;
  readonly tokenLocality?: string;
  readonly config?: string;
  readonly namespaceRuleSelector?: string;
  readonly namespaceRuleBindNamespace?: string;
  readonly kubernetesHost?: string;
  readonly kubernetesCaCert?: string;
  readonly kubernetesServiceAccountJwtFile?: string;
  readonly merge?: boolean;
  readonly ifMatch?: number;
}

function withFields(command: Command): Command {
  command
    .option('--type <type>', 'jwt or kubernetes')
    .option('--display-name <text>', 'human-readable name')
    .option('--description <text>', 'what it is for')
    .option('--max-token-ttl <duration>', 'lifetime of the tokens that its logins create')
    .option('--token-locality <which>', 'local or global')
    .option('--config <config>', 'its Config: JSON, @FILE (JSON or YAML), or - for standard input')
    .option('--namespace-rule-selector <selector>', 'which logins get a token in another namespace')
    .option('--namespace-rule-bind-namespace <name>', 'the namespace of those tokens')
    .option('--kubernetes-host <url>', 'URL of the Kubernetes API')
    .option('--kubernetes-ca-cert <pem>', 'CA certificate of that API: PEM, or @FILE')
    .option(
      '--kubernetes-service-account-jwt-file <file>',
      'file with the JWT for requests to that API',
    );
  return refusedSecret(
    command,
    '--kubernetes-service-account-jwt <jwt>',
    'use --kubernetes-service-account-jwt-file instead',
  );
}

/** Adds `acl auth-method`. */
export function addAuthMethod(acl: Command, cli: Cli): void {
  const method = acl.command('auth-method').description('ways to log in with an external identity');
  const create = method.command('create').description('create an auth method');
  withFields(withOne(create, METHODS)).action(
    cli.action<MethodOptions>(async (call, argument) => {
      const { text: Name } = wanted(METHODS, argument, call.options);
      const body = { Name, ...(await bodyOf(cli, call.options)) };
      await mustBeNew(call, METHODS, Name, 'use conclave acl auth-method update to change it');
      const made = (await call.api.ask('PUT', METHODS.path, { body })).json<AuthMethod>();
      await call.print.item(made, METHODS.shape);
    }),
  );
  addRead(method, cli, METHODS);
  const change = method.command('update').description('change the given fields of an auth method');
  withUpdate(withFields(withOne(change, METHODS))).action(
    cli.action<MethodOptions>(async (call, argument) => {
      const { merge } = call.options;
      const given = await bodyOf(cli, call.options);
      const which = wanted(METHODS, argument, call.options);
      const written = await update(call, METHODS, which, (held) => ({
        ...(merge === false ? { Name: held.Name, Type: held.Type } : held),
        ...given,
      }));
      await call.print.item(written, METHODS.shape);
    }),
  );
  addDelete(method, cli, METHODS);
  addList(method, cli, METHODS);
}

async function bodyOf({ io }: Cli, options: MethodOptions): Promise<object> {
  const { namespaceRuleSelector, namespaceRuleBindNamespace } = options;
  const hasRule = (namespaceRuleSelector ?? namespaceRuleBindNamespace) !== undefined;
  const rule = { Selector: namespaceRuleSelector, BindNamespace: namespaceRuleBindNamespace };
  const config = await configOf(io, options);
  return {
    ...(options.type !== undefined && { Type: options.type }),
    ...(options.displayName !== undefined && { DisplayName: options.displayName }),
    ...(options.description !== undefined && { Description: options.description }),
    ...(options.maxTokenTtl !== undefined && { MaxTokenTTL: options.maxTokenTtl }),
    ...(options.tokenLocality !== undefined && { TokenLocality: options.tokenLocality }),
    ...(config !== undefined && { Config: config }),
    ...(hasRule && { NamespaceRules: [rule] }),
  };
}

async function configOf(io: Cli['io'], options: MethodOptions): Promise<object | undefined> {
  const { config, kubernetesHost, kubernetesCaCert, kubernetesServiceAccountJwtFile } = options;
  const kubernetes = {
    ...(kubernetesHost !== undefined && { Host: kubernetesHost }),
    ...(kubernetesCaCert !== undefined && {
      CACert: await textOption(io, '--kubernetes-ca-cert', kubernetesCaCert),
    }),
    ...(kubernetesServiceAccountJwtFile !== undefined && {
      ServiceAccountJWT: readNamed(
        '--kubernetes-service-account-jwt-file',
        kubernetesServiceAccountJwtFile,
      ).trim(),
    }),
  };
  if (config === undefined) return Object.keys(kubernetes).length > 0 ? kubernetes : undefined;
  const read = await documentOf('--config', await textOption(io, '--config', config));
  return { ...read.value, ...kubernetes };
}
