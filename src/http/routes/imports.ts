/** Routes of tokens that come from elsewhere, and of the owners of objects. */
import { IMPORT, RELEASE } from '../../api/endpoints/imports.js';
import { listImported } from '../../service/acl/imported-tokens.js';
import { importTokens, mayImport } from '../../service/acl/token-import.js';
import { listOwners, mayRelease, releaseOwner } from '../../service/change/owners.js';
import { reasoned } from '../../service/common/writing.js';
import { namespaceName } from '../request/parameters.js';
import { type AclParts, admit, stateReadOf } from './common.js';
import { escaped } from './lists.js';
import type { ApiRequest, DeclaredRoute } from './types.js';

const IMPORT_FAILURE = 'Import decoding failed';
const RELEASE_FAILURE = 'Release decoding failed';

export const importRoutes = (parts: AclParts): readonly DeclaredRoute[] => {
  const { service } = parts;
  return [
    {
      path: '/v1/acl/tokens/import',
      isNew: true,
      GET: async (request) => {
        const asked = { caller: request.caller, options: request.singleReadOptions() };
        await listImported(parts, asked, request.query('source'), (pieces, outcome) =>
          request.answerStream(escaped(pieces), { outcome }),
        );
      },
      POST: async (request) => {
        await admit(request, IMPORT_FAILURE, mayImport(service, request));
        const body = await request.decoded(IMPORT_FAILURE, IMPORT);
        // that of a token is not that of the request
        const namespaceOf = (sent?: string): string =>
          sent ? namespaceName(sent, 'field "Namespace"') : request.namespace();
        request.answerValue(await importTokens(parts, requesterOf(request), body, namespaceOf));
      },
    },
    {
      path: '/v1/owners',
      isNew: true,
      GET: async (request) => {
        request.answerRead(await listOwners(parts, stateReadOf(request)));
      },
    },
    {
      path: '/v1/owners/release',
      isNew: true,
      POST: async (request) => {
        await admit(request, RELEASE_FAILURE, mayRelease(service, request));
        const body = await request.decoded(RELEASE_FAILURE, RELEASE);
        const requester = reasoned(requesterOf(request), body.Reason);
        request.answerValue(await releaseOwner(parts, requester, body.Owner ?? ''));
      },
    },
  ];
};

const requesterOf = ({ caller, timeoutMs, reason, notes }: ApiRequest) => ({
  caller,
  timeoutMs,
  reason,
  notes,
});
