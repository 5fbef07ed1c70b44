/** What the composition root passes to the node: its settings, keys and certificates. */
import { readFileSync } from 'node:fs';
import type { Config } from '../config/config.js';
import type { Log } from '../log/log.js';
import type { NodeOptions } from '../node/options.js';
import { HANDLERS } from '../state/handlers.js';
import type { WireSecurity } from '../transport/sockets.js';
import { sharedKeys } from './key-files.js';
import { type Members, nodeLog } from './node-log.js';

/** Returns the options of the node. */
export function nodeOptions(
  config: Config,
  log: Log,
  { onFatal, gate, members }: Pick<NodeOptions, 'onFatal' | 'gate'> & { members: Members },
): NodeOptions {
  const { raft, limits } = config;
  return {
    name: config.nodeName,
    dataDir: config.dataDir,
    listen: { host: raft.host, port: raft.port },
    advertise: raft.advertise,
    security: securityOf(config),
    initial: config.cluster.initial,
    join: config.cluster.join,
    joinToken: () => joinToken(config.cluster.joinTokenFile, log),
    gate,
    handlers: HANDLERS,
    timing: raft,
    limits: {
      diskReserveBytes: limits.diskReserveBytes,
      logBytes: limits.logBytes,
      pendingWrites: limits.pendingWrites,
      waitingWrites: limits.waitingWrites,
      waitingBytes: limits.waitingBytes,
      eraseSpreadMs: limits.secretsGoneMs / 4,
    },
    log: nodeLog(log, members),
    ...(config.log.level === 'debug' && {
      trace: (message) => log.debug({ event: 'raft_decision' }, message),
    }),
    onFatal,
  };
}

/** Returns how the traffic between members is protected. Reads the files. */
export function securityOf({ raft }: Config): WireSecurity {
  const { tls, sharedKeyFile, insecure } = raft;
  const text = (path: string): string => readFileSync(path, 'utf8');
  if (tls !== undefined)
    return {
      mode: 'tls',
      name: tls.name,
      cert: text(tls.cert),
      key: text(tls.key),
      ca: text(tls.ca),
      ...(tls.crl !== undefined && { crl: text(tls.crl) }),
    };
  if (sharedKeyFile !== undefined) return { mode: 'key', keys: sharedKeys(text(sharedKeyFile)) };
  return { mode: insecure ? 'plain' : 'closed' };
}

/** Returns the join token if its file exists: it may come later, and is removed after its use. */
function joinToken(path: string | undefined, log: Log): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (error) {
    const why = (error as Error).message;
    log.warn({ event: 'join_token_unreadable' }, `cluster.joinTokenFile: ${why}`);
    return undefined;
  }
}
