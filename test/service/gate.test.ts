import { expect } from 'chai';
import { SoloClient } from './client.js';
import { MANAGEMENT_SECRET } from './solo.js';

describe('callers without permissions', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const NOBODY = '99999999-9999-4999-8999-999999999999';
  const calls: [string, string, string, number][] = [
    ['another bootstrap', 'PUT /acl/bootstrap', '', 403],
    ['a logout with an unknown token', 'POST /acl/logout', NOBODY, 403],
    ['a logout without a token', 'POST /acl/logout', '', 401],
    ['a logout with the anonymous token', 'POST /acl/logout', 'anonymous', 403],
    ['a logout with a token that no login made', 'POST /acl/logout', MANAGEMENT_SECRET, 403],
    ['a write with an unknown token', 'PUT /acl/role', NOBODY, 403],
    ['a write without a token', 'PUT /acl/role', '', 403],
  ];
  for (const [what, call, token, status] of calls) {
    it(`cannot add to the log by ${what}`, async () => {
      const before = client.solo.machine.appliedIndex();
      const body = call.endsWith('role') ? { Name: 'r' } : undefined;
      expect((await client.ask(call, body, token)).status).to.equal(status);
      expect(client.solo.machine.appliedIndex()).to.equal(before);
    });
  }

  it('cannot add to the log by a logout with an expired token', async () => {
    const token = { ExpirationTTL: '1m' };
    const { SecretID } = await client.must('PUT /acl/token', token);
    client.solo.nowMs += 61_000;
    const before = client.solo.machine.appliedIndex();
    const reply = await client.ask('POST /acl/logout', undefined, SecretID);
    expect(reply.status).to.equal(403);
    expect(reply.text).to.match(/^ACL not found \(the token sent is not known/);
    expect(client.solo.machine.appliedIndex()).to.equal(before);
  });
});

describe('the defaults of a namespace', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  it('can be set, changed and removed by callers who manage access control', async () => {
    await client.must('PUT /acl/policy', { Name: 'p' });
    const manager = await client.secretWith('namespace "team" { policy = "write" }');
    const ACLs = { PolicyDefaults: [{ Name: 'p' }] };
    const tried = async (body: object, token: string): Promise<number> =>
      (await client.ask('PUT /namespace/team', body, token)).status;
    expect(await tried({ Description: 'a' }, manager)).to.equal(200);
    expect(await tried({ ACLs }, manager)).to.equal(403);
    expect(await tried({ ACLs }, MANAGEMENT_SECRET)).to.equal(200);
    expect(await tried({ ACLs: {} }, manager)).to.equal(403);
    expect(await tried({}, manager)).to.equal(403);
    expect((await client.must('GET /namespace/team')).ACLs.PolicyDefaults).to.have.lengthOf(1);
    expect(await tried({}, MANAGEMENT_SECRET)).to.equal(200);
    expect(await tried({ Description: 'b' }, manager)).to.equal(200);
  });
});
