import { createPublicKey } from 'node:crypto';
import { expect } from 'chai';
import { SERVER_KEY } from '../login/certificates.js';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';
import { FakeServers, json, problem, text } from './fake-server.js';
import { User } from './harness.js';

/** Any public key does: nobody logs in. */
const CONFIG = JSON.stringify({
  JWTValidationPubKeys: [createPublicKey(SERVER_KEY).export({ type: 'spki', format: 'pem' })],
  ClaimMappings: { team: 'team' },
});

describe('changes by the command line that lose nothing', () => {
  const user = new User();
  const servers = new FakeServers();
  let cluster: RealCluster;

  before(async () => {
    cluster = await RealCluster.open(1);
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]!, CONCLAVE_HTTP_TOKEN: cluster.token };
  });
  after(async () => {
    servers.close();
    await cluster.close();
    user.leave();
  });

  it('create refuses a namespace that exists', async () => {
    await user.done(['acl', 'policy', 'create', '--name', 'nsdef']);
    const create = ['namespace', 'create', 'team-z'];
    await user.done([...create, '--default-policy-name', 'nsdef']);
    expect(await user.run(create)).to.deep.equal({
      code: 1,
      out: '',
      err:
        'conclave: the namespace "team-z" already exists (conflict)\n' +
        '  use conclave namespace update to change it, or write to replace it\n',
    });
    const { ACLs } = await user.json<{ ACLs: { PolicyDefaults: { Name: string }[] } }>([
      ...['namespace', 'read', 'team-z'],
    ]);
    expect(ACLs.PolicyDefaults.map(({ Name }) => Name)).to.deep.equal(['nsdef']);
  });

  it('create refuses an auth method that exists', async () => {
    const create = ['acl', 'auth-method', 'create', 'ci', '--type', 'jwt', '--config', '-'];
    const rule = ['--namespace-rule-selector', 'value.team == a'];
    const bind = ['--namespace-rule-bind-namespace', 'team-z'];
    await user.done([...create, ...rule, ...bind], { input: CONFIG });
    const again = await user.run(create, { input: CONFIG });
    expect([again.code, again.err]).to.deep.equal([
      1,
      'conclave: the auth method "ci" already exists (conflict)\n' +
        '  use conclave acl auth-method update to change it\n',
    ]);
    const { NamespaceRules } = await user.json<{ NamespaceRules: unknown[] }>([
      ...['acl', 'auth-method', 'read', 'ci'],
    ]);
    expect(NamespaceRules).to.have.length(1);
  });

  const METHOD = { Name: 'raced', Type: 'jwt', Description: 'theirs', Config: JSON.parse(CONFIG) };
  const races: readonly [args: string, path: string, theirs: object, said: string][] = [
    [
      'namespace create raced',
      '/v1/namespace',
      { Name: 'raced', Description: 'theirs' },
      'conclave: the namespace "raced" already exists (conflict)\n' +
        '  use conclave namespace update to change it, or write to replace it\n',
    ],
    [
      'acl auth-method create raced --type jwt --config -',
      '/v1/acl/auth-method',
      METHOD,
      'conclave: the auth method "raced" already exists (conflict)\n' +
        '  use conclave acl auth-method update to change it\n',
    ],
  ];
  for (const [args, path, theirs, said] of races) {
    it(`replaces nothing that came after its read: ${args}`, async () => {
      const { urls, token } = cluster;
      const put = async (body: string, headers: Record<string, string> = {}) =>
        send(urls[0]!, `PUT ${path}`, { token, headers, body });
      // Somebody else is faster than each write that passes this server.
      const front = await servers.serve(async (_request, response) => {
        const { method, url, headers, body } = servers.seen.at(-1)!;
        if (method === 'PUT') expect((await put(JSON.stringify(theirs))).status).to.equal(200);
        const none = headers['if-none-match'] as string | undefined;
        const { status, text } = await (method === 'PUT'
          ? put(body, { accept: 'application/json', ...(none && { 'if-none-match': none }) })
          : send(urls[0]!, `${method} ${url}`, { token }));
        response.writeHead(status, { 'Content-Type': 'application/problem+json' }).end(text);
      });
      const env = { CONCLAVE_HTTP_ADDR: front };
      expect(await user.run(args.split(' '), { env, input: CONFIG })).to.deep.equal({
        code: 1,
        out: '',
        err: said,
      });
      const stored = await send(urls[0]!, `GET ${path}/raced`, { token });
      expect(JSON.parse(stored.text)).to.include({ Description: 'theirs' });
    });
  }

  it('create does without the condition below the level that knows it', async () => {
    const detail = 'This needs level 3, the cluster is at level 2: n3 runs a release without it';
    const below = problem(
      503,
      { code: 'unavailable', about: 'level', detail },
      { 'Retry-After': '1' },
    );
    const url = await servers.serve(text(404, 'Not found'), below, json({ Name: 'team-y' }));
    servers.forget();
    const env = { CONCLAVE_HTTP_ADDR: url };
    await user.done(['namespace', 'create', 'team-y'], { env });
    const asked = servers.seen.map(({ method, headers }) => [method, headers['if-none-match']]);
    expect(asked).to.deep.equal([
      ['GET', undefined],
      ['PUT', '*'],
      ['PUT', undefined],
    ]);
  });

  it('create says that a namespace is being deleted', async () => {
    const url = await servers.serve(json({ Name: 'team-y', DeletedAt: '2026-01-01T00:00:00Z' }));
    const env = { CONCLAVE_HTTP_ADDR: url };
    const { code, err } = await user.run(['namespace', 'create', 'team-y'], { env });
    const said = 'conclave: the namespace "team-y" is being deleted (conflict)\n';
    expect([code, err]).to.deep.equal([1, said]);
  });

  it('an update that adds keeps the identity that is valid everywhere', async () => {
    const role = ['acl', 'role'];
    await user.done([...role, 'create', '--name', 'wide', '--service-identity', 'web']);
    const args = [...role, 'update', 'wide', '--service-identity', 'web:dc2'];
    const { code, err } = await user.run(args);
    expect([code, err]).to.deep.equal([
      0,
      'conclave: service web:dc2 is not added: it is already present without datacenters\n',
    ]);
    const identities = async (path: readonly string[]): Promise<unknown> =>
      (await user.json(path))['ServiceIdentities'];
    const web = [{ ServiceName: 'web' }];
    expect(await identities([...role, 'read', 'wide'])).to.deep.equal(web);
    const { AccessorID } = await user.json<{ AccessorID: string }>([
      ...['acl', 'token', 'create', '--service-identity', 'web:dc1'],
    ]);
    const update = ['acl', 'token', 'update', AccessorID, '--append-service-identity'];
    await user.done([...update, 'web']);
    expect(await identities(['acl', 'token', 'read', AccessorID])).to.deep.equal(web);
  });

  it('a rule is checked as the options would change it', async () => {
    const { ID } = await user.json<{ ID: string }>([
      ...['acl', 'binding-rule', 'create', '--method', 'ci', '--bind-type', 'service'],
      ...['--bind-name', 'web', '--selector', 'value.team == a'],
    ]);
    const lint = ['acl', 'binding-rule', 'lint', ID];
    expect(await user.run(lint)).to.include({ code: 0, err: 'conclave: no problems found\n' });
    const broken = await user.run([...lint, '--selector', 'value.nope ==']);
    expect(broken.code).to.equal(1);
    expect(broken.out).to.match(new RegExp(`^${ID}:Selector:.*: error `));
    const { out } = await user.run([...lint, '--bind-type', 'role', '--bind-name', 'nobody']);
    // The auth method and the selector are those of the stored rule.
    expect(out).to.include('missing_target').and.not.include('AuthMethod');
  });

  it('a delete counts what links to a policy', async () => {
    await user.done(['acl', 'policy', 'create', '--name', 'shared']);
    await user.done(['acl', 'role', 'create', '--name', 'r', '--policy-name', 'shared']);
    await user.done(['acl', 'token', 'create', '--policy-name', 'shared']);
    await user.done(['namespace', 'update', 'team-z', '--default-policy-name', 'shared']);
    expect(await user.run(['acl', 'policy', 'delete', 'shared'])).to.deep.equal({
      code: 0,
      out: 'deleted policy/default/shared\n',
      err: 'conclave: 1 role, 1 token and 1 namespace linked to it\n',
    });
    const entry = { input: 'Kind: service-defaults\nName: x\n' };
    await user.done(['config', 'write', '--namespace', 'team-z', '-'], entry);
    expect((await user.run(['namespace', 'delete', 'team-z'])).err).to.equal(
      'conclave: 1 entry went with it\n',
    );
  });

  it('an empty list says that its namespace may not exist', async () => {
    const note = 'the namespace "nope" does not exist, or this token has no right in it';
    for (const list of [
      ['config', 'list', 'mesh'],
      ['config', 'list'],
      ['acl', 'token', 'list'],
    ]) {
      const { code, err } = await user.run([...list, '--namespace', 'nope']);
      expect([code, err]).to.deep.equal([0, `conclave: none found\nconclave: ${note}\n`]);
    }
    const json = await user.run(['acl', 'role', 'list', '--namespace', 'nope', '-o', 'json']);
    expect(json).to.deep.equal({ code: 0, out: '[]\n', err: `conclave: ${note}\n` });
    await user.done(['namespace', 'create', 'bare']);
    const bare = await user.run(['config', 'list', 'mesh', '--namespace', 'bare']);
    expect(bare.err).to.equal('conclave: none found\n');
  });

  it('a watch waits for a token, and tells when it is deleted', async () => {
    const id = '11111111-2222-4333-8444-555555555555';
    let step: Promise<unknown> = Promise.resolve();
    const { code, out, err } = await user.run(
      ['watch', `token/${id}`, '--changes', '2', '-o', 'json'],
      {
        onErr: (text) => {
          if (text.includes('none yet'))
            step = user.done(['acl', 'token', 'create', '--accessor', id, '--description', 'x']);
        },
        onOut: (text) => {
          if (text.includes('created')) step = user.done(['acl', 'token', 'delete', id]);
        },
      },
    );
    await step;
    expect(code, err).to.equal(0);
    const events = out.trim().split('\n');
    expect(
      events.map((line) => {
        const { Change, Ref, Value } = JSON.parse(line);
        return [Change, Ref, Value.Description, Value.SecretID];
      }),
    ).to.deep.equal([
      ['created', `token/${id}`, 'x', '<hidden>'],
      ['deleted', `token/${id}`, 'x', '<hidden>'],
    ]);
    expect((await user.run(['watch', 'token/ci'])).code).to.equal(2);
  });

  it('a delete of a missing entry changes nothing, and says so', async () => {
    expect(await user.run(['config', 'delete', 'service-router/none'])).to.deep.equal({
      code: 0,
      out: '',
      err: 'conclave: nothing to delete: config/service-router/none does not exist\n',
    });
  });
});
