/** Programs of other releases: the one before, as it was packed, and a stand-in for the next one. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import tar from 'tar-stream';

const FOLDER = 'test/releases';

/** A program that takes one level more than this release supports. */
export const NEXT_MAIN = fileURLToPath(new URL('./next-release.js', import.meta.url));

/** Unpacks the newest packed release into a folder; gives its main module. */
export async function unpackRelease(dir: string): Promise<string> {
  const numbers = (name: string): number[] => name.split('.').map(Number.parseFloat);
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.tgz'));
  const newest = names.sort((a, b) => {
    const [of, than] = [numbers(a), numbers(b)];
    return of.map((number, at) => number - than[at]!).find((much) => much !== 0) ?? 0;
  });
  const extract = tar.extract();
  Readable.from([gunzipSync(readFileSync(join(FOLDER, newest.at(-1)!)))]).pipe(extract);
  for await (const entry of extract) {
    const path = join(dir, entry.header.name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, await buffer(entry));
  }
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
  return join(dir, 'dist/src/main.js');
}
