/** The topic Rights of the event stream. */
import { expect } from 'chai';
import type { Command } from '../../src/state/types.js';
import { eventStage } from './event-stage.js';

describe('the topic Rights', function () {
  this.timeout(60_000);
  const stage = eventStage();
  const { must, ask, open, index } = stage;
  const rights = (Key: string, Type = 'RightsChanged', at = index()) => ({
    id: at,
    event: 'change',
    data: { Index: at, Events: [{ Topic: 'Rights', Type, Key, Index: at }] },
  });

  it('tells a token that its rights change, whatever they rest on', async () => {
    const policy = await must('PUT /acl/policy', { Name: 'p' });
    const role = await must('PUT /acl/role', { Name: 'r', Policies: [{ ID: policy.ID }] });
    const token = await must('PUT /acl/token', { Roles: [{ ID: role.ID }] });
    const own = await open('?topics=Rights', { token: token.SecretID });
    const other = await open(`?topics=Rights:${token.AccessorID}`);
    const both = async (Type?: string) => {
      for (const reader of [own, other])
        expect(await reader.next()).to.deep.equal(rights(token.AccessorID, Type));
    };
    await must(`PUT /acl/policy/${policy.ID}`, { Name: 'p', Rules: 'acl = "read"' });
    await both();
    const second = await must('PUT /acl/policy', { Name: 'q' });
    await must(`PUT /acl/role/${role.ID}`, { Name: 'r', Policies: [{ ID: second.ID }] });
    await both();
    await must(`PUT /acl/policy/${policy.ID}`, { Name: 'p', Rules: '' });
    await must(`PUT /acl/policy/${second.ID}`, { Name: 'q', Rules: 'acl = "read"' });
    await both();
    await must(`DELETE /acl/role/${role.ID}`);
    await both();
    await must(`PUT /acl/token/${token.AccessorID}`, { Description: 'x' });
    await both();
    await must(`DELETE /acl/token/${token.AccessorID}`);
    await both('RightsEnded');
    expect((await own.next())?.event).to.equal('end');
    await must('PUT /acl/policy', { Name: 'end' });
  });

  it('is told of each entry, also of what the rights rest on no longer', async () => {
    const policy = await must('PUT /acl/policy', { Name: 'p' });
    const role = await must('PUT /acl/role', { Name: 'r', Policies: [{ ID: policy.ID }] });
    const token = await must('PUT /acl/token', { Roles: [{ ID: role.ID }] });
    const reader = await open(`?topics=Rights:${token.AccessorID}`);
    const command = (type: string, id: string, more: object): Command =>
      ({ type, v: 1, ns: 'default', id, create: false, ...more }) as Command;
    const written = { Name: 'p', Description: '', Rules: 'acl = "read"' };
    const bare = { Name: 'r', Description: '', Policies: [] };
    // both before the stream gets its turn
    stage.solo.must(command('policy.set', policy.ID, { hash: 'h', policy: written }));
    stage.solo.must(command('role.set', role.ID, { role: bare }));
    const last = index();
    for (const at of [last - 1, last])
      expect(await reader.next()).to.deep.equal(rights(token.AccessorID, 'RightsChanged', at));
    // the token ends with the entry that removes it
    stage.solo.must(command('role.set', role.ID, { role: { ...bare, Description: 'x' } }));
    const accessor = token.AccessorID;
    stage.solo.must({ type: 'token.delete', v: 1, ns: 'default', accessor } as Command);
    for (const [at, type] of [
      [last + 1, 'RightsChanged'],
      [last + 2, 'RightsEnded'],
    ] as const)
      expect(await reader.next()).to.deep.equal(rights(token.AccessorID, type, at));
  });

  it('stands last in the frame of its index', async () => {
    const policy = await must('PUT /acl/policy', { Name: 'p' });
    const token = await must('PUT /acl/token', { Policies: [{ ID: policy.ID }] });
    const reader = await open(`?topics=Rights:${token.AccessorID},ACLPolicy`);
    await must(`PUT /acl/policy/${policy.ID}`, { Name: 'p', Description: 'x' });
    const topics = (await reader.change()).data.Events.map(({ Topic }) => Topic);
    expect(topics).to.deep.equal(['ACLPolicy', 'Rights']);
  });

  it('needs no right for the own token, and acl:read for others at every frame', async () => {
    const policy = await must('PUT /acl/policy', { Name: 'p', Rules: 'acl = "read"' });
    const reader = await must('PUT /acl/token', { Policies: [{ ID: policy.ID }] });
    const other = await must('PUT /acl/token', {});
    const nobody = await must('PUT /acl/token', {});
    const query = `?topics=Rights:${other.AccessorID}`;
    const hidden = await ask(`GET /events${query}`, undefined, nobody.SecretID);
    expect(hidden.status).to.equal(404);
    const stream = await open(`${query},Rights:${reader.AccessorID}`, { token: reader.SecretID });
    const change = (accessor: string) =>
      must(`PUT /acl/token/${accessor}`, { Description: String(Math.random()) });
    await change(other.AccessorID);
    expect(await stream.change()).to.deep.equal(rights(other.AccessorID));
    await must(`PUT /acl/policy/${policy.ID}`, { Name: 'p', Rules: '' });
    expect(await stream.change()).to.deep.equal(rights(reader.AccessorID));
    await change(other.AccessorID);
    // a frame after it shows that it was left out
    const same = { Description: 'x', Policies: [{ ID: policy.ID }] };
    await must(`PUT /acl/token/${reader.AccessorID}`, same);
    expect(await stream.change()).to.deep.equal(rights(reader.AccessorID));
    await must(`PUT /acl/policy/${policy.ID}`, { Name: 'p', Rules: 'acl = "read"' });
    expect((await stream.change()).data.Events[0].Key).to.equal(reader.AccessorID);
    const anonymous = await open('?topics=Rights', { token: '' });
    const own = '00000000-0000-0000-0000-000000000002';
    await must(`PUT /acl/token/${own}`, { Policies: [{ ID: policy.ID }] });
    expect(await anonymous.change()).to.deep.equal(rights(own));
  });

  it('tells after a resume of what changed in between', async () => {
    const policy = await must('PUT /acl/policy', { Name: 'p' });
    const token = await must('PUT /acl/token', { Policies: [{ ID: policy.ID }] });
    const before = index();
    await must(`PUT /acl/policy/${policy.ID}`, { Name: 'p', Rules: 'acl = "read"' });
    const at = index();
    const how = { token: token.SecretID, lastId: before };
    const reader = await open('?topics=Rights', how);
    expect(await reader.change()).to.deep.equal(rights(token.AccessorID, 'RightsChanged', at));
  });
});
