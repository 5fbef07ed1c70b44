/** Random policies, identities and questions, from few names so that rules meet. */
import fc from 'fast-check';
import type { PathStep, PlacedGrant } from '../../src/acl/origins.js';
import type { Asked } from '../../src/acl/reasons.js';
import { parseRules } from '../../src/acl/rules.js';
import { policyGrant, templateGrant } from '../../src/acl/synthetic.js';
import { templateByName } from '../../src/acl/templates.js';
import { type Access, NAMED, type Resource, SCALARS } from '../../src/acl/types.js';

const NAMES = ['', 'a', 'b', 'ab', 'abc', 'a/', 'web'];
const NAMESPACES = ['default', 'team-a', 'team-b', 'x'];

/** Names of rules that no question is about, as policies write them: some are no Unicode text. */
const ODD_NAMES = ['shop/', 'shop/buy/', 'shop/buy/ü', 'a%2Fb/', 'ü', 'a\\xff', '\\U0001f600'];
const name = fc.oneof(
  { arbitrary: fc.constantFrom(...NAMES), weight: 5 },
  fc.constantFrom(...ODD_NAMES),
);
const level = fc.constantFrom('deny', 'read', 'write');
const scalarRule = fc
  .tuple(fc.constantFrom(...SCALARS), level)
  .map(([resource, is]) => ({ key: resource as string, text: `${resource} = "${is}"` }));
const namedRule = fc
  .record({
    resource: fc.constantFrom(...NAMED, 'service' as const, 'key' as const),
    prefix: fc.boolean(),
    name,
    level,
    list: fc.boolean(),
    intentions: fc.option(level, { nil: undefined }),
  })
  .map(({ resource, prefix, name: of, level: is, list, intentions }) => {
    const policy = resource === 'key' && list && is === 'read' ? 'list' : is;
    const more =
      resource === 'service' && intentions !== undefined ? `\n intentions = "${intentions}"` : '';
    const head = `${resource}${prefix ? '_prefix' : ''} "${of}"`;
    return { key: head, text: `${head} {\n policy = "${policy}"${more}\n}` };
  });

const body = fc
  .array(fc.oneof({ arbitrary: namedRule, weight: 4 }, scalarRule), { maxLength: 6 })
  .map((rules) => [...new Map(rules.map((rule) => [rule.key, rule.text])).values()].join('\n'));

const block = fc
  .record({
    prefix: fc.boolean(),
    of: fc.constantFrom('team-a', 'team-', '', 'x', 'team-\\xff'),
    policy: fc.option(level, { nil: undefined }),
    rules: body,
  })
  .map(({ prefix, of, policy, rules }) => {
    const own = policy === undefined ? '' : `policy = "${policy}"\n`;
    return `namespace${prefix ? '_prefix' : ''} "${of}" {\n${own}${rules}\n}`;
  });

/** The text of a policy that may be written in the namespace. */
export const policyText = (namespace: string): fc.Arbitrary<string> =>
  fc
    .tuple(body, fc.array(block, { maxLength: 2 }))
    .map(([own, blocks]) => [own, ...(namespace === 'default' ? blocks : [])].join('\n'))
    .filter((text) => parseRules(text, namespace).ok);

const step = (Type: PathStep['Type'], Name: string): PathStep => ({ Type, ID: '', Name });

const policy = (namespace: string): fc.Arbitrary<PlacedGrant> =>
  policyText(namespace).map((text) => ({
    ...policyGrant(text, namespace),
    path: [step('token', ''), step('policy', 'p')],
    text,
  }));

const TEMPLATES = ['builtin/service', 'builtin/node', 'builtin/dns', 'builtin/nomad-server'];
const template = (namespace: string): fc.Arbitrary<PlacedGrant> =>
  fc.tuple(fc.constantFrom(...TEMPLATES), fc.constantFrom('a', 'web')).map(([of, variable]) => ({
    ...templateGrant(of, { name: variable }, namespace),
    path: [step('token', ''), step('templated-policy', of)],
    text: templateByName(of)!.Template,
  }));

/** What a token in the namespace may hold. */
export const grantsIn = (namespace: string): fc.Arbitrary<PlacedGrant[]> =>
  fc.array(fc.oneof({ arbitrary: policy(namespace), weight: 3 }, template(namespace)), {
    maxLength: 4,
  });

/** Defaults of a namespace: policies of `default` that hold in it. */
export const defaultsOf = (namespace: string): fc.Arbitrary<PlacedGrant[]> =>
  fc.array(
    policy('default').map((grant) => ({ ...grant, namespace })),
    { maxLength: 2 },
  );

/** The namespace of a token. */
export const aNamespace = fc.constantFrom('default', 'team-a');

const resources: readonly Resource[] = [...SCALARS, ...NAMED, 'intention', 'namespace'];
/** Every question over the names above. */
export const ALL_QUESTIONS: readonly Asked[] = resources.flatMap((resource) => {
  const accesses: Access[] =
    resource === 'key' ? ['read', 'list', 'write', 'write-prefix'] : ['read', 'write'];
  const segments = resource === 'namespace' ? NAMESPACES : [...NAMES, 'abcd', '*'];
  const isScalar = (SCALARS as readonly string[]).includes(resource);
  return accesses.flatMap((access) =>
    (isScalar ? [''] : segments).flatMap((segment) =>
      NAMESPACES.slice(0, 3).map((namespace) => ({ resource, access, segment, namespace })),
    ),
  );
});
