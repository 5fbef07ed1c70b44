import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pathOfItem } from '../../src/cli/commands/export.js';
import { FILTERED, json } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

const POLICY = { Type: 'policy', Namespace: 'default', Object: { Name: 'ops', Rules: 'a\nb\n' } };
const ENTRY = {
  Type: 'config',
  Namespace: 'default',
  Object: { Kind: 'service-defaults', Name: 'a/b', Protocol: 'http' },
};
const EXPORT = { Index: 131, Objects: [POLICY, ENTRY] };

describe('export', () => {
  const { user, fake } = fakeStage();
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
    fake.forget();
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const run = async (args: string, answer: RequestListener = json(EXPORT)) =>
    user.run([...`export ${args}`.trim().split(' '), '--http-addr', await fake.serve(answer)]);
  const files = (): string[] => {
    const all = readdirSync(folder, { encoding: 'utf8', recursive: true });
    return all.filter((name) => /\.\w+$/.test(name)).sort();
  };

  it('writes a set as YAML that does not depend on the index', async () => {
    const { out, err } = await run('');
    expect(out).to.equal(
      `Objects:
  - Type: policy
    Namespace: default
    Object:
      Name: ops
      Rules: |
        a
        b
  - Type: config
    Namespace: default
    Object:
      Kind: service-defaults
      Name: a/b
      Protocol: http
`,
    );
    expect(err).to.equal('conclave: 2 objects at index 131\n');
  });

  it('prints what the API answers, or Refs', async () => {
    expect(JSON.parse((await run('-o json')).out)).to.deep.equal(EXPORT);
    expect((await run('-o name')).out).to.equal(
      'policy/default/ops\nconfig/default/service-defaults/a/b\n',
    );
  });

  for (const [args, query] of [
    ['--types policy,role --owner pay --ids', 'owner=pay&types=policy%2Crole&ids=true'],
    ['--kind mesh', 'kind=mesh&types=config'],
    ['--at 42 --partial', 'at=42&partial=true'],
  ] as const)
    it(`asks with ${args}`, async () => {
      await run(args);
      expect(fake.seen[0]!.url).to.equal(`/v1/export?${query}`);
    });

  it('says what it does not hold', async () => {
    const At = { Index: 42, Time: null };
    const missing = { ...EXPORT, At, Secrets: 2, Unknown: ['policy/default/x'] };
    expect((await run('', json(missing, FILTERED))).err).to.equal(
      'conclave: 2 objects at index 42\n' +
        'conclave: 2 secrets hidden; applying it keeps those stored\n' +
        'conclave: no longer known: policy/default/x\n' +
        'conclave: what this token may not read is left out\n',
    );
  });

  it('writes a file for each object, and gives the same files back', async () => {
    const written = await run(`--folder ${folder}`);
    expect(written.out).to.equal('');
    expect(written.err).to.include(`2 files written to ${folder}, 0 unchanged`);
    const names = ['config/default/service-defaults/a%2Fb.yaml', 'policy/default/ops.yaml'];
    expect(files()).to.deep.equal(names);
    // Somebody comments on it, and writes it in another way.
    const policy = join(folder, names[1]!);
    const own =
      '# who may do what\nType: policy\nObject: {Rules: "a\\nb\\n' +
      '", Name: ops}\nNamespace: default\n';
    writeFileSync(policy, own);
    writeFileSync(join(folder, 'mine.yaml'), 'Assert: []\n');
    const again = await run(`--folder ${folder}`);
    expect(again.err)
      .to.include(`0 files written to ${folder}, 2 unchanged`)
      .and.include('not in the export: mine.yaml\n');
    expect(readFileSync(policy, 'utf8')).to.equal(own);
    writeFileSync(policy, own.replace('ops', 'other'));
    await run(`--folder ${folder}`);
    expect(readFileSync(policy, 'utf8')).to.include('Name: ops\n');
  });

  it('writes JSON files with -o json', async () => {
    await run(`--folder ${folder} -o json`);
    expect(JSON.parse(readFileSync(join(folder, 'policy/default/ops.json'), 'utf8'))).to.deep.equal(
      POLICY,
    );
  });

  it('leaves the folder with no name that an object has', () => {
    for (const [name, path] of [
      ['..', 'policy/default/%2E..yaml'],
      ['../../x', 'policy/default/%2E.%2F..%2Fx.yaml'],
      ['.git', 'policy/default/%2Egit.yaml'],
      ['a*b', 'policy/default/a%2Ab.yaml'],
    ] as const)
      expect(pathOfItem({ Type: 'policy', Object: { Name: name } }, 'yaml')).to.equal(path);
    const inSpace = { Type: 'binding-rule', Namespace: '..', Handle: 'ci/web', Object: {} };
    expect(pathOfItem(inSpace, 'yaml')).to.equal('binding-rule/%2E./ci%2Fweb.yaml');
  });

  it('exports more tokens than a call takes arguments', async () => {
    const one = { AccessorID: 'a', AuthMethod: 'ci' };
    const tokens = Array.from({ length: 200_000 }, () => one);
    const server = await fake.serve(json([]), json({ Objects: [] }), json(tokens), json({}));
    const words = ['--consul', join(folder, 'new'), '--with-secrets', '--http-addr', server];
    const { code, err } = await user.run(['export', ...words]);
    expect(code, err).to.equal(4);
    expect(err).to.match(/200,?000 findings/);
  });
});
