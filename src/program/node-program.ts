/** The commands that run a node, check its settings, and look at the folder of a stopped one. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { misuseText } from '../cli/arguments.js';
import { describedCommand, type NodeCommandLine } from '../cli/commands/node-commands.js';
import { type Config, ConfigError, flagName, loadConfig } from '../config/config.js';
import { type ShownSettings, withSettings } from '../config/help.js';
import { SETTINGS } from '../config/settings.js';
import { useCompiledCode } from './compile-cache.js';
import { EXIT, explain, misused } from './exit.js';
import type { Offline } from './offline.js';

/** Columns of help where there is no terminal. */
const HELP_WIDTH = 80;
const OF_A_CLUSTER =
  'contains a cluster of conclave dev or npm start; name another folder: --data-dir NAME';

/** Returns the configuration of a command. Prints what is wrong with it and exits otherwise. */
function configOf(command: Command): Config {
  const flags: Record<string, string> = {};
  for (const { key } of SETTINGS) {
    const attribute = new Option(`${flagName(key)} <value>`).attributeName();
    if (command.getOptionValueSource(attribute) === 'cli')
      flags[key] = command.getOptionValue(attribute) as string;
  }
  const file = command.getOptionValue('config') as string | undefined;
  try {
    return loadConfig({ ...(file !== undefined && { file }), env: process.env, flags });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return misused(error.faults);
  }
}

/** Prints the result of a command without a node. Otherwise prints why it failed, and exits. */
async function offline(command: Command, work: () => Promise<Offline>): Promise<void> {
  const form = command.getOptionValue('output') ?? 'table';
  if (form !== 'table' && form !== 'json') misused([`--output: "${form}" is not table or json`]);
  try {
    const { value, text, failed } = await work();
    process.stdout.write(form === 'json' ? `${JSON.stringify(value, null, 2)}\n` : text);
    if (failed) process.exitCode = EXIT.fault;
  } catch (error) {
    if (error instanceof ConfigError) misused(error.faults);
    console.error(`conclave: ${explain(error)}`);
    process.exit(EXIT.fault);
  }
}

/** The settings that the help of a command shows. */
const SHOWN: Readonly<Record<string, ShownSettings>> = {
  'agent check': [],
  inspect: ['dataDir'],
  recover: ['dataDir', 'nodeName', 'raft.advertise'],
};

/** Runs a command about a node. Does not return for `agent`, which ends with the process. */
export async function runNode(
  { command: described, words }: NodeCommandLine,
  version: string,
): Promise<void> {
  if (words[0] === 'dev') {
    const { runDev } = await import('../dev/dev.js');
    return runDev(words.slice(1), { command: 'conclave dev', dir: 'conclave-dev', nodes: 1 });
  }
  const program = new Command('conclave')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? EXIT.ok : EXIT.usage))
    .configureOutput({
      getOutHelpWidth: () => process.stdout.columns ?? HELP_WIDTH,
      getErrHelpWidth: () => process.stderr.columns ?? HELP_WIDTH,
      outputError: (text, write) => write(misuseText(text)),
    })
    .description('Replicated access control and central configuration')
    .version(version);
  const isAll = words.includes('--help-all');
  const [head, below] = described.path as [string, string?];
  const parent = below === undefined ? program : program.command(head);
  const command = describedCommand(parent, described);
  const name = described.path.join(' ');
  if (head !== 'snapshot' && head !== 'audit')
    withSettings(command, SHOWN[name] ?? (isAll ? 'all' : 'main'));
  command.action((...parameters: unknown[]) => ACTIONS[name]!(command, parameters[0], version));
  await program.parseAsync(isAll ? [...described.path, '--help'] : [...words], { from: 'user' });
}

type Action = (command: Command, argument: unknown, version: string) => void | Promise<void>;

const ACTIONS: Readonly<Record<string, Action>> = {
  agent: async (command, _, version) => {
    const config = configOf(command);
    // Each of its nodes has a folder of its own in there.
    if (existsSync(join(config.dataDir, 'cluster.json')))
      misused([`dataDir: ${config.dataDir} ${OF_A_CLUSTER}`]);
    useCompiledCode(config.dataDir, version);
    const { runAgent } = await import('./agent.js');
    return runAgent(config);
  },
  'agent check': async (command) => {
    const { check } = await import('./agent.js');
    check(configOf(command));
  },
  inspect: (command, folders) =>
    offline(command, async () => {
      const { inspect } = await import('./offline.js');
      const named = folders as readonly string[];
      return inspect(named.length > 0 ? named : [configOf(command).dataDir]);
    }),
  recover: (command) =>
    offline(command, async () => {
      const { recover } = await import('./offline.js');
      const { nodeName, dataDir, raft } = configOf(command);
      return recover({
        nodeName,
        dataDir,
        advertise: raft.advertise,
        members: command.getOptionValue('members') as string | undefined,
        acceptLoss: command.getOptionValue('acceptLoss') === true,
        dryRun: command.getOptionValue('dryRun') === true,
      });
    }),
  'audit verify': (command, files) =>
    offline(command, async () => {
      (files as readonly string[]).forEach(mustBeNoFolder);
      const { auditVerify } = await import('./offline.js');
      const option = (name: string): string | undefined =>
        command.getOptionValue(name) as string | undefined;
      return auditVerify(files as readonly string[], option('keyFile'), option('last'));
    }),
  'snapshot inspect': (command, file) => readSnapshot(command, file, false),
  'snapshot verify': (command, file) => readSnapshot(command, file, true),
};

/** Exits if a folder is named: the error of reading it would not tell which. */
function mustBeNoFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) misused([`${path} is a folder`]);
}

const readSnapshot = (command: Command, file: unknown, isChecked: boolean): Promise<void> =>
  offline(command, async () => {
    mustBeNoFolder(file as string);
    const { snapshot } = await import('./offline.js');
    return snapshot(file as string, isChecked);
  });
