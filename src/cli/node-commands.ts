/**
 * The commands that run a node or look at its folder. Another part of the program has them; here
 * they are named, for help, suggestions and completion.
 */
import type { Command } from 'commander';
import { subcommandOf } from './arguments.js';

/** Paths of commands with what they do. */
export const NODE_COMMANDS: readonly (readonly [path: readonly string[], what: string])[] = [
  [['agent'], 'run a node until it is stopped'],
  [['dev'], 'run a cluster on this machine until it is stopped, to try it'],
  [['config', 'check'], 'check the settings of a node and print them'],
  [['inspect'], 'show what the data folder of a stopped node holds'],
  [
    ['recover'],
    'create a new cluster from the data folder of a stopped node whose cluster has lost its ' +
      'majority for good; this node is its only member, others join it',
  ],
];

/** Whether a command line names such a command. */
export const isNodeCommand = (given: readonly string[]): boolean => {
  const words = given[0] === 'help' ? given.slice(1) : given;
  return NODE_COMMANDS.some(([path]) => path.every((word, at) => words[at] === word));
};

/** Adds the names of the commands to the program of the client. */
export function addNodeCommands(program: Command): void {
  for (const [path, what] of NODE_COMMANDS) {
    const name = path.at(-1)!;
    const parent =
      path.length === 1 ? program : (subcommandOf(program, path[0]!) ?? program.command(path[0]!));
    parent
      .command(name)
      .description(what)
      .allowUnknownOption()
      .action(() => program.error(`error: put "${path.join(' ')}" before the options`));
  }
}
