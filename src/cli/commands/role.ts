/** `acl role`. */
import type { Command } from 'commander';
import type { Call, Cli } from '../cli.js';
import { POLICIES, ROLES, type Role } from './acl-objects.js';
import { type LinkOptions, linksOf, withLinks } from './holders.js';
import { addedLinks } from './links.js';
import {
  addDelete,
  addList,
  addRead,
  idOf,
  type OneOptions,
  update,
  wanted,
  withOne,
  withUpdate,
} from './objects.js';

interface RoleOptions extends OneOptions, LinkOptions {
  readonly description?: string;
  readonly merge?: boolean;
  readonly ifMatch?: number;
}

/** Adds `acl role`. */
export function addRole(acl: Command, cli: Cli): void {
  const role = acl.command('role').description('named sets of policies and identities');
  const withFields = (command: Command): Command =>
    withLinks(
      command.option('--name <name>', 'its name').option('--description <text>', 'what it is for'),
      false,
    );
  withFields(role.command('create').description('create a role')).action(
    cli.action<RoleOptions>(async (call) => {
      const body = { ...namesOf(call), ...(await linksOf(call)) };
      const made = (await call.api.ask('PUT', ROLES.path, { body })).json<Role>();
      await call.print.item(made, ROLES.shape);
    }),
  );
  addRead(role, cli, ROLES);
  const change = role
    .command('update')
    .description('change the given fields of a role, and add links');
  withUpdate(withFields(withOne(change, ROLES, true))).action(
    cli.action<RoleOptions>(async (call, argument) => {
      const { options } = call;
      const which = wanted(ROLES, argument, options.id === undefined ? {} : { id: options.id });
      const given = await linksOf(call);
      const written = await update(call, ROLES, which, (held) => ({
        Name: held.Name,
        ...(options.merge === false
          ? given
          : {
              Description: held.Description,
              ...addedLinks(held, given, (text) => call.print.note(text)),
            }),
        ...namesOf(call),
      }));
      await call.print.item(written, ROLES.shape);
    }),
  );
  addDelete(role, cli, ROLES);
  addList(role, cli, ROLES, async (call: Call<{ policy?: string }>) => ({
    policy: await idOf(call, POLICIES, call.options.policy),
  })).option('--policy <policy>', 'list only roles that are linked to this policy');
}

const namesOf = ({ options: { name, description } }: Call<RoleOptions>): object => ({
  ...(name !== undefined && { Name: name }),
  ...(description !== undefined && { Description: description }),
});
