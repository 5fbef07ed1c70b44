/** The schemas that clients can ask for by name: of bodies, and of problem details. */

import { ERROR_STATUS } from '../../base/errors.js';
import { KINDS } from '../../kinds/types.js';
import {
  always,
  type Fields,
  nonEmpty,
  object,
  type Type,
  text,
  whole,
} from '../../languages/fields.js';
import { historyFields } from '../../state/history/settings.js';
import { configurationFields } from '../../state/login-limits.js';
import { OBJECTS } from '../../state/objects.js';
import { METHOD_CONFIGS } from '../auth-methods.js';
import { UNDO } from '../endpoints/history.js';
import { REVOKE } from '../endpoints/identities.js';
import { IMPORT } from '../endpoints/imports.js';
import { AUTOPILOT_CONFIGURATION } from '../endpoints/operator.js';
import { SET } from '../endpoints/sets.js';
import { anyAs, listOf, orNone } from '../endpoints/shapes.js';
import { BOOTSTRAP, LOGIN } from '../endpoints/tokens.js';
import { objectSchema, orNull, PARTITION, schemaOf } from './json-schema.js';
import { sentEntry } from './kind-schemas.js';
import { below, type Form, type JsonSchema } from './text-schema.js';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Problem details (RFC 9457). */
const PROBLEM = object({
  type: always('Always about:blank.', text()),
  title: always('The reason phrase of the status.', text()),
  status: always('The HTTP status.', whole()),
  detail: always('What is wrong, in a sentence.', text()),
  code: always(
    'The code of the error. Clients may branch on it.',
    text({
      values: Object.keys(ERROR_STATUS),
    }),
  ),
  pointer: nonEmpty('The JSON pointer to the invalid member.', text()),
  hint: nonEmpty('A suggestion that may help.', text()),
  current: nonEmpty(
    'The ModifyIndex of the object, if it has another version than was asked for. Null if it ' +
      'does not exist.',
    orNone(whole()),
  ),
  decision: nonEmpty('The ID of the decision that refused the request.', text()),
  about: nonEmpty(
    'The unknown token: that of the request (`caller`), or one that it names (`token`). Or the ' +
      'level of the cluster, which is too low (`level`).',
    text({ values: ['caller', 'token', 'level'] }),
  ),
  Oldest: nonEmpty(
    'The oldest moment that the question can be answered for: Index and Time.',
    anyAs<object>(),
  ),
  Since: nonEmpty('The time from which on uses of tokens are known.', text()),
  Problems: nonEmpty(
    'Why a set is refused: Ref, Code, Message and Pointer of each problem.',
    listOf(anyAs<object>()),
  ),
  Asserts: nonEmpty('The assertions of a set of which one failed.', listOf(anyAs<object>())),
  Changes: nonEmpty('How many objects a set changes that is too large for one entry.', whole()),
  Bytes: nonEmpty('The size of a feed of rights that is too large.', whole()),
  Limit: nonEmpty('How many objects one entry changes, or bytes a feed has, at most.', whole()),
  Conflicts: nonEmpty(
    'The objects that have changed: Ref, Expected and Actual.',
    listOf(anyAs<object>()),
  ),
  Denied: nonEmpty('The Refs of what the token may not change.', listOf(text())),
});

/** A body that is not a config entry: what it is, and its declaration. */
interface Body {
  readonly description: string;
  readonly fields: Fields;
  /** What its Config holds by its Type. */
  readonly configs?: Readonly<Record<string, Type<unknown> & { readonly fields: Fields }>>;
}

/** The bodies by name, without config entries. */
export const BODIES: Readonly<Record<string, Body>> = {
  ...Object.fromEntries(
    Object.values(OBJECTS).map(({ description, noun, fields }) => [
      noun.replace(' ', '-'),
      { description, fields },
    ]),
  ),
  'auth-method': {
    description: OBJECTS.method.description,
    fields: OBJECTS.method.fields,
    configs: METHOD_CONFIGS,
  },
  login: { description: 'A login with an auth method.', fields: LOGIN.fields },
  bootstrap: { description: 'The first token of a cluster.', fields: BOOTSTRAP.fields },
  'acl-configuration': {
    description: 'How long login tokens are valid, and how many one identity may have.',
    fields: configurationFields,
  },
  'history-configuration': {
    description: 'How much of the history is kept.',
    fields: historyFields,
  },
  set: { description: 'What a plan compares, and an apply makes.', fields: SET.fields },
  undo: { description: 'Which entry an undo takes back.', fields: UNDO.fields },
  'tokens-revoke': { description: 'Whose login tokens are revoked.', fields: REVOKE.fields },
  'tokens-import': {
    description: 'Tokens of another cluster, with secrets.',
    fields: IMPORT.fields,
  },
  'autopilot-configuration': {
    description: 'When a server is considered healthy, and what happens to dead servers.',
    fields: AUTOPILOT_CONFIGURATION.fields,
  },
};

/** Returns the schema of a body that is not a config entry. `at`: where it stands. */
export function sentBody({ fields, configs }: Body, at = '#'): JsonSchema {
  const form: Form = { of: 'sent', at };
  const object = objectSchema({ fields }, form, { Partition: PARTITION });
  // The body null is an empty one.
  const schema = object['required'] === undefined ? orNull(object) : object;
  if (configs === undefined) return schema;
  const allOf = Object.entries(configs).map(([type, config], i) => {
    const place = below(form, 'allOf', String(i), 'then', 'properties', 'Config');
    const description = `Settings of the type ${type}. The case of their names does not matter.`;
    const Config = { description, ...schemaOf(config, { ...place, anyCase: true }) };
    return {
      if: { required: ['Type'], properties: { Type: { const: type } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['Config'], properties: { Config } },
    };
  });
  return { ...schema, allOf };
}

/** Returns all schemas by name, as the server serves them. */
export function bodySchemas(): Readonly<Record<string, JsonSchema>> {
  const named: [string, JsonSchema][] = [
    ...KINDS.map((kind): [string, JsonSchema] => [`config/${kind}`, sentEntry(kind)]),
    ...Object.entries(BODIES).map(([name, body]): [string, JsonSchema] => [
      name,
      { title: name, description: body.description, ...sentBody(body) },
    ]),
    ['problem', { title: 'problem', ...problemSchema() }],
  ];
  return Object.fromEntries(
    named.map(([name, schema]) => [
      name,
      { $schema: DIALECT, $id: `/v1/schema/${name}`, ...schema },
    ]),
  );
}

/** Returns the schema of problem details. */
export const problemSchema = (): JsonSchema => ({
  description: 'Why a request was refused (RFC 9457).',
  ...schemaOf(PROBLEM as Type<unknown, unknown>, { of: 'answered', at: '#' }),
});
