/** The rules of a feed, compiled. Reading throws at what it cannot read. */

/** A rule: where it stands and what it says. */
export interface Rule {
  readonly layer: string;
  /** The namespace of the rule, or the prefix of its name. */
  readonly namespace: { readonly match: string; readonly name: string };
  readonly resource: string;
  /** `exact` and `prefix` for rules with names, else `scalar`. */
  readonly match: string;
  readonly name: string;
  readonly level: string;
  /** The actions that the level grants. */
  readonly grants: ReadonlySet<string>;
  /** With sources: places in `Origins` of the feed, and lines. */
  readonly from: readonly (readonly [origin: number, line: number])[];
}

/** The rules about one namespace, or about those whose name begins with a prefix. */
export interface RuleSet {
  readonly match: string;
  readonly name: string;
  readonly management: Rule | undefined;
  readonly scalars: ReadonlyMap<string, Rule>;
  readonly named: ReadonlyMap<string, Names>;
  /** A rule that denies nothing, if there is one. */
  readonly any: Rule | undefined;
  /** The set that is asked after this one. */
  next: RuleSet | undefined;
}

/** A part of names: those that go on after it begin with different characters. */
class Branch<T> {
  readonly part: string;
  value: T | undefined;
  readonly branches = new Map<number, Branch<T>>();

  constructor(part: string, value?: T) {
    this.part = part;
    this.value = value;
  }
}

/** Values by names, found by what a text begins with. */
export class PrefixTree<T> {
  readonly #root: Branch<T>;

  /** Calls `link` with each value and that of the longest other name that its name begins with. */
  constructor(
    entries: readonly (readonly [name: string, value: T])[],
    link?: (value: T, shorter: T | undefined) => void,
  ) {
    this.#root = new Branch<T>('');
    for (const [name, value] of [...entries].sort(([a], [b]) => a.length - b.length)) {
      link?.(value, this.longest(name));
      this.#add(name, value);
    }
  }

  /** Returns the value of the longest name that `text` begins with. */
  longest(text: string): T | undefined {
    let found: T | undefined;
    let at = 0;
    for (
      let branch: Branch<T> | undefined = this.#root;
      branch !== undefined && text.startsWith(branch.part, at);
      branch = branch.branches.get(text.charCodeAt(at))
    ) {
      at += branch.part.length;
      if (branch.value !== undefined) found = branch.value;
    }
    return found;
  }

  /** Returns the value of a name that begins with `text`. */
  below(text: string): T | undefined {
    let branch: Branch<T> | undefined = this.#root;
    for (let at = 0; branch !== undefined; branch = branch.branches.get(text.charCodeAt(at))) {
      if (text.length - at <= branch.part.length) {
        if (!branch.part.startsWith(text.slice(at))) return undefined;
        break;
      }
      if (!text.startsWith(branch.part, at)) return undefined;
      at += branch.part.length;
    }
    while (branch !== undefined && branch.value === undefined)
      branch = branch.branches.values().next().value;
    return branch?.value;
  }

  #add(name: string, value: T): void {
    let branch = this.#root;
    for (let at = 0; ; ) {
      at += branch.part.length;
      if (at === name.length) {
        branch.value = value;
        return;
      }
      const code = name.charCodeAt(at);
      const next = branch.branches.get(code);
      if (next === undefined) {
        branch.branches.set(code, new Branch(name.slice(at), value));
        return;
      }
      let common = 1;
      while (
        common < next.part.length &&
        next.part.charCodeAt(common) === name.charCodeAt(at + common)
      )
        common += 1;
      if (common < next.part.length) {
        const first = new Branch<T>(next.part.slice(0, common));
        const rest = new Branch(next.part.slice(common), next.value);
        for (const [key, one] of next.branches) rest.branches.set(key, one);
        first.branches.set(rest.part.charCodeAt(0), rest);
        branch.branches.set(code, first);
        branch = first;
      } else branch = next;
    }
  }
}

/** The rules with names about one type, in one set. */
class Names {
  readonly prefix: PrefixTree<Rule>;
  /** The rule about all names. */
  readonly root: Rule | undefined;
  /** One rule of each level. */
  readonly levels: ReadonlyMap<string, Rule>;
  readonly #exact: ReadonlyMap<string, Rule>;
  /** Rules that keep an action about everything below a name from being granted. */
  readonly #limits: PrefixTree<Rule>;
  readonly #limit: Rule | undefined;

  constructor(exact: readonly Rule[], prefix: readonly Rule[], other: readonly Rule[]) {
    const named = (rule: Rule): readonly [string, Rule] => [rule.name, rule];
    const isLimit = ({ level }: Rule): boolean => level !== 'write';
    this.prefix = new PrefixTree(prefix.map(named));
    this.root = prefix.find(({ name }) => name === '');
    this.levels = new Map([...exact, ...prefix, ...other].map((rule) => [rule.level, rule]));
    this.#exact = new Map(exact.map(named));
    this.#limits = new PrefixTree([...exact, ...prefix].filter(isLimit).map(named));
    this.#limit = other.find(isLimit);
  }

  ruleOf(id: string): Rule | undefined {
    return this.#exact.get(id) ?? this.prefix.longest(id);
  }
  limitBelow(id: string): Rule | undefined {
    return this.#limits.below(id) ?? this.#limit;
  }
}

type Members = Readonly<Record<string, unknown>>;
type Grants = ReadonlyMap<string, ReadonlySet<string>>;
type From = Rule['from'];

/** Reads the members of a JSON object. Throws TypeError at those of another type. */
export class Reader {
  readonly members: Members;

  constructor(value: unknown) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError();
    this.members = value as Members;
  }

  static list(value: unknown): readonly unknown[] {
    if (!Array.isArray(value)) throw new TypeError();
    return value;
  }
  static texts(value: unknown): readonly string[] {
    const all = Reader.list(value);
    if (all.some((one) => typeof one !== 'string')) throw new TypeError();
    return all as readonly string[];
  }
  text(name: string): string {
    const value = this.maybe(name);
    if (value === undefined) throw new TypeError();
    return value;
  }
  /** A text that may be absent. */
  maybe(name: string): string | undefined {
    const value = this.members[name];
    if (value !== undefined && typeof value !== 'string') throw new TypeError();
    return value;
  }
  number(name: string): number {
    const value = this.members[name];
    if (typeof value !== 'number') throw new TypeError();
    return value;
  }
  flag(name: string): boolean {
    const value = this.members[name];
    if (typeof value !== 'boolean') throw new TypeError();
    return value;
  }
  list(name: string): readonly unknown[] {
    return Reader.list(this.members[name]);
  }
  /** Texts, none if absent. */
  texts(name: string): readonly string[] {
    return Reader.texts(this.members[name] ?? []);
  }
  inner(name: string): Reader {
    return new Reader(this.members[name]);
  }
  entries(): readonly (readonly [name: string, value: unknown])[] {
    return Object.entries(this.members);
  }

  /** Reads this as a set of rules. */
  ruleSet(layer: string, grants: Grants): RuleSet {
    const namespace = { match: this.text('Match'), name: this.text('Name') };
    const rules: Rule[] = [];
    const add = (resource: string, match: string, name: string, level: string, from: From) => {
      const actions = grants.get(level);
      if (actions === undefined) throw new TypeError();
      const rule = { layer, namespace, resource, match, name, level, grants: actions, from };
      rules.push(rule);
      return rule;
    };
    const whole = (resource: string, value: unknown): Rule => {
      const [level, from] = withSources(value, 'Level');
      return add(resource, 'scalar', '', level, from);
    };
    const namesOf = (resource: string, read: Reader): Names => {
      const table = (member: string, match: string): Rule[] =>
        read
          .inner(member)
          .entries()
          .flatMap(([level, names]) =>
            Reader.list(names).map((one) => {
              const [name, from] = withSources(one, 'Name');
              return add(resource, match, name, level, from);
            }),
          );
      const other = read.texts('Other').map((level) => add(resource, 'other', '', level, []));
      return new Names(table('Exact', 'exact'), table('Prefix', 'prefix'), other);
    };
    const { Management } = this.members;
    const management = Management === undefined ? undefined : whole('namespace', Management);
    const scalars = this.inner('Scalars').entries();
    const named = this.inner('Named').entries();
    return {
      ...namespace,
      management,
      scalars: new Map(scalars.map(([type, value]) => [type, whole(type, value)])),
      named: new Map(named.map(([type, value]) => [type, namesOf(type, new Reader(value))])),
      any: rules.find(({ level }) => level !== 'deny'),
      next: undefined,
    };
  }
}

/** Reads a text, or an object that says where it comes from. */
function withSources(value: unknown, member: 'Name' | 'Level'): readonly [string, From] {
  if (typeof value === 'string') return [value, []];
  const read = new Reader(value);
  const from = read.list('From').map((pair) => Reader.list(pair));
  return [read.text(member), from.map(([origin, line]) => [Number(origin), Number(line)])];
}
