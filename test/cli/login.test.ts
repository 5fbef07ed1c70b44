import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Signer, signer } from '../login/signers.js';
import { RealCluster } from '../support/real-cluster.js';
import { User } from './harness.js';

describe('auth methods, binding rules and logins by the command line', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const admin = new User();
  const user = new User();
  const jwtFile = join(dir, 'ci.jwt');
  let cluster: RealCluster;
  let issuer: Signer;
  let ruleId = '';

  before(async () => {
    cluster = await RealCluster.open(1);
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]! };
    admin.env = { ...user.env, CONCLAVE_HTTP_TOKEN: cluster.token };
    issuer = await signer('ES256');
    const now = Math.floor(Date.now() / 1000);
    const claims = { iat: now - 10, nbf: now - 10, exp: now + 600, team: 'blue' };
    writeFileSync(jwtFile, `${await issuer.sign(claims)}\n`);
  });
  after(async () => {
    await cluster.close();
    user.leave();
    admin.leave();
    rmSync(dir, { recursive: true, force: true });
  });

  it('creates and changes an auth method', async () => {
    const config = join(dir, 'config.json');
    const Config = { JWTValidationPubKeys: [issuer.pem], ClaimMappings: { team: 'team' } };
    writeFileSync(config, JSON.stringify(Config));
    const create = ['acl', 'auth-method', 'create', '-name', 'ci', '-type', 'jwt'];
    const made = await admin.done([...create, '-config', `@${config}`, '-max-token-ttl', '1h']);
    expect(made)
      .to.match(/^Name +ci\nType +jwt\n/)
      .and.include('"ClaimMappings"');
    await admin.done(['acl', 'auth-method', 'update', '-name', 'ci', '-description', 'builds']);
    expect(await admin.json(['acl', 'auth-method', 'read', 'ci'])).to.deep.include({
      Description: 'builds',
      MaxTokenTTL: '1h0m0s',
      Config,
    });
    expect(await admin.done(['acl', 'auth-method', 'list'])).to.match(/^ci +jwt +1h0m0s/m);
    const jwt = ['acl', 'auth-method', 'update', 'ci', '-kubernetes-service-account-jwt', 'x'];
    expect(await admin.run(jwt)).to.include({ code: 2 });
  });

  it('creates and changes a binding rule', async () => {
    await admin.done(['acl', 'role', 'create', '-name', 'team-blue']);
    const rule = await admin.json<{ ID: string }>([
      ...['acl', 'binding-rule', 'create', '-method', 'ci', '-bind-type', 'role'],
      ...['-bind-name', 'team-${value.team}', '-selector', 'value.team == red'],
    ]);
    ruleId = rule.ID;
    const selector = ['-selector', '"team" in value and value.team == blue'];
    const change = ['acl', 'binding-rule', 'update', '-id', ruleId.slice(0, 8), ...selector];
    expect(await admin.done(change)).to.match(/Binds +role team-\$\{value\.team\}\n/);
    const list = ['acl', 'binding-rule', 'list', '-method', 'ci', '-o', 'name'];
    expect(await admin.done(list)).to.equal(`binding-rule/default/${ruleId}\n`);
    expect(await admin.done(['acl', 'binding-rule', 'read', ruleId])).to.include(selector[1]);
  });

  it('logs in, is known from then on, and logs out', async () => {
    const sink = join(user.home, '.config/conclave/token');
    const login = ['login', '-method', 'ci', '-bearer-token-file', jwtFile, '-meta', 'job=7'];
    const { code, out, err } = await user.run(login);
    expect(code).to.equal(0);
    expect(err).to.equal(`conclave: the token is in ${sink}\n`);
    expect(out)
      .to.match(/Roles +team-blue\n/)
      .and.not.include(readFileSync(sink, 'utf8').trim());
    expect(statSync(sink).mode & 0o777).to.equal(0o600);
    const self = await user.done(['acl', 'token', 'read', '-self']);
    expect(self).to.include('token created via login');
    expect(await user.run(['logout'])).to.include({ code: 0 });
    expect(existsSync(sink)).to.equal(false);
    expect(await user.run(['logout'])).to.include({ code: 2 });
  });

  it('puts the token of a login where the user wants it', async () => {
    const sink = join(dir, 'sink');
    const input = readFileSync(jwtFile, 'utf8');
    const args = ['login', '-method=ci', '-bearer-token-file', '-', '-token-sink-file', sink];
    await user.done(args, { input });
    expect(await user.done(['acl', 'token', 'read', '-self', '-token-file', sink])).to.match(
      /AuthMethod +ci\n/,
    );
    await user.done(['logout', '-token-file', sink]);
  });

  it('says that another token goes before that of the login', async () => {
    const input = readFileSync(jwtFile, 'utf8');
    const args = ['login', '-method=ci', '-bearer-token-file', '-'];
    const env = { CONSUL_HTTP_TOKEN_FILE: jwtFile };
    expect((await user.run(args, { input, env })).err).to.include(
      'CONSUL_HTTP_TOKEN_FILE names another token file, which takes precedence over it\n',
    );
    await user.done(['logout']);
  });

  it('keeps the JWT out of arguments, and says what a login needs', async () => {
    const given = await user.run(['login', '-method', 'ci', '-bearer-token', 'eyJ.secret']);
    expect(given.code).to.equal(2);
    expect(given.err).to.include('use --bearer-token-file instead').and.not.include('eyJ.secret');
    for (const args of [
      ['-method', 'ci'],
      ['-bearer-token-file', jwtFile],
      ['-type', 'oidc'],
    ])
      expect((await user.run(['login', ...args])).code, args.join(' ')).to.equal(2);
    const refused = ['login', '-method', 'ci', '-bearer-token-file', '-'];
    const { code, err } = await user.run(refused, { input: 'a.b.c' });
    expect(code).to.equal(1);
    expect(err).to.include('Permission denied').and.not.include('a.b.c');
  });

  it('deletes rule and method', async () => {
    await admin.done(['acl', 'binding-rule', 'delete', '-id', ruleId]);
    expect(await admin.done(['acl', 'auth-method', 'delete', '-name', 'ci'])).to.equal(
      'deleted auth-method/default/ci\n',
    );
  });

  it('shows templated policies, and what one makes of its variables', async () => {
    expect(await admin.done(['acl', 'templated-policy', 'list'])).to.match(
      /^builtin\/service +name /m,
    );
    const read = ['acl', 'templated-policy', 'read', '-name', 'builtin/node'];
    expect(await admin.done(read)).to.match(/Variables +name\n/);
    const preview = ['acl', 'templated-policy', 'preview', 'builtin/service', '-var', 'name:api'];
    expect(await admin.done(preview)).to.match(/^service "api" \{/);
  });
});
