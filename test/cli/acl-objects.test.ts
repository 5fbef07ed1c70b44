import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { RealCluster } from '../support/real-cluster.js';
import { User } from './harness.js';

describe('policies, roles and tokens by the command line', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const user = new User();
  let cluster: RealCluster;

  before(async () => {
    cluster = await RealCluster.open(1, { token: '' });
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]! };
  });
  after(async () => {
    await cluster.close();
    user.leave();
    rmSync(dir, { recursive: true, force: true });
  });

  it('bootstraps into a file, and says how to do it again', async () => {
    const file = join(dir, 'admin.token');
    const first = await user.run(['acl', 'bootstrap', '-token-sink-file', file]);
    expect(first).to.include({ code: 0, err: `conclave: the SecretID is in ${file}\n` });
    const secret = readFileSync(file, 'utf8').trim();
    expect(first.out).to.include('global-management').and.not.include(secret);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const again = await user.run(['acl', 'bootstrap']);
    expect(again.code).to.equal(1);
    expect(again.err).to.match(
      /pass the data folder of the node to --reset, or write \d+ to acl-boot/,
    );
    const none = join(dir, 'none');
    const missed = await user.run(['acl', 'bootstrap', '--reset', none]);
    expect([missed.code, missed.err]).to.deep.equal([
      2,
      `conclave: --reset: ${none} is not the data folder of a node\n`,
    ]);
    expect(existsSync(none)).to.equal(false);
    const reset = await user.json<{ SecretID: string }>([
      ...['acl', 'bootstrap', '--reset', cluster.nodes[0]!.entry.dataDir],
    ]);
    user.env['CONCLAVE_HTTP_TOKEN'] = reset.SecretID;
    expect(await user.done(['acl', 'token', 'read', '--self'])).to.include('global-management');
  });

  it('lists objects in an order, page by page, and what a search finds', async () => {
    for (const name of ['page-b', 'page-a', 'page-c'])
      await user.done(['acl', 'role', 'create', '-name', name, '-description', `The ${name}`]);
    const list = ['acl', 'role', 'list', '--search', 'PAGE the', '--limit', '2', '-o', 'name'];
    const first = await user.run(list);
    expect(first.out).to.equal('role/default/page-a\nrole/default/page-b\n');
    const [, next] = /^conclave: 2 of 3 are listed; --after (\S+) lists the next\n$/.exec(
      first.err,
    )!;
    expect(await user.run([...list, '--after', next!])).to.include({
      out: 'role/default/page-c\n',
      err: '',
    });
    const newest = await user.run([...list, '--sort', '-created']);
    expect(newest.out).to.equal('role/default/page-c\nrole/default/page-a\n');
    const { code, err } = await user.run([...list, '--sort', 'age']);
    expect(code).to.equal(1);
    expect(err).to.include('"sort"').and.include('created');
    await user.done(['config', 'write', '-'], {
      input: '{"Kind":"service-defaults","Name":"page-web","Protocol":"http"}',
    });
    const entries = await user.run(['config', 'list', '--search', 'page-web', '-o', 'name']);
    expect(entries.out).to.equal('config/default/service-defaults/page-web\n');
    await user.done(['config', 'delete', 'service-defaults/page-web']);
  });

  it('creates, reads, changes and deletes a policy', async () => {
    const rules = 'service "web" {\n  policy = "write"\n}\n';
    const file = join(dir, 'ops.hcl');
    writeFileSync(file, rules);
    const made = await user.done(['acl', 'policy', 'create', '-name', 'ops', '-rules', `@${file}`]);
    expect(made)
      .to.match(/^Name +ops\nID +[0-9a-f-]{36}\n/)
      .and.include(`\n\n${rules}`);
    const policy = await user.json<{ ID: string; Rules: string }>([
      ...['acl', 'policy', 'read', 'OPS'],
    ]);
    expect(policy.Rules).to.equal(rules);
    const short = policy.ID.slice(0, 8);
    const args = ['acl', 'policy', 'update', '-id', short, '-description', 'for ops'];
    await user.done(args);
    const change = ['acl', 'policy', 'update', 'ops', '-name', 'operators', '-rules', '-'];
    await user.done(change, { input: 'acl = "read"' });
    expect(await user.json(['acl', 'policy', 'read', short])).to.include({
      ID: policy.ID,
      Name: 'operators',
      Description: 'for ops',
      Rules: 'acl = "read"',
    });
    const stale = ['--if-match', '1'];
    for (const args of [
      ['update', 'operators', '--description', 'y', ...stale],
      ['delete', 'operators', ...stale],
    ]) {
      const { code, err } = await user.run(['acl', 'policy', ...args]);
      expect(code).to.equal(1);
      expect(err).to.match(
        /^conclave: Precondition failed: policy "operators" has ModifyIndex \d+ \(precondition_/,
      );
    }
    await user.done(['acl', 'policy', 'update', 'operators', '--no-merge', '--description', 'x']);
    expect(await user.json(['acl', 'policy', 'read', 'operators'])).to.include({ Rules: '' });
    expect(await user.done(['acl', 'policy', 'list', '-o', 'name'])).to.include(
      'policy/default/operators\n',
    );
    const columns = await user.done(['acl', 'policy', 'list', '-meta'], { env: { NO_COLOR: '1' } });
    expect(columns).to.match(/^NAME +ID +DATACENTERS +DESCRIPTION +CREATED +MODIFIED\n/);
    expect(await user.done(['acl', 'policy', 'delete', 'operators'])).to.equal(
      'deleted policy/default/operators\n',
    );
    const gone = await user.run(['acl', 'policy', 'read', 'operators']);
    expect(gone).to.include({ code: 1 });
    expect(gone.err).to.match(/^conclave: there is no policy "operators" \(not_found\)/);
  });

  it('suggests a name, and refuses what it cannot read as one', async () => {
    const near = await user.run(['acl', 'policy', 'read', 'global-managment']);
    expect(near.err).to.include('did you mean "global-management"?');
    const none = await user.run(['acl', 'policy', 'read']);
    expect(none).to.include({ code: 2 });
    const both = await user.run(['acl', 'policy', 'read', 'a', '-id', 'b']);
    expect(both).to.include({ code: 2 });
    const prefix = await user.run(['acl', 'policy', 'read', '-id', '0000']);
    expect(prefix.err).to.include('"0000" is ambiguous: the IDs of 2 policies begin with it');
  });

  it('adds links to a role, and replaces them with --no-merge', async () => {
    await user.done(['acl', 'policy', 'create', '-name', 'p1']);
    await user.done(['acl', 'policy', 'create', '-name', 'p2']);
    await user.done([
      ...['acl', 'role', 'create', '-name', 'r1', '-policy-name', 'p1'],
      ...['-service-identity', 'web:dc1', '-node-identity', 'n1:dc1'],
      ...['-templated-policy', 'builtin/service', '-var', 'name:api'],
    ]);
    await user.done(['acl', 'role', 'update', 'r1', '-policy-name', 'p2', '-policy-name', 'p1']);
    const shown = await user.done(['acl', 'role', 'read', '-name', 'r1']);
    expect(shown).to.include('p1\n').and.include('p2\n').and.include('service web:dc1');
    expect(shown).to.include('node n1:dc1').and.include('builtin/service(name=api)');
    expect(await user.done(['acl', 'role', 'list'])).to.match(/^r1 .* p1, p2 .*service web:dc1/m);
    await user.done(['acl', 'role', 'update', 'r1', '--no-merge', '-policy-name', 'p2']);
    const role = await user.json<{ Policies: { Name: string }[] }>(['acl', 'role', 'read', 'r1']);
    expect(role.Policies.map(({ Name }) => Name)).to.deep.equal(['p2']);
    expect(role).not.to.have.property('ServiceIdentities');
  });

  it('shows the secret of a token only where it is made', async () => {
    const made = await user.json<{ AccessorID: string; SecretID: string }>([
      ...['acl', 'token', 'create', '-policy-name', 'p1', '-description', 'ci'],
      ...['-expires-ttl', '1h'],
    ]);
    const accessor = made.AccessorID;
    expect(made.SecretID).to.match(/^[0-9a-f-]{36}$/);
    await user.done(['acl', 'token', 'update', '-id', accessor, '-append-policy-name', 'p2']);
    const both = await user.done(['acl', 'token', 'read', accessor.slice(0, 8)]);
    expect(both).to.match(/Policies +p1\n +p2\n/);
    await user.done(['acl', 'token', 'update', accessor, '-policy-name', 'p2', '-role-name', 'r1']);
    const changed = await user.json<{ Policies: unknown[] }>(['acl', 'token', 'read', accessor]);
    expect(changed).to.include({ Description: 'ci', SecretID: '<hidden>' });
    expect(changed.Policies).to.have.length(1);
    const linked = ['acl', 'token', 'list', '-o', 'name', '--role', 'r1'];
    expect(await user.done(linked)).to.equal(`token/${accessor}\n`);
    const clone = await user.json<{ SecretID: string; AccessorID: string }>([
      ...['acl', 'token', 'clone', '-accessor-id', accessor, '-description', 'copy'],
    ]);
    expect(clone.SecretID).not.to.equal(made.SecretID);
    const texts = [
      await user.done(['acl', 'token', 'list']),
      await user.done(['acl', 'token', 'list', '-o', 'json']),
      await user.done(['acl', 'token', 'read', accessor, '-o', 'yaml']),
      await user.done(['acl', 'token', 'read', accessor, '--expanded']),
      await user.done(['acl', 'token', 'read', '--self'], {
        env: { CONCLAVE_HTTP_TOKEN: made.SecretID },
      }),
    ];
    for (const text of texts) expect(text).not.to.include(made.SecretID);
    const shown = await user.done(['acl', 'token', 'read', accessor, '--show-secret']);
    expect(shown).to.include(made.SecretID);
    const only = ['acl', 'token', 'list', '-o', 'name', '-filter', 'Description == "copy"'];
    expect(await user.done(only)).to.equal(`token/${clone.AccessorID}\n`);
    await user.done(['acl', 'token', 'delete', '-id', clone.AccessorID]);
    expect(await user.run(only)).to.include({ code: 0, out: '' });
  });

  it('gives a token the secret of a file, and refuses one in an argument', async () => {
    const input = '5ec2e700-aaaa-4222-8333-944455556666\n';
    const args = ['acl', 'token', 'create', '--secret-file', '-', '--description', 'given'];
    const made = await user.json<{ SecretID: string }>(args, { input });
    expect(made.SecretID).to.equal(input.trim());
    const refused = await user.run(['acl', 'token', 'create', '-secret', input.trim()]);
    expect(refused.code).to.equal(2);
    expect(refused.err).to.include('use --secret-file instead').and.not.include(input.trim());
  });

  it('tells what the server refuses with its code', async () => {
    const twice = await user.run(['acl', 'policy', 'create', '-name', 'p1']);
    expect(twice.code).to.equal(1);
    expect(twice.err).to.match(/already exists.*\(conflict\)/);
    const bad = await user.run(['acl', 'policy', 'create', '-name', 'bad', '-rules', 'x = 1']);
    expect(bad).to.include({ code: 1 });
    expect(bad.err).to.include('(invalid)');
    const denied = await user.run(['acl', 'policy', 'list'], { env: { CONCLAVE_HTTP_TOKEN: '' } });
    expect(denied.err).to.include("lacks permission 'acl:read'").and.include('(permission_denied');
  });

  it('prints again after each change until it is interrupted', async () => {
    const controller = new AbortController();
    const printed: string[] = [];
    let change: Promise<unknown> | undefined;
    const { code } = await user.run(['watch', 'role/r1', '-o', 'json'], {
      signal: controller.signal,
      onOut: (text) => {
        if (!text.startsWith('{')) return;
        printed.push((JSON.parse(text) as { Value: { Description: string } }).Value.Description);
        if (printed.length === 1)
          change = user.done(['acl', 'role', 'update', 'r1', '--description', 'changed']);
        else controller.abort();
      },
    });
    await change;
    expect(code).to.equal(130);
    expect(printed).to.deep.equal(['', 'changed']);
  });
});
