/** The feed of rights, from which other programs decide: see docs/rights.md. */
import { always, boolean, nonEmpty, text, utcTime, whole64 } from '../../languages/fields.js';
import { type Operation, read, tagged } from './operation.js';
import { anyValue, IDENTITY, INDEX, listOf, mapOf, rows, shape } from './shapes.js';

const word = text();
const words = listOf(word);

const resource = shape({
  Form: always('named, scalar or namespace: how rules about it are looked up.', word),
  Actions: always('Its actions. All others are denied.', words),
  In: nonEmpty('The namespace whose rules decide, whatever namespace is asked about.', word),
  All: nonEmpty('The name that stands for every object.', word),
  Below: nonEmpty('The action that is about everything below a name.', word),
  Else: nonEmpty('The resource whose rules decide if none is about this one.', word),
  Any: nonEmpty('Actions that any right in the namespace gives.', words),
  Never: nonEmpty('Actions that are denied whatever the rules say.', words),
  Default: always('allow or deny: the decision without any rule.', word),
});

const names = shape({
  Exact: always('Names by level. With sources an object: Name, From.', mapOf(listOf(anyValue))),
  Prefix: always('Prefixes of names by level.', mapOf(listOf(anyValue))),
  Other: always('Levels of rules whose name is no Unicode text.', words),
});

const set = shape({
  Match: always('exact or prefix.', word),
  Name: always('The namespace, or the prefix of its name.', word),
  Management: nonEmpty(
    'The level on the namespace. With sources an object: Level, From.',
    anyValue,
  ),
  Scalars: always('Levels of resources without names.', mapOf(anyValue)),
  Named: always('Rules of resources with names.', mapOf(names)),
});

const step = shape({
  Type: always('The type of the step.', word),
  ID: always('The ID of the object.', word),
  Name: always('The name of the object.', word),
});

const FEED = shape({
  Version: always('The version of the algorithm. A client that does not know it denies.', whole64),
  AccessorID: always('The token.', word),
  Namespace: always('The namespace of the token.', word),
  Identity: IDENTITY,
  Anonymous: always('Whether it is the anonymous token.', boolean),
  Index: INDEX,
  ExpirationTime: nonEmpty('When the token expires.', utcTime),
  ExpiresInMs: nonEmpty('Milliseconds that were left of it when the answer was made.', whole64),
  Grants: always('The actions that each level grants.', mapOf(words)),
  Resources: always('How rules about each resource decide.', mapOf(resource)),
  Application: always(
    'What decides about types of resources that are not in Resources.',
    shape({ Resource: always('The resource.', word), Action: always('The action.', word) }),
  ),
  AnyByDefault: always('Whether any namespace counts as one with a right in it.', boolean),
  Origins: nonEmpty('With sources: the ways from the token to the texts.', listOf(listOf(step))),
  Layers: always(
    'The rules. The first layer that decides counts.',
    rows({
      Layer: always('own, or namespace_default.', word),
      Sets: always('Exact namespaces by name, then prefixes, the longest first.', listOf(set)),
    }),
  ),
});

const feed: Pick<Operation, 'query' | 'answers' | 'refuses' | 'blocks'> = {
  query: ['sources'],
  answers: {
    200: { description: 'The feed.', content: FEED, headers: ['index', 'etag', 'expiry'] },
    304: {
      description: 'The client, which sends the ETag in If-None-Match, has this feed.',
      headers: ['index', 'etag', 'expiry'],
    },
  },
  refuses: [404, 413],
  blocks: true,
};

export const RIGHTS_OPERATIONS = tagged('Decisions', {
  'GET /v1/acl/token/self/rights': read('readOwnFeed', {
    description: 'Reads all that decides for the token of the request, as data.',
    ...feed,
  }),
  'GET /v1/acl/token/:accessor/rights': read('readFeed', {
    description: 'Reads all that decides for a token, as data.',
    ...feed,
    rights: ['acl:read'],
  }),
});
