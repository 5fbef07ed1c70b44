/** Use cases that decide for other programs (decisions.md 1): evaluations and batches of them. */
import type { Asked } from '../../acl/reasons.js';
import { ApiError, reject } from '../../base/errors.js';
import { Slice } from '../common/event-loop.js';
import type { ReadOutcome } from '../common/types.js';
import type { ExplainParts } from '../explain/subject.js';
import { ownerOf } from '../reads/long-work.js';
import { type Entity, questionOf } from './questions.js';
import type { Batch, Evaluation, Item, Semantics } from './requests.js';
import {
  type Outcomes,
  type ResolveParts,
  type ResolveRequest,
  resolved,
  withValue,
} from './resolving.js';
import { type Sentences, userSentence } from './sentences.js';
import { deniedText, type Holder, type Resolved } from './subjects.js';

/** What decisions are made with. */
export interface EvaluateParts extends ResolveParts, ExplainParts {
  readonly authorizers: ExplainParts['authorizers'] & ResolveParts['authorizers'];
  readonly sentences: Sentences;
  /** Called with the accessor of a token that decisions are about. */
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
export interface EvaluateRequest extends ResolveRequest {
  /** Whether allowed accesses are explained too. */
  readonly allReasons: boolean;
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
  /** The rest as JSON, of a decision that allows and says nothing more. */
  readonly text?: string;
}

/** Decisions that allow and say nothing more, by their place in a batch: most are such. */
class Allowed {
  readonly index: number;
  readonly #made: Decided[] = [];

  constructor(index: number) {
    this.index = index;
  }

  at(at: number): Decided {
    this.#made[at] ??= {
      decision: true,
      context: { id: String(at), code: 'allowed', index: this.index },
      text: `{"decision":true,"context":{"id":"${at}","code":"allowed","index":${this.index}}}`,
    };
    return this.#made[at];
  }
}

/** Those of the state that was asked last. */
let allowed = new Allowed(0);

/** Decides one question. The value is the decision as answered. Throws ApiError. */
export async function evaluate(
  parts: EvaluateParts,
  request: EvaluateRequest,
  evaluation: Evaluation,
): Promise<ReadOutcome<Decided>> {
  const found = await resolved(parts, request, [evaluation.subject]);
  const made = new Deciding(parts, request, found).decided(evaluation, 0);
  return withValue(found, made instanceof Promise ? await made : made);
}

/**
 * Items that are decided between two reads of the clock, each of which takes as long as a decision.
 */
const ITEMS_PER_LOOK = 16;

/** Returns the subjects of a batch. Neighbours are mostly the same. */
export function subjectsOf(items: readonly Item[]): Entity[] {
  const subjects: Entity[] = [];
  for (const item of items)
    if (!('problem' in item) && item.subject !== subjects.at(-1)) subjects.push(item.subject);
  return subjects;
}

/** Decides the questions of a batch on one state, in order. Throws ApiError. */
export async function evaluateAll(
  parts: EvaluateParts,
  request: EvaluateRequest,
  { items, semantics }: Batch,
): Promise<ReadOutcome<readonly Decided[]>> {
  const found = await resolved(parts, request, subjectsOf(items));
  const deciding = new Deciding(parts, request, found);
  const value: Decided[] = [];
  const slice = new Slice();
  for (let at = 0; at < items.length; at++) {
    if (at % ITEMS_PER_LOOK === 0 && slice.isOver) await slice.renew();
    const made = deciding.item(items[at]!, at);
    // awaiting a value that is there costs more than the decision
    const decided = made instanceof Promise ? await made : made;
    value.push(decided);
    if (ends(semantics, decided.decision)) break;
  }
  return withValue(found, value);
}

const ends = (semantics: Semantics, decision: boolean): boolean =>
  semantics === 'deny_on_first_deny'
    ? !decision
    : semantics === 'permit_on_first_permit' && decision;

/** Decides the questions of one request by what their subjects resolve to. */
class Deciding {
  readonly #parts: EvaluateParts;
  readonly #request: EvaluateRequest;
  readonly #outcomes: Outcomes;
  readonly #index: number;

  constructor(
    parts: EvaluateParts,
    request: EvaluateRequest,
    { value: outcomes, index }: ReadOutcome<Outcomes>,
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#outcomes = outcomes;
    this.#index = index;
    for (const found of outcomes.values())
      if ('holders' in found)
        for (const { accessor } of found.holders) if (accessor !== '') parts.onUse(accessor);
  }

  /** Decides an item of a batch. What is wrong with it is its own answer. */
  item(item: Item, at: number): Decided | Promise<Decided> {
    if ('problem' in item) return this.#wrong(item, at, { ...INVALID, reason: item.problem });
    try {
      const found = this.#outcomes.get(item.subject)!;
      if ('code' in found && found.code === 'forbidden')
        return this.#wrong(item, at, { ...FORBIDDEN, reason: deniedText(found) });
      return this.decided(item, at);
    } catch (error) {
      if (!(error instanceof ApiError) || error.refusal.code !== 'invalid') throw error;
      return this.#wrong(item, at, { ...INVALID, reason: error.refusal.message });
    }
  }

  #wrong(
    item: Partial<Evaluation>,
    at: number,
    { code, status, reason }: Denial & { readonly status: number },
  ): Decided {
    const error = { status, message: reason };
    return { decision: false, context: { ...this.#denial(item, at, { code, reason }), error } };
  }

  #denial(
    { action, resource }: Partial<Evaluation>,
    at: number,
    { code, reason, noted }: Denial,
  ): NonNullable<Decided['context']> {
    return {
      id: String(at),
      code,
      reason_admin: { en: reason },
      reason_user: { en: userSentence(action, resource) },
      ...(noted !== undefined && { decision_id: noted }),
      index: this.#index,
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
    if (asked === undefined) {
      const reason = `the resource type "${resource.type}" does not have this action`;
      return this.#no(evaluation, at, { code: 'unknown_action', reason }, found);
    }
    const allowing = allowingOf(holders, asked, resource);
    if (allowing === undefined) return this.#denied(evaluation, at, found, asked);
    if (this.#request.allReasons)
      return this.#allowed(allowing, at, found, askedOf(allowing, asked, resource));
    if (allowed.index !== this.#index) allowed = new Allowed(this.#index);
    const plain = allowed.at(at);
    return truncated ? { decision: true, context: { ...plain.context, truncated } } : plain;
  }

  /** Answers with the reason why an access is allowed. */
  async #allowed(
    holder: Holder,
    at: number,
    { truncated }: Resolved,
    asked: Asked,
  ): Promise<Decided> {
    const { sentence, layer } = await this.#explained(holder, asked);
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
    const { service, sentences } = this.#parts;
    const sentence = await sentences.of(holder, asked, ownerOf(service, this.#request.caller));
    return { sentence, layer: rule === undefined ? {} : { layer: rule.layer } };
  }

  #no(
    evaluation: Evaluation,
    at: number,
    { code, reason, home = this.#request.ns }: Because,
    found?: Resolved,
    { asked, layer = {} }: { readonly asked?: Asked; readonly layer?: object } = {},
  ): Decided {
    const noted = this.#request.note({
      holder: found?.holders[0],
      asked,
      home: found?.home ?? home,
      subjectType: evaluation.subject.type,
      message: reason,
    });
    return {
      decision: false,
      context: {
        ...this.#denial(evaluation, at, { code, reason, noted }),
        ...layer,
        ...(found?.truncated && { truncated: true }),
      },
    };
  }
}

interface Denial {
  readonly code: Code;
  readonly reason: string;
  /** The id under which the decision is remembered. */
  readonly noted?: string | undefined;
}
const INVALID = { code: 'invalid', status: 400 } as const;
const FORBIDDEN = { code: 'forbidden', status: 403 } as const;

/** Returns a question as it is about one holder: without a namespace it is about its own. */
const askedOf = ({ namespace }: Holder, asked: Asked, { properties }: Entity): Asked =>
  properties['namespace'] === undefined ? { ...asked, namespace } : asked;

/** Returns the first holder who may do what is asked. */
function allowingOf(holders: readonly Holder[], asked: Asked, of: Entity): Holder | undefined {
  for (const holder of holders) if (isAllowed(holder, asked, of)) return holder;
  return undefined;
}

/** Whether a holder may do what is asked. */
export function isAllowed(holder: Holder, asked: Asked, { properties }: Entity): boolean {
  const { resource, access, segment } = asked;
  const isOwn = properties['namespace'] === undefined;
  const namespace = isOwn ? holder.namespace : asked.namespace;
  return holder.authorizer.allowed(resource, access, segment, namespace);
}
