/** Runs a command line of the client. */
import { CommanderError } from 'commander';
import { withTwoDashes } from './arguments.js';
import { Cli } from './cli.js';
import { FIRST_STEPS } from './commands/first-steps.js';
import type { Io } from './io.js';
import { CliError, EXIT, errorJson, errorLines, interruption } from './print/error.js';
import { programOf } from './program.js';

/**
 * Runs a command. Returns its exit code: 0 done, 1 refused or failed, 2 misused, 130 interrupted.
 * Prints what went wrong, and throws only errors of this program.
 */
export async function runClient(given: readonly string[], io: Io): Promise<number> {
  if (given.length === 0) {
    io.out.write(FIRST_STEPS);
    return EXIT.done;
  }
  const cli = new Cli(io);
  const program = programOf(cli);
  // Commander's own help knows the commands of the top alone.
  const isHelp = given[0] === 'help' && given.length > 1;
  const args = withTwoDashes(program, isHelp ? [...given.slice(1), '--help'] : given);
  try {
    await program.parseAsync(args, { from: 'user' });
    return cli.exit;
  } catch (error) {
    // Commander has printed what was wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.misused;
    const failure = errorOf(error, io);
    if (failure === undefined) throw error;
    io.err.write(wantsJson(args, io.env) ? errorJson(failure) : errorLines(failure));
    return failure.exit;
  }
}

/**
 * An error of the operating system, such as a file that cannot be written, is the user's. When the
 * user interrupts, waiting calls end with an AbortError, and streams with any error.
 */
function errorOf(error: unknown, { signal }: Io): CliError | undefined {
  if (error instanceof CliError) return error;
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === 'AbortError') return interruption();
  if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) return undefined;
  return signal.aborted ? interruption() : new CliError(message);
}

/** Whether the user wants JSON, as far as the arguments tell: the error may be in the profile. */
function wantsJson(args: readonly string[], env: Io['env']): boolean {
  const forms = args.flatMap((arg, at) => {
    const [, form] = /^(?:-o|--(?:output|format)=)(.+)$/.exec(arg) ?? [];
    return form ?? (/^(?:-o|--output|--format)$/.test(args[at - 1] ?? '') ? arg : []);
  });
  return (forms.at(-1) ?? env['CONCLAVE_OUTPUT']) === 'json';
}
