import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freePortsInARow } from '../../cluster/local.js';
import { prepare, RAFT_OFFSET } from '../../src/dev/dev-folder.js';
import { type ClusterFile, planCluster } from '../../src/dev/local.js';
import { send } from '../support/client.js';
import { until } from './operator.js';

const START = fileURLToPath(new URL('../../cluster/start.js', import.meta.url));

/** A process with what it has printed. */
class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  out = '';
  err = '';
  #onText = (): void => {};

  constructor(command: string, args: readonly string[], cwd: string, env: object = {}) {
    this.child = spawn(command, [...args], { cwd, env: { ...process.env, ...env } });
    this.child.stdout!.on('data', (chunk) => {
      this.out += chunk;
      this.#onText();
    });
    this.child.stderr!.on('data', (chunk) => {
      this.err += chunk;
      this.#onText();
    });
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  /** Resolves once it has printed a text; throws if it ends without. */
  async prints(text: string): Promise<void> {
    const printed = new Promise<void>((resolve) => {
      this.#onText = () => {
        if (`${this.out}${this.err}`.includes(text)) resolve();
      };
      this.#onText();
    });
    const early = this.ended.then(() => {
      if (!`${this.out}${this.err}`.includes(text))
        throw new Error(`ended without "${text}":\n${this.out}${this.err}`);
    });
    await Promise.race([printed, early]);
  }
}

describe('npm start', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-start-'));
  const nodes = (): ClusterFile['nodes'] =>
    (JSON.parse(readFileSync(join(dir, 'data', 'cluster.json'), 'utf8')) as ClusterFile).nodes;
  const start = (...args: string[]): Running =>
    new Running(process.execPath, [START, ...args], dir);
  const pidOf = (at: number): number => Number(readFileSync(nodes()[at]!.pidFile, 'utf8'));
  let running: Running | undefined;
  afterEach(async () => {
    running?.child.kill('SIGINT');
    await running?.ended;
    running = undefined;
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  /** The lines that are printed to be pasted. */
  const linesOf = (out: string): string => /^\. [\s\S]*^conclave watch .*$/m.exec(out)![0];

  /** Pastes lines into a shell, where a pause lasts until the watch waits. */
  async function paste(lines: string): Promise<string> {
    const go = join(dir, 'go');
    rmSync(go, { force: true });
    const pause = 'sleep() { until [ -e go ]; do command sleep 0.05; done; }';
    const shell = new Running('bash', ['-c', `${pause}\n${lines}`], dir);
    await shell.prints('waiting for changes');
    writeFileSync(go, '');
    expect(await shell.ended, shell.err).to.equal(0);
    return shell.out;
  }

  it('prints lines that can be pasted in one piece, again and again', async () => {
    const port = await freePortsInARow(RAFT_OFFSET + 3);
    running = start('--port', String(port));
    await running.prints('leader n');
    const lines = linesOf(running.out);
    expect(lines.split('\n')).to.have.length(4);
    for (const line of running.out.split('\n')) expect(line.length).to.be.at.most(90);
    for (let times = 0; times < 2; times += 1)
      expect(await paste(lines)).to.include('Protocol: "http" → "grpc"');
    for (const name of ['env', 'management.token', 'cluster.json'])
      expect(statSync(join(dir, 'data', name)).mode & 0o777, name).to.equal(0o600);
    expect(running.out).not.to.include(readFileSync(join(dir, 'data/management.token'), 'utf8'));

    running.child.kill('SIGINT');
    expect(await running.ended).to.equal(0);
    expect(running.out).to.include('the data is kept in data/, and npm start continues with it\n');
    running = start();
    await running.prints('leader n');
    expect(linesOf(running.out)).to.equal(lines);
    expect(await paste(lines)).to.include('Protocol: "http" → "grpc"');
  });

  it('starts dead nodes again, and stops those that were started by hand', async () => {
    running = start();
    await running.prints('leader n');
    process.kill(pidOf(1), 'SIGKILL');
    await running.prints('down: n2');
    running.child.stdin!.write('r');
    await running.prints('n2 is running again');

    const dead = pidOf(2);
    process.kill(dead, 'SIGKILL');
    await running.prints('down: n3');
    const byHand = new Running('sh', ['-c', `exec ${nodes()[2]!.start}`], dir);
    await until(
      async () => (await send(nodes()[2]!.url, 'GET /v1/health/ready')).status,
      (status) => status === 200,
    );
    expect(pidOf(2)).not.to.equal(dead);
    // It still runs what somebody started, and says so instead of starting.
    const second = start();
    expect(await second.ended).to.equal(1);
    expect(second.err).to.match(
      /^nodes of this folder are still running: n1, n2, n3; .* kill \d+ \d+ \d+\n$/,
    );
    running.child.kill('SIGINT');
    expect(await running.ended).to.equal(0);
    expect(await byHand.ended).to.equal(0);
    for (const { pidFile } of nodes()) expect(existsSync(pidFile)).to.equal(false);
  });

  it('gives nodes their own settings, whatever variables the shell has', async () => {
    const elsewhere = join(dir, 'elsewhere');
    const port = await freePortsInARow(RAFT_OFFSET + 1);
    const args = ['--dir', 'apart', '--nodes', '1', '--port', String(port)];
    const env = { CONCLAVE_DATA_DIR: elsewhere };
    running = new Running(process.execPath, [START, ...args], dir, env);
    await running.prints('leader n1');
    expect(existsSync(elsewhere)).to.equal(false);
  });

  const refusals: readonly (readonly [args: string[], code: number, text: RegExp])[] = [
    [['--port', '70000'], 2, /expected a port from 1 to 65535/],
    [['--port', '65500', '--dir', 'high'], 2, /^--port: at most 65433 with 3 nodes; .*\n$/],
    [['--nodes', '4'], 2, /expected 1, 3 or 5/],
    [['--nodes', '1'], 1, /^data\/ contains a cluster of 3 nodes; .*--dir NAME.*\n$/],
    [['--port', '9'], 1, /^data\/ contains a cluster on port \d+; .*--dir NAME.*\n$/],
    [['--dir', 'foreign'], 1, /^foreign\/ is not empty .* another folder: .*--dir NAME\n$/],
    [['--dir', 'agent', '--fresh'], 1, /^agent\/ contains the data of a node that conclave agent/],
  ];
  for (const [args, code, text] of refusals)
    it(`refuses ${args.join(' ')} in a sentence that does not delete data`, async () => {
      for (const [folder, file] of [
        ['foreign', 'x'],
        ['agent', 'node.json'],
      ] as const) {
        mkdirSync(join(dir, folder), { recursive: true });
        writeFileSync(join(dir, folder, file), '');
      }
      const tried = start(...args);
      expect(await tried.ended).to.equal(code);
      expect(tried.err).to.match(text).and.not.include('    at ').and.not.include('--fresh');
    });

  it('says how options are given when npm has taken them for itself', async () => {
    const swallowed: readonly (readonly [object, string[], string])[] = [
      [{ npm_config_nodes: 'true' }, ['5'], '--nodes 5'],
      [{ npm_config_port: '9000' }, [], '--port 9000'],
      [{}, ['5'], '--nodes 5'],
    ];
    for (const [env, args, expected] of swallowed) {
      const npm = { npm_lifecycle_event: 'start', ...env };
      const one = new Running(process.execPath, [START, ...args], dir, npm);
      expect(await one.ended).to.equal(2);
      expect(one.err).to.equal(`put -- before the options: npm start -- ${expected}\n`);
    }
  });

  it('says what to do about a port in use, with data and without', async () => {
    const { port } = new URL(nodes()[0]!.url);
    const taken = createServer().listen(Number(port), '127.0.0.1');
    await once(taken, 'listening');
    const kept = start();
    expect(await kept.ended).to.equal(1);
    expect(kept.err).to.equal(
      `port ${port} is in use by another program; stop it to continue with data/, ` +
        'or start another cluster beside it: npm start -- --dir NAME --port PORT\n',
    );
    const fresh = start('--dir', 'new', '--port', port);
    expect(await fresh.ended).to.equal(1);
    expect(fresh.err).to.equal(
      `port ${port} is in use by another program; choose another: npm start -- --port PORT\n`,
    );
    taken.close();
  });

  it('starts over without the files of anybody else', async () => {
    const own = join(dir, 'own');
    const commandWith = (options: string): string => options;
    const port = await freePortsInARow(RAFT_OFFSET + 3);
    const options = { dir: own, nodesDefault: 3, commandWith, port };
    await prepare(options);
    const made = readdirSync(own);
    const token = readFileSync(join(own, 'management.token'), 'utf8');
    for (const name of ['n1', 'n9', 'notes']) mkdirSync(join(own, name));
    for (const name of ['n1/data', 'n1.log', 'n9/mine', 'notes/mine', 'bin/mine', 'n1.txt'])
      writeFileSync(join(own, name), '');
    const before = process.cwd();
    process.chdir(own);
    try {
      await prepare({ ...options, dir: '.', fresh: true, nodesDefault: 1 });
    } finally {
      process.chdir(before);
    }
    expect(readFileSync(join(own, 'management.token'), 'utf8')).not.to.equal(token);
    const gone = ['n2.json', 'n3.json'];
    expect(readdirSync(own)).to.have.members([
      ...made.filter((name) => !gone.includes(name)),
      ...['n9', 'notes', 'n1.txt'],
    ]);
    expect(readdirSync(join(own, 'bin'))).to.have.members(['conclave', 'mine']);
    expect(existsSync(join(own, 'notes', 'mine'))).to.equal(true);
  });

  it('writes a plan that only its owner can read', async () => {
    const plan = await planCluster({ nodes: 3, dir: join(dir, 'plan') });
    expect(statSync(join(plan.dir, 'cluster.json')).mode & 0o777).to.equal(0o600);
    expect(plan.file).to.include({ kind: 'service', prefix: 'X-Service' });
    expect(plan.file.nodes).to.have.length(3);
  });
});
