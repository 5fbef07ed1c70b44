/** Explains the decisions on the accesses of a token: which rule decides, and who says it. */

import { compare } from '../base/text.js';
import { cut } from '../languages/shown-values.js';
import { compileRights } from './authorizer.js';
import { type ShownPlace, type ShownRule, sentenceOf } from './explain-text.js';
import { Layer, type Rights } from './layer.js';
import { type Origins, type Source, Statements } from './origins.js';
import {
  type Asked,
  allAbout,
  allRules,
  keyText,
  othersOf,
  type WhyNot,
  whyOf,
} from './reasons.js';
import { endsStep, least, type Steps } from './steps.js';
import {
  LAYERS,
  type LayerName,
  type Level,
  type Reason,
  type SpeakingRule,
  type Why,
} from './types.js';

/** A rule that matches a question and does not decide it. */
type ShownCandidate = ShownRule & {
  readonly Why: WhyNot | 'other_datacenter' | 'dangling';
};

/** Why one access is allowed or denied, as answers show it. */
export interface Explanation {
  readonly Resource: string;
  readonly Access: string;
  readonly Segment: string;
  readonly Namespace: string;
  readonly Allow: boolean;
  readonly Reason: Reason;
  readonly Layer?: LayerName;
  readonly Level: Level | null;
  readonly Text: string;
  readonly Winner: ShownRule | null;
  readonly Candidates: readonly ShownCandidate[];
  readonly MoreCandidates: number;
}

/** One rule of a token's merged rights, as answers show it. */
export interface RightsRow {
  readonly Layer: LayerName;
  readonly Namespace: ShownPlace;
  readonly Resource: string;
  readonly Match: SpeakingRule['match'];
  readonly Name?: string;
  readonly Level: Level;
  /** For services: the level on intentions, and whether a text says it. */
  readonly Intentions?: Level;
  readonly IntentionsExplicit?: boolean;
  readonly Sources: readonly Source[];
  readonly MoreSources: number;
}

/** Candidates that one explanation shows. */
const CANDIDATES_MAX = 20;
/** Rows of merged rights that one answer shows. */
const ROWS_MAX = 5_000;
/** Rows of one step: each may show 20 sources. */
const ROWS_PER_STEP = 20;
/** Characters of the rows of one answer: the maximum number of usual ones. */
const ROWS_CHARS_MAX = 2 * 2 ** 20;
/** Characters of other lists of one answer: the maximum number of usual items. */
export const SHOWN_CHARS_MAX = 2 ** 19;

/** What is left of the characters of an answer. */
export interface ShownBudget {
  left: number;
}

/** Explains the decisions on one token. Parses and compiles nothing again between questions. */
export class Explainer {
  readonly rights: Rights;
  readonly #origins: Origins;
  readonly #anonymous: boolean;
  readonly #statements: Readonly<Record<LayerName, Statements>>;
  readonly #elsewhere: { readonly layer: Layer; readonly statements: Statements };

  constructor(
    parts: {
      readonly origins: Origins;
      readonly rights: Rights;
      readonly statements: Readonly<Record<LayerName, Statements>>;
      readonly elsewhere: { readonly layer: Layer; readonly statements: Statements };
    },
    anonymous: boolean,
  ) {
    this.#origins = parts.origins;
    this.#anonymous = anonymous;
    this.rights = parts.rights;
    this.#statements = parts.statements;
    this.#elsewhere = parts.elsewhere;
  }

  static *of(
    origins: Origins,
    options: { readonly defaultPolicy: 'deny' | 'allow'; readonly anonymous: boolean },
  ): Steps<Explainer> {
    const { own, defaults, elsewhere } = origins;
    const rights = yield* compileRights(own, { ...options, defaults });
    const statements = {
      own: yield* Statements.of(own),
      namespace_default: yield* Statements.of(defaults),
    };
    const other = {
      layer: yield* Layer.of(elsewhere),
      statements: yield* Statements.of(elsewhere),
    };
    const parts = { origins, rights, statements, elsewhere: other };
    return new Explainer(parts, options.anonymous);
  }

  /** Explains the decision on one question. Shows candidates while there is a budget. */
  *explain(asked: Asked, budget: ShownBudget = { left: SHOWN_CHARS_MAX }): Steps<Explanation> {
    const { why, winner } = this.#decided(asked);
    const { rule, reason } = why;
    const shown: ShownCandidate[] = [];
    let count = 0;
    for (const make of this.#candidates(asked, why)) {
      count += 1;
      if (endsStep(count)) yield;
      if (shown.length >= CANDIDATES_MAX || budget.left <= 0) continue;
      const candidate = make();
      budget.left -= JSON.stringify(candidate).length;
      shown.push(candidate);
    }
    return {
      Resource: asked.resource,
      Access: asked.access,
      Segment: cut(asked.segment),
      Namespace: asked.namespace,
      Allow: why.allow,
      Reason: reason,
      ...(rule !== undefined && { Layer: rule.layer }),
      Level: rule?.level ?? null,
      Text: sentenceOf(asked, why, winner, this.#anonymous),
      Winner: winner,
      Candidates: shown,
      MoreCandidates: count - shown.length,
    };
  }

  /** Returns why a question is decided as it is: the sentence of its explanation. */
  sentence(asked: Asked): string {
    const { why, winner } = this.#decided(asked);
    return sentenceOf(asked, why, winner, this.#anonymous);
  }

  #decided(asked: Asked): { readonly why: Why; readonly winner: ShownRule | null } {
    const why = whyOf(this.rights, this.#anonymous, asked);
    const { rule } = why;
    if (rule === undefined) return { why, winner: null };
    const statements = this.#statements[rule.layer];
    const isWritten = rule.service !== undefined && statements.isExplicit(rule);
    const reason = why.reason === 'service_rule' && isWritten ? 'rule' : why.reason;
    return { why: { ...why, reason }, winner: this.#shown(rule, statements) };
  }

  /** Yields what makes each rule that matches a question and does not decide it. */
  *#candidates(asked: Asked, why: Why): Iterable<() => ShownCandidate> {
    for (const { rule, why: reason } of othersOf(this.rights, asked, why)) {
      yield () => ({ ...this.#shown(rule, this.#statements[rule.layer]), Why: reason });
    }
    const { layer, statements } = this.#elsewhere;
    for (const [rule] of allAbout(layer, LAYERS[0], asked)) {
      yield () => ({ ...this.#shown(rule, statements, false), Why: 'other_datacenter' });
    }
    for (const path of this.#origins.dangling) yield () => danglingLink(path);
  }

  #shown(rule: SpeakingRule, statements: Statements, counts = true): ShownRule {
    const { place, resource, match, name, level } = rule;
    const { Sources, MoreSources } = statements.sourcesOf(rule);
    return {
      Resource: resource,
      Match: match,
      ...(match !== 'scalar' && { Name: cut(name) }),
      ...(statements.isInBlock(rule) && { NamespaceBlock: shownPlace(place) }),
      Level: level,
      Rule: ruleText(rule),
      Sources: counts ? Sources : Sources.map((source) => ({ ...source, Counts: false })),
      MoreSources,
    };
  }

  /** Returns the merged rights, in order, and whether there are more. */
  *table(): Steps<{ readonly Rights: readonly RightsRow[]; readonly Truncated: boolean }> {
    const byKey = new Map<string, SpeakingRule>();
    const intentions = new Map<string, Level>();
    let count = 0;
    for (const rule of allRules(this.rights)) {
      const key = `${rule.layer}\u0000${keyText(rule)}`;
      if (rule.service === undefined) byKey.set(key, rule);
      else intentions.set(key, rule.level);
      count += 1;
      if (endsStep(count)) yield;
    }
    const all = yield* least(byKey, ROWS_MAX, ([, a], [, b]) => inOrder(a, b));
    const Rights: RightsRow[] = [];
    let left = ROWS_CHARS_MAX;
    for (const [key, rule] of all) {
      const row = this.#row(rule, intentions.get(key));
      left -= JSON.stringify(row).length;
      if (left < 0) break;
      Rights.push(row);
      if (Rights.length % ROWS_PER_STEP === 0) yield;
    }
    return { Rights, Truncated: Rights.length < byKey.size };
  }

  #row(rule: SpeakingRule, intentions: Level | undefined): RightsRow {
    const statements = this.#statements[rule.layer];
    const { layer, place, resource, match, name, level } = rule;
    return {
      Layer: layer,
      Namespace: shownPlace(place),
      Resource: resource,
      Match: match,
      ...(match !== 'scalar' && { Name: cut(name) }),
      Level: level,
      ...(intentions !== undefined && {
        Intentions: intentions,
        IntentionsExplicit: statements.isExplicit(rule),
      }),
      ...statements.sourcesOf(rule),
    };
  }
}

const shownPlace = ({ match, name }: SpeakingRule['place']): ShownPlace => ({
  Match: match,
  Name: name,
});

/** Returns a rule as its text would begin. */
export function ruleText({ resource, match, name }: SpeakingRule): string {
  if (match === 'scalar') return resource;
  return `${resource}${match === 'prefix' ? '_prefix' : ''} ${JSON.stringify(cut(name))}`;
}

const danglingLink = (path: Source['Path']): ShownCandidate => ({
  Resource: null,
  Match: null,
  Level: null,
  Rule: null,
  Sources: [{ Path: path, Line: null, Column: null, Level: null, Counts: false }],
  MoreSources: 0,
  Why: 'dangling',
});

const RESOURCE_ORDER: readonly string[] = [
  'acl',
  'keyring',
  'operator',
  'mesh',
  'peering',
  'agent',
  'event',
  'key',
  'node',
  'query',
  'service',
  'session',
  'namespace',
];
const MATCH_ORDER = ['scalar', 'exact', 'prefix'];

function inOrder(a: SpeakingRule, b: SpeakingRule): number {
  return (
    LAYERS.indexOf(a.layer) - LAYERS.indexOf(b.layer) ||
    MATCH_ORDER.indexOf(a.place.match) - MATCH_ORDER.indexOf(b.place.match) ||
    compare(a.place.name, b.place.name) ||
    RESOURCE_ORDER.indexOf(a.resource) - RESOURCE_ORDER.indexOf(b.resource) ||
    MATCH_ORDER.indexOf(a.match) - MATCH_ORDER.indexOf(b.match) ||
    compare(a.name, b.name)
  );
}
