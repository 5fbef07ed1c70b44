/** Lists of an object as text: one item in a line. */
import type { NodeIdentity, ServiceIdentity, TemplatedPolicy } from '../../api/links.js';
import { TEXT } from '../texts.js';

/** How the text of an item is edited: by a text field for each of its parts. */
export interface Item {
  /** What one item is called. */
  readonly noun: string;
  readonly parts: readonly {
    readonly label: string;
    readonly isRequired?: true;
    /** Values that are offered. */
    readonly offers?: readonly string[];
  }[];
  /** Splits the text of an item into those of its parts. */
  split(line: string): readonly string[];
  join(parts: readonly string[]): string;
}

/** The templates that every server has. */
export const TEMPLATES = [
  'service',
  'node',
  'dns',
  'api-gateway',
  'nomad-server',
  'nomad-client',
  'workload-identity',
].map((name) => `builtin/${name}`);

/** Returns the lines of a text that say something. */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Splits `web: dc1, dc2` at its last colon. */
function partsOf(line: string): { readonly name: string; readonly places: string[] } {
  const at = line.lastIndexOf(':');
  if (at < 0) return { name: line, places: [] };
  const places = line.slice(at + 1).split(',');
  return {
    name: line.slice(0, at).trim(),
    places: places.map((one) => one.trim()).filter((one) => one !== ''),
  };
}

const joined = (name: string, places: readonly string[] = []): string =>
  withPlaces(name, places.join(', '));

/** How one kind of items is written in a line, and read from it. */
export interface LineForm<T> {
  write(item: T): string;
  read(line: string): T;
}

/** `web`, or `web: dc1, dc2`. */
export const SERVICE_LINE: LineForm<ServiceIdentity> = {
  write: ({ ServiceName, Datacenters }) => joined(ServiceName, Datacenters),
  read(line) {
    const { name, places } = partsOf(line);
    return { ServiceName: name, ...(places.length > 0 && { Datacenters: places }) };
  },
};

/** `n1: dc1`. */
export const NODE_LINE: LineForm<NodeIdentity> = {
  write: ({ NodeName, Datacenter }) => `${NodeName}: ${Datacenter}`,
  read(line) {
    const { name, places } = partsOf(line);
    return { NodeName: name, Datacenter: places.join(',') };
  },
};

/** `builtin/dns`, `builtin/service web`, or `builtin/service web: dc1`. */
export const TEMPLATE_LINE: LineForm<TemplatedPolicy> = {
  write({ TemplateName, TemplateVariables, Datacenters }) {
    const variable = TemplateVariables?.name;
    return joined(variable ? `${TemplateName} ${variable}` : TemplateName, Datacenters);
  },
  read(line) {
    const { name, places } = partsOf(line);
    const [template = '', ...rest] = name.split(/\s+/);
    const variable = rest.join(' ');
    return {
      TemplateName: template,
      ...(variable !== '' && { TemplateVariables: { name: variable } }),
      ...(places.length > 0 && { Datacenters: places }),
    };
  },
};

/** The service identities of a form, as rows. */
export const SERVICE_ITEM: Item = {
  noun: TEXT.items.service,
  parts: [{ label: TEXT.items.serviceName, isRequired: true }, { label: TEXT.items.datacenters }],
  split: placed,
  join: ([name = '', places = '']) => withPlaces(name, places),
};

/** The node identities of a form, as rows. */
export const NODE_ITEM: Item = {
  noun: TEXT.items.node,
  parts: [
    { label: TEXT.items.nodeName, isRequired: true },
    { label: TEXT.items.datacenter, isRequired: true },
  ],
  split: placed,
  join: ([name = '', place = '']) => withPlaces(name, place),
};

/** The templated policies of a form, as rows. */
export const TEMPLATE_ITEM: Item = {
  noun: TEXT.items.template,
  parts: [
    { label: TEXT.items.templateName, isRequired: true, offers: TEMPLATES },
    { label: TEXT.items.variable },
    { label: TEXT.items.datacenters },
  ],
  split(line) {
    const [text = '', places = ''] = placed(line);
    const [template = '', ...rest] = text.split(/\s+/);
    return [template, rest.join(' '), places];
  },
  join([template = '', variable = '', places = '']) {
    return withPlaces(variable.trim() === '' ? template : `${template} ${variable}`, places);
  },
};

function placed(line: string): readonly string[] {
  const { name, places } = partsOf(line);
  return [name, places.join(', ')];
}

/** A name with a colon gets another one, behind which there is no place. */
const withPlaces = (name: string, places: string): string =>
  places.trim() === '' && !name.includes(':') ? name : `${name}: ${places}`;
