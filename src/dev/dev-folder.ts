/** The folder of a cluster that somebody tries: checks, and the files beside those of the nodes. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { IDENTITY_FILE } from '../base/data-folder.js';
import {
  type LocalCluster,
  type LocalNode,
  openCluster,
  PROGRAM,
  planCluster,
  quote,
  removeCluster,
  writePrivate,
} from './local.js';
import { HOST } from './ports.js';

const PORT_DEFAULT = 8501;
/** Raft ports are this much higher than HTTP ports. */
export const RAFT_OFFSET = 100;
/** The highest port of TCP. */
export const PORT_MAX = 65_535;

/** The example entry that the printed lines write. */
const EXAMPLE = `Kind: service-defaults
Name: web
Protocol: http
`;

/** A mistake of the user, told in one sentence. */
export class UsageError extends Error {
  /** The exit code: 2 if the command line is wrong. */
  readonly exit: number;
  constructor(message: string, exit = 1) {
    super(message);
    this.exit = exit;
  }
}

export interface DevOptions {
  readonly dir: string;
  readonly nodes?: number;
  readonly port?: number;
  readonly fresh?: boolean;
  /** Nodes of a new cluster if `nodes` is not given. */
  readonly nodesDefault: number;
  /** Returns the command line with these options, for advice. */
  readonly commandWith: (options: string) => string;
}

/** Prepares the folder: a new cluster, or the one that is there. Starts nothing. */
export async function prepare(options: DevOptions): Promise<LocalCluster> {
  const { dir, fresh, commandWith } = options;
  const isKnown = existsSync(join(dir, 'cluster.json'));
  if (!isKnown && existsSync(dir) && readdirSync(dir).length > 0) refuseForeign(options);
  const before = isKnown ? openCluster(dir) : undefined;
  if (before) refuseRunning(before);
  const kept = fresh ? undefined : before;
  const ports = portsOf(options, kept);
  const beside = `start another cluster beside it: ${commandWith('--dir NAME --port PORT')}`;
  for (const { http, raft } of ports)
    for (const port of [http, raft]) {
      const why = await whyTaken(port);
      if (why === undefined) continue;
      // The members know each other by their addresses, so the ports cannot change.
      if (kept) throw new UsageError(`${why}; stop it to continue with ${dir}/, or ${beside}`);
      throw new UsageError(`${why}; choose another: ${commandWith('--port PORT')}`);
    }
  if (before && !kept) removeFiles(before);
  const cluster = await planCluster({
    nodes: ports.length,
    dir,
    ports,
    ...(kept && { token: kept.token }),
  });
  writeFiles(cluster);
  return cluster;
}

/** Removes a cluster, and keeps what else the folder holds. */
function removeFiles(cluster: LocalCluster): void {
  const bin = join(cluster.dir, 'bin');
  for (const name of ['management.token', 'env', 'web.yaml', join('bin', 'conclave')])
    rmSync(join(cluster.dir, name), { force: true });
  if (existsSync(bin) && readdirSync(bin).length === 0) rmdirSync(bin);
  removeCluster(cluster);
}

/** Throws for a folder that holds something else. */
function refuseForeign({ dir, commandWith }: DevOptions): never {
  const what = existsSync(join(dir, IDENTITY_FILE))
    ? 'contains the data of a node that conclave agent started'
    : 'is not empty and does not contain a cluster of this program';
  throw new UsageError(`${dir}/ ${what}; choose another folder: ${commandWith('--dir NAME')}`);
}

/** Returns the ports of each node: those of the data, or new ones. */
function portsOf(
  { dir, nodes, port, nodesDefault, commandWith }: DevOptions,
  kept: LocalCluster | undefined,
): readonly { readonly http: number; readonly raft: number }[] {
  const first = kept ? Number(new URL(kept.urls[0]!).port) : (port ?? PORT_DEFAULT);
  const count = kept?.nodes.length ?? nodes ?? nodesDefault;
  const elsewhere = `start another cluster beside it: ${commandWith('--dir NAME')}`;
  if (kept && nodes !== undefined && nodes !== count)
    throw new UsageError(
      `${dir}/ contains a cluster of ${count} nodes; ${elsewhere} --port PORT --nodes ${nodes}`,
    );
  if (kept && port !== undefined && port !== first)
    throw new UsageError(
      `${dir}/ contains a cluster on port ${first}; ${elsewhere} --port ${port}`,
    );
  const highest = PORT_MAX - RAFT_OFFSET - count + 1;
  if (first > highest)
    throw new UsageError(
      `--port: at most ${highest} with ${count} nodes; Raft uses ports ${RAFT_OFFSET} higher`,
      2,
    );
  return Array.from({ length: count }, (_, at) => ({
    http: first + at,
    raft: first + RAFT_OFFSET + at,
  }));
}

/** Throws if nodes of this folder still run: they lock their files and ports. */
function refuseRunning(cluster: LocalCluster): void {
  const running = cluster.nodes.flatMap((node) => {
    const pid = runningPid(node);
    return pid === undefined ? [] : [{ name: node.name, pid }];
  });
  if (running.length === 0) return;
  const names = running.map(({ name }) => name).join(', ');
  const pids = running.map(({ pid }) => pid).join(' ');
  throw new UsageError(
    `nodes of this folder are still running: ${names}; press Ctrl-C where they were ` +
      `started, or run: kill ${pids}`,
  );
}

/** Returns the process id of a node, whoever started it; undefined if it does not run. */
export function runningPid({ name, entry }: LocalNode): number | undefined {
  try {
    const pid = Number(readFileSync(entry.pidFile, 'utf8'));
    // Another process may have the id by now; the command line shows that.
    const command = commandOf(pid);
    return command.includes('agent') && command.includes(`${name}.json`) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the command line of a process. Throws if there is none. */
function commandOf(pid: number): string {
  if (existsSync('/proc/self/cmdline')) return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
}

/** Returns why a port cannot be listened on; undefined if it can. */
function whyTaken(port: number): Promise<string | undefined> {
  return new Promise((settle) => {
    const probe = createServer();
    probe.once('error', ({ code }: NodeJS.ErrnoException) =>
      settle(
        code === 'EADDRINUSE'
          ? `port ${port} is in use by another program`
          : `cannot listen on port ${port} (${code})`,
      ),
    );
    probe.listen(port, HOST, () => probe.close(() => settle(undefined)));
  });
}

/** Writes what the printed lines need: the token, the command, the variables, an example. */
function writeFiles(cluster: LocalCluster): void {
  const dir = resolve(cluster.dir);
  const tokenFile = join(dir, 'management.token');
  writePrivate(tokenFile, `${cluster.token}\n`);
  const bin = join(dir, 'bin');
  mkdirSync(bin, { recursive: true, mode: 0o700 });
  const program = [process.execPath, PROGRAM].map(quote).join(' ');
  writePrivate(join(bin, 'conclave'), `#!/bin/sh\nexec ${program} "$@"\n`, 0o700);
  const addresses = cluster.urls.map((url) => new URL(url).host).join(',');
  writePrivate(
    join(dir, 'env'),
    `# For the shell: . ${quote(join(cluster.dir, 'env'))}
unset CONCLAVE_HTTP_TOKEN CONCLAVE_TOKEN CONCLAVE_PROFILE CONCLAVE_NAMESPACE
export CONCLAVE_HTTP_ADDR=${addresses}
export CONCLAVE_HTTP_TOKEN_FILE=${quote(tokenFile)}
case ":$PATH:" in
  *:${quote(bin)}:*) ;;
  *) export PATH=${quote(bin)}:"$PATH" ;;
esac
`,
  );
  const example = join(dir, 'web.yaml');
  if (!existsSync(example)) writePrivate(example, EXAMPLE);
}
