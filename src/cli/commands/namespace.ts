/** `namespace`. */
import type { Command } from 'commander';
import { type Cli, several } from '../cli.js';
import { documentOf } from '../files/documents.js';
import { readInput } from '../files/files.js';
import { misused } from '../print/error.js';
import { localTime } from '../print/text.js';
import { KINDS } from './entries.js';
import { addedLinks, type Link, linkNames, pairsOf } from './links.js';
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

/** A namespace as the API answers it. */
interface Namespace {
  readonly Name: string;
  readonly Description?: string;
  readonly ACLs?: {
    readonly PolicyDefaults?: readonly Link[] | null;
    readonly RoleDefaults?: readonly Link[] | null;
  };
  readonly Meta?: Readonly<Record<string, string>>;
  readonly DeletedAt?: string;
  readonly CreateIndex?: number;
  readonly ModifyIndex?: number;
}

/** What is in a namespace, besides entries. */
const OBJECT_LISTS = [
  ['policy', '/v1/acl/policies'],
  ['role', '/v1/acl/roles'],
  ['auth method', '/v1/acl/auth-methods'],
  ['binding rule', '/v1/acl/binding-rules'],
  ['token', '/v1/acl/tokens'],
] as const;
/** The policy that comes with a namespace. */
const MANAGEMENT = 'namespace-management';

/** Namespaces. */
export const NAMESPACES: ObjectType<Namespace> = {
  noun: 'namespace',
  path: '/v1/namespace',
  listPath: '/v1/namespaces',
  id: ({ Name }) => Name,
  isNamed: true,
  dependents: {
    says: ['goes with it', 'go with it', 'went with it'],
    lists: [
      ...OBJECT_LISTS.map(([noun, path]) => ({
        noun,
        path,
        query: ({ Name }: Namespace) => ({ ns: Name }),
        depends: (_: Namespace, one: { readonly Name?: string }) => one.Name !== MANAGEMENT,
      })),
      ...KINDS.map((kind) => ({
        noun: 'entry',
        path: `/v1/config/${kind}`,
        query: ({ Name }: Namespace) => ({ ns: Name }),
      })),
    ],
  },
  shape: {
    columns: [
      { head: 'NAME', isWhole: true, cell: ({ Name }) => Name },
      { head: 'POLICIES', cell: ({ ACLs }) => linkNames(ACLs?.PolicyDefaults ?? []).join(', ') },
      { head: 'ROLES', cell: ({ ACLs }) => linkNames(ACLs?.RoleDefaults ?? []).join(', ') },
      { head: 'DELETED', isMinor: true, cell: ({ DeletedAt }) => localTime(DeletedAt) },
      { head: 'DESCRIPTION', cell: ({ Description }) => Description ?? '' },
    ],
    fields: (one) => [
      ['Name', one.Name],
      ['Description', one.Description ?? ''],
      ['Default policies', linkNames(one.ACLs?.PolicyDefaults ?? [])],
      ['Default roles', linkNames(one.ACLs?.RoleDefaults ?? [])],
      ['Meta', Object.entries(one.Meta ?? {}).map(([name, value]) => `${name}=${value}`)],
      ['Deleted', localTime(one.DeletedAt)],
      ['CreateIndex', String(one.CreateIndex ?? '')],
      ['ModifyIndex', String(one.ModifyIndex ?? '')],
    ],
    ref: ({ Name }) => `namespace/${Name}`,
  },
};

interface NamespaceOptions extends OneOptions {
  readonly description?: string;
  readonly defaultPolicyName?: readonly string[];
  readonly defaultPolicyId?: readonly string[];
  readonly defaultRoleName?: readonly string[];
  readonly defaultRoleId?: readonly string[];
  readonly meta?: readonly string[];
  readonly merge?: boolean;
  readonly ifMatch?: number;
}

/** Adds `namespace`. */
export function addNamespace(program: Command, cli: Cli): void {
  const namespace = program
    .command('namespace')
    .description('separate sets of objects and entries');
  const withFields = (command: Command): Command =>
    command
      .option('--description <text>', 'what it is for')
      .option(
        '--default-policy-name <name>',
        'policy that every token in it has; repeatable',
        several,
      )
      .option('--default-policy-id <id>', 'the same, by ID; repeatable', several)
      .option('--default-role-name <name>', 'role that every token in it has; repeatable', several)
      .option('--default-role-id <id>', 'the same, by ID; repeatable', several)
      .option('--meta <pair>', 'NAME=VALUE; repeatable', several);
  const create = namespace.command('create').description('create a namespace');
  withFields(withOne(create, NAMESPACES)).action(
    cli.action<NamespaceOptions>(async (call, argument) => {
      const { text: Name } = wanted(NAMESPACES, argument, call.options);
      const body = { Name, ...bodyOf(undefined, call.options) };
      const instead = 'use conclave namespace update to change it, or write to replace it';
      await mustBeNew(call, NAMESPACES, Name, instead);
      const made = (await call.api.ask('PUT', NAMESPACES.path, { body })).json<Namespace>();
      await call.print.item(made, NAMESPACES.shape);
    }),
  );
  addRead(namespace, cli, NAMESPACES);
  const change = namespace.command('update').description('change the given fields of a namespace');
  withUpdate(withFields(withOne(change, NAMESPACES))).action(
    cli.action<NamespaceOptions>(async (call, argument) => {
      const which = wanted(NAMESPACES, argument, call.options);
      const written = await update(call, NAMESPACES, which, (held) => ({
        Name: held.Name,
        ...bodyOf(call.options.merge === false ? undefined : held, call.options),
      }));
      await call.print.item(written, NAMESPACES.shape);
    }),
  );
  namespace
    .command('write')
    .description('create or replace a namespace from a file')
    .argument('<file>', 'JSON or YAML file, or - for standard input')
    .action(
      cli.action(async (call, file) => {
        const text = await readInput(call.io, 'cannot read the file', file!);
        const { value, json } = await documentOf(file!, text);
        const name = value['Name'];
        if (typeof name !== 'string') misused(`${file}: Name is missing`);
        const path = `${NAMESPACES.path}/${encodeURIComponent(name)}`;
        const body = json === undefined ? { body: value } : { json };
        const made = (await call.api.ask('PUT', path, body)).json<Namespace>();
        await call.print.item(made, NAMESPACES.shape);
      }),
    );
  addDelete(namespace, cli, NAMESPACES);
  addList(namespace, cli, NAMESPACES);
}

function bodyOf(held: Namespace | undefined, options: NamespaceOptions): object {
  const links = (names: readonly string[] = [], ids: readonly string[] = []): Link[] => [
    ...names.map((Name) => ({ Name })),
    ...ids.map((ID) => ({ ID })),
  ];
  const { Policies, Roles } = addedLinks(
    { Policies: held?.ACLs?.PolicyDefaults ?? [], Roles: held?.ACLs?.RoleDefaults ?? [] },
    {
      Policies: links(options.defaultPolicyName, options.defaultPolicyId),
      Roles: links(options.defaultRoleName, options.defaultRoleId),
    },
  );
  return {
    Description: options.description ?? held?.Description ?? '',
    ACLs: { PolicyDefaults: Policies ?? [], RoleDefaults: Roles ?? [] },
    Meta: { ...held?.Meta, ...pairsOf('--meta', options.meta ?? []) },
  };
}
