/** What differs between two texts, line by line. */
import { type Change, diffLines } from 'diff';
import { TEXT } from '../texts.js';
import { Scroll } from './table.js';

/** Unchanged lines that are shown around a change. */
const CONTEXT = 3;

interface Line {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

const signOf = ({ added, removed }: Change): Line['sign'] => (added ? '+' : removed ? '-' : ' ');

function linesOf(before: string, after: string): Line[] {
  const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);
  return diffLines(ended(before), ended(after)).flatMap((change) =>
    change.value
      .replace(/\n$/, '')
      .split('\n')
      .map((text) => ({ sign: signOf(change), text })),
  );
}

/** Whether a line is a change or near one. */
const isNear = (lines: readonly Line[], at: number): boolean =>
  lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== ' ');

const NAMES = { '+': TEXT.diff.added, '-': TEXT.diff.removed, ' ': '' } as const;

/** Shows the lines that differ, and some around them. Signs and words say what colour says. */
export function Diff({ before, after }: { before: string; after: string }) {
  const lines = linesOf(before, after);
  const shown = lines.map((line, at) => ({ line, at })).filter(({ at }) => isNear(lines, at));
  return (
    <Scroll label={TEXT.diff.title} kind="diff">
      {shown.map(({ line, at }, nth) => (
        <div
          key={at}
          class={line.sign === '+' ? 'added' : line.sign === '-' ? 'removed' : undefined}
          data-gap={nth > 0 && shown[nth - 1]!.at !== at - 1 ? '' : undefined}
        >
          <span class="sign" aria-hidden="true">
            {line.sign}
          </span>
          {NAMES[line.sign] !== '' && <span class="hidden">{NAMES[line.sign]} </span>}
          <span>{line.text}</span>
        </div>
      ))}
    </Scroll>
  );
}
