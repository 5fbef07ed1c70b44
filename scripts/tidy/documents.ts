/**
 * Checks that what documents refer to exists: linked files, their headings, and source files named
 * in the text.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import { globSync } from '../glob.js';
import type { Finding } from './findings.js';

/** Words that this project does not use in comments and documents, and what to write instead. */
const WORDS: readonly (readonly [word: RegExp, instead: string])[] = [
  [/\brooms\b/gi, 'layers, or modules'],
];

/** Documents about the past, which may name files that no longer exist. */
const HISTORY = /^(?:CHANGELOG\.md|docs\/runs\/)/;

/** Returns the paths of all documents. */
export function documentPaths(): string[] {
  return ['.', 'docs', 'cluster', 'clients']
    .flatMap((folder) => globSync(folder, '.md', { recursive: folder !== '.' }))
    .map((path) => relative('.', path).split(sep).join('/'));
}

/** Returns the uses of banned words. */
export function bannedWords(path: string, text: string): Finding[] {
  return WORDS.flatMap(([word, instead]) =>
    [...text.matchAll(word)].map((match) => ({
      rule: 'words',
      at: `${path}:${lineOf(text, match.index)}`,
      bucket: path,
      message: `"${match[0]}": write ${instead}`,
    })),
  );
}

/** Returns the links to missing files or headings, and the names of missing source files. */
export function brokenReferences(root: string, path: string, text: string): Finding[] {
  const broken: Finding[] = [];
  const add = (index: number, message: string): void => {
    broken.push({
      rule: 'references',
      at: `${path}:${lineOf(text, index)}`,
      bucket: path,
      message,
    });
  };
  const folder = posix.dirname(path);
  for (const match of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    const [target = '', heading] = match[1]!.split('#');
    if (/^\w+:/.test(target)) continue;
    const file = target === '' ? path : posix.join(folder, target);
    if (!existsSync(join(root, file))) add(match.index, `there is no ${file}`);
    else if (
      heading !== undefined &&
      !headings(readFileSync(join(root, file), 'utf8')).has(heading)
    )
      add(match.index, `${file} has no heading #${heading}`);
  }
  if (HISTORY.test(path)) return broken;
  for (const match of text.matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:ts|mjs|peggy))`/g)) {
    const name = match[1]!;
    if (![name, `src/${name}`].some((file) => existsSync(join(root, file))))
      add(match.index, `there is no file ${name}, nor src/${name}`);
  }
  return broken;
}

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;

/** Returns the anchors of a document's headings, as GitHub creates them. */
function headings(text: string): Set<string> {
  const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!);
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
