/** What every command of the client is given: options, the API, and how to print. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../languages/duration.js';
import {
  type CommonOptions,
  readToken,
  type Surroundings,
  surroundingsOf,
} from './client/environment.js';
import { Api } from './client/http.js';
import { readProfiles } from './client/profiles.js';
import { renewIfDue } from './client/renewal.js';
import type { Io } from './io.js';
import { CliError, EXIT, misused } from './print/error.js';
import { FORMATS, formatOf, Printer } from './print/output.js';
import { oneLine } from './print/text.js';

const TIMEOUT_DEFAULT = '30s';

/** A command as it runs. */
export interface Call<O> {
  readonly options: O & CommonOptions;
  readonly surroundings: Surroundings;
  readonly api: Api;
  readonly print: Printer;
  readonly io: Io;
  /** How long a command may wait and retry, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes the program exit with a code, 1 by default, although the command did its work. */
  fails(exit?: number): void;
}

/** The work of a command. */
export type Work<O> = (call: Call<O>, ...args: (string | undefined)[]) => Promise<void>;

/** How a command is called. */
export interface CallParts {
  readonly io?: Io;
  /** Whether it renews a login that ends soon (default: true). */
  readonly renews?: boolean;
}

/** Builds the actions of commands. */
export class Cli {
  readonly io: Io;
  exit: number = EXIT.done;
  constructor(io: Io) {
    this.io = io;
  }

  /** Returns an action for commander that runs the work of a command. */
  action<O = object>(
    work: Work<O>,
    parts?: CallParts,
  ): (...parameters: unknown[]) => Promise<void> {
    return async (...parameters) => {
      // Commander passes the arguments, one with dots as a list, the options, and the command.
      const command = parameters.at(-1) as Command;
      const args = parameters.slice(0, -2).flat() as (string | undefined)[];
      const call = this.callOf<O>(command.optsWithGlobals(), parts);
      try {
        await work(call, ...args);
      } finally {
        await call.api.close();
      }
    };
  }

  /** Returns what a command with these options works with. */
  callOf<O>(options: O & CommonOptions, { io = this.io, renews = true }: CallParts = {}): Call<O> {
    const surroundings = surroundingsOf(options, io, readProfiles(io));
    const { addresses, tls, token: source, namespace, output, loginFile } = surroundings;
    if (options.stale === true && options.consistent === true)
      misused('--stale and --consistent cannot be used together');
    const timeoutMs = milliseconds(options.timeout ?? TIMEOUT_DEFAULT);
    const tell = (text: string): void => {
      if (options.debug === true) io.err.write(`${oneLine(text)}\n`);
    };
    const token = async (): Promise<string | undefined> => {
      if (renews) await renewIfDue({ api, loginFile, source, signal: io.signal, tell });
      return readToken(source, io.env);
    };
    const api: Api = new Api(
      {
        addresses,
        tls,
        namespace,
        reason: options.reason,
        token,
        mode: options.stale ? 'stale' : options.consistent ? 'consistent' : undefined,
        timeoutMs,
        debug: options.debug === true,
      },
      io,
    );
    const format = formatOf(options.output ?? output);
    const colour = mayColour(io, options);
    const print = new Printer(io, { format, colour, quiet: options.quiet === true });
    const fails = (exit: number = EXIT.failed): void => {
      this.exit = exit;
    };
    return { options, surroundings, api, print, io, timeoutMs, fails };
  }
}

/** Throws unless exactly one node is named, for commands that are about a node. */
export function oneNode({ surroundings }: Call<object>, what: string): void {
  if (surroundings.addresses.length > 1)
    misused(`${what} works on one node: name it with --http-addr`);
}

/** Asks a person, unless `--yes` was given. Ends the command if the answer is no. */
export async function sure(
  { io, options }: Call<{ yes?: boolean }>,
  question: string,
): Promise<void> {
  if (options.yes === true) return;
  if (!io.canAsk) misused('--yes is required without a terminal');
  const answer = (await io.ask(`${oneLine(question)} [y/N] `)).trim();
  if (!/^y(?:es)?$/i.test(answer)) throw new CliError('nothing was changed');
}

/** Whether results are coloured: on a terminal, unless the user does not want it. */
function mayColour({ env, out }: Io, { color }: CommonOptions): boolean {
  return (
    out.isTerminal && color !== false && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  );
}

/** Parses a duration of an option into milliseconds. */
function milliseconds(text: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok) throw new InvalidArgumentError(parsed.message);
  return parsed.nanoseconds / 1e6;
}

/** The longest `--timeout`, in milliseconds: timers take no more than 24 days. */
const TIMEOUT_MAX_MS = 86_400_000;

/** Checks a timeout when the command line is read. */
const timeout = (text: string): string => {
  const ms = milliseconds(text);
  if (ms < 1) throw new InvalidArgumentError('expected at least 1ms');
  if (ms > TIMEOUT_MAX_MS) throw new InvalidArgumentError('expected at most 24h');
  return text;
};

/** Collects an option that may be given several times. */
export const several = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/** Parses an option that is a whole number. */
export function whole(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
}

/**
 * Adds an option of Consul that would show a secret in the list of processes. Using it
 * is refused in words that say what to do.
 */
export function refusedSecret(command: Command, flags: string, instead: string): Command {
  const name = flags.split(' ')[0];
  const refuse = (): never =>
    misused(`${name}: every user of this machine can read the arguments of a process`, instead);
  return command.addOption(new Option(flags).argParser(refuse).hideHelp());
}

/** Adds the options that all commands of the client have. */
export function withCommonOptions(program: Command): Command {
  program
    .optionsGroup('Connection:')
    .option(
      '--http-addr <list>',
      'host:port or URL of a node, or a comma-separated list to try in order',
    )
    .addOption(new Option('--url <list>', 'the same').hideHelp())
    .option('--profile <name>', 'the profile to use (see conclave profile)')
    .option(
      '--token-file <file>',
      'file with the token (default: CONCLAVE_HTTP_TOKEN, or the token of the login)',
    )
    .option('--namespace <name>', 'the namespace; * for all, when listing ACL objects')
    .option('--ca-file <file>', 'CA certificate to verify the nodes with')
    .option('--client-cert <file>', 'client certificate')
    .option('--client-key <file>', 'private key of the client certificate')
    .option('--tls-server-name <name>', 'name to expect in the certificates of the nodes');
  refusedSecret(program, '--token <token>', 'use CONCLAVE_HTTP_TOKEN or --token-file instead');
  return program
    .optionsGroup('Requests and output:')
    .option('-o, --output <form>', `${FORMATS.join(', ')} (default: table)`)
    .addOption(new Option('--format <form>').hideHelp())
    .option('--reason <text>', 'why a command writes, kept with the change')
    .option('--stale', 'read what the contacted node has, even if it is behind')
    .option('--consistent', 'confirm reads with a majority')
    .option(
      '--timeout <duration>',
      'how long to wait for an answer, and to retry while there is no leader ' +
        `(default: ${TIMEOUT_DEFAULT})`,
      timeout,
    )
    .option('--no-color', 'disable colours (or set NO_COLOR)')
    .option('--quiet', 'print results and errors only')
    .option('--debug', 'print each request, without secrets');
}
