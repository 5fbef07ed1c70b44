/** `export --consul`: load.sh, with a stand-in of the `consul` command, against another node. */
import { spawn } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { SERVER_CERTIFICATE, SERVER_KEY } from '../login/certificates.js';
import { RealCluster } from '../support/real-cluster.js';
import { User } from './harness.js';

const PEM = createPublicKey(SERVER_KEY).export({ type: 'spki', format: 'pem' });
const CONFIG = { JWTValidationPubKeys: [PEM], ClaimMappings: { sub: 'sub' } };
const ACCESSOR = '8a2d0000-1111-4222-8333-000000000001';
const SECRET = '8a2d0000-1111-4222-8333-000000000002';
const LATE = '8a2d0000-1111-4222-8333-000000000003';
const NASTY = `it's "quoted" <b> $(touch pwned) \`id\` \\ ü`;

/** What the source has. */
const WRITES: readonly [call: string, body: object][] = [
  [
    'PUT /acl/policy',
    { Name: 'readers', Rules: 'key "a" { policy = "read" }\n', Description: NASTY },
  ],
  ['PUT /acl/policy', { Name: 'here', Datacenters: ['dc1'] }],
  [
    'PUT /acl/role',
    {
      Name: 'ops',
      Policies: [{ Name: 'readers' }],
      Description: NASTY,
      ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc1'] }, { ServiceName: 'db' }],
      TemplatedPolicies: [
        { TemplateName: 'builtin/service', TemplateVariables: { Name: 'api' } },
        { TemplateName: 'builtin/dns' },
      ],
    },
  ],
  ['PUT /acl/role', { Name: 'nothing' }],
  [
    'PUT /acl/role',
    { Name: 'limited', TemplatedPolicies: [{ TemplateName: 'builtin/dns', Datacenters: ['dc1'] }] },
  ],
  [
    'PUT /namespace',
    { Name: 'team', Meta: { a: 'b' }, ACLs: { PolicyDefaults: [{ Name: 'readers' }] } },
  ],
  ['PUT /acl/policy?ns=team', { Name: 'readers', Rules: 'key "b" { policy = "read" }' }],
  ['PUT /acl/token?ns=team', { Policies: [{ Name: 'readers' }], Description: 'of team' }],
  [
    'PUT /acl/auth-method',
    { Name: 'ci', Type: 'jwt', Config: { ...CONFIG, IdentityClaim: 'email' }, MaxTokenTTL: '5m' },
  ],
  [
    'PUT /acl/binding-rule',
    {
      AuthMethod: 'ci',
      BindType: 'role',
      BindName: 'ops',
      Selector: 'value.sub == "a<b"',
      Description: NASTY,
    },
  ],
  [
    'PUT /acl/binding-rule',
    {
      AuthMethod: 'ci',
      BindType: 'templated-policy',
      BindName: 'builtin/service',
      BindVars: { Name: 'svc-${value.sub}' },
    },
  ],
  [
    'PUT /acl/token',
    {
      AccessorID: ACCESSOR,
      SecretID: SECRET,
      Description: NASTY,
      Policies: [{ Name: 'readers' }],
      Roles: [{ Name: 'ops' }],
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }],
      Local: true,
    },
  ],
  ['PUT /acl/token', { AccessorID: LATE, ExpirationTTL: '1h' }],
  ['PUT /acl/token', { Description: 'long', ExpirationTTL: '48h' }],
  ['PUT /acl/token/00000000-0000-0000-0000-000000000002', { Policies: [{ Name: 'here' }] }],
  [
    'PUT /config',
    { Kind: 'service-splitter', Name: 'a/b', Splits: [{ Weight: 100, Service: 'web' }] },
  ],
  ['PUT /config', { Kind: 'mesh', TransparentProxy: { MeshDestinationsOnly: true } }],
  ['PUT /config?ns=team', { Kind: 'service-defaults', Name: 'web', Protocol: 'tcp' }],
];

type Body = Record<string, unknown>;

describe('export --consul', () => {
  const user = new User();
  let source: RealCluster;
  let target: RealCluster;
  let folder = '';

  before(async () => {
    source = await RealCluster.open(1);
    user.env = { CONCLAVE_HTTP_ADDR: source.urls[0]!, CONCLAVE_HTTP_TOKEN: source.token };
    for (const Name of ['a/b', 'web'])
      await source.must('PUT /config', { Kind: 'service-defaults', Name, Protocol: 'http' });
    for (const [call, body] of WRITES) await source.must(call, body);
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'conclave-consul-'));
  });
  afterEach(async () => {
    rmSync(folder, { recursive: true });
    await target?.close();
  });
  after(async () => {
    await source?.close();
    user.leave();
  });

  const out = (): string => join(folder, 'out');
  const files = (): string[] =>
    readdirSync(out(), { encoding: 'utf8', recursive: true })
      .filter((name) => statSync(join(out(), name)).isFile())
      .sort();
  const text = (file: string): string => readFileSync(join(out(), file), 'utf8');
  const exported = (...args: string[]) => user.run(['export', '--consul', out(), ...args]);

  /** Runs load.sh against the target. Returns its exit code and what it printed. */
  async function load(env: Record<string, string> = {}): Promise<{ code: number; text: string }> {
    const program = resolve('dist/test/cli/fake-consul.js');
    const bin = join(folder, 'consul');
    writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(bin, 0o700);
    const child = spawn('sh', [join(out(), 'load.sh')], {
      env: {
        ...env,
        PATH: `${folder}:${process.env['PATH']}`,
        CONSUL_HTTP_ADDR: target.urls[0]!.replace('http://', ''),
        CONSUL_HTTP_TOKEN: target.token,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part: Buffer) => {
        printed += part.toString();
      });
    const code = await new Promise<number>((done) => {
      child.once('close', (status) => done(status ?? -1));
    });
    return { code, text: printed };
  }

  /** What a cluster has, without what another cluster makes otherwise. */
  async function contentOf(cluster: RealCluster) {
    const { Objects } = await cluster.must('GET /export?ns=*');
    const tokens = [
      ...(await cluster.must('GET /acl/tokens')),
      ...(await cluster.must('GET /acl/tokens?ns=team')),
    ]
      .filter(({ SecretID }) => SecretID !== target.token)
      .map(({ CreateTime, CreateIndex, ModifyIndex, Hash, ExpirationTime, ...token }) => ({
        ...token,
        Policies: token.Policies?.map(({ Name }: { Name: string }) => Name),
        Roles: token.Roles?.map(({ Name }: { Name: string }) => Name),
        ends: ExpirationTime !== undefined,
      }));
    const bare = JSON.parse(JSON.stringify({ Objects, tokens }), (key, value) =>
      key === 'ID' || key === 'Handle' ? undefined : value,
    ) as { Objects: { Object: Body }[]; tokens: Body[] };
    // rules are listed by their IDs, which are new
    bare.Objects.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    return bare;
  }

  it('makes another node the same, run again nothing new, and tells what is left', async () => {
    target = await RealCluster.open(1);
    const ran = await exported('--with-secrets');
    expect(ran.code, ran.err).to.equal(4);
    const first = await load();
    expect(first.code, first.text).to.equal(0);
    const wanted = await contentOf(source);
    // what the report names
    wanted.tokens = wanted.tokens.filter(({ Description }) => Description !== 'long');
    for (const { Object: body } of wanted.Objects) {
      if (body['Name'] === 'ci') delete (body['Config'] as Body)['IdentityClaim'];
      if (body['Name'] === 'limited') delete body['TemplatedPolicies'];
    }
    expect(await contentOf(target)).to.deep.equal(wanted);
    const { token } = target;
    const before = await target.ask('GET /acl/binding-rules', undefined, token);
    const second = await load();
    expect(second.code, second.text).to.equal(0);
    expect(second.text).to.contain('is there').and.contain('update');
    expect(second.text.match(/.*create.*/g)).to.equal(null);
    expect(await contentOf(target)).to.deep.equal(wanted);
    expect((await target.ask('GET /acl/binding-rules', undefined, token)).text).to.equal(
      before.text,
    );
    const left = text('NOT-LOADED.md');
    expect(left).to.contain('| auth-method/default/ci | Config.IdentityClaim |');
    expect(left).to.contain('| role/default/limited | its templated policy builtin/dns');
    expect(left).to.match(/\| token\/[0-9a-f-]+ \| the whole token \| it ends at /);
    expect(left).to.contain('| policy/team/readers | the whole object | it needs namespaces |');
    expect(readdirSync(out())).to.not.contain('pwned').and.not.contain('.rules');
  });

  it('leaves out, in a Consul without namespaces, what needs them', async () => {
    target = await RealCluster.open(1);
    expect((await exported('--namespaces', 'team', '--with-secrets')).code).to.equal(4);
    const { code, text: printed } = await load({ COMMUNITY: '1' });
    expect(code, printed).to.equal(0);
    expect(printed).to.contain('this Consul has no namespaces');
    expect(await target.must('GET /namespaces')).to.have.lengthOf(1);
  });

  it('stops at the first fault', async () => {
    target = await RealCluster.open(1);
    await exported();
    writeFileSync(join(out(), 'policies/default/here.hcl'), 'nonsense {');
    const { code, text: printed } = await load();
    expect(code).to.not.equal(0);
    expect(printed).to.not.contain('role ops');
  });

  it('holds no secret without --with-secrets, and only the user may read it', async () => {
    await source.must('PUT /config', {
      Kind: 'inline-certificate',
      Name: 'edge',
      Certificate: SERVER_CERTIFICATE,
      PrivateKey: SERVER_KEY,
    });
    const all = async (...args: string[]): Promise<string> => {
      rmSync(out(), { recursive: true, force: true });
      expect((await exported(...args)).code).to.equal(4);
      for (const file of files())
        expect(statSync(join(out(), file)).mode & 0o077, file).to.equal(0);
      return files().map(text).join('\n');
    };
    const without = await all();
    expect(files()).to.not.contain('tokens.json');
    for (const secret of [SECRET, source.token, 'PRIVATE KEY', '<hidden>'])
      expect(without, secret).to.not.contain(secret);
    expect(without).to.contain('| config/default/inline-certificate/edge | the whole entry |');
    expect(await all('--with-secrets'))
      .to.contain(SECRET)
      .and.contain('PRIVATE KEY');
    expect(text('load.sh')).to.not.contain(SECRET);
  });

  it('exports some namespaces, and exits with 0 if nothing is left out', async () => {
    expect((await exported('--namespaces', 'team')).code).to.equal(4);
    expect(files().filter((file) => file.startsWith('policies/'))).to.deep.equal([
      'policies/team/readers.hcl',
    ]);
    rmSync(out(), { recursive: true });
    await exported('--namespaces', 'none');
    expect(files().join()).to.not.contain('team');
    const empty = await RealCluster.open(1);
    const env = { CONCLAVE_HTTP_ADDR: empty.urls[0]!, CONCLAVE_HTTP_TOKEN: empty.token };
    rmSync(out(), { recursive: true });
    const ran = await user.run(['export', '--consul', out()], { env });
    expect(ran.code, ran.err).to.equal(0);
    expect(files()).to.deep.equal(['NOT-LOADED.md', 'load.sh']);
    await empty.close();
  });

  it('refuses a folder that holds something, other options, and unknown namespaces', async () => {
    writeFileSync(join(folder, 'file'), '');
    for (const [args, why] of [
      [['export', '--consul', folder], 'exists and is not an empty folder'],
      [['export', '--consul', join(folder, 'file')], 'exists and is not an empty folder'],
      [['export', '--consul', out(), '--owner', 'a'], '--consul cannot be used with --owner'],
      [['export', '--with-secrets'], 'need --consul'],
      [['export', '--consul', out(), '--namespaces', 'none-such'], 'no namespace "none-such"'],
    ] as const) {
      const { code, err } = await user.run(args);
      expect(code).to.equal(2);
      expect(err).to.contain(why);
    }
    expect(readdirSync(folder)).to.deep.equal(['file']);
  });
});
