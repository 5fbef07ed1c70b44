import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { listTokens } from '../../src/service/acl/token-reads.js';
import { SoloClient } from './client.js';
import { MANAGER } from './solo.js';

describe('blocking reads', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  describe('of a namespace that links a policy and a role', () => {
    let policy: string;
    let role: string;
    beforeEach(async () => {
      policy = (await client.must('PUT /acl/policy', { Name: 'p' })).ID;
      role = (await client.must('PUT /acl/role', { Name: 'r' })).ID;
      const ACLs = { PolicyDefaults: [{ ID: policy }], RoleDefaults: [{ ID: role }] };
      await client.must('PUT /namespace', { Name: 'team', ACLs });
    });
    const deletions: [string, () => string][] = [
      ['policy', () => `DELETE /acl/policy/${policy}`],
      ['role', () => `DELETE /acl/role/${role}`],
    ];
    for (const [what, call] of deletions) {
      for (const path of ['/namespace/team', '/namespaces']) {
        it(`${path} wakes when the ${what} is deleted, at a greater index that stays`, async () => {
          await client.must(`PUT /acl/policy/${policy}`, { Name: 'p2' });
          const { before, woken } = await client.across(path, () => client.must(call()));
          expect(woken?.index).to.be.greaterThan(before.index);
          expect(woken?.text).not.to.include(what === 'policy' ? policy : role);
          expect((await client.ask(`GET ${path}`)).index).to.equal(woken?.index);
        });
      }
    }

    it('an expanded token of it wakes too, and shows what is left', async () => {
      const { AccessorID } = await client.must('PUT /acl/token?ns=team', {});
      const path = `/acl/token/${AccessorID}?expanded&ns=team`;
      const { before, woken } = await client.across(path, () =>
        client.must(`DELETE /acl/policy/${policy}`),
      );
      expect(before.body.NamespaceDefaultPolicyIDs).to.deep.equal([policy]);
      expect(woken?.body.NamespaceDefaultPolicyIDs).to.equal(null);
      expect(woken?.body.ExpandedPolicies).to.equal(null);
    });

    it('the rules behind it are shown to callers who may read their namespace', async () => {
      const secret = await client.secretWith('acl = "write"', 'team');
      const { AccessorID } = await client.must('GET /acl/token/self', undefined, secret);
      const shown = async (token?: string): Promise<string> =>
        JSON.stringify(
          (await client.must(`GET /acl/token/${AccessorID}?expanded&ns=team`, undefined, token))
            .ExpandedPolicies,
        );
      expect(await shown()).to.include(policy);
      expect(await shown(secret)).not.to.include(policy);
    });
  });

  it('that one change wakes show each caller what it may see', async () => {
    const { AccessorID, SecretID } = await client.must('PUT /acl/token', { Description: 'one' });
    const path = `/acl/token/${AccessorID}`;
    const { index } = await client.ask(`GET ${path}`);
    const reader = await client.secretWith('acl = "read"');
    const callers = [undefined, reader, undefined, reader, SecretID];
    const held = callers.map((token) =>
      client.ask(`GET ${path}?index=${index}&wait=60s`, undefined, token),
    );
    while (client.solo.watches.size < callers.length - 1) await nextTurn();
    await client.must(`PUT ${path}`, { AccessorID, Description: 'two' });
    const replies = await Promise.all(held);
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 403]);
    const shown = replies.slice(0, 4).map(({ body }) => [body.SecretID, body.Description]);
    expect(shown).to.deep.equal([
      ...[
        [SecretID, 'two'],
        ['<hidden>', 'two'],
      ],
      ...[
        [SecretID, 'two'],
        ['<hidden>', 'two'],
      ],
    ]);
  });

  it('end with 403 when the token of the caller expires, before it is removed', async () => {
    const { solo } = client;
    const { ID } = await client.must('PUT /acl/policy', { Name: 'r', Rules: 'acl = "read"' });
    const Policies = [{ ID }];
    const ExpirationTime = new Date(solo.nowMs + 60_000).toISOString();
    const { SecretID } = await client.must('PUT /acl/token', { Policies, ExpirationTime });
    const path = `/acl/policy/${ID}`;
    const { index } = await client.ask(`GET ${path}`);
    solo.nowMs += 59_900;
    const held = client.ask(`GET ${path}?index=${index}&wait=60s`, undefined, SecretID);
    while (solo.watches.size === 0) await nextTurn();
    solo.nowMs += 100;
    const { status, text } = await held;
    expect(status, text).to.equal(403);
    expect(text).to.match(/^ACL not found/);
  });

  it('of the token of another end when it expires, or its namespace is deleted', async () => {
    const { solo } = client;
    await client.must('PUT /namespace', { Name: 'team' });
    for (const expanded of ['', '&expanded']) {
      const { AccessorID } = await client.must('PUT /acl/token?ns=team', { ExpirationTTL: '1m' });
      const path = `/acl/token/${AccessorID}?ns=team${expanded}`;
      const { index } = await client.ask(`GET ${path}`);
      solo.nowMs += 59_900;
      const held = client.ask(`GET ${path}&index=${index}&wait=2s`);
      while (solo.watches.size === 0) await nextTurn();
      solo.nowMs += 100;
      expect((await held).status, path).to.equal(403);
    }
    const { AccessorID } = await client.must('PUT /acl/token?ns=team', {});
    const path = `/acl/token/${AccessorID}?ns=team`;
    const { woken } = await client.across(path, () => client.must('DELETE /namespace/team'));
    expect(woken?.status).to.equal(403);
  });

  it('of lists watch one key, however many links the items show', async () => {
    for (let n = 0; n < 20; n++) {
      const { ID } = await client.must('PUT /acl/policy', { Name: `p${n}` });
      await client.must('PUT /acl/token', { Policies: [{ ID }] });
    }
    const { store, service } = client.solo;
    const authorizer = await service.authorize(MANAGER);
    const all = { filter: () => undefined };
    const plan = listTokens('default', all, () => client.solo.nowMs)({ view: store, authorizer });
    expect(plan.keys).to.have.lengthOf(1);
    const held = await client.across('/acl/tokens', async () => {
      const { ID } = await client.must('GET /acl/policy/name/p7');
      await client.must(`PUT /acl/policy/${ID}`, { Name: 'renamed' });
    });
    expect(held.woken?.text).to.include('renamed');
  });

  it('of config entries may spend the whole budget of a filter each time they look', async () => {
    const Meta = { long: 'x'.repeat(500) };
    const entry = (Name: string) => ({ Kind: 'service-defaults', Name, Protocol: 'http', Meta });
    for (let n = 0; n < 30; n++) await client.must('PUT /config', entry(`s${n}`));
    // About three quarters of the budget for this list.
    const term = 'Meta.long matches "^(a{1,100}|x+)$"';
    const filter = encodeURIComponent([term, term, term, term, term].join(' and '));
    const held = await client.across(`/config/service-defaults?filter=${filter}`, () =>
      client.must('PUT /config', entry('more')),
    );
    expect(held.before.status, held.before.text.slice(0, 200)).to.equal(200);
    expect(held.before.body).to.have.lengthOf(30);
    expect(held.woken?.status, held.woken?.text.slice(0, 200)).to.equal(200);
    expect(held.woken?.body).to.have.lengthOf(31);
  });

  it('of part of a list wake only for these items', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'p' });
    const one = await client.must('PUT /acl/role', { Name: 'one', Policies: [{ ID }] });
    const other = () =>
      client.must('PUT /acl/role', { Name: `r${client.solo.machine.appliedIndex()}` });
    for (const query of [`policy=${ID}`, 'filter=Name==one']) {
      const path = `/acl/roles?${query}`;
      expect((await client.across(path, other)).woken).to.equal(undefined);
      const again = () =>
        client.must(`PUT /acl/role/${one.ID}`, { Name: 'one', Policies: [{ ID }] });
      expect((await client.across(path, again)).woken?.body).to.have.lengthOf(1);
    }
    expect((await client.across('/acl/roles', other)).woken?.status).to.equal(200);
  });

  describe('of a list of config entries', () => {
    const defaults = (Name: string, Protocol = 'http') => ({
      Kind: 'service-defaults',
      Name,
      Protocol,
    });
    const put = (...of: [string, string?]) => client.must('PUT /config', defaults(...of));
    beforeEach(async () => {
      await put('web');
      await put('api');
    });

    it('wake for visible entries, not for those hidden from the caller', async () => {
      const secret = await client.secretWith('service_prefix "web" { policy = "read" }');
      const path = '/config/service-defaults';
      const hidden = await client.across(path, () => put('api', 'grpc'), secret);
      expect(hidden.before.body).to.have.lengthOf(1);
      expect(hidden.woken).to.equal(undefined);
      const gone = () => client.must('DELETE /config/service-defaults/api');
      // Nothing is hidden any more, which changes the response too.
      expect((await client.across(path, gone, secret)).woken?.body).to.have.lengthOf(1);
      const shown = await client.across(path, () => put('web', 'grpc'), secret);
      expect(shown.woken?.index).to.be.greaterThan(shown.before.index);
      expect(shown.woken?.body[0].Protocol).to.equal('grpc');
    });

    it('wake for entries that match the filter, not for others', async () => {
      const path = '/config/service-defaults?filter=Name==web';
      expect((await client.across(path, () => put('api', 'grpc'))).woken).to.equal(undefined);
      expect((await client.across(path, () => put('web', 'grpc'))).woken?.body).to.have.lengthOf(1);
      const gone = () => client.must('DELETE /config/service-defaults/web');
      expect((await client.across(path, gone)).woken?.text).to.equal('[]');
    });

    it('wake for every change if the caller sees everything', async () => {
      const path = '/config/service-defaults';
      expect((await client.across(path, () => put('api', 'grpc'))).woken?.body).to.have.lengthOf(2);
    });
  });
});

describe('a restore', () => {
  it('lowers no index, of objects, lists or missing objects', async () => {
    const client = await SoloClient.open();
    const role = await client.must('PUT /acl/role', { Name: 'r' });
    const { store } = client.solo;
    const records = [...store.keys('')].map((key) => [key, store.get(key)!] as const);
    await client.must(`PUT /acl/role/${role.ID}`, { Name: 'r', Description: 'later' });
    await client.must('PUT /config', { Kind: 'mesh' });
    await client.must('DELETE /config/mesh/mesh');
    const paths = [`/acl/role/${role.ID}`, '/acl/roles', '/config/mesh', '/config/mesh/mesh'];
    const before = await Promise.all(paths.map((path) => client.ask(`GET ${path}`)));
    await client.solo.restore(records);
    for (const [at, path] of paths.entries()) {
      const after = await client.ask(`GET ${path}?index=${before[at]?.index}&wait=60s`);
      expect(after.index, path).to.be.greaterThan(before[at]?.index as number);
    }
    expect((await client.ask(`GET ${paths[0]}`)).body.Description).to.equal('');
    await client.close();
  });
});
