/** Texts that this server reads more strictly than the source, mended (moving-in.md 4.2). */
import { parseRules } from '../../acl/rules.js';
import { type NamedRule, type Rules, SCALARS } from '../../acl/types.js';
import { sourceOf } from '../../languages/policy-rules.js';
import { mergeWritten, readRules } from './rules.js';
import type { Reader } from './types.js';

/**
 * Returns a text that grants here, in a namespace, what the source grants by the original.
 * Undefined if this server reads the original as the source does, and if no mended text can be
 * proved to grant the same.
 */
export function mend(
  text: string,
  reader: Reader = 'community',
  namespace = 'default',
): string | undefined {
  const reading = readRules(text, reader);
  if (!reading.ok || says(text, reading.rules, namespace)) return undefined;
  const source = sourceOf(text);
  return [withoutIdle(source, reading.idle), writtenAnew(reading.rules)].find((one) =>
    says(one, reading.rules, namespace),
  );
}

/**
 * Returns a text that grants here what the rules of a token of the old form grant: a name stood for
 * all that begin with it, and prefixes, namespaces and younger resources were not known. Undefined
 * if there is none: Sentinel code narrows its rule at an enterprise source.
 */
export function ofOldForm(text: string): string | undefined {
  const reading = readRules(text, 'enterprise');
  if (!reading.ok) return undefined;
  const { acl: _acl, mesh: _mesh, peering: _peering, ...scalars } = reading.rules.scalars;
  const named = reading.rules.named.flatMap((rule) =>
    rule.prefix ? [] : [{ ...rule, prefix: true }],
  );
  const rules: Rules = { scalars, named, namespaces: [] };
  const anew = writtenAnew(rules);
  return says(anew, rules, 'default') ? anew : undefined;
}

/**
 * Whether this server takes a text and reads exactly these rules in it. Rules that grant the same
 * by themselves are not enough: they may merge otherwise with those of other policies.
 */
function says(text: string, rules: Rules, namespace: string): boolean {
  const outcome = parseRules(text, namespace);
  return outcome.ok && writtenAnew(mergeWritten([outcome.rules])) === writtenAnew(rules);
}

/** Makes comments of the items of a text that have no effect. */
function withoutIdle(source: string, idle: readonly (readonly [number, number])[]): string {
  let text = '';
  let at = 0;
  for (const [from, to] of [...idle].sort(([a], [b]) => a - b)) {
    if (from < at) continue;
    const comma = /^\s*,/.exec(source.slice(to))?.[0].length ?? 0;
    const rest = /^[ \t]*\n/.test(source.slice(to + comma)) ? '' : '\n';
    text += source.slice(at, from);
    text += source.slice(from, to).replace(/^/gm, '# was: ') + rest;
    at = to + comma;
  }
  return text + source.slice(at);
}

/** Writes rules, sorted, one a block. */
function writtenAnew(rules: Rules): string {
  const scalars = SCALARS.flatMap((resource) => {
    const level = rules.scalars[resource];
    return level === undefined ? [] : [`${resource} = "${level}"\n`];
  });
  const named = rules.named.map(blockText).sort();
  const namespaces = rules.namespaces.map(({ name, prefix, level, rules: inner }) => {
    const own = level === undefined ? '' : `policy = "${level}"\n`;
    const body = `${own}${writtenAnew(inner)}`.replace(/^(?=.)/gm, '  ');
    return `namespace${prefix ? '_prefix' : ''} ${quoted(name)} {\n${body}}\n`;
  });
  return [...scalars, ...named, ...namespaces.sort()].join('');
}

function blockText({ resource, prefix, name, level, intentions }: NamedRule): string {
  const more = intentions === undefined ? '' : `  intentions = "${intentions}"\n`;
  const head = `${resource}${prefix ? '_prefix' : ''} ${quoted(name)}`;
  return `${head} {\n  policy = "${level}"\n${more}}\n`;
}

/** Quotes a name. Lone surrogates stand for bytes that are no Unicode text. */
const quoted = (name: string): string =>
  JSON.stringify(name)
    .replaceAll('${', '\\x24{')
    .replace(/\\ud[c-f]([0-9a-f]{2})/g, '\\x$1');
