import { expect } from 'chai';
import { compile } from '../../src/acl/authorizer.js';
import { authorizeBatch, QUESTIONS_MAX } from '../../src/acl/batch.js';
import { policyGrant } from '../../src/acl/synthetic.js';

const team = compile([policyGrant('service "web" { policy = "read" }', 'team')], { accessor: 'a' });
const question = { Resource: 'service', Access: 'Read', Segment: 'web' };

describe('batch authorization', () => {
  it('answers each check as it was sent, in the requested namespace', () => {
    const other = { Resource: 'acl', Access: 'read', Segment: 'ignored' };
    expect(authorizeBatch(team, [question, other], 'team')).to.deep.equal({
      ok: true,
      decisions: [
        { ...question, Allow: true },
        { ...other, Allow: false },
      ],
    });
    expect(authorizeBatch(team, [question])).to.have.deep.nested.property(
      'decisions[0].Allow',
      false,
    );
    expect(authorizeBatch(team, [])).to.deep.equal({ ok: true, decisions: [] });
  });
  it('refuses all checks if one is invalid, and names it', () => {
    const bad = { Resource: 'service', Access: 'list' };
    expect(authorizeBatch(team, [question, bad])).to.deep.equal({
      ok: false,
      refusal: {
        code: 'invalid',
        message: 'Invalid access level for service resource: list',
        pointer: '/1/Access',
        hint: 'one of read, write',
      },
    });
    for (const Resource of ['', 'namespace', 'key_prefix', 'identity', '__proto__']) {
      expect(authorizeBatch(team, [{ Resource, Access: 'read' }])).to.have.nested.property(
        'refusal.message',
        `Invalid ACL resource requested: ${JSON.stringify(Resource)}`,
      );
    }
    expect(authorizeBatch(team, [{}])).to.have.nested.property('refusal.pointer', '/0/Resource');
  });
  it('limits the number of checks', () => {
    const many = Array(QUESTIONS_MAX + 1).fill(question);
    expect(authorizeBatch(team, many)).to.have.nested.property(
      'refusal.message',
      'Refusing to process more than 64 authorizations at once',
    );
    expect(authorizeBatch(team, many.slice(1))).to.have.property('ok', true);
  });
});
