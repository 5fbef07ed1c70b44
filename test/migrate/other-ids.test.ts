/** Objects of a source that are here already, by another ID or from elsewhere. */
import { expect } from 'chai';
import type { Report } from '../../src/api/migration-report.js';
import { Moving } from './running.js';
import { type Json, recordedSource } from './stand-in.js';

describe('conclave migrate to where objects are', function () {
  this.timeout(60_000);
  let moving: Moving;
  const recorded = recordedSource('community');
  beforeEach(async () => {
    moving = await Moving.start(structuredClone(recorded));
  });
  afterEach(() => moving.close());
  const report = async (args: string): Promise<Report> =>
    JSON.parse((await moving.migrate(`${args} --with-secrets --ask none -o json`)).out) as Report;
  const named = (list: readonly Json[], name: string): Json =>
    list.find(({ Name, Description }) => Name === name || Description === name)!;

  it('compares by the IDs here, and names what has another one', async () => {
    const { Name, Description, Rules } = named(recorded.Policies, 'ops');
    const policy = await moving.cluster.must('PUT /acl/policy', { Name, Description, Rules });
    const role = named(recorded.Roles, 'web');
    const { Types, Problems = [], Rights } = await report('--dry-run');
    expect(Problems).to.deep.equal([
      {
        Ref: 'policy/default/ops',
        Code: 'conflict',
        Message: 'an object of this name is here with another ID',
      },
    ]);
    // It gets its owner.
    expect(Types['policy']).to.include({ Update: 1 });
    expect(Types['role']?.LeftOut).to.equal(0);
    expect(Rights?.Differences.every(({ Code }) => Code === 'left_out')).to.equal(true);
    expect(await moving.cluster.must(`GET /acl/policy/${policy.ID}`)).to.include({ Name });
    expect((await moving.cluster.ask(`GET /acl/role/${role['ID']}`)).status).to.equal(404);
  });

  it('keeps the ID of what is made anew at the source', async () => {
    await report('--yes');
    const [id, anew] = [
      named(recorded.Policies, 'ops')['ID'],
      '055665f0-fbb3-484e-8ef1-521254250000',
    ];
    const text = JSON.stringify(moving.source.recorded).replaceAll(String(id), anew);
    await moving.replace({}, JSON.parse(text));
    Object.assign(named(moving.source.recorded.Policies, 'ops'), { Rules: 'acl = "write"' });
    const { Types, Problems, Rights } = await report('--yes');
    expect(Problems).to.equal(undefined);
    expect(Types['policy']).to.include({ Create: 0, Update: 1, Delete: 0 });
    expect(Types['role']).to.include({ Create: 0, Update: 0, Delete: 0 });
    const policy = await moving.cluster.must(`GET /acl/policy/${id}`);
    expect(policy).to.include({ Name: 'ops', Rules: 'acl = "write"' });
    expect(Rights?.Differences.every(({ Code }) => Code === 'left_out')).to.equal(true);
  });

  it('leaves a binding rule that was changed here under a handle', async () => {
    await report('--yes');
    const { ID, AuthMethod, BindType, BindName } = named(recorded.BindingRules, 'operators');
    const mine = { ID, AuthMethod, BindType, BindName, Description: 'mine' };
    const Objects = [{ Type: 'binding-rule', Handle: 'operators', Object: mine }];
    await moving.cluster.must('POST /apply', { Objects });
    const signal = AbortSignal.timeout(20_000);
    const { out } = await moving.migrate('--yes -o json', { signal });
    const { Problems = [] } = JSON.parse(out || '{}') as Partial<Report>;
    expect(Problems.map(({ Ref, Code }) => [Ref, Code])).to.deep.equal([
      [`binding-rule/default/${ID}`, 'changed'],
    ]);
    expect(await moving.cluster.must(`GET /acl/binding-rule/${ID}`)).to.include(mine);
  });

  it('compares the rights of a token whose AccessorID has capital letters', async () => {
    const { recorded: source } = moving.source;
    const token = named(source.Tokens, 'ci');
    token['AccessorID'] = String(token['AccessorID']).toUpperCase();
    const { Rights } = await report('--yes --mend');
    expect(Rights?.Differences.filter(({ Code }) => Code === 'unexplained')).to.deep.equal([]);
  });

  it('takes an equal binding rule, whatever its ID is', async () => {
    moving.source.recorded.BindingRules.splice(0, 99, {
      ...named(recorded.BindingRules, 'operators'),
    });
    await report('--yes');
    const [before] = await moving.cluster.must('GET /acl/binding-rules');
    const [rule] = moving.source.recorded.BindingRules as [Json];
    rule['ID'] = '095a18f5-9c7b-40ae-8195-7994f0886900';
    const { Types } = await report('--yes');
    expect(Types['binding-rule']).to.include({ Same: 1, Create: 0, Update: 0, Delete: 0 });
    expect(await moving.cluster.must('GET /acl/binding-rules')).to.deep.equal([before]);
  });

  it('leaves a token of others as it is if it is equal, ends a second sooner too', async () => {
    const { AccessorID, SecretID, Description } = named(recorded.Tokens, 'nothing');
    const ends = { ExpirationTTL: '12h' };
    const body = { AccessorID, SecretID, Description, ...ends };
    const { ExpirationTime } = await moving.cluster.must('PUT /acl/token', body);
    const token = named(moving.source.recorded.Tokens, 'nothing');
    token['ExpirationTime'] = new Date(Date.parse(ExpirationTime) - 1000).toISOString();
    const { index } = moving;
    const { Types, Problems } = await report('--dry-run');
    expect(Problems).to.equal(undefined);
    expect(Types['token']).to.include({ Same: 1 });
    token['ExpirationTime'] = new Date(Date.parse(ExpirationTime) - 60_000).toISOString();
    const { Problems: found = [] } = await report('--dry-run');
    expect(found.map(({ Code }) => Code)).to.deep.equal(['owned']);
    expect(moving.index).to.equal(index);
  });
});
