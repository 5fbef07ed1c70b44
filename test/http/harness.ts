/** A front end on a real socket with a service without a cluster. */

import { connect } from 'node:net';
import { createApp, type HttpApp } from '../../src/http/app.js';
import { type Listener, type ListenerOptions, listen } from '../../src/http/listener/listener.js';
import type { HttpLimits, HttpOptions, Observation } from '../../src/http/options.js';
import type { Route } from '../../src/http/routes/types.js';
import type { ClusterParts } from '../../src/service/cluster/cluster.js';
import type { CallEnd } from '../../src/service/common/call-end.js';
import type { Service } from '../../src/service/common/types.js';
import { type Ask, type Reply, send } from '../support/client.js';

export interface Front {
  readonly app: HttpApp;
  readonly listener: Listener;
  readonly events: { code: string; path: string; error?: unknown }[];
  readonly observed: Observation[];
  ask(path: string, ask?: Ask & { readonly method?: string }): Promise<Reply>;
  /** Sends raw bytes; returns everything received until the server closes the connection. */
  raw(bytes: string): Promise<string>;
  close(): Promise<void>;
}

/** Resolves at the end of a blocking query; never for another read. */
export const ended = (end: CallEnd | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (end?.isOver) resolve();
    else if (end !== undefined) end.wake = resolve;
  });

/** A service of which only the given members work. */
export function fakeService(given: Partial<Service> = {}): Service {
  return {
    namespaceOf: () => 'default',
    catchUp: () => Promise.resolve(),
    ...given,
  } as Service;
}

/** Limits that no test reaches by accident. */
export const LIMITS: HttpLimits = {
  bodyBytes: 65_536,
  planBytes: 8 << 20,
  anonymousBodyBytes: 65_536,
  pendingBodyBytes: 1 << 20,
  requestMs: 1000,
  heldPerClient: 100,
  heldPerToken: 100,
  heldAnonymous: 100,
  eventStreams: 1000,
  eventStreamsPerClient: 1000,
  eventStreamsPerToken: 1000,
  eventStreamsAnonymous: 100,
  streamsPerToken: 100,
  streamBytesPerSecond: 1,
  requestsPerAddress: 0,
  requestsPerToken: 0,
  writesPerAddress: 0,
  writesPerToken: 0,
  loginsPerAddress: 0,
  loginsPerMethod: 0,
  loginsPerIdentity: 0,
  jwtChecksPerAddress: 0,
  jwtChecksPerMethod: 0,
  refusalsPerAddress: 0,
  refusalDelayMs: 1,
  held: 200,
  stalledMs: 60_000,
};

export async function startFront(
  routes: readonly Route[],
  given: Partial<HttpOptions> = {},
  socket: Partial<ListenerOptions> = {},
): Promise<Front> {
  const events: Front['events'] = [];
  const observed: Front['observed'] = [];
  const app = createApp({
    service: fakeService(),
    routes,
    datacenter: 'dc1',
    defaultPolicy: 'deny',
    headerPrefix: 'X-Service',
    tokenInQuery: false,
    fieldNames: 'exact',
    allowedHosts: ['*'],
    responseHeaders: {},
    blockedPaths: [],
    limits: LIMITS,
    observe: (event) => observed.push(event),
    report: (event) => events.push(event),
    ...given,
  });
  const listener = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    headerBytes: 16_384,
    connections: 100,
    connectionsPerAddress: 100,
    probeConnections: 0,
    headersMs: 10_000,
    receiveMs: 30_000,
    keepAliveMs: 5000,
    silenceMs: 60_000,
    ...socket,
  });
  return {
    app,
    listener,
    events,
    observed,
    ask: (path, { method = 'GET', ...ask } = {}) =>
      send(`http://127.0.0.1:${listener.port}`, `${method} ${path}`, ask),
    raw: (bytes) =>
      new Promise((resolve, reject) => {
        const client = connect(listener.port, '127.0.0.1', () => client.write(bytes));
        let text = '';
        client.on('data', (chunk) => {
          text += chunk.toString('latin1');
        });
        client.on('close', () => resolve(text));
        client.on('error', reject);
      }),
    close: () => listener.close(100),
  };
}

/** An audit log without sinks and records. */
export const NO_AUDIT: ClusterParts['audit'] = {
  sinks: () => [],
  tail: () => ({ records: [], more: false }),
};

/** Metrics of a node that has measured nothing. */
const METRICS: ClusterParts['metrics'] = {
  prometheus: () => 'up 1\n',
  json: () => ({ Gauges: [] }),
  history: () => ({ fromMs: 0, stepMs: 1, figures: {}, certificates: [], savedMs: 0 }),
};

/** What a node that has done nothing shows. */
export const QUIET: Pick<ClusterParts, 'metrics' | 'audit' | 'recent'> = {
  metrics: METRICS,
  audit: NO_AUDIT,
  recent: () => [],
};
