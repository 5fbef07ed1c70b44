/** The commands that run a node, check its settings, and look at the folder of a stopped one. */
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Command, Option } from 'commander';
import { misuseText } from '../cli/arguments.js';
import { describedCommand, type NodeCommandLine } from '../cli/commands/node-commands.js';
import { type Config, ConfigError, flagName, loadConfig } from '../config/config.js';
import { type ShownSettings, withSettings } from '../config/help.js';
import { SETTINGS } from '../config/settings.js';
import { createLog, type Log, withoutSecrets } from '../log/log.js';
import { checkKeyFiles, sinkFileFaults } from './key-files.js';
import type { Offline } from './offline.js';
import type { Server } from './server.js';

/**
 * How far the heap may grow beyond what lives before V8 collects all of it, in percent of that.
 * With 50, a node takes 20 to 30 MB less at full load, and a write 5 % more CPU time. V8 itself
 * lets it grow to several times as much: with 100,000 entries, 60 to 90 MB more than with 50.
 */
const HEAP_GROWTH = 100;
/** Columns of help where there is no terminal. */
const HELP_WIDTH = 80;
const OF_A_CLUSTER =
  'contains a cluster of conclave dev or npm start; name another folder: --data-dir NAME';
const EXIT = { ok: 0, fault: 1, usage: 2, killed: 130 } as const;

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

/** The same, for a node that is about to run. Checks the files that it needs too. */
function runnable(command: Command): Config {
  const config = configOf(command);
  const faults = [...checkKeyFiles(config).faults, ...sinkFileFaults(config)];
  return faults.length > 0 ? misused(faults) : config;
}

function misused(faults: readonly string[]): never {
  for (const fault of faults) console.error(`conclave: ${fault}`);
  process.exit(EXIT.usage);
}

async function agent(config: Config): Promise<void> {
  const log = createLog(config.log, { node: config.nodeName });
  const fatal = (error: unknown): never => {
    log.error({ event: 'fatal', err: error }, 'the node must stop');
    // Repeated for those who see only the terminal.
    console.error(`conclave: ${explain(error)}`);
    process.exit(EXIT.fault);
  };
  process.on('uncaughtException', fatal);
  process.on('unhandledRejection', fatal);
  let server: Server | undefined;
  let stopping = false;
  const stop = (why: string): void => {
    if (stopping) process.exit(EXIT.killed);
    stopping = true;
    log.info({ event: 'stopping', why }, 'stopping');
    void (server?.stop() ?? Promise.resolve()).then(() => {
      log.info({ event: 'stopped' }, 'stopped');
      process.exit(EXIT.ok);
    }, fatal);
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  // The program that started this node is gone, so nothing would ever stop it.
  process.once('disconnect', () => stop('the program that started this node ended'));
  // During the start the old files may have been read already.
  let isReloadDue = false;
  process.on('SIGHUP', () => {
    if (server === undefined) isReloadDue = true;
    else reloadKeys(server, log);
  });
  try {
    // Loaded here, so that the other commands start faster.
    const { readState } = await import('../node/read-state.js');
    const loading = readState(config.dataDir);
    const { startServer } = await import('./server.js');
    server = await startServer(config, log, fatal, loading);
    if (isReloadDue) reloadKeys(server, log);
    writePidFile(config.pidFile);
    // Not earlier: a start would collect again and again what it keeps.
    setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  } catch (error) {
    fatal(error);
  }
}

function reloadKeys(server: Server, log: Log): void {
  try {
    server.reloadTls();
    log.info({ event: 'keys_reloaded' }, 'reloaded certificates and keys');
  } catch (error) {
    const what = 'could not read certificates or keys; the old ones stay in use';
    log.error({ event: 'keys_not_reloaded', err: error }, what);
  }
}

/**
 * Runs only once this process owns the data folder: a second start of the same node must not
 * replace the file of the first.
 */
function writePidFile(file: string | undefined): void {
  if (file === undefined) return;
  writeFileSync(file, `${process.pid}\n`);
  process.once('exit', () => rmSync(file, { force: true }));
}

/** Returns an error as one line for the terminal. */
function explain(error: unknown): string {
  const { code, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (code === 'EADDRINUSE') return `${address}:${port} is in use by another program`;
  return error instanceof Error ? error.message : String(error);
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
  command.action((...parameters: unknown[]) => ACTIONS[name]!(command, parameters[0]));
  await program.parseAsync(isAll ? [...described.path, '--help'] : [...words], { from: 'user' });
}

type Action = (command: Command, argument: unknown) => void | Promise<void>;

const ACTIONS: Readonly<Record<string, Action>> = {
  agent: (command) => {
    const config = runnable(command);
    // Each of its nodes has a folder of its own in there.
    if (existsSync(join(config.dataDir, 'cluster.json')))
      misused([`dataDir: ${config.dataDir} ${OF_A_CLUSTER}`]);
    return agent(config);
  },
  'agent check': (command) => check(runnable(command)),
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

function check(config: Config): void {
  const { listFaults, warnings } = checkKeyFiles(config);
  if (listFaults.length > 0) misused(listFaults);
  for (const warning of warnings) console.error(`conclave: ${warning}`);
  console.log(JSON.stringify(withoutSecrets(config), null, 2));
}
