/**
 * Decides by a feed of rights, in this process (`docs/rights.md` has the algorithm). Nothing here
 * throws: what cannot be read is denied.
 */
import { PrefixTree, Reader, type Rule, type RuleSet } from './rules.js';

export type { Rule } from './rules.js';

/**
 * Why something is allowed or denied: `allowed` and `denied` by a rule or without one; `invalid`:
 * the feed or the question cannot be read; `version`: the feed needs a newer library.
 */
export type Reason = 'allowed' | 'denied' | 'invalid' | 'version';

/** A decision, with the rule that made it if one did. */
export interface Decision {
  readonly allow: boolean;
  readonly reason: Reason;
  readonly rule?: Rule;
}

/** A step of the way from a token to a text of rules. */
export interface Step {
  readonly Type: string;
  readonly ID: string;
  readonly Name: string;
}

/** Where a rule is written: the way from the token to a text, and a line of that. */
export interface Source {
  readonly chain: readonly Step[];
  readonly line: number;
}

/** How rules about one type of resources decide. */
interface Resource {
  readonly type: string;
  readonly form: 'named' | 'scalar' | 'namespace';
  readonly actions: ReadonlySet<string>;
  readonly place: string;
  readonly otherwise: string;
  readonly all: string | undefined;
  readonly below: string | undefined;
  readonly any: ReadonlySet<string>;
  readonly fallback: Decision;
}

interface Layer {
  readonly exact: ReadonlyMap<string, RuleSet>;
  readonly prefixes: PrefixTree<RuleSet>;
}

const VERSION = 1;
const ALLOW: Decision = { allow: true, reason: 'allowed' };
const DENY: Decision = { allow: false, reason: 'denied' };
const INVALID: Decision = { allow: false, reason: 'invalid' };
const OTHER_VERSION: Decision = { allow: false, reason: 'version' };

const decided = (allow: boolean, rule: Rule): Decision => ({
  allow,
  reason: allow ? 'allowed' : 'denied',
  rule,
});
const granted = (rule: Rule, action: string): Decision => decided(rule.grants.has(action), rule);
const isText = (value: unknown): boolean => typeof value === 'string' && value.isWellFormed();
/** The rule of the server. Its letters are ASCII alone, in either case. */
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const escaped = (part: string): string =>
  part.includes('%') || part.includes('/')
    ? part.replaceAll('%', '%25').replaceAll('/', '%2F')
    : part;

/** The rights of one token, compiled from a feed. */
export class Rights {
  /** The index of the feed. */
  readonly index: number = 0;
  readonly accessorId: string = '';
  /** The namespace of the token, which questions are about unless they say otherwise. */
  readonly namespace: string = 'default';
  /** Why nothing can be decided. */
  readonly problem: 'invalid' | 'version' | undefined;
  readonly #resources = new Map<string, Resource>();
  readonly #application: { readonly resource: string; readonly action: string } | undefined;
  readonly #anyByDefault: boolean = false;
  readonly #layers: readonly Layer[] = [];
  readonly #origins: readonly (readonly Step[])[] = [];
  #last = { type: '', action: '', prefix: '//' };

  /** Compiles a feed, parsed from JSON. */
  constructor(feed: unknown) {
    try {
      const read = new Reader(feed);
      if (read.members['Version'] !== VERSION) {
        this.problem = typeof read.members['Version'] === 'number' ? 'version' : 'invalid';
        return;
      }
      this.index = read.number('Index');
      this.accessorId = read.text('AccessorID');
      this.namespace = read.text('Namespace');
      if (read.members['Origins'] !== undefined)
        this.#origins = read.list('Origins').map((chain) => Reader.list(chain) as readonly Step[]);
      for (const [type, one] of read.inner('Resources').entries())
        this.#resources.set(type, resourceOf(type, new Reader(one)));
      for (const one of this.#resources.values()) this.#checkElse(one);
      const application = read.inner('Application');
      const [resource, action] = [application.text('Resource'), application.text('Action')];
      if (resource.startsWith('app:') || !this.#resources.has(resource)) throw new TypeError();
      this.#application = { resource, action };
      this.#anyByDefault = read.flag('AnyByDefault');
      const grants = new Map(
        read
          .inner('Grants')
          .entries()
          .map(([level, actions]) => [level, new Set(Reader.texts(actions))] as const),
      );
      this.#layers = read.list('Layers').map((one) => layerOf(new Reader(one), grants));
    } catch {
      this.problem = 'invalid';
    }
  }

  /** Whether an action on a resource is allowed. The namespace is by default the token's. */
  can(type: string, action: string, id: string, namespace?: string): boolean {
    return this.decide(type, action, id, namespace).allow;
  }

  /** As `can`, with the reason and the rule. */
  decide(type: string, action: string, id: string, namespace?: string): Decision {
    if (this.problem !== undefined) return this.problem === 'version' ? OTHER_VERSION : INVALID;
    if (!isText(type) || !isText(action) || !isText(id)) return INVALID;
    if (namespace === undefined) return this.#decide(type, action, id, this.namespace);
    if (typeof namespace !== 'string' || !NAMESPACE.test(namespace)) return INVALID;
    return this.#decide(type, action, id, namespace.toLowerCase());
  }

  /** Returns where a rule is written. Empty for a feed without sources. */
  sourcesOf({ from }: Rule): readonly Source[] {
    return from.map(([origin, line]) => ({ chain: this.#origins[origin] ?? [], line }));
  }

  #decide(type: string, action: string, id: string, namespace: string): Decision {
    const isApplication = type.startsWith('app:');
    const resource = isApplication ? undefined : this.#resources.get(type);
    if (resource === undefined) {
      const by = this.#application!;
      const key = this.#prefixOf(isApplication ? type.slice(4) : type, action) + id;
      return this.#decide(by.resource, by.action, key, namespace);
    }
    if (!resource.actions.has(action)) return DENY;
    const place = resource.form === 'namespace' ? id : resource.place || namespace;
    for (const layer of this.#layers) {
      const found = this.#inLayer(layer, resource, action, id, place);
      if (found !== undefined) return found;
    }
    if (resource.form !== 'namespace') return resource.fallback;
    const otherwise = this.#decide(resource.otherwise, action, '', 'default');
    if (otherwise.allow) return otherwise;
    return resource.any.has(action) ? this.#anyIn(id) : DENY;
  }

  /** What keys about an application's action begin with. The last one is kept: many follow. */
  #prefixOf(type: string, action: string): string {
    const last = this.#last;
    if (last.type === type && last.action === action) return last.prefix;
    const prefix = `${escaped(type)}/${escaped(action)}/`;
    this.#last = { type, action, prefix };
    return prefix;
  }

  #inLayer(
    layer: Layer,
    resource: Resource,
    action: string,
    id: string,
    place: string,
  ): Decision | undefined {
    const { type, form } = resource;
    const first = firstSet(layer, place);
    if (form === 'named') {
      if (action === resource.below) return below(first, type, id);
      if (id === resource.all) return everywhere(first, type, action);
      for (let set = first; set !== undefined; set = set.next) {
        const rule = set.named.get(type)?.ruleOf(id);
        if (rule !== undefined) return granted(rule, action);
      }
      return undefined;
    }
    for (let set = first; set !== undefined; set = set.next) {
      const rule = form === 'scalar' ? set.scalars.get(type) : set.management;
      if (rule !== undefined) return granted(rule, action);
    }
    const otherwise = form === 'scalar' && this.#resources.get(resource.otherwise);
    return otherwise ? this.#inLayer(layer, otherwise, action, '', otherwise.place) : undefined;
  }

  #anyIn(namespace: string): Decision {
    if (this.#anyByDefault) return ALLOW;
    for (const layer of this.#layers)
      for (let set = firstSet(layer, namespace); set !== undefined; set = set.next)
        if (set.any !== undefined) return decided(true, set.any);
    return DENY;
  }

  /** Throws where what decides otherwise is missing, or goes round in a circle. */
  #checkElse(resource: Resource, depth = 0): void {
    const { form, otherwise } = resource;
    if (otherwise === '' && form !== 'namespace') return;
    const other = this.#resources.get(otherwise);
    if (other === undefined || depth > this.#resources.size) throw new TypeError();
    this.#checkElse(other, depth + 1);
  }
}

function resourceOf(type: string, read: Reader): Resource {
  const form = read.text('Form');
  if (form !== 'named' && form !== 'scalar' && form !== 'namespace') throw new TypeError();
  const never = read.texts('Never');
  return {
    type,
    form,
    actions: new Set(Reader.texts(read.members['Actions']).filter((one) => !never.includes(one))),
    place: read.maybe('In') ?? '',
    otherwise: read.maybe('Else') ?? '',
    all: read.maybe('All'),
    below: read.maybe('Below'),
    any: new Set(read.texts('Any')),
    fallback: read.text('Default') === 'allow' ? ALLOW : DENY,
  };
}

function layerOf(read: Reader, grants: ReadonlyMap<string, ReadonlySet<string>>): Layer {
  const exact = new Map<string, RuleSet>();
  const prefixes: [string, RuleSet][] = [];
  for (const one of read.list('Sets')) {
    const set = new Reader(one).ruleSet(read.text('Layer'), grants);
    if (set.match === 'exact') exact.set(set.name, set);
    else if (set.match === 'prefix') prefixes.push([set.name, set]);
    else throw new TypeError();
  }
  const table = new PrefixTree(prefixes, (set, shorter) => {
    set.next = shorter;
  });
  for (const [name, set] of exact) if (name !== 'default') set.next = table.longest(name);
  return { exact, prefixes: table };
}

/** The first set about a namespace; `next` leads to the others. */
const firstSet = ({ exact, prefixes }: Layer, place: string): RuleSet | undefined =>
  exact.get(place) ?? (place === 'default' ? undefined : prefixes.longest(place));

function below(first: RuleSet | undefined, type: string, id: string): Decision | undefined {
  let cover: Rule | undefined;
  for (let set = first; set !== undefined; set = set.next) {
    const names = set.named.get(type);
    if (names === undefined) continue;
    const limit = names.limitBelow(id);
    if (limit !== undefined) return decided(false, limit);
    cover ??= names.prefix.longest(id);
  }
  return cover && decided(cover.level === 'write', cover);
}

function everywhere(
  first: RuleSet | undefined,
  type: string,
  action: string,
): Decision | undefined {
  let isSeen = false;
  let root: Rule | undefined;
  for (let set = first; set !== undefined; set = set.next) {
    const names = set.named.get(type);
    if (names === undefined) continue;
    isSeen = true;
    root ??= names.root;
    for (const rule of names.levels.values())
      if (rule.grants.has(action) === (action === 'read')) return granted(rule, action);
  }
  if (action === 'read') return isSeen ? DENY : undefined;
  return root && decided(true, root);
}
