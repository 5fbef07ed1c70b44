import { expect } from 'chai';
import { atOnce } from '../../../src/acl/steps.js';
import type { Authorizer } from '../../../src/acl/types.js';
import { tokensImpact } from '../../../src/service/change/impact.js';
import { Overlay } from '../../../src/state/draft.js';
import { HANDLERS } from '../../../src/state/handlers.js';
import type { ObjectPlace } from '../../../src/state/owners.js';
import type { Command } from '../../../src/state/types.js';
import { SoloClient } from '../client.js';
import { callerOf, MANAGER } from '../solo.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Any = any;

describe('the tokens whose rights a change touches', () => {
  let client: SoloClient;
  let manager: Authorizer;
  beforeEach(async () => {
    client = await SoloClient.open();
    manager = client.solo.authorizers.of(MANAGER.tokenKey)!;
  });
  afterEach(() => client.close());

  const policy = (Name: string, Rules: string, ns = 'default') =>
    client.must(`PUT /acl/policy?ns=${ns}`, { Name, Rules });
  const token = (body: object, ns = 'default') => client.must(`PUT /acl/token?ns=${ns}`, body);
  /** The impact of a command on the present state. */
  function impactOf(command: object, changed: ObjectPlace, authorizer = manager): Any {
    const { store, nowMs } = client.solo;
    const before = store.pin();
    const after = new Overlay(before);
    const { type } = command as Command;
    const outcome = HANDLERS[type]!({ draft: after, index: 9999 }, { v: 1, ...command });
    expect(outcome.ok, JSON.stringify(outcome)).to.equal(true);
    const parts = { datacenter: 'dc1', defaultPolicy: 'deny', nowMs: () => nowMs } as const;
    const found = atOnce(tokensImpact({ ...parts, authorizer, before, after }, [changed]));
    before.close();
    return { ...found.impact, losing: found.losing, isCut: found.isCut };
  }
  const rewritten = (of: Any, Rules: string) => ({
    type: 'policy.set',
    ns: of.Namespace,
    id: of.ID,
    create: false,
    hash: '',
    policy: { Name: of.Name, Description: '', Rules },
  });
  const idOf = (of: Any): ObjectPlace => ({ table: 'policy', ns: of.Namespace, id: of.ID });

  it('are those that link a policy, directly, by a role or by a namespace, in groups', async () => {
    const ops = await policy('ops', 'service_prefix "" { policy = "read" }');
    const other = await policy('other', 'key_prefix "" { policy = "read" }');
    await client.must('PUT /acl/role', { Name: 'admins', Policies: [{ Name: 'ops' }] });
    await client.must('PUT /namespace', {
      Name: 'team',
      ACLs: { RoleDefaults: [{ Name: 'admins' }] },
    });
    const one = await token({ Description: 'one', Policies: [{ Name: 'ops' }] });
    await token({ Description: 'two', Policies: [{ Name: 'ops' }] });
    await token({ Description: 'three', Roles: [{ Name: 'admins' }] });
    await token({ Description: 'four' }, 'team');
    await token({ Description: 'aside', Policies: [{ Name: 'other' }] });
    const found = impactOf(rewritten(ops, 'service_prefix "" { policy = "write" }'), idOf(ops));
    expect(found).to.include({ Affected: 4, Truncated: false, Hidden: false, losing: 0 });
    const change = {
      Resource: 'service',
      Match: 'prefix',
      Name: '',
      Before: 'read',
      After: 'write',
    };
    const inDefault = { Namespace: 'default', ...change };
    const links = { Policies: [], Roles: [] };
    const shown = found.Groups.map(({ Sample, ...group }: Any) => group);
    expect(shown).to.have.deep.members([
      {
        Tokens: 2,
        Removed: false,
        ...links,
        Gains: [inDefault],
        Loses: [],
        Policies: [{ ID: ops.ID, Name: 'ops' }],
      },
      {
        Tokens: 1,
        Removed: false,
        ...links,
        Gains: [inDefault],
        Loses: [],
        Roles: [{ ID: shown.find((one: Any) => one.Roles.length > 0).Roles[0].ID, Name: 'admins' }],
      },
      {
        Tokens: 1,
        Removed: false,
        ...links,
        Gains: [{ Namespace: 'team', ...change }],
        Loses: [],
      },
    ]);
    const samples = found.Groups.flatMap((group: Any) => group.Sample);
    expect(samples).to.have.length(4);
    expect(samples).to.deep.include({ AccessorID: one.AccessorID, Description: 'one' });
    expect(
      impactOf(rewritten(other, 'key_prefix "" { policy = "read" } '), idOf(other)),
    ).to.include({ Affected: 0, losing: 0 });
  });

  it('lose what a deleted policy gave, unless they have it otherwise', async () => {
    const ops = await policy('ops', 'service_prefix "" { policy = "read" }');
    await policy('all', 'service_prefix "" { policy = "write" }');
    await token({ Policies: [{ Name: 'ops' }] });
    await token({ Policies: [{ Name: 'ops' }, { Name: 'all' }] });
    const found = impactOf({ type: 'policy.delete', ns: 'default', id: ops.ID }, idOf(ops));
    expect(found).to.include({ Affected: 1, losing: 1 });
    expect(found.Groups[0].Loses).to.have.length(2);
    expect(found.Groups[0].Policies).to.deep.equal([]);
  });

  it('are removed with their auth method, their namespace, or by themselves', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    const made = await token({ Description: 'x' }, 'team');
    const gone = impactOf(
      { type: 'namespace.delete', name: 'team', at: '2030-01-01T00:00:00Z' },
      { table: 'namespace', ns: 'default', id: 'team' },
    );
    expect(gone).to.include({ Affected: 1, losing: 1 });
    expect(gone.Groups[0]).to.include({ Tokens: 1, Removed: true });
    const own = impactOf(
      { type: 'token.delete', ns: 'team', accessor: made.AccessorID, callerKey: null },
      { table: 'token', ns: 'team', id: made.AccessorID },
    );
    expect(own.Groups[0]).to.include({ Removed: true });
  });

  it('leave out tokens that have expired, and those that the caller may not read', async () => {
    const ops = await policy('ops', 'acl = "read"');
    await client.must('PUT /namespace', {
      Name: 'team',
      ACLs: { PolicyDefaults: [{ Name: 'ops' }] },
    });
    await token({ Policies: [{ Name: 'ops' }], ExpirationTTL: '1h' });
    await token({}, 'team');
    await policy('reader', 'acl = "read"');
    await policy('seer', 'acl = "read"\nnamespace "team" { key "x" { policy = "read" } }');
    const reader = await token({ Policies: [{ Name: 'reader' }] });
    const seer = await token({ Policies: [{ Name: 'seer' }] });
    const command = { type: 'policy.delete', ns: 'default', id: ops.ID };
    const as = (secret: string) => client.solo.authorizers.of(callerOf(secret).tokenKey)!;
    expect(impactOf(command, idOf(ops))).to.include({ Affected: 2, Hidden: false });
    const hidden = impactOf(command, idOf(ops), as(seer.SecretID));
    expect(hidden).to.include({ Affected: 1, Hidden: true });
    // In a namespace without any right, not even the presence of tokens shows.
    const unseen = impactOf(command, idOf(ops), as(reader.SecretID));
    expect(unseen).to.include({ Affected: 1, Hidden: false });
    client.solo.nowMs += 2 * 3_600_000;
    expect(impactOf(command, idOf(ops))).to.include({ Affected: 1 });
  });

  it('are looked at up to 10,000, and shown in up to 200 groups', async () => {
    const ops = await policy('ops', 'acl = "read"');
    for (let n = 0; n < 10_050; n += 1) {
      const at = String(n).padStart(12, '0');
      const ServiceIdentities = n < 300 ? [{ ServiceName: `s${n}` }] : [];
      client.solo.must({
        ...({ type: 'token.create', v: 1, ns: 'default' } as const),
        accessor: `0000000a-aaaa-4aaa-8aaa-${at}`,
        secret: `0000000b-aaaa-4aaa-8aaa-${at}`,
        createTime: '2030-01-01T00:00:00Z',
        token: { Description: '', Policies: [{ ID: ops.ID }], Roles: [], ServiceIdentities },
      } as Command);
    }
    const found = impactOf({ type: 'policy.delete', ns: 'default', id: ops.ID }, idOf(ops));
    expect(found).to.include({ Affected: 10_000, losing: 10_000, Truncated: true, isCut: true });
    expect(found.Groups).to.have.length(200);
  }).timeout(60_000);
});
