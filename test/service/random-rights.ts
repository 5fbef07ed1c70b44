/** Random states of policies, roles, namespaces with defaults, and tokens that link them. */
import fc from 'fast-check';
import type { Command } from '../../src/state/types.js';
import { policyText } from '../acl/random-grants.js';
import { Solo } from './solo.js';

const NAMESPACES = ['default', 'team-a'];
const id = (kind: number, ns: number, n: number): string =>
  `0000000${kind}-aaaa-4aaa-8aaa-${String(ns * 100 + n).padStart(12, '0')}`;
/** The secrets of the tokens of `aState`. */
export const SECRETS = NAMESPACES.flatMap((_, ns) => [0, 1, 2].map((n) => id(5, ns, n)));

const datacenters = fc.constantFrom(undefined, undefined, undefined, ['dc1'], ['dc2']);
const limited = <T extends object>(item: T, Datacenters: readonly string[] | undefined) => ({
  ...item,
  ...(Datacenters !== undefined && { Datacenters }),
});
const service = fc
  .tuple(fc.constantFrom('a', 'web'), datacenters)
  .map(([ServiceName, dcs]) => limited({ ServiceName }, dcs));
const node = fc.record({
  NodeName: fc.constantFrom('a', 'web'),
  Datacenter: fc.constantFrom('dc1', 'dc2'),
});
const TEMPLATES = ['builtin/service', 'builtin/api-gateway', 'builtin/nomad-client'];
const template = fc
  .tuple(fc.constantFrom(...TEMPLATES), fc.constantFrom('a', 'b'), datacenters)
  .map(([TemplateName, name, dcs]) =>
    limited({ TemplateID: '', TemplateName, TemplateVariables: { name } }, dcs),
  );
const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 2 });
const links = (kind: number, ns: number) => few(fc.nat(2).map((n) => ({ ID: id(kind, ns, n) })));

const holder = (ns: number) =>
  fc.record({
    Policies: links(1, ns),
    ServiceIdentities: few(service),
    ...(ns === 0 && { NodeIdentities: few(node) }),
    TemplatedPolicies: few(template),
  });

const inNamespace = (ns: number) => {
  const texts = fc.tuple(...[0, 1, 2].map(() => policyText(NAMESPACES[ns]!)));
  return fc.record({
    texts,
    datacenters: fc.tuple(datacenters, datacenters, datacenters),
    roles: fc.tuple(holder(ns), holder(ns), holder(ns)),
    tokens: fc.array(fc.record({ grants: holder(ns), Roles: links(2, ns) }), {
      minLength: 3,
      maxLength: 3,
    }),
  });
};

/** A state with three policies, roles and tokens in each of two namespaces. */
export const aState = fc.record({
  places: fc.tuple(inNamespace(0), inNamespace(1)),
  defaults: fc.record({ PolicyDefaults: links(1, 0), RoleDefaults: links(2, 0) }),
  /** Whether the first policy and the first role of each namespace are deleted in the end. */
  isDeleting: fc.boolean(),
  defaultPolicy: fc.constantFrom<'deny' | 'allow'>('deny', 'allow'),
});
type StateOf<T> = T extends fc.Arbitrary<infer S> ? S : never;

/** Builds a state. */
export function built(state: StateOf<typeof aState>): Solo {
  const solo = new Solo(state.defaultPolicy);
  const must = (command: object): unknown => solo.must(command as Command);
  const namespace = (given: object): void => {
    const named = { Name: 'team-a', PolicyDefaults: [], RoleDefaults: [], ...given };
    must({ type: 'namespace.set', v: 1, policyId: id(9, 0, 0), namespace: named });
  };
  namespace({});
  for (const [at, place] of state.places.entries()) {
    const ns = NAMESPACES[at]!;
    for (const [n, Rules] of place.texts.entries()) {
      const policy = limited({ Name: `p${n}`, Description: '', Rules }, place.datacenters[n]);
      must({ type: 'policy.set', v: 1, ns, id: id(1, at, n), create: true, hash: '', policy });
    }
    for (const [n, grants] of place.roles.entries()) {
      const role = { Name: `r${n}`, Description: '', ...grants };
      must({ type: 'role.set', v: 1, ns, id: id(2, at, n), create: true, role });
    }
    for (const [n, { grants, Roles }] of place.tokens.entries()) {
      const token = { Description: `t${n}`, Roles, ...grants, Local: false };
      const made = { accessor: id(3, at, n), secret: id(5, at, n) };
      must({ type: 'token.create', v: 1, ns, ...made, createTime: '2030-01-01T00:00:00Z', token });
    }
  }
  namespace(state.defaults);
  if (!state.isDeleting) return solo;
  for (const [at, ns] of NAMESPACES.entries()) {
    must({ type: 'policy.delete', v: 1, ns, id: id(1, at, 0) });
    must({ type: 'role.delete', v: 1, ns, id: id(2, at, 0) });
  }
  return solo;
}
