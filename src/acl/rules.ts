/**
 * Interprets the text of a policy: resources, names and levels. Refuses everything that would have
 * no effect, because its author would believe that it grants or denies something.
 */
import { type Refusal, refusal } from '../errors.js';
import {
  type Body,
  type Item,
  type Key,
  parseRulesText,
  type RulesTree,
  type Value,
} from '../languages/policy-rules.js';
import { didYouMean } from '../languages/suggest.js';
import { positionAt } from '../languages/syntax.js';
import {
  type Level,
  NAMED,
  type Named,
  type NamedRule,
  type Rules,
  SCALARS,
  type Scalar,
} from './types.js';

/** The outcome of parseRules. */
export type RulesOutcome =
  | { readonly ok: true; readonly rules: Rules }
  | { readonly ok: false; readonly refusal: Refusal };

const LEVELS: readonly Level[] = ['deny', 'read', 'write'];
const KEY_LEVELS: readonly Level[] = ['deny', 'list', 'read', 'write'];
/**
 * Resources that a policy of a created namespace and a namespace block cannot contain, because they
 * reach beyond the namespace.
 */
const DEFAULT_ONLY: ReadonlySet<string> = new Set(['operator', 'keyring', 'event', 'query']);
const RESOURCES: readonly string[] = [
  ...SCALARS,
  ...NAMED.flatMap((resource) => [resource, `${resource}_prefix`]),
];
/** Resources of other editions and releases, with the reason to refuse them. */
const NOT_HERE: ReadonlyMap<string, string> = new Map([
  ['partition', 'this server has no partitions'],
  ['partition_prefix', 'this server has no partitions'],
  ['sentinel', 'this server has no sentinel'],
  ['license', 'this server has no license'],
  ['identity', 'identity rules have no effect'],
  ['identity_prefix', 'identity rules have no effect'],
]);
const NAMESPACE_BLOCKS: readonly string[] = ['namespace', 'namespace_prefix'];
/** The order in which levels are checked, which decides the error that is reported. */
const CHECK_ORDER: readonly string[] = [
  'acl',
  ...['agent', 'key', 'node', 'service', 'session', 'event', 'query'].flatMap((resource) => [
    resource,
    `${resource}_prefix`,
  ]),
  'keyring',
  'operator',
  'mesh',
  'peering',
];

/**
 * Parses and checks the rules of a policy in `namespace`. The message of the refusal begins with
 * `Failed to parse ACL rules: ` or `Invalid <resource> policy: ` and contains line and column.
 * With `placed` the rules carry their offsets in the text, as `sourceOf` returns it.
 */
export function parseRules(text: string, namespace = 'default', placed = false): RulesOutcome {
  const parsed = parseRulesText(text);
  if (!parsed.ok) {
    const { message, line, column } = parsed.problem;
    return refused(`Failed to parse ACL rules: ${message} at ${line}:${column}`);
  }
  const reader = new Reader(parsed.value, namespace, placed);
  try {
    return { ok: true, rules: reader.read() };
  } catch (error) {
    if (error instanceof Fault) return refused(error.message);
    throw error;
  }
}

const refused = (message: string): RulesOutcome => ({
  ok: false,
  refusal: refusal('invalid', message, { pointer: '/Rules' }),
});

/** The first error of a text. Never leaves this file. */
class Fault extends Error {}

/** A level as written. Levels are checked after everything else. */
interface Written {
  readonly resource: string;
  readonly what: string;
  readonly text: string;
  readonly at: number;
  readonly allowed: readonly Level[];
}
/** Where a body is: at the top of the text or in a namespace block, and in which namespace. */
interface Place {
  readonly inNamespace: boolean;
  readonly created: boolean;
}

class Reader {
  readonly #levels: Written[] = [];
  readonly #tree: RulesTree;
  readonly #namespace: string;
  readonly #placed: boolean;

  constructor(tree: RulesTree, namespace: string, placed: boolean) {
    this.#tree = tree;
    this.#namespace = namespace;
    this.#placed = placed;
  }

  read(): Rules {
    const created = this.#namespace !== 'default';
    const { rules } = this.#body(this.#tree.body, { inNamespace: false, created });
    this.#checkLevels();
    return rules;
  }

  /** Reads a body of rules. `level` is the `policy` of a namespace block. */
  #body(items: Body, place: Place): { rules: Rules; level?: Level } {
    this.#refuseRepeats(items);
    const scalars: Partial<Record<Scalar, Level>> = {};
    const scalarsAt: Partial<Record<Scalar, number>> = {};
    const named: NamedRule[] = [];
    const namespaces: Rules['namespaces'][number][] = [];
    let level: Level | undefined;
    for (const item of items) {
      const key = item.keys[0] as Key;
      const resource = key.text.toLowerCase();
      if (place.inNamespace && resource === 'policy') {
        level = this.#level(item.value, 'namespace', 'policy', LEVELS);
        continue;
      }
      this.#refuseResource(key, resource, place);
      if (isScalar(resource)) {
        const scalar = this.#scalar(item, resource);
        // The last of repeated arguments counts, even if it is empty.
        if (scalar === undefined) delete scalars[resource];
        else scalars[resource] = scalar;
        scalarsAt[resource] = key.at;
      } else if (NAMESPACE_BLOCKS.includes(resource)) {
        for (const [name, body, at] of this.#blocks(item, resource)) {
          const inner = this.#body(body, { inNamespace: true, created: true });
          if (isEmpty(inner.rules) && inner.level === undefined)
            this.#fault(at, `${resource} ${JSON.stringify(name)} has no effect: it is empty`);
          const block = { name, prefix: resource === 'namespace_prefix', ...inner };
          namespaces.push(this.#placedAt(block, item, at));
        }
      } else {
        for (const [name, body, at] of this.#blocks(item, resource)) {
          named.push(this.#placedAt(this.#rule(resource, name, body, at, place), item, at));
        }
      }
    }
    const rules = this.#placed
      ? { scalars, scalarsAt, named, namespaces }
      : { scalars, named, namespaces };
    return level === undefined ? { rules } : { rules, level };
  }

  /** Adds where a block begins: at its resource, or at its name if that stands apart from it. */
  #placedAt<T extends object>(block: T, { keys }: Item, nameAt: number): T {
    return this.#placed ? { ...block, at: keys.length > 1 ? keys[0]!.at : nameAt } : block;
  }

  #refuseResource(key: Key, resource: string, place: Place): void {
    const known = place.inNamespace
      ? [...RESOURCES.filter((r) => !DEFAULT_ONLY.has(r.replace(/_prefix$/, ''))), 'policy']
      : [...RESOURCES, ...NAMESPACE_BLOCKS];
    if (RESOURCES.includes(resource)) {
      if (!place.created || !DEFAULT_ONLY.has(resource.replace(/_prefix$/, ''))) return;
      this.#fault(key.at, `${resource} rules are not allowed in a created namespace`);
    }
    if (NAMESPACE_BLOCKS.includes(resource)) {
      if (!place.inNamespace && !place.created) return;
      this.#fault(
        key.at,
        `${resource} blocks are allowed only at the top of a policy of the namespace "default"`,
      );
    }
    this.#fault(key.at, `unknown resource ${quoted(key.text)}${hint(key.text, known)}`);
  }

  /** Refuses two arguments of the same spelling in one body of the block form. */
  #refuseRepeats(items: Body): void {
    if (this.#tree.json) return;
    const seen = new Set<string>();
    for (const { assigned, keys } of items) {
      const key = keys[0] as Key;
      if (!assigned) continue;
      if (seen.has(key.raw)) {
        const { line, column } = positionAt(this.#tree.source, key.at);
        throw new Fault(
          `Failed to parse ACL rules: The argument ${quoted(key.text)} at ${line}:${column} was already set`,
        );
      }
      seen.add(key.raw);
    }
  }

  #scalar(item: Item, resource: Scalar): Level | undefined {
    if (!item.assigned)
      this.#fault(item.value.at, `${resource} is written as ${resource} = "read", not as a block`);
    if (item.value.type === 'null') return undefined;
    return this.#level(item.value, resource, 'policy', LEVELS, true);
  }

  /** Returns the blocks of one item, each with its name, body and offset. */
  #blocks(item: Item, resource: string): [name: string, body: Body, at: number][] {
    const [, name, ...rest] = item.keys;
    const { value } = item;
    if (name !== undefined) return [[name.text, nest(rest, value), name.at]];
    if (value.type === 'list') {
      if (value.items.length === 0) this.#fault(value.at, `${resource} has no effect: it is empty`);
      if (!this.#tree.json) this.#fault(value.at, `${resource} takes blocks, not a list`);
      return value.items.flatMap((inner) => this.#container(inner, resource));
    }
    return this.#container(value, resource);
  }

  /** Reads `{ "name" { … }  other = { … } }`. In JSON a name may also have a list of blocks. */
  #container(value: Value, resource: string): [name: string, body: Body, at: number][] {
    if (value.type !== 'object')
      this.#fault(
        value.at,
        `${resource} takes blocks such as ${resource} "name" { policy = "read" }`,
      );
    if (value.items.length === 0) this.#fault(value.at, `${resource} has no effect: it is empty`);
    this.#refuseRepeats(value.items);
    return value.items.flatMap((item) => {
      const [name, ...rest] = item.keys as [Key, ...Key[]];
      const inner = item.value;
      if (inner.type === 'object') return [[name.text, nest(rest, inner), name.at] as const];
      if (inner.type === 'list' && this.#tree.json && inner.items.length > 0) {
        return inner.items.map((one) => [name.text, this.#bodyOf(one, resource), name.at] as const);
      }
      // An argument in the place of a name: `key { policy = "read" }` is a rule for the key
      // "policy".
      const body = name.text.toLowerCase() === 'policy' ? [item] : [];
      return [[name.text, body, name.at] as const];
    }) as [string, Body, number][];
  }

  #bodyOf(value: Value, resource: string): Body {
    if (value.type === 'object') return value.items;
    return this.#fault(value.at, `${resource} takes blocks such as { "policy": "read" }`);
  }

  #rule(resource: string, name: string, body: Body, at: number, place: Place): NamedRule {
    this.#refuseRepeats(body);
    const prefix = resource.endsWith('_prefix');
    const base = (prefix ? resource.slice(0, -'_prefix'.length) : resource) as Named;
    const known = base === 'service' ? ['policy', 'intentions'] : ['policy'];
    let level: Level | undefined;
    let intentions: Level | undefined;
    for (const { keys, value } of body) {
      const key = keys[0] as Key;
      const argument = key.text.toLowerCase();
      if (!known.includes(argument)) {
        const where = `${resource} ${quoted(name)}`;
        this.#fault(
          key.at,
          `unknown argument ${quoted(key.text)} in ${where}${hint(key.text, known)}`,
        );
      }
      if (argument === 'policy')
        level = this.#level(value, resource, 'policy', base === 'key' ? KEY_LEVELS : LEVELS);
      else intentions = this.#level(value, resource, 'intentions', LEVELS, true);
    }
    if (level === undefined)
      this.#levels.push({ resource, what: 'policy', text: '', at, allowed: LEVELS });
    if (place.created && base === 'node' && level === 'write') {
      this.#fault(at, 'write on nodes is not allowed in a created namespace');
    }
    return {
      resource: base,
      prefix,
      name,
      level: level ?? 'deny',
      ...(intentions === undefined ? {} : { intentions }),
    };
  }

  /**
   * Returns a level, which #checkLevels checks later. Returns undefined if it is optional and
   * empty.
   */
  #level(
    value: Value,
    resource: string,
    what: string,
    allowed: readonly Level[],
    optional = false,
  ): Level | undefined {
    if (value.type !== 'text' && value.type !== 'number') {
      return this.#fault(value.at, `the level of ${resource} is a quoted text such as "read"`);
    }
    if (value.type === 'number' && /[.eE]/.test(value.text) && !/^-?0x/i.test(value.text)) {
      return this.#fault(value.at, `the level of ${resource} is a quoted text such as "read"`);
    }
    if (value.text === '' && optional) return undefined;
    this.#levels.push({ resource, what, text: value.text, at: value.at, allowed });
    return value.text as Level;
  }

  #checkLevels(): void {
    const bad = this.#levels.filter(
      ({ text, allowed }) => !allowed.some((level) => level === text),
    );
    const order = (level: Written): number => {
      const place = CHECK_ORDER.indexOf(level.resource);
      return place < 0 ? CHECK_ORDER.length : place;
    };
    const first = bad.sort((a, b) => order(a) - order(b))[0];
    if (first === undefined) return;
    const { line, column } = positionAt(this.#tree.source, first.at);
    const what = first.what === 'policy' ? 'policy' : 'intentions policy';
    const choices = first.allowed.map((level) => `"${level}"`).join(', ');
    const why = first.text === '' ? 'no level is set' : `${quoted(first.text)} is not a level`;
    throw new Fault(
      `Invalid ${first.resource} ${what}: ${why} at ${line}:${column}, expected one of ${choices}` +
        didYouMean(first.text, first.allowed),
    );
  }

  #fault(at: number, message: string): never {
    const { line, column } = positionAt(this.#tree.source, at);
    throw new Fault(`Failed to parse ACL rules: ${message} at ${line}:${column}`);
  }
}

function hint(word: string, known: readonly string[]): string {
  const why = NOT_HERE.get(word.toLowerCase());
  return why === undefined ? didYouMean(word, known) : `; ${why}`;
}

const isScalar = (resource: string): resource is Scalar =>
  (SCALARS as readonly string[]).includes(resource);
const isEmpty = (rules: Rules): boolean =>
  Object.keys(rules.scalars).length === 0 && rules.named.length === 0;

/** `"a" "b" { … }` is a block "a" that contains a block "b". */
function nest(keys: readonly Key[], value: Value): Body {
  if (keys.length > 0) return [{ keys, value, assigned: false }];
  return value.type === 'object' ? value.items : [];
}

/**
 * Maximum number of characters of a word that an error quotes: enough to find it, too few to echo a
 * text.
 */
const SHOWN_MAX = 80;
/** Quotes a word of the text for an error. */
const quoted = (text: string): string =>
  text.length > SHOWN_MAX ? `${JSON.stringify(text.slice(0, SHOWN_MAX))}…` : JSON.stringify(text);
