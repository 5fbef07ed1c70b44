import { expect } from 'chai';
import type { Explanation } from '../../src/acl/explain.js';
import { signer } from '../login/signers.js';
import { SoloClient } from './client.js';
import { MANAGEMENT_SECRET, Solo } from './solo.js';

const EXPLAIN = 'POST /acl/authorize/explain';
const ANONYMOUS = '00000000-0000-0000-0000-000000000002';

interface Made {
  readonly AccessorID: string;
  readonly SecretID: string;
}

describe('POST /v1/acl/authorize/explain', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const policy = (Name: string, Rules: string, more: object = {}, ns = 'default') =>
    client.must(`PUT /acl/policy?ns=${ns}`, { Name, Rules, ...more });
  const token = (body: object, ns = 'default'): Promise<Made> =>
    client.must(`PUT /acl/token?ns=${ns}`, body);
  const questions = (...all: readonly [string, string, string?, string?][]) =>
    all.map(([Resource, Access, Segment = '', Namespace]) => ({
      Resource,
      Access,
      Segment,
      ...(Namespace !== undefined && { Namespace }),
    }));
  async function explain(body: object, secret?: string): Promise<Explanation[]> {
    return (await client.must(EXPLAIN, body, secret)).Results;
  }
  async function one(body: object, question: [string, string, string?, string?], secret?: string) {
    const [result] = await explain({ ...body, Requests: questions(question) }, secret);
    return result!;
  }
  /** A draft with these rules. */
  const draft = (Rules: string) => ({ Draft: { Rules } });

  it('takes the partition default, as all bodies do, and no other', async () => {
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await client.must('PUT /acl/auth-method', { Name: 'm', Type: 'jwt', Config });
    const bodies: [string, object][] = [
      [EXPLAIN, { Requests: questions(['service', 'read', 'web']) }],
      ['POST /acl/who-can', { Resource: 'service', Access: 'read', Segment: 'web' }],
      ['POST /acl/login/explain', { AuthMethod: 'm', Claims: { name: 'web' } }],
      ['POST /acl/policy/lint', { Rules: '' }],
      ['POST /acl/binding-rule/lint', { AuthMethod: 'm', BindType: 'role', BindName: 'x' }],
    ];
    for (const [call, body] of bodies) {
      await client.must(call, { ...body, Partition: 'default' });
      const other = await client.ask(call, { ...body, Partition: 'other' });
      expect(other.status, call).to.equal(400);
      expect(other.text).to.include('/Partition');
    }
  });

  it('shows the rule that decides, who says it, and the rules that do not', async () => {
    await policy('all', 'service_prefix "" { policy = "write" }');
    const deny = await policy('ops-deny', '# nothing\nservice "web" {\n  policy = "deny"\n}');
    const ops = await client.must('PUT /acl/role', {
      Name: 'ops',
      Policies: [{ Name: 'ops-deny' }],
      ServiceIdentities: [{ ServiceName: 'web' }],
    });
    const made = await token({
      Description: 'ci',
      Policies: [{ Name: 'all' }],
      Roles: [{ Name: 'ops' }],
    });
    const reply = await client.ask(EXPLAIN, {
      AccessorID: made.AccessorID.toUpperCase(),
      Requests: questions(['service', 'WRITE', 'web']),
    });
    expect(reply.status, reply.text).to.equal(200);
    const { Results, ...head } = reply.body;
    expect(head).to.deep.equal({
      AccessorID: made.AccessorID,
      Description: 'ci',
      Namespace: 'default',
      Anonymous: false,
      DefaultPolicy: 'deny',
      Index: client.solo.machine.appliedIndex(),
    });
    expect(reply.index).to.equal(head.Index);
    const start = { Type: 'token', ID: made.AccessorID, Name: 'ci' };
    const role = { Type: 'role', ID: ops.ID, Name: 'ops' };
    const by = { Type: 'policy', ID: deny.ID, Name: 'ops-deny' };
    const [result] = Results;
    const { Candidates, ...decision } = result;
    expect(decision).to.deep.equal({
      Resource: 'service',
      Access: 'write',
      Segment: 'web',
      Namespace: 'default',
      Allow: false,
      Reason: 'rule',
      Layer: 'own',
      Level: 'deny',
      Text:
        'service:write on "web" is denied by service "web" in policy "ops-deny", line 2, ' +
        'by way of role "ops"',
      Winner: {
        Resource: 'service',
        Match: 'exact',
        Name: 'web',
        Level: 'deny',
        Rule: 'service "web"',
        Sources: [
          { Path: [start, role, by], Line: 2, Column: 1, Level: 'deny', Counts: true },
          {
            Path: [start, role, { Type: 'service-identity', ID: '', Name: 'web' }],
            Line: 2,
            Column: 1,
            Level: 'write',
            Counts: false,
          },
        ],
        MoreSources: 0,
      },
      MoreCandidates: 0,
    });
    expect(Candidates).to.have.length(1);
    expect(Candidates[0]).to.include({ Rule: 'service_prefix ""', Level: 'write' });
    expect(Candidates[0]).to.include({ Match: 'prefix', Name: '', Why: 'less_specific' });
    const levels = Candidates[0].Sources.map(({ Level, Counts }: never) => [Level, Counts]);
    expect(levels).to.deep.equal([
      ['write', true],
      ['read', false],
    ]);
  });

  it('explains the own token without any right, or the anonymous one', async () => {
    const secret = await client.secretWith('key "a" { policy = "read" }');
    const own = await client.must(EXPLAIN, { Requests: questions(['key', 'read', 'a']) }, secret);
    expect(own.Results[0].Allow).to.equal(true);
    const anonymous = await client.must(EXPLAIN, { Requests: questions(['key', 'read', 'a']) }, '');
    expect(anonymous).to.include({ AccessorID: ANONYMOUS, Anonymous: true });
    expect(anonymous.Results[0]).to.include({ Allow: false, Reason: 'default_policy' });
    const same = { AccessorID: ANONYMOUS, Requests: questions(['key', 'read', 'a']) };
    expect((await client.ask(EXPLAIN, same, '')).status).to.equal(200);
  });

  it('names the reason of each decision', async () => {
    const reasonOf = async (rules: string, ...question: [string, string, string?, string?]) => {
      const { Reason, Allow, Level, Winner } = await one(draft(rules), question);
      return [Reason, Allow, Level, Winner?.Rule ?? null];
    };
    const cases: [string, [string, string, string?, string?], unknown[]][] = [
      ['acl = "read"', ['acl', 'read'], ['rule', true, 'read', 'acl']],
      ['operator = "read"', ['mesh', 'write'], ['operator_rule', false, 'read', 'operator']],
      ['operator = "write" mesh = "deny"', ['mesh', 'write'], ['rule', false, 'deny', 'mesh']],
      [
        'service "a" { policy = "write" }',
        ['intention', 'read', 'a'],
        ['service_rule', true, 'read', 'service "a"'],
      ],
      [
        'service "a" { policy = "write" intentions = "read" }',
        ['intention', 'read', 'a'],
        ['rule', true, 'read', 'service "a"'],
      ],
      [
        'service "a" { policy = "deny" } service "b" { policy = "read" }',
        ['intention', 'read', '*'],
        ['any_service', true, 'read', 'service "b"'],
      ],
      [
        'service_prefix "" { policy = "read" intentions = "write" }',
        ['intention', 'write', '*'],
        ['every_service', true, 'write', 'service_prefix ""'],
      ],
      [
        'service_prefix "" { policy = "read" intentions = "write" } ' +
          'service "x" { policy = "read" }',
        ['intention', 'write', '*'],
        ['every_service', false, 'read', 'service "x"'],
      ],
      [
        'key_prefix "a" { policy = "write" } key "a/b" { policy = "list" }',
        ['key', 'write-prefix', 'a/'],
        ['key_prefix', false, 'list', 'key "a/b"'],
      ],
      [
        'key_prefix "a" { policy = "write" }',
        ['key', 'write-prefix', 'a/'],
        ['key_prefix', true, 'write', 'key_prefix "a"'],
      ],
      [
        'operator = "read"',
        ['namespace', 'read', 'x'],
        ['operator_or_any', true, 'read', 'operator'],
      ],
      ['', ['namespace', 'read', 'x'], ['operator_or_any', false, null, null]],
      [
        'namespace "x" { acl = "read" }',
        ['namespace', 'read', 'x'],
        ['operator_or_any', true, 'read', 'acl'],
      ],
      [
        'namespace_prefix "x" { policy = "write" }',
        ['namespace', 'write', 'x'],
        ['rule', true, 'write', 'namespace_prefix "x"'],
      ],
      ['', ['node', 'read', 'x'], ['default_policy', false, null, null]],
    ];
    for (const [rules, question, wanted] of cases) {
      expect(await reasonOf(rules, ...question), `${rules} ${question}`).to.deep.equal(wanted);
    }
  });

  it('tells what a default policy of allow decides, and what it never does', async () => {
    const open = new Solo('allow');
    const other = await SoloClient.open(
      [],
      open,
      { defaultPolicy: 'allow' },
      { defaultPolicy: 'allow' },
    );
    const ask = {
      Requests: questions(['node', 'read', 'x'], ['acl', 'read'], ['operator', 'read']),
    };
    const { Results } = await other.must(EXPLAIN, ask, '');
    const seen = Results.map(({ Allow, Reason, Layer }: Explanation) => [Allow, Reason, Layer]);
    expect(seen).to.deep.equal([
      [true, 'default_policy', undefined],
      [false, 'never_by_default', undefined],
      [false, 'never_by_default', undefined],
    ]);
    const namespace = { Draft: { Rules: '' }, Requests: questions(['namespace', 'write', 'x']) };
    const [given] = (await other.must(EXPLAIN, namespace)).Results as Explanation[];
    expect(given).to.include({
      Allow: true,
      Text:
        'namespace:write on "x" is allowed by the default policy: ' +
        'no rule covers the namespace',
    });
    await other.close();
  });

  it('never lets the anonymous token write operator, and says so', async () => {
    await policy('op', 'operator = "write"');
    await client.must(`PUT /acl/token/${ANONYMOUS}`, { Policies: [{ Name: 'op' }] });
    const write = await one({}, ['operator', 'write'], '');
    expect(write).to.include({ Allow: false, Reason: 'never_by_default', Winner: null });
    expect(write.Candidates[0]).to.include({ Rule: 'operator', Why: 'not_for_anonymous' });
    expect(await one({}, ['operator', 'read'], '')).to.include({ Allow: true, Reason: 'rule' });
  });

  it('says why each other rule does not decide', async () => {
    await policy('far', 'service "web" { policy = "write" }', { Datacenters: ['dc2'] });
    await policy('gone', 'acl = "read"');
    await policy('base', 'service "web" { policy = "deny" } operator = "read" mesh = "read"');
    await policy(
      'blocks',
      'namespace "team" { service "web" { policy = "read" } } ' +
        'namespace_prefix "t" { service "web" { policy = "write" } }',
    );
    await client.must('PUT /namespace', {
      Name: 'team',
      ACLs: { PolicyDefaults: [{ Name: 'base' }] },
    });
    const made = await token({
      Policies: [{ Name: 'far' }, { Name: 'gone' }, { Name: 'blocks' }, { Name: 'base' }],
    });
    const gone = await client.must('GET /acl/policy/name/gone');
    await client.must(`DELETE /acl/policy/${gone.ID}`);
    const { AccessorID } = made;
    const whys = ({ Candidates }: Explanation) => Candidates.map(({ Why, Rule }) => [Why, Rule]);
    const inTeam = await one({ AccessorID }, ['service', 'write', 'web', 'team']);
    expect(inTeam.Winner).to.deep.include({
      NamespaceBlock: { Match: 'exact', Name: 'team' },
      Rule: 'service "web"',
      Level: 'read',
    });
    expect(whys(inTeam)).to.deep.equal([
      ['other_namespace_block', 'service "web"'],
      ['dangling', null],
    ]);
    expect(inTeam.Candidates[1]!.Sources[0]!.Path[1]).to.deep.equal({
      Type: 'policy',
      ID: gone.ID,
      Name: '',
    });
    const here = await one({ AccessorID }, ['service', 'write', 'web']);
    expect(whys(here)).to.deep.equal([
      ['other_datacenter', 'service "web"'],
      ['dangling', null],
    ]);
    expect(here.Candidates[0]!.Sources[0]!.Counts).to.equal(false);
    const mesh = await one({ AccessorID }, ['mesh', 'read']);
    expect(whys(mesh)[0]).to.deep.equal(['fallback', 'operator']);
    const member = await token({ ServiceIdentities: [{ ServiceName: 'web' }] }, 'team');
    const theirs = { AccessorID: member.AccessorID };
    const own = await one(theirs, ['service', 'write', 'web', 'team']);
    expect(own).to.include({ Layer: 'own', Level: 'write' });
    expect(whys(own)).to.deep.include(['lower_layer', 'service "web"']);
    const byDefault = await one(theirs, ['mesh', 'read', '', 'team']);
    expect(byDefault).to.include({ Layer: 'namespace_default', Reason: 'rule' });
    expect(byDefault.Winner!.Sources[0]!.Path.map(({ Type }) => Type)).to.deep.equal([
      ...['token', 'namespace', 'policy'],
    ]);
  });

  it('shows at most 20 candidates and 20 sources, and how many more there are', async () => {
    const names = Array.from({ length: 25 }, (_, n) => `p${n}`);
    for (const name of names) await policy(name, 'service "a" { policy = "read" }');
    const prefixes = Array.from({ length: 30 }, (_, n) => 'a'.repeat(n + 1))
      .map((prefix) => `service_prefix "${prefix}" { policy = "read" }`)
      .join('\n');
    const body = { Draft: { Policies: names.map((Name) => ({ Name })), Rules: prefixes } };
    const { Winner } = await one(body, ['service', 'read', 'a']);
    expect(Winner!.Sources).to.have.length(20);
    expect(Winner!.MoreSources).to.equal(5);
    const deep = await one(body, ['service', 'read', 'a'.repeat(40)]);
    expect(deep.Winner!.Name).to.equal('a'.repeat(30));
    expect(deep.Candidates).to.have.length(20);
    expect(deep.MoreCandidates).to.equal(9);
  });

  it('judges a draft as a token that is written, and points to its faults', async () => {
    const cases: [object, string, string][] = [
      [{ Rules: 'servce "a" { policy = "read" }' }, '/Draft/Rules', 'unknown resource "servce"'],
      [{ Policies: [{ Name: 'none' }] }, '/Draft/Policies/0', 'No such ACL policy'],
      [{ Roles: [{ Name: 'none' }] }, '/Draft/Roles/0', 'No such ACL role'],
      [{ ServiceIdentities: [{ ServiceName: 'A' }] }, '/Draft/ServiceIdentities/0', 'invalid name'],
    ];
    for (const [Draft, pointer, words] of cases) {
      const body = { Draft, Requests: questions(['acl', 'read']) };
      const { status, body: problem } = await client.ask(EXPLAIN, body);
      expect([status, problem.pointer]).to.deep.equal([400, pointer]);
      expect(problem.detail).to.include(words);
    }
    const { Winner, Text } = await one(draft('acl = "write"'), ['acl', 'write']);
    expect(Winner!.Sources[0]!.Path).to.deep.equal([{ Type: 'draft', ID: '', Name: '' }]);
    expect(Text).to.equal('acl:write is allowed by acl in the draft, line 1');
  });

  it('refuses what is no question, with the texts of authorize', async () => {
    const many = Array.from({ length: 65 }, () => ({ Resource: 'acl', Access: 'read' }));
    const cases: [object, string][] = [
      [{ Requests: many }, 'Refusing to process more than 64 authorizations at once'],
      [{ Requests: [] }, 'Requests needs at least one question'],
      [{ Requests: questions(['cat', 'read']) }, 'Invalid ACL resource requested: "cat"'],
      [{ Requests: questions(['acl', 'eat']) }, 'Invalid access level for acl resource: eat'],
      [{ Requests: questions(['acl', 'read', '', '*']) }, 'Invalid field "Namespace": "*"'],
      [{ AccessorID: 'x', Requests: questions(['acl', 'read']) }, 'AccessorID is not a valid UUID'],
      [
        { AccessorID: ANONYMOUS, Draft: {}, Requests: questions(['acl', 'read']) },
        'AccessorID and Draft exclude each other',
      ],
    ];
    for (const [body, words] of cases) {
      const reply = await client.ask(EXPLAIN, body);
      expect([reply.status, reply.body.code], reply.text).to.deep.equal([400, 'invalid']);
      expect(reply.body.detail).to.include(words);
    }
    const unknown = await client.ask(`${EXPLAIN}?stal`, { Requests: questions(['acl', 'read']) });
    expect(unknown.body.detail).to.include('Unknown query parameter "stal"');
  });

  it('tells nothing of a token in a namespace that the caller may not read', async () => {
    await client.must('PUT /namespace', { Name: 'hidden' });
    const foreign = await token({ Description: 'd' }, 'hidden');
    const missing = '0f0f0f0f-1111-4222-8333-444444444444';
    const reader = await client.secretWith('acl = "read"');
    const nobody = await client.secretWith('key "a" { policy = "read" }');
    const ask = async (AccessorID: string, secret: string) => {
      const body = { AccessorID, Requests: questions(['acl', 'read']) };
      const { status, text } = await client.ask(EXPLAIN, body, secret);
      return [status, text.replaceAll(AccessorID, '')];
    };
    expect(await ask(foreign.AccessorID, reader)).to.deep.equal(await ask(missing, reader));
    expect((await ask(missing, reader))[0]).to.equal(404);
    const decisionless = (all: unknown[]) => String(all[1]).replace(/"decision":"[^"]*"/, '');
    const refused = await ask(foreign.AccessorID, nobody);
    expect(refused[0]).to.equal(403);
    expect(decisionless(refused)).to.equal(decisionless(await ask(missing, nobody)));
    expect((await ask(foreign.AccessorID, MANAGEMENT_SECRET))[0]).to.equal(200);
    const withDraft = { Draft: { Rules: 'no rules' }, Requests: questions(['acl', 'read']) };
    expect((await client.ask(EXPLAIN, withDraft, nobody)).status).to.equal(403);
  });

  it('hides SecretIDs that somebody wrote into names and rules', async () => {
    const { SecretID } = await token({});
    await policy('p', `key "${SecretID}" { policy = "read" }`);
    // As it is, and where the end of another UUID runs into it.
    const Description = `${SecretID} 00000000-0000-0000-0000-0000${SecretID}`;
    const made = await token({ Description, Policies: [{ Name: 'p' }] });
    const body = { AccessorID: made.AccessorID, Requests: questions(['key', 'read', SecretID]) };
    const { text, status } = await client.ask(EXPLAIN, body);
    expect(status).to.equal(200);
    expect(text).not.to.include(SecretID);
    expect(text).to.include('\\u003chidden\\u003e');
  });
});
