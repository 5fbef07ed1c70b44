/** Lists of an object as text: one item in a line. */

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

const joined = (name: string, places: readonly string[] | undefined): string =>
  places === undefined || places.length === 0 ? name : `${name}: ${places.join(', ')}`;

interface ServiceIdentity {
  readonly ServiceName: string;
  readonly Datacenters?: readonly string[];
}
interface NodeIdentity {
  readonly NodeName: string;
  readonly Datacenter: string;
}
interface TemplatedPolicy {
  readonly TemplateName: string;
  readonly TemplateVariables?: { readonly name?: string };
  readonly Datacenters?: readonly string[];
}

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
  write: ({ NodeName, Datacenter }) => joined(NodeName, [Datacenter]),
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
