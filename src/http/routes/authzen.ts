/** Routes of decisions for other programs: the Authorization API 1.0 (AuthZEN), decisions.md 1. */
import type { TLSSocket } from 'node:tls';
import { ApiError, reject } from '../../base/errors.js';
import {
  type EvaluateParts,
  type EvaluateRequest,
  evaluate,
  evaluateAll,
  type NotedEvaluation,
} from '../../service/decisions/evaluate.js';
import { batchOf, type Entity, evaluationOf, searchOf } from '../../service/decisions/requests.js';
import {
  searchActions,
  searchResources,
  searchSubjects,
} from '../../service/decisions/searches.js';
import type { RefusedEvaluation } from '../../service/explain/decisions.js';
import { traceOf } from '../request/trace.js';
import { REQUEST_ID_MAX } from '../response/response-headers.js';
import type { ApiRequest, DeclaredRoute, Endpoint, JsonObject } from './types.js';

export interface AuthzenParts extends Omit<EvaluateParts, 'noteEvaluation'> {
  readonly authzen: {
    readonly url?: string | undefined;
    readonly anonymousCallers: boolean;
  };
  readonly decisions: {
    readonly noteEvaluation: (denied: RefusedEvaluation) => string | undefined;
  };
  /** Counts decisions that were answered, and how long requests for them took. */
  readonly counts: {
    readonly count: (counted: CountedDecision) => void;
    readonly took: (seconds: number) => void;
  };
}

/** A decision as metrics count it. */
export interface CountedDecision {
  readonly decision: boolean;
  readonly code: string;
  readonly subjectType: string;
}

const FAILURE = 'The body cannot be read';

/** The paths by the names that the configuration gives them. */
const PATHS = {
  access_evaluation_endpoint: '/access/v1/evaluation',
  access_evaluations_endpoint: '/access/v1/evaluations',
  search_subject_endpoint: '/access/v1/search/subject',
  search_resource_endpoint: '/access/v1/search/resource',
  search_action_endpoint: '/access/v1/search/action',
} as const;

/** The routes of decisions. */
export function authzenRoutes(parts: AuthzenParts): readonly DeclaredRoute[] {
  const common = { counts: 'read', isNew: true, isStandard: true } as const;
  const asking = (endpoint: (asked: Asked) => Promise<void>): { readonly POST: Endpoint } => ({
    POST: async (request) => {
      const sinceMs = performance.now();
      await endpoint(await askedIn(parts, request));
      parts.counts.took((performance.now() - sinceMs) / 1000);
    },
  });
  return [
    {
      path: '/.well-known/authzen-configuration',
      everywhere: true,
      isNew: true,
      isStandard: true,
      GET: (request) => answerConfiguration(parts, request),
    },
    { path: PATHS.access_evaluation_endpoint, ...common, ...asking(answerOne) },
    { path: PATHS.access_evaluations_endpoint, ...common, ...asking(answerAll) },
    {
      path: PATHS.search_subject_endpoint,
      ...common,
      ...asking(async ({ request, body, use, parts }) => {
        const search = searchOf(body, 'subject');
        mustHaveToken(parts, request, []);
        request.answerFound(await known(searchSubjects(use, asks(request), search)));
      }),
    },
    {
      path: PATHS.search_resource_endpoint,
      ...common,
      ...asking(async ({ request, body, use, parts }) => {
        const search = searchOf(body, 'resource');
        mustHaveToken(parts, request, [search.subject]);
        request.answerFound(await known(searchResources(use, asks(request), search)));
      }),
    },
    {
      path: PATHS.search_action_endpoint,
      ...common,
      ...asking(async ({ request, body, use, parts }) => {
        const search = searchOf(body, 'action');
        mustHaveToken(parts, request, [search.subject]);
        request.answerFound(await known(searchActions(use, asks(request), search)));
      }),
    },
  ];
}

/** A request with its body. */
interface Asked {
  readonly parts: AuthzenParts;
  readonly request: ApiRequest;
  readonly body: JsonObject;
  /** What decides it, and remembers its denials. */
  readonly use: EvaluateParts;
}

async function askedIn(parts: AuthzenParts, request: ApiRequest): Promise<Asked> {
  const { headers } = request.incoming;
  if (!parts.authzen.anonymousCallers) mustHaveToken(parts, request, []);
  const id = requestId(request);
  if (id.length > REQUEST_ID_MAX)
    reject('invalid', `X-Request-ID is longer than ${REQUEST_ID_MAX} bytes`);
  const type = (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  if (type !== 'application/json') reject('invalid', 'Content-Type is not application/json');
  const reasons = request.query('reasons');
  if (reasons !== undefined && reasons !== 'all')
    reject('invalid', 'the query parameter "reasons" can only be "all"');
  const body = await known(request.body(FAILURE));
  const noteEvaluation = (noted: NotedEvaluation) =>
    parts.decisions.noteEvaluation({ ...noted, ...whereOf(request), requestId: id });
  return { parts, request, body, use: { ...parts, noteEvaluation } };
}

const requestId = ({ incoming: { headers } }: ApiRequest): string => {
  const id = headers['x-request-id'];
  return typeof id === 'string' ? id : '';
};

function whereOf({ incoming, method, caller }: ApiRequest) {
  const { url = '', socket } = incoming;
  return {
    method,
    path: url.replace(/\?.*/s, ''),
    remoteAddress: (socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    traceId: traceOf(incoming),
    caller,
  };
}

const asks = (request: ApiRequest): EvaluateRequest => ({
  caller: request.caller,
  ns: request.namespace(),
  options: request.readOptions(false),
  allReasons: request.query('reasons') === 'all',
  admit: (method) => request.spendJwtCheck(method),
});

async function answerOne({ parts, request, body, use }: Asked): Promise<void> {
  const evaluation = evaluationOf(body);
  await answerEvaluation({ parts, request, body, use }, evaluation);
}

async function answerEvaluation(
  { parts, request, use }: Asked,
  evaluation: ReturnType<typeof evaluationOf>,
): Promise<void> {
  mustHaveToken(parts, request, [evaluation.subject]);
  const outcome = await known(evaluate(use, asks(request), evaluation));
  const { decision, context } = outcome.value;
  parts.counts.count({ decision, code: context.code, subjectType: evaluation.subject.type });
  request.answerFound(outcome);
}

async function answerAll(asked: Asked): Promise<void> {
  const { parts, request, body, use } = asked;
  const batch = batchOf(body);
  if (!('items' in batch)) return answerEvaluation(asked, batch);
  const { items } = batch;
  const subjects = items.flatMap((item) => ('problem' in item ? [] : [item.subject]));
  mustHaveToken(parts, request, subjects);
  const outcome = await known(evaluateAll(use, asks(request), batch));
  for (const [at, { decision, context }] of outcome.value.entries()) {
    const item = items[at]!;
    const subjectType = 'problem' in item ? '' : item.subject.type;
    parts.counts.count({ decision, code: context.code, subjectType });
  }
  request.answerFound({ ...outcome, value: { evaluations: outcome.value } });
}

/** Subjects about whom who holds the credential may ask without a token, if that is permitted. */
const CREDENTIALS = ['token_secret', 'jwt'];

/** Throws ApiError 401 unless the request may come without a token, or has one. */
function mustHaveToken(
  { authzen }: AuthzenParts,
  { caller }: ApiRequest,
  subjects: readonly Entity[],
): void {
  if (caller.tokenKey !== null) return;
  const isEnough = subjects.length > 0 && subjects.every(({ type }) => CREDENTIALS.includes(type));
  if (authzen.anonymousCallers && isEnough) return;
  reject('unauthenticated', 'The request needs a token');
}

/** Waits for a decision. A caller whose token is not known is not authenticated. */
async function known<T>(decided: Promise<T>): Promise<T> {
  try {
    return await decided;
  } catch (error) {
    if (!(error instanceof ApiError) || error.refusal.code !== 'acl_not_found') throw error;
    return reject('unauthenticated', 'The token of the request is not known, or has ended');
  }
}

/** Says where decisions are made, if that is an https address. */
function answerConfiguration({ authzen }: AuthzenParts, request: ApiRequest): void {
  const { socket, headers } = request.incoming;
  const isTls = (socket as Partial<TLSSocket>).encrypted === true;
  const own = isTls && headers.host !== undefined ? `https://${headers.host}` : undefined;
  const base = authzen.url ?? own;
  if (base === undefined)
    reject('not_found', 'Decisions have no https address here', {
      hint: 'set authzen.url: the specification wants an https address',
    });
  const endpoints = Object.entries(PATHS).map(([name, path]) => [name, base + path]);
  request.answerPublic({ policy_decision_point: base, ...Object.fromEntries(endpoints) }, 300);
}
