/** Use cases that decide for other programs (decisions.md 1): evaluations and batches of them. */
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
import { type Entity, questionOf } from './questions.js';
import type { Batch, Evaluation, Item, Semantics } from './requests.js';
import { type Sentences, userSentence } from './sentences.js';
import {
  deniedText,
  type Holder,
  type NoHolder,
  type Resolved,
  type SubjectParts,
  Subjects,
} from './subjects.js';

/** What decisions are made with. */
export interface EvaluateParts extends SubjectParts, ExplainParts {
  readonly authorizers: ExplainParts['authorizers'] & SubjectParts['authorizers'];
  readonly proofs: Proofs;
  readonly sentences: Sentences;
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
  /** Remembers a denial. Returns its id; undefined if there are too many. */
  readonly note: (noted: NotedEvaluation) => string | undefined;
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

/** Why a question is denied, and where that may be read if no token was found. */
interface Because {
  readonly code: Code;
  readonly reason: string;
  readonly home?: string;
}

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

/** Decides one question. The value is the decision as answered. Throws ApiError. */
export async function evaluate(
  parts: EvaluateParts,
  request: EvaluateRequest,
  evaluation: Evaluation,
): Promise<ReadOutcome<Decided>> {
  const { value: outcomes, ...meta } = await resolved(parts, request, [evaluation.subject]);
  const value = await new Deciding(parts, request, outcomes, meta.index).decided(evaluation, 0);
  return { ...meta, value };
}

/** Decides the questions of a batch on one state, in order. Throws ApiError. */
export async function evaluateAll(
  parts: EvaluateParts,
  request: EvaluateRequest,
  { items, semantics }: Batch,
): Promise<ReadOutcome<readonly Decided[]>> {
  const subjects = items.flatMap((item) => ('problem' in item ? [] : [item.subject]));
  const { value: outcomes, ...meta } = await resolved(parts, request, subjects);
  const deciding = new Deciding(parts, request, outcomes, meta.index);
  const value: Decided[] = [];
  for (let at = 0; at < items.length; at++) {
    if (at > 0 && at % ITEMS_PER_TURN === 0) await nextTurn();
    const made = deciding.item(items[at]!, at);
    // waiting for what is there costs more than the decision
    const decided = made instanceof Promise ? await made : made;
    value.push(decided);
    if (ends(semantics, decided.decision)) break;
  }
  return { ...meta, value };
}

const ends = (semantics: Semantics, decision: boolean): boolean =>
  semantics === 'deny_on_first_deny'
    ? !decision
    : semantics === 'permit_on_first_permit' && decision;

/** What a subject resolves to: holders, or why there are none; or why it is not valid. */
type Outcome = Resolved | NoHolder | { readonly code: 'invalid'; readonly reason: string };

/** What the subjects of a request resolve to. */
export type Outcomes = ReadonlyMap<Entity, Outcome>;

/** Resolves the subjects of a request in one state, after what they claim is proven. */
export async function resolved(
  parts: EvaluateParts,
  request: EvaluateRequest,
  sent: readonly Entity[],
): Promise<ReadOutcome<Outcomes>> {
  const same = distinct(sent);
  const subjects = [...same.keys()];
  const jwts = subjects.filter(({ type }) => type === 'jwt');
  if (jwts.length > JWTS_MAX)
    reject('invalid', `a request has ${jwts.length} JWTs, at most ${JWTS_MAX} are accepted`);
  const proofs = new Map<Entity, Proof>();
  let { options } = request;
  for (let round = 0; ; round++) {
    const needed: [subject: Entity, claim: Claim][] = [];
    const outcomes = new Map<Entity, Outcome>();
    const outcome = await parts.service.read(request.caller, options, (context) =>
      answer(parts, request, context, { subjects, proofs, needed, outcomes }),
    );
    if (needed.length === 0 || round === ROUNDS_MAX) {
      for (const [subject, others] of same)
        for (const other of others) outcomes.set(other, outcomes.get(subject)!);
      return { ...outcome, value: outcomes };
    }
    for (const [subject, claim] of needed)
      proofs.set(subject, await parts.proofs.prove(parts.service.view, claim, request.admit));
    // The barrier was before: the present state is new enough.
    options = stale(options);
  }
}

/** Returns each different subject, with the others that are equal to it. */
function distinct(sent: readonly Entity[]): ReadonlyMap<Entity, Entity[]> {
  const all = new Map<Entity, Entity[]>();
  const byText = new Map<string, Entity>();
  let last: Entity | undefined;
  for (const subject of sent) {
    // Items mostly share the subject of their batch.
    if (subject === last || all.has(subject)) continue;
    last = subject;
    const text = sent.length === 1 ? '' : JSON.stringify(subject);
    const first = byText.get(text);
    if (first !== undefined) all.get(first)!.push(subject);
    else {
      byText.set(text, subject);
      all.set(subject, []);
    }
  }
  return all;
}

const stale = (options: ReadOptions): ReadOptions => ({ ...options, mode: 'stale' });

interface Resolving {
  readonly subjects: readonly Entity[];
  readonly proofs: ReadonlyMap<Entity, Proof>;
  /** What is still to be proven. */
  readonly needed: [subject: Entity, claim: Claim][];
  readonly outcomes: Map<Entity, Outcome>;
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
  outcomes.clear();
  for (const subject of subjects) {
    try {
      const claim = claimOf(context.view, subject, request.ns);
      const proof = claim && provenOf(context, claim, proofs.get(subject));
      if (claim !== undefined && proof === undefined) needed.push([subject, claim]);
      const found = finder.resolve(subject, proof ?? NOT_PROVEN);
      if (found !== undefined) outcomes.set(subject, found);
    } catch (error) {
      if (!(error instanceof ApiError) || error.refusal.code !== 'invalid') throw error;
      outcomes.set(subject, { code: 'invalid', reason: error.refusal.message });
    }
    // Rights that are compiled now are found at once when this is called again.
    if (performance.now() > untilMs) finder.pending ??= nextTurn();
    if (finder.pending !== undefined) break;
  }
  const index = stateIndex(context.view);
  const { pending } = finder;
  return { value: undefined, index, keys: [], ...(pending !== undefined && { pending }) };
}

/** Returns a proof of a claim if its method is now as it was then. */
function provenOf(
  { view }: ReadContext,
  { method }: Claim,
  proof: Proof | undefined,
): Proof | undefined {
  const index = stored<AuthMethod>(view, keys.method(method.ns, method.name))?.ModifyIndex;
  return proof?.index === index ? proof : undefined;
}

/** Stands for what is proven before the next look, or never if the method always changes. */
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
  item(item: Item, at: number): Decided | Promise<Decided> {
    if ('problem' in item) return this.#wrong(at, 'invalid', 400, item.problem);
    try {
      const found = this.#outcomes.get(item.subject)!;
      if ('code' in found && found.code === 'forbidden')
        return this.#wrong(at, 'forbidden', 403, deniedText(found));
      return this.decided(item, at);
    } catch (error) {
      if (!(error instanceof ApiError) || error.refusal.code !== 'invalid') throw error;
      return this.#wrong(at, 'invalid', 400, error.refusal.message);
    }
  }

  #wrong(at: number, code: 'invalid' | 'forbidden', status: number, message: string): Decided {
    const error = { status, message };
    const reason_admin = { en: message };
    return {
      decision: false,
      context: { id: String(at), code, reason_admin, index: this.#index, error },
    };
  }

  /** Decides a question, at once if nothing has to be explained. Throws ApiError 400 and 403. */
  decided(evaluation: Evaluation, at: number): Decided | Promise<Decided> {
    const found = this.#outcomes.get(evaluation.subject)!;
    if ('code' in found) {
      if (found.code === 'invalid') return reject('invalid', found.reason);
      if (found.code === 'forbidden') return reject('permission_denied', deniedText(found));
      return this.#no(evaluation, at, found);
    }
    const { holders, truncated } = found;
    const { action, resource } = evaluation;
    const newest = holders[0]!;
    const asked = questionOf(resource, action, newest.namespace);
    for (const { accessor } of holders) if (accessor !== '') this.#parts.onUse(accessor);
    if (asked === undefined) {
      const reason = `the resource type "${resource.type}" does not have this action`;
      return this.#no(evaluation, at, { code: 'unknown_action', reason }, found);
    }
    const allowing = holders.find((holder) => isAllowed(holder, asked, resource));
    if (allowing === undefined) return this.#denied(evaluation, at, found, asked);
    if (this.#request.allReasons) return this.#allowed(allowing, at, found, asked, resource);
    const context = { id: String(at), code: 'allowed', index: this.#index } as const;
    return { decision: true, context: truncated ? { ...context, truncated } : context };
  }

  /** Answers with the reason why an access is allowed. */
  async #allowed(
    holder: Holder,
    at: number,
    { truncated }: Resolved,
    question: Asked,
    of: Entity,
  ): Promise<Decided> {
    const { sentence, layer } = await this.#explained(holder, askedOf(holder, question, of));
    return {
      decision: true,
      context: {
        id: String(at),
        code: 'allowed',
        reason_admin: { en: sentence },
        index: this.#index,
        ...layer,
        ...(truncated && { truncated }),
      },
    };
  }

  async #denied(
    evaluation: Evaluation,
    at: number,
    found: Resolved,
    question: Asked,
  ): Promise<Decided> {
    const holder = found.holders[0]!;
    const asked = askedOf(holder, question, evaluation.resource);
    const { sentence, layer } = await this.#explained(holder, asked);
    const why = { code: 'denied', reason: sentence } as const;
    return this.#no(evaluation, at, why, found, { asked, layer });
  }

  async #explained(holder: Holder, asked: Asked) {
    const { resource, access, segment, namespace } = asked;
    const { rule } = holder.authorizer.why(resource, access, segment, namespace);
    const sentence = await this.#parts.sentences.of(holder, asked, this.#owner);
    return { sentence, layer: rule === undefined ? {} : { layer: rule.layer } };
  }

  #no(
    { subject, action, resource }: Evaluation,
    at: number,
    { code, reason, home = this.#request.ns }: Because,
    found?: Resolved,
    { asked, layer = {} }: { readonly asked?: Asked; readonly layer?: object } = {},
  ): Decided {
    const noted = this.#request.note({
      holder: found?.holders[0],
      asked,
      home: found?.home ?? home,
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
        ...layer,
        ...(found?.truncated && { truncated: true }),
      },
    };
  }
}

/** Returns a question as it is about one holder: without a namespace it is about its own. */
const askedOf = ({ namespace }: Holder, asked: Asked, { properties }: Entity): Asked =>
  properties['namespace'] === undefined ? { ...asked, namespace } : asked;

/** Whether a holder may do what is asked. */
export function isAllowed(holder: Holder, asked: Asked, { properties }: Entity): boolean {
  const { resource, access, segment } = asked;
  const isOwn = properties['namespace'] === undefined;
  const namespace = isOwn ? holder.namespace : asked.namespace;
  return holder.authorizer.allowed(resource, access, segment, namespace);
}
