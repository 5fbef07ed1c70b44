/** The types of auth methods there are, and the judgement of one login. */
import { type BindContext, type Bound, bind } from '../../acl/binding.js';
import { type Refusal, refusal, reject } from '../../errors.js';
import { didYouMean } from '../../languages/suggest.js';
import { JwtMethod } from './jwt.js';
import { KubernetesMethod } from './kubernetes.js';
import type { AuthMethodType, FetchLimits, LoginLogger } from './types.js';

export interface LoginOptions {
  readonly limits: FetchLimits;
  /** How long keys of issuers are used before they are fetched again, in milliseconds. */
  readonly keysAgeMsMax: number;
  /** How often, at most, an unknown key id makes them be fetched again, in milliseconds. */
  readonly keysRefetchMsMin: number;
}

/** A login waits for these fetches, so they are short; keys are small. */
export const LOGIN_DEFAULTS: LoginOptions = {
  limits: { timeoutMs: 5_000, bodyBytesMax: 1024 * 1024 },
  keysAgeMsMax: 10 * 60_000,
  keysRefetchMsMin: 5_000,
};

export type AuthMethodTypes = ReadonlyMap<string, AuthMethodType>;

/** Every type by name. Keys of issuers are kept inside, so there is one of these per node. */
export function authMethodTypes(options: LoginOptions = LOGIN_DEFAULTS): AuthMethodTypes {
  const { limits, keysAgeMsMax, keysRefetchMsMin } = options;
  const types = [
    new JwtMethod({ limits, ageMsMax: keysAgeMsMax, refetchMsMin: keysRefetchMsMin }),
    new KubernetesMethod(limits),
  ];
  return new Map(types.map((type) => [type.name, type]));
}

/** Checks Type and Config of a method that is about to be written; may use the network. */
export async function checkMethod(
  types: AuthMethodTypes,
  method: { readonly Type: string; readonly Config?: unknown },
): Promise<Refusal | undefined> {
  const type = types.get(method.Type);
  if (type !== undefined) return type.checkConfig(method.Config);
  const known = [...types.keys()];
  const hint = didYouMean(method.Type, known);
  const message = `Invalid Auth Method: Type should be one of: [${known.join(' ')}]${hint}`;
  return refusal('invalid', message, { pointer: '/Type' });
}

export interface LoginAttempt {
  readonly types: AuthMethodTypes;
  readonly method: { readonly Name: string; readonly Type: string; readonly Config?: unknown };
  readonly bearerToken: string;
  readonly nowMs: number;
  /** Rules, roles and policies as they are once the token is verified, which may take a while. */
  readonly present: () => Omit<BindContext, 'identity' | 'shape'>;
  readonly logger: LoginLogger;
}

/**
 * What a login binds. Whatever is wrong, the caller is told `Permission denied` (ApiError, 403) and the log the reason:
 * whoever may not log in shall not learn how near he came.
 */
export async function judgeLogin(attempt: LoginAttempt): Promise<Bound> {
  const { types, method, bearerToken, nowMs, logger } = attempt;
  const deny = (reason: string): never => {
    logger.warn({ authMethod: method.Name, type: method.Type, reason }, 'login refused');
    return reject('permission_denied', 'Permission denied');
  };
  const type = types.get(method.Type);
  if (type === undefined) return deny(`auth methods of type ${method.Type} are not known`);
  const verdict = await type.validate(method.Config, bearerToken, nowMs);
  if (!verdict.ok) return deny(verdict.reason);
  const outcome = bind({
    ...attempt.present(),
    identity: verdict.identity,
    shape: type.shapeOf(method.Config),
  });
  return outcome.ok ? outcome.bound : deny(outcome.reason);
}
