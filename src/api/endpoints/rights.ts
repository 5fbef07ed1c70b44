/** The feed of rights, from which other programs decide: see docs/rights.md. */
import { boolean, keep, omit, text, utcTime, whole64 } from '../../languages/fields.js';
import { type Operation, read, tagged } from './operation.js';
import { anyValue, IDENTITY, INDEX, listOf, mapOf, rows, shape } from './shapes.js';

const word = text();
const words = listOf(word);

const resource = shape({
  Form: keep('named, scalar or namespace: how rules about it are looked up.', word),
  Actions: keep('Its actions. All others are denied.', words),
  In: omit('The namespace whose rules decide, whatever namespace is asked about.', word),
  All: omit('The name that stands for every object.', word),
  Below: omit('The action that is about everything below a name.', word),
  Else: omit('The resource whose rules decide if none is about this one.', word),
  Any: omit('Actions that any right in the namespace gives.', words),
  Never: omit('Actions that are denied whatever the rules say.', words),
  Default: keep('allow or deny: the decision without any rule.', word),
});

const names = shape({
  Exact: keep('Names by level. With sources an object: Name, From.', mapOf(listOf(anyValue))),
  Prefix: keep('Prefixes of names by level.', mapOf(listOf(anyValue))),
  Other: keep('Levels of rules whose name is no Unicode text.', words),
});

const set = shape({
  Match: keep('exact or prefix.', word),
  Name: keep('The namespace, or the prefix of its name.', word),
  Management: omit('The level on the namespace. With sources an object: Level, From.', anyValue),
  Scalars: keep('Levels of resources without names.', mapOf(anyValue)),
  Named: keep('Rules of resources with names.', mapOf(names)),
});

const step = shape({
  Type: keep('The type of the step.', word),
  ID: keep('The ID of the object.', word),
  Name: keep('The name of the object.', word),
});

const FEED = shape({
  Version: keep('The version of the algorithm. A client that does not know it denies.', whole64),
  AccessorID: keep('The token.', word),
  Namespace: keep('The namespace of the token.', word),
  Identity: IDENTITY,
  Anonymous: keep('Whether it is the anonymous token.', boolean),
  Index: INDEX,
  ExpirationTime: omit('When the token expires.', utcTime),
  ExpiresInMs: omit('Milliseconds that were left of it when the answer was made.', whole64),
  Grants: keep('The actions that each level grants.', mapOf(words)),
  Resources: keep('How rules about each resource decide.', mapOf(resource)),
  Application: keep(
    'What decides about types of resources that are not in Resources.',
    shape({ Resource: keep('The resource.', word), Action: keep('The action.', word) }),
  ),
  AnyByDefault: keep('Whether any namespace counts as one with a right in it.', boolean),
  Origins: omit('With sources: the ways from the token to the texts.', listOf(listOf(step))),
  Layers: keep(
    'The rules. The first layer that decides counts.',
    rows({
      Layer: keep('own, or namespace_default.', word),
      Sets: keep('Exact namespaces by name, then prefixes, the longest first.', listOf(set)),
    }),
  ),
});

const feed: Pick<Operation, 'query' | 'answers' | 'refuses' | 'blocks'> = {
  query: ['sources'],
  answers: {
    200: { says: 'The feed.', content: FEED, headers: ['index', 'etag', 'expiry'] },
    304: {
      says: 'The client, which sends the ETag in If-None-Match, has this feed.',
      headers: ['index', 'etag', 'expiry'],
    },
  },
  refuses: [404, 413],
  blocks: true,
};

export const RIGHTS_OPERATIONS = tagged('Decisions', {
  'GET /v1/acl/token/self/rights': read('readOwnFeed', {
    says: 'Reads all that decides for the token of the request, as data.',
    ...feed,
  }),
  'GET /v1/acl/token/:accessor/rights': read('readFeed', {
    says: 'Reads all that decides for a token, as data.',
    ...feed,
    rights: ['acl:read'],
  }),
});
