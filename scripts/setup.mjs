#!/usr/bin/env node
// Prepares a fresh clone: checks the version of Node, installs the packages of the lock file, and
// builds.
// Plain JavaScript, because it runs before anything is compiled. Does nothing if nothing changed.
// With --installed it leaves the packages as they are.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`conclave needs Node 20.19 or newer; this is ${process.versions.node}`);
  process.exit(1);
}

const out = process.env.CONCLAVE_OUT ?? 'dist';
const hash = (text) => createHash('sha256').update(text).digest('hex');
const recorded = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

function run(command, args, what) {
  const done = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (done.status !== 0) {
    console.error(
      `${what} failed (exit code ${done.status ?? done.signal ?? done.error?.message})`,
    );
    process.exit(1);
  }
}

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.(tsx?|peggy|json|css|svg)$/.test(entry.name) ? [path] : [];
  });
}

const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
const installedMark = join(root, 'node_modules', '.conclave-installed');
// The image installs them in a layer of its own.
const isInstalled = process.argv.includes('--installed') || recorded(installedMark) === hash(lock);
if (!isInstalled) {
  console.error('installing packages');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], 'npm ci');
  writeFileSync(installedMark, hash(lock));
}

const files = [
  'tsconfig.json',
  'scripts/setup.mjs',
  ...['src', 'clients/typescript/src', 'test', 'cluster', 'scripts'].flatMap(sources),
];
const state = hash(
  files
    .map((f) => `${f} ${statSync(join(root, f)).mtimeMs} ${statSync(join(root, f)).size}`)
    .join('\n') + lock,
);
const builtMark = join(root, out, '.built');
if (recorded(builtMark) !== state) {
  console.error('building');
  rmSync(join(root, out), { recursive: true, force: true }); // output of deleted sources
  for (const grammar of files.filter((f) => f.endsWith('.peggy'))) {
    const target = join(root, out, `${grammar}.js`);
    mkdirSync(dirname(target), { recursive: true });
    // A grammar compiled without a cache says so in its text; for the others the cache keeps
    // parsing linear.
    const cache = readFileSync(join(root, grammar), 'utf8').includes('compiled without a cache')
      ? []
      : ['--cache'];
    const args = ['--format', 'es', ...cache, '-o', relative(root, target), grammar];
    run('node', ['node_modules/peggy/bin/peggy.js', ...args], `grammar ${grammar}`);
  }
  run('node', ['node_modules/typescript/bin/tsc', '-p', '.', '--outDir', out], 'tsc');
  run('node', [`${out}/scripts/blake2b.js`, `${out}/src/acl/blake2b-module.js`], 'BLAKE2b');
  run('node', [`${out}/scripts/validators.js`, `${out}/src/base/validators.js`], 'validators');
  run('node', [`${out}/scripts/documents.js`, `${out}/src/api`], 'documents');
  // The program in a few files: a node that has to find and read 250 starts later. Packages stay
  // outside, and names stay as they are, so that stack traces can be read.
  const { build } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: {
      main: `${out}/src/program/main.js`,
      'archive-thread': `${out}/src/service/archives/archive-thread.js`,
    },
    outdir: `${out}/program`,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  });
  run('node', ['node_modules/typescript/bin/tsc', '-p', 'src/ui'], 'tsc of the web UI');
  run('node', [`${out}/scripts/build-ui.js`, `${out}/program/ui`], 'web UI');
  writeFileSync(builtMark, state);
}

// The API shows the commit that runs. Sources that differ from their commit have none.
const git = (...args) => {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
};
const isCommitted =
  git('rev-parse', '--show-prefix') === '' &&
  git('status', '--porcelain', '--', 'src', 'package.json') === '';
const [sha = '', seconds] = (isCommitted && git('log', '-1', '--format=%H %ct')?.split(' ')) || [];
const buildFile = join(root, out, 'build.json');
if (!existsSync(buildFile) || JSON.parse(recorded(buildFile)).sha !== sha) {
  const time = seconds === undefined ? new Date() : new Date(seconds * 1000);
  const date = `${time.toISOString().slice(0, -5)}Z`;
  writeFileSync(buildFile, `${JSON.stringify({ sha, date })}\n`);
}
