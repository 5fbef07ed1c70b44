/**
 * What may be typed at a place of policy rules. It reads texts that are not finished: help is
 * wanted while somebody types.
 */

/** Resources without names. */
export const SCALARS = ['acl', 'keyring', 'operator', 'mesh', 'peering'] as const;
/** Resources with names. */
export const NAMED = ['agent', 'event', 'key', 'node', 'query', 'service', 'session'] as const;
/** Resources that no namespace block holds, because they reach beyond the namespace. */
const DEFAULT_ONLY = new Set(['operator', 'keyring', 'event', 'query']);
const LEVELS = ['read', 'write', 'deny'];

/** What may be typed. */
export interface RuleOffer {
  readonly label: string;
  /** What is inserted; `${}` is where the caret goes. */
  readonly insert: string;
}

/** What may be typed at a place. */
export interface RuleOffers {
  /** Where the word begins that is replaced. */
  readonly from: number;
  readonly offers: readonly RuleOffer[];
  /** Of which objects names are wanted, if any. */
  readonly names?: 'service' | 'namespace';
}

/** Where the caret stands. */
interface Spot {
  /** The resources of the blocks around it, the outermost first. */
  readonly blocks: readonly string[];
  /** The words and signs of the statement before it. */
  readonly before: readonly string[];
  /** Where the word at the caret begins; with `isText`, after its quote. */
  readonly from: number;
  readonly isText: boolean;
}

const TOKEN = /#.*|\/\/.*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\\n]|\\.)*("?)|[\w-]+|[{}=\n]/g;

/** Reads a text up to the caret; undefined in a comment. */
function spotAt(text: string): Spot | undefined {
  const blocks: string[] = [];
  let before: string[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [token, endQuote] = match;
    const isLast = match.index + token.length === text.length;
    if (/^(?:#|\/[/*])/.test(token)) {
      if (isLast && !token.endsWith('*/')) return undefined;
    } else if (token === '{') {
      blocks.push(before[0] ?? '');
      before = [];
    } else if (token === '}') {
      blocks.pop();
      before = [];
    } else if (token === '\n') {
      // A statement ends with its value; a block may open on the next line.
      if (before.includes('=')) before = [];
    } else if (isLast && token.startsWith('"') && (endQuote === '' || token === '"')) {
      return { blocks, before, from: match.index + 1, isText: true };
    } else if (isLast && /^[\w-]/.test(token)) {
      return { blocks, before, from: match.index, isText: false };
    } else {
      if (before.at(-2) === '=') before = [];
      before.push(token);
    }
  }
  if (before.at(-2) === '=') before = [];
  return { blocks, before, from: text.length, isText: false };
}

const block = (resource: string): RuleOffer => ({
  label: resource,
  insert: `${resource} "\${}" {\n\tpolicy = "\${read}"\n}`,
});
const assignment = (name: string): RuleOffer => ({ label: name, insert: `${name} = "\${read}"` });

/** Resources at the top of a text, or in a block of a namespace. */
function resources(isInNamespace: boolean): readonly RuleOffer[] {
  const fits = (name: string): boolean => !(isInNamespace && DEFAULT_ONLY.has(name));
  const named = NAMED.filter(fits).flatMap((name) => [block(name), block(`${name}_prefix`)]);
  const scalars = SCALARS.filter(fits).map(assignment);
  const within: RuleOffer[] = ['namespace', 'namespace_prefix'].map((name) => ({
    label: name,
    insert: `${name} "\${}" {\n\t\${}\n}`,
  }));
  return [...named, ...scalars, ...(isInNamespace ? [assignment('policy')] : within)];
}

const isNamespace = (resource: string | undefined): boolean =>
  resource === 'namespace' || resource === 'namespace_prefix';

/** Returns what may be typed after `text`, the part before the caret; undefined if nothing. */
export function ruleOffers(text: string): RuleOffers | undefined {
  const spot = spotAt(text);
  if (spot === undefined) return undefined;
  const { blocks, before, from, isText } = spot;
  const around = blocks.at(-1);
  const isResource = around !== undefined && !isNamespace(around);
  const [first] = before;
  if (before.at(-1) === '=') {
    const isKey = around === 'key' || around === 'key_prefix';
    const levels = isKey ? [...LEVELS, 'list'] : LEVELS;
    const offers = levels.map((level) => ({
      label: level,
      insert: isText ? level : `"${level}"`,
    }));
    return { from, offers };
  }
  if (isText && before.length === 1 && !isResource) {
    const names = isNamespace(first)
      ? 'namespace'
      : /^service/.test(first!)
        ? 'service'
        : undefined;
    return names && { from, offers: [], names };
  }
  if (isText || before.length > 0) return undefined;
  if (!isResource) return { from, offers: resources(isNamespace(around)) };
  const isService = around === 'service' || around === 'service_prefix';
  return { from, offers: ['policy', ...(isService ? ['intentions'] : [])].map(assignment) };
}
