/** Routes of roles. */
import { decodeBody } from '../service/decode.js';
import { filterOf } from '../service/filters.js';
import {
  deleteRole,
  listRoles,
  ROLE_FIELDS,
  readRole,
  readRoleByName,
  writeRole,
} from '../service/roles.js';
import { mayWriteSomewhere } from '../service/writing.js';
import { type AclParts, answerList, mustHave, writeOf } from './acl-common.js';
import { admit } from './admit.js';
import type { ApiRequest, Route } from './types.js';

const FAILURE = 'Role decoding failed';
const MISSING = 'Requested role does not exist: ACL not found';

export function roleRoutes({ service }: AclParts): readonly Route[] {
  const put = async (request: ApiRequest, id: string | undefined): Promise<void> => {
    await admit(request, FAILURE, mayWriteSomewhere(service, request));
    const body = decodeBody(FAILURE, await request.body(FAILURE), ROLE_FIELDS);
    const write = writeOf(request, body.Namespace);
    request.answerJson(await writeRole(service, write, id, body));
  };
  return [
    { path: '/v1/acl/role', PUT: (request) => put(request, undefined) },
    {
      path: '/v1/acl/roles',
      GET: async (request) => {
        const useCase = listRoles(request.namespaceOrAll(), {
          policy: request.query('policy'),
          filter: filterOf(request.query('filter')),
        });
        await answerList(service, request, useCase);
      },
    },
    {
      path: '/v1/acl/role/name/:name',
      GET: async (request) => {
        const name = mustHave(request, 'name', 'role Name');
        const useCase = readRoleByName(request.namespace(), name);
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(outcome, MISSING);
      },
    },
    {
      path: '/v1/acl/role/:id',
      GET: async (request) => {
        const useCase = readRole(request.namespace(), mustHave(request, 'id', 'role ID'));
        const outcome = await service.read(request.caller, request.readOptions(), useCase);
        request.answerRead(outcome, MISSING);
      },
      PUT: (request) => put(request, request.param('id') || undefined),
      DELETE: async (request) => {
        const id = mustHave(request, 'id', 'role ID');
        request.answerJson(await deleteRole(service, writeOf(request), id));
      },
    },
  ];
}
