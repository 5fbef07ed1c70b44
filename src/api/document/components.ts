/** The schemas of bodies and answers that several operations share, by name. */
import { KINDS } from '../../kinds/types.js';
import {
  always,
  type Fields,
  items,
  nonEmpty,
  object,
  type Type,
  text,
} from '../../languages/fields.js';
import { historyFields } from '../../state/history/settings.js';
import { configurationFields } from '../../state/login-limits.js';
import type { ObjectTable } from '../../state/object.js';
import { OBJECTS } from '../../state/objects.js';
import { titleOf } from '../endpoints/objects.js';
import { identity, orNone } from '../endpoints/shapes.js';
import { BODIES, problemSchema, sentBody } from './body-schemas.js';
import { objectSchema } from './json-schema.js';
import { answeredEntry, sentEntry } from './kind-schemas.js';
import type { JsonSchema } from './text-schema.js';

type Schemas = Readonly<Record<string, JsonSchema>>;

/** Returns the name of a component from words with hyphens. */
const pascal = (name: string): string =>
  name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
const placeOf = (name: string): string => `#/components/schemas/${name}`;

/** What an expanded read adds to a token. */
const expanded = (role: Fields): Fields => ({
  Identity: nonEmpty('With expanded: who is behind the token, if a login made it.', identity),
  ExpandedPolicies: nonEmpty(
    'With expanded: all policies that apply.',
    orNone(items(policyOrNot())),
  ),
  ExpandedRoles: nonEmpty('With expanded: all roles that apply.', orNone(items(object(role)))),
  NamespaceDefaultPolicyIDs: nonEmpty('With expanded: policies of the namespace.', IDS),
  NamespaceDefaultRoleIDs: nonEmpty('With expanded: roles of the namespace.', IDS),
  AgentACLDefaultPolicy: nonEmpty('With expanded: the decision if no rule applies.', text()),
  AgentACLDownPolicy: nonEmpty('With expanded: always extend-cache.', text()),
  ResolvedByAgent: nonEmpty('With expanded: the node that answers.', text()),
});
const IDS = orNone(items(text()));
/** A stored policy, or one that is derived from an identity. */
const policyOrNot = (): Type<unknown> => {
  const optional = Object.entries(OBJECTS.policy.fields).map(([name, field]) => [
    name,
    ['ID', 'Name', 'Description', 'Rules'].includes(name) ? field : { ...field, mode: 'nonEmpty' },
  ]);
  return object(Object.fromEntries(optional) as Fields);
};

/** The fields of an object as answers contain them. */
function answeredFields(table: ObjectTable): Fields {
  const { fields } = OBJECTS[table];
  if (table === 'token') return { ...fields, ...expanded(OBJECTS.role.fields) };
  if (table !== 'namespace') return fields;
  // Clients read both lists without checking that they exist.
  const { ACLs } = fields as Fields;
  const inner = (ACLs!.type.description as { readonly fields: Fields }).fields;
  const both = Object.entries(inner).map(([name, field]) => [name, { ...field, mode: 'always' }]);
  return { ...fields, ACLs: always(ACLs!.description, object(Object.fromEntries(both) as Fields)) };
}

function listedFields(table: ObjectTable): Fields {
  const { fields } = OBJECTS[table];
  if (table === 'token') return fields;
  if (table !== 'policy') return answeredFields(table);
  const { Datacenters } = fields as Fields;
  return { ...fields, Datacenters: always(Datacenters!.description, orNone(items(text()))) };
}

function objectSchemas(table: ObjectTable): Schemas {
  const { description, unlisted } = OBJECTS[table];
  const fields = answeredFields(table);
  const title = titleOf(table);
  const listed = Object.entries(listedFields(table)).filter(([name]) => !unlisted.includes(name));
  return {
    [title]: { description, ...answered(fields) },
    [`${title}Item`]: { description, ...answered(Object.fromEntries(listed)) },
  };
}

const answered = (fields: Fields): JsonSchema =>
  objectSchema({ fields }, { of: 'answered', at: '' });

/** Returns all components. */
export function components(): Schemas {
  const kinds = KINDS.map((kind) => ({ kind, name: pascal(kind) }));
  const refs = (end: string): readonly JsonSchema[] =>
    kinds.map(({ name }) => ({ $ref: placeOf(name + end) }));
  return {
    ConfigEntry: {
      description: 'A config entry as answers contain it.',
      anyOf: refs(''),
      discriminator: {
        propertyName: 'Kind',
        mapping: Object.fromEntries(kinds.map(({ kind, name }) => [kind, placeOf(name)])),
      },
    },
    ConfigEntryBody: { description: 'A config entry as clients write it.', anyOf: refs('Body') },
    ...Object.assign(
      {},
      ...kinds.map(({ kind, name }) => ({
        [name]: answeredEntry(kind),
        [`${name}Body`]: sentEntry(kind, placeOf(`${name}Body`)),
      })),
    ),
    ...Object.assign(
      {},
      ...Object.keys(OBJECTS).map((table) => objectSchemas(table as ObjectTable)),
    ),
    ...Object.fromEntries(
      Object.entries(BODIES).map(([name, body]) => {
        const component = `${pascal(name)}Body`;
        return [
          component,
          { description: body.description, ...sentBody(body, placeOf(component)) },
        ];
      }),
    ),
    BootstrapToken: {
      description: 'The first token.',
      ...answered({
        ID: always('The same as SecretID, for old clients.', text()),
        ...OBJECTS.token.fields,
      }),
    },
    OidcToken: {
      description: 'The token of an OIDC login.',
      ...answered({
        ...OBJECTS.token.fields,
        Identity: always('Who logged in.', identity),
        Renewal: nonEmpty('With this the login can be renewed, once, within 30 days.', text()),
      }),
    },
    AclConfiguration: {
      description: BODIES['acl-configuration']!.description,
      ...answered(configured(configurationFields)),
    },
    HistoryConfiguration: {
      description: BODIES['history-configuration']!.description,
      ...answered(configured(historyFields)),
    },
    Problem: problemSchema(),
  };
}

const configured = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      { ...field, type: field.type.computed ?? field.type },
    ]),
  ) as Fields;
