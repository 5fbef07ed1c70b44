/**
 * Lint of policy rules: the faults that refuse a text, rules that give much, and rules that do
 * nothing. Reads the text as enforcement does (rules.ts), and goes on after a fault.
 */
import { placesIn } from '../../languages/syntax.js';
import { unescaped } from '../application.js';
import { impliedIntentions, merged } from '../rule-set.js';
import { readRules } from '../rules.js';
import { quoted, type RulesFault } from '../rules-reader.js';
import { type Level, NAMED, type Named, type Rules, SCALARS, type Scalar } from '../types.js';
import { type Finding, type Lint, type Linting, lintOf, PROBLEMS_MAX } from './findings.js';

/** A rule as one line of the text says it. */
interface Said {
  readonly level: Level;
  readonly intentions?: Level | undefined;
  readonly at: number;
}
/** All rules of a policy for one key: a resource and a name, exact or as a prefix. */
interface Ruled {
  readonly name: string;
  readonly isPrefix: boolean;
  /** As the text writes it: `service_prefix "web"`. */
  readonly label: string;
  readonly said: Said[];
}
/** The rules that hold in one namespace, or in those of one prefix. */
interface Group {
  readonly scalars: Map<Scalar, Said[]>;
  readonly named: Map<Named, Map<string, Ruled>>;
}

/** Returns what lint finds in the rules of a policy in `namespace`. */
export function* lintPolicy(text: string, namespace: string): Linting<Lint> {
  const { faults, replaced, rules, source } = readRules(text, namespace);
  const places = placesIn(source);
  const problems: Finding[] = [];
  const linter = new PolicyLinter(places, problems);
  const refused = new Set(faults.map(({ at }) => at));
  for (const { resource, at, by } of replaced) {
    if (refused.has(by)) continue;
    const why = `${resource} is set again ${linter.at(by)}: this line has no effect`;
    linter.warn('overridden', at, why);
  }
  yield* linter.rules(rules);
  const errors = faults.slice(0, PROBLEMS_MAX).map((fault) => errorOf(fault, places));
  const { Valid, Problems, More = 0 } = lintOf([...errors, ...problems]);
  const left = More + faults.length - errors.length;
  return { Valid, Problems, ...(left > 0 && { More: left }) };
}

function errorOf({ code, at, say }: RulesFault, places: ReturnType<typeof placesIn>): Finding {
  const { line, column } = places(at);
  return {
    Severity: 'error',
    Code: code,
    Message: say(`${line}:${column}`),
    Line: line,
    Column: column,
  };
}

/** Resources that no endpoint of this server asks for, with what is asked for instead. */
const UNUSED: ReadonlySet<Scalar | Named> = new Set([
  'agent',
  'event',
  'key',
  'query',
  'session',
  'keyring',
  'peering',
]);
/** What write on operator and keyring reaches. */
const REACH: Readonly<Partial<Record<Scalar, string>>> = {
  operator: 'the members and settings of the whole cluster',
  keyring: 'the keys of the whole cluster',
};
const PLURALS: Readonly<Partial<Record<string, string>>> = { query: 'queries' };
const pluralOf = (resource: string): string => PLURALS[resource] ?? `${resource}s`;

class PolicyLinter {
  readonly #places: ReturnType<typeof placesIn>;
  readonly #problems: Finding[];

  constructor(places: ReturnType<typeof placesIn>, problems: Finding[]) {
    this.#places = places;
    this.#problems = problems;
  }

  at(offset: number): string {
    return `at line ${this.#places(offset).line}`;
  }

  warn(code: string, at: number, message: string, hint?: string): void {
    this.#add('warning', code, at, message, hint);
  }

  #add(severity: Finding['Severity'], code: string, at: number, message: string, hint?: string) {
    const { line, column } = this.#places(at);
    this.#problems.push({
      Severity: severity,
      Code: code,
      Message: message,
      Line: line,
      Column: column,
      ...(hint !== undefined && { Hint: hint }),
    });
  }

  /** Lints the rules of a text: those at the top, and those of each namespace block. */
  *rules(rules: Rules): Linting<void> {
    const groups = new Map<string, Group>();
    const namespaces = new Map<string, Ruled>();
    addTo(groups, '', rules);
    for (const { name, prefix, level, at = 0, rules: inner } of rules.namespaces) {
      addTo(groups, keyOf(name, prefix), inner);
      if (level !== undefined && isLevel(level))
        add(namespaces, ['namespace', name, prefix], { level, at });
    }
    for (const ruled of namespaces.values()) this.#broad('namespace', ruled);
    yield* this.#compare(namespaces);
    for (const { scalars, named } of groups.values()) {
      for (const [resource, said] of scalars) this.#scalar(resource, said);
      for (const [resource, all] of named) {
        for (const ruled of all.values()) {
          this.#named(resource, ruled);
          yield;
        }
        yield* this.#compare(all);
      }
    }
  }

  #scalar(resource: Scalar, said: readonly Said[]): void {
    for (const one of said) {
      this.#unused(resource, one.at);
      if (one.level !== 'write') continue;
      if (resource === 'acl') {
        const why = 'whoever has it can give itself everything';
        this.warn('acl_write', one.at, `acl = "write": ${why}`, 'give acl = "read" to readers');
      }
      const reach = REACH[resource];
      if (reach === undefined) continue;
      const message = `${resource} = "write" gives write on ${reach}`;
      this.warn('broad_write', one.at, message, 'give read to those who change nothing');
    }
    this.#repeats(resource, said, mergedOf(said));
  }

  #named(resource: Named, ruled: Ruled): void {
    const { label, said } = ruled;
    const { intentions } = mergedOf(said);
    this.#broad(resource, ruled);
    for (const { at, level } of said) {
      this.#unused(resource, at);
      if (resource === 'key') this.#application(ruled.name, level, at);
      if (resource !== 'service' || intentions !== undefined || level === 'deny') continue;
      const message = `${label} also gives read on intentions, which no line states`;
      this.#add(
        'info',
        'implied_intentions',
        at,
        message,
        'write intentions = "deny" to refuse it',
      );
    }
  }

  /** Finds write by an empty prefix. */
  #broad(resource: string, { name, isPrefix, label, said }: Ruled): void {
    if (!isPrefix || name !== '') return;
    const hint = `name the ${pluralOf(resource)}, or give read here and write to some`;
    for (const { at, intentions, level } of said) {
      if (level === 'write') {
        this.warn('broad_write', at, `${label} gives write on every ${resource}`, hint);
      } else if (intentions === 'write') {
        const message = `${label} gives write on the intentions of every ${resource}`;
        this.warn('broad_write', at, message, hint);
      }
    }
  }

  #unused(resource: Scalar | Named, at: number): void {
    if (!UNUSED.has(resource)) return;
    const isDecided = (NAMED as readonly string[]).includes(resource);
    const what = isDecided
      ? 'nothing of this server asks for it, but decisions do ' +
        '(/access/v1, /v1/internal/acl/authorize)'
      : `nothing on this server needs ${resource} rights`;
    this.#add('info', 'no_endpoint_here', at, what);
  }

  /** Says what a key rule means for an application that asks for decisions (decisions.md 3). */
  #application(name: string, level: Level, at: number): void {
    const [, type, action] = /^([^/]+)\/([^/]+)\//.exec(name) ?? [];
    if (type === undefined) return;
    const [on, may] = [type, action!].map((part) => JSON.stringify(unescaped(part) ?? part));
    const does = level === 'deny' ? 'denies' : 'allows';
    this.#add('info', 'application_rule', at, `${does} ${may} on ${on}`);
  }

  /** Finds lines that do nothing because another line has the same key. */
  #repeats(label: string, said: readonly Said[], together: Together): void {
    if (said.length < 2) return;
    let first: Said | undefined;
    let firstIntentions: Said | undefined;
    for (const one of said) {
      const counts = one.level === together.level;
      const { intentions } = one;
      const intentionsCount = intentions !== undefined && intentions === together.intentions;
      const isNew = (counts && !first) || (intentionsCount && !firstIntentions);
      if (counts) first ??= one;
      if (intentionsCount) firstIntentions ??= one;
      if (isNew) continue;
      if (counts || intentionsCount) {
        const { at } = (counts ? first : firstIntentions)!;
        this.warn('redundant', one.at, `${label} is already set ${this.at(at)}`, 'remove it');
      } else {
        const { at } = said.find(({ level }) => level === together.level)!;
        const why = `${this.at(at)} with ${together.level}, which wins`;
        this.warn('overridden', one.at, `${label} is set ${why}: this line has no effect`);
      }
    }
  }

  /** Compares the rules of one resource with each other. */
  *#compare(all: ReadonlyMap<string, Ruled>): Linting<void> {
    // A prefix stands before all that it covers, and the stack holds the prefixes around a rule.
    const stack: Merged[] = [];
    for (const ruled of [...all.values()].sort(byName)) {
      const own = { ...ruled, together: mergedOf(ruled.said) };
      this.#repeats(own.label, own.said, own.together);
      while (stack.length > 0 && !own.name.startsWith(stack.at(-1)!.name)) {
        stack.pop();
        yield;
      }
      const around = stack.at(-1);
      if (around !== undefined) this.#within(own, around);
      if (own.isPrefix) stack.push(own);
      yield;
    }
  }

  /** Compares a rule with the nearest prefix around it. */
  #within(own: Merged, around: Merged): void {
    const { label, said, together } = own;
    const { level } = together;
    const outside = around.together.level;
    const { at } = said.find((one) => one.level === level)!;
    const where = `${around.label} ${this.at(around.said[0]!.at)}`;
    const [inner, outer] = [own, around].map(intentionsOf);
    if (level === outside && inner === outer) {
      this.warn('redundant', at, `${label} repeats what ${where} gives`, 'remove it');
      return;
    }
    const difference =
      level === outside
        ? `${inner} on intentions, where ${where} gives ${outer}`
        : `${level}, where ${where} gives ${outside}`;
    this.#add('info', 'exception', at, `${label} gives ${difference}`);
  }
}

/** The merged level of the rules for one key. */
type Together = Pick<Said, 'level' | 'intentions'>;
/** A rule and its merged level. */
interface Merged extends Ruled {
  readonly together: Together;
}

/** Returns the level of a rule on intentions; undefined if it is not about services. */
const intentionsOf = ({ label, together: { level, intentions } }: Merged): Level | undefined =>
  label.startsWith('service') ? (intentions ?? impliedIntentions(level)) : undefined;

/** Returns the merged level of several rules for one key. */
function mergedOf(said: readonly Said[]): Together {
  let level: Level | undefined;
  let intentions: Level | undefined;
  for (const one of said) {
    level = merged(level, one.level);
    if (one.intentions !== undefined) intentions = merged(intentions, one.intentions);
  }
  return { level: level!, intentions };
}

/** Orders by name, and prefixes before the rules that they cover. */
function byName(a: Ruled, b: Ruled): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return Number(b.isPrefix) - Number(a.isPrefix);
}

const keyOf = (name: string, isPrefix: boolean): string => `${isPrefix ? '*' : '='}${name}`;

function add(
  to: Map<string, Ruled>,
  [resource, name, isPrefix]: readonly [resource: string, name: string, isPrefix: boolean],
  said: Said,
): void {
  const key = keyOf(name, isPrefix);
  const known = to.get(key);
  if (known !== undefined) {
    known.said.push(said);
    return;
  }
  const label = `${resource}${isPrefix ? '_prefix' : ''} ${quoted(name)}`;
  to.set(key, { name, isPrefix, label, said: [said] });
}

/** Adds rules to the group of a place. Those with a level that is none are left out. */
function addTo(groups: Map<string, Group>, place: string, rules: Rules): void {
  let group = groups.get(place);
  if (group === undefined) {
    group = { scalars: new Map(), named: new Map() };
    groups.set(place, group);
  }
  for (const resource of SCALARS) {
    const level = rules.scalars[resource];
    if (level === undefined || !isLevel(level)) continue;
    const said = { level, at: rules.scalarsAt![resource]! };
    const known = group.scalars.get(resource);
    if (known === undefined) group.scalars.set(resource, [said]);
    else known.push(said);
  }
  for (const { resource, prefix, name, level, intentions, at = 0 } of rules.named) {
    if (!isLevel(level, resource) || (intentions !== undefined && !isLevel(intentions))) continue;
    let all = group.named.get(resource);
    if (all === undefined) {
      all = new Map();
      group.named.set(resource, all);
    }
    add(all, [resource, name, prefix], { level, intentions, at });
  }
}

/** Whether a level as it is written is one. */
const isLevel = (level: string, resource?: Named): boolean =>
  ['deny', 'read', 'write'].includes(level) || (level === 'list' && resource === 'key');
