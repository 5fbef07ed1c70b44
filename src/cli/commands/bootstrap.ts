/** `acl bootstrap`: the first token. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { asOwner } from '../../base/as-owner.js';
import { IDENTITY_FILE, TOKEN_RESET_FILE } from '../../base/data-folder.js';
import { type Call, type Cli, oneNode } from '../cli.js';
import { readInput, writePrivate } from '../files/files.js';
import { CliError, misused } from '../print/error.js';
import { tokenInto } from './login.js';
import { hidden, type Stored, TYPE } from './objects.js';

interface BootstrapOptions {
  readonly reset?: string | boolean;
  readonly tokenSinkFile?: string;
}

/** Consul and this server state the index only in the sentence, which is part of the API. */
const RESET_INDEX = /reset index: (\d+)/;

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
        const { print } = call;
        const sink = call.options.tokenSinkFile;
        const show = (made: Stored): Promise<void> => print.item(made, TYPE.token.shape);
        if (sink === undefined) return show(await bootstrapped(call, secret));
        const made = await tokenInto(
          sink,
          () => bootstrapped(call, secret),
          (lost) => {
            print.note(`the SecretID could not be written to ${sink}, so it is shown here`);
            return show(lost);
          },
        );
        print.note(`the SecretID is in ${sink}`);
        // The API repeats the SecretID as ID.
        const { ID: _, ...shown } = made;
        return show(hidden(TYPE.token, shown));
      }),
    );
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
          `or write ${index} to ${TOKEN_RESET_FILE} there`,
      });
    oneNode(call, '--reset');
    // In another folder no node would look for the file.
    if (statSync(join(reset, IDENTITY_FILE), { throwIfNoEntry: false }) === undefined)
      misused(`--reset: ${reset} is not the data folder of a node`);
    await asOwner(reset, () => writePrivate(join(reset, TOKEN_RESET_FILE), `${index}\n`));
    return ask();
  }
}
