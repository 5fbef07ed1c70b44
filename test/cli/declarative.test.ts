import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Versions } from '../../src/api/endpoints/history.js';
import { RealCluster } from '../support/real-cluster.js';
import { type Given, User } from './harness.js';

/** Returns `count` policies as a set. */
const policies = (count: number, rules = 'acl = "read"'): object[] =>
  Array.from({ length: count }, (_, at) => ({
    Type: 'policy',
    Object: { Name: `many-${at}`, Rules: rules },
  }));

describe('sets and their history by the command line, on a node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const user = new User();
  let cluster: RealCluster;
  const write = (name: string, content: string): string => {
    mkdirSync(join(folder, 'objects'), { recursive: true });
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const run = (args: string, given?: Given) => user.run(args.split(' '), given);
  const done = (args: string, given?: Given) => user.done(args.split(' '), given);
  /** Applies a text as the set of an owner, and returns the index. */
  const applied = async (input: string, more = ''): Promise<number> => {
    const { err, code } = await run(`apply -f - --yes --owner pay${more}`, { input });
    expect(code, err).to.equal(0);
    return Number(/at index (\d+)/.exec(err)?.[1]);
  };
  const role = (text: string): string =>
    `Type: role\nObject:\n  Name: web\n  Description: ${text}\n`;
  before(async () => {
    cluster = await RealCluster.open(1);
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]!, CONCLAVE_HTTP_TOKEN: cluster.token };
  });
  after(async () => {
    await cluster.close();
    user.leave();
    rmSync(folder, { recursive: true });
  });

  it('are applied as they are planned, whatever their order', async () => {
    write('objects/a.yaml', 'Type: role\nObject: {Name: ops, Policies: [{Name: ops}]}\n');
    write(
      'objects/b.json',
      '// rules\n' +
        '{"Type": "policy", "Object": {"Name": "ops",\n' +
        '"Rules": "key_prefix \\"\\" { policy = \\"read\\" }"}}',
    );
    write(
      'objects/c.yaml',
      'Assert:\n- Subject: {Role: ops}\n  Resource: key\n  Access: read\n' +
        '  Segment: x\n  Expect: allow\n',
    );
    const args = `-f ${join(folder, 'objects')} --owner ops --prune`;
    expect((await run(`plan ${args} --exit-code`)).code).to.equal(3);
    const out = await done(`apply ${args} --yes`);
    expect(out)
      .to.include('✓ key:read')
      .and.match(/created policy\/default\/ops\ncreated role\/default\/ops\n$/);
    expect((await run(`plan ${args} --exit-code`)).code).to.equal(0);
    rmSync(join(folder, 'objects/a.yaml'));
    rmSync(join(folder, 'objects/c.yaml'));
    expect(await done(`diff ${args}`)).to.equal('- role/default/ops\n');
  });

  it('are refused with the place of what is wrong', async () => {
    const bad = write(
      'bad.yaml',
      'Type: policy\nObject:\n  Name: bad\n  Rules: |\n    acl = "raed"\n',
    );
    const planned = await run(`plan -f ${bad}`);
    expect(planned.code).to.equal(1);
    expect(planned.out).to.include(`${bad}:4:10: policy/default/bad: `).and.include('"read"');
    const refused = await run(`apply -f ${bad} --yes`);
    expect(refused.code).to.equal(1);
    const unknown = write('unknown.yaml', 'Type: role\nObject:\n  Name: x\n  Polcies: []\n');
    expect(
      (await run(`plan -f ${unknown}`)).out + (await run(`plan -f ${unknown}`)).err,
    ).to.include(`${unknown}:4:`);
    const failing =
      'Assert: [{Name: never, Subject: {Anonymous: true}, Resource: acl, ' +
      'Access: write, Expect: allow}]';
    const judged = await run('plan -f -', { input: failing });
    expect(judged.code).to.equal(1);
    expect(judged.out).to.include('✗ never: acl:write is denied').and.include('-:1:10');
  });

  it('take nothing that has another owner, or none when they prune', async () => {
    await applied(role('of pay'));
    const other = await run('plan -f - --owner other', { input: role('of other') });
    expect(other.out).to.include(': role/default/web belongs to "pay"');
    expect(other.out).not.to.include('role/default/web: role/default/web');
    const taken = await done('plan -f - --owner other --take-over', { input: role('of other') });
    expect(taken).to.include('~ role/default/web  owner: pay → other');
    await cluster.must('PUT /acl/role', { Name: 'nobodys' });
    const nobodys = 'Type: role\nObject: {Name: nobodys}\n';
    const pruned = await run('plan -f - --owner other --prune', { input: nobodys });
    expect(pruned.out).to.include('(unowned)');
  });

  it('write nothing if somebody else has written since the plan', async () => {
    await applied(role('one'));
    const asked = await run('apply -f - --owner pay', { input: role('two'), answers: ['n'] });
    expect(asked.err).to.include('nothing was changed');
    const { ID } = await cluster.must('GET /acl/role/name/web');
    const stale = 'Expected: {role/default/web: 1}\nObjects: [{Type: role, Object: {Name: web}}]\n';
    const { code, err, out } = await run('apply -f - --yes --owner pay', { input: stale });
    expect(code).to.equal(1);
    expect(out + err).to.include('-:1:');
    expect(await cluster.must(`GET /acl/role/${ID}`)).to.include({ Description: 'one' });
  });

  it('are exported to files that change nothing and are the same again', async () => {
    const exported = join(folder, 'exported');
    await done(`export --namespace * --folder ${exported}`);
    expect(existsSync(join(exported, 'role/default/web.yaml'))).to.equal(true);
    const planned = await run(`plan -f ${exported} --exit-code`);
    expect(planned.code, planned.out).to.equal(0);
    const again = await run(`export --namespace * --folder ${exported}`);
    expect(again.err).to.match(/: 0 files written to .*, \d+ unchanged\n$/);
    const set = await done('export --owner pay');
    expect(set).to.include('Name: web').and.not.include('nobodys');
    expect((await run('plan -f - --owner pay --prune --exit-code', { input: set })).code).to.equal(
      0,
    );
  });

  it('have a history, and go back', async () => {
    const first = await applied(role('first'), ' --reason one');
    const second = await applied(role('second'), ' --reason two');
    const shown = await done('history role web --limit 2');
    expect(shown).to.match(new RegExp(`\n${second} .* two\n${first} .* one\n$`));
    const diff = await done(`history diff role/web --from ${first} --to ${second}`);
    expect(diff).to.equal('~ Description  "first" → "second"\n');
    expect(await done(`history feed --after ${first}`)).to.include('role/default/web');
    const undone = await done(`undo ${second} --yes`);
    expect(undone)
      .to.include('~ Description  "second" → "first"')
      .and.include('updated role/default/web');
    expect((await run(`undo ${second} --yes`)).err).to.include('nothing to change');
    const before = await run(`rollback role web --to ${first - 1} --yes`);
    expect(before.out + before.err).to.include('role/default/web');
    const back = await done(`rollback role web --to ${second} --yes`);
    expect(back).to.include('~ Description  "one" → "second"');
    const known = await user.json<Versions>(['history', 'role', 'web']);
    const born = known.Versions!.at(-1)!.Index;
    const young = await run(`rollback role web --to ${born - 1} --yes`);
    expect(young.code).to.equal(1);
    expect(young.err).to.include('role "web" did not exist at index').and.include('--delete');
    await done('acl role delete web');
    const restored = await done(`rollback role web --to ${first} --yes`);
    expect(restored).to.include('created role/default/web');
    const owned = await done(`rollback --owner pay --to ${second} --dry-run`);
    expect(owned).to.include('Plan: ');
  });

  it('go back where they live: a namespace, and what is of the whole cluster', async () => {
    const index = async (): Promise<number> =>
      (await user.json<{ Index: number }>(['history', 'feed', '--limit', '1'])).Index;
    await cluster.must('PUT /namespace', { Name: 'team-a', Description: 'first' });
    const born = await index();
    await cluster.must('PUT /config', { Kind: 'mesh', Meta: { state: 'first' } });
    const then = await index();
    await cluster.must('PUT /namespace', { Name: 'team-a', Description: 'second' });
    await cluster.must('PUT /config', { Kind: 'mesh', Meta: { state: 'second' } });
    const back = await done(`rollback namespace team-a --to ${then} --yes --delete`);
    expect(back).to.include('~ Description  "second" → "first"').and.not.include('deleted');
    const mesh = `rollback config mesh/mesh --namespace team-a --to ${then} --yes --delete`;
    expect(await done(mesh)).to.include('updated config/default/mesh/mesh');
    const young = await run(`rollback namespace team-a --to ${born - 1} --yes`);
    expect(young.err).to.include('namespace "team-a" did not exist at index');
    const made = `rollback policy namespace-management --namespace team-a --to ${then} --yes`;
    expect((await run(`${made} --delete`)).err).to.include('existed at index');
  });

  it('show who uses an object, and what held at an earlier moment', async () => {
    expect(await done('refs policy ops')).to.match(/If deleted +unlinked: 1 role\n/);
    const index = (await user.json<{ Index: number }>(['history', 'feed', '--limit', '1'])).Index;
    await cluster.must('PUT /acl/policy', { Name: 'later', Rules: '' });
    expect(await done(`acl explain acl:write --at ${index}`)).to.match(/^At index \d+ \(/);
    expect(await done(`acl who-can acl:write --at ${index}`)).to.match(/^At index \d+ \(/);
    expect(await done(`acl whoami --at ${index}`)).to.match(/^At index \d+ \(/);
    // The oldest moment that a refusal names can be asked for.
    const early = await run('export --at 1');
    const [, oldest = ''] = /the oldest moment that is known is index (\d+)/.exec(early.err) ?? [];
    expect((await run(`export --at ${oldest}`)).code, early.err).to.equal(0);
    const ahead = await run('acl whoami --at 999999999');
    expect(ahead.err).to.include('Invalid parameter "at"');
  });

  it('larger than an entry are applied in parts', async () => {
    const set = write('many.json', JSON.stringify({ Objects: policies(502), Prune: true }));
    const args = `-f ${set} --owner many`;
    const whole = await run(`apply ${args} --yes`);
    expect(whole.code).to.equal(1);
    expect(whole.err).to.include('conclave apply --in-parts');
    const ran = await run(`apply ${args} --yes --in-parts`);
    expect(ran.code, ran.err).to.equal(0);
    expect(ran.err).to.include('This set needs 2 entries: it is not applied all at once');
    expect(ran.out).to.match(/part 1 of 2: 500 .*\npart 2 of 2: 2 .*\n$/);
    expect((await run(`plan ${args} --exit-code`)).code).to.equal(0);
    const few = JSON.stringify({ Objects: policies(1), Prune: true });
    const pruned = await run('apply -f - --owner many --yes --in-parts', { input: few });
    expect(pruned.code, pruned.err).to.equal(0);
    expect(pruned.out).to.include('part 2 of 2: 1 ');
    expect((await run('plan -f - --owner many --exit-code', { input: few })).code).to.equal(0);
  });

  it('edits an entry under the version that was read', async () => {
    await cluster.must('PUT /config', { Kind: 'service-defaults', Name: 'web', Protocol: 'http' });
    const env = { EDITOR: 'sed -i s/http/htpt/' };
    const args = 'config edit service-defaults/web';
    const wrong = await run(`${args} --yes`, { env });
    expect(wrong.code).to.equal(1);
    expect(wrong.err).to.include('Protocol');
    const kept = /your edits are kept in (\S+)/.exec(wrong.err)![1]!;
    expect(readFileSync(kept, 'utf8')).to.include('htpt');
  });
});
