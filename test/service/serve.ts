/** The front end on a Solo, for tests over HTTP. */

import { createApp } from '../../src/http/app.js';
import { listen } from '../../src/http/listener/listener.js';
import type { HttpOptions } from '../../src/http/options.js';
import { aclRoutes } from '../../src/http/routes/acl.js';
import { changeRoutes } from '../../src/http/routes/change.js';
import type { AclParts } from '../../src/http/routes/common.js';
import { configRoutes } from '../../src/http/routes/config-entries.js';
import type { Route } from '../../src/http/routes/types.js';
import { DecisionCounts } from '../../src/metrics/decisions.js';
import { Proofs } from '../../src/service/decisions/proofs.js';
import { Sentences } from '../../src/service/decisions/sentences.js';
import { authMethodTypes } from '../../src/service/login/index.js';
import { LoginRefusals } from '../../src/service/login/refusals.js';
import { LongWork } from '../../src/service/reads/long-work.js';
import { SetDrift } from '../../src/service/sets/drift.js';
import { LIMITS } from '../http/harness.js';
import { LOGIN_DEFAULTS } from '../support/defaults.js';
import type { Solo } from './solo.js';

const methodTypes = authMethodTypes(LOGIN_DEFAULTS);
const logger = { warn: () => {} };

export function partsOf(solo: Solo): AclParts {
  const longWork = new LongWork();
  const nowMs = (): number => solo.nowMs;
  const { authorizers } = solo;
  return {
    authzen: { anonymousCallers: false },
    counts: new DecisionCounts(),
    proofs: new Proofs({ methodTypes, nowMs, now: nowMs, onCheck: () => {} }),
    sentences: new Sentences({ authorizers, defaultPolicy: 'deny', longWork }),
    onUse: () => {},
    service: solo.service,
    authorizers,
    node: solo.node,
    decisions: solo.decisions,
    events: solo.events,
    usage: solo.usage,
    longWork,
    datacenter: 'dc1',
    nodeName: 'solo',
    defaultPolicy: 'deny',
    lint: 'warn',
    nowMs,
    methodTypes,
    logger,
    refusals: new LoginRefusals(logger, () => solo.nowMs),
    drift: new SetDrift(),
    bodyBytes: 1 << 20,
    rightsFeedBytes: 65_536,
  };
}

export async function serve(
  solo: Solo,
  more: readonly Route[] = [],
  given: Partial<HttpOptions> = {},
  someParts: Partial<AclParts> = {},
) {
  const parts = { ...partsOf(solo), ...someParts };
  const app = createApp({
    service: solo.service,
    routes: [...changeRoutes(parts), ...aclRoutes(parts), ...configRoutes(parts), ...more],
    datacenter: 'dc1',
    defaultPolicy: 'deny',
    headerPrefix: 'X-Service',
    tokenInQuery: true,
    fieldNames: 'exact',
    allowedHosts: ['*'],
    responseHeaders: {},
    blockedPaths: [],
    limits: { ...LIMITS, bodyBytes: 1 << 20, requestMs: 5000, held: 1000 },
    noteRefused: (refused) => solo.decisions.note(refused),
    report: (event) => {
      if (event.error !== undefined) console.error(event.path, event.error);
    },
    ...given,
  });
  return listen(app, {
    host: '127.0.0.1',
    port: 0,
    headerBytes: 65536,
    connections: 100,
    connectionsPerAddress: 100,
    probeConnections: 0,
    headersMs: 60_000,
    receiveMs: 60_000,
    keepAliveMs: 1000,
    silenceMs: 60_000,
  });
}
