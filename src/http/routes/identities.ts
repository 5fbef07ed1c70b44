/** Routes of the identities of auth methods: revoke, list blocks, lift a block. */
import { REVOKE } from '../../api/endpoints/identities.js';
import { reject } from '../../base/errors.js';
import { maySomewhere } from '../../service/common/writing.js';
import { listBlocks, revokeIdentities, unblock } from '../../service/login/identities.js';
import { type AclParts, admit, mustHave } from './common.js';
import type { DeclaredRoute } from './types.js';

const FAILURE = 'Revocation decoding failed';

export const identityRoutes = (parts: AclParts): readonly DeclaredRoute[] => {
  const { service, nowMs } = parts;
  return [
    {
      path: '/v1/acl/tokens/revoke',
      isNew: true,
      POST: async (request) => {
        await admit(request, FAILURE, maySomewhere(service, request, 'acl', 'read'));
        const body = await request.decoded(FAILURE, REVOKE);
        const { AuthMethod: name = '' } = body;
        if (name === '') reject('invalid', 'AuthMethod is required', { pointer: '/AuthMethod' });
        const place = { ns: request.namespace(body.Namespace), name };
        const { caller, timeoutMs, reason, notes } = request;
        const requester = { caller, timeoutMs, reason, notes };
        request.answerValue(await revokeIdentities(parts, requester, place, body));
      },
    },
    {
      path: '/v1/acl/identity-blocks',
      isNew: true,
      GET: async (request) => {
        const method = request.query('authmethod');
        const useCase = listBlocks(request.namespaceOrAll(), method, nowMs);
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        request.answerRead({ ...outcome, value: JSON.stringify(outcome.value) });
      },
    },
    {
      path: '/v1/acl/identity-block/:id',
      isNew: true,
      DELETE: async (request) => {
        const id = mustHave(request, 'id', 'identity block ID');
        request.answerJson(await unblock(service, request, id));
      },
    },
  ];
};
