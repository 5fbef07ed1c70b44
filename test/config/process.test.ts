import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
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
import { planCluster } from '../../src/dev/local.js';
import { freePorts } from '../../src/dev/ports.js';
import { LOG_EVENTS } from '../../src/log/log-events.js';
import { until } from '../cluster/operator.js';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));

/** Runs a program until it exits. */
function run(program: string, args: string[], options: { cwd?: string; env?: object } = {}) {
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    const env = { ...process.env, ...options.env };
    const child = spawn(process.execPath, [program, ...args], { ...options, env });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

describe('a node as a process', function () {
  this.timeout(60_000);
  const dir = mkdtempSync(join(tmpdir(), 'conclave-process-'));
  let cluster: RealCluster;
  const ask = (call: string, body?: object | string, token = cluster.token) => {
    const sent = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
    return send(cluster.urls[0]!, call, { token, ...(sent !== undefined && { body: sent }) });
  };

  before(async () => {
    cluster = await RealCluster.open(1, { settings: { log: { level: 'debug' } } });
  });
  after(async () => {
    await cluster.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it('writes no secret to log, metrics or status, whatever fails', async () => {
    const planted = '5ec2e700-1111-4222-8333-944455556666';
    const created = await ask('PUT /v1/acl/token', { SecretID: planted, Description: 'x' });
    expect(created.status).to.equal(200);
    await ask('GET /v1/acl/token/self', undefined, planted);
    await ask('GET /v1/acl/roles', undefined, planted);
    await ask(`GET /v1/acl/roles?token=${planted}`);
    await ask('PUT /v1/acl/token', { SecretID: planted });
    await ask('PUT /v1/acl/token', `{"SecretID":"${planted}",}`);
    await ask('POST /v1/acl/login', { AuthMethod: 'none', BearerToken: planted });
    await ask(`GET /v1/config/service-defaults/${planted}x`, undefined, 'unknown-secret-5ec2e700');
    const shown = await Promise.all(
      ['/v1/agent/metrics', '/v1/agent/metrics?format=prometheus', '/v1/agent/self'].map(
        async (path) => (await ask(`GET ${path}`)).text,
      ),
    );
    const log = readFileSync(cluster.nodes[0]!.logFile, 'utf8');
    expect(log).to.include('"serving"');
    expect(log).to.include('"the data folder is new: the node starts the cluster of n1"');
    expect(log).to.match(/"leader in term \d+"/);
    const lines = log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const { event } of lines) expect(Object.keys(LOG_EVENTS)).to.include(event);
    const requests = lines.filter(({ event }) => event === 'request');
    const self = { route: '/v1/acl/token/self', method: 'GET', level: 'debug' };
    expect(requests.some((one) => Object.entries(self).every(([k, v]) => one[k] === v))).to.equal(
      true,
    );
    for (const text of [log, ...shown])
      for (const secret of [planted, cluster.token, 'unknown-secret-5ec2e700'])
        expect(text).not.to.include(secret);
  });

  it('saves a snapshot and restores it as a whole', async () => {
    await ask('PUT /v1/acl/role', { Name: 'kept' });
    const file = join(dir, 'a.snap');
    const env = { CONCLAVE_TOKEN: cluster.token };
    const url = ['--url', cluster.urls[0]!];
    const saved = await run(MAIN, ['snapshot', 'save', file, ...url], { env });
    expect(saved).to.include({ code: 0, err: '' });
    await ask('PUT /v1/acl/role', { Name: 'later' });
    const { headers } = await ask('GET /v1/acl/roles');
    const held = ask(`GET /v1/acl/roles?index=${headers['x-service-index']}&wait=60s`);
    const restored = await run(MAIN, ['snapshot', 'restore', file, ...url], { env });
    expect(restored).to.include({ code: 0, err: '' });
    const { objects, index } = JSON.parse(
      (await run(MAIN, ['snapshot', 'inspect', file, '-o', 'json'])).out,
    );
    expect(objects).to.include({ policy: 2, role: 1 });
    const counts = Object.entries(objects).map(([type, count]) => `${type}: ${count}`);
    expect(restored.out).to.equal(
      `restored ${file}, saved at index ${index}\n${counts.join(', ')}\n`,
    );
    const names = (text: string) => JSON.parse(text).map((role: { Name: string }) => role.Name);
    expect(names((await held).text)).to.deep.equal(['kept']);
    expect((await ask('GET /v1/acl/role/name/later')).status).to.equal(404);
    const log = readFileSync(cluster.nodes[0]!.logFile, 'utf8');
    expect(log).to.include('"msg":"the state was replaced by that of an archive"');
    const after = await ask('PUT /v1/acl/role', { Name: 'after' });
    expect(JSON.parse(after.text).ModifyIndex).to.be.greaterThan(
      Number(headers['x-service-index']),
    );
  });

  it('says as JSON what was restored', async () => {
    const file = join(dir, 'a.snap');
    const args = ['snapshot', 'restore', file, '--url', cluster.urls[0]!, '-o', 'json'];
    const { out } = await run(MAIN, args, { env: { CONCLAVE_TOKEN: cluster.token } });
    const inspected = await run(MAIN, ['snapshot', 'inspect', file, '-o', 'json']);
    expect(JSON.parse(out)).to.deep.equal({ file, ...JSON.parse(inspected.out) });
  });

  it('reports that the archive is missing, not the node', async () => {
    const file = join(dir, 'none');
    const args = ['snapshot', 'restore', file, '--url', cluster.urls[0]!];
    const { code, err } = await run(MAIN, args);
    expect(code).to.equal(2);
    expect(err).to.equal(`conclave: cannot read the archive: ${file} does not exist\n`);
  });

  it('refuses a file that is not a snapshot, and changes nothing', async () => {
    const bytes = readFileSync(join(dir, 'a.snap'));
    const halves = [Buffer.from('garbage'), Buffer.alloc(0), bytes.subarray(0, bytes.length / 2)];
    const before = (await ask('GET /v1/acl/roles')).text;
    for (const body of halves) {
      const answer = await ask('PUT /v1/snapshot', body);
      expect(answer.status).to.equal(400);
      expect(answer.text).to.match(/failed to (decompress|read) snapshot/);
    }
    const denied = await ask('PUT /v1/snapshot', 'garbage', '');
    expect(denied.status).to.equal(403);
    expect((await ask('GET /v1/acl/roles')).text).to.equal(before);
  });

  it('says which option or file of a check of its files cannot be used', async () => {
    const file = join(dir, 'no-key');
    writeFileSync(file, 'short');
    const options = [
      ['--last', '17'],
      ['--key-file', file],
      ['--key-file', join(dir, 'none')],
    ];
    for (const [name, value] of options) {
      const { code, err } = await run(MAIN, ['audit', 'verify', file, name!, value!]);
      expect([code, err.split(': ').slice(0, 2)]).to.deep.equal([2, ['conclave', name]]);
    }
    for (const command of ['audit verify', 'snapshot inspect'])
      expect((await run(MAIN, [...command.split(' '), dir])).err).to.equal(
        `conclave: ${dir} is a folder\n`,
      );
  });

  it('keeps its data folder private, also files that were open to others before', async () => {
    const [node] = cluster.nodes;
    const { dataDir } = node!.entry;
    const openToOthers = () =>
      readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter(
        (name) => (statSync(join(dataDir, name)).mode & 0o077) !== 0,
      );
    const umask = process.umask(0o022);
    try {
      expect(openToOthers()).to.deep.equal([]);
      await node!.kill('SIGTERM');
      for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' }))
        chmodSync(join(dataDir, name), 0o755);
      node!.start();
      await node!.ready();
      expect(openToOthers()).to.deep.equal([]);
    } finally {
      process.umask(umask);
    }
  });

  it('refuses a secret as a flag, which every user of the machine could read', async () => {
    const secret = '5ec2e700-1111-4222-8333-944455556666';
    const flag = '--acl-initial-management';
    for (const given of [[`${flag}=${secret}`], [flag, secret]]) {
      const { code, err } = await run(MAIN, ['config', 'check', ...given]);
      expect(code).to.equal(2);
      expect(err).to.equal(
        'conclave: acl.initialManagement: is a secret, and every user of this machine can read the flags of a process; ' +
          'set CONCLAVE_ACL_INITIAL_MANAGEMENT, or acl.initialManagement in the configuration file, ' +
          'or name a file that holds it (acl.initialManagementFile)\n',
      );
    }
    const { out } = await run(MAIN, ['agent', '--help']);
    expect(out).not.to.include('--acl-initial-management <');
  });

  it('reads the initial management token from a file, which may be removed afterwards', async () => {
    const file = join(dir, 'management');
    const secret = '5ec2e700-2222-4222-8333-944455556666';
    const settings = { acl: { initialManagementFile: file } };
    const plan = await planCluster({ nodes: 1, dir: join(dir, 'm'), token: '', settings });
    const [node] = plan.nodes;
    const config = join(dir, 'm', 'n1.json');
    const missing = await run(MAIN, ['config', 'check', '--config', config]);
    expect(missing.code).to.equal(2);
    expect(missing.err).to.match(/^conclave: acl\.initialManagementFile: ENOENT/);
    writeFileSync(file, `${secret}\n`);
    const changes = [() => {}, () => writeFileSync(file, ''), () => rmSync(file)];
    for (const change of changes) {
      change();
      node!.start();
      try {
        await node!.ready();
        const { status } = await send(node!.url, 'GET /v1/acl/token/self', { token: secret });
        expect(status).to.equal(200);
      } finally {
        await node!.kill('SIGTERM');
      }
    }
  });

  it('shuts down gracefully on SIGTERM, and starts again with its data', async () => {
    const node = cluster.nodes[0]!;
    const { pidFile } = node.entry;
    expect(Number(readFileSync(pidFile, 'utf8'))).to.equal(node.pid);
    const { headers } = await ask('GET /v1/acl/roles');
    const held = ask(`GET /v1/acl/roles?index=${headers['x-service-index']}&wait=60s`);
    await ask('GET /v1/status/leader');
    await node.kill('SIGTERM');
    expect((await held).status).to.equal(200);
    expect(existsSync(pidFile)).to.equal(false);
    expect(readFileSync(node.logFile, 'utf8')).to.match(/"msg":"stopped"\}\n$/);
    node.start();
    await node.ready();
    expect((await ask('GET /v1/acl/role/name/kept')).status).to.equal(200);
  });

  it('keeps its PID file when a second start of the same node fails', async () => {
    const node = cluster.nodes[0]!;
    const { pidFile, dataDir } = node.entry;
    const args = ['--pid-file', pidFile, '--data-dir', dataDir, '--http-port', '0'];
    const { code, err } = await run(MAIN, ['agent', '--raft-port', '0', ...args]);
    expect(code).to.equal(1);
    expect(err).to.include('in use by another process');
    expect(Number(readFileSync(pidFile, 'utf8'))).to.equal(node.pid);
  });

  it('loses nothing when killed by SIGKILL', async () => {
    const node = cluster.nodes[0]!;
    expect((await ask('PUT /v1/acl/role', { Name: 'survivor' })).status).to.equal(200);
    await node.kill('SIGKILL');
    node.start();
    await node.ready();
    expect((await ask('GET /v1/acl/role/name/survivor')).status).to.equal(200);
  });

  it('reports an error in its configuration in one line', async () => {
    const file = join(dir, 'bad.json');
    writeFileSync(file, '{"http":{"prot":1}}');
    const { code, err } = await run(MAIN, ['agent', '--config', file]);
    expect(code).to.equal(2);
    expect(err).to.equal(
      'conclave: http.prot: there is no such setting; did you mean http.port?\n',
    );
  });

  it('exits with the usage error code on an unknown flag too', async () => {
    const { code, err } = await run(MAIN, ['agent', '--http-prot', '1']);
    expect(code).to.equal(2);
    expect(err).to.include('Did you mean --http-port?');
    // A value may be a secret.
    for (const command of ['agent', 'dev', 'inspect']) {
      const other = await run(MAIN, [command, '--shared-key=secret-1']);
      expect(other.code, command).to.equal(2);
      expect(other.err, command).to.match(/^conclave: unknown option '--shared-key=…'\n/);
    }
  });

  it('reports in one line that its port is in use', async () => {
    const [port] = await freePorts(1);
    const taken = createServer().listen(port, '127.0.0.1');
    const args = ['--data-dir', join(dir, 'taken'), '--raft-port', '0', '--log-level', 'silent'];
    const { code, err } = await run(MAIN, ['agent', '--http-port', String(port), ...args]);
    taken.close();
    expect(code).to.equal(1);
    expect(err).to.equal(`conclave: 127.0.0.1:${port} is in use by another program\n`);
  });
});

describe('help about nodes', () => {
  const helpOf = async (...args: string[]): Promise<string> => {
    const { code, out } = await run(MAIN, args);
    expect(code).to.equal(0);
    for (const line of out.split('\n')) expect(line.length, line).to.be.at.most(80);
    return out;
  };

  it('shows the settings that matter in groups, with defaults and choices', async () => {
    const help = await helpOf('agent', '--help');
    expect(help)
      .to.include('\nAPI:\n  --http-host')
      .and.match(/0 selects\s+a\s+free\s+port/);
    expect(help)
      .to.match(/\(default:\s+8500\)/)
      .and.match(/allow,\s+deny;\s+default:\s+deny/);
    expect(help).not.to.include('--limits-').and.not.include('--acl-initial-management <');
    const all = await helpOf('agent', '--help-all');
    expect(all).to.include('--limits-body-bytes').and.not.include('--acl-initial-management <');
  });

  it('shows the options of commands that read files, and few settings', async () => {
    const help = await helpOf('help', 'recover');
    expect(help).to.include('--accept-loss').and.include('--dry-run').and.include('--data-dir');
    expect(help).not.to.include('--http-port');
    expect(await helpOf('snapshot', 'verify', '--help')).to.include('Exits with 1');
    expect(await helpOf('dev', '--help')).to.include('default: 1, or as many as the');
    expect(await helpOf('help', 'config', 'check')).to.include('--help-all');
  });
});

describe('a node that is started without a configuration', function () {
  this.timeout(60_000);
  const dir = mkdtempSync(join(tmpdir(), 'conclave-alone-'));
  const flags = ['--http-port', '0', '--raft-port', '0', '--raft-advertise', '127.0.0.1:8300'];
  after(() => rmSync(dir, { recursive: true, force: true }));

  /** Runs a node until `work` is done with its URL. Returns its log. */
  async function withNode(
    work: (url: string, log: () => string) => Promise<void>,
  ): Promise<string> {
    const child = spawn(process.execPath, [MAIN, 'agent', ...flags], { cwd: dir });
    const ended = once(child, 'close');
    let log = '';
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.on('data', (chunk) => {
        log += chunk;
        const [, found] = /"url":"([^"]+)"/.exec(log) ?? [];
        if (found !== undefined) resolve(found);
      });
      ended.then(() => reject(new Error(log)));
    });
    try {
      await work(url, () => log);
    } finally {
      child.kill('SIGTERM');
      await ended;
    }
    return log;
  }

  it('tells the next step until there is a token', async () => {
    await withNode(async (url, log) => {
      const [line] = await until(
        async () =>
          log()
            .split('\n')
            .filter((each) => each.includes('acl bootstrap')),
        (found) => found.length > 0,
      );
      const { command } = JSON.parse(line!);
      expect(command).to.equal(`conclave acl bootstrap --http-addr ${url}`);
      const { code, out } = await run(MAIN, command.split(' ').slice(1));
      expect(code).to.equal(0);
      expect(out).to.include('SecretID');
    });
    const log = await withNode(async (url) => {
      await until(
        async () => (await send(url, 'GET /v1/health/ready')).status,
        (status) => status === 200,
      );
    });
    expect(log).not.to.include('acl bootstrap');
  });

  it('refuses the folder of a cluster of npm start, and says what to do', async () => {
    await planCluster({ nodes: 3, dir: join(dir, 'other', 'data') });
    const { code, err } = await run(MAIN, ['agent', ...flags], { cwd: join(dir, 'other') });
    expect(code).to.equal(2);
    expect(err).to.equal(
      'conclave: dataDir: data contains a cluster of conclave dev or npm start; ' +
        'name another folder: --data-dir NAME\n',
    );
  });
});
