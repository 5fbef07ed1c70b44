/** Batch authorisation: decides many requests for one token. */
import { type Refusal, refusal } from '../base/errors.js';
import { type Access, type Authorizer, NAMED, type Resource, SCALARS } from './types.js';

/** One request of a batch. An absent member counts as empty. */
export interface Question {
  readonly Resource?: string;
  /** In any letter case. */
  readonly Access?: string;
  readonly Segment?: string;
}
/** The request with its decision. */
export interface Decision {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment?: string;
  readonly Allow: boolean;
}

/** The outcome of a batch: a decision for each request, or one refusal. */
export type BatchOutcome =
  | { readonly ok: true; readonly decisions: readonly Decision[] }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Maximum number of requests in a batch, because a batch is decided in one turn of the event loop.
 */
export const QUESTIONS_MAX = 64;
/** The refusal of a batch with more requests. */
export const TOO_MANY = `Refusing to process more than ${QUESTIONS_MAX} authorizations at once`;
const RESOURCES: ReadonlySet<string> = new Set([...SCALARS, ...NAMED, 'intention']);
/** The accesses of all resources but keys. */
export const ACCESSES_OF_OTHERS: readonly string[] = ['read', 'write'];
/** An access in lower case, as nearly every client sends it. */
const lower = (access: string): string =>
  ACCESSES_OF_KEYS.includes(access) ? access : access.toLowerCase();
/** The accesses of keys. */
export const ACCESSES_OF_KEYS: readonly string[] = ['read', 'list', 'write', 'write-prefix'];

/**
 * Decides the requests of a batch for one token. One invalid request refuses the whole batch.
 * `namespace` is the namespace of the named objects.
 */
export function authorizeBatch(
  authorizer: Authorizer,
  questions: readonly Question[],
  namespace = 'default',
): BatchOutcome {
  if (questions.length > QUESTIONS_MAX) {
    return { ok: false, refusal: refusal('invalid', TOO_MANY) };
  }
  const decisions: Decision[] = [];
  const pointer = (): string => `/${decisions.length}`;
  for (const question of questions) {
    const problem = questionProblem(question, pointer);
    if (problem !== undefined) return { ok: false, refusal: problem };
    const { Resource = '', Access = '', Segment } = question;
    const access = lower(Access) as Access;
    const Allow = authorizer.allowed(Resource as Resource, access, Segment, namespace);
    // a spread of the question takes longer than the decision
    decisions.push(
      Segment === undefined ? { Resource, Access, Allow } : { Resource, Access, Segment, Allow },
    );
  }
  return { ok: true, decisions };
}

/**
 * Returns why a question cannot be decided; undefined if it can. `pointer`: of the question in the
 * body. `more`: resources besides those
 * of a batch.
 */
export function questionProblem(
  { Resource = '', Access = '' }: Question,
  pointer: () => string,
  more: readonly string[] = [],
): Refusal | undefined {
  if (!RESOURCES.has(Resource) && !more.includes(Resource)) {
    const message = `Invalid ACL resource requested: ${JSON.stringify(Resource.slice(0, 64))}`;
    return refusal('invalid', message, { pointer: `${pointer()}/Resource` });
  }
  const levels = Resource === 'key' ? ACCESSES_OF_KEYS : ACCESSES_OF_OTHERS;
  if (levels.includes(lower(Access))) return undefined;
  return refusal(
    'invalid',
    `Invalid access level for ${Resource} resource: ${Access.slice(0, 64)}`,
    {
      pointer: `${pointer()}/Access`,
      hint: `one of ${levels.join(', ')}`,
    },
  );
}
