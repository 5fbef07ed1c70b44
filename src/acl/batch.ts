/** Batch authorisation: many questions, one answer each (http.md section 14). */
import { type Refusal, refusal } from '../errors.js';
import { type Access, type Authorizer, NAMED, type Resource, SCALARS } from './types.js';

export interface Question {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment?: string;
}
export type Decision = Question & { readonly Allow: boolean };

export const QUESTIONS_MAX = 64;
const RESOURCES: ReadonlySet<string> = new Set([...SCALARS, ...NAMED, 'intention']);
const NAMELESS: ReadonlySet<string> = new Set(SCALARS);
const ACCESSES: ReadonlySet<string> = new Set(['read', 'write']);
const KEY_ACCESSES: ReadonlySet<string> = new Set(['read', 'list', 'write', 'write-prefix']);

export type BatchOutcome =
  | { readonly ok: true; readonly decisions: readonly Decision[] }
  | { readonly ok: false; readonly refusal: Refusal };

/** Answers questions for one token; one bad question refuses all. `namespace` is where the named objects live. */
export function authorizeBatch(
  authorizer: Authorizer,
  questions: readonly Question[],
  namespace = 'default',
): BatchOutcome {
  if (questions.length > QUESTIONS_MAX) {
    const message = `Refusing to process more than ${QUESTIONS_MAX} authorizations at once`;
    return { ok: false, refusal: refusal('invalid', message) };
  }
  for (const [i, { Resource, Access }] of questions.entries()) {
    const why = problemOf(Resource, Access.toLowerCase(), Access);
    if (why !== undefined) {
      const pointer = `/${i}/${why.field}`;
      return { ok: false, refusal: refusal('invalid', why.message, { pointer }) };
    }
  }
  const decisions = questions.map((question) => {
    const access = question.Access.toLowerCase() as Access;
    const segment = NAMELESS.has(question.Resource) ? undefined : (question.Segment ?? '');
    const Allow = authorizer.allowed(question.Resource as Resource, access, segment, namespace);
    return { ...question, Allow };
  });
  return { ok: true, decisions };
}

function problemOf(
  resource: string,
  access: string,
  written: string,
): { field: string; message: string } | undefined {
  if (!RESOURCES.has(resource)) {
    return {
      field: 'Resource',
      message: `Invalid ACL resource requested: ${JSON.stringify(resource)}`,
    };
  }
  if (!(resource === 'key' ? KEY_ACCESSES : ACCESSES).has(access)) {
    return {
      field: 'Access',
      message: `Invalid access level for ${resource} resource: ${written}`,
    };
  }
  return undefined;
}
