/** What helps a client that asks for a path that is no endpoint. */
import { changesBetween, nearestOf } from '../../languages/suggest.js';
import type { Route } from '../routes/types.js';

/** Parts of Consul's API that this server does not have, by the segment after `/v1/`. */
const ABSENT: Readonly<Record<string, string>> = {
  agent: "the services and checks of Consul's agents do not exist here",
  catalog: 'the catalog of Consul does not exist here',
  connect: 'the certificate authority of Consul does not exist here; intentions are config entries',
  coordinate: 'the network coordinates of Consul do not exist here',
  event: 'the user events of Consul do not exist here',
  'exported-services': 'exported services are the config entry exported-services/default here',
  health: 'the health checks of Consul do not exist here',
  'imported-services': 'the cluster peering of Consul does not exist here',
  internal: 'the catalog of Consul does not exist here',
  kv: 'the key-value store of Consul does not exist here',
  partition: 'the admin partitions of Consul do not exist here',
  partitions: 'the admin partitions of Consul do not exist here',
  peering: 'the cluster peering of Consul does not exist here',
  peerings: 'the cluster peering of Consul does not exist here',
  query: 'the prepared queries of Consul do not exist here',
  session: 'the sessions of Consul do not exist here',
  txn: 'the transactions of Consul do not exist here',
};

/** Longer paths are compared with no endpoint: none of them is a slip of the keyboard. */
const LENGTH_MAX = 200;

/**
 * Returns the endpoint that a path may mean, or that Consul has it and this server does not;
 * undefined if neither is so. Quotes nothing of the path.
 */
export function pathHint(path: string, routes: readonly Route[]): string | undefined {
  if (path.length > LENGTH_MAX) return undefined;
  const sent = path.split('/');
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const route of routes) {
    const changes = changesTo(route.path, sent);
    if (changes >= fewest) continue;
    fewest = changes;
    nearest = route.path;
  }
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  const part = sent[1] === 'v1' ? sent[2] : undefined;
  return part !== undefined && Object.hasOwn(ABSENT, part) ? ABSENT[part] : undefined;
}

/**
 * Returns the changes that make the segments of a path those of a route, whose parameters take any;
 * infinity if a segment is another word. A slash at the end is one change.
 */
function changesTo(path: string, sent: readonly string[]): number {
  const parts = path.split('/');
  const isClosed = sent.length === parts.length + 1 && sent.at(-1) === '';
  const takesRest = parts.at(-1)!.startsWith(':') && sent.length > parts.length;
  if (sent.length !== parts.length && !isClosed && !takesRest) return Number.POSITIVE_INFINITY;
  let changes = isClosed ? 1 : 0;
  for (const [at, part] of parts.entries()) {
    const word = sent[at]!;
    if (part === word) continue;
    const isParameter = part.startsWith(':');
    if (isParameter && word !== '') continue;
    if (isParameter || nearestOf(word, [part]) === undefined) return Number.POSITIVE_INFINITY;
    // another letter case is the smallest difference
    changes += changesBetween(word, part) || 0.5;
  }
  return changes;
}
