/** What the names of objects may look like. All are ASCII, so characters and bytes are the same. */

const IDENTITY = /^[a-z0-9](?:[a-z0-9_-]{0,254}[a-z0-9])?$/;
const ROLE = /^[A-Za-z0-9_-]{1,256}$/;
const METHOD = /^[A-Za-z0-9_-]{1,128}$/;
const POLICY = /^[A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]*)?$/;
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Characters of the name of a policy, as in Consul. */
const POLICY_NAME_MAX = 128;

/**
 * Service and node names of identities: 1..256, lower case letters and digits, `-` and `_` only
 * inside.
 */
export const isIdentityName = (name: string): boolean => IDENTITY.test(name);
/** Role names: 1..256 letters, digits, `-` and `_`. */
export const isRoleName = (name: string): boolean => ROLE.test(name);
/** Auth method names: 1..128 letters, digits, `-` and `_`. */
export const isMethodName = (name: string): boolean => METHOD.test(name);
/**
 * Policy names: 1..128 letters, digits, `-` and `_`, one `/` inside or at the end, not below
 * `builtin/`.
 */
export const isPolicyName = (name: string): boolean => policyNameProblem(name) === undefined;
/** Namespace names: a DNS host label in lower case. */
export const isNamespaceName = (name: string): boolean => NAMESPACE.test(name);
/** A UUID in its usual form, in any letter case. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** What is wrong with a policy's name, as a sentence; undefined when nothing is. */
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

/** The sentence for a service or node name that isIdentityName refuses. */
export function identityNameProblem(kind: 'Service' | 'Node', name: string): string {
  return (
    `${kind} identity "${name}" has an invalid name. It must be 1 to 256 characters long, start and end with a ` +
    "lower case letter or a digit, and hold only lower case letters, digits, '-' and '_'"
  );
}
