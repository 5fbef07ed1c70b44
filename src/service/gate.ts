/**
 * What the leader asks before it proposes a command: may this caller do this, by the leader's applied state? The table
 * names the right for every command; what is not in it is refused.
 */
import type { Authorizer } from '../acl/types.js';
import { type Refusal, refusal } from '../errors.js';
import { type Gate, INTERNAL_KEY } from '../node/types.js';
import { HANDLERS } from '../state/handlers.js';
import { keys } from '../state/keys.js';
import { stored } from '../state/lists.js';
import { DEFAULT_NAMESPACE, type Namespace, type NamespaceSet } from '../state/namespaces.js';
import { type Bootstrap, bootstrapProblem } from '../state/system.js';
import type { TokenLogout } from '../state/token-commands.js';
import type { Command, View } from '../state/types.js';
import { aclConfigurationDenial } from './acl-configuration.js';
import type { Authorizers } from './authorizers.js';

/** The 403 text if the caller lacks the right. */
type Check = (authorizer: Authorizer, command: Command, view: View) => string | undefined;
/** `open`: anyone, the command itself decides. `internal`: the server alone. */
type Rule = Check | 'open' | 'internal';

/** Checks for other groups of commands, by the part of their type before the dot. */
export type GroupChecks = Readonly<Record<string, Check>>;

const aclWrite: Check = (authorizer, command) =>
  authorizer.denial('acl', 'write', undefined, (command as Command & { ns: string }).ns);

/** What a namespace gives to its tokens, or takes away from them, is a matter of access control. */
const namespaceSet: Check = (authorizer, command, view) => {
  const { namespace } = command as NamespaceSet;
  const before = stored<Namespace>(view, keys.namespace(namespace.Name));
  const links = namespace.PolicyDefaults.length + namespace.RoleDefaults.length;
  const setsDefaults = links > 0 || before?.ACLs !== undefined;
  return (
    authorizer.denial('namespace', 'write', namespace.Name) ??
    (setsDefaults ? authorizer.denial('acl', 'write', undefined, DEFAULT_NAMESPACE) : undefined)
  );
};

const RULES: Readonly<Record<string, Rule>> = {
  'policy.set': aclWrite,
  'policy.delete': aclWrite,
  'role.set': aclWrite,
  'role.delete': aclWrite,
  'token.create': aclWrite,
  'token.update': aclWrite,
  'token.clone': aclWrite,
  'token.delete': aclWrite,
  'method.set': aclWrite,
  'method.delete': aclWrite,
  'rule.set': aclWrite,
  'rule.delete': aclWrite,
  // verified by the member that took the login
  'token.login': 'open',
  'token.logout': 'open',
  bootstrap: 'open',
  'namespace.set': namespaceSet,
  'namespace.delete': (authorizer, command) =>
    authorizer.denial('namespace', 'write', (command as Command & { name: string }).name),
  'fact.set': (authorizer) => authorizer.denial('operator', 'write'),
  'acl.configure': (authorizer) => aclConfigurationDenial(authorizer, 'write'),
  'system.init': 'internal',
  'token.reap': 'internal',
  'method.reap': 'internal',
  'namespace.reap': 'internal',
  'request.forget': 'internal',
};

/** Builds the gate over the leader's authorizers. */
export function makeGate(authorizers: Authorizers, groups: GroupChecks): Gate {
  return (view, tokenKey, command) => {
    const rule = Object.hasOwn(RULES, command.type)
      ? RULES[command.type]
      : groupCheck(groups, command.type);
    const isKnown = Object.hasOwn(HANDLERS, command.type) && command.v === 1;
    if (rule === undefined || !isKnown) return unknownCommand(command);
    if (tokenKey === INTERNAL_KEY) return undefined;
    if (rule === 'open') return openProblem(authorizers, view, tokenKey, command);
    if (rule === 'internal') {
      return refusal('permission_denied', 'Permission denied: only the server itself does this');
    }
    const authorizer = authorizers.of(tokenKey);
    if (authorizer === undefined) return refusal('acl_not_found', 'ACL not found');
    const why = rule(authorizer, command, view);
    return why === undefined ? undefined : refusal('permission_denied', why);
  };
}

/** A newer member may send what this one cannot apply: in the log it would stop every member of this version. */
function unknownCommand({ type, v }: Command): Refusal {
  const what = `${JSON.stringify(type)} version ${v}`;
  return refusal(
    'unavailable',
    `The leader does not know the command ${what}: it is being upgraded`,
  );
}

function groupCheck(groups: GroupChecks, type: string): Check | undefined {
  const group = type.slice(0, type.indexOf('.'));
  return Object.hasOwn(groups, group) ? groups[group] : undefined;
}

/** What apply would refuse for lack of a token or of the occasion: nobody without either writes into the log. */
function openProblem(
  authorizers: Authorizers,
  view: View,
  tokenKey: string | null,
  command: Command,
): Refusal | undefined {
  if (command.type === 'bootstrap')
    return bootstrapProblem(view, (command as Bootstrap).resetIndex);
  if (command.type !== 'token.logout') return undefined;
  if ((command as TokenLogout).secretKey !== tokenKey) {
    return refusal('permission_denied', 'Permission denied: a token can only log itself out');
  }
  const isKnown = authorizers.of(tokenKey) !== undefined;
  return isKnown ? undefined : refusal('acl_not_found', 'ACL not found');
}
