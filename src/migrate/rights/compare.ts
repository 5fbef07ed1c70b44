/** Compares the rights of all tokens of a source with those here (moving-in.md 5). */
import { authorizerOf } from '../../acl/authorizer.js';
import { ANONYMOUS_ACCESSOR } from '../../acl/builtin.js';
import { Explainer, ruleText } from '../../acl/explain.js';
import type { Rights as Compiled } from '../../acl/layer.js';
import { type Asked, whyOf } from '../../acl/reasons.js';
import { atOnce } from '../../acl/steps.js';
import type { DifferenceCode, Rights, RightsDifference } from '../../api/migration-report.js';
import { isText } from '../../base/text.js';
import { NO_RIGHTS, Side, type Variant } from './holders.js';
import { type Questions, questionsAbout } from './questions.js';
import type { CompareOptions, GrantClass, RightsState, TokenShown } from './types.js';

/** Differences that are shown. */
const DIFFERENCES_MAX = 10_000;
/** Tokens that a difference names. */
const SAMPLE_MAX = 10;

/** Tokens that are granted alike on both sides. `target` is the token here of the first. */
interface Class {
  readonly tokens: TokenShown[];
  readonly target: TokenShown | undefined;
}
type Answer = (asked: Asked) => boolean;

/**
 * Compares the rights of each token of the source with those of the token here with its AccessorID.
 * Tokens with equal links and identities are compared once. A token that is missing here is one
 * difference: the first question that the source allows it.
 */
export function compareRights(
  source: RightsState,
  target: RightsState,
  options: CompareOptions = {},
): Rights {
  const sides = new Sides(source, target);
  const found = new Differences();
  const classes = [...sides.classes()];
  let count = 0;
  let byRule = 0;
  for (const one of classes) {
    const compared = new Comparison(sides, one);
    count += compared.questions.count;
    byRule += Number(compared.questions.byRule);
    for (const asked of compared.differing()) {
      found.add(one.tokens, asked, compared.difference(asked, options));
      if (one.target === undefined) break;
    }
  }
  const { shown, more } = found;
  return {
    Tokens: source.tokens.length,
    Classes: classes.length,
    Questions: count,
    ...(byRule > 0 && { ComparedByRule: byRule }),
    Differences: shown,
    ...(more > 0 && { More: more }),
    Equal: [...found.codes].every((code) => options.accept?.has(code) && code !== 'unexplained'),
  };
}

/** Returns the grant classes of the source's tokens, for live questions (moving-in.md 5.3). */
export function* grantClasses(source: RightsState, target: RightsState): Iterable<GrantClass> {
  const sides = new Sides(source, target);
  const existing = new Set(sides.namespaces);
  for (const one of sides.classes()) {
    const { questions, expected } = new Comparison(sides, one, Number.POSITIVE_INFINITY);
    yield {
      accessors: one.tokens.map(({ AccessorID }) => AccessorID),
      *questions() {
        for (const asked of questions.all()) {
          const isThere = asked.namespace === 'default' || existing.has(asked.namespace);
          // A name that ends within a character cannot be sent.
          const isAskable = asked.resource !== 'namespace' && isText(asked.segment);
          if (isThere && isAskable) yield asked;
        }
      },
      expected,
    };
  }
}

/** Both sides, and the tokens that are compared. */
class Sides {
  readonly source: Side;
  readonly target: Side;
  readonly namespaces: readonly string[];

  constructor(source: RightsState, target: RightsState) {
    this.source = new Side(source);
    this.target = new Side(target);
    this.namespaces = [...source.namespaces, ...target.namespaces].map(({ Name }) => Name);
  }

  classes(): Iterable<Class> {
    const here = new Map(this.target.state.tokens.map((token) => [token.AccessorID, token]));
    const classes = new Map<string, Class>();
    for (const token of this.source.state.tokens) {
      const target = here.get(token.AccessorID);
      const key = `${this.source.keyOf(token)}\n${target && this.target.keyOf(target)}`;
      const known = classes.get(key);
      if (known === undefined) classes.set(key, { tokens: [token], target });
      else known.tokens.push(token);
    }
    return classes.values();
  }
}

class Comparison {
  readonly questions: Questions;
  /** What the source answers by its rules. */
  readonly expected: Answer;
  readonly #sides: Sides;
  readonly #class: Class;
  readonly #token: TokenShown;
  readonly #rights: Compiled;
  readonly #allowsHere: Answer;
  #explainer: Explainer | undefined;
  readonly #variants = new Map<string, Answer>();

  constructor(sides: Sides, one: Class, questionsMax?: number) {
    this.#sides = sides;
    this.#class = one;
    this.#token = one.tokens[0]!;
    this.#rights = sides.source.rightsOf(this.#token);
    this.expected = answersOf(sides.source, this.#token, this.#rights);
    const here = one.target ? sides.target.rightsOf(one.target) : NO_RIGHTS;
    this.#allowsHere = answersOf(sides.target, one.target ?? this.#token, here);
    this.questions = questionsAbout([this.#rights, here], sides.namespaces, questionsMax);
  }

  /** Yields the questions that both sides answer differently. */
  *differing(): Iterable<Asked> {
    for (const asked of this.questions.all()) {
      if (this.expected(asked) !== this.#allowsHere(asked)) yield asked;
    }
  }

  /** Returns what is told of a question that is answered differently. */
  difference(asked: Asked, options: CompareOptions) {
    const allow = this.expected(asked);
    const { rule } = whyOf(this.#rights, false, asked);
    return {
      ...this.#reason(asked, options.leftOut ?? new Set()),
      Source: { Allow: allow, ...(rule !== undefined && { Rule: ruleText(rule) }) },
      explained: () => this.#explained(asked, !allow),
    };
  }

  #explained(asked: Asked, allow: boolean): RightsDifference['Target'] {
    const { target } = this.#sides;
    const { target: token } = this.#class;
    if (token === undefined || target.state.reader !== 'ours') return { Allow: allow };
    const { defaultPolicy } = target.state;
    const anonymous = target.isRestricted(token);
    this.#explainer ??= atOnce(Explainer.of(target.originsOf(token), { defaultPolicy, anonymous }));
    return { ...atOnce(this.#explainer.explain(asked)), Allow: allow };
  }

  /** Returns why the sides differ: what of the source would answer as this side does. */
  #reason(asked: Asked, leftOut: ReadonlySet<string>): Pick<RightsDifference, 'Code' | 'LeftOut'> {
    const { source, target } = this.#sides;
    const refs = [`token/${this.#token.AccessorID}`, ...source.refsOf(this.#token)];
    const without = new Set(refs.filter((ref) => leftOut.has(ref)));
    const LeftOut = [...without];
    if (this.#class.target === undefined) {
      return without.size > 0 ? { Code: 'left_out', LeftOut } : { Code: 'unexplained' };
    }
    const isOperator = asked.resource === 'operator' || asked.resource === 'namespace';
    const isAnonymous = this.#token.AccessorID === ANONYMOUS_ACCESSOR && this.expected(asked);
    if (isOperator && isAnonymous) return { Code: 'anonymous_operator' };
    const { defaultPolicy } = target.state;
    const differs = source.state.defaultPolicy !== defaultPolicy;
    const variants: [DifferenceCode, boolean, Variant][] = [
      ['left_out', without.size > 0, { without }],
      ['rights_add_up', true, { addsUp: true }],
      ['default_policy', differs, { defaultPolicy }],
      ['left_out', without.size > 0, { without, addsUp: true, defaultPolicy }],
      ['default_policy', differs, { addsUp: true, defaultPolicy }],
    ];
    const [Code = 'unexplained' as const] =
      variants.find(
        ([, applies, variant]) =>
          applies && this.#under(variant)(asked) === this.#allowsHere(asked),
      ) ?? [];
    return Code === 'left_out' ? { Code, LeftOut } : { Code };
  }

  /** Returns the answers of the source if it were so. */
  #under(variant: Variant): Answer {
    const key = JSON.stringify([variant.without?.size, variant.addsUp, variant.defaultPolicy]);
    let answer = this.#variants.get(key);
    if (answer === undefined) {
      const { source } = this.#sides;
      answer = answersOf(source, this.#token, source.rightsOf(this.#token, variant));
      this.#variants.set(key, answer);
    }
    return answer;
  }
}

/** Returns the answers of a side to questions about a token. */
function answersOf(side: Side, token: TokenShown, rights: Compiled): Answer {
  const anonymous = side.isRestricted(token);
  const authorizer = authorizerOf(rights, { accessor: token.AccessorID, anonymous });
  const allows: Answer = ({ resource, access, segment, namespace }) =>
    authorizer.allowed(resource, access, segment, namespace);
  if (side.state.reader === 'ours' || !rights.allowByDefault) return allows;
  return (asked) => allows(asked) || isLeftToDefault(rights, asked);
}

/**
 * Whether the source leaves read on all intentions to the default policy, which allows it: if no
 * rule grants it, and none is for the empty prefix. Here any rule decides.
 */
function isLeftToDefault(
  { layers }: Compiled,
  { resource, access, segment, namespace }: Asked,
): boolean {
  if (resource !== 'intention' || segment !== '*' || access !== 'read') return false;
  return layers.every((layer) =>
    [...layer.setsFor(namespace)].every(
      ({ named }) => named.get('intention')?.prefix.has('') !== true,
    ),
  );
}

/** Gathers differences: those of several classes that are alike are one. */
class Differences {
  readonly codes = new Set<DifferenceCode>();
  more = 0;
  readonly #byKey = new Map<string, RightsDifference>();

  get shown(): readonly RightsDifference[] {
    return [...this.#byKey.values()];
  }

  add(
    tokens: readonly TokenShown[],
    asked: Asked,
    difference: ReturnType<Comparison['difference']>,
  ): void {
    const { Code, LeftOut, Source, explained } = difference;
    this.codes.add(Code);
    const key = JSON.stringify([Code, LeftOut, Source, asked]);
    const known = this.#byKey.get(key);
    if (known === undefined && this.#byKey.size >= DIFFERENCES_MAX) {
      this.more += 1;
      return;
    }
    const some = tokens.slice(0, SAMPLE_MAX).map(({ AccessorID }) => AccessorID);
    const Sample = [...(known?.Sample ?? []), ...some].slice(0, SAMPLE_MAX);
    this.#byKey.set(key, {
      Code,
      ...(LeftOut !== undefined && { LeftOut }),
      Tokens: (known?.Tokens ?? 0) + tokens.length,
      Sample,
      Resource: asked.resource,
      Access: asked.access,
      Segment: asked.segment,
      Namespace: asked.namespace,
      Source,
      Target: known?.Target ?? explained(),
    });
  }
}
