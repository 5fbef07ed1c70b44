import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { signer } from '../login/signers.js';
import { RealCluster } from '../support/real-cluster.js';
import { User } from './harness.js';

describe('acl can', function () {
  this.timeout(60_000);
  const dir = mkdtempSync(join(tmpdir(), 'conclave-can-'));
  const user = new User();
  let cluster: RealCluster;
  let secret: string;
  before(async () => {
    cluster = await RealCluster.open(1);
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]!, CONCLAVE_HTTP_TOKEN: cluster.token };
    const Rules =
      'key_prefix "orders/approve/" { policy = "read" } service "web" { policy = "write" }';
    await cluster.must('PUT /acl/policy', { Name: 'shop', Rules });
    await cluster.must('PUT /acl/role', { Name: 'clerk', Policies: [{ Name: 'shop' }] });
    const made = await cluster.must('PUT /acl/token', { Roles: [{ Name: 'clerk' }] });
    secret = made.SecretID;
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
    const file = join(dir, 'secret');
    writeFileSync(file, `${secret}\n`);
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

  it('says what is misused, and what could not be decided', async () => {
    for (const args of [
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
  });
});
