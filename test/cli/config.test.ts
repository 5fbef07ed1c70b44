import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type EntryOptions, refOf, whichEntry } from '../../src/cli/commands/entries.js';
import { RealCluster } from '../support/real-cluster.js';
import { json, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import { User } from './harness.js';

describe('which entry is meant', () => {
  const cases: readonly (readonly [
    string | undefined,
    string | undefined,
    EntryOptions,
    string,
  ])[] = [
    ['service-defaults/a/b', undefined, {}, 'service-defaults a/b'],
    ['service-defaults', 'a/b', {}, 'service-defaults a/b'],
    [undefined, undefined, { kind: 'mesh', name: 'mesh' }, 'mesh mesh'],
    ['web', undefined, { kind: 'service-router' }, 'service-router web'],
  ];
  for (const [first, second, options, expected] of cases)
    it(`finds ${expected}`, () => {
      const { kind, name } = whichEntry(first, second, options);
      expect(`${kind} ${name}`).to.equal(expected);
    });

  it('refuses half of a name', () => {
    expect(() => whichEntry('mesh', undefined, {})).to.throw('name the entry');
    expect(() => whichEntry(undefined, undefined, { name: 'x' })).to.throw('name the entry');
  });

  it('makes Refs of both spellings of members', () => {
    expect(refOf(undefined, { Kind: 'mesh' })).to.equal('config/mesh/mesh');
    expect(refOf('team', { kind: 'service-router', name: 'web' })).to.equal(
      'config/team/service-router/web',
    );
  });
});

describe('config entries by the command line', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const user = new User();
  let cluster: RealCluster;
  const file = (name: string, content: string): string => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  const protocolOf = async (name: string): Promise<unknown> =>
    (await user.json(['config', 'read', `service-defaults/${name}`]))['Protocol'];

  before(async () => {
    cluster = await RealCluster.open(1);
    user.env = { CONSUL_HTTP_ADDR: cluster.urls[0]!, CONSUL_HTTP_TOKEN: cluster.token };
  });
  after(async () => {
    await cluster.close();
    user.leave();
    rmSync(dir, { recursive: true, force: true });
  });

  it('writes JSON and YAML, several documents too, and lists them', async () => {
    const yaml = 'kind: service-defaults\nname: web\nprotocol: http\n---\nKind: mesh\n';
    expect(await user.done(['config', 'write', file('a.yaml', yaml)])).to.equal(
      'wrote config/service-defaults/web\nwrote config/mesh/mesh\n',
    );
    const input = '{"Kind": "service-defaults", "Name": "api", "Protocol": "grpc"}';
    await user.done(['config', 'write', '-'], { input });
    expect(await user.done(['config', 'list', '-o', 'name'])).to.equal(
      'config/default/mesh/mesh\nconfig/default/service-defaults/api\n' +
        'config/default/service-defaults/web\n',
    );
    const only = ['config', 'list', '-kind', 'service-defaults', '-filter', 'Protocol == "http"'];
    expect(await user.done(only)).to.match(/^KIND.*\nservice-defaults +web +default +\d+\n$/);
    expect(JSON.parse(await user.done(['config', 'read', 'service-defaults', 'api']))).to.include({
      Kind: 'service-defaults',
      Protocol: 'grpc',
    });
  });

  it('writes and deletes only the version that is named', async () => {
    const input = '{"Kind":"service-defaults","Name":"cas","Protocol":"tcp"}';
    const write = ['config', 'write', '-cas', '-modify-index'];
    await user.done([...write, '0', '-'], { input });
    const again = await user.run([...write, '0', '-'], { input });
    expect(again).to.include({ code: 1, out: '' });
    expect(again.err).to.include('config/service-defaults/cas was not written');
    expect(await user.run(['config', 'write', '-cas', '-'], { input })).to.include({ code: 2 });
    const remove = ['config', 'delete', '-kind', 'service-defaults', '-name', 'cas'];
    expect(await user.run([...remove, '-cas', '-modify-index', '1'])).to.include({ code: 1 });
    expect(await user.done(['config', 'delete', '-filename', '-'], { input })).to.equal(
      'deleted config/service-defaults/cas\n',
    );
  });

  it('says where a file is wrong, and that HCL is not read', async () => {
    const broken = await user.run(['config', 'write', file('b.yaml', 'Kind: mesh\nKind: mesh\n')]);
    expect(broken.code).to.equal(1);
    expect(broken.err).to.match(/^conclave: .*b\.yaml:2:1: "Kind" appears twice\n$/);
    const hcl = await user.run(['config', 'write', file('c.hcl', 'Kind = "mesh"')]);
    expect(hcl).to.include({ code: 2 });
    expect(hcl.err).to.include('HCL is not supported');
    const unknown = { input: '{"Kind":"service-defaults","Name":"x","Protocl":"http"}' };
    const refused = await user.run(['config', 'write', '-'], unknown);
    expect(refused.err).to.include('(invalid)\n  did you mean "Protocol"?');
  });

  it('edits an entry, shows the difference, and writes it', async () => {
    const args = ['config', 'edit', 'service-defaults/web'];
    const env = { EDITOR: 'sed -i s/http/http2/' };
    const asked = await user.run(args, { env, answers: ['no'] });
    expect(asked.code).to.equal(1);
    expect(asked.out).to.include('- Protocol: http\n+ Protocol: http2\n');
    const kept = /your edits are kept in (\S+)/.exec(asked.err)![1]!;
    expect(readFileSync(kept, 'utf8')).to.include('Protocol: http2');
    expect(await protocolOf('web')).to.equal('http');
    const edited = await user.run([...args, '--yes'], { env });
    expect(edited.out).to.match(/wrote config\/default\/service-defaults\/web\n$/);
    expect(await protocolOf('web')).to.equal('http2');
    const same = await user.run([...args, '--yes'], { env: { EDITOR: 'true' } });
    expect(same).to.include({ code: 0, err: 'conclave: nothing was changed\n' });
    expect(await user.run(args, { env })).to.include({ code: 2 });
    expect((await user.run([...args, '--yes'], { env: { EDITOR: 'false' } })).code).to.equal(1);
  });

  it('lets a refused text be edited again', async () => {
    const script = file(
      'edit.sh',
      'grep -q bogus "$1" && sed -i /bogus/d "$1" || echo bogus: 1 >> "$1"',
    );
    const env = { EDITOR: `sh ${script}` };
    const { code, err } = await user.run(['config', 'edit', 'mesh', 'mesh'], {
      env,
      answers: ['yes'],
    });
    expect(code).to.equal(0);
    expect(err).to.include('bogus').and.include('edit it again? [Y/n] ');
    expect(err).to.include('nothing was changed');
  });

  it('does not overwrite what somebody else wrote meanwhile', async () => {
    const other = file('other.mjs', '');
    writeFileSync(
      other,
      `await fetch('${cluster.urls[0]}/v1/config', { method: 'PUT',
        headers: { 'X-Consul-Token': '${cluster.token}' },
        body: '{"Kind":"service-defaults","Name":"web","Protocol":"tcp"}' });`,
    );
    const env = { EDITOR: `node ${other}; sed -i s/http2/grpc/` };
    const args = ['config', 'edit', 'service-defaults/web', '--yes'];
    const { code, err } = await user.run(args, { env });
    expect(code).to.equal(1);
    expect(err).to.include('the entry has changed since it was read (conflict)');
    const kept = /your edits are kept in (\S+)/.exec(err)![1]!;
    expect(existsSync(kept)).to.equal(true);
    expect(await protocolOf('web')).to.equal('tcp');
  });

  it('shows the schema of a kind, and judges entries by it', async () => {
    const schema = await user.json<{ $id: string }>(['config', 'schema', 'service-defaults']);
    expect(schema.$id).to.equal('/v1/schema/config/service-defaults');
    const path = file('judged.yaml', 'Kind: mesh\n---\nkind: mesh\nTLS: { Incomin: {} }\n');
    const { code, out, err } = await user.run(['config', 'validate', path]);
    expect([code, err]).to.deep.equal([1, '']);
    expect(out).to.match(
      /:4:17: \/TLS\/Incomin: unknown field "Incomin"; did you mean "Incoming"\?\n$/,
    );
    const unknown = await user.run(['config', 'schema', 'mush']);
    expect(unknown.err).to.include('There is no schema "mush"; did you mean "mesh"?');
  });

  it('judges entries by the rules between them, of files and of the server', async () => {
    const splitter = 'Kind: service-splitter\nName: judged\nSplits:\n- { Weight: 100 }\n';
    const path = file('splitter.yaml', splitter);
    const { code, out } = await user.run(['config', 'validate', path]);
    expect(code).to.equal(1);
    expect(out).to.match(/splitter\.yaml:\d+:\d+: .*"tcp" that does not permit advanced routing/);
    const offline = await user.run(['config', 'validate', path, '--offline']);
    expect(offline).to.include({ code: 0, err: 'conclave: 1 valid\n' });
    const defaults = 'Kind: service-defaults\nName: judged\nProtocol: http\n';
    const both = file('both.yaml', `${splitter}---\n${defaults}`);
    expect(await user.run(['config', 'validate', both])).to.include({ code: 0, out: '' });
  });

  it('draws the chain of a service', async () => {
    const entry = {
      Kind: 'service-resolver',
      Name: 'drawn',
      Subsets: { v1: { Filter: 'Service.Meta.v == 1' } },
      DefaultSubset: 'v1',
    };
    await user.done(['config', 'write', '-'], { input: JSON.stringify(entry) });
    expect(await user.done(['config', 'chain', 'drawn'])).to.match(
      /^drawn \(tcp\)\n└─ resolver \S+: drawn, subset v1 \(Service\.Meta\.v == 1\)\n$/,
    );
    const chain = await user.json<{ Chain: object }>(['config', 'chain', 'drawn']);
    expect(chain.Chain).to.include({ ServiceName: 'drawn' });
    await user.done(['config', 'delete', 'service-resolver/drawn']);
  });

  it('manages namespaces, and works in one', async () => {
    await user.done(['acl', 'policy', 'create', '-name', 'base']);
    const made = ['namespace', 'create', '-name', 'team', '-description', 'ours', '-meta', 'a=b'];
    await user.done([...made, '-default-policy-name', 'base']);
    await user.done(['namespace', 'update', '-name', 'team', '-meta', 'c=d']);
    const team = await user.json<{ Meta: object; ACLs: { PolicyDefaults: unknown[] } }>([
      ...['namespace', 'read', 'team'],
    ]);
    expect(team.Meta).to.deep.equal({ a: 'b', c: 'd' });
    expect(team.ACLs.PolicyDefaults).to.have.length(1);
    const input = 'Name: team\nDescription: written\n';
    expect(await user.done(['namespace', 'write', '-'], { input })).to.include('written');
    expect(await user.done(['namespace', 'list', '-o', 'name'])).to.equal(
      'namespace/default\nnamespace/team\n',
    );
    const entry = { input: '{"Kind":"service-defaults","Name":"x","Protocol":"http"}' };
    const wrote = await user.done(['config', 'write', '-namespace', 'team', '-'], entry);
    expect(wrote).to.equal('wrote config/team/service-defaults/x\n');
    await user.done(['acl', 'role', 'create', '-name', 'r', '-namespace', 'team']);
    const all = await user.done(['acl', 'role', 'list', '-namespace', '*']);
    expect(all)
      .to.match(/^NAMESPACE +NAME/)
      .and.to.match(/^team +r /m);
    await user.done(['config', 'delete', 'service-defaults/x', '-namespace=team']);
    await user.done(['namespace', 'delete', 'team']);
  });
});

describe('config validate', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const { user, fake } = fakeStage();
  const path = join(dir, 'a.yaml');
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      Kind: { const: 'service-defaults' },
      Name: { type: 'string' },
      Protocol: { type: 'string' },
    },
    required: ['Kind', 'Name'],
    additionalProperties: false,
  };
  after(() => {
    rmSync(dir, { recursive: true, force: true });
  });

  it('tells the place of each failure by the schema of the server', async () => {
    const address = await fake.serve(json(schema));
    writeFileSync(path, 'Kind: service-defaults\nName: web\nProtocl: http\n---\nName: x\n');
    const args = ['config', 'validate', path, '--http-addr', address];
    expect(await user.run(args)).to.deep.equal({
      code: 1,
      out:
        `${path}:3:10: /Protocl: unknown field "Protocl"; did you mean "Protocol"?\n` +
        `${path}:5:1: /Kind: Kind is missing\n`,
      err: '',
    });
    expect(fake.seen[0]!.url).to.equal('/v1/schema/config/service-defaults');
    writeFileSync(path, '{"Kind":"service-defaults",\n "Name": 7}');
    expect((await user.run(args)).out).to.equal(`${path}:2:10: /Name: must be string\n`);
    writeFileSync(path, 'Kind: service-defaults\nName: web\n');
    expect(await user.run(args)).to.include({ code: 0, err: 'conclave: 1 valid\n' });
  });

  it('is not needed for a write, which sends JSON as it is written', async () => {
    const address = await fake.serve(json(true));
    const input = '{"Kind": "mesh",  "Meta": {"b": "1", "a": "2"}}\n';
    await user.done(['config', 'write', '-', '--http-addr', address], { input });
    expect(fake.seen.at(-1)).to.include({ method: 'PUT', url: '/v1/config', body: input });
  });

  it('takes its own schemas where the server gives none, or is not asked', async () => {
    const address = await fake.serve(text(404, 'Invalid URL path: not an endpoint'));
    writeFileSync(path, 'Kind: mesh\n');
    const { code, err } = await user.run(['config', 'validate', path, '--http-addr', address]);
    expect(code).to.equal(0);
    expect(err).to.include(
      'the server has no schema for mesh: using the one built into this program',
    );
    fake.forget();
    writeFileSync(path, 'kind: service-defaults\nProtocol: htp\nMutualTLSMode: stict\n');
    const offline = ['config', 'validate', path, '--offline', '--http-addr', address];
    expect(await user.run(offline)).to.deep.equal({
      code: 1,
      out:
        `${path}:1:1: must have required property 'Name'\n` +
        `${path}:2:11: /Protocol: must be one of "tcp", "http", "http2", "grpc"\n` +
        `${path}:3:16: /MutualTLSMode: must be one of "strict", "permissive"\n`,
      err: '',
    });
    writeFileSync(
      path,
      'Kind: service-intentions\nName: web\nSources:\n- {Name: a}\n- Name: b\n  permissions:\n' +
        '  - {Action: deny, HTTP: {Methods: [get, GET], PathExact: /, path_prefix: /}}\n',
    );
    const http = '/Sources/1/permissions/0/HTTP';
    expect((await user.run(offline)).out.split('\n')).to.deep.equal([
      `${path}:4:3: /Sources/0: Exactly one of Action and Permissions is set`,
      `${path}:7:26: ${http}: At most one of PathExact, PathPrefix and PathRegex is set`,
      `${path}:7:36: ${http}/Methods: GET is there at most once`,
      '',
    ]);
    writeFileSync(path, 'Name: web\nkind: service-default\n');
    const unknown = await user.run(offline);
    expect([unknown.code, unknown.out]).to.deep.equal([
      1,
      `${path}:2:7: /kind: unknown kind "service-default"; did you mean "service-defaults"?\n`,
    ]);
    expect(fake.seen).to.deep.equal([]);
  });
});
