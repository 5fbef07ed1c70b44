/** Routes that explain: why a token may do something, what it may do at all. */
import { decodeBody } from '../service/decode.js';
import { findDecision, NO_DECISION, readDecision } from '../service/explain/decision-reads.js';
import { readEffectiveRights } from '../service/explain/effective.js';
import { explainLogin, LOGIN_EXPLAIN } from '../service/explain/login.js';
import { accessorOf, EXPLAIN, explainQuestions } from '../service/explain/questions.js';
import type { AclParts } from './acl-common.js';
import type { ApiRequest, Route } from './types.js';

const FAILURE = 'Failed to decode request body';
/** Parameters of reads that block. */
const BLOCKING = ['index', 'wait'];
const NO_METHOD = 'auth method does not exist';
const NO_TOKEN = 'token does not exist';

/** The routes of explanations. */
export function explainRoutes(parts: AclParts): readonly Route[] {
  const { service } = parts;
  const answerRights = async (request: ApiRequest, accessor?: string): Promise<void> => {
    const { caller } = request;
    const whose = { caller, ns: request.namespace(), accessor };
    const useCase = readEffectiveRights(parts, whose);
    request.answerRead(await service.read(caller, request.readOptions(), useCase), NO_TOKEN);
  };
  return [
    {
      path: '/v1/acl/token/self/effective',
      parameters: BLOCKING,
      adds: true,
      GET: (request) => answerRights(request),
    },
    {
      path: '/v1/acl/token/:accessor/effective',
      parameters: BLOCKING,
      adds: true,
      GET: (request) => answerRights(request, accessorOf(request.param('accessor'))),
    },
    {
      path: '/v1/acl/decision/:id',
      parameters: [],
      GET: async (request) => {
        const { caller } = request;
        const decision = await findDecision(parts, request.param('id'));
        const useCase = readDecision(parts, caller, decision);
        request.answerRead(
          await service.read(caller, request.readOptions(false), useCase),
          NO_DECISION,
        );
      },
    },
    {
      path: '/v1/acl/login/explain',
      counts: 'read',
      parameters: [],
      POST: async (request) => {
        const body = decodeBody(FAILURE, await request.body(FAILURE), LOGIN_EXPLAIN);
        const ns = request.namespace(body.Namespace);
        const asked = { caller: request.caller, ns, options: request.readOptions(false) };
        request.answerRead(await explainLogin(parts, asked, body), NO_METHOD);
      },
    },
    {
      path: '/v1/acl/authorize/explain',
      counts: 'read',
      parameters: [],
      POST: async (request) => {
        const body = decodeBody(FAILURE, await request.body(FAILURE), EXPLAIN);
        const ns = request.namespace(body.Namespace);
        const options = request.readOptions(false);
        const { caller } = request;
        const useCase = explainQuestions(parts, caller, ns, body);
        request.answerRead(await service.read(caller, options, useCase), NO_TOKEN);
      },
    },
  ];
}
