/** Objects at random, as clients of many years have left them at a source. */
import { readFileSync } from 'node:fs';
import type { Random } from '../../cluster/checker/random.js';
import { NAMED, SCALARS } from '../../src/acl/types.js';
import type { RealSource } from './real-source.js';
import type { Json } from './stand-in.js';

/** Names of rules: short ones, so that rules meet, and odd ones. */
const NAMES = [
  '',
  'a',
  'ab',
  'a/b',
  'web',
  'web-',
  'db',
  'ü',
  '"',
  '\\',
  '<b>',
  '💥',
  'a b',
  "it's",
];
const TEXTS = [
  '',
  'plain',
  `it's "quoted" <b> $(x) \\`,
  'zwei\nZeilen\tund 💥',
  '\u2028 & </script>',
];
const TEMPLATES = [
  ['builtin/service', 'web'],
  ['builtin/node', 'node-1'],
  ['builtin/workload-identity', 'w'],
  ['builtin/api-gateway', 'gw'],
  ['builtin/dns'],
] as const;
/** Rules that do less than they seem to. `@` stands for what ends the names of services. */
const ODDITIES = [
  'servce "web" { policy = "write" }',
  'identity "web" { policy = "write" }',
  'namespace "team" { acl = "read" }',
  'service "web@" { policy = "read" intention = "write" }',
  'operator = "READ"',
  'Node_Prefix "" { Policy = "Read" }',
  'service = { "web@" = { policy = "write" } }',
  'service { "db@" { policy = "deny" } "web@" { policy = "read" } }',
  'key "a" { policy = "read" } key "a" { policy = "write" }',
  'mesh = ""',
  'agent = {}',
  'acl = "read" # the end',
  '/* service "web" { policy = "write" } */',
  'key "${node}" { policy = "read" }',
];

const quoted = (name: string): string => JSON.stringify(name);

function ruleOf(random: Random, ending: string): [key: string, name: string, body: Json] {
  const resource = random.pick(NAMED);
  const levels = ['read', 'write', 'deny', ...(resource === 'key' ? ['list'] : [])];
  const policy = random.pick(levels);
  const hasMore = resource === 'service' && random.chance(0.3);
  const more = hasMore ? { intentions: random.pick(['read', 'write', 'deny']) } : {};
  const key = random.chance(0.5) ? resource : `${resource}_prefix`;
  const name = random.pick(NAMES) + (resource === 'service' ? ending : '');
  return [key, name, { policy, ...more }];
}

/**
 * Returns the text of a policy, of which a source may refuse some. The names of services have an
 * ending that no other policy has: where rules for one name meet, releases up to 1.22.7 change
 * those that they keep, and then decide by them for tokens with one of the policies alone.
 */
function rulesOf(random: Random, ending: string): string {
  const rules = Array.from({ length: random.int(5) }, () => ruleOf(random, ending));
  const scalars = random.shuffle(SCALARS).slice(0, random.int(3));
  const level = (): string => random.pick(['read', 'write', 'deny']);
  if (random.chance(0.25)) {
    const root: Record<string, Json> = {};
    for (const [key, name, body] of rules) root[key] = { ...root[key], [name]: body };
    const all = { ...Object.fromEntries(scalars.map((key) => [key, level()])), ...root };
    return JSON.stringify(all, null, random.pick([0, 2]));
  }
  const lines = [
    ...scalars.map((key) => `${key} = "${level()}"`),
    ...rules.map(([key, name, body]) => {
      const members = Object.entries(body).map(([one, value]) => `  ${one} = "${value}"\n`);
      return `${key} ${quoted(name)} {\n${members.join('')}}`;
    }),
    ...(random.chance(0.3) ? [random.pick(ODDITIES).replaceAll('@', ending)] : []),
  ];
  return `${random.shuffle(lines).join('\n')}\n`;
}

/** Returns what a role or a token grants. */
export function grantsAt(
  random: Random,
  policies: readonly string[],
  roles: readonly string[] = [],
): Json {
  const some = (names: readonly string[], max: number): Json[] =>
    names.length === 0
      ? []
      : Array.from({ length: random.int(max + 1) }, () => ({ Name: random.pick(names) }));
  const sometimes = (member: string, one: () => Json): Json =>
    random.chance(0.2) ? { [member]: [one()] } : {};
  const Datacenters = (): Json =>
    random.chance(0.4) ? { Datacenters: [random.pick(['dc1', 'dc2'])] } : {};
  return {
    Policies: some(policies, 3),
    ...(roles.length > 0 && { Roles: some(roles, 2) }),
    ...sometimes('ServiceIdentities', () => ({
      ServiceName: random.pick(['web', 'db', 'api']),
      ...Datacenters(),
    })),
    ...sometimes('NodeIdentities', () => ({
      NodeName: random.pick(['node-1', 'node-2']),
      Datacenter: random.pick(['dc1', 'dc2']),
    })),
    ...sometimes('TemplatedPolicies', () => {
      const [TemplateName, name] = random.pick(TEMPLATES);
      return {
        TemplateName,
        ...(name !== undefined && { TemplateVariables: { Name: name } }),
        ...Datacenters(),
      };
    }),
  };
}

/** How many objects of each type. */
export interface Size {
  readonly policies: number;
  readonly roles: number;
  readonly tokens: number;
}

/** Fills a source. Returns how many writes it took; it refuses some of them. */
export async function fillAtRandom(
  source: RealSource,
  random: Random,
  { policies, roles, tokens }: Size,
): Promise<number> {
  let taken = 0;
  const put = async (path: string, body: Json): Promise<boolean> => {
    const { status } = await source.ask(`PUT /${path}`, body);
    taken += Number(status === 200);
    return status === 200;
  };
  const made: { policies: string[]; roles: string[] } = { policies: [], roles: [] };
  for (let n = 0; n < policies; n += 1) {
    const Datacenters = random.chance(0.1) ? { Datacenters: [random.pick(['dc1', 'dc2'])] } : {};
    const Name = `p-${n}`;
    const body = {
      Name,
      Rules: rulesOf(random, `.${n}`),
      Description: random.pick(TEXTS),
      ...Datacenters,
    };
    if (await put('acl/policy', body)) made.policies.push(Name);
  }
  for (let n = 0; n < roles; n += 1) {
    const Name = `r-${n}`;
    const body = { Name, Description: random.pick(TEXTS), ...grantsAt(random, made.policies) };
    if (await put('acl/role', body)) made.roles.push(Name);
  }
  for (let n = 0; n < tokens; n += 1) {
    const ends = random.chance(0.1) ? { ExpirationTTL: '12h' } : {};
    const granted = grantsAt(random, made.policies, made.roles);
    const Local = random.chance(0.2);
    await put('acl/token', { Description: random.pick(TEXTS), Local, ...ends, ...granted });
  }
  // Some links lead to nothing then.
  const all = (await source.must('GET /acl/policies')) as { ID: string; Name: string }[];
  for (const { ID, Name } of all)
    if (Name.startsWith('p-') && random.chance(0.05)) await source.must(`DELETE /acl/policy/${ID}`);
  for (const entry of entryCases()) await put('config', entry);
  return taken;
}

/** Returns entries of all kinds, of which a source may refuse some. */
function entryCases(): Json[] {
  const text = readFileSync('test/tables/config-decode.json', 'utf8');
  const cases = JSON.parse(text) as { readonly input: Json; readonly needs?: Json[] }[];
  return cases.flatMap(({ input, needs = [] }) => [...needs, input]);
}
