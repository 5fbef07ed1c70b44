/** `config`: configuration entries. */
import type { Command } from 'commander';
import type { EntryProblem, Validation } from '../../api/endpoints/change.js';
import type { Chain } from '../../api/endpoints/config.js';
import { pathOf } from '../../languages/pointers.js';
import type { Call, Cli } from '../cli.js';
import type { Api } from '../client/http.js';
import { documentsIn, type Written } from '../files/documents.js';
import { type Problem, Schemas, schemaPath } from '../files/schemas.js';
import { chainView } from '../print/chain-view.js';
import { CliError } from '../print/error.js';
import { editEntry } from './config-edit.js';
import { addDelete, addWrite } from './config-write.js';
import {
  ENTRIES,
  type Entry,
  type EntryOptions,
  entryPath,
  KINDS,
  kindPath,
  whichEntry,
  withEntry,
} from './entries.js';
import { noteNamespace } from './objects.js';
import { notePage, type PageOptions, pageQuery, withPages } from './pages.js';

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
        if (print.isForPrograms) return print.value(answer);
        print.text([chainView(answer.Chain)]);
      }),
    );
}

function addReads(config: Command, cli: Cli): void {
  withEntry(config.command('read').description('show an entry as JSON')).action(
    cli.action<EntryOptions>(async ({ api, options, print }, first, second) => {
      const entry = (await api.get(entryPath(whichEntry(first, second, options)))).json<Entry>();
      await (print.format === 'name' ? print.item(entry, ENTRIES) : print.value(entry));
    }),
  );
  const list = config
    .command('list')
    .alias('ls')
    .description('list the entries of a kind, or all entries')
    .argument('[kind]', 'the kind (default: all)')
    .option('--kind <kind>', 'same as the argument');
  withPages(list, 'Protocol == "http"').action(
    cli.action<EntryOptions & PageOptions>(async (call, argument) => {
      const { kind = argument } = call.options;
      const query = pageQuery(call.options);
      const isWhole = Object.values(query).every((value) => value === undefined);
      const answer =
        kind === undefined && isWhole
          ? undefined
          : await call.api.get(kindPath(kind ?? ''), { query });
      const entries = answer?.json<Entry[]>() ?? (await allEntries(call));
      await call.print.list(entries, ENTRIES);
      if (entries.length === 0) await noteNamespace(call);
      if (answer !== undefined) notePage(call, answer, entries.length);
    }),
  );
}

/** Reads the entries of all kinds, one kind after the other. Leaves out kinds of later releases. */
async function allEntries({ api }: Call<object>): Promise<Entry[]> {
  const all: Entry[] = [];
  let unknown = 0;
  for (const kind of KINDS)
    try {
      all.push(...(await api.get(kindPath(kind))).json<Entry[]>());
    } catch (error) {
      // Nothing in the request but its kind is invalid, unless all are.
      if (!(error instanceof CliError && error.details.problem?.['status'] === 400)) throw error;
      unknown += 1;
      if (unknown === KINDS.length) throw error;
    }
  return all;
}

function addValidate(config: Command, cli: Cli): void {
  config
    .command('validate')
    .description('check entries in files, and by the server with all that it has; writes nothing')
    .argument('<file...>', 'JSON or YAML files, folders with such files, or - for standard input')
    .option(
      '--offline',
      'contact no server: only the schemas of this program, no rules beyond them',
    )
    .action(
      cli.action<{ offline?: boolean }>(async (call, ...files) => {
        const schemas = new Schemas({
          api: call.api,
          own: call.options.offline ? 'only' : undefined,
          onMissing: (kind) =>
            call.print.note(
              `the server has no schema for ${kind}: using the one built into this program`,
            ),
        });
        const entries = await documentsIn(call.io, files as string[]);
        const problems: Problem[] = [];
        for (const entry of entries) problems.push(...(await schemas.problemsOf(entry)));
        // What the schemas cannot say: rules in code, and those between entries.
        if (problems.length === 0 && !call.options.offline)
          problems.push(...(await judgedByServer(call.api, entries)));
        await report(call, problems, entries.length);
      }),
    );
}

/** Entries that a server judges together. */
const JUDGED_MAX = 1_000;

/** Returns what the server finds. An older release judges nothing. */
async function judgedByServer(api: Api, entries: readonly Written[]): Promise<readonly Problem[]> {
  const found: Problem[] = [];
  for (let at = 0; at < entries.length; at += JUDGED_MAX) {
    const some = entries.slice(at, at + JUDGED_MAX);
    const body = { Entries: some.map(({ value }) => value) };
    try {
      const answer = await api.ask('POST', '/v1/config/validate', { body, isRead: true });
      const { Results = [] } = answer.json<Partial<Validation>>();
      for (const [position, { Problems }] of Results.entries())
        found.push(...Problems.map((problem) => placedIn(some[position]!, problem)));
    } catch (error) {
      const code = error instanceof CliError ? error.details.code : undefined;
      if (code !== 'no_endpoint' && code !== 'method_not_allowed') throw error;
    }
  }
  return found;
}

const placedIn = (entry: Written, { Pointer, Message, Hint }: EntryProblem): Problem => ({
  file: entry.file,
  ...entry.placeOf(pathOf(Pointer)),
  pointer: Pointer,
  message: Hint === '' ? Message : `${Message} (${Hint})`,
});

async function report(call: Call<object>, problems: readonly Problem[], judged: number) {
  const { print } = call;
  if (problems.length > 0) call.fails();
  if (print.isForPrograms) return print.value(problems);
  for (const { file, line, column, pointer, message } of problems) {
    const where = pointer === '' ? '' : `${pointer}: `;
    print.say(`${file}:${line}:${column}: ${where}${message}`);
  }
  if (problems.length === 0 && judged > 0) print.note(`${judged} valid`);
}
