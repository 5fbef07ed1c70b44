/** Routes of namespaces. */
import { decodeBody } from '../service/decode.js';
import { filterOf } from '../service/filters.js';
import {
  deleteNamespace,
  listNamespaces,
  mayManageSome,
  NAMESPACE_FIELDS,
  readNamespace,
  writeNamespace,
} from '../service/namespaces.js';
import { type AclParts, answerList, mustHave } from './acl-common.js';
import { admit } from './admit.js';
import type { ApiRequest, Route } from './types.js';

const FAILURE = 'Namespace decoding failed';
const MISSING = 'Requested namespace does not exist: ACL not found';

export function namespaceRoutes({ service, nowMs }: AclParts): readonly Route[] {
  const put = async (request: ApiRequest, name: string | undefined): Promise<void> => {
    await admit(request, FAILURE, mayManageSome(service, request, name));
    const body = decodeBody(FAILURE, await request.body(FAILURE), NAMESPACE_FIELDS);
    request.answerJson(await writeNamespace(service, request, name, body));
  };
  return [
    { path: '/v1/namespace', PUT: (request) => put(request, undefined) },
    {
      path: '/v1/namespaces',
      GET: async (request) => {
        const useCase = listNamespaces(filterOf(request.query('filter')));
        await answerList(service, request, useCase, true);
      },
    },
    {
      path: '/v1/namespace/:name',
      GET: async (request) => {
        const useCase = readNamespace(mustHave(request, 'name', 'namespace Name'));
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(outcome, MISSING);
      },
      PUT: (request) => put(request, request.param('name') || undefined),
      DELETE: async (request) => {
        const name = mustHave(request, 'name', 'namespace Name');
        request.answerJson(await deleteNamespace(service, request, name, nowMs()));
      },
    },
  ];
}
