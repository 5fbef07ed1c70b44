/** `export`: what is stored, as a set that `plan` and `apply` take. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import type { SetItem } from '../../api/endpoints/sets.js';
import type { Call, Cli } from '../cli.js';
import type { Answer } from '../client/http.js';
import { asOf, momentText } from '../client/moment.js';
import { safe } from '../files/consul-folder.js';
import { documentOf, filesIn } from '../files/documents.js';
import { type Exported, refOfItem } from '../files/sets.js';
import { CliError, misused } from '../print/error.js';
import { counted } from '../print/text.js';
import { type ConsulOptions, exportToConsul } from './export-consul.js';

interface ExportOptions extends ConsulOptions {
  readonly types?: string;
  readonly kind?: string;
  readonly owner?: string;
  readonly ids?: boolean;
  readonly at?: string;
  readonly partial?: boolean;
  readonly folder?: string;
}

export function addExport(program: Command, cli: Cli): void {
  program
    .command('export')
    .description('write what is stored as a set that plan and apply take')
    .option('--types <list>', 'only these: policy,role,auth-method,binding-rule,namespace,config')
    .option('--kind <kind>', 'only config entries of this kind')
    .option('--owner <name>', 'only objects of this owner')
    .option('--ids', 'with the IDs of policies, roles and binding rules')
    .option('--at <index|time>', 'what was stored at an index or a time')
    .option('--partial', 'with --at: leave out what is no longer known')
    .option('--folder <folder>', 'write a file for each object, as YAML, or as JSON with -o json')
    .option('--consul <folder>', "write a new folder that Consul's command line can load")
    .option('--with-secrets', 'with --consul: tokens and secrets too')
    .option('--namespaces <list>', 'with --consul: all (default), none but default, or names')
    .addHelpText(
      'after',
      '\nTokens are not in it, and secrets are hidden: applying it keeps those that are stored.' +
        '\nUse --namespace "*" for all namespaces. In a folder, a file that already says the same' +
        '\nstays as it is, with its comments.' +
        '\n--consul exits with 4 if something is not loaded, which NOT-LOADED.md lists.',
    )
    .action(cli.action<ExportOptions>(exportSet));
}

const NOT_TO_CONSUL = ['types', 'kind', 'owner', 'ids', 'at', 'partial', 'folder'] as const;

async function exportSet(call: Call<ExportOptions>): Promise<void> {
  const { api, options, print } = call;
  if (options.consul !== undefined) {
    const { consul, withSecrets, namespaces, ...others } = options;
    const other = NOT_TO_CONSUL.find((name) => others[name] !== undefined);
    if (other !== undefined) misused(`--consul cannot be used with --${other}`);
    return exportToConsul(call);
  }
  if (options.withSecrets || options.namespaces !== undefined)
    misused('--with-secrets and --namespaces need --consul');
  const { at, folder, ids, kind, owner, partial, types } = options;
  const query = {
    kind,
    owner,
    at,
    types: types ?? (kind === undefined ? undefined : 'config'),
    ...(ids && { ids: 'true' }),
    ...(partial && { partial: 'true' }),
  };
  const answer = await asOf(() => api.get('/v1/export', { query }));
  const exported = answer.json<Exported>();
  noteMissing(call, exported, answer);
  if (folder !== undefined) return writeFolder(call, exported, folder);
  const { namespace } = api;
  if (print.format === 'name')
    return print.refs(exported.Objects.map((item) => refOfItem(item, namespace)));
  if (print.format !== 'table') return print.value(exported);
  print.text([await yamlOf({ Objects: exported.Objects })]);
}

function noteMissing({ print }: Call<object>, exported: Exported, answer: Answer): void {
  const { At, Objects, Secrets = 0, Unknown = [] } = exported;
  const when = At === undefined ? `index ${exported.Index}` : momentText(At);
  print.note(`${counted(Objects.length, 'object')} at ${when}`);
  if (Secrets > 0)
    print.note(`${counted(Secrets, 'secret')} hidden; applying it keeps those stored`);
  if (Unknown.length > 0) print.note(`no longer known: ${Unknown.join(', ')}`);
  noteFiltered(print, answer);
}

/** Says that an answer does not hold all there is, if so. */
export function noteFiltered(print: Call<object>['print'], answer: Answer): void {
  if (answer.header('X-Consul-Results-Filtered-By-ACLs') === 'true')
    print.note('what this token may not read is left out');
}

async function yamlOf(value: unknown): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0 });
}

/** Returns the path of the file of an object: `config/default/service-defaults/web.yaml`. */
export function pathOfItem(item: SetItem, ending: string, namespace?: string): string {
  const [type, ...parts] = refOfItem(item, namespace).split('/');
  const fixed = type === 'config' ? 2 : type === 'namespace' ? 0 : 1;
  const name = parts.slice(fixed).join('/');
  return `${join(type!, ...[...parts.slice(0, fixed), name].map(safe))}.${ending}`;
}

async function writeFolder(
  { api, print }: Call<object>,
  { Objects }: Exported,
  folder: string,
): Promise<void> {
  const isJson = print.format === 'json';
  const written = new Set<string>();
  let changed = 0;
  await mkdir(folder, { recursive: true });
  for (const item of Objects) {
    const file = join(folder, pathOfItem(item, isJson ? 'json' : 'yaml', api.namespace));
    if (written.has(file)) throw new CliError(`${file} would hold two objects`);
    written.add(file);
    if (await saysTheSame(file, item)) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, isJson ? `${JSON.stringify(item, null, 2)}\n` : await yamlOf(item));
    changed += 1;
  }
  const others = filesIn(folder, true).filter((file) => !written.has(file));
  print.note(
    `${counted(changed, 'file')} written to ${folder}, ${written.size - changed} unchanged`,
  );
  if (others.length > 0) {
    const names = others.map((file) => relative(folder, file));
    print.note(`not in the export: ${names.join(', ')}`);
  }
}

/** Whether a file holds an object already, whatever its comments and the order of members. */
async function saysTheSame(file: string, item: SetItem): Promise<boolean> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  try {
    return isDeepStrictEqual((await documentOf(file, text)).value, item);
  } catch (error) {
    // It is written anew.
    if (error instanceof CliError) return false;
    throw error;
  }
}
