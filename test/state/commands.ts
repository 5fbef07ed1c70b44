/** Random ACL commands over a few names and ids, so that they interact. */
import fc from 'fast-check';
import { keys } from '../../src/state/keys.js';
import { type LinkInput, resolveLinks } from '../../src/state/links.js';
import { stored } from '../../src/state/lists.js';
import type { Command, View } from '../../src/state/types.js';

const uuid = (kind: number, n: number): string =>
  `${String(kind).padStart(8, '0')}-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`;

const NAMESPACES = ['default', 'red'];
const ns = fc.constantFrom(...NAMESPACES);
const name = fc.constantFrom('a', 'A', 'b', '__proto__');
const idOf = (kind: number) => fc.integer({ min: 1, max: 3 }).map((n) => uuid(kind, n));
const policyId = idOf(1);
const roleId = idOf(2);
const accessor = idOf(3);
const ruleId = idOf(4);
const link = (id: fc.Arbitrary<string>) =>
  fc.oneof(
    id.map((ID) => ({ ID })),
    name.map((Name) => ({ Name })),
  );
const links = (id: fc.Arbitrary<string>) => fc.array(link(id), { maxLength: 3 });
const RULES = ['acl = "read"', 'acl = "write"', 'service "web" { policy = "write" }', ''];

const token = fc.record({
  Description: name,
  Policies: links(policyId),
  Roles: links(roleId),
  Local: fc.constant(false),
});
const newToken = {
  v: fc.constant(1 as const),
  ns,
  accessor,
  secret: idOf(5),
  createTime: fc.constant('2030-01-01T00:00:00Z'),
};
const expirationTime = fc.constantFrom('2030-01-01T00:01:00Z', '2030-01-01T00:02:00Z');
/** Milliseconds at which the first, both or none of the expirations have passed. */
const nowMs = fc.constantFrom(
  ...['00:00:30', '00:01:00', '00:03:00'].map((at) => Date.parse(`2030-01-01T${at}Z`)),
);
const v = fc.constant(1 as const);
const type = <T extends string>(text: T) => fc.constant(text);

const policySet = fc.record({
  ...{ type: type('policy.set'), v, ns, id: policyId, create: fc.boolean(), hash: name },
  policy: fc.record({ Name: name, Description: name, Rules: fc.constantFrom(...RULES) }),
});
const roleSet = fc.record({
  ...{ type: type('role.set'), v, ns, id: roleId, create: fc.boolean() },
  role: fc.record({ Name: name, Description: name, Policies: links(policyId) }),
});
const ruleSet = fc.record({
  ...{ type: type('rule.set'), v, ns, id: ruleId, create: fc.boolean() },
  rule: fc.record({ Description: name, AuthMethod: name, BindType: name, BindName: name }),
});
const login = fc
  .record({
    ...{ type: type('token.login'), ...newToken },
    method: fc.record({ ns, name }),
    token,
    identity: fc.constantFrom(undefined, 'a'.repeat(64), 'b'.repeat(64)),
  })
  .map(({ method, identity, ...rest }) => ({
    ...rest,
    method: { ...method, modifyIndex: -1 },
    ...(identity === undefined ? {} : { identity }),
  }));
const configure = fc.record({
  ...{ type: type('acl.configure'), v },
  configuration: fc.record({
    LoginTokenTTL: fc.constantFrom('', '1m0s'),
    LoginTokenTTLMax: fc.constantFrom('', '2m0s'),
    TokensPerIdentity: fc.constantFrom(0, 1, 2),
    OnTokenLimit: fc.constantFrom('refuse', 'replace'),
  }),
});

/** A random command. Most are refused as they are: see `fitted`. */
export const aCommand: fc.Arbitrary<Command> = fc.oneof(
  policySet,
  roleSet,
  fc.record({ type: type('token.create'), ...newToken, token }),
  fc.record({ type: type('policy.delete'), v, ns, id: policyId }),
  roleSet,
  fc.record({ type: type('role.delete'), v, ns, id: roleId }),
  fc.record({ type: type('token.create'), ...newToken, token }),
  fc.record({ type: type('token.create'), ...newToken, token, expirationTime }),
  fc.record({ type: type('token.update'), v, ns, accessor, nowMs, token }),
  fc.record({ type: type('token.clone'), ...newToken, source: accessor, nowMs }),
  fc.record({ type: type('token.delete'), v, ns, accessor, callerKey: fc.constant(null) }),
  login,
  configure,
  fc.record({ type: type('token.reap'), v, nowMs, max: fc.integer({ min: 1, max: 2 }) }),
  fc.record({
    ...{ type: type('method.set'), v, ns },
    method: fc.record({ Name: name, Type: fc.constant('jwt'), Config: fc.constant({}) }),
  }),
  fc.record({ type: type('method.delete'), v, ns, name }),
  ruleSet,
  fc.record({ type: type('rule.delete'), v, ns, id: ruleId }),
  fc.record({
    ...{ type: type('namespace.set'), v, policyId: idOf(6) },
    namespace: fc.record({
      Name: ns,
      PolicyDefaults: links(policyId),
      RoleDefaults: links(roleId),
    }),
  }),
  fc.record({
    ...{ type: type('namespace.delete'), v, name: ns },
    at: fc.constant('2030-01-01T00:00:00Z'),
  }),
  fc.record({ type: type('namespace.reap'), v, name: ns }),
) as fc.Arbitrary<Command>;

interface Loose {
  type: string;
  ns?: string;
  id?: string;
  create?: boolean;
  method?: { ns: string; name: string; modifyIndex: number };
  [holder: string]: unknown;
}
type Linking = { Policies?: readonly LinkInput[]; Roles?: readonly LinkInput[] };

/** The command changed to succeed more often: without dangling links, with the right `create`. */
export function fitted(command: Command, view: View): Command {
  const loose: Loose = { ...(command as unknown as Loose) };
  const { ns = 'default', id = '' } = loose;
  if (loose.create !== undefined) {
    const table = loose.type.split('.')[0] as 'policy' | 'role' | 'rule';
    loose.create = view.get(keys[table](ns, id)) === undefined;
  }
  for (const holder of ['role', 'token']) {
    if (typeof loose[holder] !== 'object') continue;
    const { Policies, Roles, ...rest } = loose[holder] as Linking;
    const leading = (target: 'policy' | 'role', links: readonly LinkInput[] = []) =>
      links.filter((link) => 'ids' in resolveLinks(view, target, ns, [link]));
    loose[holder] = {
      ...rest,
      Policies: leading('policy', Policies),
      ...(Roles === undefined ? {} : { Roles: leading('role', Roles) }),
    };
  }
  if (loose.type === 'token.login' && loose.method !== undefined) {
    const { ns: methodNs, name: methodName } = loose.method;
    const found = stored<{ ModifyIndex: number }>(view, keys.method(methodNs, methodName));
    loose.method = { ...loose.method, modifyIndex: found?.ModifyIndex ?? 0 };
    loose['token'] = {
      ...(loose['token'] as object),
      ServiceIdentities: [{ ServiceName: 'web' }],
    };
  }
  return loose as unknown as Command;
}
