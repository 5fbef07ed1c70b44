import { expect } from 'chai';
import fc from 'fast-check';
import { rightsBehind } from '../../src/acl/authorizer.js';
import { Authorizers } from '../../src/service/rights/authorizers.js';
import { keys } from '../../src/state/keys.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import type { Command } from '../../src/state/types.js';
import { aCommand, fitted } from '../state/commands.js';
import { DEFAULTS } from '../support/defaults.js';
import { CountingView } from './counting-view.js';
import { MANAGER, Solo } from './solo.js';

const SECRETS = [1, 2, 3].map((n) => `00000005-aaaa-4aaa-8aaa-${String(n).padStart(12, '0')}`);
const TIMES = ['00:00:10', '00:01:30', '00:02:30'].map((at) => Date.parse(`2030-01-01T${at}Z`));

/** Everything that a test can read from an authorizer, as text. */
function answers(authorizers: Authorizers, secret: string | null): string {
  const authorizer = authorizers.of(secret === null ? null : secretKeyOf(secret));
  if (authorizer === undefined) return 'none';
  return ['default', 'red']
    .flatMap((ns) => [
      authorizer.allowed('acl', 'read', undefined, ns),
      authorizer.allowed('acl', 'write', undefined, ns),
      authorizer.allowed('service', 'write', 'web', ns),
    ])
    .concat(authorizer.allowed('operator', 'read'))
    .join();
}

describe('authorizers', () => {
  it('cached ones always agree with the state', () => {
    const step = fc.record({ command: aCommand, now: fc.constantFrom(...TIMES) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
        const solo = new Solo();
        solo.must(namespaceSet('red'));
        for (const { command, now } of steps) {
          solo.apply(fitted(command, solo.store));
          solo.nowMs = now;
          const fresh = new Authorizers({
            view: solo.store,
            datacenter: 'dc1',
            defaultPolicy: 'deny',
            nowMs: () => now,
            rightsBytes: DEFAULTS.limits.rightsBytes,
          });
          for (const secret of [...SECRETS, null]) {
            expect(answers(solo.authorizers, secret)).to.equal(answers(fresh, secret));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('survive an unrelated change', () => {
    const solo = new Solo();
    const before = solo.authorizers.of(MANAGER.tokenKey);
    solo.must(policySet('11111111-aaaa-4aaa-8aaa-000000000001', 'p', ''));
    expect(solo.authorizers.of(MANAGER.tokenKey)).to.equal(before);
  });

  it('expire with their token, to the millisecond', () => {
    const solo = new Solo();
    const at = solo.nowMs + 60_000;
    const [secret] = SECRETS as [string];
    solo.must({ ...tokenCreate(secret), expirationTime: new Date(at).toISOString() } as Command);
    const key = secretKeyOf(secret);
    expect(solo.authorizers.of(key)).not.to.equal(undefined);
    solo.nowMs = at - 1;
    expect(solo.authorizers.of(key)).not.to.equal(undefined);
    solo.nowMs = at;
    expect(solo.authorizers.of(key)).to.equal(undefined);
    expect(solo.authorizers.namespaceOf(key)).to.equal(undefined);
  });

  it('are limited in number, and stop watching when evicted', () => {
    const solo = new Solo();
    const small = new Authorizers({
      view: solo.store,
      datacenter: 'dc1',
      defaultPolicy: 'deny',
      nowMs: () => solo.nowMs,
      rightsBytes: DEFAULTS.limits.rightsBytes,
      max: 2,
    });
    for (const secret of SECRETS) {
      solo.must(tokenCreate(secret));
      small.of(secretKeyOf(secret));
    }
    expect(small.size).to.equal(2);
    for (const secret of SECRETS) small.of(secretKeyOf(`x${secret}`));
    expect(small.size).to.equal(2);
  });

  it('compile the rights of a role once for all tokens with the same grants', () => {
    const solo = new Solo();
    const secrets = manyTokens(solo, 120);
    const policy = keys.policy('default', POLICY);
    const counting = new CountingView(solo.store);
    const authorizers = new Authorizers({ ...optionsOf(solo), view: counting });
    for (const secret of secrets) {
      const authorizer = authorizers.of(secretKeyOf(secret))!;
      expect(authorizer.allowed('service', 'write', 'web')).to.equal(true);
      expect(authorizer.accessor).to.equal(accessorOf(secret));
    }
    expect(counting.reads.get(policy)).to.equal(1);
    expect(authorizers.stats).to.include({ tokens: 120, rights: 1 });
    // A role's change affects all of them, and a deleted token affects no other.
    const [first, second] = secrets as [string, string];
    solo.authorizers.of(secretKeyOf(first));
    solo.authorizers.of(secretKeyOf(second));
    solo.must(tokenDelete(first));
    expect(solo.authorizers.of(secretKeyOf(first))).to.equal(undefined);
    expect(solo.authorizers.of(secretKeyOf(second))!.allowed('service', 'write', 'web')).to.equal(
      true,
    );
    const narrower = policySet(POLICY, 'p', 'service "web" { policy = "read" }');
    solo.must({ ...narrower, create: false } as Command);
    const now = solo.authorizers.of(secretKeyOf(second))!;
    expect(now.allowed('service', 'write', 'web')).to.equal(false);
    expect(solo.authorizers.stats.rights).to.equal(1);
  });

  it('compile the same policies once, whichever roles and links lead to them', () => {
    const solo = new Solo();
    const other = POLICY.replace(/1$/, '2');
    solo.must(policySet(other, 'q', 'service "db" { policy = "write" }'));
    const [viaRole] = manyTokens(solo, 1) as [string];
    const [direct, both, reversed] = SECRETS as [string, string, string];
    solo.must(tokenCreate(direct, [{ ID: POLICY }]));
    solo.must(tokenCreate(both, [{ ID: other }], [{ ID: ROLE }]));
    solo.must(tokenCreate(reversed, [{ ID: POLICY }, { ID: other }]));
    const of = (secret: string) => solo.authorizers.of(secretKeyOf(secret))!;
    const rightsOf = (secret: string) => rightsBehind(of(secret));
    expect(rightsOf(viaRole)).to.equal(rightsOf(direct));
    expect(rightsOf(both)).to.equal(rightsOf(reversed));
    expect(rightsOf(both)).to.not.equal(rightsOf(direct));
    expect(solo.authorizers.stats.rights).to.equal(2);
    // A change of the role leaves the token that links the policy itself as it was.
    const kept = rightsOf(direct);
    const role = { Name: 'r', Description: '', Policies: [{ ID: other }] };
    solo.must({ type: 'role.set', v: 1, ns: 'default', id: ROLE, create: false, role } as Command);
    expect(of(viaRole).allowed('service', 'write', 'web')).to.equal(false);
    expect(of(viaRole).allowed('service', 'write', 'db')).to.equal(true);
    expect(rightsOf(direct)).to.equal(kept);
    // A change of a policy reaches all that lead to it.
    solo.must({ ...policySet(POLICY, 'p', ''), create: false } as Command);
    expect(of(direct).allowed('service', 'write', 'web')).to.equal(false);
    expect(of(reversed).allowed('service', 'write', 'web')).to.equal(false);
    expect(of(reversed).allowed('service', 'write', 'db')).to.equal(true);
  });

  it('stop sharing rights when the links of their token change', () => {
    const solo = new Solo();
    const [first, second] = manyTokens(solo, 2) as [string, string];
    const may = (secret: string) =>
      solo.authorizers.of(secretKeyOf(secret))!.allowed('service', 'write', 'web');
    expect([may(first), may(second)]).to.deep.equal([true, true]);
    solo.must({
      type: 'token.update',
      v: 1,
      ns: 'default',
      accessor: accessorOf(first),
      nowMs: solo.nowMs,
      token: { Description: '', Policies: [], Roles: [], Local: false },
    } as Command);
    expect([may(first), may(second)]).to.deep.equal([false, true]);
  });

  it('of the same identity in two namespaces have different rights', () => {
    const solo = new Solo();
    solo.must(namespaceSet('red'));
    const token = {
      Description: '',
      Policies: [],
      Roles: [],
      Local: false,
      ServiceIdentities: [{ ServiceName: 'web' }],
    };
    const may = ['default', 'red'].map((ns, n) => {
      const secret = SECRETS[n]!;
      solo.must({ ...tokenCreate(secret), ns, token } as Command);
      const authorizer = solo.authorizers.of(secretKeyOf(secret))!;
      return ['default', 'red'].map((at) => authorizer.allowed('service', 'write', 'web', at));
    });
    expect(may).to.deep.equal([
      [true, false],
      [false, true],
    ]);
  });

  it('keep compiled rights up to a limit in size, and the newest in any case', () => {
    const solo = new Solo();
    const rules = (n: number) =>
      Array.from({ length: 500 }, (_, i) => `service "s-${n}-${i}" { policy = "read" }`).join('\n');
    const authorizers = new Authorizers({ ...optionsOf(solo), rightsBytes: 250_000 });
    for (const [n, secret] of SECRETS.entries()) {
      const id = `11111111-aaaa-4aaa-8aaa-00000000000${n}`;
      solo.must(policySet(id, `p-${n}`, rules(n)));
      solo.must(tokenCreate(secret, [{ ID: id }]));
      const authorizer = authorizers.of(secretKeyOf(secret))!;
      expect(authorizer.allowed('service', 'read', `s-${n}-7`)).to.equal(true);
      expect(authorizers.stats.bytes).to.be.lessThan(250_000);
    }
    expect(authorizers.stats.rights).to.be.lessThan(SECRETS.length);
    expect(authorizers.size).to.equal(authorizers.stats.rights);
    // An evicted one is compiled again, with the same rights.
    const again = authorizers.of(secretKeyOf(SECRETS[0]!))!;
    expect(again.allowed('service', 'read', 's-0-7')).to.equal(true);
    expect(again.allowed('service', 'read', 's-1-7')).to.equal(false);
    const tiny = new Authorizers({ ...optionsOf(solo), rightsBytes: 1 });
    const kept = tiny.of(secretKeyOf(SECRETS[1]!));
    expect(tiny.of(secretKeyOf(SECRETS[1]!))).to.equal(kept);
  });

  it('grant nothing from a policy limited to other datacenters', () => {
    const solo = new Solo();
    const id = '11111111-aaaa-4aaa-8aaa-000000000001';
    const [secret] = SECRETS as [string];
    const command = policySet(id, 'p', 'acl = "read"');
    solo.must({ ...command, policy: { ...command.policy, Datacenters: ['dc2'] } } as Command);
    solo.must(tokenCreate(secret, [{ ID: id }]));
    expect(answers(solo.authorizers, secret)).to.match(/^false/);
    const here = { ...command.policy, Datacenters: ['dc2', 'dc1'] };
    solo.must({ ...command, create: false, policy: here } as Command);
    expect(answers(solo.authorizers, secret)).to.match(/^true/);
  });

  it("apply a namespace's defaults where the token has no rule", () => {
    const solo = new Solo();
    const id = '11111111-aaaa-4aaa-8aaa-000000000001';
    const own = '11111111-aaaa-4aaa-8aaa-000000000002';
    solo.must(policySet(id, 'p', 'acl = "write"'));
    solo.must(namespaceSet('red', [{ ID: id }]));
    const [plain, limited] = SECRETS as [string, string];
    solo.must({ ...tokenCreate(plain), ns: 'red' } as Command);
    solo.must({ ...policySet(own, 'own', 'acl = "read"'), ns: 'red' } as Command);
    solo.must({ ...tokenCreate(limited, [{ ID: own }]), ns: 'red' } as Command);
    const may = (secret: string, access: 'read' | 'write', ns: string) =>
      solo.authorizers.of(secretKeyOf(secret))!.allowed('acl', access, undefined, ns);
    expect([may(plain, 'write', 'red'), may(plain, 'read', 'default')]).to.deep.equal([
      true,
      false,
    ]);
    expect([may(limited, 'read', 'red'), may(limited, 'write', 'red')]).to.deep.equal([
      true,
      false,
    ]);
    // The same defaults of another namespace hold there alone.
    const [, , blue] = SECRETS as [string, string, string];
    solo.must(namespaceSet('blue', [{ ID: id }]));
    solo.must({ ...tokenCreate(blue), ns: 'blue' } as Command);
    expect([may(blue, 'write', 'blue'), may(blue, 'write', 'red')]).to.deep.equal([true, false]);
    solo.must(namespaceSet('red'));
    expect(may(plain, 'write', 'red')).to.equal(false);
  });

  it('are void for a token of a namespace that is being deleted', () => {
    const solo = new Solo();
    solo.must(namespaceSet('red'));
    const [secret] = SECRETS as [string];
    solo.must({ ...tokenCreate(secret), ns: 'red' } as Command);
    expect(solo.authorizers.of(secretKeyOf(secret))).not.to.equal(undefined);
    solo.must({
      type: 'namespace.delete',
      v: 1,
      name: 'red',
      at: '2030-01-01T00:00:00Z',
    } as Command);
    expect(solo.authorizers.of(secretKeyOf(secret))).to.equal(undefined);
    expect(solo.store.get(keys.tokenSecret(secretKeyOf(secret)))).not.to.equal(undefined);
  });

  it("without a token are the anonymous token's; default allow never grants acl", () => {
    const solo = new Solo('allow');
    const anonymous = solo.authorizers.of(null)!;
    expect(anonymous.anonymous).to.equal(true);
    expect(anonymous.allowed('service', 'write', 'web')).to.equal(true);
    expect(anonymous.allowed('acl', 'read')).to.equal(false);
  });
});

const POLICY = '11111111-aaaa-4aaa-8aaa-000000000001';
const ROLE = '22222222-aaaa-4aaa-8aaa-000000000001';
const accessorOf = (secret: string): string => secret.replace('00000005', '00000003');

const optionsOf = (solo: Solo) => ({
  view: solo.store,
  datacenter: 'dc1',
  defaultPolicy: 'deny' as const,
  nowMs: () => solo.nowMs,
  rightsBytes: DEFAULTS.limits.rightsBytes,
});

/** Secrets of tokens whose only grant is a common role. */
function manyTokens(solo: Solo, count: number): string[] {
  solo.must(policySet(POLICY, 'p', 'service "web" { policy = "write" }'));
  const role = { Name: 'r', Description: '', Policies: [{ ID: POLICY }] };
  solo.must({ type: 'role.set', v: 1, ns: 'default', id: ROLE, create: true, role } as Command);
  return Array.from({ length: count }, (_, n) => {
    const secret = `00000005-bbbb-4aaa-8aaa-${String(n).padStart(12, '0')}`;
    solo.must(tokenCreate(secret, [], [{ ID: ROLE }]));
    return secret;
  });
}

const tokenDelete = (secret: string): Command =>
  ({
    type: 'token.delete',
    v: 1,
    ns: 'default',
    accessor: accessorOf(secret),
    callerKey: null,
  }) as Command;

function namespaceSet(Name: string, PolicyDefaults: object[] = []): Command {
  const namespace = { Name, PolicyDefaults, RoleDefaults: [] };
  return { type: 'namespace.set', v: 1, policyId: `m-${Name}`, namespace } as Command;
}

function policySet(id: string, Name: string, Rules: string) {
  const policy = { Name, Description: '', Rules };
  return { type: 'policy.set', v: 1 as const, ns: 'default', id, create: true, policy, hash: 'h' };
}

function tokenCreate(secret: string, Policies: object[] = [], Roles: object[] = []): Command {
  return {
    type: 'token.create',
    v: 1,
    ns: 'default',
    accessor: accessorOf(secret),
    secret,
    createTime: '2030-01-01T00:00:00Z',
    token: { Description: '', Policies, Roles, Local: false },
  } as Command;
}
