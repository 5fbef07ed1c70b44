/** What readers of events are told of the tokens of logins. */
import { expect } from 'chai';
import { type Signer, signer } from '../login/signers.js';
import type { EventReader, EventShown } from '../support/event-reader.js';
import { eventStage } from './event-stage.js';

describe('events of the tokens of logins', function () {
  this.timeout(60_000);
  const stage = eventStage();
  const { must, open, index } = stage;
  let key: Signer;
  before(async () => {
    key = await signer('EdDSA');
  });
  beforeEach(async () => {
    const Config = { JWTValidationPubKeys: [key.pem] };
    await must('PUT /acl/auth-method', { Name: 'jwt', Type: 'jwt', Config });
    const rule = { AuthMethod: 'jwt', BindType: 'service', BindName: 'web' };
    await must('PUT /acl/binding-rule', rule);
  });
  async function logIn() {
    const now = Math.floor(stage.solo.nowMs / 1000);
    const BearerToken = await key.sign({ iat: now, exp: now + 60, sub: 'a' });
    return must('POST /acl/login', { AuthMethod: 'jwt', BearerToken }, '');
  }
  /** The events up to that of the policy `end`, oldest first. */
  async function eventsOf(reader: EventReader): Promise<EventShown[]> {
    const events: EventShown[] = [];
    for (;;) {
      const { Events } = (await reader.change()).data;
      if (Events[0].Name === 'end') return events;
      events.push(...Events);
    }
  }
  const short = ({ Type, Key, Payload }: EventShown): unknown[] => [
    Type,
    Key,
    Payload['ACLToken']?.['Description'],
  ];

  it('are sent only to who asks for them, and without the tokens', async () => {
    const live = [await open(''), await open('?logins=true')];
    const from = index();
    const { AccessorID: own } = await must('PUT /acl/token', { Description: 'own' });
    await must(`PUT /acl/token/${own}`, { Description: 'own 2' });
    const login = await logIn();
    const { AccessorID: id, SecretID } = login;
    await must(`PUT /acl/token/${id}`, { ...login, Description: 'changed' });
    await must('POST /acl/logout', undefined, SecretID);
    await must('PUT /acl/policy', { Name: 'end' });
    const past = [await open(`?index=${from}`), await open(`?index=${from}&logins=true`)];
    for (const [without, withThem] of [live, past] as [EventReader, EventReader][]) {
      const others = [
        ['ACLTokenCreated', own, 'own'],
        ['ACLTokenUpdated', own, 'own 2'],
      ];
      expect((await eventsOf(without)).map(short)).to.deep.equal(others);
      const all = await eventsOf(withThem);
      expect(all.map(short)).to.deep.equal([
        ...others,
        ['ACLTokenCreated', id, undefined],
        ['ACLTokenUpdated', id, undefined],
        ['ACLTokenDeleted', id, undefined],
      ]);
      const identity = { AuthMethod: 'jwt', Namespace: 'default', Subject: 'a' };
      expect(all[2]?.Author?.Identity).to.deep.equal(identity);
    }
  });
});
