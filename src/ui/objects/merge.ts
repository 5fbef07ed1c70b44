/** What two people typed into one object, as one form. */
import { diffLines } from 'diff';
import type { Control, Field, Form } from './fields.js';
import { linesOf } from './lines.js';

/** The forms of one object: as it was, and as two people have it. */
export interface Versions {
  readonly before: Form;
  readonly mine: Form;
  readonly theirs: Form;
}

/** Something that both changed, each in another way. */
export interface Collision {
  /** Names it: the key of the field, and the members below it. */
  readonly at: string;
  readonly label: string;
  readonly mine: string;
  readonly theirs: string;
}

/** One form of two, and what both changed in it. */
export interface Merged {
  readonly form: Form;
  readonly collisions: readonly Collision[];
}

/** The texts of a field, and what decides where both changed the same part of it. */
interface Texts {
  readonly old: string;
  readonly own: string;
  readonly other: string;
  collide<T>(path: readonly string[], own: T, other: T): T;
}

/** How the texts of a field are merged; undefined where they collide as a whole. */
type Merge = (texts: Texts) => string | undefined;

/**
 * Merges what two people changed of `before`. Where both changed the same part, it is mine unless
 * `theirsAt` names it.
 */
export function mergeForms(
  fields: readonly Field[],
  { before, mine, theirs }: Versions,
  theirsAt: ReadonlySet<string> = new Set(),
): Merged {
  const collisions: Collision[] = [];
  const merge = ({ key, label, control }: Field): string => {
    const [old = '', own = '', other = ''] = [before[key], mine[key], theirs[key]];
    const collide: Texts['collide'] = (path, ownPart, otherPart) => {
      const at = [key, ...path].join('.');
      const [first, second] = [ownPart, otherPart].map(shownOf) as [string, string];
      collisions.push({ at, label: path.join('.') || label, mine: first, theirs: second });
      return theirsAt.has(at) ? otherPart : ownPart;
    };
    if (own === old || own === other) return other;
    if (other === old) return own;
    return MERGES[control.type]?.({ old, own, other, collide }) ?? collide([], own, other);
  };
  return { form: Object.fromEntries(fields.map((field) => [field.key, merge(field)])), collisions };
}

const shownOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');

/** Lines of a text that another text has instead of `from` up to `to`. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function hunksBetween(old: string, next: string): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let from = 0;
  for (const { added, removed, count, value } of diffLines(old, next)) {
    const last = hunks.at(-1);
    if (removed) hunks.push({ from, to: from + count, text: '' });
    // What is added follows what it replaces.
    else if (added && last?.to === from) hunks.splice(-1, 1, { ...last, text: value });
    else if (added) hunks.push({ from, to: from, text: value });
    if (!added) from += count;
  }
  return hunks;
}

/** Rules are merged if no line that one changed is next to one that the other changed. */
const mergeRules: Merge = ({ old, own, other }) => {
  const [mine, theirs] = [hunksBetween(old, own), hunksBetween(old, other)];
  const isApart = mine.every((a) => theirs.every((b) => a.to < b.from || b.to < a.from));
  if (!isApart) return undefined;
  const lines = old.split(/(?<=\n)/);
  // From the end on, so that the places of the others hold.
  for (const { from, to, text } of [...mine, ...theirs].sort((a, b) => b.from - a.from))
    lines.splice(from, to - from, text);
  return lines.join('');
};

/** A list has what both have added, and not what one has removed. */
const mergeLines: Merge = ({ old, own, other }) => {
  const [before, mine] = [linesOf(old), linesOf(own)];
  const kept = linesOf(other).filter((line) => mine.includes(line) || !before.includes(line));
  return [...new Set([...kept, ...mine.filter((line) => !before.includes(line))])].join('\n');
};

/** Objects are merged member by member. */
const mergeJson: Merge = ({ old, own, other, collide }) => {
  const values = [old, own, other].map(parsedOrNot);
  if (!values.every(isObject)) return undefined;
  const merged = mergeValue(values as [unknown, unknown, unknown], [], collide);
  return JSON.stringify(merged, null, 2);
};

const MERGES: { readonly [type in Control['type']]?: Merge } = {
  json: mergeJson,
  rules: mergeRules,
  links: mergeLines,
  lines: mergeLines,
};

type Members = Readonly<Record<string, unknown>>;

function mergeValue(
  [old, own, other]: readonly [old: unknown, own: unknown, other: unknown],
  path: readonly string[],
  collide: Texts['collide'],
): unknown {
  const [before, mine, theirs] = [old, own, other].map((value) => JSON.stringify(value));
  if (mine === before || mine === theirs) return other;
  if (theirs === before) return own;
  if (!isObject(own) || !isObject(other)) return collide(path, own, other);
  const was = isObject(old) ? old : {};
  const merged = Object.keys({ ...other, ...own }).map((name) => [
    name,
    mergeValue([was[name], own[name], other[name]], [...path, name], collide),
  ]);
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsedOrNot(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
