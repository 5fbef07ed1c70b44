/** The command `conclave migrate`, from a recorded source to a cluster. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Report } from '../../src/api/migration-report.js';
import { cutAfter, Moving, wayTo } from './running.js';
import { type Json, recordedSource } from './stand-in.js';

const ALL = '--with-secrets --mend --ask none';

describe('conclave migrate', function () {
  this.timeout(120_000);
  let moving: Moving;
  beforeEach(async () => {
    moving = await Moving.start();
  });
  afterEach(() => moving.close());

  const report = async (args: string): Promise<Report> =>
    JSON.parse((await moving.migrate(`${args} -o json`)).out) as Report;
  const secrets = (): string[] =>
    moving.source.recorded.Tokens.map(({ SecretID }) => String(SecretID)).filter(
      (secret) => !['anonymous', 'undefined'].includes(secret),
    );
  /** A token of the source that is moved. */
  const moved = (): Json =>
    moving.source.recorded.Tokens.find(
      ({ Policies, SecretID, AuthMethod, Rules, ExpirationTime }) =>
        Array.isArray(Policies) &&
        SecretID !== 'anonymous' &&
        [AuthMethod, Rules, ExpirationTime].every((one) => one === undefined),
    )!;

  it('shows what it would do, and writes nothing', async () => {
    const index = moving.index;
    const file = join(moving.user.home, 'report.json');
    const { code, out, err } = await moving.migrate(`--dry-run ${ALL} --report ${file}`);
    expect([code, err]).to.deep.equal([5, '']);
    expect(out)
      .to.match(/^policy +13 +0 +11 +0 +0 +0$/m)
      .and.match(/^token +15 +0 +12 +1 +0 +2$/m);
    expect(moving.index).to.equal(index);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const written = readFileSync(file, 'utf8');
    for (const secret of secrets()) expect(out + written).to.not.include(secret);
    const { Exit, Writers } = JSON.parse(written) as Report;
    expect(Exit).to.equal(5);
    const manager = Writers?.find(({ Description }) => Description.startsWith('Bootstrap'));
    const all = ['acl:write', 'operator:write', 'mesh:write', 'service:write'];
    expect(manager?.Rights).to.deep.equal(all);
    expect(out).to.match(/^WRITES .*"Bootstrap Token \(Global Management\)" {2}acl:write, /m);
  });

  it('needs to read alone for a dry run, and says what was not compared', async () => {
    const Policies = [{ Name: 'builtin/global-read-only' }];
    const { SecretID } = await moving.cluster.must('PUT /acl/token', { Policies });
    const env = { CONCLAVE_HTTP_TOKEN: SecretID };
    const { code, err } = await moving.migrate(`--dry-run ${ALL}`, { env });
    expect([code, err]).to.deep.equal([5, 'conclave: secrets were not compared\n']);
    expect((await moving.migrate(`--yes ${ALL}`, { env })).code).to.equal(1);
  });

  it('writes everything with its IDs and secrets, and nothing when it runs again', async () => {
    const { out, err } = await moving.migrate(`--yes ${ALL}`);
    for (const secret of secrets()) expect(out + err).to.not.include(secret);
    const { AccessorID, SecretID, CreateTime } = moved();
    const own = await moving.cluster.must('GET /acl/token/self', undefined, String(SecretID));
    expect(own).to.include({ AccessorID });
    expect(Date.parse(own.CreateTime)).to.equal(Date.parse(String(CreateTime)));
    for (const { ID, Name } of moving.source.recorded.Roles)
      expect(await moving.cluster.must(`GET /acl/role/${ID}`)).to.include({ ID, Name });
    const index = moving.index;
    const again = await moving.migrate(`--yes ${ALL}`);
    expect(again.err).to.equal('conclave: nothing to write\n');
    expect(moving.index).to.equal(index);
    const { Types, Rights } = await report(`--dry-run ${ALL}`);
    expect(Types['token']).to.include({ Create: 0, Update: 0, Delete: 0, Same: 13 });
    expect(Rights?.Differences.every(({ Code }) => Code === 'left_out')).to.equal(true);
  });

  it('writes the difference, and deletes what the source has deleted', async () => {
    await moving.migrate(`--yes ${ALL}`);
    const { AccessorID } = moved();
    moving.source.change(({ Policies, Roles, Tokens, Entries }, index) => {
      Object.assign(Roles[0]!, { Description: 'new', ModifyIndex: index });
      Tokens.splice(
        Tokens.findIndex((one) => one['AccessorID'] === AccessorID),
        1,
      );
      Entries.splice(0, 1);
      Policies.push({
        ID: '5a1fe000-0000-4000-8000-000000000001',
        Name: 'fresh',
        Rules: 'acl = "read"',
        Namespace: 'default',
      });
    });
    const { Types } = await report(`--yes ${ALL}`);
    expect(Types['policy']).to.include({ Create: 1, Update: 0, Delete: 0 });
    expect(Types['role']).to.include({ Create: 0, Update: 1, Delete: 0 });
    expect(Types['token']).to.include({ Create: 0, Update: 0, Delete: 1 });
    expect(Types['config']).to.include({ Create: 0, Update: 0, Delete: 1 });
    expect((await moving.cluster.ask(`GET /acl/token/${AccessorID}`)).status).to.equal(403);
  });

  it('deletes nothing of a list that the source does not show whole', async () => {
    await moving.migrate(`--yes ${ALL}`);
    const { recorded } = moving.source;
    const [role] = recorded.Roles.splice(0, 1);
    const [token] = recorded.Tokens.splice(recorded.Tokens.indexOf(moved()), 1);
    await moving.replace({ filtered: ['acl/roles', 'acl/tokens'] });
    const { Types } = await report(`--yes ${ALL}`);
    for (const type of ['role', 'token']) expect(Types[type]).to.include({ Delete: 0 });
    expect(await moving.cluster.must(`GET /acl/role/${role!['ID']}`)).to.include({
      ID: role!['ID'],
    });
    expect((await report(`--yes ${ALL} --only policy`)).Types['role']).to.include({ Delete: 0 });
    await moving.replace({});
    const whole = await report(`--yes ${ALL}`);
    for (const type of ['role', 'token']) expect(whole.Types[type]).to.include({ Delete: 1 });
    const gone = await moving.cluster.ask(`GET /acl/token/${token!['AccessorID']}`);
    expect(gone.status).to.equal(403);
  });

  it('ends with 130 where it is interrupted, and goes on the next time', async () => {
    const stop = new AbortController();
    const onErr = (): void => stop.abort();
    const ran = await moving.migrate(`--yes ${ALL}`, { columns: 80, signal: stop.signal, onErr });
    expect(ran.code).to.equal(130);
    expect((await moving.migrate(`--yes ${ALL}`)).code).to.equal(5);
  });

  it('refuses to take what others have made, unless it is forced or equal', async () => {
    const [first] = moving.source.recorded.Roles;
    const { AccessorID, SecretID } = moved();
    await moving.cluster.must('PUT /acl/token', { AccessorID, SecretID, Description: 'own' });
    const own = { ...first, Policies: [], Description: 'own' };
    await moving.cluster.must('POST /apply', { Objects: [{ Type: 'role', Object: own }] });
    const index = moving.index;
    const { code, out } = await moving.migrate(`--yes ${ALL}`);
    expect(code).to.equal(1);
    expect(out).to.include(`PROBLEM   role/default/${first!['Name']}  unowned`);
    expect(out).to.include(`PROBLEM   token/${AccessorID}  owned`);
    expect(moving.index).to.equal(index);
    expect((await moving.migrate(`--yes --force ${ALL}`)).code).to.equal(5);
    const role = await moving.cluster.must(`GET /acl/role/${first!['ID']}`);
    expect(role.Description).to.equal(first!['Description']);
  });

  it('names secrets that differ and IDs that are in use', async () => {
    const { AccessorID } = moved();
    const [first] = moving.source.recorded.Roles;
    await moving.cluster.must('PUT /acl/token', { AccessorID });
    await moving.cluster.must('PUT /acl/role', { Name: first!['Name'] });
    const { Problems = [] } = await report(`--dry-run ${ALL}`);
    expect(Problems.map(({ Ref, Code }) => [Ref, Code])).to.have.deep.members([
      [`role/default/${first!['Name']}`, 'conflict'],
      [`token/${AccessorID}`, 'secret_differs'],
    ]);
  });

  it('leaves alone what was changed here since, unless it is forced', async () => {
    await moving.migrate(`--yes ${ALL}`);
    const [first] = moving.source.recorded.Roles;
    const { AccessorID } = moved();
    await moving.cluster.must(`PATCH /acl/role/${first!['ID']}`, { Description: 'mine' });
    await moving.cluster.must(`PATCH /acl/token/${AccessorID}`, { Description: 'mine' });
    const { Problems = [], Types } = await report(`--yes ${ALL}`);
    expect(Problems.map(({ Ref, Code }) => [Ref, Code])).to.have.deep.members([
      [`role/default/${first!['Name']}`, 'changed'],
      [`token/${AccessorID}`, 'changed'],
    ]);
    expect(Types['role']).to.include({ Update: 0 });
    const role = () => moving.cluster.must(`GET /acl/role/${first!['ID']}`);
    expect((await role()).Description).to.equal('mine');
    await moving.migrate(`--yes --force ${ALL}`);
    expect((await role()).Description).to.equal(first!['Description']);
  });

  it('leaves it alone too where the history is not answered at once', async () => {
    await moving.migrate(`--yes ${ALL}`);
    const [first] = moving.source.recorded.Roles;
    await moving.cluster.must(`PATCH /acl/role/${first!['ID']}`, { Description: 'mine' });
    let isBusy = true;
    const way = await wayTo(moving.cluster.url, ({ url = '' }, outgoing) => {
      if (!isBusy || !url.startsWith('/v1/history/')) return false;
      isBusy = false;
      outgoing.writeHead(429, { 'Content-Type': 'text/plain' }).end('rate limit exceeded');
      return true;
    });
    await moving.migrate(`--yes ${ALL}`, {}, way.url);
    way.close().closeAllConnections();
    expect(isBusy).to.equal(false);
    const role = await moving.cluster.must(`GET /acl/role/${first!['ID']}`);
    expect(role.Description).to.equal('mine');
  });

  it('knows its own writes, whatever reason it was given', async () => {
    await moving.migrate(`--yes --reason first ${ALL}`);
    const token = moved();
    moving.source.change(({ Roles }, index) => {
      Object.assign(Roles[0]!, { Description: 'new', ModifyIndex: index });
      Object.assign(token, { Description: 'new', ModifyIndex: index });
    });
    const { Problems, Types } = await report(`--yes --reason second ${ALL}`);
    expect(Problems).to.equal(undefined);
    for (const type of ['role', 'token']) expect(Types[type]).to.include({ Update: 1 });
  });

  it('gives tokens whose secrets are not shown new ones, once', async () => {
    await moving.replace({ readOnly: true });
    const file = join(moving.user.home, 'secrets');
    expect((await report(`--dry-run ${ALL}`)).Findings.map(({ Code }) => Code)).to.include(
      'no_secret',
    );
    await moving.migrate(`--dry-run ${ALL} --new-secrets ${file}`);
    expect(existsSync(file)).to.equal(false);
    await moving.migrate(`--yes ${ALL} --new-secrets ${file}`);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const [line = ''] = readFileSync(file, 'utf8').split('\n');
    const [AccessorID, secret] = line.split(',');
    const own = await moving.cluster.must('GET /acl/token/self', undefined, secret);
    expect(own.AccessorID).to.equal(AccessorID);
    const index = moving.index;
    await moving.migrate(`--yes ${ALL} --new-secrets ${file}`);
    expect(moving.index).to.equal(index);
  });

  it('goes on after a cut at any request, to either side', async () => {
    for (let requests = 0; ; requests += 1) {
      const way = await cutAfter(moving.cluster.url, requests);
      const { code, err } = await moving.migrate(`--yes ${ALL}`, {}, way.url);
      way.close().closeAllConnections();
      if (code === 5) break;
      expect([code, requests < 200]).to.deep.equal([1, true], err);
    }
    const { Types } = await report(`--dry-run ${ALL}`);
    for (const counts of Object.values(Types))
      expect(counts).to.include({ Create: 0, Update: 0, Delete: 0 });
    for (const requests of [0, 3, 10, 30]) {
      await moving.replace({ cutAfter: requests });
      expect((await moving.migrate(`--yes ${ALL}`)).code).to.equal(1);
    }
  });

  it('asks before it writes, and takes no for an answer', async () => {
    const index = moving.index;
    const no = await moving.migrate(ALL, { answers: ['n'] });
    expect(no.code).to.equal(1);
    expect(no.err).to.include('write 39 objects and 12 tokens? [y/N]');
    expect(moving.index).to.equal(index);
    expect((await moving.migrate(ALL)).code).to.equal(2);
    expect((await moving.migrate(ALL, { answers: ['y'] })).code).to.equal(5);
    expect(moving.index).to.be.greaterThan(index);
  });

  it('gives up ownership at the end, if rights are equal', async () => {
    const left = await moving.migrate(`--finish --yes ${ALL}`);
    expect([left.code, left.err]).to.satisfy(
      ([code, err]: [number, string]) => code === 5 && err.includes('is not released'),
    );
    expect(await moving.cluster.must('GET /owners')).to.have.length(1);
    moving.source.change(({ Tokens }) => {
      const bad = Tokens.findIndex(({ AuthMethod }) => AuthMethod === 'aws');
      Tokens.splice(bad, 1);
    });
    const { code, err } = await moving.migrate(`--finish --yes ${ALL}`);
    expect([code, err]).to.satisfy(
      ([exit, text]: [number, string]) => exit === 4 && text.includes('switched: 0 differences'),
    );
    expect(await moving.cluster.must('GET /owners')).to.deep.equal([]);
  });

  it('keeps ownership at the end if something was changed here', async () => {
    moving.source.change(({ Tokens }) => {
      Tokens.splice(0, Tokens.length, ...Tokens.filter(({ AuthMethod }) => AuthMethod !== 'aws'));
    });
    await moving.migrate(`--yes ${ALL}`);
    const [first] = moving.source.recorded.Roles;
    await moving.cluster.must(`PATCH /acl/role/${first!['ID']}`, { Description: 'mine' });
    const { code, err } = await moving.migrate(`--finish --yes ${ALL}`);
    expect(err).to.include('changed here is left as it is: ownership is not released');
    expect(code).to.equal(4);
    expect(await moving.cluster.must('GET /owners')).to.have.length(1);
  });

  it('keeps ownership at the end of what was not compared', async () => {
    await moving.close();
    const recorded = recordedSource('enterprise');
    const Tokens = recorded.Tokens.filter(({ Namespace }) => Namespace !== 'team-a');
    moving = await Moving.start({ ...recorded, Tokens });
    await moving.migrate(`--yes ${ALL}`);
    const left = async (args: string): Promise<string> => {
      const { code, err } = await moving.migrate(`--finish --yes --mend ${args}`);
      const owners = await moving.cluster.must('GET /owners');
      expect(owners, err).to.have.length(code === 1 ? 1 : 0);
      return err;
    };
    const named = 'this run has not compared';
    expect(await left('--with-secrets --namespaces none')).to.include(named);
    expect(await left('')).to.include(`${named} 1 object, such as token/`);
    expect(await left('--with-secrets --namespaces team-a,default')).to.include('switched: 0');
  });

  it('refuses a source of another datacenter, and what is misused', async () => {
    const { Config } = moving.source.recorded.Self as { Config: Json };
    Object.assign(Config, { Datacenter: 'dc9', PrimaryDatacenter: 'dc9' });
    for (const refused of [{}, { 'agent/self': 403 }]) {
      await moving.replace({ refused });
      const { code, err } = await moving.migrate(`--yes ${ALL}`);
      expect([code, err]).to.satisfy(
        ([exit, text]: [number, string]) =>
          exit === 1 && text.includes('the source is datacenter "dc9", this cluster is "dc1"'),
      );
    }
    for (const args of [
      '--only x',
      '--ask x',
      '--dry-run --watch',
      '--finish --only policy,role',
      '--finish --kinds mesh',
      '--login-tokens x',
      '--kinds x',
    ])
      expect((await moving.migrate(`--yes ${args}`)).code, args).to.equal(2);
  });

  it('reads the rights alone of tokens that are not moved', async () => {
    const { Types, Rights } = await report('--yes --mend --ask none');
    expect(Types['token']).to.include({ Create: 0, Update: 1 });
    expect(Rights?.Differences.map(({ Code }) => Code)).to.not.include('unexplained');
    expect((await moving.cluster.must('GET /acl/tokens')).length).to.equal(2);
  });
});
