/** The event streams of a node. */
import type { Config } from '../config/config.js';
import type { ClusterNode } from '../node/types.js';
import { EventHub } from '../service/events/hub.js';
import type { Authorizers } from '../service/rights/authorizers.js';
import type { Machine } from '../state/machine.js';

/** Returns the hub of a node's event streams, which learns of every change. */
export function eventsOf(
  node: Pick<ClusterNode, 'view' | 'closed'> & {
    readonly machine: Pick<Machine, 'onChanged' | 'onReset' | 'recent'>;
  },
  parts: {
    readonly authorizers: Authorizers;
    readonly limits: Config['limits'];
    readonly onFatal: (error: unknown) => void;
  },
): EventHub {
  const { authorizers, limits, onFatal } = parts;
  const hub = new EventHub({
    view: node.view,
    recent: node.machine.recent,
    authorizers,
    nowMs: Date.now,
    stallMs: limits.eventStallMs,
    aheadMs: limits.requestMs,
    isClosed: () => node.closed() !== undefined,
    onFault: onFatal,
  });
  node.machine.onChanged((keys) => hub.changed(keys));
  node.machine.onReset(() => hub.reset());
  return hub;
}
