/** What differs between two values, as people see it. */
import type { Difference } from '../../api/endpoints/shapes.js';
import { pathOf } from '../../languages/pointers.js';
import { type Paint, painted } from './table.js';
import { oneLine, lines as printable } from './text.js';

/** The sign and the paint of what is done. */
export const SIGNS: Readonly<Record<string, readonly [sign: string, paint: Paint]>> = {
  Added: ['+', 'green'],
  Deleted: ['-', 'red'],
  Edited: ['~', 'yellow'],
  create: ['+', 'green'],
  delete: ['-', 'red'],
  update: ['~', 'yellow'],
  hidden: ['?', 'yellow'],
  unchanged: [' ', 'dim'],
};

/** The lines around a change of a text that are shown with it. */
const CONTEXT = 3;
/** The longest value that is shown in the line of its field, in characters. */
const INLINE_MAX = 72;
const INDENT = '    ';

/** Returns a JSON pointer as people write paths: `Routes[0].Match`. */
export const pathText = (pointer: string): string =>
  pathOf(pointer)
    .map((part, at) => (/^\d+$/.test(part) ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('');

/** Returns what differs, a line or more for each value. */
export async function differenceLines(
  differences: readonly Difference[],
  colour: boolean,
): Promise<string[]> {
  const shown: string[] = [];
  for (const one of differences.flatMap(byMember)) shown.push(...(await linesOf(one, colour)));
  return shown;
}

/** A whole object that is there or gone is shown by its members. */
function byMember(one: Difference): readonly Difference[] {
  const { Type, Path, Old, New } = one;
  const whole = Type === 'Added' ? New : Old;
  const isWhole = Path === '' && Type !== 'Edited' && typeof whole === 'object' && whole !== null;
  if (!isWhole) return [one];
  return Object.entries(whole).map(([name, value]) => ({
    Type,
    Path: `/${name}`,
    ...(Type === 'Added' ? { New: value } : { Old: value }),
  }));
}

async function linesOf(one: Difference, colour: boolean): Promise<string[]> {
  const { Type, Path, Old, New, Cut } = one;
  const [sign, paint] = SIGNS[Type]!;
  const cut = Cut === true ? ' (cut)' : '';
  const head = (value: string): string =>
    `${INDENT}${painted(sign, paint, colour)} ${oneLine(pathText(Path))}${value}${cut}`;
  const isText = [Old, New].some((value) => typeof value === 'string' && value.includes('\n'));
  if (Type === 'Edited' && isText) {
    const changed = await textDifference(String(Old ?? ''), String(New ?? ''), colour);
    return [head(''), ...changed.map((line) => `${INDENT}${INDENT}${line}`)];
  }
  const olds = Type === 'Added' ? [] : await valueLines(Old);
  const news = Type === 'Deleted' ? [] : await valueLines(New);
  const all = [...olds, ...news];
  const isInline = olds.length <= 1 && news.length <= 1 && all.join('').length <= INLINE_MAX;
  if (isInline) return [head(`  ${all.join(' → ')}`)];
  const marked = (lines: readonly string[], type: 'Added' | 'Deleted'): string[] => {
    const [own, ownPaint] = SIGNS[type]!;
    return lines.map((line) => `${INDENT}${INDENT}${painted(`${own} ${line}`, ownPaint, colour)}`);
  };
  return [head(''), ...marked(olds, 'Deleted'), ...marked(news, 'Added')];
}

/** Returns a value as lines: a text of several lines as it is, a large value as YAML. */
async function valueLines(value: unknown): Promise<string[]> {
  if (value === undefined) return [];
  if (typeof value === 'string' && value.includes('\n'))
    return value.replace(/\n$/, '').split('\n').map(printable);
  const short = JSON.stringify(value);
  if (short.length <= INLINE_MAX || typeof value !== 'object') return [oneLine(short)];
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0 }).trimEnd().split('\n').map(printable);
}

/** Returns the lines that differ between two texts, with the lines around them. */
export async function textDifference(
  before: string,
  after: string,
  colour: boolean,
): Promise<string[]> {
  const { structuredPatch } = await import('diff');
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: CONTEXT });
  return hunks.flatMap(({ lines, oldStart }, at) => [
    ...(at > 0 || oldStart > 1 ? [painted(`  … line ${oldStart}`, 'cyan', colour)] : []),
    ...lines
      // It says that a text has no last line end.
      .filter((line) => !line.startsWith('\\'))
      .map((line) => {
        const sign = line.charAt(0);
        const paint = sign === '+' ? 'green' : sign === '-' ? 'red' : undefined;
        return painted(`${sign} ${printable(line.slice(1))}`.trimEnd(), paint, colour);
      }),
  ]);
}
