/** Whose rights are explained: the caller's, those of another token, or those of a draft. */
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import { Explainer, type Explanation, type ShownBudget } from '../../acl/explain.js';
import type { Asked } from '../../acl/reasons.js';
import type { Steps } from '../../acl/steps.js';
import type { Authorizer } from '../../acl/types.js';
import type { Identity } from '../../state/author.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import {
  identityOf,
  isAlive,
  type Token,
  tokenByAccessor,
  tokenBySecret,
} from '../../state/tokens.js';
import type { View } from '../../state/types.js';
import { mustRead } from '../common/reading.js';
import type { Caller, ReadContext, Service } from '../common/types.js';
import type { LongWorkParts } from '../reads/long-work.js';
import { type Authorizers, authorizerFor } from '../rights/authorizers.js';
import { type Collected, stepOf } from '../rights/origins.js';

export interface ExplainParts extends LongWorkParts {
  readonly authorizers: Pick<Authorizers, 'origins' | 'known' | 'rightsOf'>;
  readonly defaultPolicy: 'deny' | 'allow';
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** What an explanation of one token needs. */
export interface ExplainedParts extends Omit<ExplainParts, 'service' | 'longWork'> {
  readonly service: Pick<Service, 'view'>;
}

/** A token, or a draft of one, that is explained. */
export interface Subject {
  readonly token: Token;
  /** The authorizer that decides its requests. */
  readonly authorizer: Authorizer;
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

/** Returns the member of answers that says who is behind a token, if a login made it. */
export function identityIn(view: View, token: Token): { readonly Identity?: Identity } {
  const Identity = identityOf(view, token);
  return Identity === undefined ? {} : { Identity };
}

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

/** Finds the token of an accessor again, for work that takes several turns. */
export const again =
  ({ service, nowMs }: Pick<ExplainedParts, 'service' | 'nowMs'>, { AccessorID }: Token) =>
  (): Collected | undefined => {
    const { view } = service;
    const token = tokenByAccessor(view, AccessorID);
    const isThere = token !== undefined && isAlive(view, token, nowMs());
    return isThere ? { token, first: stepOf(token) } : undefined;
  };

/**
 * Returns what `find` finds as a subject, by its present rights; undefined if it finds no token.
 * `found` is called in the turn in which these are read.
 */
export function* subjectOf(
  { authorizers, defaultPolicy }: Pick<ExplainParts, 'authorizers' | 'defaultPolicy'>,
  find: () => Collected | undefined,
  found: () => void = () => {},
): Steps<Subject | undefined> {
  const collected = yield* authorizers.origins(find);
  found();
  if (collected === undefined) return undefined;
  const {
    found: { token, extra },
    origins,
  } = collected;
  // Tokens with equal links share their rights, to which the rules of a draft are added.
  const enforced = extra === undefined ? authorizers.known(token) : undefined;
  const anonymous = token.AccessorID === ANONYMOUS_ACCESSOR;
  const explainer = yield* Explainer.of(origins, { defaultPolicy, anonymous });
  return { token, authorizer: enforced ?? authorizerFor(token, explainer.rights), explainer };
}

/**
 * Explains a decision. `Allow` is what enforcement answers. Throws Error if the explanation comes
 * to another decision: it would be wrong.
 */
export function* explained(
  { authorizer, explainer }: Subject,
  asked: Asked,
  budget?: ShownBudget,
): Steps<Explanation> {
  const { resource, access, segment, namespace } = asked;
  const allow = authorizer.allowed(resource, access, segment, namespace);
  const explanation = yield* explainer.explain(asked, budget);
  if (explanation.Allow === allow) return explanation;
  const [enforced, other] = allow ? ['allows', 'denies'] : ['denies', 'allows'];
  throw new Error(
    `enforcement ${enforced} what its explanation ${other}, token ${authorizer.accessor}: ` +
      explanation.Text,
  );
}
