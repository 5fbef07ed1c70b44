/** The algorithm of docs/rights.md, as short as it can be: what clients do with a feed. */

type Words = readonly string[];
type Level = string | { readonly Level: string };
type Table = Readonly<Record<string, readonly (string | { readonly Name: string })[]>>;
type Names = { readonly Exact: Table; readonly Prefix: Table; readonly Other: Words };
interface RuleSet {
  readonly Match: string;
  readonly Name: string;
  readonly Management?: Level;
  readonly Scalars: Readonly<Record<string, Level>>;
  readonly Named: Readonly<Record<string, Names>>;
}
interface Resource {
  readonly Form: string;
  readonly Actions: Words;
  readonly In?: string;
  readonly Else?: string;
  readonly All?: string;
  readonly Below?: string;
  readonly Any?: Words;
  readonly Never?: Words;
  readonly Default: string;
}
/** What decides in a feed. */
export interface Feed {
  readonly Grants: Readonly<Record<string, Words>>;
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Application: { readonly Resource: string; readonly Action: string };
  readonly AnyByDefault: boolean;
  readonly Layers: readonly { readonly Sets: readonly RuleSet[] }[];
}
type Layer = Feed['Layers'][number];
/** A type of resources, an action, an id and a namespace. */
export type Question = readonly [type: string, action: string, id: string, namespace: string];

const own = <T>(of: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(of, name) ? of[name] : undefined;
const levelOf = (level: Level): string => (typeof level === 'string' ? level : level.Level);
const entries = (...tables: Table[]): (readonly [name: string, level: string])[] =>
  tables
    .flatMap(Object.entries<Table[string]>)
    .flatMap(([level, names]) =>
      names.map((name) => [typeof name === 'string' ? name : name.Name, level] as const),
    );
const escaped = (part: string): string => part.replaceAll('%', '%25').replaceAll('/', '%2F');
/** Returns the key that decides about the action of an application. */
export const applicationKey = (type: string, action: string, id: string): string =>
  `${escaped(type)}/${escaped(action)}/${id}`;

/** Whether a feed allows something. */
export function decide(feed: Feed, [type, action, id, namespace]: Question): boolean {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(namespace)) return false;
  const ns = namespace.toLowerCase();
  const resource = type.startsWith('app:') ? undefined : own(feed.Resources, type);
  if (resource === undefined) {
    const key = applicationKey(type.replace(/^app:/, ''), action, id);
    return decide(feed, [feed.Application.Resource, feed.Application.Action, key, ns]);
  }
  if (!resource.Actions.includes(action) || resource.Never?.includes(action)) return false;
  const place = resource.Form === 'namespace' ? id : (resource.In ?? ns);
  for (const layer of feed.Layers) {
    const decided = inLayer(feed, layer, [type, action, id, place]);
    if (decided !== undefined) return decided;
  }
  if (resource.Form !== 'namespace') return resource.Default === 'allow';
  if (decide(feed, [resource.Else!, action, '', 'default'])) return true;
  return resource.Any!.includes(action) && anyIn(feed, id);
}

function setsOf({ Sets }: Layer, place: string): readonly RuleSet[] {
  const isIn = ({ Match, Name }: RuleSet): boolean =>
    Match === 'exact' ? Name === place : place !== 'default' && place.startsWith(Name);
  return Sets.filter(isIn);
}

function inLayer(feed: Feed, layer: Layer, asked: Question): boolean | undefined {
  const [type, action, id, place] = asked;
  const { Form, Else, All, Below } = feed.Resources[type]!;
  const grants = (level: Level): boolean => feed.Grants[levelOf(level)]!.includes(action);
  const sets = setsOf(layer, place);
  if (Form !== 'named') {
    const level = (set: RuleSet) => (Form === 'scalar' ? own(set.Scalars, type) : set.Management);
    const [first] = sets.flatMap((set) => level(set) ?? []);
    if (first !== undefined) return grants(first);
    if (Form === 'namespace' || Else === undefined) return undefined;
    return inLayer(feed, layer, [Else, action, '', feed.Resources[Else]!.In!]);
  }
  const named = sets.flatMap((set) => own(set.Named, type) ?? []);
  if (action === Below) return below(named, id);
  if (id === All) return everywhere(named, action, grants);
  const exact = ({ Exact }: Names) => entries(Exact).find(([name]) => name === id)?.[1];
  const [first] = named.flatMap((names) => exact(names) ?? longest(names, id) ?? []);
  return first === undefined ? undefined : grants(first);
}

const longest = ({ Prefix }: Names, id: string): string | undefined =>
  entries(Prefix)
    .filter(([name]) => id.startsWith(name))
    .sort(([a], [b]) => b.length - a.length)[0]?.[1];
const levelsOf = ({ Exact, Prefix, Other }: Names): Words => [
  ...entries(Exact, Prefix).map(([, level]) => level),
  ...Other,
];

function below(named: readonly Names[], id: string): boolean | undefined {
  const under = ({ Exact, Prefix, Other }: Names): Words => [
    ...entries(Exact, Prefix).flatMap(([name, level]) => (name.startsWith(id) ? level : [])),
    ...Other,
  ];
  if (named.flatMap(under).some((level) => level !== 'write')) return false;
  const [cover] = named.flatMap((names) => longest(names, id) ?? []);
  return cover === undefined ? undefined : cover === 'write';
}

function everywhere(named: readonly Names[], action: string, grants: (level: string) => boolean) {
  const levels = named.flatMap(levelsOf);
  if (action === 'read') return named.length === 0 ? undefined : levels.some(grants);
  if (!levels.every(grants)) return false;
  return named.some(({ Prefix }) => entries(Prefix).some(([name]) => name === '')) || undefined;
}

const anyIn = ({ AnyByDefault, Layers }: Feed, ns: string): boolean =>
  AnyByDefault ||
  Layers.flatMap((layer) => setsOf(layer, ns)).some(({ Management = 'deny', Scalars, Named }) =>
    [Management, ...Object.values(Scalars), ...Object.values(Named).flatMap(levelsOf)].some(
      (level) => levelOf(level) !== 'deny',
    ),
  );
