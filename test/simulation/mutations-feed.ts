/** Deliberate faults of the feed of rights, for `mutations.ts`. */
import { type Mutation, one, unit } from './mutation.js';

const FEED = 'acl/feed.js';
const LAW = 'acl/feed';
const READS = 'service/rights-feed';
const SERVED = 'service/explain/rights-feed.js';

const faults: readonly (readonly [fault: Mutation, suites: string])[] = [
  [
    one(
      'a feed by which the anonymous token is an operator',
      FEED,
      "Never: anonymous ? ['write'] : []",
      'Never: []',
    ),
    LAW,
  ],
  [one('a feed that knows no intentions on *', FEED, "intention: { All: '*' },", ''), LAW],
  [
    one(
      'a feed without the levels of odd names',
      FEED,
      'other.add(level);',
      'other.delete(level);',
    ),
    LAW,
  ],
  [
    one(
      'a feed whose shortest prefix of namespaces decides',
      FEED,
      '[...b.name].length - [...a.name].length',
      '[...a.name].length - [...b.name].length',
    ),
    LAW,
  ],
  [
    one(
      'a feed in the order of UTF-16',
      FEED,
      'names.some(hasPair) ? compareCodePoints : undefined',
      'undefined',
    ),
    LAW,
  ],
  [
    one(
      'sources of a rule that say another level',
      'acl/origins.js',
      'if (saying(statement).counts)',
      'if (true)',
    ),
    READS,
  ],
  [
    one(
      'the entity tag of another token with the same rights',
      SERVED,
      'layers.hashed?.head !== lasting',
      'layers.hashed === undefined',
    ),
    READS,
  ],
  [one('an entity tag of the head alone', SERVED, '.update(text.subarray(0, -1))', ''), READS],
  [
    one(
      'a held feed that is answered when its index alone has changed',
      SERVED,
      'digest: async () =>',
      'other: async () =>',
    ),
    READS,
  ],
  [
    one(
      'a held feed that forgets what its client has',
      'service/reads/node-service.js',
      'options.shown ?? null',
      'null',
    ),
    READS,
  ],
  [
    one(
      'a held feed of another token that misses a change of its policies',
      'service/explain/found-rights.js',
      'keys: [own, ...lifeKeys(token), ...rights.dependsOn]',
      'keys: [own, ...lifeKeys(token)]',
    ),
    READS,
  ],
  [
    one(
      'a feed that is too large, and sent',
      SERVED,
      'layers.text === undefined || Bytes > Limit',
      'layers.text === undefined',
    ),
    READS,
  ],
];

export const feedMutations: readonly Mutation[] = faults.map(([fault, suites]) =>
  unit(fault, suites),
);
