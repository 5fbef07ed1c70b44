/**
 * Which rules allowed a request (beyond.md 5.2). What is asked is noted while the request runs.
 * Where a rule stands is looked up before the request takes effect, which may change that.
 */
import { ruleText } from '../acl/explain.js';
import { type PathStep, Statements } from '../acl/origins.js';
import { keyText } from '../acl/reasons.js';
import type { Steps } from '../acl/steps.js';
import type { Access, Authorizer, Resource, SpeakingRule, Why } from '../acl/types.js';
import { inSlices, inThisTurn } from '../service/common/event-loop.js';
import type { Authorizers } from '../service/rights/authorizers.js';
import { type Collected, stepOf } from '../service/rights/origins.js';
import { tokenByAccessor } from '../state/tokens.js';
import type { View } from '../state/types.js';

/** A right that was asked for, and why it was granted. */
export interface Grant {
  readonly resource: Resource;
  readonly access: Access;
  readonly segment: string;
  readonly namespace: string;
  readonly why: Why;
  /** What was asked, as one text. */
  readonly key: string;
  /** Who says the rule, once that is known. */
  said?: Said | undefined;
  /** As a record shows it. */
  text?: string;
}

/**
 * The rights that allowed a request. It does not keep the rights of the token in memory: many
 * records do.
 */
export interface Granted {
  readonly accessor: string;
  readonly grants: readonly Grant[];
  /** How many more there are. */
  readonly more: number;
  /** What is known of the token's rights. */
  readonly known: Known;
}

/** What is known of the rights of one token, as long as these live. */
interface Known {
  /** By what is asked. */
  readonly grants: Map<string, Grant>;
  /** By the rule that decides. */
  readonly sources: Map<string, Said>;
  /** A look-up that takes several turns. */
  looking?: Promise<void> | undefined;
}

/** Rights that are remembered of one token: most ask for few again and again. */
const REMEMBERED_MAX = 256;
/** Rights that a record shows. */
const GRANTS_MAX = 10;
/** Characters of a segment in a record. */
const SEGMENT_MAX = 512;

/** An authorizer that notes what it is asked for and grants. */
export class Recorder implements Authorizer {
  readonly of: Authorizer;
  readonly accessor: string;
  readonly anonymous: boolean;
  readonly #known: Known;
  readonly #grants: Grant[] = [];
  #more = 0;

  constructor(of: Authorizer, known: Known) {
    this.of = of;
    this.accessor = of.accessor;
    this.anonymous = of.anonymous;
    this.#known = known;
  }

  /** What it has granted so far. */
  get granted(): Granted {
    const { accessor } = this;
    return { accessor, grants: [...this.#grants], more: this.#more, known: this.#known };
  }

  allowed(...asked: Parameters<Authorizer['allowed']>): boolean {
    const isAllowed = this.of.allowed(...asked);
    if (isAllowed) this.#note(...asked);
    return isAllowed;
  }

  denial(...asked: Parameters<Authorizer['denial']>): ReturnType<Authorizer['denial']> {
    const [resource, access, segment, namespace] = asked;
    const why = this.of.denial(resource, access, segment, namespace);
    const stored = typeof segment === 'object' ? segment.stored : segment;
    if (why === undefined) this.#note(resource, access, stored, namespace);
    return why;
  }

  why(...asked: Parameters<Authorizer['why']>): Why {
    return this.of.why(...asked);
  }

  anywhere(...asked: Parameters<Authorizer['anywhere']>): boolean {
    return this.of.anywhere(...asked);
  }

  anyIn(namespace: string): boolean {
    return this.of.anyIn(namespace);
  }

  #note(resource: Resource, access: Access, segment = '', namespace = 'default'): void {
    const shown = segment.length > SEGMENT_MAX ? segment.slice(0, SEGMENT_MAX) : segment;
    const key = `${resource}:${access}:${namespace}:${shown}`;
    if (this.#grants.some((grant) => grant.key === key)) return;
    if (this.#grants.length >= GRANTS_MAX) {
      this.#more += 1;
      return;
    }
    let grant = this.#known.grants.get(key);
    if (grant === undefined) {
      const why = this.of.why(resource, access, segment, namespace);
      grant = { resource, access, segment: shown, namespace, why, key };
      if (this.#known.grants.size < REMEMBERED_MAX) this.#known.grants.set(key, grant);
    }
    this.#grants.push(grant);
  }
}

/** A rule that allowed a request, as a record shows it. */
interface Shown extends Said {
  readonly right: string;
  readonly segment: string;
  readonly namespace: string;
  readonly reason: string;
}

/** What decides, and who says it. */
interface Said {
  readonly rule?: string;
  readonly level?: string;
  readonly policy?: Step;
  readonly line?: number;
  readonly via?: readonly Step[];
}

interface Step {
  readonly type: PathStep['Type'];
  readonly id: string;
  readonly name: string;
}

export interface GrantedParts {
  readonly view: View;
  readonly authorizers: Pick<Authorizers, 'origins'>;
}

/** Finds the texts that allowed requests. Remembers them as long as the rights of a token live. */
export class GrantedRules {
  readonly #parts: GrantedParts;
  readonly #known = new WeakMap<Authorizer, Known>();

  constructor(parts: GrantedParts) {
    this.#parts = parts;
  }

  /** Returns an authorizer that notes which rights it grants. */
  recorder(authorizer: Authorizer): Recorder {
    let known = this.#known.get(authorizer);
    if (known === undefined) {
      known = { grants: new Map(), sources: new Map() };
      this.#known.set(authorizer, known);
    }
    return new Recorder(authorizer, known);
  }

  /**
   * Looks up who says the rules, once for all requests by the same rights. Returns a promise if
   * that takes more than this turn.
   */
  look(granted: Granted): Promise<void> | undefined {
    const { accessor, grants, known } = granted;
    if (grants.every((grant) => isKnown(grant, known))) return undefined;
    if (known.looking !== undefined) return known.looking.then(() => this.look(granted));
    const steps = this.#find(accessor, grants, known);
    if (inThisTurn(steps, 'explain').done === true) return undefined;
    const over = (): void => {
      known.looking = undefined;
    };
    known.looking = inSlices(steps, 'explain').finally(over);
    return known.looking;
  }

  *#find(accessor: string, grants: readonly Grant[], { sources }: Known): Steps<void> {
    const statements = yield* this.#statements(accessor);
    for (const grant of grants) {
      const { rule } = grant.why;
      if (rule === undefined || grant.said !== undefined) continue;
      grant.said = saidIn(rule, statements);
      if (sources.size < REMEMBERED_MAX) sources.set(ruleKey(rule), grant.said);
    }
  }

  *#statements(accessor: string): Steps<BothLayers | undefined> {
    const { view, authorizers } = this.#parts;
    const collected = yield* authorizers.origins((): Collected | undefined => {
      const token = tokenByAccessor(view, accessor);
      return token && { token, first: stepOf(token) };
    });
    if (collected === undefined) return undefined;
    const { own, defaults } = collected.origins;
    return {
      own: yield* Statements.of(own),
      namespace_default: yield* Statements.of(defaults),
    };
  }
}

const NOTHING: Said = {};

type BothLayers = Readonly<Record<'own' | 'namespace_default', Statements>>;

const ruleKey = (rule: SpeakingRule): string =>
  `${rule.layer} ${rule.level} ${rule.service ?? ''} ${keyText(rule)}`;

/** What was asked, why it was granted, and who says so. */
const shownOf = ({ resource, access, segment, namespace, why }: Grant, said: Said): Shown => ({
  right: `${resource}:${access}`,
  segment,
  namespace,
  reason: why.reason,
  ...said,
});

/** Whether it is known who says the rule of a grant. */
function isKnown(grant: Grant, { sources }: Known): boolean {
  const { rule } = grant.why;
  grant.said ??= rule === undefined ? NOTHING : sources.get(ruleKey(rule));
  return grant.said !== undefined;
}

/** Returns a grant as JSON. */
export function textOf(grant: Grant): string {
  grant.text ??= JSON.stringify(shownOf(grant, grant.said ?? NOTHING));
  return grant.text;
}

/** Returns who says a rule. */
function saidIn(rule: SpeakingRule, statements: BothLayers | undefined): Said {
  const said = { rule: ruleText(rule), level: rule.level };
  const [counting] = statements?.[rule.layer].linesOf(rule) ?? [];
  if (counting === undefined) return said;
  const [path, line] = counting;
  const policy = stepShown(path.at(-1)!);
  return { ...said, policy, line, via: path.slice(1, -1).map(stepShown) };
}

const stepShown = ({ Type: type, ID: id, Name: name }: PathStep): Step => ({ type, id, name });
