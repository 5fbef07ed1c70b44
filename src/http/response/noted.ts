/** Notes refused requests, so that they can be explained later. */
import type { IncomingMessage } from 'node:http';
import type { RefusedRequest } from '../../service/explain/decisions.js';
import type { Front } from '../front.js';

/** Notes a refused request. Returns the id of the decision; undefined if it is not noted. */
export function noteRefused(
  { options }: Pick<Front, 'options'>,
  { method = '', url = '', socket }: IncomingMessage,
  refused: Pick<RefusedRequest, 'caller' | 'namespace' | 'refusal' | 'error'>,
): string | undefined {
  const at = url.indexOf('?');
  return options.noteRefused?.({
    ...refused,
    method,
    path: at < 0 ? url : url.slice(0, at),
    remoteAddress: (socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
  });
}
