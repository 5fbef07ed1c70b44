/** Which rule allowed a request: what held before it, whatever has happened since. */
import { expect } from 'chai';
import type { Route } from '../../src/http/routes/types.js';
import type { Command } from '../../src/state/types.js';
import { send } from '../support/client.js';
import { type Audited, audited } from './audited.js';

const WRITE = 'acl = "write"';

describe('the rules that allowed a request', () => {
  let node: Audited;
  /** What happens between the check of a request and its command. */
  let between: { readonly change: () => Promise<unknown>; readonly command: Command };
  const changing: Route = {
    path: '/v1/changing',
    PUT: async (request) => {
      const { caller, timeoutMs, notes } = request;
      const { service } = node.solo;
      await service.permit({ caller, timeoutMs, notes }, (of) => of.denial('acl', 'write'));
      await between.change();
      request.answerJson(await service.write({ caller, timeoutMs, notes }, between.command));
    },
  };
  before(async () => {
    node = await audited({}, [[changing]]);
  });
  after(() => node.client.close());

  let policies = 0;
  /** Makes policies, and a token of them. */
  const tokenOf = async (...texts: readonly string[]) => {
    const made: { readonly ID: string; readonly Name: string }[] = [];
    for (const Rules of texts) {
      policies += 1;
      made.push(await node.client.must('PUT /acl/policy', { Name: `p${policies}`, Rules }));
    }
    const Policies = made.map(({ ID }) => ({ ID }));
    const token = await node.client.must('PUT /acl/token', { Policies });
    return { ...token, policies: made } as {
      readonly AccessorID: string;
      readonly SecretID: string;
      readonly policies: typeof made;
    };
  };
  const write = (Name: string, secret: string) =>
    node.client.must('PUT /acl/role', { Name }, secret);

  it('are those before it, of a token that deletes one of its policies', async () => {
    const { SecretID, policies } = await tokenOf(WRITE, WRITE);
    await node.client.must(`DELETE /acl/policy/${policies[0]!.ID}`, undefined, SecretID);
    expect(node.rules()).to.deep.equal([`acl:write ${policies[0]!.Name}:1`]);
    await write('after-one', SecretID);
    expect(node.rules()).to.deep.equal([`acl:write ${policies[1]!.Name}:1`]);
  });

  it('are known of a token that deletes its only policy', async () => {
    const { SecretID, policies } = await tokenOf(WRITE);
    await node.client.must(`DELETE /acl/policy/${policies[0]!.ID}`, undefined, SecretID);
    expect(node.rules()).to.deep.equal([`acl:write ${policies[0]!.Name}:1`]);
    expect(node.last().granted_by[0]!.via).to.deep.equal([]);
  });

  it('have the lines before it, of a token that edits its policy', async () => {
    const { SecretID, policies } = await tokenOf(WRITE);
    const [{ ID, Name }] = policies as [(typeof policies)[0]];
    const Rules = `\n\n\n${WRITE}`;
    await node.client.must(`PUT /acl/policy/${ID}`, { Name, Rules }, SecretID);
    expect(node.rules()).to.deep.equal([`acl:write ${Name}:1`]);
    await write('after-edit', SecretID);
    expect(node.rules()).to.deep.equal([`acl:write ${Name}:4`]);
  });

  it('stay what they were when others delete the policy or the token', async () => {
    const { SecretID, policies } = await tokenOf(WRITE, WRITE);
    await write('before-all', SecretID);
    await node.client.must(`DELETE /acl/policy/${policies[0]!.ID}`);
    expect(node.rules(1)).to.deep.equal([`acl:write ${policies[0]!.Name}:1`]);
    const other = await tokenOf(WRITE);
    await write('before-none', other.SecretID);
    await node.client.must(`DELETE /acl/token/${other.AccessorID}`);
    expect(node.rules(1)).to.deep.equal([`acl:write ${other.policies[0]!.Name}:1`]);
    expect(node.last(1).auth.accessor_id).to.equal(other.AccessorID);
  });

  it('are those in force when the command is proposed', async () => {
    for (const type of ['role.delete', 'undo']) {
      const made = await node.client.must('PUT /acl/role', { Name: `of-${type.slice(0, 4)}` });
      const { SecretID, policies } = await tokenOf(WRITE, WRITE);
      await write(`before-${type.slice(0, 4)}`, SecretID);
      const undone = { undone: made.ModifyIndex, caller: '', nowMs: 0, at: '', datacenter: 'dc1' };
      between = {
        change: () => node.client.must(`DELETE /acl/policy/${policies[0]!.ID}`),
        command: {
          type,
          v: 1,
          ns: 'default',
          id: made.ID,
          ...(type === 'undo' && undone),
        } as Command,
      };
      const { status, text } = await send(node.client.url, 'PUT /v1/changing', { token: SecretID });
      expect(status, text).to.equal(200);
      expect(node.rules(), type).to.deep.equal([`acl:write ${policies[1]!.Name}:1`]);
    }
  });

  it('are known of sets, which ask for rights last, and of reads that show secrets', async () => {
    const { SecretID, policies } = await tokenOf(WRITE);
    const [{ ID, Name }] = policies as [(typeof policies)[0]];
    const Objects = [{ Type: 'role', Object: { Name: 'of-set' } }];
    await node.client.must('POST /apply', { Owner: 'team', Objects }, SecretID);
    const reader = await tokenOf(WRITE);
    await node.client.must('GET /acl/tokens', undefined, reader.SecretID);
    await node.client.must(`DELETE /acl/policy/${reader.policies[0]!.ID}`);
    await node.client.must(`DELETE /acl/policy/${ID}`);
    const read = `${reader.policies[0]!.Name}:1`;
    expect(node.rules(2)).to.deep.equal([`acl:read ${read}`, `acl:write ${read}`]);
    expect(node.rules(5)).to.include(`acl:write ${Name}:1`);
  });

  it('are found in turns, where a token has many', async () => {
    const rule = (n: number): string => `service "s${n}" { policy = "write" }`;
    const texts = [0, 1, 2, 3, 4, 5].map((nth) =>
      Array.from({ length: 1000 }, (_, n) => rule(1000 * nth + n)).join('\n'),
    );
    const { SecretID, policies } = await tokenOf(...texts, `\n${WRITE}`);
    // all wait for one look-up
    await Promise.all(['many-1', 'many-2', 'many-3'].map((name) => write(name, SecretID)));
    for (const older of [0, 1, 2])
      expect(node.rules(older)).to.deep.equal([`acl:write ${policies[6]!.Name}:2`]);
  });
});
