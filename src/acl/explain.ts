/** Explains the decisions on the accesses of a token: which rule decides, and who says it. */
import { compileRights, type Rights } from './authorizer.js';
import { sentenceOf } from './explain-text.js';
import { Layer } from './layer.js';
import { type Origins, type Source, Statements } from './origins.js';
import {
  type Asked,
  allAbout,
  allRules,
  keyText,
  LAYERS,
  type LayerName,
  othersOf,
  type Reason,
  type SpeakingRule,
  type WhyNot,
  whyOf,
} from './reasons.js';
import type { Level } from './types.js';

/** A namespace, or the namespaces of a prefix, as answers show it. */
interface ShownPlace {
  readonly Match: 'exact' | 'prefix';
  readonly Name: string;
}

/** A rule as answers show it. Null members: a link to a deleted object, whose rules are unknown. */
export interface ShownRule {
  readonly Resource: string | null;
  readonly Match: SpeakingRule['match'] | null;
  /** Absent for scalars. */
  readonly Name?: string;
  /** The block in which the rule stands, if it stands in one. */
  readonly NamespaceBlock?: ShownPlace;
  readonly Level: Level | null;
  readonly Rule: string | null;
  readonly Sources: readonly Source[];
  readonly MoreSources: number;
}
/** A rule that speaks about a question and does not decide it. */
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

/** Explains the decisions on one token. Parses and compiles nothing again between questions. */
export class Explainer {
  readonly #origins: Origins;
  readonly #anonymous: boolean;
  readonly #rights: Rights;
  readonly #statements: Readonly<Record<LayerName, Statements>>;
  readonly #elsewhere: { readonly layer: Layer; readonly statements: Statements };

  constructor(
    origins: Origins,
    options: { readonly defaultPolicy: 'deny' | 'allow'; readonly anonymous: boolean },
  ) {
    const { own, defaults, elsewhere } = origins;
    this.#origins = origins;
    this.#anonymous = options.anonymous;
    this.#rights = compileRights(own, { ...options, defaults });
    this.#statements = { own: new Statements(own), namespace_default: new Statements(defaults) };
    this.#elsewhere = { layer: new Layer(elsewhere), statements: new Statements(elsewhere) };
  }

  /** Explains the decision on one question. */
  explain(asked: Asked): Explanation {
    const why = whyOf(this.#rights, this.#anonymous, asked);
    const { rule } = why;
    const isWritten = rule?.service !== undefined && this.#statements[rule.layer].isExplicit(rule);
    const reason = why.reason === 'service_rule' && isWritten ? 'rule' : why.reason;
    const winner = rule === undefined ? null : this.#shown(rule, this.#statements[rule.layer]);
    const shown: ShownCandidate[] = [];
    let count = 0;
    const show = (make: () => ShownCandidate): void => {
      count += 1;
      if (shown.length < CANDIDATES_MAX) shown.push(make());
    };
    for (const other of othersOf(this.#rights, asked, why)) {
      const { layer } = other.rule;
      show(() => ({ ...this.#shown(other.rule, this.#statements[layer]), Why: other.why }));
    }
    for (const [other] of allAbout(this.#elsewhere.layer, LAYERS[0], asked)) {
      const { statements } = this.#elsewhere;
      show(() => ({ ...this.#shown(other, statements, false), Why: 'other_datacenter' }));
    }
    for (const path of this.#origins.dangling) show(() => danglingLink(path));
    return {
      Resource: asked.resource,
      Access: asked.access,
      Segment: asked.segment,
      Namespace: asked.namespace,
      Allow: why.allow,
      Reason: reason,
      ...(rule !== undefined && { Layer: rule.layer }),
      Level: rule?.level ?? null,
      Text: sentenceOf(asked, { ...why, reason }, winner, this.#anonymous),
      Winner: winner,
      Candidates: shown,
      MoreCandidates: count - shown.length,
    };
  }

  #shown(rule: SpeakingRule, statements: Statements, counts = true): ShownRule {
    const { place, resource, match, name, level } = rule;
    const { Sources, MoreSources } = statements.sourcesOf(rule);
    return {
      Resource: resource,
      Match: match,
      ...(match !== 'scalar' && { Name: name }),
      ...(statements.isInBlock(rule) && { NamespaceBlock: shownPlace(place) }),
      Level: level,
      Rule: ruleText(rule),
      Sources: counts ? Sources : Sources.map((source) => ({ ...source, Counts: false })),
      MoreSources,
    };
  }

  /** Returns the merged rights, in order, and whether there are more. */
  table(): { readonly Rights: readonly RightsRow[]; readonly Truncated: boolean } {
    const byKey = new Map<string, SpeakingRule>();
    const intentions = new Map<string, Level>();
    for (const rule of allRules(this.#rights)) {
      const key = `${rule.layer}\u0000${keyText(rule)}`;
      if (rule.service === undefined) byKey.set(key, rule);
      else intentions.set(key, rule.level);
    }
    const all = [...byKey].sort(([, a], [, b]) => inOrder(a, b));
    const Rights = all
      .slice(0, ROWS_MAX)
      .map(([key, rule]) => this.#row(rule, intentions.get(key)));
    return { Rights, Truncated: all.length > ROWS_MAX };
  }

  #row(rule: SpeakingRule, intentions: Level | undefined): RightsRow {
    const statements = this.#statements[rule.layer];
    const { layer, place, resource, match, name, level } = rule;
    return {
      Layer: layer,
      Namespace: shownPlace(place),
      Resource: resource,
      Match: match,
      ...(match !== 'scalar' && { Name: name }),
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
  return `${resource}${match === 'prefix' ? '_prefix' : ''} ${JSON.stringify(name)}`;
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
  ...['acl', 'keyring', 'operator', 'mesh', 'peering', 'agent', 'event', 'key'],
  ...['node', 'query', 'service', 'session', 'namespace'],
];
const MATCH_ORDER = ['scalar', 'exact', 'prefix'];

/** Orders the rows of merged rights. */
function inOrder(a: SpeakingRule, b: SpeakingRule): number {
  return (
    LAYERS.indexOf(a.layer) - LAYERS.indexOf(b.layer) ||
    MATCH_ORDER.indexOf(a.place.match) - MATCH_ORDER.indexOf(b.place.match) ||
    inTextOrder(a.place.name, b.place.name) ||
    RESOURCE_ORDER.indexOf(a.resource) - RESOURCE_ORDER.indexOf(b.resource) ||
    MATCH_ORDER.indexOf(a.match) - MATCH_ORDER.indexOf(b.match) ||
    inTextOrder(a.name, b.name)
  );
}
const inTextOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
