/** The event streams of a node. */
import type { Config } from '../config/config.js';
import { EventHub } from '../service/events/hub.js';
import type { Authorizers } from '../service/rights/authorizers.js';
import type { Machine } from '../state/machine.js';
import type { View } from '../state/types.js';

/** Returns the hub of a node's event streams, which learns of every change. */
export function eventsOf(
  {
    view,
    machine,
  }: { readonly view: View; readonly machine: Pick<Machine, 'onChanged' | 'onReset'> },
  parts: {
    readonly authorizers: Authorizers;
    readonly limits: Config['limits'];
    readonly onFatal: (error: unknown) => void;
  },
): EventHub {
  const { authorizers, limits, onFatal } = parts;
  const hub = new EventHub({
    view,
    authorizers,
    nowMs: Date.now,
    stallMs: limits.eventStallMs,
    aheadMs: limits.requestMs,
    onFault: onFatal,
  });
  machine.onChanged((keys) => hub.changed(keys));
  machine.onReset(() => hub.reset());
  return hub;
}
