import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Feed, rightLines } from '../../src/cli/print/rights-view.js';
import { signer } from '../login/signers.js';
import { RealCluster } from '../support/real-cluster.js';
import { json, problem, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import { User } from './harness.js';

/** A feed with rules of every form. */
const FEED: Feed = {
  Version: 1,
  Namespace: 'default',
  Resources: { key: { Default: 'deny' } },
  Layers: [
    {
      Layer: 'own',
      Sets: [
        {
          Match: 'exact',
          Name: 'default',
          Scalars: { acl: 'read', operator: 'deny' },
          Named: {
            service: { Exact: { deny: ['secret'], write: ['web'] }, Prefix: { read: [''] } },
            key: {
              Exact: {
                read: ['orders/approve/eu-1', 'orders/approve/', 'a%2Fb/x%25/c/d', 'a%2fb/c/d'],
                write: ['service/stop/a b', 'plain', 'two/parts', 'orders/approve/*'],
              },
              Prefix: { read: ['orders/approve/eu-', 'shop/', 'shop/re', 'conf', '', '/x/'] },
            },
          },
        },
        { Match: 'exact', Name: 'team', Management: 'write', Scalars: { acl: 'read' }, Named: {} },
        { Match: 'prefix', Name: 'team-', Management: 'deny', Scalars: {}, Named: {} },
      ],
    },
    {
      Layer: 'namespace_default',
      Sets: [{ Match: 'exact', Name: 'default', Scalars: { mesh: 'write' }, Named: {} }],
    },
  ],
};

const LINES = [
  'ALLOW acl read',
  'DENY operator *',
  'ALLOW service read *',
  'DENY service * secret',
  'ALLOW service write web',
  'ALLOW key read *',
  'ALLOW key read /x/*',
  'ALLOW key read conf*',
  'ALLOW orders approve eu-*',
  'ALLOW shop * *',
  'ALLOW shop re* *',
  'ALLOW a/b x% c/d',
  'ALLOW key read a%2fb/c/d',
  'ALLOW orders approve ""',
  'ALLOW orders approve "*"',
  'ALLOW orders approve eu-1',
  'ALLOW key write plain',
  'ALLOW app:service stop "a b"',
  'ALLOW key write two/parts',
  'ALLOW namespace write team',
  'ALLOW acl read in team',
  'DENY namespace * team-*',
  'ALLOW mesh write by default',
];

describe('the lines of a feed of rights', () => {
  it('say type, action and id of an application, otherwise resource, access and name', () =>
    expect(rightLines(FEED)).to.deep.equal(LINES));
});

describe('acl can, whatever is answered', () => {
  const { user, fake } = fakeStage();
  const run = async (answer: RequestListener, ...args: string[]) =>
    user.run(['acl', 'can', ...args, '--http-addr', await fake.serve(answer)]);

  it('takes nothing for a yes or a no but a decision', async () => {
    for (const strange of [
      json({}),
      json({ decision: 'true' }),
      json([true]),
      json(true),
      json(null),
      text(200, '<html>Sign in</html>'),
      text(404, '404 page not found'),
      text(403, 'ACL not found'),
      problem(401, { code: 'unauthenticated', detail: 'no' }),
    ])
      for (const args of [['approve', 'orders/1'], ['--all', 'orders'], ['--list']]) {
        const { code, out, err } = await run(strange, ...args);
        expect([code, out], args.join(' ')).to.deep.equal([3, '']);
        expect(err).to.match(/^conclave: /);
      }
  });

  it('says no without a reason where none is told, and one for the user at least', async () => {
    expect(await run(json({ decision: false }), 'a', 'b')).to.include({ code: 1, out: 'no\n' });
    const context = { reason_user: { en: 'You may not\u001b.' } };
    const { out } = await run(json({ decision: false, context }), 'a', 'b');
    expect(out).to.equal('no - You may not\\u001b.\n');
  });

  it('decides by no feed whose version it does not know', async () => {
    const { code, out, err } = await run(json({ ...FEED, Version: 2 }), '--list');
    expect([code, out]).to.deep.equal([3, '']);
    expect(err).to.include('does not know version 2 of the feed');
  });

  it('reads a search to its last page', async () => {
    const page = (name: string, next_token: string) =>
      json({ page: { next_token }, results: [{ name }], context: { any_action: true } });
    const ids = json({
      page: { next_token: '' },
      results: [{ id: '7' }],
      context: { prefixes: [{ prefix: 'eu-', allow: true }], denied: ['eu-1'], truncated: true },
    });
    const address = await fake.serve(page('a', 'more'), page('b c', ''), ids);
    fake.forget();
    const ran = await user.run(['acl', 'can', '--all', 'orders', '--http-addr', address]);
    expect(ran.out).to.equal(
      'DECISION  ACTION  ID\nALLOW     *       *\nALLOW     a       eu-*\n' +
        'ALLOW     a       7\nDENY      a       eu-1\nALLOW     "b c"   eu-*\n' +
        'ALLOW     "b c"   7\nDENY      "b c"   eu-1\n',
    );
    expect(ran.err).to.equal('conclave: some rights are not shown\n');
    const pages = fake.seen.map(({ body }) => JSON.parse(body).page.token);
    expect(pages).to.deep.equal([undefined, 'more', undefined, undefined]);
  });

  it('sends credentials in the body alone, and repeats none that is an argument', async () => {
    for (const as of ['token_secret:5ec2e7', 'jwt:5ec2e7', '5ec2e7']) {
      fake.forget();
      const { code, out, err } = await run(json({}), 'read', 'acl', '--as', as, '--debug');
      expect([code, out, fake.seen.length]).to.deep.equal([2, '', 0]);
      expect(err).not.to.include('5ec2e7');
    }
    const args = ['acl', 'can', 'read', 'acl', '--as-token-file', '-', '--debug'];
    const address = await fake.serve(json({ decision: true }));
    const ran = await user.run([...args, '--http-addr', address], { input: '5ec2e7\n' });
    expect([ran.code, ran.out]).to.deep.equal([0, 'yes\n']);
    expect(ran.err).not.to.include('5ec2e7');
    const { url, headers, body } = fake.seen.at(-1)!;
    expect(url + JSON.stringify(headers)).not.to.include('5ec2e7');
    expect(JSON.parse(body).subject).to.deep.equal({ type: 'token_secret', id: '5ec2e7' });
  });
});

describe('acl can', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-can-'));
  const user = new User();
  let cluster: RealCluster;
  let secret: string;
  const file = join(dir, 'secret');
  const empty = join(dir, 'empty');
  before(async () => {
    cluster = await RealCluster.open(1);
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]!, CONCLAVE_HTTP_TOKEN: cluster.token };
    const Rules =
      'key_prefix "orders/approve/" { policy = "read" } service "web" { policy = "write" } ' +
      'key "orders/approve/13" { policy = "deny" }';
    await cluster.must('PUT /acl/policy', { Name: 'shop', Rules });
    await cluster.must('PUT /acl/role', { Name: 'clerk', Policies: [{ Name: 'shop' }] });
    const made = await cluster.must('PUT /acl/token', { Roles: [{ Name: 'clerk' }] });
    secret = made.SecretID;
    writeFileSync(file, `${secret}\n`);
    writeFileSync(empty, '\n');
  });
  after(async () => {
    await cluster.close();
    user.leave();
    rmSync(dir, { recursive: true, force: true });
  });

  const can = (...args: string[]) => user.run(['acl', 'can', ...args]);
  const asClerk = { env: { CONCLAVE_HTTP_TOKEN: '' } };

  it('answers by word and exit code, with the reason of a no', async () => {
    const env = { CONCLAVE_HTTP_TOKEN: secret };
    const yes = await user.run(['acl', 'can', 'approve', 'orders/17'], { env });
    expect(yes).to.deep.equal({ code: 0, out: 'yes\n', err: '' });
    const no = await user.run(['acl', 'can', 'ship', 'orders/17'], { env });
    expect(no).to.deep.include({ code: 1, err: '' });
    expect(no.out).to.match(/^no - key:read on "orders\/ship\/17" is denied by the default policy/);
    const quiet = await user.run(['acl', 'can', 'ship', 'orders/17', '--quiet'], { env });
    expect(quiet).to.deep.equal({ code: 1, out: '', err: '' });
    const json = await user.run(['acl', 'can', 'write', 'service/web', '-o', 'json'], { env });
    expect(JSON.parse(json.out)).to.deep.include({ decision: true });
  });

  it('asks as others, whose credentials are in files', async () => {
    expect((await can('approve', 'orders/1', '--as', 'role:clerk')).out).to.equal('yes\n');
    expect((await can('write', 'service/db', '--as', 'role:clerk')).code).to.equal(1);
    expect((await can('read', 'operator')).out).to.equal('yes\n');
    expect((await can('approve', 'orders/1', '--as-token-file', file)).out).to.equal('yes\n');
    const key = await signer('EdDSA');
    const Config = { JWTValidationPubKeys: [key.pem] };
    await cluster.must('PUT /acl/auth-method', { Name: 'ci', Type: 'jwt', Config });
    const rule = { AuthMethod: 'ci', BindType: 'role', BindName: 'clerk' };
    await cluster.must('PUT /acl/binding-rule', rule);
    const now = Math.floor(Date.now() / 1000);
    const jwt = join(dir, 'jwt');
    writeFileSync(jwt, await key.sign({ iat: now, exp: now + 600, sub: 'ann' }));
    const asJwt = ['--as-jwt-file', jwt, '--method', 'ci'];
    expect((await can('approve', 'orders/1', ...asJwt)).out).to.equal('yes\n');
  });

  it('shows all that may be done to a type, and all rights', async () => {
    const table = 'DECISION  ACTION   ID\nALLOW     approve  *\nDENY      approve  13\n';
    for (const args of [
      ['--all', 'orders', '--as', 'role:clerk'],
      ['--all', 'app:orders', '--as-token-file', file],
    ])
      expect(await can(...args)).to.deep.equal({ code: 0, out: table, err: '' });
    const none = await can('--all', 'orders', '--as', 'role:clerk', '-n', 'elsewhere');
    expect(none).to.deep.include({ code: 0, out: '', err: 'conclave: no rule allows anything\n' });
    const whole = await user.json(['acl', 'can', '--all', 'service', '--as', 'role:clerk']);
    expect(whole).to.deep.include({ type: 'service' });
    const list = await user.run(['acl', 'can', '--list'], { env: { CONCLAVE_HTTP_TOKEN: secret } });
    expect(list).to.deep.equal({
      code: 0,
      out:
        'ALLOW orders approve *\nDENY orders approve 13\nALLOW service write web\n' +
        'ALLOW intention read web\n',
      err: '',
    });
  });

  it('says what is misused, and what could not be decided', async () => {
    for (const args of [
      [],
      ['approve'],
      ['approve', 'app:/1'],
      ['approve', 'orders/1', '-n', 'NO NAME'],
      ['approve', 'orders/1', '--as-token-file', join(dir, 'missing')],
      ['approve', 'orders/1', '--as-token-file', empty],
      ['approve', 'orders/1', '--all', 'orders'],
      ['--list', 'orders'],
      ['--list', '--as', 'role:clerk'],
      ['approve', '/17'],
      ['approve', 'orders/1', '--as', 'clerk'],
      ['approve', 'orders/1', '--as', 'role:a', '--as-token-file', 'x'],
      ['approve', 'orders/1', '--method', 'ci'],
    ])
      expect((await can(...args)).code, args.join(' ')).to.equal(2);
    const anonymous = await user.run(['acl', 'can', 'approve', 'orders/1'], asClerk);
    expect([anonymous.code, anonymous.out]).to.deep.equal([3, '']);
    const url = { env: { CONCLAVE_HTTP_ADDR: '127.0.0.1:1' } };
    expect((await user.run(['acl', 'can', 'read', 'acl'], url)).code).to.equal(3);
  });

  it('is explained in the same words', async () => {
    const env = { CONCLAVE_HTTP_TOKEN: secret };
    const args = ['acl', 'explain', 'orders:approve:17', 'app:orders:ship:17', '-o', 'json'];
    const { out, code } = await user.run(args, { env });
    const { Results } = JSON.parse(out);
    const shown = Results.map(({ Segment, Allow }: { Segment: string; Allow: boolean }) => [
      Segment,
      Allow,
    ]);
    expect([code, shown]).to.deep.equal([
      1,
      [
        ['orders/approve/17', true],
        ['orders/ship/17', false],
      ],
    ]);
    const who = ['acl', 'who-can', 'orders:approve:13', '-o', 'json'];
    const denied = JSON.parse(await user.done(who)).Allowed;
    who[2] = 'orders:approve:14';
    expect(JSON.parse(await user.done(who)).Allowed).to.equal(denied + 1);
  });
});
