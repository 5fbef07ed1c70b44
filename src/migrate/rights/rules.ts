/**
 * The source's reading of the rules of policies, and how it merges those of one token. It compares
 * levels without regard to case where it checks them, and with regard to case where it merges them:
 * a scalar `"WRITE"` does nothing, and `policy = "WRITE"` yields to any level in lower case.
 */
import { merged } from '../../acl/rule-set.js';
import { isEmpty } from '../../acl/rules-reader.js';
import {
  type Level,
  NAMED,
  type Named,
  type NamedRule,
  type Rules,
  SCALARS,
  type Scalar,
} from '../../acl/types.js';
import { sourceOf } from '../../languages/policy-rules.js';
import { type HclItem, type HclValue, isJsonForm, readHcl } from './hcl.js';
import { Unreadable } from './hcl-tokens.js';
import type { Reader } from './types.js';

/** A rule for one name or prefix, with levels as written. */
interface WrittenRule {
  readonly resource: Named;
  readonly prefix: boolean;
  readonly name: string;
  readonly level: string;
  readonly intentions?: string;
}
/** Rules with levels as written. `Rules` are such rules too. */
export interface Written {
  readonly scalars: Readonly<Partial<Record<Scalar, string>>>;
  readonly named: readonly WrittenRule[];
  readonly namespaces: readonly {
    readonly name: string;
    readonly prefix: boolean;
    readonly level?: string;
    readonly rules: Written;
  }[];
}

/** What the source reads in a text. */
export type SourceReading =
  | {
      readonly ok: true;
      /** What the text grants by itself. */
      readonly rules: Rules;
      /** What is merged with other texts. */
      readonly written: Written;
      /** Between which offsets items stand that have no effect. Empty for the JSON form. */
      readonly idle: readonly (readonly [from: number, to: number])[];
    }
  /** The source refuses the text: a token with this policy is refused everything. */
  | { readonly ok: false };

/** Reads a text as the source does. Offsets refer to the text with LF as line ends. */
export function readRules(text: string, reader: Reader = 'community'): SourceReading {
  // Line ends in texts of the JSON form stay.
  const source = isJsonForm(text) ? text : sourceOf(text);
  try {
    const decoder = new Decoder(reader === 'enterprise');
    const written = decoder.rules(readHcl(source), 'top').rules;
    const idle = isJsonForm(text) ? [] : decoder.idle.map(({ from, to }) => [from, to] as const);
    return { ok: true, rules: mergeWritten([written]), written, idle };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false };
    throw error;
  }
}

const LEVELS = /^(?:deny|read|write)$/i;
const KEY_LEVELS = /^(?:deny|list|read|write)$/i;

/** An item below the key by which it was found. */
type Found = Pick<HclItem, 'keys' | 'value'>;
type Block = readonly [name: string, items: readonly HclItem[]];

/** Makes rules of items, as the source's decoder does. Throws Unreadable. */
class Decoder {
  /** Items that have no effect. */
  readonly idle: HclItem[] = [];
  readonly #hasNamespaces: boolean;

  constructor(hasNamespaces: boolean) {
    this.#hasNamespaces = hasNamespaces;
  }

  rules(
    items: readonly HclItem[],
    place: 'top' | 'namespace',
  ): { readonly rules: Written; readonly level?: string } {
    checkKeys(items);
    const hasBlocks = this.#hasNamespaces && place === 'top';
    const policy = place === 'namespace' ? this.#text(items, 'policy') : '';
    const scalars: Partial<Record<Scalar, string>> = {};
    for (const resource of SCALARS) {
      const level = this.#text(items, resource);
      if (level !== '') scalars[resource] = checked(level, LEVELS);
    }
    const named = NAMED.flatMap((resource) =>
      [false, true].flatMap((prefix) =>
        this.#blocks(items, `${resource}${prefix ? '_prefix' : ''}`).map((block) =>
          this.#rule(resource, prefix, block),
        ),
      ),
    );
    const namespaces = [false, true].flatMap((prefix) =>
      hasBlocks
        ? this.#blocks(items, `namespace${prefix ? '_prefix' : ''}`).map(([name, inner]) => ({
            name,
            prefix,
            ...this.rules(inner, 'namespace'),
          }))
        : [],
    );
    this.#noteIdle(items, hasBlocks, place);
    const level = policy === '' ? {} : { level: checked(policy, LEVELS) };
    return { rules: { scalars, named, namespaces }, ...level };
  }

  #rule(resource: Named, prefix: boolean, [name, items]: Block): WrittenRule {
    checkKeys(items);
    const level = checked(this.#text(items, 'policy'), resource === 'key' ? KEY_LEVELS : LEVELS);
    const intentions = resource === 'service' ? this.#text(items, 'intentions') : '';
    for (const item of items) {
      const key = folded(item.keys[0]);
      // Its code narrows what the rule grants.
      if (key === 'sentinel' && this.#hasNamespaces) throw new Unreadable('a sentinel');
      if (key !== 'policy' && !(key === 'intentions' && resource === 'service')) {
        this.idle.push(item);
      }
    }
    return {
      resource,
      prefix,
      name,
      level,
      ...(intentions !== '' && { intentions: checked(intentions, LEVELS) }),
    };
  }

  /** Notes items of no resource, empty ones, and scalars that merge to nothing. */
  #noteIdle(items: readonly HclItem[], hasBlocks: boolean, place: 'top' | 'namespace'): void {
    for (const item of items) {
      const key = folded(item.keys[0]);
      const resource = key.replace(/_prefix$/, '');
      const isBlock = hasBlocks && resource === 'namespace';
      const { value } = item;
      if (SCALARS.some((each) => each === key)) {
        if (value.is === 'text' && value.text !== '' && rank(value.text!) === 0) {
          this.idle.push(item);
        }
      } else if (isBlock || NAMED.some((each) => each === resource)) {
        const inner = value.is === 'object' || value.is === 'list' ? value.items : [value];
        if (item.keys.length === 1 && inner.length === 0) this.idle.push(item);
      } else if (place === 'top' || key !== 'policy') this.idle.push(item);
    }
  }

  #find(items: readonly HclItem[], name: string): Found[] {
    return items
      .filter(({ keys }) => folded(keys[0]) === name)
      .map(({ keys, value }) => ({ keys: keys.slice(1), value }));
  }

  /** Returns the text of an argument, that of the last one; empty if there is none. */
  #text(items: readonly HclItem[], name: string): string {
    let text = '';
    for (const { keys, value } of this.#find(items, name)) {
      if (keys.length > 0 || value.is !== 'text') throw new Unreadable('no text');
      text = known(value.text);
    }
    return text;
  }

  /** Returns the blocks of a resource: those with a name before the brace come first. */
  #blocks(items: readonly HclItem[], resource: string): Block[] {
    const found = this.#find(items, resource);
    const inner = found
      .filter(({ keys }) => keys.length === 0)
      .flatMap(({ value }) => within(value));
    return [...found.filter(({ keys }) => keys.length > 0), ...inner].map(bodyOf);
  }
}

/** Returns the items of `resource { … }`. */
function within(value: HclValue): readonly Found[] {
  if (value.is === 'object') return value.items;
  if (value.is === 'list' && value.items.length === 0) return [];
  throw new Unreadable('no block');
}

/** `"a" "b" { … }` is a block "a" with a block "b"; of three names, the first names the rule. */
function bodyOf({ keys, value }: Found): Block {
  const at = { from: 0, to: 0 };
  const name = known(keys[0]);
  if (keys.length === 2) return [name, [{ keys: keys.slice(1), value, ...at }]];
  if (value.is === 'object') return [name, value.items];
  if (value.is === 'list') throw new Unreadable('no block');
  // An argument in the place of a name is an argument of a rule of its name.
  return [name, [{ keys, value, ...at }]];
}

function known(text: string | undefined): string {
  if (text === undefined) throw new Unreadable('an escape of no character');
  return text;
}

/** The source decodes these keys of the items around it, whether they have a meaning or not. */
function checkKeys(items: readonly HclItem[]): void {
  for (const [i, { keys }] of items.entries()) if (i === 0 || keys.length === 1) keys.map(known);
}

/** The source folds this letter, too, to an ASCII one. */
const LONG_S = /\u017f/g;
const folded = (key: string | undefined): string => known(key).replace(LONG_S, 's').toLowerCase();

function checked(level: string, levels: RegExp): string {
  if (!levels.test(level)) throw new Unreadable('no level');
  return level;
}

const RANKS: readonly string[] = ['read', 'list', 'write', 'deny'];
/** What is greater wins. Levels that are not in lower case lose, and the first of them stays. */
const rank = (level: string): number => RANKS.indexOf(level) + 1;
const stronger = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || rank(b ?? '') > rank(a) ? b : a;
const levelOf = (text: string): Level => text.toLowerCase() as Level;

/** Merges the rules of some texts, in their order. The result has one rule for each name. */
export function mergeWritten(all: readonly Written[]): Rules {
  const scalars: Partial<Record<Scalar, Level>> = {};
  for (const resource of SCALARS) {
    for (const { scalars: written } of all) {
      const level = written[resource];
      if (level === undefined || rank(level) === 0) continue;
      scalars[resource] = merged(scalars[resource], levelOf(level));
    }
  }
  const named = new Map<string, WrittenRule>();
  for (const rule of all.flatMap((written) => written.named)) {
    const key = [rule.resource, rule.prefix, rule.name].join('\u0000');
    const past = named.get(key);
    named.set(key, past === undefined ? rule : mergedRule(past, rule));
  }
  const blocks = new Map<string, Written['namespaces'][number][]>();
  for (const block of all.flatMap((written) => written.namespaces)) {
    const key = `${block.prefix}\u0000${block.name}`;
    blocks.set(key, [...(blocks.get(key) ?? []), block]);
  }
  return {
    scalars,
    named: [...named.values()].map(effective),
    namespaces: [...blocks.values()].flatMap((same) => {
      const { name, prefix } = same[0]!;
      const level = same.map((one) => one.level).reduce(stronger);
      const rules = mergeWritten(same.map((one) => one.rules));
      if (level === undefined && isEmpty(rules)) return [];
      return [{ name, prefix, ...(level !== undefined && { level: levelOf(level) }), rules }];
    }),
  };
}

/** The level on intentions that is absent loses, but one that is not in lower case is no better. */
function mergedRule(past: WrittenRule, next: WrittenRule): WrittenRule {
  const level = stronger(past.level, next.level)!;
  const intentions = stronger(past.intentions ?? '', next.intentions)!;
  const { resource, prefix, name } = past;
  return { resource, prefix, name, level, ...(intentions !== '' && { intentions }) };
}

/** A level that is not in lower case grants what it says, but denies intentions. */
function effective({ resource, prefix, name, level, intentions }: WrittenRule): NamedRule {
  const isOdd = resource === 'service' && rank(level) === 0;
  const implied = intentions ?? (isOdd ? 'deny' : undefined);
  return {
    resource,
    prefix,
    name,
    level: levelOf(level),
    ...(implied !== undefined && { intentions: levelOf(implied) }),
  };
}
