/** `config write` and `config delete`. */
import type { Command } from 'commander';
import { pathOf } from '../../languages/pointers.js';
import { type Call, type Cli, whole } from '../cli.js';
import { documentsIn, type Written } from '../files/documents.js';
import { Schemas } from '../files/schemas.js';
import { CliError, misused } from '../print/error.js';
import {
  type EntryOptions,
  entryPath,
  namespaceIn,
  refOf,
  type Which,
  wasDone,
  whichEntry,
  whichIn,
  withEntry,
} from './entries.js';

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

/** A version belongs to one entry. */
function mustBeOne(entries: readonly unknown[], query: Record<string, string>): void {
  if (entries.length > 1 && query['cas'] !== undefined)
    misused('--cas: the file may contain only one entry');
}

export function addWrite(config: Command, cli: Cli): void {
  withCas(config.command('write').description('create or replace the entries in files'))
    .argument('<file...>', 'JSON or YAML files, folders with such files, or - for standard input')
    .addHelpText(
      'after',
      '\nAll entries are checked before the first is written. They are written one by one, and\n' +
        'the first refusal ends the command.',
    )
    .action(
      cli.action<WriteOptions>(async (call, ...files) => {
        const query = casOf(call.options);
        const entries = await documentsIn(call.io, files as string[]);
        mustBeOne(entries, query);
        // The server checks a single one as well, and writes nothing if it is wrong.
        if (entries.length > 1) await mustBeValid(call, entries);
        for (const [done, entry] of entries.entries())
          try {
            await writeEntry(call, entry, query);
          } catch (error) {
            if (done > 0) call.print.note(`${done} of ${entries.length} entries are written`);
            throw error instanceof CliError ? placed(entry, error) : error;
          }
      }),
    );
}

/** Returns where an entry stands and what it is: `web.yaml:5 service-defaults/web`. */
function labelOf(entry: Written, line: number): string {
  const { kind, name } = whichIn(entry.value);
  return `${entry.file}:${line}${kind === '' ? '' : ` ${kind}/${name}`}`;
}

/** Returns an error that is about an entry with the place of the entry, or of the error in it. */
function placed(entry: Written, failure: CliError): CliError {
  const { code, problem } = failure.details;
  if (problem === undefined && code !== 'conflict' && code !== 'outcome_unknown') return failure;
  const pointer = String(problem?.['pointer'] ?? '');
  const { line } = entry.placeOf(pathOf(pointer));
  return new CliError(`${labelOf(entry, line)}: ${failure.message}`, failure.details);
}

/** Throws if the schemas of the server exclude one of the entries. */
async function mustBeValid({ api }: Call<object>, entries: readonly Written[]): Promise<void> {
  const schemas = new Schemas({ api, own: 'never' });
  const found: string[] = [];
  for (const entry of entries)
    for (const { line, message } of await schemas.problemsOf(entry))
      found.push(`${labelOf(entry, line)}: ${message}`);
  const [first, ...others] = found;
  if (first === undefined) return;
  const more = others.map((one) => `${one}\n  `).join('');
  throw new CliError(first, { code: 'invalid', hint: `${more}nothing was written` });
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
    throw new CliError(`${ref} was not written: its ModifyIndex is not ${query['cas']}`, {
      code: 'conflict',
    });
  await print.done('wrote', ref, true);
}

export function addDelete(config: Command, cli: Cli): void {
  const command = config
    .command('delete')
    .alias('rm')
    .description('delete an entry, or all of a file');
  withCas(withEntry(command))
    .option('--filename <file>', 'file or folder with the entries, or - for standard input')
    .action(
      cli.action<EntryOptions & WriteOptions & { filename?: string }>(
        async (call, first, second) => {
          const query = casOf(call.options);
          const { filename } = call.options;
          const entries =
            filename === undefined
              ? [whichEntry(first, second, call.options)]
              : await entriesIn(call, filename);
          mustBeOne(entries, query);
          for (const entry of entries) await deleteEntry(call, entry, query);
        },
      ),
    );
}

interface Doomed extends Which {
  /** The namespace that its document names. */
  readonly namespace?: string | undefined;
}

async function deleteEntry(
  { api, print }: Call<object>,
  { kind, name, namespace }: Doomed,
  cas: Record<string, string>,
): Promise<void> {
  const place = namespace === undefined ? {} : { ns: namespace };
  const path = entryPath({ kind, name });
  const ref = refOf(namespace ?? api.namespace, { Kind: kind, Name: name });
  // A delete answers the same whether there was something to delete.
  const held = await api.get(path, { query: place, isCurrent: true, mayBeMissing: true });
  if (held.status === 404) {
    print.note(`nothing to delete: ${ref} does not exist`);
    if (print.isForPrograms) await print.value(false);
    return;
  }
  const answer = await api.ask('DELETE', path, { query: { ...cas, ...place } });
  if (!wasDone(answer))
    throw new CliError(`${ref} was not deleted: its ModifyIndex does not match`, {
      code: 'conflict',
    });
  await print.done('deleted', ref, true);
}

/** Returns the entries of a file. Throws if one of them is in another namespace. */
async function entriesIn({ api, io }: Call<object>, path: string): Promise<readonly Doomed[]> {
  const documents = await documentsIn(io, [path]);
  return documents.map(({ file, value }) => {
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
