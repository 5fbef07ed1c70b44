/** docs/cli.md as text: cli-head.txt, and what the commands say about themselves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { Cli } from '../../src/cli/cli.js';
import type { Io } from '../../src/cli/io.js';
import { programOf } from '../../src/cli/program.js';

/** Returns the page for the project in `root`. */
export function cliPage(root: string): string {
  const head = readFileSync(join(root, 'scripts/docs/cli-head.txt'), 'utf8');
  // Nothing runs, so nothing is touched.
  const io = { out: {}, err: {}, env: {}, home: '', version: '' } as unknown as Io;
  const program = programOf(new Cli(io));
  const parts = program.commands
    .filter((one) => visible(program).includes(one))
    .flatMap((one) => [`\n## conclave ${one.name()}\n`, ...sectionsOf(one, `conclave`)]);
  return `${head}${optionTable(program.options)}\n${parts.join('')}`;
}

const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');

function sectionsOf(command: Command, above: string): string[] {
  const path = `${above} ${command.name()}`;
  const below = visible(command);
  const parts = below.flatMap((one) => sectionsOf(one, path));
  // What has options of its own can be run, besides what is below it.
  if (below.length > 0 && command.options.length === 0)
    return [above === 'conclave' ? `\n${sentence(command)}\n` : '', ...parts];
  const options = optionTable(command.options);
  const examples = [...exampleOf(command).matchAll(/.+/g)].map(([line]) => `    ${line}\n`);
  return [
    `\n### ${[path, ...argumentsOf(command)].join(' ')}\n\n${sentence(command)}\n`,
    options === '' ? '' : `\n${options}`,
    examples.length === 0 ? '' : `\n${examples.join('')}`,
    ...parts,
  ];
}

const sentence = (command: Command): string => {
  const text = command.description();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
};

const argumentsOf = ({ registeredArguments }: Command): string[] =>
  registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? '…' : ''}`;
    return one.required ? `<${name}>` : `[${name}]`;
  });

/** The text that the help of a command shows below its options. */
function exampleOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  const [, after = ''] = text.split(/-h, --help.*\n/);
  // What is below a command has sections of its own.
  const own = after.replace(/\nCommands:\n(?: +.*\n)+/, '');
  return own.replace(/\nOptions of all commands:.*/, '').trim();
}

function optionTable(options: readonly Option[]): string {
  const rows = options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, defaultValue }) => {
      const shown = typeof defaultValue === 'string' ? ` (default: ${defaultValue})` : '';
      return `| \`${flags}\` | ${`${description}${shown}`.replaceAll('|', '\\|')} |\n`;
    });
  return rows.length === 0 ? '' : `| option | |\n| --- | --- |\n${rows.join('')}`;
}
