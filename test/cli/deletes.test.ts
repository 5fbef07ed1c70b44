import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import type { Given } from './harness.js';

/** Answers each path with JSON, and an empty list where nothing is given. */
const answers =
  (bodies: Readonly<Record<string, unknown>>): RequestListener =>
  ({ method, url = '' }, response) => {
    const path = url.split('?')[0]!;
    response.writeHead(200, { 'Content-Type': 'application/json', 'X-Consul-Index': '7' });
    response.end(JSON.stringify(method === 'DELETE' ? true : (bodies[path] ?? [])));
  };

const POLICY = { ID: 'p-1', Name: 'team-3', Namespace: 'default' };
const LINKED = {
  '/v1/acl/policy/name/team-3': POLICY,
  '/v1/acl/roles': [{ ID: 'r-2', Name: 'role-2' }],
  '/v1/acl/tokens': [
    { AccessorID: '11111111-aaaa', Description: 'ci job 3323' },
    ...Array.from({ length: 124 }, (_, at) => ({ AccessorID: `2222${at}`, Description: '' })),
  ],
  '/v1/acl/binding-rules': [
    { ID: 'b-1', BindType: 'policy', BindName: 'team-3' },
    { ID: 'b-2', BindType: 'role', BindName: 'team-3' },
  ],
  '/v1/namespaces': [
    { Name: 'default', ACLs: { PolicyDefaults: [], RoleDefaults: [] } },
    { Name: 'team', ACLs: { PolicyDefaults: [{ ID: 'p-1' }], RoleDefaults: [{ ID: 'p-1' }] } },
  ],
};
const COUNTS = '1 role, 125 tokens, 1 binding rule and 1 namespace';

describe('deletes of objects on which others depend', () => {
  const { user, fake } = fakeStage();
  const remove = async (bodies: object, args: readonly string[], given: Given = {}) => {
    const address = await fake.serve(answers(bodies as Readonly<Record<string, unknown>>));
    const ran = await user.run(['acl', ...args, '--http-addr', address], given);
    const deletes = fake.seen.filter(({ method }) => method === 'DELETE');
    return { ...ran, deleted: deletes.map(({ url }) => url) };
  };

  it('say what links to a policy, and ask on a terminal', async () => {
    const args = ['policy', 'delete', 'team-3'];
    const no = await remove(LINKED, args, { answers: [''] });
    expect([no.code, no.out, no.deleted]).to.deep.equal([1, '', []]);
    expect(no.err).to.equal(
      `policy/default/team-3: ${COUNTS} link to it (role-2, ci job 3323, 22220 and 125 more); ` +
        'delete it? [y/N] conclave: nothing was changed\n',
    );
    const lists = fake.seen.slice(1).map(({ url }) => url);
    expect(lists).to.deep.equal([
      '/v1/acl/roles?ns=default&policy=p-1',
      '/v1/acl/tokens?ns=default&policy=p-1',
      '/v1/acl/binding-rules?ns=default',
      '/v1/namespaces',
    ]);
    const yes = await remove(LINKED, args, { answers: ['y'] });
    expect([yes.code, yes.out]).to.deep.equal([0, 'deleted policy/default/team-3\n']);
    expect(yes.deleted).to.deep.equal(['/v1/acl/policy/p-1']);
  });

  it('ask nothing without a terminal, with --yes, or if nothing depends on it', async () => {
    const args = ['policy', 'delete', 'team-3'];
    const done = { code: 0, out: 'deleted policy/default/team-3\n' };
    const told = `conclave: ${COUNTS} linked to it\n`;
    expect(await remove(LINKED, args)).to.include({ ...done, err: told });
    const yes = await remove(LINKED, [...args, '--yes'], { answers: [] });
    expect(yes).to.include({ ...done, err: told });
    const alone = { '/v1/acl/policy/name/team-3': POLICY };
    expect(await remove(alone, args, { answers: [] })).to.include({ ...done, err: '' });
    fake.forget();
    expect(await remove(LINKED, [...args, '--quiet'])).to.include({ ...done, err: '' });
    expect(fake.seen.map(({ method }) => method)).to.deep.equal(['GET', 'DELETE']);
  });

  it('go on if the lists are refused', async () => {
    const found = answers({ '/v1/acl/role/name/ops': { ID: 'r-1', Name: 'ops' } });
    const address = await fake.serve((request, response) =>
      /tokens|rules|namespaces/.test(request.url ?? '')
        ? text(403, 'Permission denied')(request, response)
        : found(request, response),
    );
    const args = ['acl', 'role', 'delete', 'ops', '--http-addr', address];
    expect(await user.run(args, { answers: [] })).to.deep.equal({
      code: 0,
      out: 'deleted role/default/ops\n',
      err: '',
    });
  });

  it('count the rules and tokens that go with an auth method', async () => {
    const bodies = {
      '/v1/acl/auth-method/ci': { Name: 'ci', Type: 'jwt', Namespace: 'default' },
      '/v1/acl/binding-rules': [{ ID: '33333333-b', Description: '' }],
    };
    const { out, err } = await remove(bodies, ['auth-method', 'delete', 'ci'], { answers: ['y'] });
    expect(out).to.equal('deleted auth-method/default/ci\n');
    expect(err).to.equal(
      'auth-method/default/ci: 1 binding rule goes with it (33333333); delete it? [y/N] ' +
        'conclave: 1 binding rule went with it\n',
    );
    expect(fake.seen.map(({ url }) => url)).to.include(
      '/v1/acl/tokens?authmethod=ci&ns=*&authmethod-ns=default',
    );
  });
});
