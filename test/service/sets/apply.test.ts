import { expect } from 'chai';
import { SoloClient } from '../client.js';

describe('A set', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as never);
  });
  afterEach(() => client.close());

  const policy = (Name: string, Rules = 'operator = "read"') => ({
    Type: 'policy',
    Object: { Name, Rules },
  });

  it('is planned and applied as one entry, whatever the order of its objects', async () => {
    const body = {
      Owner: 'gitops/payments',
      Objects: [
        { Type: 'config', Object: { Kind: 'service-router', Name: 'web' } },
        { Type: 'config', Object: { Kind: 'service-defaults', Name: 'web', Protocol: 'http' } },
        { Type: 'role', Object: { Name: 'ops', Policies: [{ Name: 'ops' }] } },
        policy('ops'),
      ],
    };
    const plan = await client.ask('POST /plan', body);
    expect(plan.status, plan.text).to.equal(200);
    expect(plan.body).to.deep.include({ Valid: true, Owner: 'gitops/payments', Problems: [] });
    expect(plan.body.Summary).to.deep.equal({
      Create: 4,
      Update: 0,
      Delete: 0,
      Unchanged: 0,
      Hidden: 0,
    });
    const before = client.solo.machine.appliedIndex();
    const applied = await client.ask('POST /apply', { ...body, Digest: plan.body.Digest });
    expect(applied.status, applied.text).to.equal(200);
    expect(applied.body).to.deep.include({ Index: before + 1, Changed: 4, Unchanged: 0 });
    const again = await client.ask('POST /apply', body);
    expect(again.body).to.deep.include({ Index: before + 1, Changed: 0, Unchanged: 4 });
    expect(client.solo.machine.appliedIndex()).to.equal(before + 1);
  });
});
