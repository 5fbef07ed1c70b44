/** Routes that explain what tokens may do, who may do something, and what a login comes to. */
import { EXPLAIN, LOGIN_EXPLAIN, WHO_CAN } from '../../api/bodies/questions.js';
import { decodeBody } from '../../service/common/decode.js';
import { findDecision, NO_DECISION, readDecision } from '../../service/explain/decision-reads.js';
import { EffectiveRights } from '../../service/explain/effective.js';
import { explainLogin } from '../../service/explain/login.js';
import { accessorOf, explainQuestions } from '../../service/explain/questions.js';
import { whoCan } from '../../service/explain/who-can.js';
import type { AclParts } from './acl-common.js';
import type { ApiRequest, DeclaredRoute, Endpoint } from './types.js';

const FAILURE = 'Failed to decode request body';
const NO_METHOD = 'auth method does not exist';
const NO_TOKEN = 'token does not exist';

/** The routes of explanations. They stand before those of tokens, whose paths they extend. */
export function explainRoutes(parts: AclParts): readonly DeclaredRoute[] {
  const rights = new EffectiveRights(parts);
  return [
    {
      path: '/v1/acl/token/self/effective',
      isNew: true,
      adds: true,
      GET: (request) => answerRights(rights, request),
    },
    {
      path: '/v1/acl/token/:accessor/effective',
      isNew: true,
      adds: true,
      GET: (request) => answerRights(rights, request, accessorOf(request.param('accessor'))),
    },
    {
      path: '/v1/acl/decision/:id',
      isNew: true,
      GET: (request) => answerDecision(parts, request),
    },
    asking('/v1/acl/authorize/explain', (request) => answerQuestions(parts, request)),
    asking('/v1/acl/who-can', (request) => answerWhoCan(parts, request)),
    asking('/v1/acl/login/explain', (request) => answerLogin(parts, request)),
  ];
}

/** Returns a route that reads, with a question in its body. */
function asking(path: Asking, endpoint: Endpoint): DeclaredRoute {
  return { path, counts: 'read', isNew: true, POST: endpoint };
}

type Asking = '/v1/acl/authorize/explain' | '/v1/acl/who-can' | '/v1/acl/login/explain';

async function answerRights(
  rights: EffectiveRights,
  request: ApiRequest,
  accessor?: string,
): Promise<void> {
  const whose = { caller: request.caller, ns: request.namespace(), accessor };
  request.answerRead(await rights.read(whose, request.readOptions()), NO_TOKEN);
}

async function answerDecision(parts: AclParts, request: ApiRequest): Promise<void> {
  const { caller } = request;
  const decision = await findDecision(parts, request.param('id'));
  const options = request.readOptions(false);
  request.answerRead(await readDecision(parts, { caller, options }, decision), NO_DECISION);
}

async function answerQuestions(parts: AclParts, request: ApiRequest): Promise<void> {
  const body = decodeBody(FAILURE, await request.body(FAILURE), EXPLAIN);
  const { caller } = request;
  const ns = request.namespace(body.Namespace);
  const asked = { caller, ns, options: request.readOptions(false) };
  request.answerRead(await explainQuestions(parts, asked, body), NO_TOKEN);
}

async function answerWhoCan(parts: AclParts, request: ApiRequest): Promise<void> {
  const { caller, incoming } = request;
  const body = decodeBody(FAILURE, await request.body(FAILURE), WHO_CAN);
  const options = request.readOptions(false);
  const isGone = (): boolean => incoming.socket.destroyed;
  const asked = { caller, ns: request.namespace(), options, isGone };
  request.answerRead(await whoCan(parts, asked, body));
}

async function answerLogin(parts: AclParts, request: ApiRequest): Promise<void> {
  const body = decodeBody(FAILURE, await request.body(FAILURE), LOGIN_EXPLAIN);
  const { caller } = request;
  const ns = request.namespace(body.Namespace);
  const asked = { caller, ns, options: request.readOptions(false) };
  request.answerRead(await explainLogin(parts, asked, body), NO_METHOD);
}
