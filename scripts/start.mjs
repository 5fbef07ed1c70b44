#!/usr/bin/env node
// `npm start`. The first start installs and builds for half a minute, so it looks first whether the
// ports are free. Plain JavaScript, because it runs before anything is compiled.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
// The same numbers as in src/dev/dev-folder.ts.
const PORT_DEFAULT = 8501;
const RAFT_OFFSET = 100;

const numberOf = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  const text = process.argv[at + 1] ?? '';
  return at >= 0 && /^\d{1,5}$/.test(text) ? Number(text) : otherwise;
};

const isTaken = (port) =>
  new Promise((settle) => {
    const probe = createServer();
    probe.once('error', ({ code }) => settle(code === 'EADDRINUSE'));
    probe.listen(port, '127.0.0.1', () => probe.close(() => settle(false)));
  });

const out = join(root, process.env.CONCLAVE_OUT ?? 'dist');
if (!existsSync(join(out, '.built'))) {
  const first = numberOf('--port', PORT_DEFAULT);
  for (let at = 0; at < numberOf('--nodes', 3); at++)
    for (const port of [first + at, first + RAFT_OFFSET + at]) {
      if (port > 65_535 || !(await isTaken(port))) continue;
      const again = 'npm start -- --port PORT';
      console.error(`port ${port} is in use by another program; choose another: ${again}`);
      process.exit(1);
    }
}
const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'setup.mjs')], {
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
await import(pathToFileURL(join(out, 'cluster', 'start.js')).href);
