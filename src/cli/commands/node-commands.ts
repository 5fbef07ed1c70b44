/**
 * The commands that run a node or read its files. Another part of the program has them; here they
 * are described, for help, suggestions, completion and documentation.
 */
import type { Command } from 'commander';
import { subcommandOf } from '../arguments.js';

/** A line of help: how it is written, and what it is. */
export type Described = readonly [term: string, what: string];

/** A command. */
export interface NodeCommand {
  readonly path: readonly string[];
  readonly what: string;
  readonly argument?: Described;
  /** Its own options, besides the settings of a node. */
  readonly options?: readonly Described[];
  readonly after?: string;
}

const OUTPUT: Described = [
  '-o, --output <form>',
  'table or json (default: table on a terminal, json elsewhere)',
];

/** The options of `dev`. */
export const DEV_OPTIONS = {
  nodes: ['--nodes <count>', 'number of nodes: 1, 3 or 5'],
  port: ['--port <port>', 'HTTP port of the first node (default: 8501)'],
  dir: ['--dir <folder>', 'folder for data, logs and settings'],
  fresh: ['--fresh', 'delete existing data and start over'],
} as const satisfies Readonly<Record<string, Described>>;

/** All of them. */
export const NODE_COMMANDS: readonly NodeCommand[] = [
  {
    path: ['agent'],
    what: 'run a node until it is stopped',
    options: [['--help-all', 'show all settings, with the reason for each']],
    after:
      'conclave agent check checks the settings without running a node.\n\n' +
      'Examples:\n  conclave agent --data-dir ./node --http-port 8500',
  },
  {
    path: ['dev'],
    what: 'run a cluster on this machine to try it out, until it is stopped',
    options: Object.values(DEV_OPTIONS),
    after:
      'Runs one node in conclave-dev/ by default. The data is kept.\n\n' +
      'Examples:\n  conclave dev --nodes 3',
  },
  {
    path: ['agent', 'check'],
    what: 'check the settings of a node and print them',
    after: 'Examples:\n  conclave agent check --config node.json',
  },
  {
    path: ['inspect'],
    what: 'show what the data folder of a stopped node contains, or compare several',
    argument: ['[folder...]', 'data folders (default: the one in the settings)'],
    options: [OUTPUT],
    after: 'Examples:\n  conclave inspect n1/data n2/data n3/data',
  },
  {
    path: ['recover'],
    what:
      'create a new cluster from the data folder of a stopped node whose cluster has lost its ' +
      'majority for good; this node is its only member, and others join it',
    options: [
      [
        '--members <list>',
        'name=host:port of each member instead; each gets a copy of this folder and recovers it ' +
          'with the same list',
      ],
      ['--accept-loss', 'continue even if something in the folder is damaged'],
      ['--dry-run', 'change nothing; show what would be done'],
      OUTPUT,
    ],
    after: 'Examples:\n  conclave recover --config node.json --dry-run',
  },
  {
    path: ['audit', 'verify'],
    what: 'check that no line of an audit log was changed, left out or added; contacts no server',
    argument: ['<file...>', 'the files of a sink, the oldest first'],
    options: [
      ['--key-file <file>', 'the key of the sink, if it has one'],
      ['--last <seq:hash>', 'a record that must be among them, such as the last that was shipped'],
      OUTPUT,
    ],
    after:
      'Exits with 1 if a line is bad, and names the first.\n\n' +
      'Examples:\n  conclave audit verify audit-*.json audit.json',
  },
  {
    path: ['snapshot', 'inspect'],
    what: 'show what a snapshot file contains; contacts no server',
    argument: ['<file>', 'a file written by snapshot save'],
    options: [OUTPUT],
    after: 'Examples:\n  conclave snapshot inspect backup.snap',
  },
  {
    path: ['snapshot', 'verify'],
    what: 'check a whole snapshot file the way a restore does; contacts no server',
    argument: ['<file>', 'a file written by snapshot save'],
    options: [OUTPUT],
    after:
      'Exits with 1 if it could not be restored.\n\n' +
      'Examples:\n  conclave snapshot verify backup.snap',
  },
];

/** A former name of a command, which scripts may use. */
const FORMER = { path: ['config', 'check'], now: ['agent', 'check'] } as const;

const begins = (words: readonly string[], path: readonly string[]): boolean =>
  path.every((word, at) => words[at] === word);

/** A command line that names a command of this kind. */
export interface NodeCommandLine {
  readonly command: NodeCommand;
  /** The words of the command under its present name, and what follows them. */
  readonly words: readonly string[];
}

/** Returns the command that a command line names, if it is one of these. */
export function nodeCommandOf(given: readonly string[]): NodeCommandLine | undefined {
  const asked = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  const { path, now } = FORMER;
  const words = begins(asked, path) ? [...now, ...asked.slice(path.length)] : asked;
  const named = NODE_COMMANDS.filter((one) => begins(words, one.path));
  const command = named.sort((one, other) => other.path.length - one.path.length)[0];
  return command && { command, words };
}

/** Adds a command with what describes it. */
export function describedCommand(parent: Command, described: NodeCommand): Command {
  const { path, what, argument, options = [], after } = described;
  const command = parent.command(path.at(-1)!).description(what);
  if (argument !== undefined) command.argument(...argument);
  for (const option of options) command.option(...option);
  if (after !== undefined) command.addHelpText('after', `\n${after}`);
  return command;
}

/** Adds the commands to the program of the client, which only describes them. */
export function addNodeCommands(program: Command): void {
  for (const described of NODE_COMMANDS) {
    const { path } = described;
    const [head] = path as [string];
    const parent =
      path.length === 1 ? program : (subcommandOf(program, head) ?? program.command(head));
    describedCommand(parent, described)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => program.error(`error: put "${path.join(' ')}" before the options`));
  }
}
