/** Routes of policies. */
import { decodeBody } from '../service/decode.js';
import { filterOf } from '../service/filters.js';
import {
  deletePolicy,
  listPolicies,
  POLICY_FIELDS,
  readPolicy,
  readPolicyByName,
  writePolicy,
} from '../service/policies.js';
import { mayWriteSomewhere } from '../service/writing.js';
import { type AclParts, answerList, mustHave, writeOf } from './acl-common.js';
import { admit } from './admit.js';
import type { ApiRequest, Route } from './types.js';

const FAILURE = 'Policy decoding failed';
const MISSING = 'Requested policy does not exist: ACL not found';

export function policyRoutes({ service }: AclParts): readonly Route[] {
  const put = async (request: ApiRequest, id: string | undefined): Promise<void> => {
    await admit(request, FAILURE, mayWriteSomewhere(service, request));
    const body = decodeBody(FAILURE, await request.body(FAILURE), POLICY_FIELDS);
    const write = writeOf(request, body.Namespace);
    request.answerJson(await writePolicy(service, write, id, body));
  };
  return [
    { path: '/v1/acl/policy', PUT: (request) => put(request, undefined) },
    {
      path: '/v1/acl/policies',
      GET: async (request) => {
        const useCase = listPolicies(request.namespaceOrAll(), filterOf(request.query('filter')));
        await answerList(service, request, useCase);
      },
    },
    {
      path: '/v1/acl/policy/name/:name',
      GET: async (request) => {
        const name = mustHave(request, 'name', 'policy Name');
        const useCase = readPolicyByName(request.namespace(), name);
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(outcome, MISSING);
      },
    },
    {
      path: '/v1/acl/policy/:id',
      GET: async (request) => {
        const useCase = readPolicy(request.namespace(), mustHave(request, 'id', 'policy ID'));
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(outcome, MISSING);
      },
      PUT: (request) => put(request, request.param('id') || undefined),
      DELETE: async (request) => {
        const id = mustHave(request, 'id', 'policy ID');
        request.answerJson(await deletePolicy(service, writeOf(request), id));
      },
    },
  ];
}
