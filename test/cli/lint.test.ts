import { expect } from 'chai';
import { problemLines } from '../../src/cli/lint.js';
import { FakeServers, json } from './fake-server.js';
import { type Ran, User } from './harness.js';

describe('lint by the command line', () => {
  const user = new User();
  const fake = new FakeServers();
  after(() => {
    fake.close();
    user.leave();
  });
  beforeEach(() => fake.forget());

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
    };
    expect(problemLines('rule', claim)).to.equal('rule:Selector: warning unanchored: m\n');
  });

  it('judges rules in files, and exits with 1 if they would be refused', async () => {
    const warning = { Severity: 'warning', Code: 'broad_write', Message: 'm', Line: 1, Column: 1 };
    const address = await fake.serve(
      json({ Valid: true, Problems: [warning] }),
      json({ Valid: false, Problems: [{ ...warning, Severity: 'error', Code: 'syntax' }] }),
      json({ Valid: true, Problems: [warning] }),
      json({ Valid: true, Problems: [] }),
    );
    const lint = (...more: string[]): Promise<Ran> =>
      user.run(['acl', 'policy', 'lint', '-', '--http-addr', address, ...more], { input: 'rules' });
    expect(await lint()).to.deep.equal({
      code: 0,
      out: '-:1:1: warning broad_write: m\n',
      err: '',
    });
    expect(body()).to.deep.equal({ Rules: 'rules' });
    expect((await lint()).code).to.equal(1);
    expect((await lint('--strict')).code).to.equal(1);
    expect(await lint()).to.include({ code: 0, err: 'conclave: nothing to say against it\n' });
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
