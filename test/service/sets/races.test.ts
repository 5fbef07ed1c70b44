import { expect } from 'chai';
import type { Command } from '../../../src/state/types.js';
import { SoloClient } from '../client.js';

const policy = (Name: string, Rules = '') => ({ Type: 'policy', Object: { Name, Rules } });

describe('Two sets at once', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
  });
  afterEach(() => client.close());

  /** Makes a change by another client before each of the first proposals of a set. */
  const meanwhile = (times: number, change: (at: number) => object) => {
    const { solo } = client;
    const write = solo.node.write.bind(solo.node);
    let [proposals, made] = [0, 0];
    Object.assign(solo.node, {
      write: (request: Parameters<typeof write>[0]) => {
        if (request.command.type === 'set.apply') {
          proposals += 1;
          if (made < times) solo.must({ v: 1, ...change(made++) } as Command);
        }
        return write(request);
      },
    });
    return () => proposals;
  };
  const rewrite = (id: string) => (at: number) => ({
    type: 'policy.set',
    ns: 'default',
    id,
    create: false,
    hash: `${at}`,
    policy: { Name: 'a', Description: `${at}`, Rules: '' },
  });
  const apply = (body: object) => client.ask('POST /apply', body);

  it('are compared again without conditions, and one wins after the other', async () => {
    const { body } = await apply({ Objects: [policy('a')] });
    const proposals = meanwhile(2, rewrite(body.Changes[0].ID));
    const answer = await apply({ Objects: [policy('a', 'operator = "read"')] });
    expect(answer.status, answer.text).to.equal(200);
    expect(proposals()).to.equal(3);
    const after = await client.must('GET /acl/policy/name/a');
    expect([after.Description, after.Rules]).to.deep.equal(['', 'operator = "read"']);
  });

  it('end in a conflict if the state keeps changing', async () => {
    const { body } = await apply({ Objects: [policy('a')] });
    const proposals = meanwhile(100, rewrite(body.Changes[0].ID));
    const answer = await apply({ Objects: [policy('a', 'operator = "read"')] });
    expect([answer.status, answer.body.code]).to.deep.equal([409, 'conflict']);
    expect(proposals()).to.equal(6);
  });

  it('tell the loser what has changed if it expected something', async () => {
    const { body } = await apply({ Objects: [policy('a')] });
    const plan = await client.must('POST /plan', { Objects: [policy('a', 'mesh = "read"')] });
    const pinned = [{ Digest: plan.Digest }, { Expected: plan.Expected }];
    const proposals = meanwhile(1, rewrite(body.Changes[0].ID));
    for (const one of pinned) {
      const answer = await apply({ Objects: [policy('a', 'mesh = "read"')], ...one });
      expect(answer.status, answer.text).to.equal(412);
    }
    expect(proposals()).to.equal(1);
    const late = await apply({ Objects: [policy('a', 'mesh = "read"')], ...pinned[1] });
    expect(late.body.Conflicts[0]).to.include({ Ref: 'policy/default/a' });
  });

  it('tell the loser that what it would delete is gone', async () => {
    const { body } = await apply({ Objects: [policy('a')] });
    const Delete = [{ Type: 'policy', Name: 'A' }];
    const { Expected } = await client.must('POST /plan', { Delete });
    await client.must(`DELETE /acl/policy/${body.Changes[0].ID}`);
    const late = await apply({ Delete, Expected });
    expect(late.status, late.text).to.equal(412);
    expect(late.body.Conflicts).to.deep.equal([
      { Ref: 'policy/default/a', Expected: Expected['policy/default/a'], Actual: null },
    ]);
    const plan = await client.must('POST /plan', { Delete, Expected });
    expect(plan.Problems).to.deep.equal(late.body.Problems);
    expect(await apply({ Delete, Expected: { 'policy/default/a': 0 } })).to.include({
      status: 200,
    });
  });

  it('that make one object end in one object, and the second set updates it', async () => {
    const [one, two] = await Promise.all([
      apply({ Owner: 'a', Objects: [policy('same', 'mesh = "read"')] }),
      apply({ Objects: [policy('same', 'operator = "read"')] }),
    ]);
    expect([one.status, two.status], one.text + two.text).to.deep.equal([200, 200]);
    const all = await client.must('GET /acl/policies');
    expect(all.filter(({ Name }: { Name: string }) => Name === 'same')).to.have.length(1);
  });
});
