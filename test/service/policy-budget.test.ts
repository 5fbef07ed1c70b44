import { expect } from 'chai';
import { LINKED_CHARS_MAX } from '../../src/service/rights/policy-budget.js';
import { SoloClient } from './client.js';

const LENGTH = 64_000;
/** As many policies of this length as may be linked. */
const MOST = Math.floor(LINKED_CHARS_MAX / LENGTH);
const rules = (length: number): string => `# ${'x'.repeat(length - 3)}\n`;

describe('the budget of linked policies', () => {
  let client: SoloClient;
  before(async () => {
    client = await SoloClient.open();
    for (let n = 0; n <= MOST; n++) {
      await client.must('PUT /acl/policy', { Name: `p${n}`, Rules: rules(LENGTH) });
    }
  });
  after(() => client.close());

  const links = (count: number, from = 0) =>
    Array.from({ length: count }, (_, n) => ({ Name: `p${from + n}` }));

  it('refuses more for a token, directly or by roles, for a role, and as defaults', async () => {
    await client.must('PUT /acl/role', { Name: 'some', Policies: links(MOST) });
    await client.must('PUT /acl/role', { Name: 'last', Policies: links(1, MOST) });
    await client.must('PUT /acl/token', { Policies: links(MOST), Roles: [{ Name: 'some' }] });
    const Roles = [{ Name: 'some' }, { Name: 'last' }];
    const cases: [call: string, body: object, pointer: string][] = [
      ['PUT /acl/token', { Policies: links(MOST + 1) }, '/Policies'],
      ['PUT /acl/token', { Roles }, '/Policies'],
      ['PUT /acl/role', { Name: 'all', Policies: links(MOST + 1) }, '/Policies'],
      ['PUT /namespace', { Name: 'team', ACLs: { RoleDefaults: Roles } }, '/ACLs'],
    ];
    for (const [call, body, pointer] of cases) {
      const refused = await client.ask(call, body);
      expect([refused.status, refused.body?.pointer ?? pointer], call).to.deep.equal([
        400,
        pointer,
      ]);
      expect(refused.text).to.include(`have ${(MOST + 1) * LENGTH} characters, at most 1048576`);
    }
  });

  it('lets what is above it stay, and be changed, but not grow', async () => {
    for (let n = 0; n < MOST; n++) {
      await client.must('PUT /acl/policy', { Name: `g${n}`, Rules: rules(1_000) });
    }
    const Policies = Array.from({ length: MOST }, (_, n) => ({ Name: `g${n}` }));
    const token = await client.must('PUT /acl/token', { Policies });
    for (let n = 0; n < MOST; n++) {
      const { ID } = await client.must(`GET /acl/policy/name/g${n}`);
      await client.must(`PUT /acl/policy/${ID}`, { Name: `g${n}`, Rules: rules(65_536) });
    }
    const last = await client.must(`GET /acl/policy/name/g${MOST - 1}`);
    const all = [...Policies, ...links(1)];
    const path = `PUT /acl/token/${token.AccessorID}`;
    expect((await client.ask(path, { Policies: all })).status).to.equal(400);
    const { SecretID } = token;
    expect((await client.ask('GET /acl/token/self', undefined, SecretID)).status).to.equal(200);
    await client.must(path, { Policies, Description: 'as it was' });
    await client.must(path, { Policies: Policies.slice(1) });
    expect(last.Rules).to.have.length(65_536);
  });
});
