import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { freePorts } from '../../src/dev/ports.js';
import { send } from '../support/client.js';

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** The parts of a checkout that a build or a package needs. */
const SOURCES = ['src', 'clients', 'test', 'cluster', 'scripts', 'docs'];
/** Files that starting a cluster from `cluster/deploy` creates there. */
const SECRETS = ['.env', 'shared.key', 'management.token'];
/** What a package does without. */
const OTHERS = /^(?:test|scripts)\/|dist\/(?!program(?:\/|$)|build\.json$)|\.ts$/;
const FILES = /^(?:package.*|tsconfig)\.json$|\.md$|^LICENSE$/;

describe('the package that npm packs', function () {
  this.timeout(180_000);
  const root = mkdtempSync(join(tmpdir(), 'conclave-package-'));
  const installed = join(root, 'installed', 'node_modules', 'conclave');
  const empty = join(root, 'empty');
  const program = join(root, 'installed', 'node_modules', '.bin', 'conclave');
  let manifest: Manifest;

  before(() => {
    // A checkout without a build, with the packages installed here.
    const checkout = join(root, 'checkout');
    mkdirSync(checkout);
    const files = readdirSync('.').filter((name) => FILES.test(name));
    for (const name of [...SOURCES, ...files])
      cpSync(name, join(checkout, name), { recursive: true });
    symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
    for (const secret of SECRETS) writeFileSync(join(checkout, 'cluster/deploy', secret), 'x');
    const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', root], {
      cwd: checkout,
      encoding: 'utf8',
      env: { ...process.env, CONCLAVE_OUT: 'dist', npm_config_update_notifier: 'false' },
    });

    // Installed as npm would, without the registry: the package's dependencies and nothing else.
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(root, packed.trim()), '-C', installed, '--strip=1']);
    manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Manifest;
    for (const name of Object.keys(manifest.dependencies)) {
      const link = join(root, 'installed', 'node_modules', name);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(resolve('node_modules', name), link);
    }
    mkdirSync(dirname(program), { recursive: true });
    symlinkSync(join(installed, manifest.bin['conclave']!), program);
    mkdirSync(empty);
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  /** Runs the packed program in an empty folder by its `#!` line, as npx does. */
  const run = (...args: string[]): string =>
    execFileSync(process.execPath, [program, ...args], { cwd: empty, encoding: 'utf8' });

  it('contains the program, the documents that it refers to, and deployment files', () => {
    const files = readdirSync(installed, { recursive: true }).map(String);
    expect(files).to.include.members([
      'dist/program/main.js',
      'dist/program/ui/index.html.gz',
      ...['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/operations.md'],
      ...['cluster/deploy/alerts.yaml', 'cluster/deploy/dashboard.json'],
      'cluster/deploy/conclave.service',
    ]);
    const others = files.filter((name) => OTHERS.test(name));
    expect(others).to.deep.equal([]);
    expect(readFileSync(join(installed, manifest.bin['conclave']!), 'utf8')).to.match(
      /^#!.*\bnode\n/,
    );
  });

  it('contains every page to which its documents link', () => {
    const pages = readdirSync(installed, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(installed, name));
    const missing = pages.flatMap((page) =>
      // Pictures of the web UI are in the repository only.
      [...readFileSync(page, 'utf8').matchAll(/\]\((?!\w+:|#|(?:docs\/)?ui\/)([^)#\s]+)/g)]
        .map(([, target]) => join(dirname(page), target!))
        .filter((target) => !existsSync(target)),
    );
    expect(pages).to.have.length.above(20);
    expect(missing).to.deep.equal([]);
  });

  it('leaves out logs of runs and pictures of the web UI', () => {
    const names = readdirSync(join(installed, 'docs'));
    expect(names).to.include('ui.md');
    expect(names).not.to.include.oneOf(['runs', 'ui']);
  });

  it('checks with what the build made of the JSON schemas; only the client may compile one', () => {
    const folder = dirname(join(installed, manifest.bin['conclave']!));
    const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
    const text = names.map((name) => readFileSync(join(folder, name), 'utf8'));
    const fromAjv = text.join('\n').match(/(?:import\()?["']ajv\b[^"']*["']/g);
    expect(new Set(fromAjv)).to.deep.equal(
      // The second is loaded when `config validate` has a schema of a server.
      new Set(['"ajv/dist/runtime/ucs2length"', 'import("ajv/dist/2020.js"']),
    );
  });

  it('contains none of the secrets beside the deployment files in cluster/deploy', () => {
    const files = readdirSync(join(installed, 'cluster/deploy'));
    for (const secret of SECRETS) expect(files).not.to.include(secret);
  });

  it('prints its version and its settings', () => {
    expect(run('--version').trim()).to.equal(manifest.version);
    expect(run('agent', '--help')).to.include('--http-port <integer>').and.include('--data-dir');
    expect(readdirSync(empty)).to.deep.equal([]);
  });

  it('runs a cluster from an empty folder, whose lines use the package', async () => {
    const [port] = await freePorts(1);
    const dev = spawn(process.execPath, [program, 'dev', '--port', String(port)], { cwd: empty });
    const ended = once(dev, 'exit');
    try {
      for await (const line of createInterface({ input: dev.stdout }))
        if (line.startsWith('leader n1')) break;
      const lines = ['. conclave-dev/env', 'conclave config write conclave-dev/web.yaml'];
      const { stdout, stderr, status } = spawnSync('sh', ['-c', lines.join('\n')], {
        cwd: empty,
        encoding: 'utf8',
      });
      expect(status, stderr).to.equal(0);
      expect(stdout).to.include('config/service-defaults/web');
      const wrapper = readFileSync(join(empty, 'conclave-dev', 'bin', 'conclave'), 'utf8');
      expect(wrapper).to.include(join(installed, 'dist', 'program', 'main.js'));
    } finally {
      dev.kill('SIGINT');
    }
    expect(await ended).to.deep.equal([0, null]);
    rmSync(join(empty, 'conclave-dev'), { recursive: true });
  });

  it('names files and lines of the source in stack traces, if asked for', () => {
    const file = join(empty, '..', 'file');
    writeFileSync(file, '');
    const { stderr, status } = spawnSync(
      process.execPath,
      [program, 'agent', '--data-dir', join(file, 'data')],
      { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '--enable-source-maps' } },
    );
    expect(status).to.equal(1);
    expect(stderr)
      .to.match(/src\/storage\/folder\.ts:\d+/)
      .and.match(/src\/program\/agent\.ts:\d+/);
  });

  it('runs a node, and loads no WebSocket or fetch for it', async () => {
    const loaded = 'process.once("exit", () => console.log(process.moduleLoadList.join("\\n")))';
    const flags = ['--http-port', '0', '--raft-port', '0', '--raft-advertise', '127.0.0.1:8300'];
    const arguments_ = ['--import', `data:text/javascript,${loaded}`, program, 'agent', ...flags];
    const node = spawn(process.execPath, arguments_, {
      cwd: empty,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(node, 'exit');
    const modules = text(node.stdout);
    try {
      const { status } = await send(await urlIn(node.stderr), 'GET /v1/status/leader');
      expect(status).to.equal(200);
    } finally {
      node.kill('SIGTERM');
    }
    expect(await ended).to.deep.equal([0, null]);
    expect(await modules)
      .to.include('http')
      .and.not.include('undici');
  });
});

/** The API's address in the log of a node. */
async function urlIn(log: Readable): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const { url } = JSON.parse(line) as { url?: string };
    if (url === undefined) continue;
    log.resume();
    return url;
  }
  throw new Error('the node exited before it was ready');
}
