/** Looks for secrets in the files of a cluster. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { bytesOf } from './operator.js';

/** The files below a folder in which one of the texts occurs, and the text. */
export function foundIn(
  dir: string,
  texts: Iterable<string>,
  isWanted = (_path: string): boolean => true,
): string[] {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => isWanted(path));
  const all = [...texts].flatMap(piecesOf);
  expect(all).to.not.deep.equal([]);
  return files.flatMap((path) => {
    const bytes = bytesOf(path);
    return all.filter((text) => bytes.includes(text)).map((text) => `${path}: ${text}`);
  });
}

const PIECE = 24;

/** LevelDB may cut a text where a part of it was written before. */
function piecesOf(text: string): string[] {
  if (text.length <= 2 * PIECE) return [text];
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, PIECE), text.slice(middle, middle + PIECE), text.slice(-PIECE)];
}
