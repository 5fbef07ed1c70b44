/** The routes of a node, and what they are made with. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TOKEN_RESET_FILE } from '../base/data-folder.js';
import { releaseOf } from '../base/release.js';
import type { Config } from '../config/config.js';
import type { AclParts } from '../http/routes/common.js';
import { allRoutes } from '../http/routes/routes.js';
import type { Route } from '../http/routes/types.js';
import { type Log, withoutSecrets } from '../log/log.js';
import type { RecentLines } from '../log/recent.js';
import type { DecisionCounts } from '../metrics/decisions.js';
import type { Metrics } from '../metrics/metrics.js';
import type { openNode } from '../node/node.js';
import type { BootstrapReset } from '../service/acl/bootstrap.js';
import type { SnapshotParts } from '../service/archives/snapshot.js';
import type { ClusterParts } from '../service/cluster/cluster.js';
import { Proofs } from '../service/decisions/proofs.js';
import { Sentences } from '../service/decisions/sentences.js';
import type { Decisions } from '../service/explain/decisions.js';
import { authMethodTypes, loginOptions } from '../service/login/index.js';
import type { LoginRefusals } from '../service/login/refusals.js';
import { LongWork } from '../service/reads/long-work.js';
import type { NodeService } from '../service/reads/node-service.js';
import type { Authorizers } from '../service/rights/authorizers.js';
import type { SetDrift } from '../service/sets/drift.js';
import type { auditOf } from './audit.js';
import type { eventsOf } from './events.js';
import { bootstrapSecret } from './key-files.js';
import type { TokenUsage } from './usage.js';

/** What requests have counted and noted so far. */
export interface Noted {
  readonly refusals: LoginRefusals;
  readonly drift: SetDrift;
  readonly counts: DecisionCounts;
}

/** What the routes of a node use. */
interface RouteSources extends Noted {
  readonly node: Awaited<ReturnType<typeof openNode>>;
  readonly service: NodeService;
  readonly authorizers: Authorizers;
  readonly decisions: Decisions;
  readonly audit: ReturnType<typeof auditOf>;
  readonly events: ReturnType<typeof eventsOf>;
  readonly usage: TokenUsage;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly recent: RecentLines;
}

/** Returns the routes of a node. */
export function routesOf(config: Config, parts: RouteSources): readonly Route[] {
  const { node, service, audit, metrics, recent } = parts;
  const cluster: ClusterParts = {
    service,
    node,
    metrics,
    datacenter: config.datacenter,
    release: releaseOf(),
    fault: () => node.replica.fault ?? node.replica.availability.hang ?? audit.problem,
    audit,
    settings: withoutSecrets(config) as Record<string, unknown>,
    recent: () => recent.lines,
  };
  const snapshot: SnapshotParts = {
    service,
    node,
    dataDir: config.dataDir,
    snapshotBytes: config.limits.snapshotBytes,
    reserveBytes: config.limits.diskReserveBytes,
  };
  const all: readonly Route[] = allRoutes({ acl: aclParts(config, parts), cluster, snapshot });
  return config.authzen.enabled ? all : all.filter(({ isStandard }) => isStandard !== true);
}

function aclParts(config: Config, parts: RouteSources): AclParts {
  const { node, service, authorizers, decisions, events, usage } = parts;
  const { log, refusals, drift, counts } = parts;
  const methodTypes = authMethodTypes(loginOptions(config.login, config.limits.issuerRequests));
  const longWork = new LongWork();
  const { defaultPolicy } = config.acl;
  return {
    service,
    authorizers,
    node,
    decisions,
    events,
    usage,
    longWork,
    authzen: config.authzen,
    counts,
    proofs: new Proofs({
      methodTypes,
      nowMs: Date.now,
      now: () => performance.now(),
      onCheck: (result) => counts.checked(result),
    }),
    sentences: new Sentences({ authorizers, defaultPolicy, longWork }),
    onUse: usage.note,
    datacenter: config.datacenter,
    nodeName: config.nodeName,
    defaultPolicy,
    lint: config.acl.lint,
    nowMs: Date.now,
    bootstrapSecret: bootstrapSecret(config),
    bootstrapReset: bootstrapReset(config.dataDir, log),
    methodTypes,
    logger: log,
    refusals,
    drift,
    bodyBytes: config.limits.bodyBytes,
    rightsFeedBytes: config.limits.rightsFeedBytes,
  };
}

/**
 * Accesses the file in the data folder with the index that the refusal of a second bootstrap names.
 */
export function bootstrapReset(dataDir: string, log: Pick<Log, 'warn'>): BootstrapReset {
  const path = join(dataDir, TOKEN_RESET_FILE);
  return {
    async read() {
      try {
        const text = await readFile(path, 'utf8');
        if (/^\d{1,15}\s*$/.test(text)) return Number(text);
        log.warn({ event: 'reset_file_unusable' }, `${path} is ignored: it does not hold an index`);
      } catch (err) {
        if ((err as NodeJS.ErrnoException).code !== 'ENOENT')
          log.warn({ event: 'reset_file_unusable', err }, `${path} is ignored: it cannot be read`);
      }
      return undefined;
    },
    // The token is made: it must be answered. An index counts once, so the file does no harm.
    remove: () =>
      rm(path, { force: true }).catch((err: unknown) =>
        log.warn({ event: 'reset_file_unusable', err }, `${path} cannot be removed`),
      ),
  };
}
