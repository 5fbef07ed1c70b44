/**
 * Interprets the tree of a policy's text: resources, names and levels. Notes everything that would
 * have no effect, because its author would believe that it grants or denies something.
 */
import type { RulesTree } from '../languages/policy-rules.js';
import type { Body, Item, Key, Value } from '../languages/policy-rules.peggy.js';
import { didYouMean } from '../languages/suggest.js';
import {
  isScalar,
  type Level,
  NAMED,
  type Named,
  type NamedRule,
  type Rules,
  SCALARS,
  type Scalar,
} from './types.js';

/** Why a text is refused. */
export type RulesFaultCode =
  | 'syntax'
  | 'unknown_resource'
  | 'unknown_argument'
  | 'bad_level'
  | 'duplicate'
  | 'no_effect'
  | 'not_allowed_here';

/** A fault of a text. */
export interface RulesFault {
  readonly code: RulesFaultCode;
  /** Its offset in the text. */
  readonly at: number;
  /** The beginning of the sentence of a refusal: `Failed to parse ACL rules: `. */
  readonly lead: string;
  /**
   * Returns the rest of the sentence. `place` is `<line>:<column>`. A function, because suggestions
   * take time and a text may have thousands of faults.
   */
  readonly say: (place: string) => string;
}

/** A scalar rule that a later one of the same text replaces. Both are offsets. */
export interface Replaced {
  readonly resource: Scalar;
  readonly at: number;
  readonly by: number;
}

/** What was read of a text. */
export interface RulesReading {
  /** The text to which offsets refer. */
  readonly source: string;
  /** The rules. Those of a text with faults are what could be read, with levels as written. */
  readonly rules: Rules;
  /** The fault that refuses the text comes first. */
  readonly faults: readonly RulesFault[];
  readonly replaced: readonly Replaced[];
}

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
const RESOURCES_AT_TOP: readonly string[] = [...RESOURCES, ...NAMESPACE_BLOCKS];
const RESOURCES_IN_NAMESPACE: readonly string[] = [
  ...RESOURCES.filter((resource) => !DEFAULT_ONLY.has(resource.replace(/_prefix$/, ''))),
  'policy',
];
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

/** Reads the rules of a policy in `namespace`, with their offsets if `placed`. */
export const interpretRules = (tree: RulesTree, namespace: string, placed: boolean): RulesReading =>
  new Reader(tree, namespace, placed).read();

/** The beginning of most refusals. */
export const FAILED = 'Failed to parse ACL rules: ';

/** A level as written. Levels are checked after everything else. */
interface Written {
  readonly resource: string;
  readonly what: string;
  readonly text: string;
  readonly at: number;
  readonly allowed: readonly Level[];
}
/** A block of rules: its name, its body and the offset of its name. */
type Block = readonly [name: string, body: Body, at: number];
/** Where a body is: at the top of the text or in a namespace block, and in which namespace. */
interface Scope {
  readonly inNamespace: boolean;
  readonly created: boolean;
}

/** Interprets a tree. After a fault it goes on with what follows. */
class Reader {
  readonly #levels: Written[] = [];
  readonly #faults: RulesFault[] = [];
  readonly #replaced: Replaced[] = [];
  readonly #tree: RulesTree;
  readonly #namespace: string;
  readonly #placed: boolean;

  constructor(tree: RulesTree, namespace: string, placed: boolean) {
    this.#tree = tree;
    this.#namespace = namespace;
    this.#placed = placed;
  }

  read(): RulesReading {
    const created = this.#namespace !== 'default';
    const { rules } = this.#body(this.#tree.body, { inNamespace: false, created });
    const faults = [...this.#faults, ...this.#levelFaults()];
    return { source: this.#tree.source, rules, faults, replaced: this.#replaced };
  }

  /** Reads a body of rules. `level` is the `policy` of a namespace block. */
  #body(items: Body, place: Scope): { rules: Rules; level?: Level } {
    this.#noteRepeats(items);
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
      if (!this.#takesResource(key, resource, place)) continue;
      if (isScalar(resource)) {
        const scalar = this.#scalar(item, resource);
        // The last of repeated arguments counts, even if it is empty.
        if (scalar === undefined) delete scalars[resource];
        else scalars[resource] = scalar;
        const past = scalarsAt[resource];
        if (past !== undefined) this.#replaced.push({ resource, at: past, by: key.at });
        scalarsAt[resource] = key.at;
      } else if (NAMESPACE_BLOCKS.includes(resource)) {
        for (const [name, body, at] of this.#blocks(item, resource)) {
          const block = this.#namespaceBlock(resource, name, body, at);
          if (block !== undefined) namespaces.push(this.#placedAt(block, item, at));
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

  #namespaceBlock(resource: string, name: string, body: Body, at: number) {
    const faults = this.#faults.length;
    const inner = this.#body(body, { inNamespace: true, created: true });
    const isUnread = this.#faults.length > faults;
    if (isEmpty(inner.rules) && inner.level === undefined) {
      const message = `${resource} ${JSON.stringify(name)} has no effect: it is empty`;
      if (!isUnread) this.#fault('no_effect', at, message);
      return undefined;
    }
    return { name, prefix: resource === 'namespace_prefix', ...inner };
  }

  /** Adds where a block begins: at its resource, or at its name if that stands apart from it. */
  #placedAt<T extends object>(block: T, { keys }: Item, nameAt: number): T {
    return this.#placed ? { ...block, at: keys.length > 1 ? keys[0]!.at : nameAt } : block;
  }

  #takesResource(key: Key, resource: string, place: Scope): boolean {
    const base = resource.replace(/_prefix$/, '');
    if (RESOURCES.includes(resource)) {
      if (!place.created || !DEFAULT_ONLY.has(base)) return true;
      const why = `${resource} rules are not allowed in a created namespace`;
      return this.#fault('not_allowed_here', key.at, why);
    }
    if (NAMESPACE_BLOCKS.includes(resource)) {
      if (!place.inNamespace && !place.created) return true;
      const where = 'only at the top of a policy of the namespace "default"';
      return this.#fault('not_allowed_here', key.at, `${resource} blocks are allowed ${where}`);
    }
    return this.#fault('unknown_resource', key.at, () => {
      const known = place.inNamespace ? RESOURCES_IN_NAMESPACE : RESOURCES_AT_TOP;
      return `unknown resource ${quoted(key.text)}${hint(key.text, known)}`;
    });
  }

  /** Refuses two arguments of the same spelling in one body of the block form. */
  #noteRepeats(items: Body): void {
    if (this.#tree.json) return;
    const seen = new Set<string>();
    for (const { assigned, keys } of items) {
      const key = keys[0] as Key;
      if (!assigned) continue;
      if (seen.has(key.raw)) {
        const say = (place: string) =>
          `The argument ${quoted(key.text)} at ${place} was already set`;
        this.#faults.push({ code: 'duplicate', at: key.at, lead: FAILED, say });
      }
      seen.add(key.raw);
    }
  }

  #scalar(item: Item, resource: Scalar): Level | undefined {
    if (!item.assigned) {
      const why = `${resource} is written as ${resource} = "read", not as a block`;
      this.#fault('syntax', item.value.at, why);
      return undefined;
    }
    if (item.value.type === 'null') return undefined;
    return this.#level(item.value, resource, 'policy', LEVELS, true);
  }

  /** Returns the blocks of one item, each with its name, body and offset. */
  #blocks(item: Item, resource: string): Block[] {
    const [, name, ...rest] = item.keys;
    const { value } = item;
    if (name !== undefined) return [[name.text, nest(rest, value), name.at]];
    if (value.type !== 'list') return this.#container(value, resource);
    if (value.items.length === 0) return this.#empty(value, resource);
    if (this.#tree.json) return value.items.flatMap((inner) => this.#container(inner, resource));
    this.#fault('syntax', value.at, `${resource} takes blocks, not a list`);
    return [];
  }

  #empty({ at }: Value, resource: string): Block[] {
    this.#fault('no_effect', at, `${resource} has no effect: it is empty`);
    return [];
  }

  /** Reads `{ "name" { … }  other = { … } }`. In JSON a name may also have a list of blocks. */
  #container(value: Value, resource: string): Block[] {
    if (value.type !== 'object') {
      const like = `${resource} takes blocks such as ${resource} "name" { policy = "read" }`;
      this.#fault('syntax', value.at, like);
      return [];
    }
    if (value.items.length === 0) return this.#empty(value, resource);
    this.#noteRepeats(value.items);
    return value.items.flatMap((item): Block[] => {
      const [name, ...rest] = item.keys as [Key, ...Key[]];
      const inner = item.value;
      if (inner.type === 'object') return [[name.text, nest(rest, inner), name.at]];
      if (inner.type === 'list' && this.#tree.json && inner.items.length > 0) {
        return inner.items.flatMap((one): Block[] => {
          if (one.type === 'object') return [[name.text, one.items, name.at]];
          const like = `${resource} takes blocks such as { "policy": "read" }`;
          this.#fault('syntax', one.at, like);
          return [];
        });
      }
      // An argument in the place of a name: `key { policy = "read" }` is a rule for the key
      // "policy".
      return [[name.text, name.text.toLowerCase() === 'policy' ? [item] : [], name.at]];
    });
  }

  #rule(resource: string, name: string, body: Body, at: number, place: Scope): NamedRule {
    this.#noteRepeats(body);
    const prefix = resource.endsWith('_prefix');
    const base = (prefix ? resource.slice(0, -'_prefix'.length) : resource) as Named;
    const known = base === 'service' ? ['policy', 'intentions'] : ['policy'];
    const allowed = base === 'key' ? KEY_LEVELS : LEVELS;
    let isSaid = false;
    let level: Level | undefined;
    let intentions: Level | undefined;
    for (const { keys, value } of body) {
      const key = keys[0] as Key;
      const argument = key.text.toLowerCase();
      if (!known.includes(argument)) {
        this.#fault('unknown_argument', key.at, () => {
          const where = `${resource} ${quoted(name)}`;
          return `unknown argument ${quoted(key.text)} in ${where}${hint(key.text, known)}`;
        });
      } else if (argument === 'policy') {
        isSaid = true;
        level = this.#level(value, resource, 'policy', allowed);
      } else intentions = this.#level(value, resource, 'intentions', LEVELS, true);
    }
    if (!isSaid) this.#levels.push({ resource, what: 'policy', text: '', at, allowed: LEVELS });
    if (place.created && base === 'node' && level === 'write') {
      const why = 'write on nodes is not allowed in a created namespace';
      this.#fault('not_allowed_here', at, why);
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
   * Returns a level, which #levelFaults checks later. Returns undefined if it is optional and
   * empty, and if it is no text.
   */
  #level(
    value: Value,
    resource: string,
    what: string,
    allowed: readonly Level[],
    optional = false,
  ): Level | undefined {
    const isText = value.type === 'text';
    const isWhole =
      value.type === 'number' && (!/[.eE]/.test(value.text) || /^-?0x/i.test(value.text));
    if (!isText && !isWhole) {
      const why = `the level of ${resource} is a quoted text such as "read"`;
      this.#fault('bad_level', value.at, why);
      return undefined;
    }
    if (value.text === '' && optional) return undefined;
    this.#levels.push({ resource, what, text: value.text, at: value.at, allowed });
    return value.text as Level;
  }

  /** Returns the faults of levels, the first one by CHECK_ORDER first. */
  #levelFaults(): RulesFault[] {
    const order = ({ resource }: Written): number => {
      const place = CHECK_ORDER.indexOf(resource);
      return place < 0 ? CHECK_ORDER.length : place;
    };
    return this.#levels
      .filter(({ text, allowed }) => !allowed.some((level) => level === text))
      .sort((a, b) => order(a) - order(b))
      .map(({ resource, what, text, at, allowed }): RulesFault => {
        const about = what === 'policy' ? 'policy' : 'intentions policy';
        const say = (place: string): string => {
          const choices = allowed.map((level) => `"${level}"`).join(', ');
          const why = text === '' ? 'no level is set' : `${quoted(text)} is not a level`;
          return `${why} at ${place}, expected one of ${choices}${didYouMean(text, allowed)}`;
        };
        return { code: 'bad_level', at, lead: `Invalid ${resource} ${about}: `, say };
      });
  }

  #fault(code: RulesFaultCode, at: number, message: string | (() => string)): false {
    const text = typeof message === 'string' ? () => message : message;
    this.#faults.push({ code, at, lead: FAILED, say: (place) => `${text()} at ${place}` });
    return false;
  }
}

function hint(word: string, known: readonly string[]): string {
  const why = NOT_HERE.get(word.toLowerCase());
  return why === undefined ? didYouMean(word, known) : `; ${why}`;
}

/** Whether rules say nothing. */
export const isEmpty = ({ scalars, named }: Rules): boolean =>
  Object.keys(scalars).length === 0 && named.length === 0;

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
export const quoted = (text: string): string =>
  text.length > SHOWN_MAX ? `${JSON.stringify(text.slice(0, SHOWN_MAX))}…` : JSON.stringify(text);
