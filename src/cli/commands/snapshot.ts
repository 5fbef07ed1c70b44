/** `snapshot`: the whole state, saved to a file and restored from it. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Call, Cli } from '../cli.js';
import { mustOpen, replaceFile } from '../files/files.js';
import type { Sink } from '../io.js';
import { CliError, misused } from '../print/error.js';
import { progress, sizeText } from '../print/progress.js';

/** A sink that discards progress. */
const SILENT: Sink = { write: () => {}, isTerminal: false, columns: undefined };

export function addSnapshot(program: Command, cli: Cli): void {
  const snapshot = program.command('snapshot').description('save or restore the whole state');
  snapshot
    .command('save')
    .description('save the whole state, with the secrets of all tokens, to a file')
    .argument('<file>', 'replaced if it exists')
    .action(
      cli.action(async (call, file) => {
        if (file === '-') misused('an archive cannot be written to standard output: name a file');
        const { index, bytes } = await saveSnapshot(call, file!);
        const what = `saved index ${index} to ${file} (${sizeText(bytes)})`;
        call.print.say(`${what}; it contains the secrets of all tokens`);
      }),
    );
  snapshot
    .command('restore')
    .description('replace the whole state with that in a file')
    .argument('<file>', 'a file written by snapshot save')
    .action(
      cli.action(async (call, file) => {
        await restoreSnapshot(call, file!);
        await tellRestored(call, file!);
      }),
    );
}

/** Saves a snapshot, completely or not at all: it is read back first. Returns index and size. */
async function saveSnapshot(
  { api, io, options }: Call<object>,
  file: string,
): Promise<{ readonly index: string; readonly bytes: number }> {
  const shown = progress(options.quiet ? SILENT : io.err, 'saved');
  let index = '';
  let bytes = 0;
  await replaceFile(file, async (written, part) => {
    const answer = await api.open('GET', '/v1/snapshot');
    index = String(answer.headers['x-consul-index'] ?? '');
    try {
      await pipeline(answer, shown, (chunks: AsyncIterable<Buffer>) => writeFile(written, chunks));
    } catch (error) {
      // The words of Node do not tell what was cut off. What failed may also be the disk.
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ECONNRESET' || io.signal.aborted) throw error;
      throw new CliError(`the archive was cut off: ${message}`, { code: 'unreachable' });
    }
    bytes = (await written.stat()).size;
    await mustBeArchive(part);
  });
  return { index, bytes };
}

/**
 * Checks that a file is a whole archive, by its compression: a newer release may have written what
 * this one cannot read. Throws if it is none, or cut off.
 */
async function mustBeArchive(file: string): Promise<void> {
  const { createGunzip } = await import('node:zlib');
  try {
    const drained = new Writable({ write: (_chunk, _encoding, done) => done() });
    await pipeline(createReadStream(file), createGunzip(), drained);
  } catch (error) {
    throw new CliError(`the server did not send a complete archive: ${(error as Error).message}`);
  }
}

/** Replaces the cluster's whole state by a snapshot. */
async function restoreSnapshot({ api, io, options }: Call<object>, file: string): Promise<void> {
  // Opened first, so that a problem with the file is not reported as one of the node.
  const archive = await mustOpen('cannot read the archive', file);
  const { size } = await archive.stat();
  await archive.close();
  const sent = 'conclave: sent; the cluster checks it and replaces its state\n';
  const shown = progress(options.quiet ? SILENT : io.err, 'sent', { total: size, after: sent });
  const body = (): Readable => Readable.from(shown(createReadStream(file)), { objectMode: false });
  const answer = await api.open('PUT', '/v1/snapshot', body);
  answer.resume();
}

/** Prints what was restored, which is read from the file: the server does not tell it. */
async function tellRestored({ io, print }: Call<object>, file: string): Promise<void> {
  // A server of a later release may have taken what this program cannot read.
  const content = await io.archive(file).catch(() => undefined);
  if (print.isForPrograms) return print.value({ file, ...content });
  if (content === undefined) return print.say(`restored ${file}`);
  const counts = Object.entries(content.objects).map(([type, count]) => `${type}: ${count}`);
  print.say(`restored ${file}, saved at index ${content.index}`);
  print.say(counts.join(', '));
}
