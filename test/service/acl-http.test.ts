import { expect } from 'chai';
import type { Command } from '../../src/state/types.js';
import type { Answer, Client } from '../support/client.js';
import { SoloClient } from './client.js';
import type { Solo } from './solo.js';

type Body = Answer['body'];

const NO_ID = 'ffffffff-aaaa-4aaa-8aaa-000000000001';

describe('ACL endpoints', () => {
  let solo: Solo;
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    solo = client.solo;
  });
  afterEach(() => client.close());

  const ask: Client['ask'] = (...asked) => client.ask(...asked);
  const made: Client['must'] = (...asked) => client.must(...asked);
  const secretWith: Client['secretWith'] = (...asked) => client.secretWith(...asked);

  it('no cache may keep an answer with secrets, and answers without stay as they are', async () => {
    const { AccessorID } = await made('PUT /acl/token', {});
    const { ID } = await made('PUT /acl/policy', { Name: 'p' });
    const headersOf = async (path: string) => {
      const { headers } = await ask(`GET ${path}`);
      return [headers['cache-control'], headers['expires']];
    };
    // the second answer is not the shared one of the first
    for (let n = 0; n < 2; n += 1) {
      expect(await headersOf(`/acl/token/${AccessorID}`)).to.deep.equal(['no-store', '0']);
      expect(await headersOf(`/acl/policy/${ID}`)).to.deep.equal([undefined, '0']);
    }
  });
  function manyTokens(count: number, Policies: object[] = []): void {
    for (let n = 0; n < count; n++) {
      const last = String(n).padStart(12, '0');
      solo.must({
        type: 'token.create',
        v: 1,
        ns: 'default',
        createTime: '2030-01-01T00:00:00Z',
        accessor: `33333333-aaaa-4aaa-8aaa-${last}`,
        secret: `44444444-aaaa-4aaa-8aaa-${last}`,
        token: { Description: `t${n}`, Policies, Roles: [], Local: false },
      } as Command);
    }
  }

  it('list hundreds of tokens in pieces, as one array with its index', async () => {
    const { ID, Name } = await made('PUT /acl/policy', { Name: 'p' });
    manyTokens(600, [{ ID }]);
    const all = await ask('GET /acl/tokens');
    expect(all.body).to.have.lengthOf(602);
    expect(all.index).to.equal(solo.machine.appliedIndex());
    const accessors = all.body.map((token: Body) => token.AccessorID);
    expect(accessors).to.deep.equal([...accessors].sort());
    const seventh = all.body.find((token: Body) => token.Description === 't7');
    expect(seventh.Policies).to.deep.equal([{ ID, Name }]);
    const reader = await secretWith('acl = "read"');
    const hidden = await ask('GET /acl/tokens', undefined, reader);
    expect(new Set(hidden.body.map((token: Body) => token.SecretID))).to.deep.equal(
      new Set(['<hidden>']),
    );
    const few = await ask(`GET /acl/tokens?filter=${encodeURIComponent('Description == t7')}`);
    expect(few.body).to.have.lengthOf(1);
    const none = await ask('GET /acl/tokens?filter=Description+==+nope');
    expect(none.body).to.deep.equal([]);
  });

  it("answer a client's mistake with a 4xx that says what to do", async () => {
    await made('PUT /acl/role', { Name: 'web' });
    const cases: [string, object | undefined, number, RegExp][] = [
      ['PUT /acl/role', { Name: 'WEB' }, 409, /A Role with Name "WEB" already exists/],
      ['PUT /acl/role', { Nome: 'x' }, 400, /unknown field "Nome"; did you mean "Name"/],
      ['PUT /acl/role', { name: 'x' }, 400, /unknown field "name"; did you mean "Name"/],
      ['PUT /acl/role', { Name: 'x', Policies: [{ Name: 'no' }] }, 400, /No such ACL policy/],
      [`PUT /acl/role/${NO_ID}`, { Name: 'x' }, 404, /cannot find role/],
      ['PUT /acl/role?ns=nowhere', { Name: 'x' }, 400, /Namespace "nowhere" does not exist/],
      ['GET /acl/roles?filter=Nam==x', undefined, 400, /Invalid filter/],
      ['GET /acl/tokens?filter=SecretID==x', undefined, 400, /Invalid filter/],
      ['GET /acl/tokens?policy=a&role=b', undefined, 400, /can only filter by one/],
      ['PUT /acl/token', { ServiceIdentities: [null] }, 400, /expected an object, not null/],
      ['GET /acl/templated-policy/name/builtin/servise', undefined, 404, /did you mean/],
      ['PUT /acl/policy', { Name: 'x', Rules: 'servise "a" {}' }, 400, /did you mean/],
      ['PUT /namespace', { Name: 'A b' }, 400, /Invalid Namespace/],
      ['DELETE /namespace/default', undefined, 400, /not permitted/],
      ['GET /acl/role/x', undefined, 400, /: index error: UUID must be 36 characters, .* not "x"/],
      ['GET /acl/roles?policy=x', undefined, 400, /^policy: index error: UUID must be 36 char/],
      ['GET /config/mesh?ns=*', undefined, 400, /which only lists of ACL objects can show/],
    ];
    for (const [call, body, status, message] of cases) {
      const reply = await ask(call, body);
      expect(reply, call).to.include({ status });
      expect(reply.text).to.match(message);
    }
  });

  it('refuse the own token in the words that clients look for', async () => {
    for (const secret of ['unknown', '']) {
      const { status, text } = await ask('GET /acl/token/self', undefined, secret);
      expect(status).to.equal(403);
      expect(text).to.match(/^token does not exist: ACL not found/);
    }
  });

  it('answer the deletion of a missing object with 200 false', async () => {
    for (const what of ['role', 'policy', 'token', 'binding-rule']) {
      expect(await ask(`DELETE /acl/${what}/${NO_ID}`)).to.include({
        status: 200,
        text: 'false',
      });
    }
    expect((await ask('DELETE /acl/auth-method/none')).text).to.equal('false');
    expect((await ask('DELETE /namespace/none')).text).to.equal('false');
  });

  it('reveal neither existence nor validation results to callers without permission', async () => {
    const role = await made('PUT /acl/role', { Name: 'web' });
    const unprivileged = await secretWith('service "web" { policy = "write" }');
    const cases: [string, object?][] = [
      [`GET /acl/role/${role.ID}`],
      ['GET /acl/role/not-a-uuid'],
      ['GET /acl/role/name/web'],
      ['GET /acl/roles'],
      ['GET /acl/roles?ns=*'],
      ['PUT /acl/role', { Name: 'web' }],
      ['PUT /acl/role', { Name: 'not valid' }],
      [`PUT /acl/role/${role.ID}`, { Name: 'x', Policies: [{ Name: 'no' }] }],
      [`DELETE /acl/role/${role.ID}`],
      ['DELETE /acl/role/not-a-uuid'],
      ['PUT /acl/binding-rule', { AuthMethod: 'none' }],
      ['PUT /acl/auth-method', { Name: 'x', Type: 'nope' }],
      ['PUT /namespace', { Name: 'not valid' }],
      ['DELETE /namespace/none'],
      ['GET /acl/templated-policy/name/none'],
      ['POST /acl/templated-policy/preview/none', {}],
    ];
    for (const [call, body] of cases) {
      for (const token of [unprivileged, '']) {
        const reply = await ask(call, body, token);
        expect(reply.status, `${call}: ${reply.text}`).to.equal(403);
        expect(reply.text).to.match(/^Permission denied: .* lacks permission '/);
      }
    }
  });

  it('isolate namespaces, list them together with ns=*, and empty deleted ones', async () => {
    await made('PUT /namespace', { Name: 'red', Meta: { __proto__x: '1' } });
    await made('PUT /acl/role?ns=red', { Name: 'web' });
    await made('PUT /acl/role', { Name: 'web', Namespace: 'default' });
    expect(
      (await made('PUT /acl/role?ns=default', { Name: 'own', Namespace: 'red' })).Namespace,
    ).to.equal('red');
    const all = await ask('GET /acl/roles?ns=*');
    expect(all.body.map((role: Body) => `${role.Namespace}/${role.Name}`)).to.deep.equal([
      'default/web',
      'red/own',
      'red/web',
    ]);
    expect(all.filtered).to.equal(null);
    const manager = await made('PUT /acl/token?ns=red', {
      Policies: [{ Name: 'namespace-management' }],
    });
    const own = await ask('GET /acl/roles', undefined, manager.SecretID);
    expect(own.body.map((role: Body) => role.Name)).to.deep.equal(['own', 'web']);
    const some = await ask('GET /acl/roles?ns=*', undefined, manager.SecretID);
    expect(some.body).to.have.lengthOf(2);
    expect(some.filtered).to.equal('true');
    expect((await ask('GET /acl/roles?ns=default', undefined, manager.SecretID)).status).to.equal(
      403,
    );
    expect((await ask('DELETE /namespace/red')).text).to.equal('true');
    expect((await ask('GET /namespace/red')).body.DeletedAt).to.be.a('string');
    expect((await ask('GET /acl/roles', undefined, manager.SecretID)).text).to.match(
      /^ACL not found \(the token sent is not known/,
    );
    solo.must({ type: 'namespace.reap', v: 1, name: 'red' } as Command);
    expect((await ask('GET /namespace/red')).status).to.equal(404);
    expect((await ask('GET /acl/roles?ns=red')).body).to.deep.equal([]);
  });

  it('expand a token to everything it grants, each thing once', async () => {
    await made('PUT /acl/policy', { Name: 'p', Rules: 'acl = "read"' });
    await made('PUT /acl/role', {
      Name: 'r',
      Policies: [{ Name: 'p' }],
      ServiceIdentities: [{ ServiceName: 'web' }],
    });
    const { AccessorID } = await made('PUT /acl/token', {
      Policies: [{ Name: 'p' }],
      Roles: [{ Name: 'r' }],
      TemplatedPolicies: [{ TemplateName: 'builtin/service', TemplateVariables: { Name: 'web' } }],
    });
    const { body } = await ask(`GET /acl/token/${AccessorID}?expanded=false`);
    expect(body.ExpandedRoles).to.have.lengthOf(1);
    expect(
      body.ExpandedPolicies.map((policy: Body) => policy.Name.slice(0, 9)).sort(),
    ).to.deep.equal(['p', 'synthetic']);
    expect(body).to.include({
      AgentACLDefaultPolicy: 'deny',
      AgentACLDownPolicy: 'extend-cache',
      ResolvedByAgent: 'solo',
    });
  });

  it('accept names like those of built-in object members', async () => {
    for (const Name of ['__proto__', 'constructor', 'toString']) {
      const policy = await made('PUT /acl/policy', { Name });
      const role = await made('PUT /acl/role', { Name, Policies: [{ Name }] });
      expect(role.Policies).to.deep.equal([{ ID: policy.ID, Name }]);
      expect((await ask(`GET /acl/role/name/${Name}`)).body.ID).to.equal(role.ID);
      expect((await ask(`DELETE /acl/policy/${policy.ID}`)).text).to.equal('true');
      expect((await ask(`GET /acl/role/name/${Name}`)).body).not.to.have.property('Policies');
      expect((await ask(`GET /acl/auth-method/${Name}`)).status).to.equal(404);
      expect((await ask(`GET /acl/templated-policy/name/${Name}`)).status).to.equal(404);
    }
  });
});
