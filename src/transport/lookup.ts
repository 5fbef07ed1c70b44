/** Addresses of members that are named by host names. */
import type { LookupFunction } from 'node:net';

/** How long a connection waits for a name server before it uses the last known address. */
const PATIENCE_MS = 500;

type Answer = Parameters<Parameters<LookupFunction>[2]>;
type Settle = Parameters<LookupFunction>[2];

/**
 * Returns a lookup for connections that are given up sooner than a slow name server answers. An
 * answer that comes too late serves the next connection, and the last known address serves while
 * there is no better one: the handshake proves who is there. Each name has one request at a time,
 * since requests occupy threads. `after` calls a function in some milliseconds, and returns what
 * cancels that.
 */
export function patientLookup(
  resolve: LookupFunction,
  after: (ms: number, run: () => void) => () => void,
): LookupFunction {
  const known = new Map<string, Answer>();
  const pending = new Map<string, Settle[]>();
  return (host, options, callback) => {
    const key = `${host} ${options.family ?? 0} ${options.all === true}`;
    let isSettled = false;
    const settle: Settle = (...answer) => {
      if (isSettled) return;
      isSettled = true;
      cancel();
      const last = answer[0] ? known.get(key) : undefined;
      callback(...(last ?? answer));
    };
    const cancel = after(PATIENCE_MS, () => {
      const last = known.get(key);
      if (last !== undefined) settle(...last);
    });
    const waiting = pending.get(key);
    if (waiting !== undefined) {
      waiting.push(settle);
      return;
    }
    const all = [settle];
    pending.set(key, all);
    resolve(host, options, (...answer) => {
      pending.delete(key);
      if (!answer[0]) known.set(key, answer);
      for (const each of all) each(...answer);
    });
  };
}
