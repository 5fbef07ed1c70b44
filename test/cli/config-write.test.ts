import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { RealCluster } from '../support/real-cluster.js';
import { json, problem, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import { User } from './harness.js';

describe('config write of several entries', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const user = new User();
  let cluster: RealCluster;
  const file = (name: string, content: string): string => {
    const path = join(dir, name);
    writeFileSync(path, content);
    return path;
  };
  const entry = (name: string, protocol: string): string =>
    `Kind: service-defaults\nName: ${name}\nProtocol: ${protocol}\n`;
  const names = async (): Promise<string> =>
    user.done(['config', 'list', 'service-defaults', '-o', 'name']);

  before(async () => {
    cluster = await RealCluster.open(1);
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]!, CONCLAVE_HTTP_TOKEN: cluster.token };
  });
  after(async () => {
    await cluster.close();
    user.leave();
    rmSync(dir, { recursive: true, force: true });
  });

  it('checks all of them before it writes the first', async () => {
    const wrong = 'Kind: service-defaults\nName: a2\nProtcol: http\nMutualTLSMode: stict\n';
    const two = file('two.yaml', `${entry('a1', 'http')}---\n${wrong}`);
    expect(await user.run(['config', 'write', two])).to.deep.equal({
      code: 1,
      out: '',
      err:
        `conclave: ${two}:7 service-defaults/a2: unknown field "Protcol"; ` +
        'did you mean "Protocol"? (invalid)\n' +
        `  ${two}:8 service-defaults/a2: must be one of "strict", "permissive"\n` +
        '  nothing was written\n',
    });
    const odd = file('odd.yaml', 'Kind: service-default\nName: a3\n---\nName: a4\n');
    const other = await user.run(['config', 'write', two, odd]);
    expect(other.err)
      .to.include(`${odd}:1 service-default/a3: unknown kind "service-default"; did you mean`)
      .and.include(`${odd}:4: Kind is missing\n`);
    const broken = file('broken.yaml', 'Kind: [\n');
    expect(
      (await user.run(['config', 'write', file('a.yaml', entry('a5', 'tcp')), broken])).code,
    ).to.equal(1);
    expect(await names()).to.equal('');
  });

  it('takes files, and folders with their files in the order of their names', async () => {
    const folder = join(dir, 'entries');
    mkdirSync(join(folder, 'deeper.yaml'), { recursive: true });
    writeFileSync(join(folder, 'b.yml'), entry('b', 'http'));
    writeFileSync(join(folder, 'a.json'), '{"Kind":"service-defaults","Name":"a"}');
    writeFileSync(join(folder, 'c.yaml'), `${entry('c', 'tcp')}---\n`);
    writeFileSync(join(folder, 'README.md'), 'not an entry');
    const alone = file('z.yaml', entry('z', 'tcp'));
    expect(await user.done(['config', 'write', alone, folder])).to.equal(
      ['z', 'a', 'b', 'c'].map((name) => `wrote config/service-defaults/${name}\n`).join(''),
    );
    expect((await user.run(['config', 'validate', folder])).err).to.equal('conclave: 3 valid\n');
    await user.done(['config', 'delete', '--filename', folder]);
    expect(await names()).to.equal('config/default/service-defaults/z\n');
    mkdirSync(join(dir, 'empty'));
    const none = await user.run(['config', 'write', join(dir, 'empty')]);
    expect(none.code).to.equal(2);
    expect(none.err).to.include('contains no .json, .yaml or .yml file');
  });

  it('tells which entry the server refuses, and how many are written', async () => {
    const splitter = 'Kind: service-splitter\nName: tcp\nSplits: [{ Weight: 100 }]\n';
    const path = file('late.yaml', `${entry('y', 'tcp')}---\n# split\n${splitter}`);
    const { code, out, err } = await user.run(['config', 'write', path]);
    expect([code, out]).to.deep.equal([1, 'wrote config/service-defaults/y\n']);
    expect(err).to.match(/^conclave: 1 of 2 entries are written\n/);
    // The line is that of the member at error, if the server names one.
    expect(err).to.match(/late\.yaml:[678] service-splitter\/tcp: /);
  });

  it('tells the line where the server finds the mistake of a single entry', async () => {
    const path = file('one.yaml', 'Kind: service-defaults\nName: web\nProtcol: http\n');
    const { err } = await user.run(['config', 'write', path]);
    expect(err).to.match(
      /^conclave: .*one\.yaml:3 service-defaults\/web: .*"Protcol".* \(invalid\)/,
    );
    const denied = await user.run(['config', 'write', file('d.yaml', entry('web', 'http'))], {
      env: { CONCLAVE_HTTP_TOKEN: '' },
    });
    expect(denied.err).to.match(/d\.yaml:1 service-defaults\/web: Permission denied/);
  });
});

describe('config write to other servers of the API', () => {
  const { user, fake } = fakeStage();
  const input = 'Kind: new-kind\nName: a\n---\nKind: mesh\nUnknown: 1\n';
  const write = async (schema: RequestListener) => {
    const address = await fake.serve((request, response) =>
      (request.method === 'PUT' ? json(true) : schema)(request, response),
    );
    return user.run(['config', 'write', '-', '--http-addr', address], { input });
  };

  it('leaves it to a server without schemas what is right', async () => {
    const { code, out } = await write(text(404, 'Invalid URL path: not an endpoint'));
    expect([code, out]).to.deep.equal([0, 'wrote config/new-kind/a\nwrote config/mesh/mesh\n']);
  });

  it('refuses a kind that a server with schemas does not have', async () => {
    const { code, err } = await write(problem(404, { code: 'not_found', detail: 'no schema' }));
    expect(code).to.equal(1);
    expect(err).to.include('-:1 new-kind/a: unknown kind "new-kind"');
    expect(fake.seen.every(({ method }) => method === 'GET')).to.equal(true);
  });
});
