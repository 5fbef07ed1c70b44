import { expect } from 'chai';
import type { Command } from '../../../src/state/types.js';
import { SoloClient } from '../client.js';

const raise = { type: 'system.level', v: 1, level: 3 } as Command;
const ABSENT = '7d3c2f0e-0000-4000-8000-000000000000';

describe('A set that names what its caller may not read', () => {
  let client: SoloClient;
  let id = '';
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must(raise);
    id = (await client.must('PUT /acl/policy', { Name: 'ops' })).ID;
    await client.must('PUT /config', { Kind: 'service-defaults', Name: 'web' });
    await client.must('PUT /namespace', { Name: 'team' });
  });
  afterEach(() => client.close());

  /** What a caller without a token sees of a set, without the names that it has sent. */
  const seen = async (body: object, ...names: string[]) => {
    const told = [
      await client.ask('POST /plan', body, ''),
      await client.ask('POST /apply', body, ''),
    ];
    return told.map(({ status, body: { decision, Digest, ...shown } }) => {
      const text = names.reduce((all, name) => all.replaceAll(name, '…'), JSON.stringify(shown));
      return [status, text];
    });
  };
  const digest = async (body: object) => (await client.must('POST /plan', body, '')).Digest;

  it('deletes objects that exist as those that do not', async () => {
    const cases = [
      ['policy', 'ops', 'nix'],
      ['config', 'service-defaults/web', 'service-defaults/nix'],
      ['namespace', 'team', 'nix'],
    ] as const;
    for (const [Type, there, missing] of cases) {
      const [one, other] = [
        { Delete: [{ Type, Name: there }] },
        { Delete: [{ Type, Name: missing }] },
      ];
      expect(await seen(one, there)).to.deep.equal(await seen(other, missing));
      expect((await seen(one))[1]![0]).to.equal(403);
    }
  });

  it('shows neither the name nor the spelling of an object', async () => {
    const byId = (ID: string) => ({ Delete: [{ Type: 'policy', ID }] });
    expect(await seen(byId(id), id)).to.deep.equal(await seen(byId(ABSENT), ABSENT));
    const spelled = { Objects: [{ Type: 'policy', Object: { Name: 'OPS' } }] };
    const plan = await client.must('POST /plan', spelled, '');
    expect(plan.Changes[0].Ref).to.equal('policy/default/OPS');
    const two = (ID: string) => ({
      Objects: [
        { Type: 'policy', Object: { ID, Name: 'other' } },
        { Type: 'policy', Object: { Name: 'ops' } },
      ],
    });
    expect(await seen(two(id), id)).to.deep.equal(await seen(two(ABSENT), ABSENT));
  });

  it('links nothing to a namespace of which the caller could learn', async () => {
    const own = await client.secretWith('service_prefix "" { policy = "read" }', 'team');
    const linking = (ID: string) => ({
      Objects: [
        { Type: 'namespace', Object: { Name: 'team', ACLs: { PolicyDefaults: [{ ID }] } } },
      ],
    });
    const plans = [];
    for (const each of [id, ABSENT])
      plans.push(await client.must('POST /plan', linking(each), own));
    expect(plans[0].Changes).to.deep.equal(plans[1].Changes);
    expect(plans[0].Changes[0].Action).to.equal('hidden');
    await client.must('PUT /namespace', { Name: 'team', ACLs: { PolicyDefaults: [{ ID: id }] } });
    const exported = await client.must('GET /export?ns=*', undefined, own);
    const again = await client.must('POST /plan', exported, own);
    expect(again.Summary).to.include({ Unchanged: exported.Objects.length, Hidden: 0 });
  });

  it('has a digest that does not depend on a secret that stays', async () => {
    const digests = [];
    for (const SecretID of [ABSENT, '7d3c2f0e-0000-4000-8000-000000000001']) {
      const other = await SoloClient.open();
      other.solo.must(raise);
      const AccessorID = '7d3c2f0e-0000-4000-8000-000000000002';
      await other.must('PUT /acl/token', { AccessorID, SecretID });
      const token = { AccessorID, Description: 'changed' };
      const plan = await other.must('POST /plan', { Objects: [{ Type: 'token', Object: token }] });
      expect(plan.Summary.Update).to.equal(1);
      digests.push(plan.Digest);
      await other.close();
    }
    expect(digests[0]).to.equal(digests[1]);
  });

  it('has a digest that does not depend on it', async () => {
    const body = { Objects: [{ Type: 'policy', Object: { Name: 'ops' } }] };
    const before = await digest(body);
    await client.must(`PUT /acl/policy/${id}`, { Name: 'ops', Description: 'changed' });
    expect(await digest(body)).to.equal(before);
    await client.must(`DELETE /acl/policy/${id}`);
    expect(await digest(body)).to.equal(before);
  });
});
