/** `acl binding-rule`. */
import type { Command } from 'commander';
import { type Call, type Cli, several } from '../cli.js';
import { pairsOf } from './links.js';
import {
  addDelete,
  addList,
  addRead,
  type ObjectType,
  type OneOptions,
  update,
  wanted,
  withOne,
  withUpdate,
} from './objects.js';

/** A binding rule as the API answers it. */
interface BindingRule {
  readonly ID: string;
  readonly AuthMethod: string;
  readonly Description?: string;
  readonly Selector?: string;
  readonly BindType: string;
  readonly BindName: string;
  readonly BindVars?: Readonly<Record<string, string>> | null;
  readonly Namespace?: string;
  readonly CreateIndex?: number;
  readonly ModifyIndex?: number;
}

/** Binding rules. */
export const RULES: ObjectType<BindingRule> = {
  noun: 'binding rule',
  path: '/v1/acl/binding-rule',
  listPath: '/v1/acl/binding-rules',
  id: ({ ID }) => ID,
  shape: {
    columns: [
      { head: 'ID', isWhole: true, cell: ({ ID }) => ID },
      { head: 'METHOD', cell: ({ AuthMethod }) => AuthMethod },
      { head: 'BINDS', cell: ({ BindType, BindName }) => `${BindType} ${BindName}` },
      { head: 'SELECTOR', cell: ({ Selector }) => Selector ?? '' },
      { head: 'DESCRIPTION', cell: ({ Description }) => Description ?? '' },
    ],
    fields: (one) => [
      ['ID', one.ID],
      ['AuthMethod', one.AuthMethod],
      ['Namespace', one.Namespace ?? ''],
      ['Description', one.Description ?? ''],
      ['Binds', `${one.BindType} ${one.BindName}`],
      ['BindVars', Object.entries(one.BindVars ?? {}).map(([name, value]) => `${name}=${value}`)],
      ['Selector', one.Selector ?? ''],
      ['CreateIndex', String(one.CreateIndex ?? '')],
      ['ModifyIndex', String(one.ModifyIndex ?? '')],
    ],
    ref: ({ Namespace, ID }) => `binding-rule/${Namespace ?? 'default'}/${ID}`,
  },
};

/** Options for the fields of a rule. */
export interface RuleOptions extends OneOptions {
  readonly method?: string;
  readonly description?: string;
  readonly selector?: string;
  readonly bindType?: string;
  readonly bindName?: string;
  readonly bindVars?: readonly string[];
  readonly merge?: boolean;
  readonly ifMatch?: number;
}

/** Adds the options for the fields of a rule. */
export const withRuleFields = (command: Command): Command =>
  command
    .option('--method <name>', 'the auth method it belongs to')
    .option('--description <text>', 'what it is for')
    .option('--selector <selector>', 'which logins it applies to (default: all)')
    .option('--bind-type <type>', 'role, policy, service, node, or templated-policy')
    .option('--bind-name <name>', 'name of what it binds, such as team-${value.team}')
    .option(
      '--bind-vars <pair>',
      'NAME=VALUE, a variable of the templated policy; repeatable',
      several,
    );

/** Returns the fields that the options give. */
export function ruleBody(options: RuleOptions): object {
  const { method, description, selector, bindType, bindName, bindVars } = options;
  return {
    ...(method !== undefined && { AuthMethod: method }),
    ...(description !== undefined && { Description: description }),
    ...(selector !== undefined && { Selector: selector }),
    ...(bindType !== undefined && { BindType: bindType }),
    ...(bindName !== undefined && { BindName: bindName }),
    ...(bindVars !== undefined && { BindVars: pairsOf('--bind-vars', bindVars) }),
  };
}

/** Adds `acl binding-rule`. Returns it, so that `lint` can be added to it. */
export function addBindingRule(acl: Command, cli: Cli): Command {
  const rule = acl
    .command('binding-rule')
    .description('what logins through an auth method are granted');
  withRuleFields(rule.command('create').description('create a binding rule')).action(
    cli.action<RuleOptions>(async (call) => {
      const body = ruleBody(call.options);
      const made = (await call.api.ask('PUT', RULES.path, { body })).json<BindingRule>();
      await call.print.item(made, RULES.shape);
    }),
  );
  addRead(rule, cli, RULES);
  const change = rule.command('update').description('change the given fields of a binding rule');
  withUpdate(withRuleFields(withOne(change, RULES))).action(
    cli.action<RuleOptions>(async (call, argument) => {
      const which = wanted(RULES, argument, call.options);
      const written = await update(call, RULES, which, (held) => ({
        ...(call.options.merge === false ? { AuthMethod: held.AuthMethod } : ruleContent(held)),
        ...ruleBody(call.options),
      }));
      await call.print.item(written, RULES.shape);
    }),
  );
  addDelete(rule, cli, RULES);
  addList(rule, cli, RULES, async ({ options }: Call<RuleOptions>) => ({
    authmethod: options.method,
  })).option('--method <name>', 'list only the rules of this auth method');
  return rule;
}

/** Returns the fields of a stored rule as a write takes them. */
export const ruleContent = ({
  AuthMethod,
  Description,
  Selector,
  BindType,
  BindName,
  BindVars,
}: BindingRule) => ({
  AuthMethod,
  Description,
  Selector,
  BindType,
  BindName,
  ...(BindVars && { BindVars }),
});
