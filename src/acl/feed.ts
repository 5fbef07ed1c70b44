/**
 * The rights of a token as data, from which other programs decide as enforcement does
 * (docs/rights.md). Made from the compiled rights that enforcement decides by.
 */
import { compareCodePoints, isText } from '../base/text.js';
import { CLUSTER_WIDE, type Rights } from './layer.js';
import { namedRule, type Where } from './reasons.js';
import { grantsAccess, type RuleSet } from './rule-set.js';
import { endsStep, type Steps, sorted } from './steps.js';
import {
  ACCESSES,
  type Access,
  LAYERS,
  type Level,
  NAMED,
  type Named,
  type Place,
  RESOURCES,
  type Resource,
  SCALARS,
  type SpeakingRule,
} from './types.js';

/** Rises when a client that knows the algorithm would decide wrongly. */
export const FEED_VERSION = 1;

const LEVELS: readonly Level[] = ['deny', 'read', 'list', 'write'];
const READ_WRITE: readonly Access[] = ['read', 'write'];
/** The members of resources that only some have. */
const SPECIAL: Readonly<Partial<Record<Resource, object>>> = {
  intention: { All: '*' },
  key: { Below: 'write-prefix' },
  mesh: { Else: 'operator' },
  peering: { Else: 'operator' },
  namespace: { Else: 'operator', Any: ['read'] },
};

/** Returns the members of a feed that say how rules decide, as JSON without braces. */
export function decidingText({ allowByDefault }: Rights, anonymous: boolean): string {
  const resource = (name: Resource): object => ({
    Form: formOf(name),
    Actions: name === 'key' ? ACCESSES : READ_WRITE,
    ...(CLUSTER_WIDE.has(name) && { In: 'default' }),
    ...SPECIAL[name],
    ...(name === 'operator' && { Never: anonymous ? ['write'] : [] }),
    Default: isAllowed(name) ? 'allow' : 'deny',
  });
  // Else and Any decide about a namespace without a rule.
  const isAllowed = (name: Resource): boolean =>
    allowByDefault && !['acl', 'namespace', ...(anonymous ? ['operator'] : [])].includes(name);
  const granted = (level: Level): readonly Access[] =>
    ACCESSES.filter((access) => grantsAccess(level, access));
  const members = {
    Grants: Object.fromEntries(LEVELS.map((level) => [level, granted(level)])),
    Resources: Object.fromEntries(RESOURCES.map((name) => [name, resource(name)])),
    Application: { Resource: 'key', Action: 'read' },
    AnyByDefault: allowByDefault,
  };
  return JSON.stringify(members).slice(1, -1);
}

function formOf(resource: Resource): 'namespace' | 'scalar' | 'named' {
  if (resource === 'namespace') return resource;
  return (SCALARS as readonly Resource[]).includes(resource) ? 'scalar' : 'named';
}

/** Returns where a rule comes from: places in the list of origins, and lines. */
export type From = (rule: SpeakingRule) => readonly (readonly [origin: number, line: number])[];
type Write = (piece: string) => void;

/** Writes the layers of a feed, in pieces. With `from` each rule says where it comes from. */
export function* writeLayers({ layers }: Rights, write: Write, from?: From): Steps<void> {
  for (const [at, placed] of layers.entries()) {
    const layer = LAYERS[at]!;
    write(`${at === 0 ? '[' : ','}{"Layer":"${layer}","Sets":[`);
    const sets = yield* sorted([...placed.placedSets()].filter(decides), inSetOrder);
    for (const [n, [place, rules]] of sets.entries()) {
      if (n > 0) write(',');
      yield* writeSet({ rules, where: { layer, place }, write, from });
      yield;
    }
    write(']}');
  }
  write(']');
}

type PlacedSet = readonly [place: Place, rules: RuleSet];

const hasPair = (name: string): boolean => /[\ud800-\udbff]/.test(name);

const decides = ([{ name }, { management, scalars, named }]: PlacedSet): boolean =>
  isText(name) && (management !== undefined || scalars.size > 0 || named.size > 0);

/** Orders exact sets by name, then those of prefixes, the longest first. */
function inSetOrder([a]: PlacedSet, [b]: PlacedSet): number {
  if (a.match !== b.match) return a.match === 'exact' ? -1 : 1;
  const longer = a.match === 'exact' ? 0 : [...b.name].length - [...a.name].length;
  return longer || compareCodePoints(a.name, b.name);
}

/** A set of rules that is written. */
interface Writing {
  readonly rules: RuleSet;
  readonly where: Where;
  readonly write: Write;
  readonly from: From | undefined;
}

function* writeSet(set: Writing): Steps<void> {
  const { rules, where, write, from } = set;
  const { match, name } = where.place;
  const shown = (rule: Omit<SpeakingRule, keyof Where>): string => {
    const { level: Level } = rule;
    return JSON.stringify(
      from === undefined ? Level : { Level, From: from({ ...where, ...rule }) },
    );
  };
  write(`{"Match":"${match}","Name":${JSON.stringify(name)}`);
  const { management, scalars, named } = rules;
  if (management !== undefined)
    write(`,"Management":${shown({ resource: 'namespace', match, name, level: management })}`);
  const levels = SCALARS.flatMap((resource) => {
    const level = scalars.get(resource);
    if (level === undefined) return [];
    return `"${resource}":${shown({ resource, match: 'scalar', name: '', level })}`;
  });
  write(`,"Scalars":{${levels.join(',')}},"Named":{`);
  const present = [...NAMED, 'intention' as const].filter((resource) => named.has(resource));
  for (const [n, resource] of present.entries()) {
    const other = new Set<Level>();
    write(`${n === 0 ? '' : ','}"${resource}":{"Exact":{`);
    yield* writeNames(set, [resource, 'exact'], other);
    write('},"Prefix":{');
    yield* writeNames(set, [resource, 'prefix'], other);
    write(`},"Other":${JSON.stringify(LEVELS.filter((level) => other.has(level)))}}`);
  }
  write('}}');
}

/** Names of one piece. */
const NAMES_PER_PIECE = 1_000;

/** Writes names by level. Adds the levels of those that are no text to `other`. */
function* writeNames(
  { rules, where, write, from }: Writing,
  [resource, match]: readonly [Named | 'intention', 'exact' | 'prefix'],
  other: Set<Level>,
): Steps<void> {
  const byLevel = new Map<Level, string[]>();
  let count = 0;
  for (const [name, level] of rules.named.get(resource)![match]) {
    const names = byLevel.get(level);
    if (!isText(name)) other.add(level);
    else if (names === undefined) byLevel.set(level, [name]);
    else names.push(name);
    count += 1;
    if (endsStep(count)) yield;
  }
  for (const [n, level] of LEVELS.filter((each) => byLevel.has(each)).entries()) {
    const names = byLevel.get(level)!;
    // the order of UTF-16 is faster, and another one for pairs of surrogates alone
    const all = yield* sorted(names, names.some(hasPair) ? compareCodePoints : undefined);
    const shown = (Name: string): unknown =>
      from ? { Name, From: from(namedRule(rules, where, resource, [match, Name, level])) } : Name;
    write(`${n === 0 ? '' : ','}"${level}":[`);
    for (let at = 0; at < all.length; at += NAMES_PER_PIECE) {
      const piece = JSON.stringify(all.slice(at, at + NAMES_PER_PIECE).map(shown));
      write(`${at === 0 ? '' : ','}${piece.slice(1, -1)}`);
      yield;
    }
    write(']');
  }
}
