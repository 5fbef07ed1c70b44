/** What roles and tokens grant besides their links. Answers omit empty lists. */
import {
  bodyOf,
  given,
  type Infer,
  items,
  keep,
  type Normal,
  object,
  omit,
  type Type,
  text,
} from '../languages/fields.js';

const VARIABLES = bodyOf({ Name: given(text()), name: given(text()) });

/** The variables of a template. The only one is `name`, which may be spelled `Name`. */
export const templateVariables: Type<{ readonly name?: string }> = {
  description: object({ name: omit(text()) }).description,
  zero: () => ({}),
  isEmpty: () => false,
  decode(input, report) {
    const { Name, name } = VARIABLES.decode(input, report);
    if (Name !== undefined && name !== undefined) report.add('both "Name" and "name" are given');
    const value = name ?? Name;
    return value === undefined ? {} : { name: value };
  },
};

/** An empty list of datacenters stands for all. */
const datacenters = omit(items(text()));
const serviceIdentity = object({ ServiceName: keep(text()), Datacenters: datacenters });
const nodeIdentity = object({ NodeName: keep(text()), Datacenter: keep(text()) });
const templatedPolicy = object({
  TemplateID: keep(text()),
  TemplateName: keep(text()),
  TemplateVariables: given(templateVariables),
  Datacenters: datacenters,
});

/** The fields of what roles and tokens grant besides their links. */
export const grants = {
  ServiceIdentities: omit(items(serviceIdentity)),
  NodeIdentities: omit(items(nodeIdentity)),
  TemplatedPolicies: omit(items(templatedPolicy)),
};
/** What roles and tokens grant besides their links, as stored and answered. */
export type Grants = Readonly<Infer<typeof grants>>;
/** The rights of a service, by its name. */
export type ServiceIdentity = Readonly<Normal<typeof serviceIdentity>>;
/** The rights of a node of a datacenter, by its name. */
export type NodeIdentity = Readonly<Normal<typeof nodeIdentity>>;
/** A built-in template with its variables. */
export type TemplatedPolicyLink = Readonly<Normal<typeof templatedPolicy>>;
