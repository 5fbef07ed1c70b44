/** `acl bootstrap`. */
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Call, type Cli, oneNode } from '../cli.js';
import { readInput, writePrivate } from '../files/files.js';
import { CliError } from '../print/error.js';
import { hidden, type Stored, TOKENS } from './objects.js';

interface BootstrapOptions {
  readonly reset?: string | boolean;
  readonly tokenSinkFile?: string;
}

/** The file in a node's data folder that allows another bootstrap. */
const RESET_FILE = 'acl-bootstrap-reset';
const RESET_INDEX = /reset index: (\d+)/;

/** Adds `acl bootstrap`. */
export function addBootstrap(acl: Command, cli: Cli): void {
  acl
    .command('bootstrap')
    .description('create the first token, which has full access')
    .argument('[secret-file]', 'file with the SecretID to use, or - for standard input')
    .option('--token-sink-file <file>', 'write its SecretID to a file instead of showing it')
    .option(
      '--reset [folder]',
      'bootstrap again if it was done before; takes the data folder of the contacted node',
    )
    .action(
      cli.action<BootstrapOptions>(async (call, secretFile) => {
        const secret =
          secretFile === undefined
            ? undefined
            : (await readInput(call.io, 'cannot read the secret file', secretFile)).trim();
        const { tokenSinkFile } = call.options;
        if (tokenSinkFile !== undefined) return intoFile(call, secret, tokenSinkFile);
        return call.print.item(await bootstrapped(call, secret), TOKENS.shape);
      }),
    );
}

/** Bootstraps, and writes the SecretID to a file. Shows it if that fails: there is no other way. */
async function intoFile(
  call: Call<BootstrapOptions>,
  secret: string | undefined,
  sink: string,
): Promise<void> {
  const { print } = call;
  const done: { made?: Stored } = {};
  try {
    await writePrivate(sink, async () => {
      done.made = await bootstrapped(call, secret);
      return `${done.made.SecretID}\n`;
    });
  } catch (error) {
    if (done.made === undefined) throw error;
    print.note(`the SecretID could not be written to ${sink}, so it is shown here`);
    await print.item(done.made, TOKENS.shape);
    throw error;
  }
  print.note(`the SecretID is in ${sink}`);
  // The API repeats the SecretID as ID.
  const { ID: _, ...shown } = done.made!;
  await print.item(hidden(TOKENS, shown), TOKENS.shape);
}

async function bootstrapped(call: Call<BootstrapOptions>, secret?: string): Promise<Stored> {
  const body = secret === undefined ? {} : { BootstrapSecret: secret };
  const ask = async (): Promise<Stored> =>
    (await call.api.ask('PUT', '/v1/acl/bootstrap', { body })).json<Stored>();
  try {
    return await ask();
  } catch (error) {
    const index = error instanceof CliError ? RESET_INDEX.exec(error.message)?.[1] : undefined;
    const { reset } = call.options;
    if (index === undefined) throw error;
    if (typeof reset !== 'string')
      throw new CliError((error as CliError).message, {
        ...(error as CliError).details,
        hint:
          'to bootstrap again, pass the data folder of the node to --reset, ' +
          `or write ${index} to ${RESET_FILE} there`,
      });
    oneNode(call, '--reset');
    await writePrivate(join(reset, RESET_FILE), `${index}\n`);
    return ask();
  }
}
