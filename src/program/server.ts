/**
 * The composition root. It builds the layers from the disk up, listens last, and stops in reverse.
 */
import { fileURLToPath } from 'node:url';
import { isLoopback } from '../base/address.js';
import { releaseOf } from '../base/release.js';
import type { Config } from '../config/config.js';
import { createApp, type HttpApp } from '../http/app.js';
import { type Listener, type ListenerOptions, listen } from '../http/listener/listener.js';
import { HELD_MS_MAX } from '../http/request/parameters.js';
import type { Route } from '../http/routes/types.js';
import type { Log } from '../log/log.js';
import { RecentLines } from '../log/recent.js';
import { DecisionCounts } from '../metrics/decisions.js';
import { Metrics, type MetricsParts } from '../metrics/metrics.js';
import { objectCounts } from '../metrics/objects.js';
import { Replication } from '../metrics/replication.js';
import { realClock } from '../node/clock.js';
import { openNode } from '../node/node.js';
import type { NodeOptions } from '../node/options.js';
import type { ClusterNode } from '../node/types.js';
import type { ClockPort } from '../replica/ports.js';
import { onNoToken } from '../service/acl/bootstrap.js';
import { configCheck } from '../service/config/config-entries.js';
import { Decisions } from '../service/explain/decisions.js';
import { LoginRefusals } from '../service/login/refusals.js';
import { Housekeeper } from '../service/maintenance/housekeeper.js';
import { NodeService } from '../service/reads/node-service.js';
import { Authorizers } from '../service/rights/authorizers.js';
import { type GroupChecks, makeGate, prepareGate } from '../service/rights/gate.js';
import { SetDrift } from '../service/sets/drift.js';
import { levelOf } from '../state/levels.js';
import { RESTORE_FACT, restoredAt } from '../state/restore.js';
import { type Noted, routesOf } from './api-routes.js';
import { auditLevels, auditOf } from './audit.js';
import { CertificateWatch } from './certificates.js';
import { eventsOf } from './events.js';
import { checkKeyFiles, initialManagement } from './key-files.js';
import { logRequest } from './node-log.js';
import { nodeOptions, securityOf } from './node-options.js';
import { withinOpenFiles } from './open-files.js';
import { tellFirstStep, urlOf, warnOfDangers } from './start-notices.js';
import { TokenUsage } from './usage.js';

/** A running node. */
export interface Server {
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

/**
 * Starts a node. Calls `onFatal` with an error after which it cannot continue. `loading` is what
 * `readState` returned.
 */
export async function startServer(
  given: Config,
  output: Log,
  onFatal: (error: unknown) => void,
  loading?: NodeOptions['loading'],
): Promise<Server> {
  const recent = new RecentLines();
  const log = recent.of(output);
  const { config, ...sockets } = await withinOpenFiles(given, log);
  log.info({ event: 'data_folder_opening', dataDir: config.dataDir }, 'opening the data folder');
  const opened = await openLayers(config, log, onFatal, loading);
  const { node, housekeeper, audit, events, usage } = opened;
  const noted = newNoted(log);
  const certificates = new CertificateWatch(config, log);
  let listener: Listener | undefined;
  const metrics = metricsOf(config, log, {
    ...opened,
    ...noted,
    front: () => app,
    connections: () => listener?.connections() ?? 0,
    certificates: () => certificates.ends,
  });
  const routes = routesOf(config, { ...opened, ...noted, metrics, log, recent });
  const app = frontEnd(config, log, { ...opened, metrics, routes });
  onRestore(node, log, () => app.held.release());
  await audit.open();
  void metrics.start();
  await node.start();
  housekeeper.start();
  try {
    listener = await listen(app, { ...listenerOptions(config, log), ...sockets });
  } catch (error) {
    housekeeper.stop();
    await node.stop();
    throw error;
  }
  const url = urlOf(config, listener.port);
  log.info({ event: 'serving', url, raft: config.raft.advertise }, 'serving');
  warnAtStart(config, log);
  certificates.start();
  void onNoToken(node, opened.service, config.limits.requestMs, () =>
    tellFirstStep(config, url, log),
  );
  return {
    url,
    reloadTls: () => reloadKeys(config, listener, node, certificates),
    async stop() {
      housekeeper.stop();
      certificates.stop();
      metrics.stop();
      app.held.releaseForGood();
      events.stop();
      await listener.close(config.limits.stopMs, config.limits.lingerMs);
      await usage.stop();
      // closes the audit log as well
      await node.stop();
    },
  };
}

const newNoted = (log: Log): Noted => ({
  refusals: new LoginRefusals(log, () => performance.now()),
  drift: new SetDrift(),
  counts: new DecisionCounts(),
});

/** Releases held queries, and logs it, when an archive replaces the state. */
function onRestore({ machine, view }: Layers['node'], log: Log, release: () => void): void {
  machine.onChanged((keys) => {
    if (!keys.includes(RESTORE_FACT)) return;
    release();
    const index = restoredAt(view);
    log.warn({ event: 'state_replaced', index }, 'the state was replaced by that of an archive');
  });
}

/** Logs what is dangerous in the configuration, and lists with which members cannot connect. */
function warnAtStart(config: Config, log: Log): void {
  warnOfDangers(config, log);
  for (const fault of checkKeyFiles(config).listFaults)
    log.warn({ event: 'revocation_list_unusable' }, fault);
}

/** Reads certificates and keys again. Throws Error and changes nothing if one is unusable. */
function reloadKeys(
  config: Config,
  listener: Listener,
  node: Layers['node'],
  certificates: CertificateWatch,
): void {
  const { faults, listFaults } = checkKeyFiles(config);
  const all = [...faults, ...listFaults];
  if (all.length > 0) throw new Error(all.join('; '));
  const applyTls = listener.prepareTls();
  node.reload(securityOf(config));
  applyTls();
  certificates.reload();
}

/** What the metrics show of the front end. */
type FrontSources = Pick<MetricsParts, 'connections' | 'certificates'> & {
  readonly front: () => HttpApp;
};

function metricsOf(config: Config, log: Log, parts: Layers & FrontSources & Noted): Metrics {
  const { node, authorizers, replication, audit, events, refusals, drift, front } = parts;
  const { counts } = parts;
  return new Metrics({
    log,
    held: () => front().held.count,
    rightsFeeds: () => front().held.feeds,
    eventStreams: () => events.size,
    refused: () => front().refused.counts,
    connections: parts.connections,
    certificates: parts.certificates,
    replication,
    release: releaseOf(),
    datacenter: config.datacenter,
    dataDir: config.dataDir,
    diskReserveBytes: config.limits.diskReserveBytes,
    limits: config.limits,
    status: () => node.status(),
    level: () => levelOf(node.view),
    loop: () => node.replica.stats().loop,
    disks: () => node.replica.stats().disks,
    comparison: () => node.replica.stats().comparison,
    rights: () => authorizers.stats,
    refusedLogins: () => refusals.counts,
    decisions: counts,
    sets: () => drift.list(),
    audit: () => audit.sinks(),
    objects: () => objectCounts(node.recordCounts()),
  });
}

type Layers = Awaited<ReturnType<typeof openLayers>>;

async function openLayers(
  config: Config,
  log: Log,
  onFatal: (error: unknown) => void,
  loading: NodeOptions['loading'],
) {
  let opened: ClusterNode | undefined;
  // The node calls the gate, which in turn needs the node's state. No call comes before `start`.
  const replication = new Replication();
  const usage = new TokenUsage(config.dataDir);
  const options: NodeOptions = {
    ...nodeOptions(config, log, {
      onFatal,
      gate: (...asked) => gate(...asked),
      members: () => opened?.status().peers ?? [],
    }),
    prepareGate: (tokenKey, run) => prepareGate(authorizers)(tokenKey, run),
    loading,
    measures: replication,
    usageText: (from) => usage.answer(from),
    // the last records are of writes that the stop ends, and show what these changed
    onAnswered: () => audit.close(),
    decisionText: (id) => JSON.stringify(decisions.get(id)) as string | undefined,
  };
  const node = await openNode(options);
  opened = node;
  node.onRole((change) => replication.roleChanged(change));
  const clock = realClock(onFatal);
  const nowMs = Date.now;
  const { datacenter, acl, limits } = config;
  const authorizers = new Authorizers({
    view: node.view,
    datacenter,
    defaultPolicy: acl.defaultPolicy,
    nowMs,
    rightsBytes: limits.rightsBytes,
  });
  const groups: GroupChecks = {
    config: configCheck,
    restore: (authorizer) => authorizer.denial('acl', 'write'),
  };
  const gate = makeGate(authorizers, groups);
  const audit = auditOf(config, log, node, { authorizers, groups });
  auditLevels(audit, node);
  const decisions = new Decisions({
    nodeId: node.id,
    nodeName: node.name,
    authorizers,
    appliedIndex: () => node.machine.appliedIndex(),
    nowMs,
  });
  node.machine.onChanged((keys) => authorizers.changed(keys));
  node.machine.onReset(() => authorizers.reset());
  const events = eventsOf(node, { authorizers, limits, onFatal });
  const housekeeper = housekeeperOf(config, log, { node, clock, audit });
  usage.start(node);
  const service = new NodeService({ node, authorizers, clock, onUse: usage.note });
  return { node, service, authorizers, decisions, housekeeper, replication, audit, events, usage };
}

function housekeeperOf(
  config: Config,
  log: Log,
  { node, clock, audit }: Pick<Layers, 'node' | 'audit'> & { readonly clock: ClockPort },
): Housekeeper {
  const { limits } = config;
  const managementSecret = initialManagement(config);
  return new Housekeeper({
    node,
    clock,
    nowMs: Date.now,
    ...(managementSecret !== undefined && { managementSecret }),
    // An upload ends with its request, and its last part with the request of that part.
    restoreIdleMs: 2 * (limits.receiveMs + limits.requestMs),
    secrets: { secretsGoneMs: limits.secretsGoneMs, leftAt: () => node.machine.secretLeftAt() },
    onDone: ({ type }, index) => audit.system(type, index),
    log: (level, message, event, error) =>
      log[level]({ event, ...(error !== undefined && { err: error }) }, message),
  });
}

function frontEnd(
  { datacenter, acl, http, ui, limits, log: { level } }: Config,
  log: Log,
  parts: Layers & { readonly metrics: Metrics; readonly routes: readonly Route[] },
): HttpApp {
  const { service, metrics, routes, decisions, audit } = parts;
  const isTraced = level === 'debug';
  return createApp({
    service,
    routes,
    noteRefused: (refused) => decisions.note(refused),
    audit,
    datacenter,
    limits,
    defaultPolicy: acl.defaultPolicy,
    headerPrefix: http.headerPrefix,
    tokenInQuery: http.tokenInQuery,
    fieldNames: http.fieldNames,
    allowedHosts: http.allowedHosts ?? (isLoopback(http.host) ? undefined : ['*']),
    responseHeaders: http.responseHeaders,
    blockedPaths: http.blockedPaths,
    ui: ui.enabled ? { folder: UI_FOLDER, idleMs: ui.idleMs } : undefined,
    observe: (observation) => {
      metrics.observe(observation);
      if (isTraced) logRequest(log, observation);
    },
    report: ({ error, ...request }) =>
      log.error({ event: 'request_failed', ...request, err: error }, 'a request failed'),
  });
}

function listenerOptions({ http, limits }: Config, log: Log): ListenerOptions {
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
    onPlainRequests: (address, count) =>
      log.warn(
        { event: 'http_on_https_port', address, count },
        'a client sent http to the https port',
      ),
  };
}
