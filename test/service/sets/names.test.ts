import { expect } from 'chai';
import { signer } from '../../login/signers.js';
import { SoloClient } from '../client.js';

const role = (Name: string, more: object = {}) => ({ Type: 'role', Object: { Name, ...more } });

describe('The names of a set', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.withHistory();
  });
  afterEach(() => client.close());

  const applied = (body: object) => client.must('POST /apply', body);
  const exported = (query: string) => client.must(`GET /export?${query}`);

  it('go back to the objects that had them, where others have taken them since', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    const rule = (Handle: string, BindName: string, more: object = {}) => ({
      Type: 'binding-rule',
      Handle,
      Object: { AuthMethod: 'jwt1', BindType: 'service', BindName, ...more },
    });
    const { Changes, Index } = await applied({
      Objects: [
        role('a'),
        role('b', { Description: 'second' }),
        rule('x', 'one'),
        rule('y', 'two'),
      ],
    });
    const idOf = (ref: string): string =>
      Changes.find(({ Ref }: { Ref: string }) => Ref.endsWith(ref)).ID;
    await applied({
      Delete: [
        { Type: 'role', Name: 'a' },
        { Type: 'binding-rule', Handle: 'x' },
      ],
    });
    await applied({
      Objects: [
        role('a', { ID: idOf('/b'), Description: 'second' }),
        rule('x', 'two', { ID: idOf('/y') }),
      ],
    });
    const then = await exported(`types=role&at=${Index}`);
    const rules = [rule('x', 'one', { ID: idOf('/x') }), rule('y', 'two', { ID: idOf('/y') })];
    await applied({ Objects: [...then.Objects, ...rules] });
    expect((await client.must('GET /acl/role/name/a')).ID).to.equal(idOf('/a'));
    expect(await client.must('GET /acl/role/name/b')).to.include({ ID: idOf('/b') });
    const { Objects } = await exported('types=binding-rule&ids=true');
    expect(
      Objects.map((one: { Handle: string; Object: { ID: string } }) => one.Object.ID),
    ).to.deep.equal([idOf('/x'), idOf('/y')]);
  });

  it('go back with binding rules that have been deleted since', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    const Rule = { AuthMethod: 'jwt1', BindType: 'service', BindName: 'web' };
    const Objects = [{ Type: 'binding-rule', Handle: 'x', Object: Rule }];
    const { Index } = await applied({ Objects });
    await applied({ Delete: [{ Type: 'binding-rule', Handle: 'x' }] });
    await applied(await exported(`types=binding-rule&at=${Index}`));
    expect((await applied({ Objects })).Changed).to.equal(0);
    expect(await client.must('GET /acl/binding-rules')).to.have.length(1);
  });

  it('are each of one object, whatever IDs there are', async () => {
    const { Changes } = await applied({ Objects: [role('a')] });
    const { ID } = Changes[0];
    const twice = await client.ask('POST /apply', { Objects: [role('a', { ID }), role('A')] });
    expect([twice.status, twice.body.pointer]).to.deep.equal([400, '/Objects/1']);
    const split = await applied({ Objects: [role('b', { ID }), role('a')] });
    expect(split.Changes.map(({ Action }: { Action: string }) => Action)).to.deep.equal([
      'create',
      'update',
    ]);
  });

  it('may be that of the policy that a new namespace brings', async () => {
    const policy = {
      Type: 'policy',
      Namespace: 'team-a',
      Object: { Name: 'namespace-management', Rules: 'acl = "read"' },
    };
    const body = { Objects: [{ Type: 'namespace', Object: { Name: 'team-a' } }, policy] };
    const plan = await client.must('POST /plan', body);
    expect(plan.Problems).to.deep.equal([]);
    const { Changes } = await applied({ ...body, Digest: plan.Digest });
    const brought = Changes.find(({ Type }: { Type: string }) => Type === 'policy');
    const found = await client.must('GET /acl/policy/name/namespace-management?ns=team-a');
    expect(found).to.include({ ID: brought.ID, Rules: 'acl = "read"' });
    expect((await client.must('GET /acl/policies?ns=team-a')).length).to.equal(1);
    expect((await client.must('POST /plan', body)).Summary).to.include({ Unchanged: 2 });
    const { Versions } = await client.must(`GET /history/policy/${brought.ID}?ns=team-a`);
    expect(Versions).to.have.length(1);
    const other = { ...policy, Namespace: 'team-b' };
    const ID = '7d0b6f4e-58d9-4a43-9d32-0f0c5e3b9a11';
    const set = { Objects: [{ Type: 'namespace', Object: { Name: 'team-b' } }, other] };
    Object.assign(other.Object, { ID });
    const warned = await client.must('POST /plan', set);
    expect(warned.Changes.at(-1).Warnings[0].Code).to.equal('other_id');
    expect((await applied(set)).Changed).to.equal(2);
  });
});
