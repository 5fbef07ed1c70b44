/** Routes of questions: explanations, decisions, batches of accesses, and lint. */
import { authorizeBatch, type Decision, type Question } from '../../acl/batch.js';
import { EXPLAIN, WHO_CAN } from '../../api/endpoints/explain.js';
import { POLICY_LINT, RULE_LINT } from '../../api/endpoints/lint.js';
import { LOGIN_EXPLAIN } from '../../api/endpoints/login-explain.js';
import { AUTHORIZE } from '../../api/endpoints/tokens.js';
import { ApiError, reject } from '../../base/errors.js';
import type { Type } from '../../languages/fields.js';
import { usualList, usualObject, usualText } from '../../languages/usual-json.js';
import { decodeValue } from '../../service/common/decode.js';
import type { ReadOutcome, Service, StateRead } from '../../service/common/types.js';
import { maySomewhere } from '../../service/common/writing.js';
import { findDecision, NO_DECISION, readDecision } from '../../service/explain/decision-reads.js';
import { EffectiveRights } from '../../service/explain/effective.js';
import { explainLogin } from '../../service/explain/login.js';
import { accessorOf, explainQuestions } from '../../service/explain/questions.js';
import { RightsFeed } from '../../service/explain/rights-feed.js';
import { whoCan } from '../../service/explain/who-can.js';
import { clusterLint, severityOf } from '../../service/lint/cluster-lint.js';
import { policyLint, ruleLint } from '../../service/lint/lint.js';
import { type AclParts, admit, answerPast, UNDECODED } from './common.js';
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
      : rights.readPast(whose, request.readOptions(false), at);
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
  const options = request.readOptions(false);
  request.answerRead(await readDecision(parts, { caller, options }, decision), NO_DECISION);
}

async function answerQuestions(parts: AclParts, request: ApiRequest): Promise<void> {
  const body = await request.decoded(UNDECODED, EXPLAIN);
  const { caller } = request;
  const ns = request.namespace(body.Namespace);
  const asked = { caller, ns, options: request.readOptions(false) };
  const read = explainQuestions(parts, asked, body, request.query('at'));
  await answerPast(parts.service, request, read, NO_TOKEN);
}

async function answerWhoCan(parts: AclParts, request: ApiRequest): Promise<void> {
  const { caller, incoming } = request;
  const body = await request.decoded(UNDECODED, WHO_CAN);
  const options = request.readOptions(false);
  const isGone = (): boolean => incoming.socket.destroyed;
  const asked = { caller, ns: request.namespace(), options, isGone };
  const read = whoCan(parts, asked, body, { at: request.query('at') });
  await answerPast(parts.service, request, read);
}

async function answerLogin(parts: AclParts, request: ApiRequest): Promise<void> {
  const body = await request.decoded(UNDECODED, LOGIN_EXPLAIN);
  const { caller } = request;
  const ns = request.namespace(body.Namespace);
  const asked = { caller, ns, options: request.readOptions(false) };
  request.answerRead(await explainLogin(parts, asked, body), NO_METHOD);
}

/** Lint of policies, of binding rules, and of all that is stored. */
export function lintRoutes(parts: AclParts): readonly DeclaredRoute[] {
  const { service } = parts;
  const route = <B extends { readonly Namespace?: string | undefined }>(
    path: '/v1/acl/policy/lint' | '/v1/acl/binding-rule/lint',
    noun: string,
    type: Type<unknown, B>,
    lint: (request: StateRead, body: B) => Promise<ReadOutcome<string | undefined>>,
  ): DeclaredRoute => ({
    path,
    counts: 'read',
    isNew: true,
    adds: true,
    POST: async (request) => {
      await admit(request, UNDECODED, maySomewhere(service, request, 'acl', 'read'));
      const body = await request.decoded(UNDECODED, type);
      const options = request.readOptions(false);
      const ns = request.namespace(body.Namespace);
      const outcome = await lint({ caller: request.caller, ns, options }, body);
      request.answerRead(outcome, `Requested ${noun} does not exist`);
    },
  });
  return [
    route('/v1/acl/policy/lint', 'policy', POLICY_LINT, (request, body) =>
      policyLint(service, request, body),
    ),
    route('/v1/acl/binding-rule/lint', 'binding rule', RULE_LINT, (request, body) =>
      ruleLint(parts, request, body),
    ),
    {
      path: '/v1/acl/lint',
      isNew: true,
      GET: async (request) => {
        const severity = severityOf(request.query('severity'));
        const { caller } = request;
        const options = request.readOptions(false);
        const ns = request.namespaceOrAll();
        request.answerRead(await clusterLint(parts, { caller, options }, { ns, severity }));
      },
    },
  ];
}

const MEMBERS: readonly string[] = ['Resource', 'Access', 'Segment'] satisfies (keyof Question)[];
/** Whether questions need no decoding, which takes a sixth of the time of a batch. */
const arePlain = (sent: readonly unknown[]): sent is readonly Question[] => sent.every(isPlain);

function isPlain(sent: unknown): boolean {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return false;
  const members = sent as Readonly<Record<string, unknown>>;
  for (const name in members)
    if (!MEMBERS.includes(name) || !isTextOrAbsent(members[name])) return false;
  return true;
}

const isTextOrAbsent = (value: unknown): boolean =>
  typeof value === 'string' || value === undefined;

/** Questions as most clients send them. */
const USUAL = usualList(
  usualObject(
    { Resource: usualText, Access: usualText, Segment: usualText },
    (Resource, Access, Segment) => ({ Resource, Access, Segment }),
  ),
);

/** Texts that JSON has as they are. */
const AS_IT_IS = /^[ !#-[\]-~]*$/;

/** Returns a decision as JSON. Resource and access are known words. */
function decisionText({ Resource, Access, Segment, Allow }: Decision): string {
  const plain = `{"Resource":"${Resource}","Access":"${Access}"`;
  if (Segment === undefined) return `${plain},"Allow":${Allow}}`;
  const segment = AS_IT_IS.test(Segment) ? `"${Segment}"` : JSON.stringify(Segment);
  return `${plain},"Segment":${segment},"Allow":${Allow}}`;
}

/** The route of `/v1/internal/acl/authorize`. */
export function authorizeRoutes(service: Service): readonly DeclaredRoute[] {
  return [
    {
      path: '/v1/internal/acl/authorize',
      counts: 'read',
      POST: async (request) => {
        const options = { small: true, usual: USUAL };
        const sent = (await request.bodyValue(UNDECODED, AUTHORIZE, options)) ?? [];
        if (!Array.isArray(sent)) reject('invalid', `${UNDECODED}: expected a list of questions`);
        const questions = arePlain(sent) ? sent : decodeValue(UNDECODED, sent, AUTHORIZE);
        const ns = request.namespace();
        // a read like others: rights that were removed before the request do not count
        const { value } = await service.read(
          request.caller,
          request.readOptions(false),
          ({ authorizer }) => {
            const outcome = authorizeBatch(authorizer, questions, ns);
            if (!outcome.ok) throw new ApiError(outcome.refusal);
            return { value: outcome.decisions, index: 1, keys: [] };
          },
        );
        request.answerJson(`[${value.map(decisionText).join(',')}]`);
      },
    },
  ];
}
