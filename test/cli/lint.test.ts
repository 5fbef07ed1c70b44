import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { problemLines } from '../../src/cli/commands/lint.js';
import { json } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import type { Ran } from './harness.js';

describe('lint by the command line', () => {
  const { user, fake } = fakeStage();

  /** Runs a command against a server that answers this. */
  const run = async (answer: unknown, args: readonly string[]): Promise<Ran> =>
    user.run([...args, '--http-addr', await fake.serve(json(answer))]);
  const body = (): unknown => JSON.parse(fake.seen.at(-1)!.body);

  it('writes problems as lines that editors understand', () => {
    const broad = {
      Severity: 'warning' as const,
      Code: 'broad_write',
      Message: 'too broad',
      Line: 3,
      Column: 1,
      Hint: 'name them',
    };
    expect(problemLines('a.hcl', broad)).to.equal(
      'a.hcl:3:1: warning broad_write: too broad\n  name them\n',
    );
    const claim = {
      Severity: 'warning' as const,
      Code: 'unanchored',
      Message: 'm',
      Field: 'Selector',
      Line: 1,
      Column: 7,
    };
    expect(problemLines('rule', claim)).to.equal('rule:Selector:1:7: warning unanchored: m\n');
  });

  it('judges rules in files without a server, and fails if they would be refused', async () => {
    const lint = (input: string, ...more: string[]): Promise<Ran> =>
      user.run(['acl', 'policy', 'lint', '-', '--http-addr', '127.0.0.1:1', ...more], { input });
    const broad = '\nservice_prefix "" { policy = "write" }';
    const said = await lint(broad);
    expect([said.code, said.err]).to.deep.equal([0, '']);
    expect(said.out).to.match(
      /^-:2:1: warning broad_write: service_prefix "" gives write on every/,
    );
    expect((await lint(broad, '--strict')).code).to.equal(1);
    const wrong = await lint('servce "a" {}\nacl = "WRITE"');
    expect(wrong.code).to.equal(1);
    expect(wrong.out).to.match(/^-:1:1: error unknown_resource: .*did you mean "service"\?/);
    expect(wrong.out).to.match(/^-:2:\d+: error bad_level: /m);
    // The place stands once in each line.
    expect(wrong.out).not.to.include(' at ');
    const nothing = { code: 0, err: 'conclave: no problems found\n' };
    expect(await lint('acl = "read"')).to.include(nothing);
    const { Valid, File } = JSON.parse((await lint(broad, '-o', 'json')).out);
    expect([Valid, File]).to.deep.equal([true, '-']);
  });

  it('judges rules in files for one namespace, default if none is named', async () => {
    const lint = (...more: string[]): Promise<Ran> =>
      user.run(['acl', 'policy', 'lint', '-', ...more], { input: 'operator = "read"' });
    expect((await lint()).code).to.equal(0);
    expect((await lint('--namespace', 'team')).out).to.include('not_allowed_here');
    expect((await lint('--namespace', '*')).code).to.equal(2);
    expect((await user.run(['acl', 'policy', 'lint', 'none.hcl'])).err).to.include('none.hcl does');
  });

  it('reads files in UTF-8 alone, with or without a byte order mark', async () => {
    const lint = async (bytes: Buffer): Promise<Ran> => {
      const file = join(user.home, 'rules.hcl');
      writeFileSync(file, bytes);
      return user.run(['acl', 'policy', 'lint', file]);
    };
    const rules = '# Büro\nacl = "read"\n';
    expect(await lint(Buffer.from(`\ufeff${rules}`, 'utf8'))).to.include({ code: 0 });
    const { code, err } = await lint(Buffer.from(rules, 'latin1'));
    expect(code).to.equal(2);
    expect(err).to.match(/rules\.hcl is not text in UTF-8\n$/);
    // As PowerShell writes it.
    expect(await lint(Buffer.from(`\ufeff${rules}`, 'utf16le'))).to.include({ code: 2 });
  });

  it('judges a stored policy by the server, besides files', async () => {
    const policy = {
      ID: '11111111-2222-4333-8444-555555555555',
      Name: 'ops',
      Namespace: 'default',
    };
    const problem = { Severity: 'info', Code: 'exception', Message: 'm', Line: 1, Column: 1 };
    const address = await fake.serve(json(policy), json({ Valid: true, Problems: [problem] }));
    const args = ['acl', 'policy', 'lint', '-', '--policy', 'ops', '--http-addr', address];
    const { out } = await user.run(args, { input: '' });
    expect(out).to.equal('policy/default/ops:1:1: info exception: m\n');
    expect(body()).to.deep.equal({ ID: policy.ID });
  });

  it('judges a binding rule, and everything that is stored', async () => {
    const warning = { Severity: 'warning', Code: 'absent_claim_passes', Message: 'm' };
    const one = { ...warning, Field: 'Selector', Line: 1, Column: 4, Fix: '"team" in value' };
    const fields = ['-method', 'ci', '-bind-type', 'role', '-bind-name', 'x'];
    const rule = await run({ Valid: true, Problems: [one] }, [
      ...['acl', 'binding-rule', 'lint', '-selector', 'value.team != "x"', ...fields],
    ]);
    expect(rule.out).to.equal(
      'binding rule:Selector:1:4: warning absent_claim_passes: m\n  "team" in value\n',
    );
    expect(body()).to.include({ AuthMethod: 'ci', Selector: 'value.team != "x"' });
    const stored = {
      Index: 1,
      Findings: [{ Ref: 'policy/default/ops', ...warning, Line: 2 }],
      More: 3,
    };
    const all = await run(stored, ['acl', 'lint', '--severity', 'info']);
    expect(all.code).to.equal(0);
    expect(all.out).to.match(/\npolicy\/default\/ops:2 +warning +absent_claim_passes +m\n$/);
    expect(all.err).to.equal('conclave: 3 more findings are not shown\n');
    expect(fake.seen.at(-1)!.url).to.equal('/v1/acl/lint?severity=info');
  });
});
