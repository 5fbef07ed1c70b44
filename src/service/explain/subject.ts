/** Whose rights are explained: the caller's, those of another token, or those of a draft. */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import { Explainer, type Explanation } from '../../acl/explain.js';
import type { PathStep } from '../../acl/origins.js';
import type { Asked } from '../../acl/reasons.js';
import type { Authorizer } from '../../acl/types.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import {
  isAlive,
  secretKeyOf,
  type Token,
  tokenByAccessor,
  tokenBySecret,
} from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import type { Authorizers } from '../authorizers.js';
import { mustRead } from '../reading.js';
import type { Caller, ReadContext, Service } from '../types.js';
import { type CollectedOrigins, originsOf } from './origins.js';

/** What explanations work on. */
export interface ExplainParts {
  readonly service: Service;
  readonly authorizers: Pick<Authorizers, 'of' | 'ofDraft'>;
  readonly datacenter: string;
  readonly defaultPolicy: 'deny' | 'allow';
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** A token, or a draft of one, that is explained. */
export interface Subject {
  readonly token: Token;
  /** The authorizer that decides its requests. */
  readonly authorizer: Authorizer;
  readonly origins: CollectedOrigins;
  readonly explainer: Explainer;
}

/** Which token is asked about. `accessor` is in lower case; undefined stands for the caller's. */
export interface Whose {
  readonly caller: Caller;
  readonly ns: string;
  readonly accessor?: string | undefined;
}

/** Returns the token of a caller, the anonymous one without a secret. */
export const ownToken = (view: View, { tokenKey }: Caller): Token | undefined =>
  tokenKey === null
    ? stored<Token>(view, keys.token(DEFAULT_NAMESPACE, ANONYMOUS_ACCESSOR))
    : tokenBySecret(view, tokenKey);

/**
 * Finds a token that the caller may have explained: its own, or one in a namespace whose ACL
 * objects it may read. Returns undefined if there is none. Throws ApiError 403 if the caller may
 * not read ACL objects of the namespace of the request either.
 */
export function findToken(
  { view, authorizer }: ReadContext,
  { caller, ns, accessor }: Whose,
  nowMs: number,
): Token | undefined {
  const own = ownToken(view, caller);
  if (accessor === undefined || accessor === own?.AccessorID) return own;
  const token = tokenByAccessor(view, accessor);
  if (token !== undefined && authorizer.allowed('acl', 'read', undefined, token.Namespace)) {
    if (isAlive(view, token, nowMs)) return token;
  }
  mustRead(authorizer, ns);
  return undefined;
}

/** Returns a stored token as a subject; undefined if it has just expired. */
export function subjectOf(parts: ExplainParts, view: View, token: Token): Subject | undefined {
  const isAnonymous = token.AccessorID === ANONYMOUS_ACCESSOR;
  const authorizer = parts.authorizers.of(isAnonymous ? null : secretKeyOf(token.SecretID));
  const first = { Type: 'token', ID: token.AccessorID, Name: token.Description } as const;
  return authorizer && withOrigins(parts, view, { token, authorizer, first });
}

/** Adds the origins of a subject's rights. */
export function withOrigins(
  { datacenter, defaultPolicy }: Pick<ExplainParts, 'datacenter' | 'defaultPolicy'>,
  view: View,
  subject: Pick<Subject, 'token' | 'authorizer'> & {
    readonly first: PathStep;
    readonly extra?: string | undefined;
  },
): Subject {
  const { token, authorizer } = subject;
  const origins = originsOf(view, datacenter, token, subject);
  const { anonymous } = authorizer;
  return {
    token,
    authorizer,
    origins,
    explainer: new Explainer(origins, { defaultPolicy, anonymous }),
  };
}

/**
 * Explains a decision. `Allow` is what enforcement answers. Throws Error if the explanation comes
 * to another decision: it would be wrong.
 */
export function explained({ authorizer, explainer }: Subject, asked: Asked): Explanation {
  const { resource, access, segment, namespace } = asked;
  const allow = authorizer.allowed(resource, access, segment, namespace);
  const explanation = explainer.explain(asked);
  if (explanation.Allow === allow) return explanation;
  const [enforced, other] = allow ? ['allows', 'denies'] : ['denies', 'allows'];
  throw new Error(
    `enforcement ${enforced} what its explanation ${other}, token ${authorizer.accessor}: ` +
      explanation.Text,
  );
}
