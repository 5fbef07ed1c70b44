/** The rules for the names of ACL objects. All names are ASCII, so one character is one byte. */

const IDENTITY = /^[a-z0-9](?:[a-z0-9_-]{0,254}[a-z0-9])?$/;
const ROLE = /^[A-Za-z0-9_-]{1,256}$/;
const METHOD = /^[A-Za-z0-9_-]{1,128}$/;
const POLICY = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]*)?$/;
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Maximum number of characters of a policy's name, as in Consul. */
const POLICY_NAME_MAX = 128;

/**
 * Whether the text is a service or node name of an identity: 1 to 256 lower-case letters, digits,
 * `-` and `_`, with `-` and `_` only inside.
 */
export const isIdentityName = (name: string): boolean => IDENTITY.test(name);
/** Whether the text is a role name: 1 to 256 letters, digits, `-` and `_`. */
export const isRoleName = (name: string): boolean => ROLE.test(name);
/** Whether the text is an auth method name: 1 to 128 letters, digits, `-` and `_`. */
export const isMethodName = (name: string): boolean => METHOD.test(name);
/**
 * Whether the text is a policy name: 1 to 128 letters, digits, `-` and `_`, with at most one `/`
 * inside or at the end. Names below `builtin/` are reserved.
 */
export const isPolicyName = (name: string): boolean => policyNameProblem(name) === undefined;
/** Whether the text is a namespace name: a DNS label in lower case. */
export const isNamespaceName = (name: string): boolean => NAMESPACE.test(name);
/** Whether the text is a UUID with hyphens, in any letter case. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** Returns why a policy name is invalid, as a sentence; undefined if it is valid. */
export function policyNameProblem(name: string): string | undefined {
  if (name === '') return 'Invalid Policy: no Name is set';
  if (name.length > POLICY_NAME_MAX) {
    return `Invalid Policy: invalid Name. Length must be at most ${POLICY_NAME_MAX} characters, not ${name.length}`;
  }
  if (name.startsWith('/') || name.startsWith('builtin/')) {
    return "Invalid Policy: invalid Name. Names cannot be prefixed with '/' or 'builtin/'";
  }
  if (!POLICY.test(name)) {
    return "Invalid Policy: invalid Name. Only alphanumeric characters, a single '/', '-' and '_' are allowed";
  }
  return undefined;
}

/** Returns the sentence for a service or node name that isIdentityName refuses. */
export function identityNameProblem(kind: 'Service' | 'Node', name: string): string {
  return (
    `${kind} identity "${name}" has an invalid name. It must be 1 to 256 characters long, ` +
    'start and end with a lower case letter or a digit, ' +
    "and contain only lower case letters, digits, '-' and '_'"
  );
}
