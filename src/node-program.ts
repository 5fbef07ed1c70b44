/** The commands that run a node, check its settings, and look at the folder of a stopped one. */
import { rmSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Command, Option } from 'commander';
import { NODE_COMMANDS } from './cli/node-commands.js';
import { keepCompiledCode, useCompiledCode } from './compile-cache.js';
import { type Config, ConfigError, envName, flagName, loadConfig, memberOf } from './config.js';
import { checkKeyFiles } from './key-files.js';
import { createLog, withoutSecrets } from './log.js';
import type { Server } from './server.js';
import { SETTINGS } from './settings.js';

/**
 * Compiled code is written this long after the start, and not at once: by then the code that the
 * first requests need is compiled as well.
 */
const KEEP_CODE_MS = 10_000;
/**
 * How far the heap may grow beyond what lives before V8 collects all of it, in percent of that. V8
 * itself lets it grow to several times as much: a node with 100,000 entries then takes 60 to 90 MB
 * more, for the same CPU time.
 */
const HEAP_GROWTH = 50;
const EXIT = { ok: 0, fault: 1, usage: 2, killed: 130 } as const;

/** Adds a flag for every setting. */
function withSettings(command: Command): Command {
  command.option('-c, --config <file>', 'configuration file (JSON)');
  for (const setting of SETTINGS) {
    const option = new Option(`${flagName(setting.key)} <${setting.type}>`, setting.why).env(
      // For --help only: loadConfig reads the environment, so that it can name a value's source.
      envName(setting.key),
    );
    // A secret is parsed as a flag only to report what to use instead.
    command.addOption(setting.secret ? option.hideHelp() : option);
  }
  return command;
}

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

/** The same, for a node that is about to run. Checks the files of certificates and keys too. */
function runnable(command: Command): Config {
  const config = configOf(command);
  const { faults } = checkKeyFiles(config);
  return faults.length > 0 ? misused(faults) : config;
}

function misused(faults: readonly string[]): never {
  for (const fault of faults) console.error(`conclave: ${fault}`);
  process.exit(EXIT.usage);
}

async function agent(config: Config): Promise<void> {
  const log = createLog(config.log.level, { node: config.nodeName });
  const fatal = (error: unknown): never => {
    log.error({ err: error }, 'the node must stop');
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
    log.info({ why }, 'stopping');
    void (server?.stop() ?? Promise.resolve()).then(() => {
      log.info({}, 'stopped');
      process.exit(EXIT.ok);
    }, fatal);
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  // The program that started this node is gone, so nothing would ever stop it.
  process.once('disconnect', () => stop('the program that started this node ended'));
  process.on('SIGHUP', () => {
    try {
      server?.reloadTls();
      log.info({}, 'reloaded certificates and keys');
    } catch (error) {
      log.error({ err: error }, 'could not read certificates or keys; the old ones stay in use');
    }
  });
  try {
    // Loaded here, so that the other commands start faster.
    const { readState } = await import('./node/read-state.js');
    const loading = readState(config.dataDir);
    if (loading !== undefined) useCompiledCode(config.dataDir);
    const { startServer } = await import('./server.js');
    server = await startServer(config, log, fatal, loading);
    writePidFile(config.pidFile);
    // Not earlier: a start would collect again and again what it keeps.
    setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
    setTimeout(keepCompiledCode, KEEP_CODE_MS).unref();
  } catch (error) {
    fatal(error);
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

/**
 * Prints the result of a command on a stopped node's folder. Otherwise prints why it failed, and
 * exits.
 */
async function offline(work: () => Promise<unknown>): Promise<void> {
  try {
    console.log(JSON.stringify(await work(), null, 2));
  } catch (error) {
    console.error(`conclave: ${explain(error)}`);
    process.exit(EXIT.fault);
  }
}

/** Runs a command about a node. Does not return for `agent`, which ends with the process. */
export async function runNode(given: readonly string[], version: string): Promise<void> {
  const program = new Command('conclave')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? EXIT.ok : EXIT.usage))
    .description('Replicated access control and central configuration')
    .version(version);
  const added = new Map<string, Command>();
  for (const [path, what] of NODE_COMMANDS) {
    const name = path.at(-1)!;
    const parent = path.length === 1 ? program : program.command(path[0]!);
    added.set(name, withSettings(parent.command(name).description(what)));
  }
  const on = (name: string): Command => added.get(name)!;
  on('agent').action((_options, command: Command) => agent(runnable(command)));
  on('check').action((_options, command: Command) => check(runnable(command)));
  on('inspect').action((_options, command: Command) => offline(() => inspect(command)));
  on('recover')
    .option(
      '--members <list>',
      'name=host:port of each member instead; each gets a copy of this folder and recovers it ' +
        'with the same list',
    )
    .option('--accept-loss', 'continue although something in the folder is damaged')
    .action((_options, command: Command) => offline(() => recover(command)));
  await program.parseAsync(given, { from: 'user' });
}

function check(config: Config): void {
  for (const warning of checkKeyFiles(config).warnings) console.error(`conclave: ${warning}`);
  console.log(JSON.stringify(withoutSecrets(config), null, 2));
}

async function inspect(command: Command): Promise<unknown> {
  const { inspectFolder } = await import('./node/recover.js');
  return inspectFolder(configOf(command).dataDir);
}

async function recover(command: Command): Promise<unknown> {
  const { recoverFolder } = await import('./node/recover.js');
  const { HANDLERS } = await import('./state/handlers.js');
  const { nodeName, dataDir, raft } = configOf(command);
  const given = command.getOptionValue('members') as string | undefined;
  const alone = [{ name: nodeName, address: raft.advertise }];
  return recoverFolder(dataDir, {
    name: nodeName,
    members: given?.split(',').map(memberOf) ?? alone,
    handlers: HANDLERS,
    acceptLoss: command.getOptionValue('acceptLoss') === true,
  });
}
