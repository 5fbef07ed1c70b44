/** The shell blocks of a document, and what a reader is told to expect of them. */
import { readFileSync } from 'node:fs';

/** A shell block. */
export interface Block {
  /** The line of its first command, from 1. */
  readonly line: number;
  readonly text: string;
  /** Why it is not run here: `<!-- not run: REASON -->` above it. */
  readonly notRun?: string;
  /** Whether a command of it fails: `<!-- fails: REASON -->` above it. */
  readonly fails: boolean;
  /** What it prints, from a block of `text` that follows. */
  readonly output?: string;
}

/** A fenced block, with the comment above it if there is one; or an indented one. */
const FENCED =
  /(?:^<!-- (?<mark>[\w ]+): (?<why>.*) -->\n)?^ *```(?<kind>\w+)\n(?<text>[\s\S]*?)^ *```$/gm;
const INDENTED = /(?<=\n\n)(?<text>(?: {4}.*\n)+)/g;

/** Returns the blocks of a document, in its order. */
export function blocksOf(path: string): Block[] {
  const document = readFileSync(path, 'utf8');
  const lineAt = (index: number): number => document.slice(0, index).split('\n').length;
  const blocks: Block[] = [];
  for (const match of document.matchAll(FENCED)) {
    const { mark, why = '', kind, text = '' } = match.groups!;
    if (kind === 'text') {
      const last = blocks.pop()!;
      if (last.output !== undefined) throw new Error(`${path}: two outputs of ${last.line}`);
      blocks.push({ ...last, output: text });
    }
    if (kind !== 'sh') continue;
    if (mark !== undefined && mark !== 'not run' && mark !== 'fails')
      throw new Error(`${path}: unknown mark "${mark}"`);
    const line = lineAt(match.index + match[0].indexOf(text));
    const fails = mark === 'fails';
    blocks.push({ line, text, fails, ...(mark === 'not run' && { notRun: why }) });
  }
  return blocks;
}

/** Returns the indented blocks of a document, whose shell blocks are not fenced. */
export function indentedBlocksOf(path: string): Block[] {
  const document = readFileSync(path, 'utf8');
  return [...document.matchAll(INDENTED)].map(({ index, groups }) => ({
    line: document.slice(0, index).split('\n').length,
    text: groups!['text']!.replace(/^ {4}/gm, ''),
    fails: false,
  }));
}

const words = (line: string): string => line.trim().replace(/\s+/g, ' ');

/**
 * Whether an output is as a document prints it. `…` stands for any text in a line, and alone for
 * any lines. Spaces and the end do not count.
 */
export function isAsPrinted(output: string, printed: string): boolean {
  const pattern = printed
    .trim()
    .split('\n')
    .map((line) =>
      words(line) === '…' ? '(?:.*\n)*?' : `${words(line).split('…').map(escaped).join('.*')}\n`,
    )
    .join('');
  const text = output.trim().split('\n').map(words).join('\n');
  return new RegExp(`^${pattern}$`).test(`${text}\n`);
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
