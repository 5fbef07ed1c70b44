/** Routes of tokens that other objects do not have, and of bootstrap. */

import { hash, timingSafeEqual } from 'node:crypto';
import { BOOTSTRAP } from '../../api/bodies/login.js';
import { reject } from '../../base/errors.js';
import { bootstrap } from '../../service/acl/bootstrap.js';
import { readOwnToken, refuseOwnToken } from '../../service/acl/token-reads.js';
import { cloneToken, TOKEN_BODY } from '../../service/acl/tokens.js';
import { decodeBody } from '../../service/common/decode.js';
import { mayWriteSomewhere } from '../../service/common/writing.js';
import { admit } from '../request/admit.js';
import { type AclParts, mustHave, writeOf } from './acl-common.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const FAILURE = 'Token decoding failed';
const BOOTSTRAP_FAILURE = 'Request decoding failed';

/** Bootstrap, the token of the request, and clones. */
export function tokenRoutes(parts: AclParts): readonly DeclaredRoute[] {
  const { service, nowMs } = parts;
  return [
    { path: '/v1/acl/bootstrap', PUT: (request) => putBootstrap(parts, request) },
    {
      path: '/v1/acl/token/self',
      GET: async (request) => {
        const useCase = readOwnToken(request.caller.tokenKey);
        const outcome = service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(await outcome.catch(refuseOwnToken));
      },
    },
    {
      path: '/v1/acl/token/:accessor/clone',
      PUT: async (request) => {
        const accessor = mustHave(request, 'accessor', 'token AccessorID');
        await admit(request, FAILURE, mayWriteSomewhere(service, request));
        const body = decodeBody(FAILURE, await request.body(FAILURE), TOKEN_BODY);
        const write = writeOf(request, body.Namespace);
        request.answerJson(await cloneToken(service, write, accessor, body, nowMs()));
      },
    },
  ];
}

async function putBootstrap(parts: AclParts, request: ApiRequest): Promise<void> {
  mustKnowSecret(parts, request);
  const sent = await request.bodyValue(BOOTSTRAP_FAILURE, { optional: true, small: true });
  const body = decodeBody(BOOTSTRAP_FAILURE, sent, BOOTSTRAP);
  const { service, nowMs, bootstrapReset: reset } = parts;
  request.answerJson(await bootstrap(service, request, body, { nowMs: nowMs(), reset }));
}

/**
 * Checks the bootstrap secret, if the node has one: only callers who know it create the first
 * token. Throws ApiError 403.
 */
function mustKnowSecret({ bootstrapSecret }: AclParts, { caller }: ApiRequest): void {
  if (bootstrapSecret === undefined) return;
  // Hashes have one length, so that the duration of the comparison reveals nothing.
  const wanted = Buffer.from(hash('sha256', bootstrapSecret));
  const given = Buffer.from(caller.tokenKey ?? hash('sha256', ''));
  if (timingSafeEqual(wanted, given)) return;
  reject('permission_denied', 'Permission denied: this bootstrap needs a secret', {
    hint: 'send acl.bootstrapSecret of the node as the token of the request',
  });
}
