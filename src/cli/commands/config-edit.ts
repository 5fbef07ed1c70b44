/** `config edit`: an entry in the user's editor. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Validation } from '../../api/endpoints/change.js';
import type { Call } from '../cli.js';
import { documentOf, type Written } from '../files/documents.js';
import { Schemas } from '../files/schemas.js';
import { textDifference } from '../print/diff-view.js';
import { CliError, misused } from '../print/error.js';
import { lines } from '../print/text.js';
import { entryPath, refOf, type Which, wasDone } from './entries.js';

/** Members that the server sets. */
const ANSWERED = new Set(['CreateIndex', 'ModifyIndex', 'Hash', 'Namespace', 'Status']);

/**
 * Opens an entry in the editor, shows what was changed, and writes it if nobody else has changed it
 * meanwhile. The text is kept in its file if it was changed and could not be written.
 */
export async function editEntry(call: Call<{ yes?: boolean }>, which: Which): Promise<void> {
  const { api, io, options, print } = call;
  if (!io.canAsk && options.yes !== true) misused('--yes is required without a terminal');
  const held = (await api.get(entryPath(which))).json<Record<string, unknown>>();
  const { stringify } = await import('yaml');
  const shown = Object.entries(held).filter(([member]) => !ANSWERED.has(member));
  const before = stringify(Object.fromEntries(shown), { lineWidth: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'conclave-edit-'));
  const file = join(folder, `${which.kind}.yaml`);
  let isKept = false;
  try {
    await writeFile(file, before, { mode: 0o600 });
    for (;;) {
      await openEditor(call, file);
      const after = await readFile(file, 'utf8');
      if (after === before) return print.note('nothing was changed');
      const changed = await textDifference(before, after, print.style.colour);
      print.text(changed.map((line) => `${line}\n`));
      const failure = await written(call, file, after, Number(held['ModifyIndex'] ?? 0));
      if (failure === undefined) break;
      if (!io.canAsk || failure.details.code === 'conflict') throw failure;
      io.err.write(`conclave: ${lines(failure.message)}\n`);
      if (!/^(?:y|yes)?$/i.test((await io.ask('edit it again? [Y/n] ')).trim())) throw failure;
    }
  } catch (error) {
    isKept = (await readFile(file, 'utf8').catch(() => before)) !== before;
    if (isKept) print.note(`your edits are kept in ${file}`);
    throw error;
  } finally {
    if (!isKept) await rm(folder, { recursive: true, force: true });
  }
  await print.done('wrote', refOf(api.namespace, held), true);
}

/** Runs the editor. A shell splits its command, which may have options. */
async function openEditor({ io }: Call<object>, file: string): Promise<void> {
  const editor = io.env['VISUAL'] || io.env['EDITOR'] || 'vi';
  const code = await io.run('sh', ['-c', `${editor} "$1"`, 'sh', file]);
  if (code !== 0)
    throw new CliError(`the editor "${editor}" exited with ${code}: nothing was written`);
}

/**
 * Returns what is wrong with an entry, and how a write of it names the version that was read. The
 * cluster judges it with all rules; other servers have only schemas, and know no If-Match.
 */
async function judged({ api }: Call<object>, entry: Written, index: number) {
  try {
    const ask = { body: entry.value, isRead: true, isCurrent: true };
    const answer = await api.ask('POST', '/v1/config/validate', ask);
    const [result] = answer.json<Validation>().Results;
    const problems = (result?.Problems ?? []).map((one) => ({
      pointer: one.Pointer,
      message: one.Hint ? `${one.Message}; ${one.Hint}` : one.Message,
    }));
    return { problems, version: { headers: { 'If-Match': `"${index}"` } } };
  } catch (error) {
    const code = error instanceof CliError ? error.details.code : undefined;
    if (code !== 'no_endpoint' && code !== 'method_not_allowed') throw error;
    const problems = await new Schemas({ api }).problemsOf(entry);
    return { problems, version: { query: { cas: String(index) } } };
  }
}

/** Asks, then writes the text. Returns the error if another edit can fix it. */
async function written(
  call: Call<{ yes?: boolean }>,
  file: string,
  text: string,
  index: number,
): Promise<CliError | undefined> {
  const { api, io, options } = call;
  try {
    const entry = await documentOf(file, text);
    const { problems, version } = await judged(call, entry, index);
    if (problems.length > 0)
      return new CliError(
        problems.map(({ pointer, message }) => `${pointer && `${pointer}: `}${message}`).join('; '),
      );
    if (options.yes !== true && !/^y/i.test((await io.ask('write it? [y/N] ')).trim()))
      throw new CliError('not written');
    const answer = await api.ask('PUT', '/v1/config', { body: entry.value, ...version });
    if (wasDone(answer)) return undefined;
  } catch (error) {
    if (error instanceof CliError && error.details.code === 'precondition_failed') return CHANGED;
    const isMendable = error instanceof CliError && error.message !== 'not written';
    if (isMendable) return error;
    throw error;
  }
  return CHANGED;
}

const CHANGED = new CliError('the entry has changed since it was read', {
  code: 'conflict',
  hint: 'edit it again to start from the new version',
});
