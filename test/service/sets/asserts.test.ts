import { expect } from 'chai';
import type { Command } from '../../../src/state/types.js';
import { signer } from '../../login/signers.js';
import { SoloClient } from '../client.js';
import { callerOf } from '../solo.js';

const policy = (Name: string, Rules: string) => ({ Type: 'policy', Object: { Name, Rules } });
const role = (Name: string, ...names: string[]) => ({
  Type: 'role',
  Object: { Name, Policies: names.map((name) => ({ Name: name })) },
});
const acl = (Subject: object, Expect: string, Access = 'write') => ({
  Subject,
  Resource: 'acl',
  Access,
  Expect,
});

describe('An assertion of a set', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as Command);
  });
  afterEach(() => client.close());

  const index = () => client.solo.machine.appliedIndex();
  const apply = (body: object, token?: string) => client.ask('POST /apply', body, token);
  const plan = (body: object) => client.must('POST /plan', body);

  it('asks about the final state, of every kind of subject', async () => {
    const token = await client.must('PUT /acl/token', { Description: 'ci' });
    const Objects = [
      policy('ops', 'acl = "write"'),
      role('ci', 'ops'),
      {
        Type: 'token',
        Object: { AccessorID: token.AccessorID, Description: 'ci', Roles: [{ Name: 'ci' }] },
      },
    ];
    const subjects = [
      { Token: token.AccessorID },
      { Role: 'ci' },
      { Policy: 'ops' },
      { Rules: 'acl = "write"' },
      { Draft: { Policies: [{ Name: 'ops' }] } },
    ];
    const allowed = await plan({ Objects, Assert: subjects.map((one) => acl(one, 'allow')) });
    expect(allowed.Asserts.map(({ Passed }: { Passed: boolean }) => Passed)).to.deep.equal(
      subjects.map(() => true),
    );
    expect(allowed.Asserts[1]).to.deep.include({ Name: 'acl:write' });
    const denied = await plan({ Objects, Assert: [acl({ Anonymous: true }, 'deny')] });
    expect(denied.Valid).to.equal(true);
    const answer = await apply({ Objects, Assert: subjects.map((one) => acl(one, 'allow')) });
    expect(answer.status, answer.text).to.equal(200);
  });

  it('that fails refuses the set, with the reason, and writes nothing', async () => {
    const body = {
      Objects: [policy('ops', 'operator = "read"\n\nacl = "write"'), role('ci', 'ops')],
      Assert: [{ ...acl({ Role: 'ci' }, 'deny'), Name: 'ci cannot touch ACLs' }],
    };
    const planned = await plan(body);
    expect(planned.Valid).to.equal(false);
    expect(planned.Problems).to.deep.equal([
      {
        Ref: '',
        Code: 'assert',
        Message: planned.Problems[0].Message,
        Pointer: '/Assert/0',
      },
    ]);
    const before = index();
    const { status, body: problem } = await apply(body);
    expect([status, problem.code, problem.pointer]).to.deep.equal([400, 'invalid', '/Assert/0']);
    expect(problem.detail).to.match(
      /^Assertion "ci cannot touch ACLs" failed: acl:write is allowed by acl in .*"ops", line 3/,
    );
    expect(problem.Asserts[0]).to.deep.include({ Passed: false });
    expect(problem.Problems[0].Code).to.equal('assert');
    expect(index()).to.equal(before);
  });

  it('about a subject that is not there in the end fails', async () => {
    await apply({ Objects: [role('ci')] });
    const body = {
      Delete: [{ Type: 'role', Name: 'ci' }],
      Assert: [acl({ Role: 'ci' }, 'deny')],
    };
    const planned = await plan(body);
    expect(planned.Asserts).to.deep.equal([
      { Name: 'acl:write', Passed: false, Result: null, Problem: 'there is no role "ci"' },
    ]);
    const missing = await plan({
      Assert: [acl({ Token: '11111111-2222-4333-8444-000000000000' }, 'deny')],
    });
    expect(missing.Asserts[0].Passed).to.equal(false);
  });

  it('alone tests what is in force, and nothing is proposed', async () => {
    await apply({ Objects: [policy('ops', 'acl = "read"'), role('ci', 'ops')] });
    const before = index();
    const passed = await apply({ Objects: [], Assert: [acl({ Role: 'ci' }, 'deny')] });
    expect([passed.status, passed.body.Changed, passed.body.Index]).to.deep.equal([200, 0, before]);
    expect((await apply({ Assert: [acl({ Role: 'ci' }, 'allow')] })).status).to.equal(400);
    expect(index()).to.equal(before);
  });

  it('needs acl:read in the namespace of its subject', async () => {
    const secret = await client.secretWith('service_prefix "" { policy = "write" }');
    const answer = await apply({ Assert: [acl({ Anonymous: true }, 'deny')] }, secret);
    expect(answer.status).to.equal(403);
    const plans = await client.ask('POST /plan', { Assert: [acl({ Role: 'x' }, 'deny')] }, secret);
    expect(plans.status).to.equal(403);
  });

  it('holds at the index of the entry: what it rests on must not have moved', async () => {
    await apply({ Objects: [policy('ops', 'acl = "read"'), role('ci', 'ops')] });
    const { solo } = client;
    const found = await client.must('GET /acl/policy/name/ops');
    const write = solo.node.write.bind(solo.node);
    let commands: Command[] = [];
    // another client changes the policy after the set was judged, before its entry
    Object.assign(solo.node, {
      write: (request: Parameters<typeof write>[0]) => {
        commands = [...commands, request.command];
        if (commands.length === 1) {
          solo.must({
            type: 'policy.set',
            v: 1,
            ns: 'default',
            id: found.ID,
            create: false,
            hash: 'h',
            policy: { Name: 'ops', Description: '', Rules: 'acl = "write"' },
          } as Command);
        }
        return write(request);
      },
    });
    const body = { Objects: [policy('other', '')], Assert: [acl({ Role: 'ci' }, 'deny')] };
    const answer = await apply(body);
    expect([answer.status, answer.body.pointer]).to.deep.equal([400, '/Assert/0']);
    expect(commands).to.have.length(1);
    expect((await client.ask('GET /acl/policy/name/other')).status).to.equal(404);
  });

  it('rests on the revocations of the auth method of a token', async () => {
    const key = await signer('EdDSA');
    const Config = { JWTValidationPubKeys: [key.pem] };
    await client.must('PUT /acl/auth-method', { Name: 'jwt1', Type: 'jwt', Config });
    const rule = { AuthMethod: 'jwt1', BindType: 'service', BindName: 'web' };
    await client.must('PUT /acl/binding-rule', rule);
    const now = Math.floor(client.solo.nowMs / 1000);
    const login = async (sub: string) => {
      const BearerToken = await key.sign({ iat: now - 10, exp: now + 600, sub });
      return client.must('POST /acl/login', { AuthMethod: 'jwt1', BearerToken }, '');
    };
    const { AccessorID } = await login('a');
    await login('b');
    const revoke = (Subject: string) =>
      client.must('POST /acl/tokens/revoke', { AuthMethod: 'jwt1', Subject, DryRun: false });
    const withAssert = (name: string) =>
      apply({ Objects: [policy(name, '')], Assert: [acl({ Token: AccessorID }, 'deny')] });
    await revoke('b');
    const done = await withAssert('one');
    expect(done.status, done.text).to.equal(200);
    const { solo } = client;
    const write = solo.node.write.bind(solo.node);
    Object.assign(solo.node, {
      write: async (request: Parameters<typeof write>[0]) => {
        Object.assign(solo.node, { write });
        await revoke('a');
        return write(request);
      },
    });
    const gone = await withAssert('two');
    expect([gone.status, gone.body.Asserts?.[0].Problem]).to.deep.equal([
      400,
      `there is no token "${AccessorID}"`,
    ]);
  });

  it('never passes where enforcement would contradict', async () => {
    const rules = ['', 'acl = "read"', 'acl = "write"', 'acl = "deny"', 'operator = "write"'];
    for (const [i, text] of rules.entries()) {
      for (const [j, other] of rules.entries()) {
        const names = [`a${i}${j}`, `b${i}${j}`] as const;
        const Objects = [
          policy(names[0], text),
          policy(names[1], other),
          role(names[0], names[0], names[1]),
        ];
        const asserts = ['read', 'write'].flatMap((Access) =>
          ['allow', 'deny'].map((Expect) => acl({ Role: names[0] }, Expect, Access)),
        );
        const planned = await plan({ Objects, Assert: asserts });
        await apply({ Objects });
        const token = await client.must('PUT /acl/token', { Roles: [{ Name: names[0] }] });
        const enforced = client.solo.authorizers.of(callerOf(token.SecretID).tokenKey)!;
        const expected = (['read', 'write'] as const).flatMap((access) => {
          const isAllowed = enforced.allowed('acl', access, undefined, 'default');
          return [isAllowed, !isAllowed];
        });
        expect(planned.Asserts.map(({ Passed }: { Passed: boolean }) => Passed)).to.deep.equal(
          expected,
        );
      }
    }
  }).timeout(60_000);
});
