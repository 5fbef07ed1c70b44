import { expect } from 'chai';
import type { Clause } from '../../src/api/endpoints/login-explain.js';
import { parseQuestion } from '../../src/cli/commands/explain.js';
import { failedTests, whereOf } from '../../src/cli/print/explain-view.js';
import { json, problem, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import type { Given, Ran } from './harness.js';

const ACCESSOR = '8a2d0000-1111-4222-8333-944455556666';

describe('questions about rights', () => {
  const cases: readonly (readonly [text: string, question: object])[] = [
    ['acl:read', { Resource: 'acl', Access: 'read' }],
    ['service:write:web', { Resource: 'service', Access: 'write', Segment: 'web' }],
    ['key:write-prefix:a:b/', { Resource: 'key', Access: 'write-prefix', Segment: 'a:b/' }],
    ['node:read:', { Resource: 'node', Access: 'read', Segment: '' }],
    ['orders:approve:a:b/', { Resource: 'key', Access: 'read', Segment: 'orders/approve/a:b/' }],
    ['orders:approve', { Resource: 'key', Access: 'read', Segment: 'orders/approve/' }],
    ['a/b:50%:1', { Resource: 'key', Access: 'read', Segment: 'a%2Fb/50%25/1' }],
    ['app:service:stop:1', { Resource: 'key', Access: 'read', Segment: 'service/stop/1' }],
  ];
  for (const [given, question] of cases)
    it(`reads ${given}`, () => expect(parseQuestion(given)).to.deep.equal(question));

  it('refuses half of a question', () => {
    expect(() => parseQuestion('service')).to.throw('"service" is not a question');
  });

  it('writes the way to a rule without the token', () => {
    const token = { Type: 'token', ID: ACCESSOR, Name: 'ci' };
    const role = { Type: 'role', ID: '1', Name: 'ops' };
    const policy = { Type: 'policy', ID: '2', Name: 'ops-deny' };
    const draft = { Type: 'draft', ID: '', Name: '' };
    const identity = { Type: 'service-identity', ID: '', Name: 'web' };
    expect(whereOf({ Path: [token, role, policy], Line: 2 })).to.equal(
      'role ops › policy ops-deny:2',
    );
    expect(whereOf({ Path: [draft], Line: 1 })).to.equal('rules:1');
    expect(whereOf({ Path: [token, identity], Line: null })).to.equal('service-identity web');
  });

  it('finds the tests because of which a selector does not hold', () => {
    const test = (Text: string, Result: boolean): Clause => ({ Type: 'match', Text, Result });
    const join = (Type: 'and' | 'or' | 'not', Result: boolean, ...Terms: Clause[]): Clause => ({
      Type,
      Text: `${Type} of ${Terms.length}`,
      Result,
      Terms,
    });
    const failed = (clause: Clause): string[] => failedTests(clause).map(({ Text }) => Text);
    const [yes, no] = [test('yes', true), test('no', false)];
    expect(failed(yes)).to.deep.equal([]);
    expect(failed(join('and', false, yes, no, join('or', false, no)))).to.deep.equal(['no', 'no']);
    expect(failed(join('or', true, no, yes))).to.deep.equal([]);
    expect(failed(join('and', false, join('not', false, yes)))).to.deep.equal(['not of 1']);
  });
});

/** Answers in the form of the API, with the members that are shown. */
const path = [
  { Type: 'token', ID: ACCESSOR, Name: 'ci' },
  { Type: 'role', ID: 'r', Name: 'ops' },
  { Type: 'policy', ID: 'p', Name: 'ops-deny' },
];
const denied = {
  Resource: 'service',
  Access: 'write',
  Segment: 'web',
  Namespace: 'default',
  Allow: false,
  Reason: 'rule',
  Layer: 'own',
  Level: 'deny',
  Text: 'service:write on "web" is denied by service "web" in policy "ops-deny", line 2',
  Winner: {
    Resource: 'service',
    Match: 'exact',
    Name: 'web',
    Level: 'deny',
    Rule: 'service "web"',
    Sources: [
      { Path: path.slice(0, 2), Line: 9, Column: 1, Level: 'read', Counts: false },
      { Path: path, Line: 2, Column: 1, Level: 'deny', Counts: true },
    ],
    MoreSources: 1,
  },
  Candidates: [],
  MoreCandidates: 0,
};
const allowed = {
  Resource: 'acl',
  Access: 'read',
  Segment: '',
  Namespace: 'default',
  Allow: true,
  Reason: 'default_policy',
  Level: null,
  Text: 'acl:read is allowed by the default policy',
  Winner: null,
};
const rights = [
  {
    Layer: 'own',
    Namespace: { Match: 'prefix', Name: 'team-' },
    Resource: 'service',
    Match: 'prefix',
    Name: '',
    Level: 'read',
    Intentions: 'read',
    Sources: [{ Path: path, Line: 1, Column: 1, Counts: true }],
  },
];

describe('explanations by the command line', () => {
  const { user, fake } = fakeStage();

  /** Runs a command against a server that answers this. */
  const run = async (answer: unknown, args: readonly string[], given?: Given): Promise<Ran> =>
    user.run([...args, '--http-addr', await fake.serve(json(answer))], given);
  const body = (): unknown => JSON.parse(fake.seen.at(-1)!.body);

  it('answers questions in a table, and exits with 1 if one answer is no', async () => {
    const answer = { AccessorID: ACCESSOR, Index: 118, Results: [denied, allowed] };
    const args = ['acl', 'explain', 'service:write:web', 'acl:read', '-namespace', 'default'];
    const { code, out } = await run(answer, args);
    expect(code).to.equal(1);
    expect(out).to.equal(
      'QUESTION           ALLOWED  WHY             RULE                  WHERE\n' +
        'service:write:web  no       rule            service "web" = deny  ' +
        'role ops › policy ops-deny:2 (+2)\n' +
        'acl:read           yes      default_policy\n',
    );
    expect(fake.seen[0]).to.include({
      method: 'POST',
      url: '/v1/acl/authorize/explain?ns=default',
    });
    expect(body()).to.deep.equal({
      Requests: [
        { Resource: 'service', Access: 'write', Segment: 'web' },
        { Resource: 'acl', Access: 'read' },
      ],
    });
    expect(await run({ ...answer, Results: [allowed] }, ['acl', 'explain', 'acl:read'])).to.include(
      {
        code: 0,
      },
    );
    const whole = await run(answer, [...args, '-o', 'json']);
    expect(JSON.parse(whole.out)).to.deep.equal(answer);
  });

  it('paints the answers on a terminal, unless colours are not wanted', async () => {
    const answer = { Results: [denied] };
    const args = ['acl', 'explain', 'service:write:web'];
    const no = '\u001b[31mno\u001b[39m';
    expect((await run(answer, args, { columns: 200 })).out).to.include(no);
    const plain = [
      await run(answer, args),
      await run(answer, args, { columns: 200, env: { NO_COLOR: '1' } }),
      await run(answer, [...args, '--no-color'], { columns: 200 }),
      await run(answer, args, { columns: 200, env: { TERM: 'dumb' } }),
    ];
    for (const { out } of plain) expect(out).not.to.include('\u001b');
    const narrow = await run(answer, [...args, '--no-color'], { columns: 60 });
    for (const line of narrow.out.split('\n')) expect([...line].length).to.be.at.most(60);
  });

  it('asks about another token by the beginning of its ID', async () => {
    const address = await fake.serve(
      json([{ AccessorID: ACCESSOR }]),
      json({ AccessorID: ACCESSOR }),
      json({ Results: [allowed] }),
    );
    const args = ['acl', 'explain', 'acl:read', '--accessor', '8a2d', '--http-addr', address];
    expect((await user.run(args)).code).to.equal(0);
    expect(body()).to.deep.include({ AccessorID: ACCESSOR });
  });

  it('shows who the user is, and all rights', async () => {
    const answer = {
      AccessorID: ACCESSOR,
      Namespace: 'default',
      Anonymous: false,
      DefaultPolicy: 'deny',
      Truncated: false,
      Rights: rights,
    };
    const { code, out } = await run(answer, ['acl', 'whoami']);
    expect(code).to.equal(0);
    expect(out).to.match(/^Token +8a2d.*\nNamespace +default\nDefault policy +deny\n\nNAMESPACE/);
    expect(out).to.match(
      /\nteam-\* +service +\* +read +read +own +role ops › policy ops-deny:1\n$/,
    );
    expect(fake.seen[0]!.url).to.equal('/v1/acl/token/self/effective');
  });

  it('shows the token alone where the server has no explanations', async () => {
    const token = { AccessorID: ACCESSOR, SecretID: 'secret-7', Policies: [{ Name: 'ops' }] };
    for (const missing of [
      text(404, 'Invalid URL path: not a recognized HTTP API endpoint'),
      text(500, 'failed acl token lookup: index error: UUID must be 36 characters'),
    ]) {
      const address = await fake.serve(missing, json(token));
      const { code, out, err } = await user.run(['acl', 'whoami', '--http-addr', address]);
      expect(code).to.equal(0);
      expect(out).to.match(/Policies +ops\n/);
      expect(out).not.to.include('secret-7');
      expect(err).to.include('this is only the token');
    }
  });

  it('finds who can do something', async () => {
    const group = {
      Tokens: 36,
      AuthMethod: 'k8s',
      Namespace: 'default',
      Sample: [{ AccessorID: ACCESSOR, Description: 'ci' }],
      Result: { ...denied, Allow: true },
    };
    const answer = { Index: 1, Scanned: 20412, Allowed: 36, Truncated: true, Groups: [group] };
    const { out, err } = await run(answer, ['acl', 'who-can', 'service:write:web']);
    expect(out).to.include(`36      k8s     default    role ops › policy ops-deny:2 (+2)`);
    expect(err).to.equal('conclave: 36 of 20412 tokens are allowed; the search stopped early\n');
    expect(body()).to.deep.equal({ Resource: 'service', Access: 'write', Segment: 'web' });
    const names = await run(answer, ['acl', 'who-can', 'service:write:web', '-o', 'name']);
    expect(names.out).to.equal(`token/${ACCESSOR}\n`);
  });

  it('tells why a request was refused, then and now', async () => {
    const answer = {
      ID: '5f0c2a91-8b1e4d0c77aa3f10',
      Time: '2026-03-01T10:00:00.000Z',
      Node: 'n2',
      Type: 'authorization',
      Method: 'PUT',
      Path: '/v1/acl/role',
      RemoteAddr: '10.0.0.7',
      AccessorID: ACCESSOR,
      Namespace: 'default',
      Resource: 'acl',
      Access: 'write',
      Segment: '',
      Message: 'Permission denied: …',
      Then: { Reason: 'default_policy', Level: null, Rule: null },
      Now: { ...allowed, Access: 'write' },
      Changed: true,
      Login: null,
    };
    const { out } = await run(answer, ['acl', 'decision', answer.ID]);
    expect(out)
      .to.match(/Asked for +acl:write\n/)
      .and.match(/Why then +default_policy\n/);
    expect(out)
      .to.match(/Now +yes\n +acl:read is allowed/)
      .and.match(/Changed since +yes\n/);
    const login = {
      ...answer,
      Type: 'login',
      AccessorID: null,
      Resource: null,
      Access: null,
      Then: null,
      Now: null,
      Login: {
        AuthMethod: 'jwt1',
        Namespace: 'default',
        ReasonCode: 'no_rule',
        Reason: 'none of the 2 binding rules matches',
      },
    };
    const refused = await run(login, ['acl', 'decision', 'x']);
    expect(refused.out).to.match(
      /Auth method +jwt1 in default\nLogin refused +none of .* matches \(no_rule\)\n$/,
    );
    const gone = await fake.serve(problem(404, { code: 'not_found', detail: 'kept for 10 min' }));
    expect(await user.run(['acl', 'decision', 'x', '--http-addr', gone])).to.include({ code: 1 });
  });

  it('explains a login, with the tests that failed', async () => {
    const rule = {
      ID: 'aaaaaaaa-1111-4222-8333-944455556666',
      BindType: 'role',
      BindName: 'team-${value.team}',
      Selector: 'value.team == blue',
      Matches: false,
      Clause: {
        Type: 'match',
        Text: 'value.team == blue',
        Actual: 'red',
        Missing: false,
        Result: false,
      },
      Name: '',
      Effect: 'no_match',
      Problem: '',
    };
    const answer = {
      AuthMethod: 'jwt1',
      Type: 'jwt',
      Outcome: 'refused',
      ReasonCode: 'no_rule',
      Reason: 'none of the 1 binding rules matches',
      Checks: [
        { Name: 'form', Result: 'skipped', Detail: '' },
        { Name: 'signature', Result: 'skipped', Detail: '' },
        { Name: 'times', Result: 'failed', Detail: 'expired' },
        { Name: 'claims', Result: 'passed', Detail: '' },
      ],
      Values: { team: 'red' },
      Lists: { groups: ['a', 'b'] },
      Missing: { Values: ['name'], Lists: [] },
      Unmapped: ['sub'],
      Rules: [rule],
      Token: null,
      Rights: null,
    };
    const args = ['acl', 'login', 'explain', '-method', 'jwt1'];
    const { code, out } = await run(answer, [...args, '-claims', '{"team":"red"}']);
    expect(code).to.equal(1);
    expect(out).to.match(/^Method +jwt1 \(jwt\)\nOutcome +refused: none of the 1 .* \(no_rule\)\n/);
    expect(out).to.match(
      /Checks +failed: times \(expired\)\n +passed: claims\n +skipped: form, signature\n/,
    );
    expect(out).to.match(/Values +team = red\nLists +groups = a, b\nMissing +name\n/);
    expect(out).to.match(
      /\naaaaaaaa +no +no_match +role team-\S+ +✗ value\.team == blue \(is "red"\)\n$/,
    );
    expect(body()).to.deep.equal({ AuthMethod: 'jwt1', Claims: { team: 'red' } });
    const granted = {
      ...answer,
      Outcome: 'granted',
      Rules: [{ ...rule, Matches: true, Effect: 'binds', Name: 'team-blue' }],
      Token: { Roles: [{ ID: 'r', Name: 'team-blue' }], ExpirationTTL: '1h0m0s' },
    };
    const jwt = [...args, '-bearer-token-file', '-'];
    const ok = await run(granted, jwt, { input: 'eyJ.x.y\n' });
    expect(ok.code).to.equal(0);
    expect(ok.out).to.match(/Roles +team-blue\nValid for +1h0m0s\n/);
    expect(body()).to.deep.equal({ AuthMethod: 'jwt1', BearerToken: 'eyJ.x.y' });
    expect((await run(granted, args)).code).to.equal(2);
  });
});
