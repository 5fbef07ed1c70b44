/** `acl token`. */
import type { Command } from 'commander';
import { type Call, type Cli, refusedSecret, several } from '../cli.js';
import { watch } from '../client/watch.js';
import { readInput } from '../files/files.js';
import { misused } from '../print/error.js';
import { POLICIES, ROLES, TOKENS, type Token } from './acl-objects.js';
import { type LinkOptions, linksOf, withLinks } from './holders.js';
import { addedLinks, replacedLinks } from './links.js';
import {
  addDelete,
  addList,
  addRead,
  type Called,
  find,
  idOf,
  type OneOptions,
  pathOf,
  update,
  wanted,
  withOne,
  withUpdate,
} from './objects.js';

interface TokenOptions extends OneOptions, LinkOptions {
  readonly accessorId?: string;
  readonly description?: string;
  readonly accessor?: string;
  readonly secretFile?: string;
  readonly expiresTtl?: string;
  readonly local?: boolean;
  readonly merge?: boolean;
  readonly ifMatch?: number;
}

/** Adds `acl token`. */
export function addToken(acl: Command, cli: Cli): void {
  const token = acl
    .command('token')
    .description('who may do what: secrets with policies and roles');
  addCreate(token, cli);
  addTokenRead(token, cli);
  addUpdate(token, cli);
  addClone(token, cli);
  withAccessor(addDelete(token, cli, TOKENS));
  addList(token, cli, TOKENS, async (call: Call<Record<string, string>>) => ({
    policy: await idOf(call, POLICIES, call.options['policy']),
    role: await idOf(call, ROLES, call.options['role']),
    authmethod: call.options['authMethod'],
  }))
    .option('--policy <policy>', 'list only tokens that are linked to this policy')
    .option('--role <role>', 'list only tokens that are linked to this role')
    .option('--auth-method <name>', 'list only tokens from logins through this method');
}

/** The peer's name of `--id`. */
const withAccessor = (command: Command): Command =>
  command.option('--accessor-id <id>', 'same as --id');

function which(argument: string | undefined, { id, accessorId }: TokenOptions): Called {
  const named = id ?? accessorId;
  return wanted(TOKENS, argument, named === undefined ? {} : { id: named });
}

function addCreate(token: Command, cli: Cli): void {
  const create = token.command('create').description('create a token; its SecretID is shown once');
  create
    .option('--description <text>', 'what it is for')
    .option('--expires-ttl <duration>', 'how long it is valid, such as 8h')
    .option('--local', 'valid in this datacenter only')
    .option('--accessor <id>', 'its AccessorID (default: random)')
    .option(
      '--secret-file <file>',
      'file with its SecretID, or - for standard input (default: random)',
    );
  refusedSecret(create, '--secret <id>', 'use --secret-file instead');
  withLinks(create, true).action(
    cli.action<TokenOptions>(async (call) => {
      const { description, expiresTtl, local, accessor, secretFile } = call.options;
      const body = {
        ...(description !== undefined && { Description: description }),
        ...(expiresTtl !== undefined && { ExpirationTTL: expiresTtl }),
        ...(local === true && { Local: true }),
        ...(accessor !== undefined && { AccessorID: accessor }),
        ...(secretFile !== undefined && {
          SecretID: (await readInput(cli.io, '--secret-file', secretFile)).trim(),
        }),
        ...(await linksOf(call)),
      };
      const made = (await call.api.ask('PUT', TOKENS.path, { body })).json<Token>();
      await call.print.item(made, TOKENS.shape);
    }),
  );
}

function addTokenRead(token: Command, cli: Cli): void {
  const read = withAccessor(addRead(token, cli, TOKENS))
    .option('--self', 'show your own token')
    .option('--expanded', 'include the policies, roles and rules that apply to it');
  read.action(
    cli.action<TokenOptions & Record<'self' | 'expanded' | 'watch' | 'showSecret', boolean>>(
      async (call, argument) => {
        const { options } = call;
        const path = options.self
          ? `${TOKENS.path}/self`
          : pathOf(TOKENS, TOKENS.id(await find(call, TOKENS, which(argument, options))));
        const query = options.expanded ? { expanded: 'true' } : {};
        const show = async (value: unknown): Promise<void> => {
          const found = value as Token;
          const shown = options.showSecret ? found : TOKENS.hidden!(found);
          if (options.expanded && call.print.format === 'table') await call.print.value(shown);
          else await call.print.item(shown, TOKENS.shape);
        };
        if (options.watch) return watch(call, { path, query }, show);
        return show((await call.api.get(path, { query })).json());
      },
    ),
  );
}

function addUpdate(token: Command, cli: Cli): void {
  const change = token
    .command('update')
    .description('change the given fields of a token; a given list of links replaces the old one');
  withAccessor(withOne(change, TOKENS)).option('--description <text>', 'what it is for');
  for (const list of ['policy-name', 'policy-id', 'role-name', 'role-id'])
    change.option(`--append-${list} <which>`, 'add to the existing ones', several);
  for (const list of ['service-identity', 'node-identity', 'templated-policy'])
    change.option(`--append-${list} <name>`, 'add to the existing ones', several);
  withUpdate(withLinks(change, true)).action(
    cli.action<TokenOptions & Record<string, unknown>>(async (call, argument) => {
      const { description, merge } = call.options;
      const given = await linksOf(call);
      const more = await linksOf(appended(call));
      const written = await update(call, TOKENS, which(argument, call.options), (held) => ({
        ...(merge === false ? {} : { Description: held.Description }),
        ...(description !== undefined && { Description: description }),
        ...(held.Local === true && { Local: true }),
        ...addedLinks(merge === false ? given : replacedLinks(held, given), more, (text) =>
          call.print.note(text),
        ),
      }));
      await call.print.item(TOKENS.hidden!(written), TOKENS.shape);
    }),
  );
}

/** Returns the call with the `--append-…` options in the place of those that replace. */
function appended(call: Call<TokenOptions & Record<string, unknown>>): Call<LinkOptions> {
  const links = Object.entries(call.options)
    .filter(([name]) => name.startsWith('append'))
    .map(([name, value]) => [name.charAt(6).toLowerCase() + name.slice(7), value] as const);
  const options = Object.fromEntries(links);
  const templates = options['templatedPolicy'] as readonly string[] | undefined;
  if (templates !== undefined && templates.length > 1)
    misused(
      '--append-templated-policy can be given only once; use --templated-policy-file for several',
    );
  return { ...call, options: { ...options, ...(templates && { templatedPolicy: templates[0]! }) } };
}

function addClone(token: Command, cli: Cli): void {
  const clone = token.command('clone').description('create a token with the rights of another');
  withAccessor(withOne(clone, TOKENS))
    .option('--description <text>', 'what the new token is for')
    .action(
      cli.action<TokenOptions>(async (call, argument) => {
        const { description } = call.options;
        const found = await find(call, TOKENS, which(argument, call.options));
        const body = description === undefined ? {} : { Description: description };
        const path = `${pathOf(TOKENS, TOKENS.id(found))}/clone`;
        await call.print.item(
          (await call.api.ask('PUT', path, { body })).json<Token>(),
          TOKENS.shape,
        );
      }),
    );
}
