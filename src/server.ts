/**
 * The composition root. It builds the layers from the disk up, listens last, and stops in reverse.
 */
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isLoopback } from './address.js';
import type { Config } from './config.js';
import type { AclParts } from './http/acl-common.js';
import { createApp, type HttpApp } from './http/app.js';
import { type Listener, type ListenerOptions, listen } from './http/listener.js';
import { HELD_MS_MAX } from './http/read-options.js';
import { allRoutes } from './http/routes.js';
import type { Route } from './http/types.js';
import { bootstrapSecret, checkKeyFiles, initialManagement, sharedKeys } from './key-files.js';
import { type Log, withoutSecrets } from './log.js';
import { Metrics } from './metrics.js';
import { realClock } from './node/clock.js';
import { openNode } from './node/node.js';
import type { NodeOptions } from './node/options.js';
import type { Gate } from './node/types.js';
import { releaseOf } from './release.js';
import { Authorizers } from './service/authorizers.js';
import type { BootstrapReset } from './service/bootstrap.js';
import type { ClusterParts } from './service/cluster.js';
import { configCheck } from './service/config-entries.js';
import { Decisions } from './service/explain/decisions.js';
import { makeGate } from './service/gate.js';
import { Housekeeper } from './service/housekeeper.js';
import { authMethodTypes, loginOptions } from './service/login/index.js';
import { Refusals } from './service/login/refusals.js';
import { LongWork } from './service/long-work.js';
import { NodeService } from './service/node-service.js';
import type { SnapshotParts } from './service/snapshot.js';
import { HANDLERS } from './state/handlers.js';
import { levelOf } from './state/levels.js';
import { RESTORE_FACT, restoredAt } from './state/restore.js';
import type { WireSecurity } from './transport/security.js';

/** A running node. */
export interface Server {
  /** URL of the API. */
  readonly url: string;
  /** Reloads certificates and keys. Throws Error and changes nothing if one is unusable. */
  reloadTls(): void;
  /**
   * Stops in order: refuses new requests, answers blocking queries, transfers leadership, drains
   * queues and closes the databases.
   */
  stop(): Promise<void>;
}

/** The folder of the web UI: the build puts it beside the program. */
const UI_FOLDER = fileURLToPath(new URL('./ui', import.meta.url));
/** Name of the file in the data folder that permits another bootstrap. */
const TOKEN_RESET_FILE = 'acl-bootstrap-reset';

/**
 * Starts a node. Calls `onFatal` with an error after which it cannot continue. `loading` is what
 * `readState` returned.
 */
export async function startServer(
  config: Config,
  log: Log,
  onFatal: (error: unknown) => void,
  loading?: NodeOptions['loading'],
): Promise<Server> {
  log.info({ dataDir: config.dataDir }, 'opening the data folder');
  const opened = await openLayers(config, log, onFatal, loading);
  const { node, authorizers, housekeeper } = opened;
  const refusals = new Refusals(log, () => performance.now());
  let listener: Listener | undefined;
  const metrics = new Metrics({
    status: () => node.status(),
    held: () => app.held.count,
    refused: () => app.refused.counts,
    connections: () => listener?.connections() ?? 0,
    level: () => levelOf(node.view),
    loop: () => node.replica.loop.stats,
    disks: () => node.replica.loop.disks,
    comparison: () => node.replica.comparison!.stats,
    rights: () => authorizers.stats,
    refusedLogins: () => refusals.counts,
  });
  const routes = routesOf(config, { ...opened, metrics, log, refusals });
  const app = frontEnd(config, log, { ...opened, metrics, routes });
  node.onChanged((keys) => {
    if (!keys.includes(RESTORE_FACT)) return;
    app.held.release();
    log.warn({ index: restoredAt(node.view) }, 'the state was replaced by that of an archive');
  });
  await node.start();
  housekeeper.start();
  try {
    listener = await listen(app, listenerOptions(config));
  } catch (error) {
    housekeeper.stop();
    await node.stop();
    throw error;
  }
  const scheme = config.http.tls === undefined ? 'http' : 'https';
  const url = `${scheme}://${config.http.host}:${listener.port}`;
  log.info({ url, raft: config.raft.advertise }, 'serving');
  warnOfDangers(config, log);
  return {
    url,
    reloadTls() {
      const { faults, warnings } = checkKeyFiles(config);
      if (faults.length > 0) throw new Error(faults.join('; '));
      for (const warning of warnings) log.warn({}, warning);
      listener.reloadTls();
      node.reload(securityOf(config));
    },
    async stop() {
      housekeeper.stop();
      app.held.releaseForGood();
      await listener.close(config.limits.stopMs, config.limits.lingerMs);
      await node.stop();
      metrics.close();
    },
  };
}

/** Logs what in the configuration lets others read secrets. */
function warnOfDangers(config: Config, log: Log): void {
  for (const warning of checkKeyFiles(config).warnings) log.warn({}, warning);
  if (config.raft.insecure)
    log.warn({}, 'raft.insecure: every user of this machine can join and read every secret');
  if (config.http.tls === undefined && !isLoopback(config.http.host))
    log.warn({}, 'the API is open to other machines without TLS: tokens travel in the clear');
}

/** The layers below the front end. */
type Layers = Awaited<ReturnType<typeof openLayers>>;

/** Opens the layers below the front end. */
async function openLayers(
  config: Config,
  log: Log,
  onFatal: (error: unknown) => void,
  loading: NodeOptions['loading'],
) {
  // The node calls the gate, which in turn needs the node's state. No call comes before `start`.
  const options: NodeOptions = {
    ...nodeOptions(config, log, onFatal, (...asked) => gate(...asked)),
    loading,
    decisionText: (id) => {
      const decision = decisions.get(id);
      return decision && JSON.stringify(decision);
    },
  };
  const node = await openNode(options);
  const clock = realClock(onFatal);
  const nowMs = Date.now;
  const { datacenter, acl, limits } = config;
  const { defaultPolicy } = acl;
  const managementSecret = initialManagement(config);
  const authorizers = new Authorizers({
    view: node.view,
    datacenter,
    defaultPolicy,
    nowMs,
    rightsBytes: limits.rightsBytes,
  });
  const gate = makeGate(authorizers, {
    config: configCheck,
    restore: (authorizer) => authorizer.denial('acl', 'write'),
  });
  const decisions = new Decisions({
    nodeId: node.id,
    nodeName: node.name,
    authorizers,
    appliedIndex: () => node.appliedIndex(),
    nowMs,
  });
  node.onChanged((keys) => authorizers.changed(keys));
  node.onReset(() => authorizers.reset());
  const housekeeper = new Housekeeper({
    node,
    clock,
    nowMs,
    ...(managementSecret !== undefined && { managementSecret }),
    // An upload ends with its request, and its last part with the request of that part.
    restoreIdleMs: 2 * (limits.receiveMs + limits.requestMs),
    secrets: { secretsGoneMs: limits.secretsGoneMs, leftAt: () => node.secretLeftAt() },
    log: (level, message, error) => log[level](error === undefined ? {} : { err: error }, message),
  });
  const service = new NodeService({ node, authorizers, clock });
  return { node, service, authorizers, decisions, housekeeper };
}

function frontEnd(
  { datacenter, acl, http, ui, limits }: Config,
  log: Log,
  parts: Layers & { readonly metrics: Metrics; readonly routes: readonly Route[] },
): HttpApp {
  const { service, metrics, routes, decisions } = parts;
  return createApp({
    service,
    routes,
    noteRefused: (refused) => decisions.note(refused),
    datacenter,
    limits,
    defaultPolicy: acl.defaultPolicy,
    headerPrefix: http.headerPrefix,
    tokenInQuery: http.tokenInQuery,
    allowedHosts: http.allowedHosts ?? (isLoopback(http.host) ? undefined : ['*']),
    responseHeaders: http.responseHeaders,
    blockedPaths: http.blockedPaths,
    ui: ui.enabled ? UI_FOLDER : undefined,
    observe: (observation) => metrics.observe(observation),
    report: ({ error, ...event }) => log.error({ ...event, err: error }, 'a request failed'),
  });
}

function listenerOptions({ http, limits }: Config): ListenerOptions {
  return {
    ...http,
    headerBytes: limits.headerBytes,
    connections: limits.connections,
    connectionsPerAddress: limits.connectionsPerAddress,
    probeConnections: limits.probeConnections,
    headersMs: limits.headersMs,
    receiveMs: limits.receiveMs,
    keepAliveMs: limits.keepAliveMs,
    silenceMs: HELD_MS_MAX + limits.stalledMs,
  };
}

/** Returns the options of the node. */
function nodeOptions(
  config: Config,
  log: Log,
  onFatal: (error: unknown) => void,
  gate: Gate,
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
    },
    log: (level, message) => log[level]({}, message),
    ...(config.log.level === 'debug' && { trace: (message) => log.debug({}, message) }),
    onFatal,
  };
}

/** Returns how the traffic between members is protected. Reads the files. */
function securityOf({ raft }: Config): WireSecurity {
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
    log.warn({}, `cluster.joinTokenFile: ${(error as Error).message}`);
    return undefined;
  }
}

/** Returns all routes of this server. */
function routesOf(
  config: Config,
  parts: Layers & { readonly metrics: Metrics; readonly log: Log; readonly refusals: Refusals },
): readonly Route[] {
  const { node, service, authorizers, decisions, metrics, log, refusals } = parts;
  const acl: AclParts = {
    service,
    authorizers,
    node,
    decisions,
    longWork: new LongWork(),
    datacenter: config.datacenter,
    nodeName: config.nodeName,
    defaultPolicy: config.acl.defaultPolicy,
    lint: config.acl.lint,
    nowMs: Date.now,
    bootstrapSecret: bootstrapSecret(config),
    bootstrapReset: bootstrapReset(config.dataDir),
    methodTypes: authMethodTypes(loginOptions(config.login, config.limits.issuerRequests)),
    logger: log,
    refusals,
  };
  const cluster: ClusterParts = {
    service,
    node,
    metrics,
    datacenter: config.datacenter,
    release: releaseOf(),
    fault: () => node.replica.fault ?? node.replica.availability.hang,
    settings: withoutSecrets(config) as Record<string, unknown>,
  };
  const snapshot: SnapshotParts = {
    service,
    node,
    dataDir: config.dataDir,
    snapshotBytes: config.limits.snapshotBytes,
  };
  return allRoutes({ acl, cluster, snapshot });
}

/**
 * Accesses the file in the data folder with the index that the refusal of a second bootstrap names.
 */
function bootstrapReset(dataDir: string): BootstrapReset {
  const path = join(dataDir, TOKEN_RESET_FILE);
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(() => '');
      return /^\d{1,15}\s*$/.test(text) ? Number(text) : undefined;
    },
    remove: () => rm(path, { force: true }),
  };
}
