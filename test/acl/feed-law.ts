/** The law of the feed: what it decides by docs/rights.md equals what enforcement answers. */
import fc from 'fast-check';
import { authorizerOf, compileRights } from '../../src/acl/authorizer.js';
import { decidingText, type From, writeLayers } from '../../src/acl/feed.js';
import { type Path, type PlacedGrant, Statements } from '../../src/acl/origins.js';
import { atOnce } from '../../src/acl/steps.js';
import { type Authorizer, RESOURCES, type Resource } from '../../src/acl/types.js';
import { namespaceIn } from '../../src/service/decisions/questions.js';
import { applicationKey, decide, type Feed, type Question } from '../support/decide.js';
import { ALL_QUESTIONS, aNamespace, defaultsOf, grantsIn } from './random-grants.js';

/** What the rights of a token are made from. */
export interface Holding {
  readonly own: readonly PlacedGrant[];
  readonly defaults: readonly PlacedGrant[];
  readonly defaultPolicy: 'deny' | 'allow';
  readonly anonymous: boolean;
}

/** Random tokens. */
export const holdings: fc.Arbitrary<Holding> = aNamespace.chain((namespace) =>
  fc.record({
    own: grantsIn(namespace),
    defaults: defaultsOf(namespace),
    defaultPolicy: fc.constantFrom<'deny' | 'allow'>('deny', 'deny', 'allow'),
    anonymous: fc.boolean(),
  }),
);

/** Returns what enforcement decides by, and what the feed of the same rights has after its head. */
export function bothOf(
  { own, defaults, defaultPolicy, anonymous }: Holding,
  withSources = false,
): { readonly authorizer: Authorizer; readonly text: string } {
  const rights = atOnce(compileRights(own, { defaultPolicy, defaults }));
  const pieces = [`{${decidingText(rights, anonymous)},`];
  const write = (piece: string) => void pieces.push(piece);
  let from: From | undefined;
  if (withSources) {
    const origins: readonly Path[] = [...own, ...defaults].map(({ path }) => path);
    const statements = {
      own: atOnce(Statements.of(own)),
      namespace_default: atOnce(Statements.of(defaults)),
    };
    from = (rule) =>
      [...statements[rule.layer].linesOf(rule)].map(([path, line]) => [
        origins.indexOf(path),
        line,
      ]);
    write(`"Origins":${JSON.stringify(origins)},`);
  }
  write('"Layers":');
  atOnce(writeLayers(rights, write, from));
  write('}');
  return { authorizer: authorizerOf(rights, { accessor: 'a', anonymous }), text: pieces.join('') };
}

/** Returns what enforcement answers to a question. */
export function enforced(authorizer: Authorizer, [type, action, id, namespace]: Question): boolean {
  let ns: string;
  try {
    ns = namespaceIn({ namespace }, 'resource')!;
  } catch {
    return false;
  }
  const isResource = (RESOURCES as readonly string[]).includes(type);
  if (!isResource)
    return authorizer.allowed(
      'key',
      'read',
      applicationKey(type.replace(/^app:/, ''), action, id),
      ns,
    );
  const actions = type === 'key' ? ['read', 'list', 'write', 'write-prefix'] : ['read', 'write'];
  const access = actions.find((each) => each === action) as 'read' | undefined;
  return access !== undefined && authorizer.allowed(type as Resource, access, id, ns);
}

const PLACES = ['default', 'team-a', 'team-b'];
const MORE: readonly (readonly [
  type: string,
  actions: readonly string[],
  ids: readonly string[],
])[] = [
  ['shop', ['buy', 'sell', 'b/y'], ['', '1', 'ü', 'üx']],
  ['app:shop', ['buy'], ['1']],
  ['a/b', ['read', 'c'], ['', 'x']],
  ['app:key', ['read'], ['a']],
  ['app:app:x', ['read'], ['']],
  ['50%', ['read'], ['a']],
  ['constructor', ['__proto__'], ['toString']],
  ['key', ['read', 'write', 'write-prefix'], ['ü', 'üx', 'shop/buy/', '😀', '😀x', '\ud7ff']],
  ['key', ['delete', 'READ', ''], ['a']],
  ['service', ['list', 'write-prefix', 'approve'], ['a']],
  ['namespace', ['list'], ['team-a']],
];
/** Every question over the names of random grants, about applications too. */
export const QUESTIONS: readonly Question[] = [
  ...ALL_QUESTIONS.map(
    ({ resource, access, segment, namespace }): Question => [resource, access, segment, namespace],
  ),
  ...MORE.flatMap(([type, actions, ids]) =>
    actions.flatMap((action) =>
      ids.flatMap((id) => PLACES.map((ns): Question => [type, action, id, ns])),
    ),
  ),
];

/** Whether the feed may deny what enforcement allows: see "write-prefix" in docs/rights.md. */
const mayDiffer = (feed: Feed, [type, action]: Question): boolean =>
  type === 'key' &&
  action === 'write-prefix' &&
  feed.Layers.some(({ Sets }) => Sets.some(({ Named }) => Named['key']?.Other.length));

/** Returns the questions to which feed and enforcement answer differently. */
function differences(holding: Holding, withSources: boolean): readonly Question[] {
  const { authorizer, text } = bothOf(holding, withSources);
  const feed: Feed = JSON.parse(text);
  return QUESTIONS.filter((question) => {
    const allow = enforced(authorizer, question);
    return decide(feed, question) !== allow && !(allow && mayDiffer(feed, question));
  });
}

/** Asks so many questions. Throws the error of fast-check at a difference. */
export const checkLaw = (questions: number, seed?: number): void =>
  fc.assert(
    fc.property(holdings, fc.boolean(), (holding, withSources) => {
      const [first] = differences(holding, withSources);
      if (first !== undefined) throw new Error(`enforcement disagrees: ${JSON.stringify(first)}`);
    }),
    { numRuns: Math.ceil(questions / QUESTIONS.length), ...(seed !== undefined && { seed }) },
  );
