import { expect } from 'chai';
import { SoloClient } from './client.js';

const SELF = '/acl/token/self/effective';
const ANONYMOUS = '00000000-0000-0000-0000-000000000002';

describe('GET /v1/acl/token/…/effective', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const policy = (Name: string, Rules: string) => client.must('PUT /acl/policy', { Name, Rules });
  interface Row {
    readonly Layer: string;
    readonly Namespace: { readonly Match: string; readonly Name: string };
    readonly Resource: string;
    readonly Match: string;
    readonly Name?: string;
    readonly Level: string;
  }
  const short = ({ Layer, Namespace, Resource, Match, Name, Level }: Row): string =>
    [Layer, Namespace.Match, Namespace.Name, Resource, Match, Name ?? '-', Level].join(' ');

  it('shows all rights as one merged table, in order, with who says each', async () => {
    const one = await policy(
      'one',
      'service_prefix "" { policy = "read" }\nacl = "read"\nservice "b" { policy = "read" }\n' +
        'namespace_prefix "t" { policy = "write" service "x" { policy = "write" } }\n' +
        'namespace "team" { acl = "read" }',
    );
    await policy('two', 'service "b" { policy = "write" intentions = "deny" }\nacl = "write"');
    const made = await client.must('PUT /acl/token', {
      Description: 'd',
      Policies: [{ Name: 'one' }, { Name: 'two' }],
      NodeIdentities: [{ NodeName: 'n', Datacenter: 'dc1' }],
      ExpirationTTL: '1h',
    });
    const answer = await client.must(`GET /acl/token/${made.AccessorID}/effective`);
    const { Rights, ...head } = answer;
    expect(head).to.deep.equal({
      AccessorID: made.AccessorID,
      Namespace: 'default',
      Anonymous: false,
      DefaultPolicy: 'deny',
      ExpirationTime: made.ExpirationTime,
      Truncated: false,
    });
    expect(Rights.map(short)).to.deep.equal([
      'own exact default acl scalar - write',
      'own exact default node exact n write',
      'own exact default service exact b write',
      'own exact default service prefix  read',
      'own exact team acl scalar - read',
      'own prefix  service prefix  read',
      'own prefix t service exact x write',
      'own prefix t namespace prefix t write',
    ]);
    expect(Rights[2]).to.include({ Intentions: 'deny', IntentionsExplicit: true });
    expect(Rights[3]).to.include({ Intentions: 'read', IntentionsExplicit: false });
    const [first] = Rights;
    expect(first.Sources[0]).to.deep.equal({
      Path: [
        { Type: 'token', ID: made.AccessorID, Name: 'd' },
        { Type: 'policy', ID: one.ID, Name: 'one' },
      ],
      Line: 2,
      Column: 1,
      Level: 'read',
      Counts: false,
    });
    expect(first.Sources).to.have.length(2);
    expect(await client.must(`GET ${SELF}`, undefined, made.SecretID)).to.deep.equal(answer);
  });

  it('shows what the namespace gives below the own rights', async () => {
    await policy('base', 'service "web" { policy = "read" }');
    const ACLs = { PolicyDefaults: [{ Name: 'base' }] };
    await client.must('PUT /namespace', { Name: 'team', ACLs });
    const body = { ServiceIdentities: [{ ServiceName: 'web' }] };
    const made = await client.must('PUT /acl/token?ns=team', body);
    const { Rights } = await client.must(`GET ${SELF}`, undefined, made.SecretID);
    expect(Rights.map(short).at(-1)).to.equal(
      'namespace_default exact team service exact web read',
    );
    const path = Rights.at(-1).Sources[0].Path.map(({ Type }: { Type: string }) => Type);
    expect(path).to.deep.equal(['token', 'namespace', 'policy']);
  });

  it('wakes when anything that it is made from changes, and not otherwise', async () => {
    const inRole = await policy('p', 'acl = "read"');
    await policy('other', 'acl = "read"');
    const role = await client.must('PUT /acl/role', { Name: 'r', Policies: [{ Name: 'p' }] });
    const body = { Roles: [{ Name: 'r' }] };
    const made = await client.must('PUT /acl/token', body);
    const path = `/acl/token/${made.AccessorID}/effective`;
    const across = async (change: () => Promise<unknown>) => {
      const { before, woken } = await client.across(path, change);
      if (woken !== undefined) expect(woken.index).to.be.greaterThan(before.index);
      return woken?.body.Rights.map(short);
    };
    const rename = { Name: 'p', Rules: 'acl = "write"' };
    const changed = await across(() => client.must(`PUT /acl/policy/${inRole.ID}`, rename));
    expect(changed).to.deep.equal(['own exact default acl scalar - write']);
    expect(await across(() => client.must(`DELETE /acl/policy/${inRole.ID}`))).to.deep.equal([]);
    const links = { Name: 'r', Policies: [{ Name: 'other' }] };
    expect(await across(() => client.must(`PUT /acl/role/${role.ID}`, links))).to.have.length(1);
    expect(await across(() => policy('unrelated', ''))).to.equal(undefined);
    const gone = await client.across(path, () =>
      client.must(`DELETE /acl/token/${made.AccessorID}`),
    );
    expect(gone.woken?.status).to.equal(404);
  });

  it('is shown to its token, and to others who may read it; nobody else learns of it', async () => {
    await client.must('PUT /namespace', { Name: 'hidden' });
    const foreign = await client.must('PUT /acl/token?ns=hidden', {});
    const missing = '0f0f0f0f-1111-4222-8333-444444444444';
    const reader = await client.secretWith('acl = "read"');
    const nobody = await client.secretWith('key "a" { policy = "read" }');
    const ask = async (accessor: string, secret: string) => {
      const reply = await client.ask(`GET /acl/token/${accessor}/effective`, undefined, secret);
      return [reply.status, reply.index, reply.body.detail];
    };
    expect(await ask(foreign.AccessorID, reader)).to.deep.equal(await ask(missing, reader));
    expect((await ask(missing, reader))[0]).to.equal(404);
    expect(await ask(foreign.AccessorID, nobody)).to.deep.equal(await ask(missing, nobody));
    expect((await ask(missing, nobody))[0]).to.equal(403);
    const own = await client.must(`GET ${SELF}`, undefined, nobody);
    expect(own.Rights).to.have.length(1);
    const anonymous = await client.must(`GET ${SELF}`, undefined, '');
    expect(anonymous).to.deep.include({ AccessorID: ANONYMOUS, Anonymous: true, Rights: [] });
  });

  it('leaves the other methods of its path to the older route', async () => {
    for (const path of [SELF, `/acl/token/${ANONYMOUS}/effective`]) {
      for (const method of ['PUT', 'POST', 'DELETE']) {
        const here = await client.ask(`${method} ${path}`, {});
        const there = await client.ask(`${method} ${path}s`, {});
        expect([here.status, here.text], method).to.deep.equal([there.status, there.text]);
      }
    }
    const misspelt = await client.ask(`GET ${SELF}?wiat=1s`);
    expect(misspelt.body).to.include({ status: 400, code: 'invalid' });
    expect((await client.ask('GET /acl/token/x/effective')).body.status).to.equal(400);
  });

  it('shows at most 5,000 rows, and says that there are more', async () => {
    const keysFrom = (from: number, count: number): string =>
      Array.from({ length: count }, (_, n) => `key "${from + n}" {policy="read"}`).join('\n');
    const names = [0, 1500, 3000, 4500].map((from) => `many-${from}`);
    for (const [at, name] of names.entries()) await policy(name, keysFrom(at * 1500, 1500));
    const made = await client.must('PUT /acl/token', { Policies: names.map((Name) => ({ Name })) });
    const { Rights, Truncated } = await client.must(`GET /acl/token/${made.AccessorID}/effective`);
    expect([Rights.length, Truncated]).to.deep.equal([5000, true]);
  });
});
