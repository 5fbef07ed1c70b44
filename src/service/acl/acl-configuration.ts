/**
 * Use cases of the ACL configuration: how long tokens of logins live, and how many one identity may
 * have.
 */
import { isNamespaceName } from '../../acl/names.js';
import type { Authorizer } from '../../acl/types.js';
import { refuseIf, reject } from '../../base/errors.js';
import { lowerAscii } from '../../base/text.js';
import { formatDuration } from '../../languages/duration.js';
import { bodyOf } from '../../languages/fields.js';
import { pointerOf } from '../../languages/pointers.js';
import { didYouMean } from '../../languages/suggest.js';
import { levelOf } from '../../state/levels.js';
import {
  ACL_DEFAULTS,
  ACL_FACT,
  type AclConfiguration,
  type AclConfigure,
  aclConfiguration,
  configurationDenial,
  configurationFields,
  REPLACED_MAX,
  type SubjectTypes,
} from '../../state/login-limits.js';
import { DEFAULT_NAMESPACE } from '../../state/object.js';
import { decodeBody } from '../common/decode.js';
import type { ReadUseCase, Requester, Service } from '../common/types.js';

export const CONFIGURATION_BODY = bodyOf(configurationFields);

/** Shortest life of the tokens of logins, in nanoseconds: the clocks of members differ. */
export const TTL_MIN = 60e9;
/** Longest life of the tokens of logins, in nanoseconds: a hundred years. */
export const TTL_MAX = 100 * 365 * 24 * 3600e9;
const ON_LIMIT = ['refuse', 'replace'] as const;

/** Permits a write of the configuration. Throws ApiError 403. */
export const mayConfigure = (service: Service, requester: Requester): Promise<Authorizer> =>
  service.permit(requester, (authorizer) => configurationDenial(authorizer, 'write'));

/** Decodes a configuration. Absent members take their defaults. Throws ApiError `invalid`. */
export function decodeConfiguration(failure: string, body: unknown): AclConfiguration {
  const sent = decodeBody(failure, body, CONFIGURATION_BODY);
  const { LoginTokenTTL = 0, LoginTokenTTLMax = 0, TokensPerIdentity = 0 } = sent;
  const fail = (field: keyof AclConfiguration, why: string): never =>
    reject('invalid', `${failure}: ${field} ${why}`, { pointer: `/${field}` });
  for (const [field, ttl] of Object.entries({ LoginTokenTTL, LoginTokenTTLMax })) {
    if (ttl === 0) continue;
    const is = `${formatDuration(ttl)} cannot be`;
    if (ttl < TTL_MIN) fail(field as 'LoginTokenTTL', `${is} less than 1m0s`);
    if (ttl > TTL_MAX) fail(field as 'LoginTokenTTL', `${is} more than ${formatDuration(TTL_MAX)}`);
  }
  if (LoginTokenTTLMax !== 0 && LoginTokenTTL > LoginTokenTTLMax) {
    const most = formatDuration(LoginTokenTTLMax);
    const why = `${formatDuration(LoginTokenTTL)} cannot be more than LoginTokenTTLMax, which is ${most}`;
    fail('LoginTokenTTL', why);
  }
  if (TokensPerIdentity > REPLACED_MAX) {
    fail('TokensPerIdentity', `${TokensPerIdentity} cannot be more than ${REPLACED_MAX}`);
  }
  const { OnTokenLimit: wanted = ACL_DEFAULTS.OnTokenLimit } = sent;
  const OnTokenLimit =
    ON_LIMIT.find((known) => known === wanted) ??
    fail('OnTokenLimit', `should be one of: refuse, replace${didYouMean(wanted, ON_LIMIT)}`);
  const SubjectTypes = sent.SubjectTypes ?? undefined;
  checkSubjectTypes(failure, SubjectTypes ?? {});
  const textOf = (ttl: number): string => (ttl === 0 ? '' : formatDuration(ttl));
  return {
    LoginTokenTTL: textOf(LoginTokenTTL),
    LoginTokenTTLMax: textOf(LoginTokenTTLMax),
    TokensPerIdentity,
    OnTokenLimit,
    ...(SubjectTypes !== undefined && { SubjectTypes: withNamespaces(SubjectTypes) }),
  };
}

/** A name of a subject type: at most 64 characters, as applications write them. */
const SUBJECT_TYPE = /^[\w.:-]{1,64}$/;
/** Subject types of the server itself (decisions.md 2.1). */
export const OWN_TYPES: readonly string[] = ['token', 'token_secret', 'jwt', 'identity', 'role'];

function checkSubjectTypes(failure: string, types: SubjectTypes): void {
  for (const [name, { AuthMethod, Namespace, From }] of Object.entries(types)) {
    const pointer = pointerOf(['SubjectTypes', name]);
    const fail = (why: string, more = ''): never =>
      reject('invalid', `${failure}: SubjectTypes: ${JSON.stringify(name.slice(0, 64))} ${why}`, {
        pointer: pointer + more,
      });
    if (!SUBJECT_TYPE.test(name)) fail('is not 1 to 64 of the characters A-Z a-z 0-9 . _ : -');
    if (OWN_TYPES.includes(name)) fail('is a type of the server itself');
    if (AuthMethod === '') fail('names no AuthMethod', '/AuthMethod');
    if (Namespace !== '' && !isNamespaceName(lowerAscii(Namespace)))
      fail('names what cannot be a namespace', '/Namespace');
    if (!['tokens', 'properties'].includes(From))
      fail(`has a From that is not tokens or properties`, '/From');
  }
}

/** Returns subject types with the namespaces that are meant. */
const withNamespaces = (types: SubjectTypes): SubjectTypes =>
  Object.fromEntries(
    Object.entries(types).map(([name, { AuthMethod, Namespace, From }]) => [
      name,
      { AuthMethod, Namespace: lowerAscii(Namespace) || DEFAULT_NAMESPACE, From },
    ]),
  );

/** The level from which the configuration has SubjectTypes. */
const TYPES_LEVEL = 3;

/** Replaces the configuration. Returns it as answered. For `ifMatch`, see `AclConfigure`. */
export function writeConfiguration(
  service: Service,
  requester: Requester,
  configuration: AclConfiguration,
  ifMatch: readonly number[] | undefined,
): Promise<string> {
  const hasTypes = levelOf(service.view) >= TYPES_LEVEL || configuration.SubjectTypes !== undefined;
  const command: AclConfigure = {
    type: 'acl.configure',
    v: 1,
    configuration: hasTypes
      ? { ...configuration, SubjectTypes: configuration.SubjectTypes ?? {} }
      : configuration,
    ...(hasTypes && { subjectTypes: true }),
    ...(ifMatch !== undefined && { ifMatch }),
  };
  return service.write(requester, command);
}

/** Reads the configuration in force. */
export const readConfiguration: ReadUseCase<string> = ({ view, authorizer }) => {
  refuseIf(configurationDenial(authorizer, 'read'));
  const { ModifyIndex, SubjectTypes = {}, ...rest } = aclConfiguration(view);
  const types = levelOf(view) >= TYPES_LEVEL ? { SubjectTypes } : {};
  const value = JSON.stringify({ ...rest, ...types, ModifyIndex });
  return { value, index: ModifyIndex, keys: [ACL_FACT] };
};
