import { expect } from 'chai';
import { signer } from '../login/signers.js';
import { SoloClient } from './client.js';

describe('the history of objects that need others', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.withHistory();
  });
  afterEach(() => client.close());

  const index = (): number => client.solo.machine.appliedIndex();
  const undo = (Index: number, more: object = {}) => client.ask('POST /undo', { Index, ...more });

  it('shows the links that they had, though their targets are gone', async () => {
    const a = await client.must('PUT /acl/policy', { Name: 'a', Rules: '' });
    const b = await client.must('PUT /acl/policy', { Name: 'b', Rules: '' });
    const Policies = [{ Name: 'a' }, { Name: 'b' }];
    const { ID } = await client.must('PUT /acl/role', { Name: 'r', Policies });
    const made = index();
    await client.must(`PUT /acl/policy/${b.ID}`, { Name: 'b2', Rules: '' });
    await client.must(`DELETE /acl/policy/${a.ID}`);
    await client.must(`PUT /acl/role/${ID}`, { Name: 'r' });
    const { Object: then } = await client.must(`GET /history/role/${ID}?version=${made}`);
    expect(then.Policies).to.deep.equal([{ Name: 'a' }, { Name: 'b2' }]);
    const { Diff } = await client.must(`GET /history/role/${ID}?from=${made}`);
    expect(Diff).to.deep.equal([{ Type: 'Deleted', Path: '/Policies', Old: then.Policies }]);
  });

  it('is undone only where binding rules find what their auth method maps', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    const method = (ClaimMappings: object) =>
      client.must('PUT /acl/auth-method/jwt1', {
        Name: 'jwt1',
        Type: 'jwt',
        Config: { ...Config, ClaimMappings },
      });
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    await method({ team: 'team' });
    const mapped = index();
    const rule = { AuthMethod: 'jwt1', BindType: 'service', BindName: 'web' };
    const { ID } = await client.must('PUT /acl/binding-rule', {
      ...rule,
      Selector: 'value.team == "a"',
    });
    const refused = async (Index: number, status: number) => {
      const before = index();
      const plan = (await undo(Index, { DryRun: true })).body;
      const answer = await undo(Index);
      expect(answer.status, answer.text).to.equal(status);
      expect([plan.Valid, plan.Problems[0].Message]).to.deep.equal([false, answer.body.detail]);
      expect(index()).to.equal(before);
    };
    await refused(mapped, 409);
    await client.must(`PUT /acl/binding-rule/${ID}`, rule);
    const changed = index();
    await method({});
    await refused(changed, 400);
    await method({ team: 'team' });
    expect((await undo(changed)).status).to.equal(200);
  });
});
