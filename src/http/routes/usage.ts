/** Routes of the use of tokens and auth methods: of one, of all, and the clean-up. */
import { CLEAN_UP } from '../../api/endpoints/usage.js';
import { maySomewhere } from '../../service/common/writing.js';
import { accessorOf } from '../../service/explain/questions.js';
import { cleanUp, listUsage, readMethodUsage, readUsage } from '../../service/usage/usage.js';
import { type AclParts, admit, mustHave, stateReadOf } from './common.js';
import { limitOf } from './pages.js';
import type { DeclaredRoute } from './types.js';

const FAILURE = 'Clean-up decoding failed';
/** Tokens of a list without `limit`. */
const TOKENS = 100;

export const usageRoutes = (parts: AclParts): readonly DeclaredRoute[] => {
  const { service } = parts;
  return [
    {
      path: '/v1/acl/token/:accessor/usage',
      isNew: true,
      GET: async (request) => {
        const accessor = accessorOf(mustHave(request, 'accessor', 'token AccessorID'));
        const useCase = readUsage(parts, request.namespace(), accessor);
        const options = request.singleReadOptions();
        const outcome = await service.read(request.caller, options, useCase);
        request.answerRead(outcome, 'token does not exist');
      },
    },
    {
      path: '/v1/acl/auth-method/:name/usage',
      isNew: true,
      GET: async (request) => {
        const name = mustHave(request, 'name', 'auth method name');
        const useCase = readMethodUsage(parts, request.namespace(), name);
        const options = request.singleReadOptions();
        request.answerRead(await service.read(request.caller, options, useCase));
      },
    },
    {
      path: '/v1/acl/usage',
      isNew: true,
      GET: async (request) => {
        const asked = stateReadOf(request, request.namespaceOrAll());
        const query = {
          unusedFor: request.query('unused-for'),
          method: request.query('authmethod'),
          limit: limitOf(request, TOKENS),
        };
        request.answerJson(await listUsage(parts, asked, query));
      },
    },
    {
      path: '/v1/acl/tokens/gc',
      isNew: true,
      POST: async (request) => {
        await admit(request, FAILURE, maySomewhere(service, request, 'acl', 'read'));
        const body = await request.decoded(FAILURE, CLEAN_UP);
        const ns = body.Namespace === '*' ? '*' : request.namespace(body.Namespace);
        const { caller, timeoutMs, reason, notes } = request;
        const requester = { caller, timeoutMs, reason, notes };
        request.answerValue(await cleanUp(parts, requester, ns, body));
      },
    },
  ];
};
