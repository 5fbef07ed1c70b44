/** Routes of decisions for other programs: the Authorization API 1.0 (AuthZEN), decisions.md 1. */
import type { TLSSocket } from 'node:tls';
import { ApiError, reject } from '../../base/errors.js';
import { anyObject } from '../../languages/fields.js';
import type { ReadOutcome } from '../../service/common/types.js';
import {
  type Decided,
  type EvaluateParts,
  type EvaluateRequest,
  evaluate,
  evaluateAll,
  subjectsOf,
} from '../../service/decisions/evaluate.js';
import type { Entity } from '../../service/decisions/questions.js';
import {
  batchOf,
  type Evaluation,
  evaluationOf,
  type Item,
  type Search,
  type Searched,
  searchOf,
  USUAL_REQUEST,
} from '../../service/decisions/requests.js';
import { withValue } from '../../service/decisions/resolving.js';
import {
  searchActions,
  searchResources,
  searchSubjects,
} from '../../service/decisions/searches.js';
import type { RefusedEvaluation } from '../../service/explain/decisions.js';
import { traceOf } from '../request/trace.js';
import { REQUEST_ID_MAX } from '../response/response-headers.js';
import type { ApiRequest, DeclaredRoute, Endpoint, JsonObject } from './types.js';

export interface AuthzenParts extends EvaluateParts {
  readonly authzen: {
    readonly url?: string | undefined;
    readonly anonymousCallers: boolean;
  };
  readonly decisions: {
    readonly noteEvaluation: (denied: RefusedEvaluation) => string | undefined;
  };
  /** Counts decisions that were answered, and how long requests for them took. */
  readonly counts: {
    readonly count: (counted: CountedDecision, times: number) => void;
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

export function authzenRoutes(parts: AuthzenParts): readonly DeclaredRoute[] {
  const common = { counts: 'read', isNew: true, isStandard: true } as const;
  const asking = (answer: Answer): { readonly POST: Endpoint } => ({
    POST: (request) => answerAsked(parts, request, answer),
  });
  const searching = <P>(
    missing: Searched,
    search: (parts: AuthzenParts, asked: EvaluateRequest, of: Search) => Promise<ReadOutcome<P>>,
  ) =>
    asking(async (_, request, body) => {
      const of = searchOf(body, missing, request.namespace());
      mustHaveToken(parts, request, missing === 'subject' ? [] : [of.subject]);
      const outcome = await search(parts, asks(parts, request), of);
      request.answerFound({ ...outcome, value: JSON.stringify(outcome.value) });
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
      ...searching('subject', searchSubjects),
    },
    {
      path: PATHS.search_resource_endpoint,
      ...common,
      ...searching('resource', searchResources),
    },
    { path: PATHS.search_action_endpoint, ...common, ...searching('action', searchActions) },
  ];
}

type Answer = (parts: AuthzenParts, request: ApiRequest, body: JsonObject) => Promise<void>;

/** Checks a request, reads its body and answers it. */
async function answerAsked(
  parts: AuthzenParts,
  request: ApiRequest,
  answer: Answer,
): Promise<void> {
  const sinceMs = performance.now();
  const { headers } = request.incoming;
  if (!parts.authzen.anonymousCallers) mustHaveToken(parts, request, []);
  if (requestId(request).length > REQUEST_ID_MAX)
    reject('invalid', `X-Request-ID is longer than ${REQUEST_ID_MAX} bytes`);
  const type = headers['content-type'] ?? '';
  if (type !== JSON_TYPE && type.split(';', 1)[0]!.trim().toLowerCase() !== JSON_TYPE)
    reject('invalid', `Content-Type is not ${JSON_TYPE}`);
  const reasons = request.query('reasons');
  if (reasons !== undefined && reasons !== 'all')
    reject('invalid', 'the query parameter "reasons" can only be "all"');
  try {
    await answer(parts, request, await request.body(FAILURE, anyObject, USUAL));
  } catch (error) {
    if (!(error instanceof ApiError) || error.refusal.code !== 'acl_not_found') throw error;
    reject('unauthenticated', 'The token of the request is not known, or has ended');
  }
  parts.counts.took((performance.now() - sinceMs) / 1000);
}

const USUAL = { usual: USUAL_REQUEST };
const JSON_TYPE = 'application/json';

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

const asks = (parts: AuthzenParts, request: ApiRequest): EvaluateRequest => ({
  caller: request.caller,
  ns: request.namespace(),
  options: request.singleReadOptions(),
  allReasons: request.query('reasons') === 'all',
  admit: (method) => request.spendJwtCheck(method),
  note: (noted) =>
    parts.decisions.noteEvaluation({
      ...noted,
      ...whereOf(request),
      requestId: requestId(request),
    }),
});

const answerOne: Answer = (parts, request, body) =>
  answerEvaluation(parts, request, evaluationOf(body));

async function answerEvaluation(
  parts: AuthzenParts,
  request: ApiRequest,
  evaluation: Evaluation,
): Promise<void> {
  mustHaveToken(parts, request, [evaluation.subject]);
  const outcome = await evaluate(parts, asks(parts, request), evaluation);
  const { decision, context } = outcome.value;
  parts.counts.count({ decision, code: context.code, subjectType: evaluation.subject.type }, 1);
  request.answerFound(withValue(outcome, textOf(outcome.value)));
}

const textOf = (decided: Decided): string => decided.text ?? JSON.stringify(decided);

async function answerAll(
  parts: AuthzenParts,
  request: ApiRequest,
  body: JsonObject,
): Promise<void> {
  const batch = batchOf(body);
  if (!('items' in batch)) return answerEvaluation(parts, request, batch);
  const { items } = batch;
  mustHaveToken(parts, request, subjectsOf(items));
  const outcome = await evaluateAll(parts, asks(parts, request), batch);
  countAll(parts, items, outcome.value);
  const value = `{"evaluations":[${outcome.value.map(textOf).join(',')}]}`;
  request.answerFound(withValue(outcome, value));
}

/** Counts the decisions of a batch; equal neighbours are counted together. */
function countAll(
  { counts }: AuthzenParts,
  items: readonly Item[],
  decided: readonly Decided[],
): void {
  let counted: CountedDecision | undefined;
  let times = 0;
  for (let at = 0; at < decided.length; at++) {
    const { decision, context } = decided[at]!;
    const { code } = context;
    const item = items[at]!;
    const subjectType = 'problem' in item ? '' : item.subject.type;
    if (counted?.code === code && counted.subjectType === subjectType) times += 1;
    else {
      if (counted !== undefined) counts.count(counted, times);
      counted = { decision, code, subjectType };
      times = 1;
    }
  }
  if (counted !== undefined) counts.count(counted, times);
}

/** Subjects about whom the holder of the credential may ask without a token, if that is allowed. */
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

/** A host that is part of an address, with or without a port. */
const HOST = /^[^/?#\s@]+$/;

/** Says where decisions are made, if that is an https address. */
function answerConfiguration({ authzen }: AuthzenParts, request: ApiRequest): void {
  const { socket, headers } = request.incoming;
  const isTls = (socket as Partial<TLSSocket>).encrypted === true;
  const { host = '' } = headers;
  const own = isTls && HOST.test(host) ? `https://${host}` : undefined;
  const base = authzen.url ?? own;
  if (base === undefined)
    reject('not_found', 'This server has no https address for decisions', {
      hint: 'set authzen.url: the specification requires an https address',
    });
  const endpoints = Object.entries(PATHS).map(([name, path]) => [name, base + path]);
  request.answerPublic({ policy_decision_point: base, ...Object.fromEntries(endpoints) }, 300);
}
