import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { UNFINISHED } from '../../src/node/recover.js';
import { DIVERGED_KEY } from '../../src/state/keys.js';
import { openState } from '../../src/storage/state.js';
import { User } from '../cli/harness.js';
import { RealCluster } from '../support/real-cluster.js';
import { until } from './operator.js';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));

describe('the commands of operators', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-commands-'));
  const user = new User();
  let cluster: RealCluster;
  const offline = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      encoding: 'utf8',
    });
    return { code: status, out: stdout, err: stderr };
  };
  const folder = (at: number): string => cluster.nodes[at]!.entry.dataDir;
  const snapshot = join(dir, 'a.tgz');

  before(async () => {
    cluster = await RealCluster.open(3);
    const addresses = cluster.urls.map((url) => new URL(url).host).join(',');
    user.env = { CONCLAVE_HTTP_ADDR: addresses, CONCLAVE_HTTP_TOKEN: cluster.token };
  });
  after(async () => {
    await cluster.close();
    user.leave();
    rmSync(dir, { recursive: true, force: true });
  });

  it('show a healthy cluster on one screen', async () => {
    await until(
      async () => (await user.run(['doctor'])).code,
      (code) => code === 0,
    );
    const status = await user.done(['status', '--no-color'], { columns: 80 });
    expect(status).to.match(/Leader +n\d at 127\.0\.0\.1:\d+, term \d+/);
    expect(status).to.match(/Health +healthy, can lose 1 of 3 voters/);
    for (const line of status.split('\n')) expect(line.length).to.be.at.most(80);
    const names = (await user.done(['members', '-o', 'name'])).trim().split('\n').sort();
    expect(names).to.deep.equal(['member/n1', 'member/n2', 'member/n3']);
    const doctor = await user.done(['doctor']);
    for (const what of ['leader', 'members', 'level', 'disk', 'policies', 'version'])
      expect(doctor).to.match(new RegExp(`^ok +${what} `, 'm'));
    const one = ['--http-addr', cluster.urls[1]!];
    expect(await user.done(['health', ...one])).to.equal('ready\n');
    expect(await user.done(['health', '--live', ...one])).to.equal('live\n');
    expect(await user.done(['health', '--cluster', ...one])).to.include('healthy');
    expect((await user.run(['health'])).code).to.equal(2);
  });

  it('save a snapshot with its progress, and read it without a server', async () => {
    const saved = await user.run(['snapshot', 'save', snapshot], { columns: 80 });
    expect(saved.out).to.match(/^saved index \d+ to .* \(\d.* [kM]?B\)/);
    expect(saved.err).to.include('saved ').and.include('/s');
    const inspected = offline('snapshot', 'inspect', snapshot, '-o', 'json');
    expect(inspected.code, inspected.err).to.equal(0);
    const content = JSON.parse(inspected.out);
    expect(content.objects).to.include({ namespace: 1, token: 2 });
    expect(JSON.parse(offline('snapshot', 'verify', snapshot, '-o', 'json').out)).to.deep.equal(
      content,
    );
    const table = offline('snapshot', 'inspect', snapshot).out;
    expect(table).to.match(/^Objects +namespace: 1/m);
    const broken = join(dir, 'b.tgz');
    writeFileSync(broken, readFileSync(snapshot).subarray(0, 900));
    const verified = offline('snapshot', 'verify', broken);
    expect(verified.code).to.equal(1);
    expect(verified.err).to.match(/^conclave: failed to read snapshot/);
  });

  it('name the process of a node that runs on a folder', () => {
    const { code, err } = offline('inspect', folder(0));
    expect(code).to.equal(1);
    const which = process.platform === 'linux' ? ` (process ${cluster.nodes[0]!.pid})` : '';
    expect(err).to.equal(`conclave: a node runs on ${folder(0)}: stop it first${which}\n`);
  });

  it('show what a node knows when the majority is lost', async () => {
    await Promise.all([1, 2].map((at) => cluster.nodes[at]!.kill('SIGKILL')));
    const one = ['--http-addr', cluster.urls[0]!];
    await until(
      async () => (await user.run(['health', ...one])).code,
      (code) => code === 1,
    );
    // The connections to killed processes may outlive them for a moment.
    const { code, out, err } = await until(
      () => user.run(['status', '--no-color', ...one]),
      ({ out: seen }) => seen.match(/ not connected/g)?.length === 2,
    );
    expect(code).to.equal(1);
    expect(out)
      .to.match(/Leader +none/)
      .and.match(/^n1 .* connected/m)
      .and.match(/^n3 .* not connected/m);
    expect(err).to.include('this is what n1 knows');
    const lines = readFileSync(cluster.nodes[0]!.logFile, 'utf8').trim().split('\n');
    const lost = lines.map((line) => JSON.parse(line)).filter((line) => line.peer === 'n2');
    expect(lost.map(({ event }) => event)).to.include('peer_unreachable');
    expect(lost.at(-1).msg).to.match(
      /^n2: node [0-9a-f-]{36} at 127\.0\.0\.1:\d+ cannot be reached/,
    );
    const file = join(dir, 'stale.snap');
    const fresh = await user.run(['snapshot', 'save', file, '--timeout', '1s', ...one]);
    expect(fresh.err).to.include('No cluster leader');
    const saved = await user.run(['snapshot', 'save', file, '--stale', ...one]);
    expect(saved.code, saved.err).to.equal(0);
    expect(offline('snapshot', 'verify', file).code).to.equal(0);
    const doctor = await user.run(['doctor', '--timeout', '1s']);
    expect(doctor.code).to.equal(1);
    expect(doctor.out).to.match(/^error +leader +there is none/m);
    expect(doctor.out.match(/^error +node .*does not answer/gm)).to.have.length(2);
  });

  it('compare the folders of stopped nodes, and say what a recovery would do', async () => {
    await cluster.nodes[0]!.kill('SIGTERM');
    const { code, out } = offline('inspect', folder(0), folder(1), folder(2), '-o', 'json');
    expect(code).to.equal(0);
    const { folders, verdicts } = JSON.parse(out);
    expect(Object.keys(folders)).to.deep.equal([folder(0), folder(1), folder(2)]);
    expect(verdicts[0]).to.match(/the most complete log|all have the same log/);
    expect(verdicts.join('\n')).not.to.include('DIFFER');
    const table = offline('inspect', folder(0), folder(1)).out;
    expect(table).to.match(/^FOLDER +NODE +LAST TERM/);

    const before = offline('inspect', folder(0)).out;
    const settings = ['--data-dir', folder(0), '--node-name', 'n1'];
    const dry = offline('recover', ...settings, '--dry-run');
    expect(dry.code, dry.err).to.equal(0);
    expect(dry.out)
      .to.match(/^New members +n1 at /m)
      .and.include('nothing was changed');
    expect(offline('inspect', folder(0)).out).to.equal(before);
    const wrong = offline('recover', ...settings, '--dry-run', '--members', 'x=a:1');
    expect(wrong.err).to.equal('conclave: the members do not name this server (n1)\n');
    for (const [members, why] of [
      ['n1=a:1,n1=b:1', 'names a member twice'],
      ['n1=a:1,n2=a:1', 'gives two members the same address'],
      ['n1=a:99999', '"a:99999" is not an address: expected host:port or [ipv6]:port'],
    ] as const)
      for (const more of [['--dry-run'], []]) {
        const refused = offline('recover', ...settings, '--members', members, ...more);
        expect(refused.err)
          .to.match(/^conclave: /)
          .and.include(why);
      }
    expect(offline('inspect', folder(0)).out).to.equal(before);
  });

  it('complete a recovery that did not end, and say so before', async () => {
    const state = await openState(join(folder(0), 'state'), {
      onFatal: (error) => expect.fail(error.message),
    });
    state.commit([[DIVERGED_KEY, UNFINISHED]]);
    await state.close();
    const settings = ['--data-dir', folder(0), '--node-name', 'n1'];
    const dry = offline('recover', ...settings, '--dry-run');
    expect(dry.code, dry.err).to.equal(0);
    expect(dry.out)
      .to.include(UNFINISHED)
      .and.include('without --dry-run the recovery that was begun is completed\n');
    const done = offline('recover', ...settings, '-o', 'json');
    expect(done.code, done.err).to.equal(0);
    expect(JSON.parse(done.out)).to.deep.include({ damage: [] });
  });
});
