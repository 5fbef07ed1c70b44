import { expect } from 'chai';
import { json, problem } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import { APPLIED, AT, ID, line, PLAN, TIME, VERSIONS } from './history-answers.js';

describe('the history of an object', () => {
  const { run, urls } = fakeStage();

  it('is shown with who, when and why', async () => {
    const { code, out } = await run(`history policy ${ID}`, [json(VERSIONS)]);
    expect(code).to.equal(0);
    const lines = out.trim().split('\n');
    expect(lines[1]).to.match(/^57 .*update .*yes .*jwt1\/user-1 .*PAY-1$/);
    expect(lines[2]).to.match(/^42 .*create .*ci .*PAY-1$/);
    expect(urls()).to.deep.equal([`/v1/history/policy/${ID}`]);
  });

  it('is found by name, also of an object that is gone', async () => {
    const missing = problem(404, { code: 'not_found', detail: 'no policy' });
    const gone = json({ Changes: [line(9, { ID: 'other', Name: 'x' }), line(8, { Name: 'Ops' })] });
    const answers = [missing, json([]), gone, json({ ...VERSIONS, Exists: false })];
    const { code, err } = await run('history policy ops', answers);
    expect(code).to.equal(0);
    expect(err).to.equal('conclave: it does not exist now\n');
    expect(urls().slice(-2)).to.deep.equal([
      '/v1/history?types=policy&limit=1000',
      `/v1/history/policy/${ID}`,
    ]);
    const none = await run('history policy ops', [missing, json([]), json({ Changes: [] })]);
    expect(none.err).to.equal('conclave: there is no policy "ops" (not_found)\n');
  });

  for (const [args, url] of [
    ['config service-defaults/a/b', '/v1/history/config/service-defaults/a/b'],
    [
      'config/service-defaults/web --limit 5 --before 9',
      '/v1/history/config/service-defaults/web?before=9&limit=5',
    ],
    ['auth-method ci', '/v1/history/auth-method/ci'],
    [`binding-rule/${ID}`, `/v1/history/binding-rule/${ID}`],
  ] as const)
    it(`asks for ${url}`, async () => {
      await run(`history ${args}`, [json(VERSIONS)]);
      expect(urls()).to.deep.equal([url]);
    });

  for (const [args, why] of [
    ['history polcy ops', 'unknown type "polcy"; did you mean "policy"?'],
    ['history policy', 'name the object: TYPE NAME'],
    ['refs config web', 'name the entry: config KIND/NAME'],
    ['rollback policy ops', '--to is missing'],
    ['rollback policy ops --owner x --to 1', 'name either an object, as TYPE NAME, or --owner'],
    ['rollback --to 1', 'name either an object, as TYPE NAME, or --owner'],
    ['undo 1', '--yes is required without a terminal'],
  ] as const)
    it(`refuses ${args}`, async () => {
      const ran = await run(args, [json({})]);
      expect(ran.code).to.equal(2);
      expect(ran.err).to.include(why);
    });

  it('shows a version, and what differs between two', async () => {
    const shown = await run(`history policy ${ID} --show 42`, [json({ Object: { Name: 'ops' } })]);
    expect(JSON.parse(shown.out)).to.deep.equal({ Name: 'ops' });
    const Diff = [{ Type: 'Edited', Path: '/Rules', Old: 'a\n', New: 'b\n' }];
    const diff = await run(`history diff policy ${ID}`, [json(VERSIONS), json({ Diff })]);
    expect(diff.out).to.equal('~ Rules\n    - a\n    + b\n');
    expect(urls()).to.deep.equal([
      `/v1/history/policy/${ID}?version=42`,
      `/v1/history/policy/${ID}?limit=2`,
      `/v1/history/policy/${ID}?from=42`,
    ]);
    const one = json({ ...VERSIONS, Versions: VERSIONS.Versions.slice(1) });
    expect((await run(`history diff policy ${ID}`, [one])).err).to.include('no older version');
  });
});

describe('the feed of changes', () => {
  const { run, urls } = fakeStage();
  const FEED = { Index: 61, Oldest: 3, More: false };

  it('is a table, or what the API answers', async () => {
    const Changes = [
      line(60),
      line(59, { Type: 'login-tokens', Ref: 'login-tokens/default/jwt1', Count: 812 }),
    ];
    const answer = json({ ...FEED, Changes });
    const { out } = await run('history feed --logins --subject jwt1/user-1', [answer]);
    expect(out)
      .to.match(/60 .*policy\/default\/ops/)
      .and.match(/jwt1 \(812\)/);
    expect(urls()).to.deep.equal(['/v1/history?subject=jwt1%2Fuser-1&logins=true']);
    const raw = await run('history feed -o json', [answer]);
    expect(JSON.parse(raw.out)).to.deep.equal({ ...FEED, Changes });
    expect((await run('history feed -o name', [answer])).out).to.equal(
      'policy/default/ops\nlogin-tokens/default/jwt1\n',
    );
  });

  it('goes on with each change, and misses none of a full page', async () => {
    const pages = [
      { ...FEED, Changes: [line(61), line(60)] },
      { ...FEED, Index: 90, Changes: [line(70), line(80)], More: true },
      { ...FEED, Index: 90, Changes: [line(85, { Reason: 'last' })] },
    ];
    const stop = new AbortController();
    const given = {
      signal: stop.signal,
      onOut: (text: string) => text.includes('last') && stop.abort(),
    };
    const answers = pages.map((page) => json(page));
    const { code, out } = await run('history feed --follow', answers, given);
    expect(code).to.equal(130);
    expect([...out.matchAll(/at index (\d+)/g)].map(([, index]) => index)).to.deep.equal([
      ...['60', '61', '70', '80', '85'],
    ]);
    expect(out).to.match(/update policy\/default\/ops at index 85 by ci: last\n$/);
    expect(urls().slice(0, 3)).to.deep.equal([
      '/v1/history',
      '/v1/history?after=61&index=61&wait=5m',
      '/v1/history?after=80',
    ]);
  });

  it('is a line of JSON for each change when it is followed', async () => {
    const stop = new AbortController();
    const given = { signal: stop.signal, onOut: () => stop.abort() };
    const { out } = await run(
      'history feed --follow --after 59 -o json',
      [json({ ...FEED, Changes: [line(60)] })],
      given,
    );
    expect(JSON.parse(out.split('\n')[0]!)).to.deep.equal(line(60));
  });
});

describe('undo', () => {
  const { run, bodies } = fakeStage();

  it('shows the plan, and takes back one entry', async () => {
    const ran = await run('undo 57 --yes', [json(PLAN), json(APPLIED)]);
    expect(ran.code).to.equal(0);
    expect(ran.out)
      .to.match(/^~ policy\/default\/ops/)
      .and.match(/\nupdated policy\/default\/ops\n$/);
    expect(bodies()).to.deep.equal([
      { Index: 57, DryRun: true },
      { Index: 57, Expected: PLAN.Expected },
    ]);
  });

  it('writes nothing in a dry run, or if the answer is no', async () => {
    expect((await run('undo 57 --dry-run', [json(PLAN)])).code).to.equal(0);
    expect((await run('undo 57', [json(PLAN)], { answers: ['n'] })).code).to.equal(1);
    expect(bodies().every(({ DryRun }) => DryRun === true)).to.equal(true);
  });

  it('says what has changed since', async () => {
    const Conflicts = [{ Ref: 'policy/default/ops', Expected: 57, Actual: 60 }];
    const since = { code: 'precondition_failed', detail: 'changed since', Conflicts };
    const { code, err } = await run('undo 57 --yes', [problem(412, since)]);
    expect(code).to.equal(1);
    expect(err).to.include('\n  policy/default/ops: expected ModifyIndex 57, it is 60\n');
  });
});

describe('refs', () => {
  const { run, urls } = fakeStage();
  const REFS = {
    Ref: 'policy/default/ops',
    ModifyIndex: 42,
    Owner: 'pay',
    UsedBy: [
      { Type: 'role', ID: 'x', Name: 'admins', Namespace: 'default' },
      { Type: 'token', ID: 'y', Name: 'ci', Namespace: 'default' },
    ],
    UsedByTotal: { role: 1, token: 17 },
    Uses: [],
    Filtered: true,
    IfDeleted: {
      Refused: '',
      Removed: {},
      Unlinked: { role: 1, token: 17 },
      TokensThatLoseRights: 17,
      Truncated: false,
    },
  };

  it('shows who uses an object, and what a delete would do', async () => {
    const { out, err } = await run(`refs policy ${ID}`, [json(REFS)]);
    expect(urls()).to.deep.equal([`/v1/refs/policy/${ID}`]);
    expect(out)
      .to.match(/^Used by +1 role, 17 tokens$/m)
      .and.match(/^If deleted +unlinked: 1 role, 17 tokens\n +rights lost by: 17 tokens$/m)
      .and.match(/^used by +role\/default\/admins$/m)
      .and.match(/^used by +token\/y +ci$/m);
    expect(err).to.equal(
      'conclave: 16 more use it\nconclave: what this token may not read is left out\n',
    );
  });

  it('shows why a delete would be refused', async () => {
    const IfDeleted = { ...REFS.IfDeleted, Refused: 'router "web" needs it', Unlinked: {} };
    const { out } = await run('refs config service-defaults/web', [json({ ...REFS, IfDeleted })]);
    expect(out).to.match(/^If deleted +refused: router "web" needs it$/m);
  });
});

describe('questions about an earlier moment', () => {
  const { run, urls } = fakeStage();
  const RESULT = {
    Resource: 'acl',
    Access: 'read',
    Allow: true,
    Reason: 'rule',
    Level: 'read',
    Winner: null,
  };
  const rights = {
    AccessorID: ID,
    Namespace: 'default',
    Anonymous: false,
    DefaultPolicy: 'deny',
    Rights: [],
  };
  const groups = { Allowed: 1, Scanned: 2, Groups: [] };

  for (const [args, answer, url] of [
    ['acl explain acl:read', { Results: [RESULT] }, '/v1/acl/authorize/explain?at=42'],
    [`acl whoami --accessor ${ID}`, rights, `/v1/acl/token/${ID}/effective?at=42`],
    ['acl who-can acl:read', groups, '/v1/acl/who-can?at=42'],
  ] as const)
    it(`${args} says first which moment it answers`, async () => {
      const ran = await run(`${args} --at 42`, [json({ At: AT, ...answer })]);
      expect(ran.out.split('\n')[0]).to.match(/^At index 42 \(2026-11-03 .*\):$/);
      expect(urls()).to.deep.equal([url]);
      const now = await run(args, [json(args.includes('whoami') ? { ...rights } : answer)]);
      expect(now.out).not.to.include('At index');
    });

  it('have the oldest moment that is known in their refusal', async () => {
    const Oldest = { Index: 50, Time: TIME };
    const unknown = problem(404, { code: 'not_found', detail: 'no longer known', Oldest });
    const { code, err } = await run('acl whoami --at 42', [unknown]);
    expect(code).to.equal(1);
    expect(err).to.match(/no longer known .*\n {2}the oldest moment that is known is index 50 \(/);
  });
});
