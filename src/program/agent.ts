/** Runs a node, and checks what it needs. Of what this file loads, the compiled code is kept. */
import { rmSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import type { Config } from '../config/config.js';
import { createLog, type Log, withoutSecrets } from '../log/log.js';
import { readState } from '../node/read-state.js';
import { keepCompiledCode } from './compile-cache.js';
import { EXIT, explain, misused } from './exit.js';
import { checkKeyFiles, sinkFileFaults } from './key-files.js';
import type { Server } from './server.js';

/**
 * How far the heap may grow beyond what lives before V8 collects all of it, in percent of that.
 * With 50, a node takes 20 to 30 MB less at full load, and a write 5 % more CPU time. V8 itself
 * lets it grow to several times as much: with 100,000 entries, 60 to 90 MB more than with 50.
 */
const HEAP_GROWTH = 100;
/**
 * Compiled code is written this long after the start, and not at once: by then the code that the
 * first requests need is compiled as well.
 */
const KEEP_CODE_MS = 10_000;

function mustHaveFiles(config: Config): void {
  const faults = [...checkKeyFiles(config).faults, ...sinkFileFaults(config)];
  if (faults.length > 0) misused(faults);
}

/** Runs a node, until the process ends. Exits if a file that it needs cannot be used. */
export async function runAgent(config: Config): Promise<void> {
  mustHaveFiles(config);
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
    const loading = readState(config.dataDir);
    const { startServer } = await import('./server.js');
    server = await startServer(config, log, fatal, loading);
    if (isReloadDue) reloadKeys(server, log);
    writePidFile(config.pidFile);
    // Not earlier: a start would collect again and again what it keeps.
    setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
    setTimeout(keepCompiledCode, KEEP_CODE_MS).unref();
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

/** Prints the settings of a node. Exits if a file that it needs cannot be used. */
export function check(config: Config): void {
  mustHaveFiles(config);
  const { listFaults, warnings } = checkKeyFiles(config);
  if (listFaults.length > 0) misused(listFaults);
  for (const warning of warnings) console.error(`conclave: ${warning}`);
  console.log(JSON.stringify(withoutSecrets(config), null, 2));
}
