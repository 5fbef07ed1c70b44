/** Use cases of auth methods. The type of a method decides what its Config may hold. */
import { checkBindingRule, type IdentityShape, selectorProblem } from '../../acl/binding.js';
import { isNamespaceName } from '../../acl/names.js';
import type { Steps } from '../../acl/steps.js';
import { ApiError, type Refusal, refusal, refuseIf, reject } from '../../base/errors.js';
import { formatDuration } from '../../languages/duration.js';
import type { Sent } from '../../languages/fields.js';
import { interpolate } from '../../languages/hil.js';
import { didYouMean } from '../../languages/suggest.js';
import { keys } from '../../state/keys.js';
import { stored } from '../../state/lists.js';
import { loginLifeMs } from '../../state/login-limits.js';
import { type AuthMethod, type MethodSet, methods } from '../../state/methods.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import { hideSecrets, keepSecrets } from '../../state/put-form.js';
import type { BindingRule } from '../../state/rules.js';
import type { View } from '../../state/types.js';
import { inSlices } from '../common/event-loop.js';
import type { Service } from '../common/types.js';
import { mayWrite, settled, type Write } from '../common/writing.js';
import type { AuthMethodTypes } from '../login/index.js';
import { rulesOf } from '../login/judge.js';
import type { LoginParts } from '../login/login.js';
import type { AuthMethodType, LoginLogger } from '../login/types.js';
import { newKey } from '../oidc/logins.js';
import { TTL_MAX, TTL_MIN } from './acl-configuration.js';
import { type ObjectUseCases, objectUseCases } from './objects.js';

type MethodBody = Sent<typeof methods.fields>;

export type MethodParts = Pick<LoginParts, 'service' | 'methodTypes' | 'logger'>;

/**
 * All that the writer of a method learns about its issuer. More would let the writer explore the
 * network of the node.
 */
const NO_KEYS = 'the keys of the issuer cannot be fetched';

/** Returns the use cases of auth methods. Lists leave out Config, which may hold credentials. */
export function methodUseCases(parts: MethodParts): ObjectUseCases<MethodBody> {
  return {
    ...objectUseCases(parts.service, methods, {
      shownText: (text, isWriter) => (isWriter() && !isHidden(text) ? text : withoutSecrets(text)),
    }),
    write: (write, name, body) => writeMethod(parts, write, name, body),
  };
}

/**
 * Creates or replaces an auth method. Returns it as answered. `name` is that of the path, if any.
 */
async function writeMethod(
  { service, methodTypes: types, logger }: MethodParts,
  write: Write,
  name: string | undefined,
  body: MethodBody,
): Promise<string> {
  const sent = body.Name ?? '';
  if (name !== undefined && sent !== '' && sent !== name) {
    reject('invalid', 'AuthMethod Name in URL and payload do not match', { pointer: '/Name' });
  }
  await mayWrite(service, write);
  const wanted = name ?? sent;
  const misnamed = methods.nameProblem?.(wanted);
  if (misnamed !== undefined) reject('invalid', misnamed, { pointer: '/Name' });
  const key = keys.method(write.ns, wanted);
  const before = await settled(service, write, (view) => stored<AuthMethod>(view, key));
  const type = typeOf(types, body, before);
  const given = { Config: body.Config ?? {} };
  const kept = keepSecrets('method', given, before);
  if ('problem' in kept) throw new ApiError(kept.problem);
  const Config = kept.body['Config'] as AuthMethod['Config'];
  const fields = commonFields(body);
  const problem = type.checkConfig(Config, write.ns);
  if (problem !== undefined) throw new ApiError(problem);
  const rules = namespaceRules({ ...body, Config }, type, write.ns);
  if (before !== undefined) await keepsItsRules(service, before, type, Config);
  if (type.name === 'oidc') mustEnd(service, fields);
  const shown = { authMethod: wanted, namespace: write.ns };
  // Last, so that no request is sent to an issuer for a method that is refused anyway.
  const named = { Name: wanted, Namespace: write.ns, Config };
  refuseIf(await issuerRefusal(type, named, logger));
  const { MaxTokenTTL, ...rest } = fields;
  const method = {
    ...(MaxTokenTTL === undefined ? {} : { MaxTokenTTL }),
    Name: wanted,
    Type: type.name,
    ...rest,
    ...(rules.length > 0 ? { NamespaceRules: rules } : {}),
    Config,
  };
  const namesClaim = Object.keys(method.Config).some((key) => IDENTITY_CLAIM.test(key));
  const command: MethodSet = {
    ...({ type: 'method.set', v: 1, ns: write.ns, method } as const),
    ...(namesClaim && { identityClaim: true }),
    ...(type.name === 'oidc' && { oidcKey: newKey() }),
  };
  const isKept = kept.body !== given;
  const written = await (isKept
    ? writeKept(service, write, command, before!.ModifyIndex)
    : service.write(write, command));
  if (loginLifeMs(service.view, method) === undefined) {
    const what = 'an auth method without MaxTokenTTL makes tokens that never expire';
    logger.warn({ event: 'tokens_never_expire', ...shown }, what);
  }
  return isHidden(written) ? withoutSecrets(written) : written;
}

/**
 * Writes a method with secrets of its version `index`, unless another write has changed it
 * meanwhile: they may not be those of now. Throws ApiError.
 */
async function writeKept(
  service: Service,
  write: Write,
  command: MethodSet,
  index: number,
): Promise<string> {
  if (write.match !== undefined && write.match !== 'any') return service.write(write, command);
  return service.write({ ...write, match: [index] }, command).catch((error: unknown) => {
    const isMoved = error instanceof ApiError && error.refusal.code === 'precondition_failed';
    if (!isMoved) throw error;
    const name = JSON.stringify(command.method.Name);
    return reject('conflict', `Other requests are changing auth method ${name}: try again`);
  });
}

/** Throws ApiError if tokens of a method would never expire. */
function mustEnd(service: Service, { MaxTokenTTL = '' }: { readonly MaxTokenTTL?: string }): void {
  if (loginLifeMs(service.view, { MaxTokenTTL }) !== undefined) return;
  const why = 'Invalid Auth Method: set MaxTokenTTL: groups are read again only when a token ends';
  reject('invalid', why, { pointer: '/MaxTokenTTL' });
}

/** Whether a method has secrets that nobody may see, not even its writer. */
const isHidden = (text: string): boolean => text.includes('"Type":"oidc"');

/**
 * Returns why the keys or settings that a method's logins need cannot be fetched. Throws ApiError
 * `too_many`.
 */
export async function issuerRefusal(
  type: AuthMethodType,
  {
    Name: authMethod,
    Namespace: namespace,
    Config,
  }: Pick<AuthMethod, 'Name' | 'Namespace' | 'Config'>,
  logger: LoginLogger,
): Promise<Refusal | undefined> {
  const issuer = await type.checkIssuer(Config, namespace);
  if (issuer === undefined) return undefined;
  const failed = {
    event: 'issuer_unusable',
    authMethod,
    namespace,
    reason: issuer.reason,
  } as const;
  logger.warn(failed, 'the issuer of an auth method cannot be used');
  return refusal('invalid', `Invalid Auth Method: error checking ${issuer.key}: ${NO_KEYS}`, {
    pointer: `/Config/${issuer.key}`,
    hint: 'the log of the node that answered has the reason',
  });
}

/** The keys of a Config match in any letter case. */
const IDENTITY_CLAIM = /^identityclaim$/i;

/**
 * Throws ApiError if a valid binding rule names a claim that the new Config no longer maps. A rule
 * that is written at the same moment is missed; it then matches no login.
 */
async function keepsItsRules(
  service: Service,
  before: AuthMethod,
  type: AuthMethodType,
  config: MethodBody['Config'],
): Promise<void> {
  refuseIf(await inSlices(brokenRule(service.view, before, type, config), 'lint'));
}

/** Returns the refusal of a Config that a valid binding rule does not allow, see above. */
export function* brokenRule(
  view: View,
  before: AuthMethod,
  type: AuthMethodType,
  config: MethodBody['Config'],
): Steps<Refusal | undefined> {
  const [was, is] = [type.shapeOf(before.Config), type.shapeOf(config)];
  if (knowsAllOf(is, was)) return undefined;
  const unfit = yield* unfitRule(rulesOf(view, before), was, is);
  if (unfit === undefined) return undefined;
  const why = `Invalid Auth Method: binding rule ${unfit.ID} needs what this Config no longer maps: ${unfit.message}`;
  const hint = 'change or delete the rule first';
  return refusal('conflict', why, { pointer: '/Config', hint });
}

/** Returns the first rule that fits one shape and not another, and why. Each step checks one. */
function* unfitRule(
  rules: readonly BindingRule[],
  was: IdentityShape,
  is: IdentityShape,
): Steps<{ readonly ID: string; readonly message: string } | undefined> {
  for (const rule of rules) {
    yield;
    const { ID, Namespace } = rule;
    const problem = checkBindingRule(rule, is, Namespace);
    if (problem === undefined || checkBindingRule(rule, was, Namespace)) continue;
    return { ID, message: problem.message };
  }
  return undefined;
}

/** Whether rules that are valid for one shape are valid for another. */
export function knowsAllOf(shape: IdentityShape, other: IdentityShape): boolean {
  const mapped = Object.entries(other.mapped).every(([root, names]) =>
    names.every((name) => shape.mapped[root]?.includes(name)),
  );
  return mapped && other.variables.every((name) => shape.variables.includes(name));
}

/** Returns the type of a method: the sent one, or the stored one. Throws ApiError. */
function typeOf(
  types: AuthMethodTypes,
  { Type = '' }: MethodBody,
  before: AuthMethod | undefined,
): AuthMethodType {
  if (before !== undefined && Type !== '' && Type !== before.Type) {
    const why = 'the Type field of an Auth Method is immutable';
    reject('invalid', why, { pointer: '/Type' });
  }
  const known = [...types.keys()].sort();
  const wanted = Type === '' ? (before?.Type ?? '') : Type;
  const why = `Invalid Auth Method: Type should be one of: [${known.join(' ')}]${didYouMean(wanted, known)}`;
  return types.get(wanted) ?? reject('invalid', why, { pointer: '/Type' });
}

/** Checks what methods of all types have. Returns it in answer order, without empty members. */
function commonFields(body: MethodBody) {
  const { MaxTokenTTL = 0, TokenLocality = '', DisplayName, Description } = body;
  if (MaxTokenTTL !== 0 && (MaxTokenTTL < TTL_MIN || MaxTokenTTL > TTL_MAX)) {
    const is = `MaxTokenTTL ${formatDuration(MaxTokenTTL)} cannot be`;
    const why =
      MaxTokenTTL < TTL_MIN ? `${is} less than 1m0s` : `${is} more than ${formatDuration(TTL_MAX)}`;
    reject('invalid', why, { pointer: '/MaxTokenTTL' });
  }
  if (!['', 'local', 'global'].includes(TokenLocality)) {
    const why = "Invalid Auth Method: TokenLocality should be one of 'local' or 'global'";
    reject('invalid', why, { pointer: '/TokenLocality' });
  }
  return {
    ...(MaxTokenTTL === 0 ? {} : { MaxTokenTTL: formatDuration(MaxTokenTTL) }),
    ...(DisplayName ? { DisplayName } : {}),
    ...(Description ? { Description } : {}),
    ...(TokenLocality ? { TokenLocality } : {}),
  };
}

type NamespaceRule = NonNullable<AuthMethod['NamespaceRules']>[number];

/** Checks the rules that select the namespace of a login's token. The Config is already checked. */
function namespaceRules(body: MethodBody, type: AuthMethodType, ns: string): NamespaceRule[] {
  const rules = body.NamespaceRules ?? [];
  if (rules.length > 0 && ns !== DEFAULT_NAMESPACE) {
    const why =
      'Invalid Auth Method: NamespaceRules are allowed only on a method of the namespace "default"';
    reject('invalid', why, { pointer: '/NamespaceRules' });
  }
  const shape = type.shapeOf(body.Config);
  const words = new Map(shape.variables.map((variable) => [variable, 'fake']));
  return rules.map(({ Selector = '', BindNamespace = '' }, position) => {
    const fail = (why: string, field: string): never =>
      reject('invalid', `Invalid Auth Method: NamespaceRules[${position}]: ${why}`, {
        pointer: `/NamespaceRules/${position}/${field}`,
      });
    const selector = Selector === '' ? undefined : selectorProblem(Selector, shape);
    if (selector !== undefined) fail(`Selector is invalid: ${selector}`, 'Selector');
    if (BindNamespace === '') fail('no BindNamespace is set', 'BindNamespace');
    const name = interpolate(BindNamespace, words);
    if (!name.ok) {
      fail(`error interpreting template: ${name.problem.message}`, 'BindNamespace');
    } else if (!isNamespaceName(name.value)) {
      const shown = JSON.stringify(name.value.slice(0, 80));
      fail(`${shown} cannot be a namespace, whose name is a DNS label`, 'BindNamespace');
    }
    return { Selector, BindNamespace };
  });
}

/** Returns a method without the secrets of its Config. */
const withoutSecrets = (text: string): string =>
  JSON.stringify(hideSecrets('method', JSON.parse(text) as AuthMethod));
