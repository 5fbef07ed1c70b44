import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { AS_DEPLOYED } from '../../scripts/bench/setting.js';
import { VARIABLES } from '../../src/cli/client/variables.js';
import { envName, loadConfig } from '../../src/config/config.js';
import { SETTINGS } from '../../src/config/settings.js';
import {
  DIR,
  deployFiles,
  type Env,
  IMAGE,
  imageEnv,
  mustBeOneCluster,
  type Shape,
  textOf,
} from './deploy-files.js';
import { Field } from './operator.js';

describe('the deployment files', () => {
  it('name only settings that exist', () => {
    const known = new Set<string>(SETTINGS.map(({ key }) => envName(key)));
    for (const name of Object.values(VARIABLES).flat()) known.add(name);
    for (const name of deployFiles())
      for (const [variable] of textOf(name).matchAll(/CONCLAVE_[A-Z_]+/g))
        expect(known.has(variable), `${variable} in ${name}`).to.equal(true);
  });

  it('Docker: the image copies files that are not ignored, and no secrets', () => {
    const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
    const dockerfile = textOf('Dockerfile');
    expect(dockerfile).to.include(` -t ${IMAGE} `);
    for (const [, list] of dockerfile.matchAll(/^COPY (?!--from)(?:--\S+ )?(.+) \S+$/gm))
      for (const path of list!.split(' ')) {
        expect(ignored).not.to.include(path);
        expect(existsSync(path), path).to.equal(true);
      }
    // The key and the token, which compose.yaml has created there.
    expect(ignored).to.include('cluster/deploy').and.include('!cluster/deploy/backup.sh');
    const untracked = readFileSync('.gitignore', 'utf8').split('\n');
    const secrets = ['shared.key', 'management.token', '.env'];
    expect(untracked).to.include.members(secrets.map((name) => `cluster/deploy/${name}`));
    // A supported and exact version of Node, the same in both stages; a digest can pin it.
    const from = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(from).to.deep.equal(['${NODE_IMAGE}', '${NODE_IMAGE}']);
    const [, major] = /^ARG NODE_IMAGE=node:(\d+)\.\d+\.\d+-/m.exec(dockerfile)!;
    expect(Number(major)).to.be.oneOf([22, 24]);
    expect(dockerfile.match(/^RUN .*npm (?:ci|install).*/gm)).to.deep.equal([
      'RUN npm ci --no-audit --no-fund && node scripts/locked.mjs',
    ]);
    expect(dockerfile.match(/&& node scripts\/locked\.mjs/g)).to.have.length(2);
    const [, version] = IMAGE.split(':');
    expect(dockerfile).to.include(`org.opencontainers.image.version="${version}"`);
  });

  it('Docker: the image installs the packages of the lock file', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/locked.mjs']);
    expect([stderr.toString(), status]).to.deep.equal(['', 0]);
  });

  it('expose no secret in the environment, on a command line, or to other users', () => {
    for (const name of deployFiles()) {
      const text = textOf(name);
      expect(text, name).not.to.match(/CONCLAVE_ACL_INITIAL_MANAGEMENT(?!_FILE)/);
      expect(text, name).not.to.match(/secretKeyRef|--from-literal|chmod [0-7]*[4-7]\b/);
    }
  });

  it('compose: three nodes start one cluster with the second file, and join without it', () => {
    const file = parse(textOf('compose.yaml'), { merge: true });
    const more = parse(textOf('compose.new-cluster.yaml'), { merge: true });
    const names = Object.keys(file.services);
    expect(Object.keys(more.services)).to.deep.equal(names);
    for (const name of names) expect(file.services[name].image).to.equal(IMAGE);
    const configs = (...files: Shape[]) =>
      names.map((name) => {
        const env = files.map(({ services }): Env => services[name].environment);
        return loadConfig({ env: Object.assign(imageEnv(), ...env) });
      });
    mustBeOneCluster(configs(file, more), '/data');
    const joining = configs(file);
    for (const { cluster, acl, http, nodeName } of joining) {
      expect(http.allowedHosts).to.include.members(['localhost', nodeName]);
      expect(http.allowedHosts).not.to.include('*');
      expect(cluster.initial).to.deep.equal([]);
      expect(cluster.join).to.have.members(joining.map(({ raft }) => raft.advertise));
      expect(acl.initialManagementFile).to.equal(undefined);
    }
    expect(new Set(names.flatMap((name) => file.services[name].volumes)).size).to.equal(3);
    expect(joining[0]!.raft.sharedKeyFile).to.equal('/run/secrets/shared-key');
    const [first] = configs(file, more);
    expect(first!.acl.initialManagementFile).to.equal('/run/secrets/management-token');
    expect(Object.keys(file.secrets)).to.deep.equal(['shared-key']);
    expect(Object.keys(more.secrets)).to.deep.equal(['management-token']);
  });

  it('compose: the commands of its comment make a key and a token that a node takes', () => {
    const lines = textOf('compose.yaml').split('\n');
    const at = lines.findIndex((line) => line.includes('openssl rand -hex'));
    const [, command] = /openssl.*\| (.*) > management/.exec(lines[at]!)!;
    const made = execFileSync('sh', ['-c', `echo 0123456789abcdef0123456789abcdef | ${command}`]);
    const token = made.toString().trim();
    expect(() => loadConfig({ env: { CONCLAVE_ACL_INITIAL_MANAGEMENT: token } })).not.to.throw();
    expect(textOf('compose.yaml')).not.to.match(/uuidgen/);
  });

  it('health checks of containers follow what the node answers, and start no Node', async () => {
    let status: number | undefined = 200;
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url!);
      if (status === undefined) response.destroy();
      else response.writeHead(status).end('{}');
    }).listen(0, '127.0.0.1');
    // A test that fails must not keep the process.
    server.unref();
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [, image] = /^HEALTHCHECK (?:.*\n)? *CMD (\[.*\])$/m.exec(textOf('Dockerfile'))!;
    const compose = parse(textOf('compose.yaml'), { merge: true }).services.n1.healthcheck.test;
    const parsed = JSON.parse(image!) as string[];
    for (const words of [parsed, (compose as string[]).slice(1)]) {
      const [shell, flag, text] = words;
      const script = text!.replaceAll('$$', '$').replace('1/8500', `1/${port}`);
      expect([shell, flag, /node/.test(script)]).to.deep.equal(['bash', '-c', false]);
      const check = async (env: Env): Promise<number> => {
        const child = spawn('bash', ['-c', script], {
          env: { PATH: process.env['PATH']!, ...env },
        });
        return ((await once(child, 'exit')) as [number])[0];
      };
      const isImage = words === parsed;
      // The node of the image may speak TLS by a configuration file: it answers http with 400.
      const results = [
        [200, 0],
        [400, isImage ? 0 : 1],
        [503, isImage ? 0 : 1],
        [undefined, 1],
      ];
      for (const [answered, code] of results) {
        status = answered;
        const found = await check({ CONCLAVE_HTTP_PORT: String(port) });
        expect(found, `${isImage} ${answered}`).to.equal(code);
      }
    }
    expect(new Set(paths)).to.deep.equal(new Set(['/v1/health/live', '/v1/health/ready']));
  });

  it('systemd: stops gracefully, reloads certificates, and has enough file descriptors', () => {
    const unit = new Map(
      [...textOf('conclave.service').matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [
        key,
        value,
      ]),
    );
    const { limits } = loadConfig({});
    expect(unit.get('ExecReload')).to.equal('/bin/kill -HUP $MAINPID');
    expect(Number(unit.get('LimitNOFILE'))).to.be.greaterThan(limits.connections);
    // SIGHUP ends the process before the node handles it, which systemd counts as a clean exit.
    expect(unit.get('Restart')).to.equal('always');
    expect(unit.get('RestartPreventExitStatus')).to.equal('2');
    expect(unit.get('IPAddressDeny')).to.equal('any');
    expect(unit.get('RestrictFileSystems')).to.include('@common-block');
    expect(unit.get('UMask')).to.equal('0077');
    expect(Number(unit.get('TimeoutStopSec')) * 1000).to.be.greaterThan(2 * limits.stopMs);
  });

  it('Docker, systemd: nodes run with the options that floods are measured with', () => {
    const { MALLOC_ARENA_MAX, NODE_OPTIONS } = AS_DEPLOYED.env;
    const set = `MALLOC_ARENA_MAX=${MALLOC_ARENA_MAX} NODE_OPTIONS=${NODE_OPTIONS}`;
    const lines = (name: string) => textOf(name).split('\n');
    expect(lines('Dockerfile')).to.include(`ENV ${set}`);
    expect(lines('conclave.service')).to.include(`Environment=${set}`);
  });

  it('systemd: a node may write the audit log where its page has it', () => {
    const [, path] = /"path": "([^"]+)"/.exec(readFileSync(join('docs', 'audit.md'), 'utf8'))!;
    const [, logs] = /^LogsDirectory=(.*)$/m.exec(textOf('conclave.service')) ?? [];
    expect(dirname(path!)).to.equal(`/var/log/${logs}`);
  });

  it('systemd: node is found where it is usually installed', () => {
    expect(textOf('conclave.service')).to.match(/^ExecStart=\/usr\/bin\/env node /m);
    const script = /^ExecStart=\/opt\/conclave\/(\S+) (\S+) \d+$/m.exec(
      textOf('conclave-backup.service'),
    )!;
    expect(existsSync(join(DIR, script[1]!))).to.equal(true);
    expect(script[2]).to.equal(
      `/var/lib/${/^StateDirectory=(.*)$/m.exec(textOf('conclave-backup.service'))![1]}`,
    );
    expect(textOf('conclave-backup.timer')).to.match(/^OnCalendar=/m);
  });
});

describe('backup.sh', () => {
  const field = new Field();
  after(() => field.end());

  /** Runs the script with a folder for archives; `program` is what `conclave` is. */
  function backup(dir: string, program: string, env: Env = {}) {
    writeFileSync(join(dir, 'conclave'), `#!/bin/sh\n${program}\n`, { mode: 0o700 });
    const { status, stderr } = spawnSync('sh', [join(DIR, 'backup.sh'), dir, '14'], {
      env: { ...process.env, ...env, PATH: `${dir}:${process.env['PATH']}` },
    });
    return { status, stderr: stderr.toString(), archives: archivesIn(dir) };
  }
  const archivesIn = (dir: string): string[] =>
    readdirSync(dir).filter((name) => /^conclave-.*\.tgz$/.test(name));

  it('saves an archive for its owner alone, and deletes those that are too old', async () => {
    const cluster = await field.start(1);
    const dir = field.dir();
    for (const [name, days] of [
      ['conclave-old.tgz', 14.01],
      ['conclave-new.tgz', 13.99],
    ] as const) {
      writeFileSync(join(dir, name), '');
      const time = Date.now() / 1000 - days * 86_400;
      utimesSync(join(dir, name), time, time);
    }
    const main = resolve('dist/program/main.js');
    const { status, stderr, archives } = backup(dir, `exec '${process.execPath}' '${main}' "$@"`, {
      CONCLAVE_HTTP_ADDR: cluster.urls[0]!,
      CONCLAVE_HTTP_TOKEN: cluster.token,
    });
    expect([status, stderr]).to.deep.equal([0, '']);
    expect(archives).to.have.length(2).and.to.include('conclave-new.tgz');
    const [saved] = archives.filter((name) => name !== 'conclave-new.tgz');
    expect(saved).to.match(/^conclave-\d{8}T\d{6}Z\.tgz$/);
    expect(statSync(join(dir, saved!)).mode & 0o777).to.equal(0o600);
  });

  it('keeps nothing that cannot be read back, and no archive if none was saved', () => {
    const dir = field.dir();
    const damaged = [
      `cd '${dir}'`,
      'echo {} > meta.json; echo state > state.bin; sha256sum meta.json state.bin > SHA256SUMS',
      'echo other > state.bin; tar -czf "$3" meta.json state.bin SHA256SUMS',
    ];
    const { status, stderr, archives } = backup(dir, damaged.join('\n'));
    expect([status, archives]).to.deep.equal([1, []]);
    expect(stderr).to.include('state.bin is not what was saved');
    expect(backup(dir, 'exit 1')).to.deep.include({ status: 1, archives: [] });
    const bare = `cd '${dir}'; echo {} > meta.json; tar -czf "$3" meta.json`;
    expect(backup(dir, bare)).to.deep.include({ status: 2, archives: [] });
  });
});
