/** How a node's own reports become lines of the log. */
import type { Observation } from '../http/options.js';
import type { Log } from '../log/log.js';
import type { NodeOptions } from '../node/options.js';

/** The members that are known, once the node is open. */
export type Members = () => readonly { readonly id: string; readonly name: string }[];

/** Returns what logs the reports of a node, with the name of the member that a report is about. */
export function nodeLog(log: Log, members: Members): NodeOptions['log'] {
  return (level, message, event, id) => {
    const peer = members().find((member) => member.id === id)?.name;
    if (peer === undefined) log[level]({ event }, message);
    else log[level]({ event, peer }, `${peer}: ${message}`);
  };
}

/** Logs a request by its route, which holds no name, and no secret either. */
export function logRequest(log: Log, observation: Observation): void {
  const { route, method, status, ms, traceId = '' } = observation;
  const took = Math.round(ms * 10) / 10;
  const trace = traceId === '' ? {} : { trace_id: traceId };
  const fields = { event: 'request', route: route.path, method, status, ms: took } as const;
  log.debug({ ...fields, ...trace }, `${method} ${route.path} ${status}`);
}
