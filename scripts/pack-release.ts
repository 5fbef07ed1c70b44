/**
 * `npm run pack-release`: packs the compiled program and package.json into
 * `test/releases/<version>.tgz`, which the tests of rolling upgrades start as the previous release.
 * The same build yields the same bytes. An existing archive is kept: a release does not change.
 * Dependencies are not packed: an old release runs with the installed ones.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import tar from 'tar-stream';
import { globSync } from './glob.js';

const FOLDER = 'test/releases';

const manifest = readFileSync('package.json', 'utf8');
const { version } = JSON.parse(manifest) as { version: string };
const pack = tar.pack();
const add = (name: string, text: string): void => {
  pack.entry({ name, mtime: new Date(0) }, text);
};
add('package.json', manifest);
for (const file of globSync('dist/program', '.js'))
  add(file, readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, ''));
pack.finalize();
const bytes = gzipSync(await buffer(pack), { level: 9 });
mkdirSync(FOLDER, { recursive: true });
const path = join(FOLDER, `${version}.tgz`);
if (existsSync(path)) {
  console.error(`${path} is there: release ${version} was packed, raise the version for another`);
  process.exitCode = 1;
} else {
  writeFileSync(path, bytes);
  console.log(`${path}: ${bytes.length} bytes`);
}
