/** Routes that explain rights: of a token, of a decision, of questions, and of a login. */
import { EXPLAIN, WHO_CAN } from '../../api/endpoints/explain.js';
import { LOGIN_EXPLAIN } from '../../api/endpoints/login-explain.js';
import { reject } from '../../base/errors.js';
import type { Service } from '../../service/common/types.js';
import { findDecision, NO_DECISION, readDecision } from '../../service/explain/decision-reads.js';
import { EffectiveRights } from '../../service/explain/effective.js';
import { explainLogin } from '../../service/explain/login.js';
import { accessorOf, explainQuestions } from '../../service/explain/questions.js';
import { RightsFeed } from '../../service/explain/rights-feed.js';
import { whoCan } from '../../service/explain/who-can.js';
import { type AclParts, answerPast, stateReadOf, UNDECODED } from './common.js';
import { switchOf } from './pages.js';
import type { ApiRequest, DeclaredRoute, Endpoint } from './types.js';

const NO_METHOD = 'auth method does not exist';
const NO_TOKEN = 'token does not exist';

/** They stand before the routes of tokens, whose paths they extend. */
export function explainRoutes(parts: AclParts): readonly DeclaredRoute[] {
  const rights = new EffectiveRights(parts);
  const feed = new RightsFeed(parts);
  return [
    {
      path: '/v1/acl/token/self/rights',
      isNew: true,
      adds: true,
      isFeed: true,
      GET: (request) => answerFeed(feed, request),
    },
    {
      path: '/v1/acl/token/:accessor/rights',
      isNew: true,
      adds: true,
      isFeed: true,
      GET: (request) => answerFeed(feed, request, accessorOf(request.param('accessor'))),
    },
    {
      path: '/v1/acl/token/self/effective',
      isNew: true,
      adds: true,
      GET: (request) => answerRights(rights, parts.service, request),
    },
    {
      path: '/v1/acl/token/:accessor/effective',
      isNew: true,
      adds: true,
      GET: (request) =>
        answerRights(rights, parts.service, request, accessorOf(request.param('accessor'))),
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
  service: Service,
  request: ApiRequest,
  accessor?: string,
): Promise<void> {
  const whose = { caller: request.caller, ns: request.namespace(), accessor };
  const at = request.query('at');
  if (at !== undefined && request.query('index') !== undefined)
    reject('invalid', 'Parameters "at" and "index" exclude each other');
  const outcome =
    at === undefined
      ? rights.read(whose, request.readOptions())
      : rights.readPast(whose, request.singleReadOptions(), at);
  await answerPast(service, request, outcome, NO_TOKEN);
}

/** One entity tag, which a client sends that has a feed. */
const TAG = /^(?:W\/)?("[^"]*")$/;

async function answerFeed(feed: RightsFeed, request: ApiRequest, accessor?: string): Promise<void> {
  const whose = { caller: request.caller, ns: request.namespace(), accessor };
  const sources = switchOf(request, 'sources');
  const [, shown] = TAG.exec(request.incoming.headers['if-none-match'] ?? '') ?? [];
  const options = { ...request.readOptions(), shown };
  const { value, ...meta } = await feed.read(whose, options, sources);
  if (value === undefined) request.answerMissing(meta, NO_TOKEN);
  else request.answerTagged({ ...meta, value });
}

async function answerDecision(parts: AclParts, request: ApiRequest): Promise<void> {
  const { caller } = request;
  const decision = await findDecision(parts, request.param('id'));
  const options = request.singleReadOptions();
  request.answerRead(await readDecision(parts, { caller, options }, decision), NO_DECISION);
}

async function answerQuestions(parts: AclParts, request: ApiRequest): Promise<void> {
  const body = await request.decoded(UNDECODED, EXPLAIN);
  const asked = stateReadOf(request, request.namespace(body.Namespace));
  const read = explainQuestions(parts, asked, body, request.query('at'));
  await answerPast(parts.service, request, read, NO_TOKEN);
}

async function answerWhoCan(parts: AclParts, request: ApiRequest): Promise<void> {
  const body = await request.decoded(UNDECODED, WHO_CAN);
  const isGone = (): boolean => request.incoming.socket.destroyed;
  const asked = { ...stateReadOf(request), isGone };
  const read = whoCan(parts, asked, body, { at: request.query('at') });
  await answerPast(parts.service, request, read);
}

async function answerLogin(parts: AclParts, request: ApiRequest): Promise<void> {
  const body = await request.decoded(UNDECODED, LOGIN_EXPLAIN);
  const asked = stateReadOf(request, request.namespace(body.Namespace));
  request.answerRead(await explainLogin(parts, asked, body), NO_METHOD);
}
