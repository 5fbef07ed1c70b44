/** Links and identities of tokens and roles, from options in Consul's form. */
import type { Link, NodeIdentity, ServiceIdentity, TemplatedPolicy } from '../../api/links.js';
import { misused } from '../print/error.js';

/** Everything that a token or role can be linked to. */
export interface Links {
  readonly Policies?: readonly Link[];
  readonly Roles?: readonly Link[];
  readonly ServiceIdentities?: readonly ServiceIdentity[];
  readonly NodeIdentities?: readonly NodeIdentity[];
  readonly TemplatedPolicies?: readonly TemplatedPolicy[];
}

/** Parses `web` or `web:dc1,dc2`. */
export function serviceIdentity(text: string): ServiceIdentity {
  const [name = '', datacenters] = parts(text);
  if (name === '') misused(`--service-identity: "${text}" is not NAME or NAME:DATACENTER,…`);
  return {
    ServiceName: name,
    ...(datacenters !== undefined && { Datacenters: datacenters.split(',') }),
  };
}

/** Parses `n1:dc1`. */
export function nodeIdentity(text: string): NodeIdentity {
  const [name = '', datacenter = ''] = parts(text);
  if (name === '' || datacenter === '')
    misused(`--node-identity: "${text}" is not NAME:DATACENTER`);
  return { NodeName: name, Datacenter: datacenter };
}

function parts(text: string): string[] {
  const at = text.indexOf(':');
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Parses `name:web` or `name=web` into a pair, for variables and metadata. */
export function pairOf(option: string, text: string): readonly [string, string] {
  const [, name, value] = /^([^:=]+)[:=](.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) misused(`${option}: "${text}" is not NAME=VALUE`);
  return [name, value];
}

/** Parses pairs into an object. */
export const pairsOf = (option: string, texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(texts.map((text) => pairOf(option, text)));

/** Whether two links lead to the same object: by ID, or by name in any letter case. */
function isSame(one: unknown, other: unknown): boolean {
  const [a, b] = [one as Link, other as Link];
  if (a.ID !== undefined && b.ID !== undefined) return a.ID === b.ID;
  if (a.Name !== undefined && b.Name !== undefined)
    return a.Name.toLowerCase() === b.Name.toLowerCase();
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What can be limited to datacenters: an identity of a service, or a templated policy. */
type Limited = ServiceIdentity | TemplatedPolicy;

/** Returns the key of what the server merges: two with the same key become one. */
function keyOf(one: Limited): string {
  if ('ServiceName' in one) return one.ServiceName;
  const variables = Object.entries(one.TemplateVariables ?? {});
  // The server answers `Name` for `name`.
  const sorted = variables.map(([name, value]) => [name.toLowerCase(), value]).sort();
  return JSON.stringify([one.TemplateName, sorted]);
}
const isEverywhere = ({ Datacenters = [] }: Limited): boolean => Datacenters.length === 0;

/**
 * Returns links to which one was added that can be limited to datacenters. The server takes two
 * that are alike for one with the limit of either. Here the wider one stays alone.
 */
function withLimited<T extends Limited>(
  held: readonly T[],
  link: T,
  onCovered: (link: T) => void,
): readonly T[] {
  const alike = held.filter((one) => keyOf(one) === keyOf(link));
  if (alike.some(isEverywhere)) {
    if (!isEverywhere(link)) onCovered(link);
    return held;
  }
  // The server adds datacenters to datacenters.
  if (!isEverywhere(link)) return [...held, link];
  return [...held.filter((one) => !alike.includes(one)), link];
}

/** Lists of links and identities by member. */
type Lists = Readonly<Record<string, readonly unknown[] | undefined>>;

/**
 * Returns lists to which others were added; what was there is not added again. `note` is told what
 * is left out because it would be narrower than what is there.
 */
export function addedLinks(
  held: Lists,
  more: Lists,
  note: (text: string) => void = () => {},
): Record<string, readonly unknown[]> {
  const sum: Record<string, readonly unknown[]> = {};
  for (const list of new Set([...Object.keys(held), ...Object.keys(more)])) {
    const before = held[list] ?? [];
    const added = more[list] ?? [];
    const isLimited = list === 'ServiceIdentities' || list === 'TemplatedPolicies';
    const all = isLimited
      ? added.reduce<readonly unknown[]>(
          (links, link) =>
            withLimited(links as readonly Limited[], link as Limited, (covered) => {
              const [text] = identityTexts({ [list]: [covered] });
              note(`${text} is not added: it is already present without datacenters`);
            }),
          before,
        )
      : [...before, ...added.filter((link) => !before.some((one) => isSame(one, link)))];
    if (all.length > 0) sum[list] = all;
  }
  return sum;
}

/** Returns identities and templates in the form of the options, for people. */
export function identityTexts(links: Links): string[] {
  const within = (datacenters: readonly string[] | undefined): string =>
    datacenters === undefined || datacenters.length === 0 ? '' : `:${datacenters.join(',')}`;
  const variables = (held: TemplatedPolicy['TemplateVariables']): string => {
    const shown = Object.entries(held ?? {}).map(([name, value]) => `${name}=${value}`);
    return shown.length === 0 ? '' : `(${shown.join(', ')})`;
  };
  return [
    ...(links.ServiceIdentities ?? []).map(
      (one) => `service ${one.ServiceName}${within(one.Datacenters)}`,
    ),
    ...(links.NodeIdentities ?? []).map((one) => `node ${one.NodeName}:${one.Datacenter}`),
    ...(links.TemplatedPolicies ?? []).map(
      (one) => `${one.TemplateName}${variables(one.TemplateVariables)}${within(one.Datacenters)}`,
    ),
  ];
}

/** Returns the names of links, or the beginning of an ID where the name is not known. */
export const linkNames = (links: readonly Link[] | undefined): string[] =>
  (links ?? []).map(({ ID, Name }) => Name ?? ID?.slice(0, 8) ?? '');
