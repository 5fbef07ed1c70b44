/** The use case that decides for other programs (decisions.md 1): evaluations and batches of them. */
import type { Asked } from '../../acl/reasons.js';
import { ApiError, reject } from '../../base/errors.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import type { AuthMethod } from '../../state/methods.js';
import { nextTurn } from '../common/event-loop.js';
import { stateIndex } from '../common/reading.js';
import type { ReadContext, ReadOptions, ReadOutcome, StateRead } from '../common/types.js';
import type { ExplainParts } from '../explain/subject.js';
import { ownerOf, type WorkOwner } from '../reads/long-work.js';
import { type Claim, claimOf, type Proof, type Proofs } from './proofs.js';
import { questionOf } from './questions.js';
import type { Batch, Entity, Evaluation, Item, Semantics } from './requests.js';
import type { Sentences } from './sentences.js';
import {
  type Holder,
  type NoHolder,
  type Resolved,
  type SubjectParts,
  Subjects,
} from './subjects.js';

/** What decisions are made with. */
export interface EvaluateParts extends SubjectParts, ExplainParts {
  readonly authorizers: ExplainParts['authorizers'];
  readonly proofs: Proofs;
  readonly sentences: Sentences;
  readonly noteEvaluation: (noted: NotedEvaluation) => string | undefined;
  /** Called with the accessor of a token that a decision is about. */
  readonly onUse: (accessor: string) => void;
}

/** A denial, as it is remembered. */
export interface NotedEvaluation {
  /** The token that decided; undefined if none did. */
  readonly holder: Holder | undefined;
  readonly asked: Asked | undefined;
  readonly home: string;
  readonly subjectType: string;
  readonly message: string;
}

/** Who asks for decisions, and how. */
export interface EvaluateRequest extends StateRead {
  /** Whether allowed accesses are explained too. */
  readonly allReasons: boolean;
  /** Called before a JWT of a method is verified. Throws ApiError `too_many`. */
  readonly admit: (method: string) => void;
}

/** Why a decision is as it is. */
export type Code =
  | 'allowed'
  | 'denied'
  | 'unknown_subject'
  | 'unknown_action'
  | 'refused'
  | 'blocked'
  | 'forbidden'
  | 'invalid';

/** A decision as it is answered. */
export interface Decided {
  readonly decision: boolean;
  readonly context: {
    readonly id: string;
    readonly code: Code;
    readonly reason_admin?: { readonly en: string };
    readonly reason_user?: { readonly en: string };
    readonly decision_id?: string;
    readonly index: number;
    readonly layer?: string;
    readonly truncated?: true;
    readonly error?: { readonly status: number; readonly message: string };
  };
}

/** Different JWTs of one request: each may take a verification. */
const JWTS_MAX = 16;
/** Items that are decided in one turn of the event loop. */
const ITEMS_PER_TURN = 64;
/** Milliseconds of one turn in which subjects are resolved. */
const TURN_MS = 5;
/** Times that a method may change while its JWTs are verified. */
const ROUNDS_MAX = 3;
/** Characters of an id that the sentence for users shows. */
const ID_SHOWN = 128;

/** Decides one question. The value is the decision as answered. Throws ApiError. */
export async function evaluate(
  parts: EvaluateParts,
  request: EvaluateRequest,
  evaluation: Evaluation,
): Promise<ReadOutcome<Decided>> {
  const outcome = await resolved(parts, request, [evaluation.subject]);
  const deciding = new Deciding(parts, request, outcome.value, outcome.index);
  const value = await deciding.decided(evaluation, 0);
  const { code, reason_admin } = value.context;
  if (code === 'forbidden') reject('permission_denied', `Permission denied: ${reason_admin!.en}`);
  return { ...outcome, value };
}

/** Decides the questions of a batch on one state, in order. Throws ApiError. */
export async function evaluateAll(
  parts: EvaluateParts,
  request: EvaluateRequest,
  { items, semantics }: Batch,
): Promise<ReadOutcome<readonly Decided[]>> {
  const subjects = items.flatMap((item) => ('problem' in item ? [] : [item.subject]));
  const outcome = await resolved(parts, request, subjects);
  const deciding = new Deciding(parts, request, outcome.value, outcome.index);
  const value: Decided[] = [];
  for (const [at, item] of items.entries()) {
    if (at > 0 && at % ITEMS_PER_TURN === 0) await nextTurn();
    const decided = await deciding.item(item, at);
    value.push(decided);
    if (ends(semantics, decided.decision)) break;
  }
  return { ...outcome, value };
}

const ends = (semantics: Semantics, decision: boolean): boolean =>
  semantics === 'deny_on_first_deny'
    ? !decision
    : semantics === 'permit_on_first_permit' && decision;

/** What a subject resolves to: holders, or why there are none; or why it is not valid. */
type Outcome = Resolved | NoHolder | { readonly code: 'invalid'; readonly reason: string };

/** What subjects resolve to, by their text. */
export type Outcomes = ReadonlyMap<string, Outcome>;

/** Identifies a subject within a request. */
export const keyOf = ({ type, id, properties }: Entity): string =>
  JSON.stringify([type, id, properties]);

/** Resolves the subjects of a request in one state, after what they claim is proven. */
export async function resolved(
  parts: EvaluateParts,
  request: EvaluateRequest,
  sent: readonly Entity[],
): Promise<ReadOutcome<Outcomes>> {
  const subjects = new Map(sent.map((subject) => [keyOf(subject), subject]));
  const jwts = [...subjects.values()].filter(({ type }) => type === 'jwt');
  if (jwts.length > JWTS_MAX)
    reject('invalid', `a request has ${jwts.length} JWTs, at most ${JWTS_MAX} are accepted`);
  const proofs = new Map<string, Proof>();
  let { options } = request;
  for (let round = 0; ; round++) {
    const needed: [key: string, claim: Claim][] = [];
    const outcomes = new Map<string, Outcome>();
    const outcome = await parts.service.read(request.caller, options, (context) =>
      answer(parts, request, context, { subjects, proofs, needed, outcomes }),
    );
    if (needed.length === 0 || round === ROUNDS_MAX) return { ...outcome, value: outcomes };
    for (const [key, claim] of needed)
      proofs.set(key, await parts.proofs.prove(parts.service.view, claim, request.admit));
    // The barrier was before: the present state is new enough.
    options = stale(options);
  }
}

const stale = (options: ReadOptions): ReadOptions => ({ ...options, mode: 'stale' });

interface Resolving {
  readonly subjects: ReadonlyMap<string, Entity>;
  readonly proofs: ReadonlyMap<string, Proof>;
  /** What is still to be proven. */
  readonly needed: [key: string, claim: Claim][];
  readonly outcomes: Map<string, Outcome>;
}

function answer(
  parts: EvaluateParts,
  request: EvaluateRequest,
  context: ReadContext,
  { subjects, proofs, needed, outcomes }: Resolving,
) {
  const finder = new Subjects(parts, context, request);
  const untilMs = performance.now() + TURN_MS;
  needed.length = 0;
  for (const [key, subject] of subjects) {
    if (outcomes.has(key)) outcomes.delete(key);
    try {
      const claim = claimOf(context.view, subject, request.ns);
      const proof = proofs.get(key);
      if (claim !== undefined && !isProven(context, claim, proof)) needed.push([key, claim]);
      const found = finder.resolve(subject, proof ?? NOT_PROVEN);
      if (found !== undefined) outcomes.set(key, found);
    } catch (error) {
      if (!(error instanceof ApiError) || error.refusal.code !== 'invalid') throw error;
      outcomes.set(key, { code: 'invalid', reason: error.refusal.message });
    }
    // Rights that are compiled now are found at once when this is called again.
    if (performance.now() > untilMs) finder.pending ??= nextTurn();
    if (finder.pending !== undefined) break;
  }
  const index = stateIndex(context.view);
  const { pending } = finder;
  return { value: undefined, index, keys: [], ...(pending !== undefined && { pending }) };
}

/** Whether a claim was proven by its method as it is now. */
function isProven({ view }: ReadContext, { method }: Claim, proof: Proof | undefined): boolean {
  if (proof === undefined) return false;
  return stored<AuthMethod>(view, keys.method(method.ns, method.name))?.ModifyIndex === proof.index;
}

/** Stands for what is proven before the next look. */
const NOT_PROVEN: Proof = {
  method: { ns: '', name: '' },
  index: undefined,
  outcome: { ok: false, code: 'unreachable' },
};

/** Decides the questions of one request by what their subjects resolve to. */
class Deciding {
  readonly #parts: EvaluateParts;
  readonly #request: EvaluateRequest;
  readonly #outcomes: Outcomes;
  readonly #index: number;
  readonly #owner: WorkOwner;

  constructor(parts: EvaluateParts, request: EvaluateRequest, outcomes: Outcomes, index: number) {
    this.#parts = parts;
    this.#request = request;
    this.#outcomes = outcomes;
    this.#index = index;
    this.#owner = ownerOf(parts.service, request.caller);
  }

  /** Decides an item of a batch. What is wrong with it is its own answer. */
  async item(item: Item, at: number): Promise<Decided> {
    if ('problem' in item) return this.#wrong(at, 'invalid', 400, item.problem);
    try {
      const decided = await this.decided(item, at);
      if (decided.context.code !== 'forbidden') return decided;
      const message = `Permission denied: ${decided.context.reason_admin!.en}`;
      return this.#wrong(at, 'forbidden', 403, message);
    } catch (error) {
      if (!(error instanceof ApiError) || error.refusal.code !== 'invalid') throw error;
      return this.#wrong(at, 'invalid', 400, error.refusal.message);
    }
  }

  #wrong(at: number, code: 'invalid' | 'forbidden', status: number, message: string): Decided {
    const context = { id: String(at), code, index: this.#index, error: { status, message } };
    return { decision: false, context };
  }

  /** Decides a question. Throws ApiError 400. */
  async decided(evaluation: Evaluation, at: number): Promise<Decided> {
    const found = this.#outcomes.get(keyOf(evaluation.subject))!;
    if ('code' in found) {
      if (found.code === 'invalid') reject('invalid', found.reason);
      return this.#no(evaluation, at, found);
    }
    const { holders, home, truncated } = found;
    const newest = holders[0]!;
    const asked = questionOf(evaluation.resource, evaluation.action, newest.token.Namespace);
    for (const { token } of holders)
      if (token.AccessorID !== '') this.#parts.onUse(token.AccessorID);
    if (asked === undefined) {
      const { type } = evaluation.resource;
      const reason = `the resource type "${type}" does not have this action`;
      return this.#no(evaluation, at, { code: 'unknown_action', reason }, { home });
    }
    const allowing = holders.find((holder) => isAllowed(holder, asked, evaluation.resource));
    const more = truncated ? ({ truncated: true } as const) : {};
    const isExplained = allowing === undefined || this.#request.allReasons;
    const { layer, sentence } = isExplained
      ? await this.#explained(
          allowing ?? newest,
          askedOf(allowing ?? newest, asked, evaluation.resource),
        )
      : { layer: undefined, sentence: '' };
    const shownLayer = layer === undefined ? {} : { layer };
    const id = String(at);
    if (allowing !== undefined) {
      const reason = isExplained ? { reason_admin: { en: sentence } } : {};
      const context = { id, code: 'allowed' as const, ...reason, index: this.#index };
      return { decision: true, context: { ...context, ...shownLayer, ...more } };
    }
    const denied = { code: 'denied', reason: sentence } as const;
    return this.#no(evaluation, at, denied, {
      home,
      holder: newest,
      asked,
      more: { ...shownLayer, ...more },
    });
  }

  async #explained(holder: Holder, asked: Asked) {
    const { resource, access, segment, namespace } = asked;
    const { rule } = holder.authorizer.why(resource, access, segment, namespace);
    const sentence = await this.#parts.sentences.of(holder, asked, this.#owner);
    return { layer: rule?.layer, sentence };
  }

  #no(
    { subject, action, resource }: Evaluation,
    at: number,
    {
      code,
      reason,
    }: { readonly code: Exclude<Code, 'allowed' | 'invalid'>; readonly reason: string },
    about: {
      readonly home?: string;
      readonly holder?: Holder;
      readonly asked?: Asked;
      readonly more?: object;
    } = {},
  ): Decided {
    const { home = this.#request.ns, holder, asked, more = {} } = about;
    const noted =
      code === 'forbidden'
        ? undefined
        : this.#parts.noteEvaluation({
            holder,
            asked,
            home,
            subjectType: subject.type,
            message: reason,
          });
    return {
      decision: false,
      context: {
        id: String(at),
        code,
        reason_admin: { en: reason },
        reason_user: { en: userSentence(action, resource) },
        ...(noted !== undefined && { decision_id: noted }),
        index: this.#index,
        ...more,
      },
    };
  }
}

/** Returns a question as it is about one holder: without a namespace it is about its own. */
const askedOf = ({ token }: Holder, asked: Asked, { properties }: Entity): Asked =>
  properties['namespace'] === undefined ? { ...asked, namespace: token.Namespace } : asked;

/** Whether a holder may do what is asked. */
export function isAllowed(holder: Holder, question: Asked, of: Entity): boolean {
  const { resource, access, segment, namespace } = askedOf(holder, question, of);
  return holder.authorizer.allowed(resource, access, segment, namespace);
}

/** Says to a user what they may not do. It names no rule, policy or role. */
function userSentence(action: string, { type, id }: Entity): string {
  const what = id.length > ID_SHOWN ? `${id.slice(0, ID_SHOWN)}…` : id;
  return `You may not ${[action, type, what].filter((word) => word !== '').join(' ')}.`;
}
