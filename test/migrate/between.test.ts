/** `conclave migrate` between clusters of ours, whose answers are asked live too. */
import { expect } from 'chai';
import type { Report } from '../../src/api/migration-report.js';
import { until } from '../cluster/operator.js';
import { type Signer, signer } from '../login/signers.js';
import { RealCluster } from '../support/real-cluster.js';
import { Moving } from './running.js';
import { recordedSource } from './stand-in.js';

describe('conclave migrate between clusters of ours', function () {
  this.timeout(120_000);
  let moving: Moving;
  let other: RealCluster;
  beforeEach(async () => {
    moving = await Moving.start({ ...recordedSource('community'), Tokens: [], Entries: [] });
    other = await RealCluster.open(1);
  });
  afterEach(async () => {
    await other.close();
    await moving.close();
  });

  const surroundings = (): Record<string, string> => ({
    CONCLAVE_HTTP_ADDR: moving.cluster.url,
    CONCLAVE_HTTP_TOKEN: moving.cluster.token,
    MIGRATE_FROM_TOKEN: other.token,
  });
  const migrate = async (args: string): Promise<Report> => {
    const words = ['migrate', '--from', other.urls[0]!, '-o', 'json', ...args.split(' ')];
    const { out, err } = await moving.user.run(words, { env: surroundings() });
    expect(out, err).to.not.equal('');
    return JSON.parse(out) as Report;
  };

  /** Makes the auth method `jwt` of the other cluster. Returns the key that it trusts. */
  const makeMethod = async (): Promise<Signer> => {
    const key = await signer('EdDSA');
    const Config = { JWTValidationPubKeys: [key.pem], IdentityClaim: 'sub' };
    await other.must('PUT /acl/auth-method', { Name: 'jwt', Type: 'jwt', Config });
    return key;
  };
  /** Logs in there, which gives the policy `p`. Returns how the token is read. */
  const loggedIn = async (): Promise<`GET ${string}`> => {
    const key = await makeMethod();
    const rule = { AuthMethod: 'jwt', BindType: 'policy', BindName: 'p' };
    await other.must('PUT /acl/binding-rule', rule);
    const now = Math.floor(Date.now() / 1000);
    const BearerToken = await key.sign({ iat: now - 10, exp: now + 600, sub: 'user-1' });
    const login = await other.must('POST /acl/login', { AuthMethod: 'jwt', BearerToken }, '');
    return `GET /acl/token/${login.AccessorID}?expanded=true`;
  };

  /** Follows the other cluster. Returns what ends that, with the exit code. */
  const follow = async (): Promise<() => Promise<number>> => {
    const stop = new AbortController();
    let said = '';
    const given = {
      env: surroundings(),
      signal: stop.signal,
      onErr: (text: string) => {
        said += text;
      },
    };
    const watch = ['--watch', '--yes', '--with-secrets', '--ask', 'none', '--poll', '200ms'];
    const watching = moving.user.run(['migrate', '--from', other.urls[0]!, ...watch], given);
    await until(
      async () => said,
      (all) => all.includes('written, index'),
    );
    return async () => {
      stop.abort();
      return (await watching).code;
    };
  };

  it('moves logins with who is behind them, and asks both sides the same questions', async () => {
    await other.must('PUT /namespace', { Name: 'team' });
    const Rules = 'key_prefix "a/" { policy = "write" } service "web" { policy = "read" }';
    await other.must('PUT /acl/policy', { Name: 'p', Rules });
    await other.must('PUT /acl/policy?ns=team', { Name: 'q', Rules });
    await other.must('PUT /acl/token?ns=team', { Policies: [{ Name: 'q' }] });
    const path = await loggedIn();
    const { Rights, Problems, Findings } = await migrate('--yes --with-secrets --ask all');
    expect(Problems).to.equal(undefined);
    expect(Findings).to.deep.equal([]);
    expect(Rights?.Differences).to.deep.equal([]);
    expect(Rights?.Equal).to.equal(true);
    expect(Rights?.Asked?.Tokens).to.equal(Rights?.Tokens);
    expect(Rights?.Asked?.Questions).to.be.greaterThan(50);
    const Subject = (await moving.cluster.must(path)).Identity.Subject;
    expect(Subject).to.equal('user-1');
    expect(await migrate('--dry-run --with-secrets --ask all')).to.include({ Exit: 0 });
  });

  it('finds a difference that is planted, by reading and by asking', async () => {
    const write = { Name: 'p', Rules: 'key_prefix "a/" { policy = "write" }' };
    await other.must('PUT /acl/policy', write);
    const token = await other.must('PUT /acl/token', { Policies: [{ Name: 'p' }] });
    expect((await migrate('--yes --with-secrets')).Exit).to.equal(0);
    const policy = await moving.cluster.must('GET /acl/policy/name/p');
    const Rules = 'key_prefix "a/" { policy = "read" }';
    await moving.cluster.must(`PUT /acl/policy/${policy.ID}`, { ...policy, Rules });
    const { Exit, Rights } = await migrate('--yes --with-secrets');
    expect(Exit).to.equal(5);
    const found = Rights?.Differences.find(({ Access }) => Access === 'write');
    expect(found).to.deep.include({
      Code: 'unexplained',
      Sample: [token.AccessorID],
      Resource: 'key',
    });
    expect(found?.Segment).to.match(/^a\/./);
  });

  it('moves the ACL configuration, and whose logins are refused', async () => {
    await makeMethod();
    const rule = { AuthMethod: 'jwt', BindType: 'service', BindName: 'web' };
    await other.must('PUT /acl/binding-rule', rule);
    const user = { AuthMethod: 'jwt', Namespace: 'default', From: 'tokens' };
    const configuration = { LoginTokenTTL: '30m0s', SubjectTypes: { user } };
    await other.must('PUT /operator/acl/configuration', configuration);
    const block = { AuthMethod: 'jwt', DryRun: false };
    const forever = { ...block, Subject: 'user-1', BlockFor: 'forever', Reason: 'INC-7' };
    await other.must('POST /acl/tokens/revoke', forever);
    await other.must('POST /acl/tokens/revoke', { ...block, SubjectPrefix: 'ci/', BlockFor: '2h' });
    const { Types } = await migrate('--yes --with-secrets');
    expect(Types['block']).to.include({ Source: 2, Create: 2 });
    expect(Types['configuration']).to.include({ Source: 1, Update: 1 });
    const held = await moving.cluster.must('GET /operator/acl/configuration');
    expect(held).to.deep.include(configuration);
    const blocks = async () => moving.cluster.must('GET /acl/identity-blocks?ns=*');
    const [prefix, subject] = await blocks();
    expect(subject).to.include({ Subject: 'user-1', Until: null, Reason: 'migrate/dc1: INC-7' });
    expect(prefix.SubjectPrefix).to.equal('ci/');
    expect(Date.parse(prefix.Until)).to.be.closeTo(Date.now() + 7_200_000, 60_000);
    const { index } = moving;
    expect((await migrate('--yes --with-secrets')).Exit).to.equal(0);
    expect(moving.index).to.equal(index);
    const [lifted] = await other.must('GET /acl/identity-blocks');
    await other.must(`DELETE /acl/identity-block/${lifted.ID}`);
    const { Types: after } = await migrate('--yes --with-secrets');
    expect(after['block']).to.include({ Source: 1, Create: 0, Delete: 1 });
    expect(await blocks()).to.have.length(1);
    await other.must('DELETE /acl/auth-method/jwt');
    const { Types: last } = await migrate('--yes --with-secrets');
    expect(last['block']).to.include({ Source: 0, Delete: 1 });
    expect(await blocks()).to.deep.equal([]);
    expect((await migrate('--yes --namespaces none --only policy')).Types).to.not.have.key('block');
  });

  it('follows whose logins are refused', async () => {
    await makeMethod();
    const stopped = await follow();
    const block = { AuthMethod: 'jwt', DryRun: false, Subject: 'user-1', BlockFor: 'forever' };
    const { BlockID } = await other.must('POST /acl/tokens/revoke', block);
    const blocks = () => moving.cluster.must('GET /acl/identity-blocks');
    await until(blocks, ({ length }) => length === 1);
    await other.must(`DELETE /acl/identity-block/${BlockID}`);
    await until(blocks, ({ length }) => length === 0);
    const configuration = { LoginTokenTTL: '45m0s' };
    await other.must('PUT /operator/acl/configuration', configuration);
    await until(
      () => moving.cluster.must('GET /operator/acl/configuration'),
      ({ LoginTokenTTL }) => LoginTokenTTL === '45m0s',
    );
    expect(await stopped()).to.be.oneOf([0, 3]);
  });

  it('follows the deletion of a policy that the token of a login links', async () => {
    const { ID } = await other.must('PUT /acl/policy', { Name: 'p', Rules: 'acl = "read"' });
    const path = await loggedIn();
    const stopped = await follow();
    await other.must(`DELETE /acl/policy/${ID}`);
    const { Identity } = await until(
      () => moving.cluster.must(path),
      ({ Policies = [] }) => Policies.length === 0,
    );
    expect(Identity.Subject).to.equal('user-1');
    const { AccessorID } = await other.must('PUT /acl/token', {});
    await until(
      () => moving.cluster.ask(`GET /acl/token/${AccessorID}`),
      ({ status }) => status === 200,
    );
    await stopped();
  });
});
