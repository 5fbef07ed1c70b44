/**
 * Which rules allowed a request (beyond.md 5.2). What is asked is noted while the request runs;
 * where the rule stands is looked up when its record is written.
 */
import { ruleText } from '../acl/explain.js';
import { type PathStep, Statements } from '../acl/origins.js';
import type { Steps } from '../acl/steps.js';
import type { Access, Authorizer, Resource, Spelled, Why } from '../acl/types.js';
import { inSlices } from '../service/common/event-loop.js';
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
  /** What is known already of where the rules stand. */
  readonly known: Map<string, Shown>;
}

/** Rights that a record shows. */
const GRANTS_MAX = 10;
/** Characters of a segment in a record. */
const SEGMENT_MAX = 512;

/** Returns the rights that a check finds to be granted: what it asks `authorizer` for. */
function grantsOf(
  authorizer: Authorizer,
  check: (asked: Authorizer) => void,
): Pick<Granted, 'grants' | 'more'> {
  const grants = new Map<string, Grant>();
  let more = 0;
  const note = (resource: Resource, access: Access, segment = '', namespace = 'default'): void => {
    const key = `${resource}:${access}:${namespace}:${segment}`;
    if (grants.has(key)) return;
    if (grants.size >= GRANTS_MAX) more += 1;
    else {
      const why = authorizer.why(resource, access, segment, namespace);
      const shown = segment.slice(0, SEGMENT_MAX);
      grants.set(key, { resource, access, segment: shown, namespace, why });
    }
  };
  const stored = (segment: string | Spelled | undefined): string | undefined =>
    typeof segment === 'object' ? segment.stored : segment;
  const { accessor, anonymous } = authorizer;
  check({
    accessor,
    anonymous,
    allowed(...asked) {
      const isAllowed = authorizer.allowed(...asked);
      if (isAllowed) note(...asked);
      return isAllowed;
    },
    denial(resource, access, segment, namespace) {
      const why = authorizer.denial(resource, access, segment, namespace);
      if (why === undefined) note(resource, access, stored(segment), namespace);
      return why;
    },
    why: (...asked) => authorizer.why(...asked),
    anywhere: (...asked) => authorizer.anywhere(...asked),
    anyIn: (namespace) => authorizer.anyIn(namespace),
  });
  return { grants: [...grants.values()], more };
}

/** A rule that allowed a request, as a record shows it. */
interface Shown {
  readonly right: string;
  readonly segment: string;
  readonly namespace: string;
  readonly reason: string;
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
  readonly #known = new WeakMap<Authorizer, Map<string, Shown>>();

  constructor(parts: GrantedParts) {
    this.#parts = parts;
  }

  /** Returns the rights that a check finds to be granted: what it asks an authorizer for. */
  noted(authorizer: Authorizer, check: (asked: Authorizer) => void): Granted {
    const known = this.#known.get(authorizer) ?? new Map<string, Shown>();
    this.#known.set(authorizer, known);
    return { ...grantsOf(authorizer, check), accessor: authorizer.accessor, known };
  }

  /** Returns the rules that allowed a request. */
  shown({ accessor, grants, known }: Granted): readonly Shown[] | Promise<readonly Shown[]> {
    const isKnown = grants.every((grant) => known.has(keyOf(grant)));
    if (isKnown) return grants.map((grant) => known.get(keyOf(grant))!);
    return this.#look(accessor, grants, known);
  }

  async #look(
    accessor: string,
    grants: readonly Grant[],
    known: Map<string, Shown>,
  ): Promise<readonly Shown[]> {
    const isNeeded = grants.some(({ why }) => why.rule !== undefined);
    const statements = isNeeded ? await inSlices(this.#statements(accessor)) : undefined;
    return grants.map((grant) => {
      const shown = shownGrant(grant, statements);
      if (known.size < REMEMBERED_MAX) known.set(keyOf(grant), shown);
      return shown;
    });
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

/** Rules that are remembered for one token. */
const REMEMBERED_MAX = 100;
const keyOf = ({ resource, access, segment, namespace }: Grant): string =>
  `${resource}:${access}:${namespace}:${segment}`;

type BothLayers = Readonly<Record<'own' | 'namespace_default', Statements>>;

function shownGrant(grant: Grant, statements: BothLayers | undefined): Shown {
  const { resource, access, segment, namespace, why } = grant;
  const head = { right: `${resource}:${access}`, segment, namespace, reason: why.reason };
  const { rule } = why;
  if (rule === undefined) return head;
  const said = { ...head, rule: ruleText(rule), level: rule.level };
  const sources = statements?.[rule.layer].sourcesOf(rule).Sources ?? [];
  const source = sources.find(({ Counts }) => Counts);
  const last = source?.Path.at(-1);
  if (source === undefined || last === undefined) return said;
  return {
    ...said,
    policy: stepShown(last),
    ...(source.Line !== null && { line: source.Line }),
    via: source.Path.slice(1, -1).map(stepShown),
  };
}

const stepShown = ({ Type: type, ID: id, Name: name }: PathStep): Step => ({ type, id, name });
