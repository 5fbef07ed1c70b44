/** Commands that give a few tokens rights and take them, by chance. */
import type { Random } from '../../cluster/checker/random.js';
import { keys } from '../../src/state/keys.js';
import { stored } from '../../src/state/lists.js';
import type { AuthMethod } from '../../src/state/methods.js';
import type { Command, View } from '../../src/state/types.js';

const AT = '2030-01-01T00:00:00Z';
const NS = 'default';
const METHOD = 'of-rights';
const RULES = [
  '',
  'acl = "read"',
  'service "web" { policy = "write" }',
  'service_prefix "" { policy = "read" }',
  'service "web" { policy = "deny" }',
];
const idOf = (kind: number, n: number): string =>
  `${String(kind).padStart(8, '0')}-bbbb-4bbb-8bbb-${String(n).padStart(12, '0')}`;
const idsOf = (kind: number): readonly string[] => [0, 1, 2].map((n) => idOf(kind, n));
const [POLICIES, ROLES, TOKENS] = [idsOf(1), idsOf(2), idsOf(3)];

/** Ends the tokens of some logins, and may refuse these. */
function revoke(random: Random, n: number): object {
  const Subject = `user-${random.int(4)}`;
  const whom = random.chance(0.7) ? { Subject } : { SubjectPrefix: random.pick(['', 'user-']) };
  const until = random.pick([AT, '2030-01-01T00:01:00.000Z']);
  const block = random.chance(0.2) && { block: { id: idOf(7, n), until } };
  return { type: 'identity.revoke', name: METHOD, whom, count: 0, ...block };
}

/**
 * `n`: another number for each command. `view`: what the server knows that gets it. `mayRevoke`:
 * whether its release can revoke identities.
 */
export function rightsCommand(random: Random, n: number, view: View, mayRevoke: boolean): Command {
  const has = (key: string): boolean => view.get(key) !== undefined;
  const some = (ids: readonly string[], keyOf: (ns: string, id: string) => string): object[] =>
    ids.filter((id) => has(keyOf(NS, id)) && random.chance(0.7)).map((ID) => ({ ID }));
  const [policy, role, accessor] = [POLICIES, ROLES, TOKENS].map((ids) => random.pick(ids));
  const Policies = some(POLICIES, keys.policy);
  const Roles = some(ROLES, keys.role);
  const setPolicy = {
    type: 'policy.set',
    id: policy,
    create: !has(keys.policy(NS, policy!)),
    hash: `${n}`,
    policy: { Name: `of-${policy}`, Description: '', Rules: random.pick(RULES) },
  };
  const setRole = {
    type: 'role.set',
    id: role,
    create: !has(keys.role(NS, role!)),
    role: { Name: `of-${role}`, Description: `role ${n}`, Policies },
  };
  const token = { Description: `token ${n}`, Policies, Roles, Local: false };
  const setToken = has(keys.token(NS, accessor!))
    ? { type: 'token.update', accessor, nowMs: Date.parse(AT), token }
    : { type: 'token.create', accessor, secret: idOf(4, n), createTime: AT, token };
  const method = stored<AuthMethod>(view, keys.method(NS, METHOD));
  const setMethod = { type: 'method.set', method: { Name: METHOD, Type: 'jwt', Config: {} } };
  // `authored` says who logs in, and whose tokens are revoked
  const login = {
    type: 'token.login',
    accessor: idOf(5, n),
    secret: idOf(6, n),
    createTime: AT,
    method: { ns: NS, name: METHOD, modifyIndex: method?.ModifyIndex ?? 0 },
    identity: 'a'.repeat(64),
    token: { ...token, ServiceIdentities: [{ ServiceName: 'web' }] },
  };
  const setLogin = method === undefined ? setMethod : login;
  const sets: readonly object[] = [
    ...[setPolicy, setPolicy, setRole, setRole],
    ...[setToken, setToken, setLogin, setLogin],
  ];
  const deletes: readonly object[] = [
    { type: 'policy.delete', id: policy },
    { type: 'role.delete', id: role },
    { type: 'token.delete', accessor, callerKey: null },
    ...(mayRevoke ? [revoke(random, n), revoke(random, n)] : []),
  ];
  const command = random.pick(random.chance(0.15) ? deletes : sets);
  return { ns: NS, v: 1, ...command } as object as Command;
}
