/** When a client leaves. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What to call when a connection closes. Each has one listener, however many requests it has. */
const calls = new WeakMap<Socket, Set<() => void>>();

/** Whether the client of a request has left. */
export const isGone = ({ socket }: IncomingMessage, res: ServerResponse): boolean =>
  res.destroyed || socket.destroyed;

/**
 * Calls `run` once when the response is closed; at once if it is. A response that waits for an
 * earlier one of its connection (pipelining) has no `close` event of its own if that closes.
 */
export function onceGone(req: IncomingMessage, res: ServerResponse, run: () => void): void {
  if (isGone(req, res)) {
    run();
    return;
  }
  const ofSocket = callsOf(req.socket);
  const call = (): void => {
    if (ofSocket.delete(call)) run();
  };
  ofSocket.add(call);
  res.once('close', call);
}

function callsOf(socket: Socket): Set<() => void> {
  const known = calls.get(socket);
  if (known !== undefined) return known;
  const made = new Set<() => void>();
  calls.set(socket, made);
  socket.once('close', () => {
    for (const call of [...made]) call();
  });
  return made;
}
