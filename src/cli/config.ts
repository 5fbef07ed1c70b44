/** `config`: configuration entries. */
import type { Command } from 'commander';
import type { Chain } from '../answers.js';
import { chainView } from './chain-view.js';
import { type Call, type Cli, whole } from './cli.js';
import { editEntry } from './config-edit.js';
import { documentsOf, type Written } from './documents.js';
import {
  ENTRIES,
  type Entry,
  type EntryOptions,
  entryPath,
  KINDS,
  namespaceIn,
  refOf,
  type Which,
  wasDone,
  whichEntry,
  whichIn,
} from './entries.js';
import { Fault, misused } from './fault.js';
import { readInput } from './files.js';
import { withWatch } from './objects.js';
import { type Problem, Schemas, schemaPath } from './schemas.js';
import { watch } from './watch.js';

const withEntry = (command: Command): Command =>
  command
    .argument('[kind]', 'its kind, or KIND/NAME')
    .argument('[name]', 'its name')
    .option('--kind <kind>', 'its kind')
    .option('--name <name>', 'its name');

/** Adds `config`. */
export function addConfig(program: Command, cli: Cli): void {
  const config = program.command('config').description('configuration entries of services');
  addWrite(config, cli);
  addReads(config, cli);
  addDelete(config, cli);
  addValidate(config, cli);
  withEntry(config.command('edit').description('edit an entry in $EDITOR'))
    .option('--yes', 'write without asking')
    .addHelpText('after', '\nThe editor is $VISUAL or $EDITOR. The entry is shown as YAML.')
    .action(
      cli.action<EntryOptions & { yes?: boolean }>((call, first, second) =>
        editEntry(call, whichEntry(first, second, call.options)),
      ),
    );
  addChain(config, cli);
  config
    .command('schema')
    .description('show the JSON Schema of a kind')
    .argument('<kind>', 'such as service-defaults')
    .action(
      cli.action(async ({ api, print }, kind) =>
        print.value((await api.get(schemaPath(kind!))).json()),
      ),
    );
}

function addChain(config: Command, cli: Cli): void {
  config
    .command('chain')
    .description('draw the discovery chain of a service')
    .argument('<service>', 'its name')
    .action(
      cli.action(async ({ api, print }, service) => {
        const path = `/v1/discovery-chain/${encodeURIComponent(service!)}`;
        const answer = (await api.get(path)).json<{ readonly Chain: Chain }>();
        if (print.format === 'json' || print.format === 'yaml') return print.value(answer);
        print.text([chainView(answer.Chain)]);
      }),
    );
}

function addReads(config: Command, cli: Cli): void {
  const one = withEntry(config.command('read').description('show an entry as JSON'));
  withWatch(one).action(
    cli.action<EntryOptions & { watch?: boolean }>(async (call, first, second) => {
      const path = entryPath(whichEntry(first, second, call.options));
      const show = async (value: unknown): Promise<void> =>
        call.print.format === 'name'
          ? call.print.item(value as Entry, ENTRIES)
          : call.print.value(value);
      if (call.options.watch) return watch(call, { path }, show);
      return show((await call.api.get(path)).json());
    }),
  );
  const list = config
    .command('list')
    .alias('ls')
    .description('list the entries of a kind, or all entries');
  list
    .argument('[kind]', 'the kind (default: all)')
    .option('--kind <kind>', 'same as the argument');
  list.option('--filter <expression>', 'list only what matches, such as \'Protocol == "http"\'');
  withWatch(list).action(
    cli.action<EntryOptions & { watch?: boolean; filter?: string }>(async (call, argument) => {
      const { kind = argument, filter, watch: goesOn } = call.options;
      const show = (value: unknown): Promise<void> => call.print.list(value as Entry[], ENTRIES);
      if (goesOn && kind === undefined) misused('--watch needs a kind');
      if (kind === undefined) return show(await allEntries(call));
      const path = `/v1/config/${encodeURIComponent(kind)}`;
      if (goesOn) return watch(call, { path, query: { filter } }, show);
      return show((await call.api.get(path, { query: { filter } })).json());
    }),
  );
}

/** Reads the entries of all kinds, one kind after the other. Leaves out kinds of later releases. */
async function allEntries({ api }: Call<object>): Promise<Entry[]> {
  const all: Entry[] = [];
  for (const kind of KINDS)
    try {
      all.push(...(await api.get(`/v1/config/${kind}`)).json<Entry[]>());
    } catch (error) {
      if (!(error instanceof Fault && /kind/i.test(error.message))) throw error;
    }
  return all;
}

interface WriteOptions {
  readonly cas?: boolean;
  readonly modifyIndex?: number;
}

/** Returns the parameters of a write that depends on a version, in Consul's form. */
function casOf({ cas, modifyIndex }: WriteOptions): Record<string, string> {
  if (cas !== true && modifyIndex === undefined) return {};
  if (modifyIndex === undefined) misused('--cas needs --modify-index');
  return { cas: String(modifyIndex) };
}

const withCas = (command: Command): Command =>
  command
    .option('--cas', 'only if its ModifyIndex equals --modify-index')
    .option(
      '--modify-index <index>',
      'the expected ModifyIndex; 0: only if there is no such entry',
      whole,
    );

function addWrite(config: Command, cli: Cli): void {
  withCas(config.command('write').description('create or replace an entry'))
    .argument('<file>', 'JSON or YAML file, or - for standard input')
    .action(
      cli.action<WriteOptions>(async (call, file) => {
        const query = casOf(call.options);
        const entries = await documentsOf(
          file!,
          await readInput(call.io, 'cannot read the file', file!),
        );
        if (entries.length > 1 && query['cas'] !== undefined)
          misused('--cas: the file may contain only one entry');
        for (const entry of entries) await writeEntry(call, entry, query);
      }),
    );
}

async function writeEntry(
  { api, print }: Call<object>,
  { json, value }: Written,
  query: Record<string, string>,
): Promise<void> {
  const body = json === undefined ? { body: value } : { json };
  const answer = await api.ask('PUT', '/v1/config', { ...body, query });
  const ref = refOf(api.namespace, value);
  if (!wasDone(answer))
    throw new Fault(`${ref} was not written: its ModifyIndex is not ${query['cas']}`, {
      code: 'conflict',
    });
  await print.done('wrote', ref, true);
}

function addDelete(config: Command, cli: Cli): void {
  const command = config
    .command('delete')
    .alias('rm')
    .description('delete an entry, or all of a file');
  withCas(withEntry(command))
    .option('--filename <file>', 'file with the entries, or - for standard input')
    .action(
      cli.action<EntryOptions & WriteOptions & { filename?: string }>(
        async (call, first, second) => {
          const query = casOf(call.options);
          const { filename } = call.options;
          const entries =
            filename === undefined
              ? [whichEntry(first, second, call.options)]
              : await entriesIn(call, filename);
          if (entries.length > 1 && query['cas'] !== undefined)
            misused('--cas: the file may contain only one entry');
          for (const entry of entries) await deleteEntry(call, entry, query);
        },
      ),
    );
}

/** Which entry is to be deleted. */
interface Doomed extends Which {
  /** The namespace that its document names. */
  readonly namespace?: string | undefined;
}

async function deleteEntry(
  { api, print }: Call<object>,
  { kind, name, namespace }: Doomed,
  cas: Record<string, string>,
): Promise<void> {
  const query = namespace === undefined ? cas : { ...cas, ns: namespace };
  const answer = await api.ask('DELETE', entryPath({ kind, name }), { query });
  const ref = refOf(namespace ?? api.namespace, { Kind: kind, Name: name });
  if (!wasDone(answer))
    throw new Fault(`${ref} was not deleted: its ModifyIndex does not match`, {
      code: 'conflict',
    });
  await print.done('deleted', ref, true);
}

/** Returns the entries of a file. Faults if one of them is in another namespace. */
async function entriesIn({ api, io }: Call<object>, file: string): Promise<readonly Doomed[]> {
  const documents = await documentsOf(file, await readInput(io, '--filename', file));
  return documents.map(({ value }) => {
    const which = whichIn(value);
    const namespace = namespaceIn(value);
    if (which.kind === '') misused(`${file}: an entry has no Kind`);
    if (namespace !== undefined && namespace !== (api.namespace ?? 'default'))
      misused(
        `${file}: ${which.kind}/${which.name} is in the namespace "${namespace}"`,
        `use --namespace ${namespace} to delete the entries of that namespace`,
      );
    return { ...which, namespace };
  });
}

function addValidate(config: Command, cli: Cli): void {
  config
    .command('validate')
    .description('check entries in files against the schemas of their kinds; writes nothing')
    .argument('<file...>', 'JSON or YAML files, or - for standard input')
    .option('--offline', 'use the schemas built into this program; contact no server')
    .action(
      cli.action<{ offline?: boolean }>(async (call, files) => {
        const schemas = new Schemas({
          api: call.api,
          offline: call.options.offline,
          onMissing: (kind) =>
            call.print.note(`the server has no schema for ${kind}: using the one of this program`),
        });
        const problems: Problem[] = [];
        let judged = 0;
        // Commander gives a list for an argument with dots.
        for (const file of [files].flat() as string[])
          for (const entry of await documentsOf(
            file,
            await readInput(call.io, 'cannot read the file', file),
          )) {
            problems.push(...(await schemas.problemsOf(file, entry)));
            judged += 1;
          }
        await report(call, problems, judged);
      }),
    );
}

async function report(call: Call<object>, problems: readonly Problem[], judged: number) {
  const { print } = call;
  if (problems.length > 0) call.fails();
  if (print.format === 'json' || print.format === 'yaml') return print.value(problems);
  print.text(
    problems.map(({ file, line, column, pointer, message }) => {
      const where = pointer === '' ? '' : `${pointer}: `;
      return `${file}:${line}:${column}: ${where}${message}\n`;
    }),
  );
  if (problems.length === 0 && judged > 0) print.note(`${judged} valid`);
}
