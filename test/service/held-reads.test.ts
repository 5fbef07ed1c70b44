import { expect } from 'chai';
import { Client } from './client.js';

describe('held reads', function () {
  this.timeout(20_000);
  let client: Client;
  beforeEach(async () => {
    client = await Client.open();
  });
  afterEach(() => client.close());

  describe('of a namespace that links a policy and a role', () => {
    let policy: string;
    let role: string;
    beforeEach(async () => {
      policy = (await client.must('PUT /acl/policy', { Name: 'p' })).ID;
      role = (await client.must('PUT /acl/role', { Name: 'r' })).ID;
      const ACLs = { PolicyDefaults: [{ ID: policy }], RoleDefaults: [{ ID: role }] };
      await client.must('PUT /namespace', { Name: 'team', ACLs });
    });
    const deletions: [string, () => string][] = [
      ['policy', () => `DELETE /acl/policy/${policy}`],
      ['role', () => `DELETE /acl/role/${role}`],
    ];
    for (const [what, call] of deletions) {
      for (const path of ['/namespace/team', '/namespaces']) {
        it(`${path} wakes when the ${what} is deleted, at a greater index that stays`, async () => {
          await client.must(`PUT /acl/policy/${policy}`, { Name: 'p2' });
          const { before, woken } = await client.across(path, () => client.must(call()));
          expect(woken?.index).to.be.greaterThan(before.index);
          expect(woken?.text).not.to.include(what === 'policy' ? policy : role);
          expect((await client.ask(`GET ${path}`)).index).to.equal(woken?.index);
        });
      }
    }

    it('an expanded token of it wakes too, and shows what is left', async () => {
      const { AccessorID } = await client.must('PUT /acl/token?ns=team', {});
      const path = `/acl/token/${AccessorID}?expanded&ns=team`;
      const { before, woken } = await client.across(path, () =>
        client.must(`DELETE /acl/policy/${policy}`),
      );
      expect(before.body.NamespaceDefaultPolicyIDs).to.deep.equal([policy]);
      expect(woken?.body.NamespaceDefaultPolicyIDs).to.equal(null);
      expect(woken?.body.ExpandedPolicies).to.equal(null);
    });

    it('the rules behind it are shown to those who may read where they live', async () => {
      const secret = await client.secretWith('acl = "write"', 'team');
      const { AccessorID } = await client.must('GET /acl/token/self', undefined, secret);
      const shown = async (token?: string): Promise<string> =>
        JSON.stringify(
          (await client.must(`GET /acl/token/${AccessorID}?expanded&ns=team`, undefined, token))
            .ExpandedPolicies,
        );
      expect(await shown()).to.include(policy);
      expect(await shown(secret)).not.to.include(policy);
    });
  });
});
