/**
 * `npm run test:clients [LANGUAGE…]`: clients of this API in other languages, unmodified, each
 * against a node of its own. Their programs are in `test/peers/`; their packages come from the
 * registries of their languages. A language that is not installed is left out. The last line is
 * `N passed, N failed`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startCluster } from '../cluster/local.js';
import { signer } from '../test/login/signers.js';

type Command = readonly [string, ...string[]];

interface Language {
  readonly client: string;
  /** Programs without which it is left out, and how each tells its version. */
  readonly needs: readonly Command[];
  /** Whether the client makes the first token; otherwise it is given one. */
  readonly bootstraps: boolean;
  /** Whether it needs `http.fieldNames` `anyCase`: without it, it must be refused. */
  readonly anyCase?: true;
  /** Run in a copy of its folder. */
  readonly prepare: readonly Command[];
  readonly run: (folder: string) => Command;
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  python: {
    client: 'py-consul 1.8.0',
    needs: [['python3', '--version']],
    bootstraps: true,
    anyCase: true,
    prepare: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '-q', '-r', 'requirements.txt'],
    ],
    run: () => ['venv/bin/python', 'walk.py'],
  },
  node: {
    client: 'consul 2.0.1',
    needs: [['npm', '--version']],
    bootstraps: true,
    prepare: [['npm', 'install', '--silent', '--no-audit', '--no-fund']],
    run: () => [process.execPath, 'walk.mjs'],
  },
  go: {
    client: 'consul/api 1.34.5',
    needs: [['go', 'version']],
    bootstraps: true,
    prepare: [['go', 'build', '-o', 'walk', '.']],
    run: () => ['./walk'],
  },
  java: {
    client: 'consul-client 1.8.0 of kiwiproject',
    needs: [
      ['java', '-version'],
      ['mvn', '--version'],
    ],
    bootstraps: false,
    prepare: [['mvn', '-q', '-B', 'dependency:build-classpath', '-Dmdep.outputFile=classpath']],
    run: (folder) => {
      return ['java', '-cp', readFileSync(join(folder, 'classpath'), 'utf8'), 'Walk.java'];
    },
  },
  rust: {
    client: 'rs-consul 0.15.0',
    needs: [['cargo', '--version']],
    bootstraps: false,
    prepare: [['cargo', 'build', '-q']],
    run: () => ['target/debug/walk'],
  },
};

const has = ([program, ...args]: Command): boolean =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0;

/** Ends a walk: without it, one that waits for ever would wait for ever. */
const WALK_MS = 120_000;

/** Runs a command to its end. Returns its code and all that it printed. */
function run(
  [program, ...args]: Command,
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(Object.keys(env).length > 0 && { timeout: WALK_MS }),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      output += text.toString();
    });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ code, output }));
  });
}

/** Lets a client walk through the API of a new node. */
async function walk(language: Language, folder: string, fieldNames: 'exact' | 'anyCase') {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-clients-'));
  const cluster = await startCluster({
    dir,
    nodes: 1,
    settings: { http: { fieldNames } },
    ...(language.bootstraps && { token: '' }),
  });
  try {
    const key = await signer('ES256');
    const iat = Math.floor(Date.now() / 1000);
    return await run(language.run(folder), folder, {
      CONSUL_HTTP_ADDR: cluster.urls[0]!.replace('http://', ''),
      JWT: await key.sign({ sub: 'ann', iat, exp: iat + 600 }),
      JWT_PUBLIC_KEY: key.pem,
      ...(!language.bootstraps && { CONSUL_HTTP_TOKEN: cluster.token }),
    });
  } finally {
    await cluster.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns how many steps passed, and how many failed. */
async function testOf(name: string, language: Language): Promise<[number, number]> {
  const folder = resolve('dist/peers', name);
  cpSync(join('test/peers', name), folder, { recursive: true });
  for (const command of language.prepare) {
    const { code, output } = await run(command, folder);
    if (code === 0) continue;
    console.log(`${name}: ${command.join(' ')} failed\n${output}`);
    return [0, 1];
  }
  let [passed, failed] = [0, 0];
  if (language.anyCase === true) {
    const { code, output } = await walk(language, folder, 'exact');
    const isRefused = code !== 0 && output.includes('http.fieldNames');
    console.log(`${name}: ${isRefused ? 'is' : 'IS NOT'} refused by the default http.fieldNames`);
    [passed, failed] = isRefused ? [1, 0] : [0, 1];
  }
  const { code, output } = await walk(language, folder, language.anyCase ? 'anyCase' : 'exact');
  const steps = output.split('\n').filter((line) => line.startsWith('ok '));
  console.log(`${name}, ${language.client}:\n  ${steps.join('\n  ')}`);
  if (code === 0 && steps.length > 0) return [passed + steps.length, failed];
  console.log(output);
  return [passed + steps.length, failed + 1];
}

// a shell that names a cluster would name it to the clients
for (const name of Object.keys(process.env))
  if (/^(?:CONCLAVE|CONSUL)_/.test(name)) delete process.env[name];
const wanted = process.argv.slice(2);
for (const name of wanted)
  if (!Object.hasOwn(LANGUAGES, name)) {
    console.error(`${name} is none of ${Object.keys(LANGUAGES).join(', ')}`);
    process.exit(2);
  }
let [passed, failed] = [0, 0];
for (const [name, language] of Object.entries(LANGUAGES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const missing = language.needs.find((command) => !has(command));
  if (missing !== undefined) {
    console.log(`${name} is left out: ${missing[0]} is not installed`);
    continue;
  }
  const [good, bad] = await testOf(name, language);
  passed += good;
  failed += bad;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
