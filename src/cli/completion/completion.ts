/**
 * `completion`, and what its scripts ask for. They run `conclave complete -- WORDS`, and read a
 * line for each candidate, `value TAB description`, and a last line with a directive.
 */
import type { Command, Option } from 'commander';
import { optionsOf, subcommandOf, withTwoDashes } from '../arguments.js';
import type { Call, Cli } from '../cli.js';
import type { CommonOptions } from '../client/environment.js';
import { misused } from '../print/error.js';
import { FORMATS } from '../print/output.js';
import { oneLine } from '../print/text.js';
import { type Candidate, namesFor } from './names.js';
import { SCRIPTS, SHELLS } from './scripts.js';

/** Directives of the scripts: the shell completes files, or nothing of its own. */
const DIRECTIVE = { files: 0, none: 4 } as const;

/** What is to be completed. */
export interface Position {
  readonly command: Command;
  /** The arguments of the command so far. */
  readonly args: readonly string[];
  /** The option whose value it is; undefined if it is none. */
  readonly option: Option | undefined;
  readonly word: string;
  /** The values of options so far, by attribute. */
  readonly options: Readonly<Record<string, string>>;
}

/**
 * The scripts give candidates to the shell unquoted, and bash expands them at once: a name such as
 * `$(reboot)`, which anybody with the right to write entries may choose, would run.
 */
const HARMLESS = /^[\p{L}\p{M}\p{N}_.,:@%+=/-]+$/u;

/** How long a server may take, while the shell waits. */
const ANSWER_MS = 500;

/** Also adds the hidden command that the scripts run. */
export function addCompletion(program: Command, cli: Cli): void {
  program
    .command('completion')
    .description('print a script that completes commands, options and names')
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText(
      'after',
      '\nbash: source <(conclave completion bash)\n' +
        'zsh:  source <(conclave completion zsh)\n' +
        'fish: conclave completion fish | source',
    )
    .action(
      cli.action(async ({ print }, shell) => {
        const script = Object.hasOwn(SCRIPTS, shell!) ? SCRIPTS[shell!] : undefined;
        print.text([script ?? misused(`"${shell}" is not one of ${SHELLS.join(', ')}`)]);
      }),
    );
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: readonly string[]) => {
      const position = positionOf(program, words);
      const found = await candidatesAt(cli, position);
      const shown = (found ?? []).filter(
        ({ value }) => value.startsWith(position.word) && HARMLESS.test(value),
      );
      const lines = shown.map(({ value, what }) => `${oneLine(value)}\t${oneLine(what)}\n`);
      const directive = found === undefined ? DIRECTIVE.files : DIRECTIVE.none;
      cli.io.out.write(`${lines.join('')}:${directive}\n`);
    });
}

/** Returns what the last of the words is. */
export function positionOf(program: Command, words: readonly string[]): Position {
  const before = withTwoDashes(program, words.slice(0, -1));
  let command = program;
  const args: string[] = [];
  const options: Record<string, string> = {};
  let option: Option | undefined;
  for (const word of before) {
    if (option !== undefined) {
      options[option.attributeName()] = word;
      option = undefined;
    } else if (word.startsWith('-')) {
      const [flag, value] = word.split(/=(.*)/s);
      const found = optionsOf(command).find(({ long, short }) => long === flag || short === flag);
      if (found !== undefined && value !== undefined) options[found.attributeName()] = value;
      else if (found?.required) option = found;
    } else {
      const below = args.length === 0 ? subcommandOf(command, word) : undefined;
      if (below === undefined) args.push(word);
      else command = below;
    }
  }
  return { command, args, option, options, word: words.at(-1) ?? '' };
}

/** Returns candidates; undefined if the shell is to complete files. */
async function candidatesAt(
  cli: Cli,
  position: Position,
): Promise<readonly Candidate[] | undefined> {
  const { args, command, option, word } = position;
  if (option !== undefined) return valuesOf(cli, position, option);
  if (word.startsWith('-'))
    return optionsOf(command)
      .filter(({ hidden, long }) => !hidden && long !== undefined)
      .map(({ long, description }) => ({ value: long!, what: description }));
  const below = command.createHelp().visibleCommands(command);
  const commands = below
    .filter((one) => one.name() !== 'help')
    .map((one) => ({ value: one.name(), what: one.description() }));
  const isGroup = command.registeredArguments.length === 0;
  if (below.length > 0 && args.length === 0 && isGroup) return commands;
  const argument =
    command.registeredArguments[Math.min(args.length, command.registeredArguments.length - 1)];
  if (argument === undefined) return [];
  if (/file/.test(argument.name())) return undefined;
  const names = await named(cli, position, pathTo(command).join(' '));
  return args.length === 0 ? [...commands, ...names] : names;
}

async function valuesOf(
  cli: Cli,
  position: Position,
  option: Option,
): Promise<readonly Candidate[] | undefined> {
  if (option.long === '--output') return FORMATS.map((value) => ({ value, what: '' }));
  if (/file|folder|cert|key\b/.test(`${option.long} ${option.flags}`)) return undefined;
  return named(cli, position, option.long ?? option.short ?? '');
}

/** Returns the names of commands down to this one, without that of the program. */
function pathTo(command: Command): string[] {
  const path: string[] = [];
  for (let at = command; at.parent !== null; at = at.parent) path.unshift(at.name());
  return path;
}

/** Asks the server for names. Failures are silent: the shell cannot show them. */
async function named(
  cli: Cli,
  { args, options }: Position,
  place: string,
): Promise<readonly Candidate[]> {
  const signal = AbortSignal.any([cli.io.signal, AbortSignal.timeout(ANSWER_MS)]);
  let call: Call<object> | undefined;
  try {
    const common: CommonOptions = { ...options, output: 'table' };
    // A renewal that is cut off loses the login.
    call = cli.callOf(common, { io: { ...cli.io, signal }, renews: false });
    return await namesFor(call, place, args);
  } catch {
    return [];
  } finally {
    await call?.api.close();
  }
}
