/** Nodes with either `http.fieldNames`, and requests in spellings that OpenAPI does not have. */
import type { FieldNames } from '../../src/http/options.js';
import { authorizeRoutes } from '../../src/http/routes/authorize.js';
import { type Reply, send } from '../support/client.js';
import { SoloClient } from './client.js';
import { Solo } from './solo.js';

/** Serves a Solo that matches names of fields in this way. */
export function openWith(fieldNames: FieldNames): Promise<SoloClient> {
  const solo = new Solo();
  return SoloClient.open(authorizeRoutes(solo.service), solo, { fieldNames });
}

/** Sends a body in any spelling. A text is sent as it is. */
export const askSpelled = (
  to: SoloClient,
  call: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> =>
  send(to.url, call.replace(' /', ' /v1/'), {
    token: to.token,
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
