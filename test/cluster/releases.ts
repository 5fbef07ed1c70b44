/** Programs of releases: this one, and the previous one as it was packed. */
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import tar from 'tar-stream';
import { SUPPORTED_LEVEL } from '../../src/state/levels.js';

const FOLDER = 'test/releases';

export const THIS_MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));

/** Orders versions, and names of archives, by their numbers. */
function byVersion(a: string, b: string): number {
  const [of, than] = [a, b].map((name) => name.split('.').map(Number.parseFloat));
  return of!.map((number, at) => number - than![at]!).find((much) => much !== 0) ?? 0;
}

/** Unpacks the newest release packed before this one into a folder; returns its main module. */
export async function unpackRelease(dir: string): Promise<string> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const older = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.tgz') && byVersion(name, `${version}.tgz`) < 0)
    .sort(byVersion);
  const extract = tar.extract();
  Readable.from([gunzipSync(readFileSync(join(FOLDER, older.at(-1)!)))]).pipe(extract);
  for await (const entry of extract) {
    const path = join(dir, entry.header.name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, await buffer(entry));
  }
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
  const { bin } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as {
    bin: { conclave: string };
  };
  return join(dir, bin.conclave);
}

/**
 * Makes a program of a release that does not exist yet in a folder: this one, but that it supports
 * a level more. Returns its main module.
 */
export function nextRelease(dir: string): string {
  const folder = join(dir, 'dist', 'program');
  cpSync(dirname(THIS_MAIN), folder, { recursive: true });
  cpSync('package.json', join(dir, 'package.json'));
  symlinkSync(resolve('node_modules'), join(dir, 'node_modules'));
  const declared = `var SUPPORTED_LEVEL = ${SUPPORTED_LEVEL};`;
  const [path, ...others] = readdirSync(folder)
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(folder, name))
    .filter((file) => readFileSync(file, 'utf8').includes(declared));
  if (path === undefined || others.length > 0) throw new Error('not one file declares the level');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(declared, `var SUPPORTED_LEVEL = ${SUPPORTED_LEVEL + 1};`));
  return join(folder, basename(THIS_MAIN));
}

/**
 * A value of the program of a release, by its name in the sources. The bundle keeps those names.
 */
export async function programValue<T>(main: string, name: string): Promise<T> {
  const folder = dirname(main);
  const declares = new RegExp(`^(?:var|let|const|class|function) ${name}\\b`, 'm');
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.js'))) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    if (!declares.test(text)) continue;
    const module = (await import(pathToFileURL(path).href)) as Record<string, T>;
    if (name in module) return module[name]!;
    throw new Error(`${file} does not export ${name}`);
  }
  throw new Error(`the release has no ${name}`);
}
