/** How many connections the limit of open files leaves room for. */
import type { Config } from '../config/config.js';
import type { Log } from '../log/log.js';
import { readMaxFiles } from '../metrics/machine.js';

/** Files that a node needs beside its connections: for log, state, members, issuers, archives. */
const OWN_FILES = 512;
/** The same beyond half of the limit, if that is low. */
const OWN_FILES_MIN = 32;
/** The part of them that sockets may take for a moment: each refused one is told why. */
const REFUSED_PART = 1 / 4;

/** A configuration whose connections leave files for the node itself. */
export interface WithinFiles {
  readonly config: Config;
  /** The most sockets that clients may open; absent if files are no limit. */
  readonly sockets?: number;
}

/**
 * Limits connections to what the limit of open files leaves. A node whose log cannot open its next
 * file ends, so without this whoever can connect could end all nodes.
 */
export async function withinOpenFiles(config: Config, log: Log): Promise<WithinFiles> {
  const files = (await readMaxFiles().catch(() => undefined)) ?? Number.POSITIVE_INFINITY;
  const own = Math.min(OWN_FILES, OWN_FILES_MIN + Math.ceil(files / 2));
  const connections = Math.max(1, files - own);
  const most = connections + Math.floor(own * REFUSED_PART);
  const sockets = Number.isFinite(most) ? { sockets: most } : {};
  const { limits } = config;
  if (connections >= limits.connections) return { config, ...sockets };
  log.warn(
    { event: 'connections_limited', files, connections },
    `${connections} connections are accepted, not ${limits.connections} (limits.connections): ` +
      `this process may open ${files} files; raise that limit (LimitNOFILE, ulimit -n)`,
  );
  const part = Math.min(1, limits.connectionsPerAddress / limits.connections);
  const connectionsPerAddress = Math.ceil(connections * part);
  const lowered = { ...limits, connections, connectionsPerAddress };
  return { config: { ...config, limits: lowered }, ...sockets };
}
