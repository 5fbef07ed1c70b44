/** Routes of tokens besides those that all ACL objects have: bootstrap, the own token, clones. */
import { hash, timingSafeEqual } from 'node:crypto';
import { BOOTSTRAP } from '../../api/endpoints/tokens.js';
import { reject } from '../../base/errors.js';
import { bootstrap } from '../../service/acl/bootstrap.js';
import { readOwnToken, refuseOwnToken } from '../../service/acl/token-reads.js';
import { cloneToken, TOKEN_BODY } from '../../service/acl/tokens.js';
import { maySomewhere } from '../../service/common/writing.js';
import { type AclParts, admit, mustHave, writeOf } from './common.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const TOKEN_FAILURE = 'Token decoding failed';
const BOOTSTRAP_FAILURE = 'Request decoding failed';

export function tokenRoutes(parts: AclParts): readonly DeclaredRoute[] {
  const { service, nowMs } = parts;
  return [
    { path: '/v1/acl/bootstrap', PUT: (request) => putBootstrap(parts, request) },
    {
      path: '/v1/acl/token/self',
      GET: async (request) => {
        const useCase = readOwnToken(request.secret, request.flag('expanded'));
        const outcome = service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(await outcome.catch(refuseOwnToken));
      },
    },
    {
      path: '/v1/acl/token/:accessor/clone',
      PUT: async (request) => {
        const accessor = mustHave(request, 'accessor', 'token AccessorID');
        await admit(request, TOKEN_FAILURE, maySomewhere(service, request, 'acl', 'write'));
        const body = await request.decoded(TOKEN_FAILURE, TOKEN_BODY);
        const write = writeOf(request, body.Namespace);
        request.answerJson(await cloneToken(service, write, accessor, { body, nowMs: nowMs() }));
      },
    },
  ];
}

async function putBootstrap(parts: AclParts, request: ApiRequest): Promise<void> {
  mustKnowSecret(parts, request);
  const how = { optional: true, small: true };
  const body = await request.decoded(BOOTSTRAP_FAILURE, BOOTSTRAP, how);
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
