/** The expanded read of a token, and the permissions that it reports. */
import { expect } from 'chai';
import { SoloClient } from './client.js';
import { callerOf } from './solo.js';

interface Expanded {
  readonly ExpandedPolicies: readonly {
    readonly ID: string;
    readonly Rules: string;
    readonly Datacenters?: readonly string[];
  }[];
}

describe('identities from several sources', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const web = (...Datacenters: string[]) => ({
    ServiceIdentities: [{ ServiceName: 'web', Datacenters }],
  });
  const dns = (...Datacenters: string[]) => ({
    TemplatedPolicies: [{ TemplateName: 'builtin/dns', Datacenters }],
  });
  /** A token with these grants, and a role for each of the others. */
  async function tokenOf(own: object, ...others: object[]) {
    const Roles = [];
    for (const [n, grants] of others.entries()) {
      await client.must('PUT /acl/role', { Name: `r${n}`, ...grants });
      Roles.push({ Name: `r${n}` });
    }
    return client.must('PUT /acl/token', { ...own, Roles });
  }
  const allowed = (secret: string, resource: 'service' | 'node', access: 'read' | 'write') =>
    client.solo.authorizers.of(callerOf(secret).tokenKey)!.allowed(resource, access, 'web');
  const policiesOf = async (accessor: string) =>
    ((await client.must(`GET /acl/token/${accessor}?expanded`)) as Expanded).ExpandedPolicies;

  it('add up: a narrower one never takes away what another one grants', async () => {
    const stories: [
      own: object,
      roles: object[],
      resource: 'service' | 'node',
      access: 'read' | 'write',
    ][] = [
      [web(), [web('dc2')], 'service', 'write'],
      [web('dc2'), [web()], 'service', 'write'],
      [{}, [web('dc2'), web()], 'service', 'write'],
      [{}, [web(), web('dc2')], 'service', 'write'],
      [dns('dc2'), [dns('dc1')], 'node', 'read'],
      [dns('dc1'), [dns('dc2')], 'node', 'read'],
    ];
    for (const [own, roles, resource, access] of stories) {
      for (const name of ['r0', 'r1']) {
        const role = await client.ask(`GET /acl/role/name/${name}`);
        if (role.status === 200) await client.must(`DELETE /acl/role/${role.body.ID}`);
      }
      const { SecretID } = await tokenOf(own, ...roles);
      const what = JSON.stringify([own, roles]);
      expect(allowed(SecretID, resource, access), what).to.equal(true);
    }
  });

  it('are listed once each in an expanded read, with every datacenter that counts', async () => {
    const { AccessorID } = await tokenOf({ ...web('dc1'), ...dns('dc2') }, web('dc3'), dns());
    const policies = await policiesOf(AccessorID);
    const of = (text: string) => policies.find(({ Rules }) => Rules.includes(text));
    expect(policies).to.have.lengthOf(2);
    expect(of('service "web"')?.Datacenters).to.deep.equal(['dc1', 'dc3']);
    expect(of('query_prefix')).not.to.have.property('Datacenters');
  });

  it('an unlimited identity is not listed as limited by a template of the same text', async () => {
    const { AccessorID } = await tokenOf({
      ServiceIdentities: [{ ServiceName: 'c' }],
      TemplatedPolicies: [
        {
          TemplateName: 'builtin/service',
          TemplateVariables: { name: 'c' },
          Datacenters: ['dc2'],
        },
      ],
    });
    const policies = await policiesOf(AccessorID);
    expect(policies).to.have.lengthOf(1);
    expect(policies[0]).not.to.have.property('Datacenters');
  });
});

describe('the Datacenters of a policy', () => {
  it('are shown in lists if sent empty, and nowhere else', async () => {
    const client = await SoloClient.open();
    try {
      const made = await client.must('PUT /acl/policy', { Name: 'p', Datacenters: [] });
      const { AccessorID } = await client.must('PUT /acl/token', { Policies: [{ Name: 'p' }] });
      await client.must('PUT /acl/policy', { Name: 'q' });
      const [expanded] = (await client.must(`GET /acl/token/${AccessorID}?expanded`))
        .ExpandedPolicies;
      const byId = await client.must(`GET /acl/policy/${made.ID}`);
      const byName = await client.must('GET /acl/policy/name/p');
      for (const one of [made, byId, byName, expanded])
        expect(one).not.to.have.property('Datacenters');
      const list: { Name: string; Datacenters: unknown }[] = await client.must('GET /acl/policies');
      const shown = Object.fromEntries(list.map((one) => [one.Name, one.Datacenters]));
      expect([shown['p'], shown['q']]).to.deep.equal([[], null]);
    } finally {
      await client.close();
    }
  });
});
