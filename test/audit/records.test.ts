/** What the records of an audit log say: why, where, and no secret. */
import { expect } from 'chai';
import { type Signer, signer } from '../login/signers.js';
import { type Audited, audited } from './audited.js';

const REASON = { headers: { 'x-consul-reason': 'of the header' } };

describe('the records of the audit log', () => {
  let node: Audited;
  let key: Signer;
  before(async () => {
    key = await signer('EdDSA');
    node = await audited();
    const Config = { JWTValidationPubKeys: [key.pem] };
    await node.client.must('PUT /acl/auth-method', { Name: 'jwt', Type: 'jwt', Config });
    const rule = { AuthMethod: 'jwt', BindType: 'service', BindName: 'web' };
    await node.client.must('PUT /acl/binding-rule', rule);
  });
  after(() => node.client.close());

  it('have the reason of the body, if it gives one', async () => {
    const asked = async (call: string, body: object): Promise<string> => {
      const { status, text } = await node.client.ask(call, body, undefined, REASON);
      expect(status, text).to.equal(200);
      return node.last().reason;
    };
    expect(await asked('PUT /acl/policy', { Name: 'undone' })).to.equal('of the header');
    const Index = Number((await node.client.ask('GET /acl/policies')).index);
    const bodies: readonly (readonly [string, object])[] = [
      ['POST /undo', { Index }],
      ['POST /apply', { Owner: 'team', Objects: [{ Type: 'role', Object: { Name: 'set' } }] }],
      ['POST /acl/tokens/gc', { UnusedFor: '720h', DryRun: false }],
      ['POST /acl/tokens/import', { Source: 'dc2', Tokens: [] }],
      ['POST /acl/tokens/revoke', { AuthMethod: 'jwt', Subject: 'x', DryRun: false }],
      ['POST /owners/release', { Owner: 'team' }],
    ];
    for (const [call, body] of bodies) {
      expect(await asked(call, { ...body, Reason: 'of the body' }), call).to.equal('of the body');
      expect(node.last().request.endpoint).to.equal(`/v1${call.slice('POST '.length)}`);
    }
  });
});
