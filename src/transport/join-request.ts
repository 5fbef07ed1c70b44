/** Requests of a node that is in no cluster yet, each over a connection of its own. */
import { every } from './clock.js';
import type { Connection } from './connection.js';
import { dial, type WireContext } from './handshake.js';
import type { RequestDone } from './peer.js';

/** Sends a request to an address. Calls `done` exactly once, with no answer after `timeoutMs`. */
export function requestJoin(
  context: WireContext,
  { address, payload }: { readonly address: string; readonly payload: Uint8Array },
  timeoutMs: number,
  done: RequestDone,
): void {
  const { clock, limits } = context;
  let open: Connection | undefined;
  let finished = false;
  const finish: RequestDone = (answer, fate) => {
    if (finished) return;
    finished = true;
    cancelTimer();
    cancelPing();
    giveUp();
    open?.destroy();
    done(answer, fate);
  };
  const cancelTimer = clock.after(timeoutMs, () => finish(undefined));
  const cancelPing = every(clock, limits.pingMs, () => open?.send({ type: 'ping' }));
  const giveUp = dial(
    context,
    { address, purpose: 'join', target: '' },
    (connection) => {
      open = connection;
      connection.events = {
        onFrame: (frame) => finish(frame.type === 'reply' ? frame.payload : undefined),
        onClose: () => finish(undefined),
      };
      connection.send({ type: 'request', id: 1, payload });
    },
    (error) => {
      const text = `the request to join cannot be sent to ${address}: ${error.message}`;
      context.log('warn', text, 'join_unreachable');
      finish(undefined, 'unsent');
    },
  );
}
