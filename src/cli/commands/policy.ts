/** `acl policy`. */
import type { Command } from 'commander';
import { type Cli, several } from '../cli.js';
import { textOption } from '../files/files.js';
import { POLICIES, type Policy } from './acl-objects.js';
import {
  addDelete,
  addList,
  addRead,
  type OneOptions,
  update,
  wanted,
  withOne,
  withUpdate,
} from './objects.js';

interface PolicyOptions extends OneOptions {
  readonly description?: string;
  readonly rules?: string;
  readonly validDatacenter?: readonly string[];
  readonly merge?: boolean;
  readonly ifMatch?: number;
}

/** Adds `acl policy`. Returns it, so that `lint` can be added to it. */
export function addPolicy(acl: Command, cli: Cli): Command {
  const policy = acl.command('policy').description('rules that tokens and roles link to');
  const withFields = (command: Command): Command =>
    command
      .option('--name <name>', 'its name')
      .option('--description <text>', 'what it is for')
      .option('--rules <rules>', 'the rules: text, @FILE, or - for standard input')
      .option('--valid-datacenter <name>', 'datacenter where it applies; repeatable', several);
  withFields(policy.command('create').description('create a policy')).action(
    cli.action<PolicyOptions>(async (call) => {
      const body = await bodyOf(cli, call.options);
      const made = (await call.api.ask('PUT', POLICIES.path, { body })).json<Policy>();
      await call.print.item(made, POLICIES.shape);
    }),
  );
  addRead(policy, cli, POLICIES);
  const change = policy.command('update').description('change the given fields of a policy');
  withUpdate(withFields(withOne(change, POLICIES, true))).action(
    cli.action<PolicyOptions>(async (call, argument) => {
      const { options } = call;
      const which = wanted(POLICIES, argument, options.id === undefined ? {} : { id: options.id });
      const given = await bodyOf(cli, options);
      const written = await update(call, POLICIES, which, (held) => ({
        ...(options.merge === false ? { Name: held.Name } : kept(held)),
        ...given,
      }));
      await call.print.item(written, POLICIES.shape);
    }),
  );
  addDelete(policy, cli, POLICIES);
  addList(policy, cli, POLICIES);
  return policy;
}

const kept = ({ Name, Description, Rules, Datacenters }: Policy): object => ({
  Name,
  Description,
  Rules,
  Datacenters,
});

async function bodyOf(cli: Cli, options: PolicyOptions): Promise<object> {
  const { name, description, rules, validDatacenter } = options;
  return {
    ...(name !== undefined && { Name: name }),
    ...(description !== undefined && { Description: description }),
    ...(rules !== undefined && { Rules: await textOption(cli.io, '--rules', rules) }),
    ...(validDatacenter !== undefined && { Datacenters: validDatacenter }),
  };
}
