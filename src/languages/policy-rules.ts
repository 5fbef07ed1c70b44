/** The syntax of policy rules, in block and JSON form. acl/rules.ts interprets the tree. */
import { type Body, type Item, parse, type Value } from './policy-rules.peggy.js';
import { type Parsed, runGrammar } from './syntax.js';

/** The parsed text of a policy. */
export interface RulesTree {
  readonly body: Body;
  readonly json: boolean;
  /** The text to which offsets refer, with CRLF replaced by LF. */
  readonly source: string;
}

/**
 * Maximum number of characters: about 1,500 blocks, which parse in less than a heartbeat interval.
 */
const RULES_LENGTH_MAX = 64 * 1024;
/** Maximum nesting depth. Rules need four levels, and a namespace block one more. */
const DEPTH_MAX = 32;

/** Returns the text of a policy as it is parsed, to which the offsets of its tree refer. */
export const sourceOf = (text: string): string => text.replaceAll('\r\n', '\n');

/** Parses the text of a policy. */
export function parseRulesText(text: string): Parsed<RulesTree> {
  const source = sourceOf(text);
  const parsed = runGrammar(parse, source, { lengthMax: RULES_LENGTH_MAX, depthMax: DEPTH_MAX });
  return parsed.ok ? { ok: true, value: { ...parsed.value, source } } : parsed;
}

/** Characters that one step parses, about. */
const STEP_LENGTH = 4 * 1024;

/**
 * Does the same in steps, some lines of the block form in each. A text of which a part cannot be
 * parsed by itself is parsed in one step, as is the JSON form.
 */
export function* parseRulesInSteps(text: string): Generator<void, Parsed<RulesTree>> {
  const source = sourceOf(text);
  if (isJson(source) || source.length > RULES_LENGTH_MAX) return parseRulesText(text);
  const body: Item[] = [];
  let from = 0;
  for (const to of [...itemStarts(source, lineStarts(source)), source.length]) {
    if (to - from < STEP_LENGTH && to < source.length) continue;
    const part = parseRulesText(source.slice(from, to));
    if (!part.ok) return parseRulesText(text);
    body.push(...shifted(part.value.body, from));
    from = to;
    yield;
  }
  return { ok: true, value: { body, json: false, source } };
}

const isJson = (source: string): boolean => /^[ \t\n\r]*\{/.test(source);

/** Faults of the syntax after which a text is not read on. */
const PROBLEMS_MAX = 100;

/** A fault of the syntax, and its offset. */
export interface PlacedProblem {
  readonly message: string;
  readonly at: number;
}

/**
 * Parses as much of a text as can be parsed. After a fault the block form is read on at the next
 * line that begins like a top-level item: with a name, and no further in than any other such line.
 * The item with the fault is left out. No part of the text is parsed more than twice, and a text
 * with many faults is not read to its end.
 */
export function readRulesText(text: string): {
  readonly tree: RulesTree;
  readonly problems: readonly PlacedProblem[];
} {
  const source = sourceOf(text);
  const whole = parseRulesText(text);
  if (whole.ok) return { tree: whole.value, problems: [] };
  const lines = lineStarts(source);
  const json = isJson(source);
  const isReadOn = !json && source.length <= RULES_LENGTH_MAX;
  const starts = isReadOn ? itemStarts(source, lines) : [];
  const problems: PlacedProblem[] = [];
  const body: Item[] = [];
  const add = (from: number, part: Parsed<RulesTree>): void => {
    if (part.ok) body.push(...shifted(part.value.body, from));
  };
  for (let [from, part] = [0, whole as Parsed<RulesTree>]; ; ) {
    add(from, part);
    if (part.ok) break;
    const { line, column, message } = part.problem;
    const at = lines[lines.indexOf(from) + line - 1]! + column - 1;
    problems.push({ message, at });
    const broken = starts.findLast((start) => start < at);
    if (broken !== undefined && broken > from) {
      add(from, parseRulesText(source.slice(from, broken)));
    }
    const next = starts.find((start) => start >= at && start > from);
    if (next === undefined || problems.length >= PROBLEMS_MAX) break;
    from = next;
    part = parseRulesText(source.slice(from));
  }
  return { tree: { body, json, source }, problems };
}

function lineStarts(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) {
    starts.push(at + 1);
  }
  return starts;
}

/** Returns the offsets of the lines that begin like a top-level item. */
function itemStarts(source: string, lines: readonly number[]): number[] {
  const NAME_AHEAD = /([ \t]*)["\p{L}_]/uy;
  const indents = lines.map((start) => {
    NAME_AHEAD.lastIndex = start;
    return NAME_AHEAD.exec(source)?.[1]?.length ?? Number.POSITIVE_INFINITY;
  });
  const least = indents.reduce((a, b) => Math.min(a, b), Number.MAX_SAFE_INTEGER);
  return lines.filter((_, i) => indents[i] === least);
}

const shifted = (items: Body, by: number): Body =>
  by === 0
    ? items
    : items.map((item) => ({
        ...item,
        keys: item.keys.map((key) => ({ ...key, at: key.at + by })),
        value: shiftedValue(item.value, by),
      }));

function shiftedValue(value: Value, by: number): Value {
  const at = value.at + by;
  if (value.type === 'object') return { ...value, at, items: shifted(value.items, by) };
  if (value.type === 'list') {
    return { ...value, at, items: value.items.map((inner) => shiftedValue(inner, by)) };
  }
  return { ...value, at };
}
