/** What roles and tokens grant besides their links. Answers omit empty lists. */
import {
  always,
  bodyOf,
  type Infer,
  ifSent,
  items,
  type Normal,
  nonEmpty,
  object,
  type Type,
  text,
} from '../languages/fields.js';

const VARIABLES = bodyOf({
  Name: ifSent('Another spelling of name.', text()),
  name: ifSent('The name that is inserted into the template.', text()),
});

/** The variables of a template. The only one is `name`, which may be spelled `Name`. */
export const templateVariables: Type<{ readonly name?: string }> = {
  description: object({
    name: nonEmpty('The name that is inserted into the template.', text(), 'Name'),
  }).description,
  zero: () => ({}),
  isEmpty: () => false,
  decode(input, report) {
    const { Name, name } = VARIABLES.decode(input, report);
    if (Name !== undefined && name !== undefined) report.add('both "Name" and "name" are given');
    const value = name ?? Name;
    return value === undefined ? {} : { name: value };
  },
};

const datacenters = nonEmpty(
  'The datacenters in which the rights are granted. Empty means all.',
  items(text()),
);
const serviceIdentity = object({
  ServiceName: always('The service whose rights are granted.', text()),
  Datacenters: datacenters,
});
const nodeIdentity = object({
  NodeName: always('The node whose rights are granted.', text()),
  Datacenter: always('The datacenter in which the rights are granted.', text()),
});
const templatedPolicy = object({
  TemplateID: always('The ID of the template. It is checked but not stored.', text()),
  TemplateName: always('The name of the template, such as builtin/service.', text()),
  TemplateVariables: ifSent('The values of the template variables.', templateVariables),
  Datacenters: datacenters,
});

/** What they are together, in columns for people (object.ts). */
export const IDENTITIES = 'ServiceIdentities NodeIdentities TemplatedPolicies as Identities';

/** The fields of what roles and tokens grant besides their links. */
export const grants = {
  ServiceIdentities: nonEmpty(
    'Identities that grant the rights of a service, by its name.',
    items(serviceIdentity),
  ),
  NodeIdentities: nonEmpty(
    'Identities that grant the rights of a node, by its name.',
    items(nodeIdentity),
  ),
  TemplatedPolicies: nonEmpty('Built-in templates with their variables.', items(templatedPolicy)),
};
/** What roles and tokens grant besides their links, as stored and answered. */
export type Grants = Readonly<Infer<typeof grants>>;
/** The rights of a service, by its name. */
export type ServiceIdentity = Readonly<Normal<typeof serviceIdentity>>;
/** The rights of a node of a datacenter, by its name. */
export type NodeIdentity = Readonly<Normal<typeof nodeIdentity>>;
/** A built-in template with its variables. */
export type TemplatedPolicyLink = Readonly<Normal<typeof templatedPolicy>>;
