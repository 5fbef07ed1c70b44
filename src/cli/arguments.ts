/** Command lines as people write them for Consul: `-policy-name x` for `--policy-name x`. */
import type { Command, Option } from 'commander';

/** Returns commander's words about misuse without values: an unknown option may hold a secret. */
export const misuseText = (text: string): string =>
  text.replace(/^error:/, 'conclave:').replace(/(--?[\w-]+)=[^\s']+/g, '$1=…');

const SINGLE_DASH = /^-([a-z][a-z0-9-]+)(=.*)?$/s;

/** Returns the options of a command and of those above it. */
export function optionsOf(command: Command): Option[] {
  const all: Option[] = [];
  for (let at: Command | null = command; at !== null; at = at.parent) all.push(...at.options);
  return all;
}

/** Returns these options by their long names; those of the command itself take precedence. */
function namedOptions(command: Command): Map<string, Option> {
  const all = [...optionsOf(command), command.createOption('--help')].reverse();
  return new Map(all.map((option) => [option.long?.slice(2) ?? '', option]));
}

/** Returns the subcommand of a name; undefined if there is none. */
export const subcommandOf = (command: Command, name: string): Command | undefined =>
  command.commands.find((one) => one.name() === name || one.aliases().includes(name));

/**
 * Returns the arguments with two dashes before every long option of the command that they name.
 * Values of options, and what follows `--`, stay as they are.
 */
export function withTwoDashes(program: Command, given: readonly string[]): string[] {
  const result: string[] = [];
  let command = program;
  let options = namedOptions(command);
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at]!;
    if (word === '--') return [...result, ...given.slice(at)];
    if (!word.startsWith('-') || word === '-') {
      const below = subcommandOf(command, word);
      if (below !== undefined) {
        command = below;
        options = namedOptions(command);
      }
      result.push(word);
      continue;
    }
    const single = SINGLE_DASH.exec(word);
    const isLong = single !== null && options.has(single[1]!);
    const written = isLong ? `-${word}` : word;
    result.push(written);
    const option = written.startsWith('--')
      ? options.get(written.slice(2))
      : [...options.values()].find(({ short }) => short === written);
    if (option?.required === true && at + 1 < given.length) {
      at += 1;
      result.push(given[at]!);
    }
  }
  return result;
}
