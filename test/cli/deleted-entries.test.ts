import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { json } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

describe('config delete with a file', () => {
  const { user, fake } = fakeStage();
  const remove = async (input: string, ...more: string[]) => {
    fake.forget();
    const address = await fake.serve(json(true));
    const args = ['config', 'delete', '--filename', '-', ...more, '--http-addr', address];
    const ran = await user.run(args, { input });
    const sent = fake.seen.filter(({ method }) => method === 'DELETE');
    return { ...ran, urls: sent.map(({ url }) => url) };
  };

  it('deletes every entry of the file', async () => {
    expect(await remove('Kind: mesh\n---\nkind: service-defaults\nname: a/b\n')).to.deep.equal({
      code: 0,
      out: 'deleted config/mesh/mesh\ndeleted config/service-defaults/a/b\n',
      err: '',
      urls: ['/v1/config/mesh/mesh', '/v1/config/service-defaults/a%2Fb'],
    });
  });

  it('deletes in the namespace that the entries name and the user means', async () => {
    const own = await remove('Kind: mesh\nNamespace: team\n', '--namespace', 'team');
    expect([own.out, own.urls]).to.deep.equal([
      'deleted config/team/mesh/mesh\n',
      ['/v1/config/mesh/mesh?ns=team'],
    ]);
    // The namespace of the token may be another.
    const usual = await remove('Kind: mesh\nNamespace: default\n');
    expect([usual.out, usual.urls]).to.deep.equal([
      'deleted config/default/mesh/mesh\n',
      ['/v1/config/mesh/mesh?ns=default'],
    ]);
  });

  it('deletes nothing if an entry is in another namespace, or has no kind', async () => {
    for (const [entry, more, why] of [
      ['Kind: mesh\nNamespace: team\n', [], 'use --namespace team'],
      ['Kind: mesh\nnamespace: team\n', ['--namespace', 'other'], 'use --namespace team'],
      ['Kind: mesh\nNamespace: default\n', ['--namespace', 'other'], 'use --namespace default'],
      ['Name: x\n', [], 'an entry has no Kind'],
    ] as const) {
      const { code, err, urls } = await remove(`Kind: mesh\n---\n${entry}`, ...more);
      expect([code, urls]).to.deep.equal([2, []]);
      expect(err).to.include(why);
    }
  });

  it('says that there is nothing to delete, and does not ask a stale node', async () => {
    const missing: RequestListener = (_request, response) => {
      response.writeHead(404, { 'X-Consul-Index': '3' });
      response.end('Config entry not found for "mesh" / "mesh"');
    };
    const address = await fake.serve(missing);
    for (const [form, out] of [
      ['table', ''],
      ['name', ''],
      ['json', 'false\n'],
    ] as const) {
      fake.forget();
      const args = ['config', 'delete', 'mesh/mesh', '--stale', '-o', form];
      expect(await user.run([...args, '--http-addr', address])).to.deep.equal({
        code: 0,
        out,
        err: 'conclave: nothing to delete: config/mesh/mesh does not exist\n',
      });
      expect(fake.seen.map(({ method, url }) => `${method} ${url}`)).to.deep.equal([
        'GET /v1/config/mesh/mesh',
      ]);
    }
  });

  it('takes a version for one entry only', async () => {
    const cas = ['--cas', '--modify-index', '7'];
    const { code, urls } = await remove('Kind: mesh\n---\nKind: mesh\n', ...cas);
    expect([code, urls]).to.deep.equal([2, []]);
  });
});

describe('the files of config edit', () => {
  const { user, fake } = fakeStage();
  const folder = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const usual = process.env['TMPDIR'];
  before(() => {
    process.env['TMPDIR'] = folder;
  });
  after(() => {
    if (usual === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = usual;
    rmSync(folder, { recursive: true, force: true });
  });
  const edit = async (EDITOR: string, ...answers: RequestListener[]) => {
    const held = json({ Kind: 'inline-certificate', Name: 'web', PrivateKey: 'secret' });
    const address = await fake.serve(held, ...answers);
    const args = ['config', 'edit', 'inline-certificate/web', '--yes', '--http-addr', address];
    return user.run(args, { env: { EDITOR } });
  };

  for (const [what, editor, code] of [
    ['nothing was changed', 'true', 0],
    ['the editor failed and nothing was changed', 'false', 1],
    ['the editor removed the file', 'rm', 1],
  ] as const)
    it(`are removed if ${what}`, async () => {
      const ran = await edit(editor);
      expect(ran.code).to.equal(code);
      expect(ran.err).not.to.include('are kept');
      expect(readdirSync(folder)).to.deep.equal([]);
    });

  it('are kept if the editor failed after a change', async () => {
    const { code, err } = await edit('false $(sed -i s/secret/other/ "$1")');
    expect(code).to.equal(1);
    const [, kept] = /your edits are kept in (\S+)/.exec(err) ?? [];
    expect(existsSync(kept!), err).to.equal(true);
  });
});
