/**
 * Where the rules of a token come from: the texts of its policies, identities and templates, each
 * with the way from the token to it. Rules are parsed with their offsets (`parseRules`).
 */
import { sourceOf } from '../languages/policy-rules.js';
import { placesIn } from '../languages/syntax.js';
import { keyText } from './reasons.js';
import { endsStep, type Steps } from './steps.js';
import {
  type Grant,
  type Level,
  type Place,
  type RuleKey,
  type Rules,
  SCALARS,
  type SpeakingRule,
} from './types.js';

/** A step on the way from a token to a text, as answers show it. */
export interface PathStep {
  readonly Type:
    | 'token'
    | 'draft'
    | 'role'
    | 'policy'
    | 'service-identity'
    | 'node-identity'
    | 'templated-policy'
    | 'namespace';
  readonly ID: string;
  readonly Name: string;
}
/** The way from a token to a text. */
export type Path = readonly PathStep[];

/** A grant with the text that says it. `rules` has offsets into `text`. */
export interface PlacedGrant extends Grant {
  readonly path: Path;
  readonly text: string;
}

/** All that the rights of a token are made from. */
export interface Origins {
  readonly own: readonly PlacedGrant[];
  /** What the token's namespace gives to all its tokens. */
  readonly defaults: readonly PlacedGrant[];
  /** What is limited to other datacenters: it grants nothing here. */
  readonly elsewhere: readonly PlacedGrant[];
  /** Links to deleted policies and roles. */
  readonly dangling: readonly Path[];
}

/** Who says something at the key of a rule, as answers show it. */
export interface Source {
  readonly Path: Path;
  readonly Line: number | null;
  readonly Column: number | null;
  readonly Level: Level | null;
  /** False if a stronger level of another source merged over it. */
  readonly Counts: boolean;
}

/** What one text says at the key of a rule. */
interface Statement {
  readonly grant: PlacedGrant;
  readonly at: number;
  readonly level: Level;
  readonly intentions?: Level | undefined;
  readonly inBlock: boolean;
}

/** Sources that one rule shows. */
const SOURCES_MAX = 20;

/** The statements of some grants by the key of their rule. */
export class Statements {
  readonly #byKey = new Map<string, Statement[]>();
  readonly #places = new Map<string, ReturnType<typeof placesIn>>();
  #count = 0;

  /** Collects what some grants state. */
  static *of(grants: readonly PlacedGrant[]): Steps<Statements> {
    const statements = new Statements();
    for (const grant of grants) {
      yield* statements.#addGrant(grant);
      yield;
    }
    return statements;
  }

  *#addGrant(grant: PlacedGrant): Steps<void> {
    const { rules, namespace } = grant;
    yield* this.#addAll(grant, rules, { match: 'exact', name: namespace }, false);
    for (const block of rules.namespaces) {
      const { name, level, at = 0 } = block;
      const match = block.prefix ? 'prefix' : 'exact';
      const place: Place = { match, name };
      if (level !== undefined) {
        this.#add(
          { place, resource: 'namespace', match, name },
          { grant, at, level, inBlock: true },
        );
      }
      yield* this.#addAll(grant, block.rules, place, true);
    }
  }

  *#addAll(grant: PlacedGrant, rules: Rules, place: Place, inBlock: boolean): Steps<void> {
    for (const resource of SCALARS) {
      const level = rules.scalars[resource];
      if (level === undefined) continue;
      const at = rules.scalarsAt?.[resource] ?? 0;
      this.#add({ place, resource, match: 'scalar', name: '' }, { grant, at, level, inBlock });
    }
    for (const { resource, prefix, name, level, intentions, at = 0 } of rules.named) {
      const key: RuleKey = { place, resource, match: prefix ? 'prefix' : 'exact', name };
      this.#add(key, { grant, at, level, intentions, inBlock });
      this.#count += 1;
      if (endsStep(this.#count)) yield;
    }
  }

  #add(key: RuleKey, statement: Statement): void {
    const text = keyText(key);
    const known = this.#byKey.get(text);
    if (known === undefined) this.#byKey.set(text, [statement]);
    else known.push(statement);
  }

  #of(rule: RuleKey): readonly Statement[] {
    return this.#byKey.get(keyText(rule)) ?? [];
  }

  /** Whether a text says a level of intentions at the key of a rule. */
  isExplicit(rule: RuleKey): boolean {
    return this.#of(rule).some(({ intentions }) => intentions !== undefined);
  }

  /** Whether all texts say the rule in a namespace block. */
  isInBlock(rule: RuleKey): boolean {
    return rule.resource !== 'namespace' && this.#of(rule).every(({ inBlock }) => inBlock);
  }

  /** Returns who says a rule, and how many more there are. */
  sourcesOf(rule: SpeakingRule): {
    readonly Sources: readonly Source[];
    readonly MoreSources: number;
  } {
    const all = this.#of(rule);
    const saying = this.#saidAbout(rule);
    const Sources = all.slice(0, SOURCES_MAX).map((statement): Source => {
      const { grant, at, level } = statement;
      const { line, column } = this.#placeIn(grant.text, at);
      const { said, counts } = saying(statement);
      return {
        Path: grant.path,
        Line: line,
        Column: column,
        Level: said ?? level,
        Counts: counts,
      };
    });
    return { Sources, MoreSources: all.length - Sources.length };
  }

  /** Yields the way to each text that gives a rule its level, and the line in the text. */
  *linesOf(rule: SpeakingRule): Iterable<readonly [path: Path, line: number]> {
    const saying = this.#saidAbout(rule);
    for (const statement of this.#of(rule)) {
      const { grant, at } = statement;
      if (saying(statement).counts) yield [grant.path, this.#placeIn(grant.text, at).line];
    }
  }

  /** Returns what tells the level that a statement says about a rule, and whether it counts. */
  #saidAbout(rule: SpeakingRule) {
    const isExplicit = rule.service !== undefined && this.isExplicit(rule);
    const merged = isExplicit ? rule.level : (rule.service ?? rule.level);
    return ({ level, intentions }: Statement) => {
      const said = isExplicit ? intentions : level;
      return { said, counts: said === merged };
    };
  }

  #placeIn(text: string, at: number): { line: number; column: number } {
    let places = this.#places.get(text);
    if (places === undefined) {
      places = placesIn(sourceOf(text));
      this.#places.set(text, places);
    }
    return places(at);
  }
}
