/** The cases of clients/vectors.json that are written by hand, each about one rule of decisions. */
import type { PlacedGrant } from '../../src/acl/origins.js';
import { policyGrant } from '../../src/acl/synthetic.js';
import type { Holding } from '../acl/feed-law.js';
import type { Question } from './decide.js';

/** Rights, and questions about them. */
export interface Case {
  readonly name: string;
  readonly holding: Holding;
  readonly withSources?: boolean;
  readonly questions: readonly Question[];
  /** Changes the feed in a way that decides nothing. */
  readonly change?: (rights: Record<string, unknown>) => void;
}

const grant = (text: string, namespace = 'default'): PlacedGrant => ({
  ...policyGrant(text, namespace),
  path: [
    { Type: 'token', ID: 'a', Name: '' },
    { Type: 'policy', ID: 'p', Name: 'p' },
  ],
  text,
});
const holding = (rules: string, more: Partial<Holding> = {}): Holding => ({
  own: [grant(rules)],
  defaults: [],
  defaultPolicy: 'deny',
  anonymous: false,
  ...more,
});
/** Questions about each of the words, which a blank separates; `~` stands for no text. */
function questions(
  types: string,
  actions: string,
  ids: string,
  namespaces = 'default',
): readonly Question[] {
  const words = (text: string): readonly string[] =>
    text.split(' ').map((word) => (word === '~' ? '' : word));
  return words(types).flatMap((type) =>
    words(actions).flatMap((action) =>
      words(ids).flatMap((id) => words(namespaces).map((ns): Question => [type, action, id, ns])),
    ),
  );
}

const rule = (head: string, policy: string): string => `${head} { policy = "${policy}" }\n`;
const EVERYTHING = 'acl keyring operator mesh peering agent event key node query service session';
const MANY = Array.from({ length: 300 }, (_, n) =>
  rule(`key${n % 3 === 0 ? '_prefix' : ''} "k${(n * 7919) % 1000}"`, n % 2 ? 'read' : 'write'),
).join('');
const BLOCKS =
  rule('service_prefix ""', 'read') +
  'namespace "team-a" { service "web" { policy = "deny" } }\n' +
  'namespace_prefix "team-" { service_prefix "" { policy = "write" } acl = "read" }\n' +
  'namespace_prefix "" { service "db" { policy = "read" } acl = "write" }\n';
const APPLICATIONS =
  rule('key_prefix "orders/"', 'read') +
  rule('key_prefix "orders/approve/"', 'deny') +
  rule('key "orders/approve/17"', 'read') +
  rule('key_prefix "orders/approve/eu-"', 'list') +
  rule('key "a%2Fb/c%2Fd/e/f"', 'read') +
  rule('key_prefix "50%25/"', 'write') +
  rule('key "session/end/1"', 'read');
const WORDS =
  rule('key "ü"', 'read') +
  rule('key_prefix "u\u0308"', 'write') +
  rule('key_prefix "😀"', 'read') +
  rule('key "😀😀"', 'deny') +
  rule('key_prefix "\uffee"', 'write') +
  rule('key_prefix "日本/"', 'list');
const OWN_WORDS = rule('service "__proto__"', 'write') + rule('key "toString"', 'read');

const change = (rights: Record<string, unknown>): void => {
  const { Resources, Layers } = rights as {
    Resources: Record<string, object>;
    Layers: { Sets: { Named: Record<string, object> }[] }[];
  };
  Object.assign(rights, { Later: { Layers: [] } });
  Object.assign(Resources['service']!, { Later: ['read'] });
  for (const layer of Layers) {
    Object.assign(layer, { Later: 'deny' });
    for (const set of layer.Sets) {
      Object.assign(set, { Later: true });
      for (const names of Object.values(set.Named)) Object.assign(names, { Later: ['web'] });
    }
  }
};

const UNICODE_KEYS = 'ü u\u0308 u\u0308x 😀 😀😀 😀x \uffeex 日本/東京 日本';
/** The Kelvin sign, which is a k in lower case. */
const KELVIN = '\u212a';
/** The longest name of a namespace. */
const LONGEST = 'n'.repeat(63);
const EXACT = rule('service_prefix ""', 'write') + rule('service "web"', 'deny');

/** The cases, the simple ones first. */
export const WRITTEN: readonly Case[] = [
  {
    name: 'no rights',
    holding: holding('', { own: [] }),
    questions: questions(`${EVERYTHING} intention namespace shop`, 'read write', 'web'),
  },
  {
    name: 'no rights, default policy allow',
    holding: holding('', { own: [], defaultPolicy: 'allow' }),
    questions: questions(`${EVERYTHING} intention namespace shop`, 'read write list', 'web *'),
  },
  {
    name: 'the anonymous token, default policy allow',
    holding: holding('', { own: [], defaultPolicy: 'allow', anonymous: true }),
    questions: questions(`${EVERYTHING} intention namespace shop`, 'read write', 'web'),
  },
  {
    name: 'the anonymous token with operator',
    holding: holding('operator = "write"', { anonymous: true }),
    questions: questions('operator mesh peering namespace', 'read write', 'team-a'),
  },
  {
    name: 'exact deny beats prefix write',
    holding: holding(EXACT),
    questions: questions('service intention', 'read write', 'web we webb ~ *'),
  },
  {
    name: 'the longest prefix decides',
    holding: holding(
      rule('node_prefix "a"', 'write') +
        rule('node_prefix "ab"', 'deny') +
        rule('node "abc"', 'read'),
    ),
    questions: questions('node', 'read write', '~ a ac ab abc abcd b'),
  },
  {
    name: 'list grants read and list',
    holding: holding(rule('key_prefix "a"', 'list') + rule('key "ab"', 'read')),
    questions: questions('key', 'read list write write-prefix delete READ', 'a ab abc b'),
  },
  {
    name: 'namespace blocks',
    holding: holding(BLOCKS),
    questions: questions(
      'service intention acl',
      'read write',
      'web db x *',
      'default team-a team-b x ~',
    ),
  },
  {
    name: 'namespaces in any letter case, and what names none',
    holding: holding(
      rule('service_prefix ""', 'deny') +
        'namespace "team-a" { service_prefix "" { policy = "deny" } }\n' +
        'namespace_prefix "" { service_prefix "" { policy = "write" } }\n',
    ),
    questions: questions(
      'service',
      'read write',
      'web',
      `team-a Team-A default Default team-b TEAM-B ~ -a a- a_b a.b a/b * ä ${KELVIN} ` +
        `${LONGEST} ${LONGEST}n`,
    ),
  },
  {
    name: 'a namespace by its block, by operator and by any right in it',
    holding: holding(
      'namespace "team-a" { policy = "deny" service "web" { policy = "read" } }\n' +
        'namespace_prefix "team-" { policy = "write" }\n' +
        'namespace "x" { key "a" { policy = "deny" } }\n' +
        'namespace "y" { key "a" { policy = "read" } }\n',
    ),
    questions: questions('namespace', 'read write list', 'default team-a team-b x y z'),
  },
  {
    name: 'a namespace by operator read',
    holding: holding('operator = "read"'),
    questions: questions(
      'namespace mesh peering operator',
      'read write',
      'team-a default',
      'team-a',
    ),
  },
  {
    name: 'what is in the namespace default alone',
    holding: holding(
      'operator = "write"\nkeyring = "read"\n' +
        rule('event_prefix ""', 'write') +
        rule('query "q"', 'read'),
    ),
    questions: questions('operator keyring event query', 'read write', 'q', 'default team-a'),
  },
  {
    name: 'mesh has a rule, peering follows operator',
    holding: holding('operator = "write"\nmesh = "deny"'),
    questions: questions('operator mesh peering', 'read write', '~', 'default team-a'),
  },
  {
    name: 'what a namespace gives, below the own rules',
    holding: holding('', {
      own: [grant(rule('service "web"', 'deny') + rule('key_prefix "a"', 'read'), 'team-a')],
      defaults: [
        grant(
          `${rule('service_prefix ""', 'write')}${rule('key_prefix ""', 'write')}operator = "read"`,
          'team-a',
        ),
      ],
    }),
    questions: questions(
      'service intention key mesh operator namespace',
      'read write write-prefix',
      'web db a b team-a *',
      'team-a default',
    ),
  },
  {
    name: 'everything below a key',
    holding: holding(
      rule('key_prefix "a/"', 'write') +
        rule('key_prefix "a/b/"', 'write') +
        rule('key "a/b/c"', 'read'),
    ),
    questions: questions('key', 'write-prefix write', '~ a a/ a/b a/b/ a/b/c a/b/d a/c b'),
  },
  {
    name: 'everything below a key, in several sets',
    holding: holding(
      'namespace "team-a" { key_prefix "" { policy = "write" } }\n' +
        'namespace_prefix "team-" { key "a/x" { policy = "read" } }\n',
    ),
    questions: questions('key', 'write-prefix', '~ a/ b/', 'team-a team-b'),
  },
  {
    name: 'a key whose name is no Unicode text',
    holding: holding(`${rule('key_prefix ""', 'write')}key "a\\xff" { policy = "deny" }`),
    questions: questions('key', 'write-prefix read', '~ a b'),
  },
  {
    name: 'all intentions',
    holding: holding(
      rule('service_prefix ""', 'write').replace(' }', ' intentions = "write" }') +
        rule('service "web"', 'write').replace(' }', ' intentions = "write" }'),
    ),
    questions: questions('intention service', 'read write', '* web ~ x'),
  },
  {
    name: 'all intentions, one of them denied',
    holding: holding(
      rule('service_prefix ""', 'write').replace(' }', ' intentions = "write" }') +
        rule('service "db"', 'deny'),
    ),
    questions: questions('intention service', 'read write', '* web db'),
  },
  {
    name: 'objects of applications',
    holding: holding(APPLICATIONS),
    questions: [
      ...questions('orders Orders app:orders', 'read approve', '~ 17 18 eu-1 eu'),
      ...questions('a/b', 'c/d', 'e/f e'),
      ...questions('app:a/b', 'c/d', 'e/f'),
      ...questions('50%', 'x y/z', '1'),
      ...questions('session app:session', 'end read', '1'),
      ...questions('app: app:app:orders', 'read', '~ 17'),
    ],
  },
  {
    name: 'names beyond ASCII',
    holding: holding(WORDS),
    questions: questions('key', 'read list write', UNICODE_KEYS),
  },
  {
    name: 'names beyond ASCII, with sources',
    holding: holding(WORDS),
    withSources: true,
    questions: questions('key', 'read list write', UNICODE_KEYS),
  },
  {
    name: 'names that mean something to programs',
    holding: holding(OWN_WORDS),
    questions: [
      ...questions('service key', 'read', '__proto__ toString constructor'),
      ...questions('__proto__ constructor toString hasOwnProperty', 'read', 'x'),
    ],
  },
  {
    name: 'many rules',
    holding: holding(MANY),
    questions: questions(
      'key',
      'read write',
      Array.from({ length: 100 }, (_, n) => `k${n * 10}`).join(' '),
    ),
  },
  {
    name: 'members of later releases',
    holding: holding(EXACT),
    change,
    questions: questions('service intention', 'read write', 'web x *'),
  },
];
