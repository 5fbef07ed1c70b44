import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { json, problem } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

const CHANGE = {
  Ref: 'role/default/web',
  Type: 'role',
  Namespace: 'default',
  Name: 'web',
  Action: 'create',
  ExpectedIndex: 0,
  Owner: '',
  Allowed: true,
  Diff: [{ Type: 'Added', Path: '/Name', New: 'web' }],
  Warnings: [],
};
const PLAN = {
  Index: 131,
  Valid: true,
  Digest: 'sha256:9f',
  Owner: '',
  Summary: { Create: 1, Update: 0, Delete: 0, Unchanged: 0, Hidden: 0 },
  Changes: [CHANGE],
  Expected: { 'role/default/web': 0 },
  Problems: [],
  Asserts: [],
  Parts: [],
};
const UNCHANGED = { ...PLAN, Changes: [{ ...CHANGE, Action: 'unchanged' }] };
const APPLIED = {
  Index: 132,
  Changed: 1,
  Unchanged: 0,
  Changes: [{ Ref: 'role/default/web', Action: 'create', ModifyIndex: 132 }],
  Asserts: [],
};
const INVALID = {
  ...PLAN,
  Valid: false,
  Problems: [{ Ref: 'role/default/web', Code: 'owned', Message: 'has another owner', Pointer: '' }],
};
/** Returns what a plan says in a few words. */
const inWords = ({ Changes, Valid }: Pick<typeof PLAN, 'Changes' | 'Valid'>): string =>
  `${Valid ? 'a valid' : 'an invalid'} plan has the action ${Changes[0]!.Action}`;
const SET = 'Type: role\nObject:\n  Name: web\n';

describe('plan, diff and apply', () => {
  const { fake, run } = fakeStage();
  const folder = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const file = join(folder, 'web.yaml');
  beforeEach(() => writeFileSync(file, SET));
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const bodies = () => fake.seen.map(({ url, body }) => [url, JSON.parse(body || 'null')]);

  it('plan shows what would change, and writes nothing', async () => {
    const ran = await run(`plan -f ${file} --owner pay --prune`, [json(PLAN)]);
    expect(ran).to.deep.equal({
      code: 0,
      out:
        '+ role/default/web\n    + Name  "web"\n\n' +
        'Plan: 1 to create, 0 to update, 0 to delete, 0 unchanged.\n',
      err: '',
    });
    const Objects = [{ Type: 'role', Object: { Name: 'web' } }];
    const body = { Owner: 'pay', Prune: true, Objects, Delete: [], Assert: [] };
    expect(bodies()).to.deep.equal([['/v1/plan', body]]);
  });

  it('plan takes the standard input, and prints what the API answers', async () => {
    const answer = [json(PLAN)];
    const ran = await run('plan -f - -o json', answer, { input: SET });
    expect(JSON.parse(ran.out)).to.deep.equal(PLAN);
    expect((await run(`plan -f ${folder} -o name`, answer)).out).to.equal('role/default/web\n');
  });

  for (const [args, plan, code] of [
    ['plan', PLAN, 0],
    ['plan --exit-code', PLAN, 3],
    ['plan --exit-code', UNCHANGED, 0],
    ['plan', INVALID, 1],
    ['plan --exit-code', INVALID, 1],
    ['diff', PLAN, 0],
    ['diff --exit-code', PLAN, 3],
    ['diff', INVALID, 1],
    ['apply --dry-run', PLAN, 0],
    ['apply --yes', INVALID, 1],
    ['apply --yes --in-parts', INVALID, 1],
  ] as const)
    it(`${args} ends with ${code} if ${inWords(plan)}`, async () => {
      expect((await run(`${args} -f ${file}`, [json(plan)])).code).to.equal(code);
      expect(fake.seen.map(({ url }) => url)).to.deep.equal(['/v1/plan']);
    });

  it('problems have the file and line of their object', async () => {
    const { out } = await run(`plan -f ${file}`, [json(INVALID)]);
    const where = `${file}:3:3: role/default/web: has another owner (owned)`;
    expect(out).to.include(`Problems:\n  ${where}\n`);
    expect((await run(`diff -f ${file}`, [json(INVALID)])).err).to.equal(`conclave: ${where}\n`);
  });

  it('diff shows the differences only', async () => {
    const Asserts = [{ Name: 'x', Passed: true, Result: null }];
    const { out } = await run(`diff -f ${file}`, [json({ ...PLAN, Asserts })]);
    expect(out).to.equal('+ role/default/web\n    + Name  "web"\n');
  });

  it('apply sends exactly what it has shown', async () => {
    const ran = await run(`apply -f ${file} --yes`, [json(PLAN), json(APPLIED)]);
    expect(ran.code).to.equal(0);
    expect(ran.out)
      .to.include('+ role/default/web\n')
      .and.match(/\ncreated role\/default\/web\n$/);
    expect(ran.err).to.equal('conclave: applied 1 change at index 132\n');
    const Objects = [{ Type: 'role', Object: { Name: 'web' } }];
    const body = { Objects, Delete: [], Assert: [] };
    expect(bodies()).to.deep.equal([
      ['/v1/plan', body],
      ['/v1/apply', { Digest: 'sha256:9f', ...body }],
    ]);
  });

  it('apply asks on a terminal, and needs --yes elsewhere', async () => {
    const answers = [json(PLAN), json(APPLIED)];
    const no = await run(`apply -f ${file}`, answers, { answers: ['n'] });
    expect(no.code).to.equal(1);
    expect(no.err).to.equal('apply 1 change? [y/N] conclave: nothing was changed\n');
    expect(fake.seen).to.have.length(1);
    expect((await run(`apply -f ${file}`, answers, { answers: ['y'] })).code).to.equal(0);
    fake.forget();
    const blind = await run(`apply -f ${file}`, answers);
    expect(blind.code).to.equal(2);
    expect(fake.seen).to.deep.equal([]);
  });

  it(
    'apply shows the plan to whoever is asked, not to the program that ' + 'reads the result',
    async () => {
      const answers = [json(PLAN), json(APPLIED)];
      const ran = await run(`apply -f ${file} -o json`, answers, { answers: ['y'] });
      expect(JSON.parse(ran.out)).to.deep.equal(APPLIED);
      expect(ran.err).to.include('+ role/default/web\n');
    },
  );

  it('apply asks nothing where nothing changes', async () => {
    const applied = { ...APPLIED, Changed: 0, Changes: [] };
    const ran = await run(`apply -f ${file}`, [json(UNCHANGED), json(applied)], { answers: [] });
    expect(ran.code).to.equal(0);
    expect(ran.err).to.equal('conclave: nothing to change\n');
  });

  it('a refusal names the places of all objects that it is about', async () => {
    const Conflicts = [
      { Ref: 'role/default/web', Expected: 42, Actual: 57 },
      { Ref: 'role/default/x', Expected: 0, Actual: 9 },
      { Ref: 'role/default/y', Expected: 7, Actual: null },
    ];
    const details = { code: 'precondition_failed', detail: 'The set has changed', Conflicts };
    const ran = await run(`apply -f ${file} --yes`, [json(PLAN), problem(412, details)]);
    expect(ran.code).to.equal(1);
    expect(ran.err).to.equal(
      'conclave: The set has changed (precondition_failed)\n' +
        `  ${file}:3:3: role/default/web: expected ModifyIndex 42, it is 57\n` +
        '  role/default/x: expected that it does not exist, it is 9\n' +
        '  role/default/y: expected ModifyIndex 7, it does not exist\n',
    );
    const denied = { code: 'permission_denied', detail: 'no', Denied: ['role/default/web'] };
    const refused = await run(`apply -f ${file} --yes`, [json(PLAN), problem(403, denied)]);
    expect(refused.err).to.include(`\n  ${file}:3:3: role/default/web: not allowed\n`);
    const field = { code: 'invalid', detail: 'No such field', pointer: '/Objects/0/Object/Name' };
    const wrong = await run(`plan -f ${file}`, [problem(400, field)]);
    expect(wrong.err).to.equal(`conclave: ${file}:3:9: No such field (invalid)\n`);
  });

  it('files are needed, and read before anything is sent', async () => {
    expect((await run('plan', [json(PLAN)])).code).to.equal(2);
    writeFileSync(file, 'Type: rolle\nObject: {}\n');
    const { code, err } = await run(`apply --yes -f ${file}`, [json(PLAN)]);
    expect(code).to.equal(1);
    expect(err).to.include(`${file}:1:7: unknown type "rolle"; did you mean "role"?`);
    expect(fake.seen).to.deep.equal([]);
  });
});

describe('a set in parts', () => {
  const { user, fake } = fakeStage();
  const Changes = ['a', 'b', 'c'].map((Name) => ({ ...CHANGE, Name, Ref: `role/default/${Name}` }));
  const plan = { ...PLAN, Changes, Parts: Changes.map(({ Ref }) => [Ref]) };
  const done = (Index: number) => json({ ...APPLIED, Index });
  const items = ['a', 'b', 'c'].map((one) => `- {Type: role, Object: {Name: ${one}}}\n`);
  const input = `Objects:\n${items.join('')}Assert: [{Name: x}]\n`;
  const run = async (args: string, ...answers: RequestListener[]) =>
    user.run([...args.split(' '), '-f', '-', '--http-addr', await fake.serve(...answers)], {
      input,
    });

  it('is refused without --in-parts', async () => {
    const { code, err } = await run('apply --yes', json(plan));
    expect(code).to.equal(1);
    expect(err).to.include('too_large').and.include('conclave apply --in-parts');
  });

  it('is applied one after the other, and says so', async () => {
    const ran = await run('apply --yes --in-parts', json(plan), done(131), done(132), done(133));
    expect(ran.code).to.equal(0);
    expect(ran.err).to.equal(
      'conclave: This set needs 3 entries: it is not applied all at once, ' +
        'and readers see the states in between\n' +
        'conclave: The assertions are judged with the last part alone\n',
    );
    expect(ran.out.split('\n').slice(-4)).to.deep.equal([
      'part 1 of 3: 1 changed at index 131',
      'part 2 of 3: 1 changed at index 132',
      'part 3 of 3: 1 changed at index 133',
      '',
    ]);
    const asserts = fake.seen.map(({ body }) => JSON.parse(body).Assert.length);
    expect(asserts).to.deep.equal([1, 0, 0, 1]);
  });

  it('tells what is applied when it is stopped', async () => {
    const refused = problem(409, { code: 'conflict', detail: 'The role is taken' });
    const ran = await run('apply --yes --in-parts', json(plan), done(131), done(132), refused);
    expect(ran.code).to.equal(1);
    expect(ran.err).to.include(
      'conclave: Part 3 of 3 failed: The role is taken; parts 1 to 2 are ' +
        'applied (indexes 131 to 132). Run the same command again to go on (conflict)\n',
    );
    const first = await run('apply --yes --in-parts', json(plan), refused);
    expect(first.err).to.include('Part 1 of 3 failed: The role is taken; no part is applied.');
    const lost: RequestListener = (request) => request.socket.destroy();
    const cut = await run('apply --yes --in-parts', json(plan), done(131), lost);
    expect(cut.code).to.equal(1);
    expect(cut.err)
      .to.include('; part 1 is applied (index 131). Run the same command again')
      .and.include('outcome_unknown');
  });

  it('that is too large for a plan is sent in chunks, and pruned by the command', async () => {
    const Objects = Array.from({ length: 10_001 }, (_, at) => ({
      Type: at === 0 ? 'policy' : 'role',
      Object: { Name: `n${at}` },
    }));
    const held = [
      { Type: 'role', Object: { ID: 'x', Name: 'n1' } },
      { Type: 'config', Object: { Kind: 'mesh' } },
      { Type: 'binding-rule', Namespace: 'team', Handle: 'h', Object: {} },
    ];
    const none = { ...PLAN, Changes: [] };
    const both = [json(none), done(131)];
    const answers = [json({ Index: 1, Objects: held }), ...both, ...both, ...both];
    const address = await fake.serve(...answers);
    const args = ['apply', '-f', '-', '--yes', '--in-parts', '--owner', 'pay', '--prune'];
    const ran = await user.run([...args, '--http-addr', address], {
      input: JSON.stringify({ Objects }),
    });
    expect(ran.code, ran.err).to.equal(0);
    const sent = fake.seen.map(({ url, body }) => {
      const { Delete = [], Objects: all = [], Prune } = JSON.parse(body || '{}');
      return [url, all.length, Delete, Prune];
    });
    const pruned = [
      { Type: 'config', Name: 'mesh/mesh' },
      { Type: 'binding-rule', Namespace: 'team', Handle: 'h' },
    ];
    expect(sent).to.deep.equal([
      ['/v1/export?owner=pay&ns=*&ids=true', 0, [], undefined],
      ['/v1/plan', 1, [], undefined],
      ['/v1/apply', 1, [], undefined],
      ['/v1/plan', 10_000, [], undefined],
      ['/v1/apply', 10_000, [], undefined],
      ['/v1/plan', 0, pruned, undefined],
      ['/v1/apply', 0, pruned, undefined],
    ]);
  });
});
