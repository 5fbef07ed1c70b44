/** `agent --config FILE` of a release that supports one level more than this one. Started by tests of upgrades. */
import { loadConfig } from '../../src/config.js';
import { createLog } from '../../src/log.js';
import { startServer } from '../../src/server.js';
import { LEVELS, SUPPORTED_LEVEL } from '../../src/state/levels.js';

const config = loadConfig({ file: process.argv.at(-1)!, env: process.env, flags: {} });
const log = createLog(config.log.level, { node: config.nodeName });
const fatal = (error: unknown): never => {
  log.error({ err: error }, 'the node must stop');
  process.exit(1);
};
const next = { ...LEVELS, supported: SUPPORTED_LEVEL + 1 };
const server = await startServer(config, log, fatal, next).catch(fatal);
const stop = (): void => void server.stop().then(() => process.exit(), fatal);
process.once('SIGTERM', stop);
process.once('disconnect', stop);
