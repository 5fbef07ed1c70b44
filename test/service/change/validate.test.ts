import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { decodeInSteps } from '../../../src/kinds/decode.js';
import { SoloClient } from '../client.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers freely
type Any = any;

describe('POST /v1/config/validate', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const judge = (body: unknown, token?: string): Promise<Any> =>
    client.must('POST /config/validate', body, token);
  const entry = (body: object) => client.must('PUT /config', body);
  const defaults = (Name: string, Protocol: string) => ({
    Kind: 'service-defaults',
    Name,
    Protocol,
  });
  const splitter = (Name: string, ...to: string[]) => ({
    Kind: 'service-splitter',
    Name,
    Splits: to.map((Service) => ({ Weight: 100 / to.length, Service })),
  });
  const first = async (body: unknown, token?: string) => (await judge(body, token)).Results[0];

  it('shows what would be stored of a valid entry, and writes nothing', async () => {
    const before = client.solo.machine.appliedIndex();
    const { Results, ...head } = await judge({ kind: 'service-defaults', name: 'web' });
    expect(head).to.deep.equal({ Valid: true, Index: before });
    const [{ Normalised, ...result }] = Results;
    expect(result).to.deep.equal({
      Kind: 'service-defaults',
      Name: 'web',
      Ref: 'config/default/service-defaults/web',
      Valid: true,
      Problems: [],
      Judged: 'all',
    });
    expect(client.solo.machine.appliedIndex()).to.equal(before);
    await entry({ kind: 'service-defaults', name: 'web' });
    const { CreateIndex, ModifyIndex, Hash, Namespace, ...stored } = await client.must(
      'GET /config/service-defaults/web',
    );
    expect(Hash).to.be.a('number');
    expect([CreateIndex, ModifyIndex, Namespace]).to.deep.equal([
      before + 1,
      before + 1,
      'default',
    ]);
    expect(stored).to.deep.equal(Normalised);
  });

  it('lists all problems of the form of an entry, each with its place', async () => {
    const body = { Kind: 'service-splitter', Name: 'web', Splits: 7, Meta: [], Spilts: [] };
    const { Valid, Normalised, Problems, Judged } = await first(body);
    expect([Valid, Normalised, Judged]).to.deep.equal([false, null, 'form']);
    const places = Problems.map(({ Pointer, Expected, Got }: Any) => [Pointer, Expected, Got]);
    expect(places).to.have.deep.members([
      ['/Splits', 'a list', 'a number'],
      ['/Meta', 'an object of strings', 'a list'],
      ['/Spilts', '', ''],
    ]);
    const hint = Problems.find(({ Pointer }: Any) => Pointer === '/Spilts').Hint;
    expect(hint).to.include('did you mean "Splits"?');
    for (const { Code } of Problems) expect(Code).to.equal('invalid');
  });

  it('lists all problems that the rules of a kind find', async () => {
    const Splits = [
      { Weight: 200, Service: 'a' },
      { Weight: 0.001, Service: 'a' },
    ];
    const { Problems } = await first({ Kind: 'service-splitter', Name: 'web', Splits });
    expect(Problems.length).to.be.greaterThan(1);
  });

  it('takes an unknown kind, and what is no entry, as problems of their entries', async () => {
    const { Valid, Results } = await judge({ Entries: [{ Kind: 'mush' }, 7, null, { Name: 'x' }] });
    expect(Valid).to.equal(false);
    expect(Results.map(({ Ref }: Any) => Ref)).to.deep.equal(['', '', '', '']);
    for (const { Problems } of Results) expect(Problems).to.have.length(1);
    expect(Results[0].Problems[0]).to.include({ Pointer: '/Kind', Hint: 'Did you mean "mesh"?' });
  });

  it('judges the rules between entries on the state with all of them in it', async () => {
    const splits = splitter('web', 'web', 'other');
    expect(await first(splits)).to.deep.include({ Valid: false, Judged: 'all' });
    const [problem] = (await first(splits)).Problems;
    const write = await client.ask('PUT /config', splits);
    expect([problem.Code, problem.Message]).to.deep.equal(['invalid', write.text]);
    // In any order, and with entries that need each other.
    const set = [splits, defaults('web', 'http'), defaults('other', 'http')];
    for (const Entries of [set, [...set].reverse()]) {
      expect(await judge({ Entries })).to.include({ Valid: true });
    }
    const half = await judge({ Entries: set.slice(0, 2) });
    expect(half.Results.map(({ Valid }: Any) => Valid)).to.include(false);
  });

  it('tells a conflict with a stored entry at the entry that causes it', async () => {
    for (const name of ['web', 'other']) await entry(defaults(name, 'http'));
    await entry(splitter('web', 'web', 'other'));
    const [bad, good] = (await judge({ Entries: [defaults('other', 'tcp'), defaults('x', 'tcp')] }))
      .Results;
    expect(bad.Problems).to.have.length(1);
    expect(bad.Problems[0].Code).to.equal('conflict');
    expect(bad.Problems[0].Message).to.include('service-splitter "web"');
    expect(good).to.include({ Valid: true });
    expect(await first(defaults('other', 'http'))).to.include({ Valid: true });
  });

  it('needs no right for the form, and tells of other entries to their readers', async () => {
    for (const name of ['web', 'other']) await entry(defaults(name, 'http'));
    await entry(splitter('web', 'web', 'other'));
    const nobody = await client.secretWith('key "a" { policy = "read" }');
    const broken = defaults('other', 'tcp');
    expect(await first(broken, nobody)).to.deep.include({ Valid: true, Judged: 'form' });
    expect(await first(broken, '')).to.deep.include({ Valid: true, Judged: 'form' });
    const writer = await client.secretWith('service "other" { policy = "write" }');
    const [problem] = (await first(broken, writer)).Problems;
    expect(problem.Code).to.equal('conflict');
    expect(problem.Message).to.not.include('"web"');
    const unknown = '0f0f0f0f-1111-4222-8333-444444444444';
    const { status } = await client.ask('POST /config/validate', broken, unknown);
    expect(status).to.equal(403);
  });

  it('judges in the namespace of the request, which must exist', async () => {
    const at = (ns: string) =>
      client.must(`POST /config/validate?ns=${ns}`, defaults('web', 'tcp'));
    await client.must('PUT /namespace', { Name: 'team' });
    const [there] = (await at('team')).Results;
    expect(there).to.deep.include({ Ref: 'config/team/service-defaults/web', Valid: true });
    const [gone] = (await at('gone')).Results;
    expect(gone.Problems[0]).to.include({ Code: 'unknown_reference' });
  });

  it('shows no secret', async () => {
    const path = 'test/tables/config-decode.json';
    const rows: Any[] = JSON.parse(readFileSync(path, 'utf8'));
    const row = rows.find(
      ({ accepted, input }) => accepted && input?.Kind === 'inline-certificate',
    );
    const { Normalised } = await first(row.input);
    expect(Normalised.PrivateKey).to.equal('<hidden>');
  });

  it('refuses a body of another shape, one Ref twice, and more than 1,000 entries', async () => {
    const refused = async (body: unknown): Promise<Any> => {
      const { status, body: problem } = await client.ask('POST /config/validate', body);
      expect(status, JSON.stringify(problem)).to.equal(400);
      return problem;
    };
    for (const body of [[], 'x', { Entries: 7 }, { Entries: [], Kind: 'mesh' }]) {
      await refused(body);
    }
    const [a, b] = [defaults('web', 'tcp'), defaults('WEB', 'http')];
    const twice = await refused({ Entries: [a, { Kind: 'mesh' }, b] });
    expect(twice).to.include({ pointer: '/Entries/2' });
    expect(twice.detail).to.include('config/default/service-defaults/WEB appears twice');
    await refused({ Entries: Array(1001).fill({ Kind: 'mush' }) });
    expect((await client.ask('POST /config/validate?cas=0', a)).status).to.equal(400);
    expect(await judge({ Entries: [] })).to.deep.include({ Valid: true, Results: [] });
  });

  it('finds every problem of each refused entry of the table without an error', () => {
    const path = 'test/tables/config-decode.json';
    const rows: Any[] = JSON.parse(readFileSync(path, 'utf8'));
    for (const { input } of rows) {
      const run = (wanted: 'first' | 'all'): Any => {
        const steps = decodeInSteps(input, { namespace: 'default' }, wanted);
        for (;;) {
          const step = steps.next();
          if (step.done) return step.value;
        }
      };
      const [one, all] = [run('first'), run('all')];
      expect(all.ok, JSON.stringify(input)).to.equal(one.ok);
      if (!one.ok) expect(all.problems[0]).to.deep.include({ message: one.problems[0].message });
    }
  });
});
