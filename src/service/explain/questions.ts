/** Use cases that explain decisions: why a token may do something, or may not. */

import { QUESTIONS_MAX, questionProblem, TOO_MANY } from '../../acl/batch.js';
import { type Explanation, SHOWN_CHARS_MAX } from '../../acl/explain.js';
import { isNamespaceName, isUuid } from '../../acl/names.js';
import type { Asked } from '../../acl/reasons.js';
import { parseRulesSteps, type RulesOutcome } from '../../acl/rules.js';
import type { Steps } from '../../acl/steps.js';
import type { Access, Resource } from '../../acl/types.js';
import type { Draft, ExplainBody, SentQuestion } from '../../api/endpoints/explain.js';
import { ApiError, reject } from '../../base/errors.js';
import { lowerAscii } from '../../base/text.js';
import { resolveLinks } from '../../state/links.js';
import { namespaceProblem } from '../../state/lists.js';
import type { Token } from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { made, mustRead, readState, stateIndex } from '../common/reading.js';
import type { ReadOutcome, StateRead } from '../common/types.js';
import { ownerOf } from '../reads/long-work.js';
import { normaliseGrants } from '../rights/grants.js';
import type { Collected } from '../rights/origins.js';
import { answerPast, findThen, type PastQuestion, type RewindParts } from './rewind.js';
import { withoutSecrets } from './secrets.js';
import {
  again,
  type ExplainedParts,
  type ExplainParts,
  explained,
  findToken,
  identityIn,
  subjectOf,
} from './subject.js';

/** Resources of questions that batch authorization does not have. */
const MORE_RESOURCES = ['namespace'];

/** Checks a question and completes it. `ns`: its default namespace. Throws ApiError 400. */
export function askedOf(question: SentQuestion, ns: string, pointer: string): Asked {
  const problem = questionProblem(question, () => pointer, MORE_RESOURCES);
  if (problem !== undefined) throw new ApiError(problem);
  const { Resource: resource, Access = '', Segment: segment = '', Namespace = '' } = question;
  const namespace = Namespace === '' ? ns : lowerAscii(Namespace);
  if (!isNamespaceName(namespace)) {
    const shown = JSON.stringify(Namespace.slice(0, 64));
    const why = `Invalid field "Namespace": ${shown} cannot be a namespace`;
    reject('invalid', why, { pointer: `${pointer}/Namespace` });
  }
  const access = Access.toLowerCase() as Access;
  return { resource: resource as Resource, access, segment, namespace };
}

/** Returns an accessor in lower case. Throws ApiError 400 if it is none. */
export function accessorOf(sent: string, pointer?: string): string {
  if (isUuid(sent)) return sent.toLowerCase();
  const extra = pointer === undefined ? {} : { pointer };
  return reject('invalid', 'AccessorID is not a valid UUID', extra);
}

/** Explains the decisions on some questions. The value is undefined if there is no such token. */
export async function explainQuestions(
  parts: RewindParts,
  { caller, ns, options }: StateRead,
  body: ExplainBody,
  at?: string,
): Promise<ReadOutcome<string | undefined>> {
  const { AccessorID: sent = '', Draft: draft, Requests = [] } = body;
  if (sent !== '' && draft !== undefined) {
    reject('invalid', 'AccessorID and Draft exclude each other', { pointer: '/Draft' });
  }
  if (Requests.length > QUESTIONS_MAX) reject('invalid', TOO_MANY, { pointer: '/Requests' });
  if (Requests.length === 0) {
    reject('invalid', 'Requests needs at least one question', { pointer: '/Requests' });
  }
  const questions = Requests.map((one, i) => askedOf(one, ns, `/Requests/${i}`));
  const accessor = sent === '' ? undefined : accessorOf(sent, '/AccessorID');
  const { service } = parts;
  if (at !== undefined) {
    if (draft !== undefined)
      reject('invalid', 'Draft and the parameter "at" exclude each other', { pointer: '/Draft' });
    const answer: PastQuestion['answer'] = function* (past, context) {
      const find = yield* findThen(past, context, { caller, ns, accessor });
      return find && (yield* answers(past, find, questions));
    };
    return answerPast(parts, { caller, options }, { at, answer });
  }
  const outcome = await readState(service, { caller, options }, (context) => {
    if (draft !== undefined) {
      mustRead(context.authorizer, ns);
      return draftAnswers(parts, { ns, draft }, questions);
    }
    const token = findToken(context, { caller, ns, accessor }, parts.nowMs());
    return token && answers(parts, again(parts, token), questions);
  });
  const owner = ownerOf(service, caller);
  return made(outcome, (steps) => parts.longWork.runSoon(owner, 'explain', steps));
}

/** Does the same for a draft. Throws ApiError 400 for what a write would refuse. */
function* draftAnswers(
  parts: ExplainParts,
  { ns, draft }: { readonly ns: string; readonly draft: Draft },
  questions: readonly Asked[],
): Steps<string | undefined> {
  const { Rules = '' } = draft;
  const outcome = yield* parseRulesSteps(Rules, ns);
  const drafted = collectedDraft(parts.service.view, ns, draft, outcome);
  return yield* answers(parts, () => drafted, questions);
}

/** Explains the decisions on questions about one token. Returns the answer as JSON. */
function* answers(
  parts: ExplainedParts,
  find: () => Collected | undefined,
  questions: readonly Asked[],
): Steps<string | undefined> {
  const { view } = parts.service;
  let index = 1;
  const subject = yield* subjectOf(parts, find, () => {
    index = stateIndex(view);
  });
  if (subject === undefined) return undefined;
  const { token, authorizer } = subject;
  const Results: Explanation[] = [];
  const budget = { left: SHOWN_CHARS_MAX };
  for (const asked of questions) {
    Results.push(yield* explained(subject, asked, budget));
    yield;
  }
  const answer = {
    AccessorID: token.AccessorID,
    Description: token.Description,
    ...identityIn(view, token),
    Namespace: token.Namespace,
    Anonymous: authorizer.anonymous,
    DefaultPolicy: parts.defaultPolicy,
    Index: index,
    Results,
  };
  return withoutSecrets(view, JSON.stringify(answer));
}

/** Returns a draft as a token to collect. Throws ApiError 400 for what a write would refuse. */
export function collectedDraft(
  view: View,
  ns: string,
  draft: Draft,
  outcome: RulesOutcome,
): Collected {
  const problem = namespaceProblem(view, ns);
  if (problem !== undefined) throw new ApiError(problem);
  const { Rules: text = '' } = draft;
  const links = (target: 'policy' | 'role') => {
    const found = resolveLinks(
      view,
      target,
      ns,
      draft[target === 'policy' ? 'Policies' : 'Roles'] ?? [],
    );
    if ('problem' in found) throw new ApiError(found.problem);
    return found.ids.map((ID) => ({ ID }));
  };
  return inDraft(() => {
    if (!outcome.ok) throw new ApiError(outcome.refusal);
    const { rules } = outcome;
    const token = draftToken(ns, {
      Policies: links('policy'),
      Roles: links('role'),
      ...normaliseGrants(draft, { is: 'token', ns }),
    });
    return { token, first: DRAFT, extra: { text, rules } };
  });
}

/** The first step on the way from a draft. */
export const DRAFT = { Type: 'draft', ID: '', Name: '' } as const;

/** Returns a token that does not exist, with what it links and grants. */
export const draftToken = (
  ns: string,
  content: Pick<
    Token,
    'Policies' | 'Roles' | 'ServiceIdentities' | 'NodeIdentities' | 'TemplatedPolicies'
  >,
): Token => ({
  AccessorID: '',
  SecretID: '',
  Description: '',
  ...content,
  Local: false,
  CreateTime: '',
  Namespace: ns,
  Hash: '',
  CreateIndex: 0,
  ModifyIndex: 0,
});

/** Runs a check of a draft. Its refusals point into the draft. */
function inDraft<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { refusal } = error;
    throw new ApiError({ ...refusal, pointer: `/Draft${refusal.pointer ?? ''}` });
  }
}
