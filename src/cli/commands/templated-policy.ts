/** `acl templated-policy`. */
import type { Command } from 'commander';
import type { Template } from '../../api/endpoints/tokens.js';
import { type Cli, several } from '../cli.js';
import { documentOf } from '../files/documents.js';
import { readNamed } from '../files/files.js';
import { misused } from '../print/error.js';
import type { Shape } from '../print/output.js';
import { lines } from '../print/text.js';
import { pairsOf } from './links.js';
import { type Stored, TYPE } from './objects.js';

function variables({ Schema }: Template): string[] {
  if (Schema === '') return [];
  const { properties = {} } = JSON.parse(Schema) as { properties?: object };
  return Object.keys(properties);
}

const shape: Shape<Template> = {
  columns: [
    { head: 'NAME', cell: ({ TemplateName }) => TemplateName },
    { head: 'VARIABLES', cell: (one) => variables(one).join(', ') },
    { head: 'DESCRIPTION', cell: ({ Description }) => Description },
  ],
  fields: (one) => [
    ['Name', one.TemplateName],
    ['Variables', variables(one)],
    ['Description', one.Description],
  ],
  ref: ({ TemplateName }) => `templated-policy/${TemplateName}`,
  text: ({ Template }) => lines(Template.trimStart()),
};

export function addTemplatedPolicy(acl: Command, cli: Cli): void {
  const template = acl.command('templated-policy').description('built-in policies with variables');
  template
    .command('list')
    .alias('ls')
    .description('list the templated policies')
    .action(
      cli.action(async ({ api, print }) => {
        const all = (await api.get('/v1/acl/templated-policies')).json<Record<string, Template>>();
        await print.list(Object.values(all), shape, all);
      }),
    );
  const pathOf = (what: string, argument: string | undefined, name: string | undefined): string => {
    const which = argument ?? name ?? misused('name the templated policy, such as builtin/service');
    // The name holds a slash, which takes no escape.
    return `/v1/acl/templated-policy/${what}/${which.split('/').map(encodeURIComponent).join('/')}`;
  };
  template
    .command('read')
    .description('show a templated policy')
    .argument('[name]', 'such as builtin/service')
    .option('--name <name>', 'same as the argument')
    .action(
      cli.action<{ name?: string }>(async ({ api, options, print }, argument) => {
        const answer = await api.get(pathOf('name', argument, options.name));
        await print.item(answer.json<Template>(), shape);
      }),
    );
  template
    .command('preview')
    .description('show the policy that a template produces from its variables')
    .argument('[name]', 'such as builtin/service')
    .option('--name <name>', 'same as the argument')
    .option('--var <pair>', 'a variable, such as name:web; repeatable', several)
    .option('--file <file>', 'file with the variables as JSON or YAML')
    .action(
      cli.action<{ name?: string; var?: readonly string[]; file?: string }>(
        async ({ api, options, print }, argument) => {
          const { file, name, var: pairs = [] } = options;
          const read =
            file === undefined ? undefined : await documentOf(file, readNamed('--file', file));
          const body = { ...read?.value, ...pairsOf('--var', pairs) };
          const path = pathOf('preview', argument, name);
          const made = await api.ask('POST', path, { body, isRead: true });
          const policy = made.json<Stored>();
          if (print.format !== 'table') await print.item(policy, TYPE.policy.shape);
          else print.text([`${lines(String(policy['Rules'] ?? '').trim())}\n`]);
        },
      ),
    );
}
