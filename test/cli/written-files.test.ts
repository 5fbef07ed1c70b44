import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { replaceFile } from '../../src/cli/files/files.js';
import { json, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

const TOKEN = { AccessorID: 'accessor-1', SecretID: 'secret-1', ID: 'secret-1' };

describe('files that the client writes', () => {
  const { user, fake } = fakeStage();
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
    fake.forget();
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const login = ['login', '--method', 'ci', '--bearer-token-file', '-', '--token-sink-file'];
  const bootstrap = ['acl', 'bootstrap', '--token-sink-file'];
  const run = async (args: readonly string[], ...answers: RequestListener[]) =>
    user.run([...args, '--http-addr', await fake.serve(...answers)], { input: 'a.b.c' });
  /** Puts a folder where the file belongs once the token is made, so that it cannot be written. */
  const inTheWay =
    (sink: string): RequestListener =>
    (request, response) => {
      mkdirSync(sink);
      json(TOKEN)(request, response);
    };

  for (const args of [bootstrap, login])
    it(`are opened before ${args[0]} ${args[1]} makes a token`, async () => {
      const file = join(dir, 'file');
      writeFileSync(file, '');
      symlinkSync(dir, join(dir, 'link'));
      for (const [sink, why] of [
        [join(file, 'sink'), /^conclave: E[A-Z]+: /],
        [dir, / exists and is not a regular file\n$/],
        [join(dir, 'link'), / exists and is not a regular file\n$/],
      ] as const) {
        const { code, out, err } = await run([...args, sink], json(TOKEN));
        expect([code, out]).to.deep.equal([1, '']);
        expect(err).to.match(why);
      }
      expect(fake.seen).to.deep.equal([]);
      expect(readdirSync(dir)).to.have.members(['file', 'link']);
    });

  it('are not left half written when the token is refused', async () => {
    const refused = await run([...bootstrap, join(dir, 'sink')], text(403, 'no'));
    expect(refused.code).to.equal(1);
    expect(readdirSync(dir)).to.deep.equal([]);
  });

  it('show the SecretID of a bootstrap if they cannot be written any more', async () => {
    const sink = join(dir, 'sink');
    const { code, out, err } = await run([...bootstrap, sink], inTheWay(sink));
    expect(code).to.equal(1);
    expect(out).to.match(/^SecretID +secret-1$/m);
    expect(err)
      .to.include(`the SecretID could not be written to ${sink}, so it is shown here\n`)
      .and.match(/conclave: E[A-Z]+: /);
    expect(readdirSync(dir)).to.deep.equal(['sink']);
  });

  it('end a login if they cannot be written any more', async () => {
    const sink = join(dir, 'sink');
    const { code, out, err } = await run([...login, sink], inTheWay(sink), json(true));
    expect([code, out]).to.deep.equal([1, '']);
    expect(err).to.match(/^conclave: E[A-Z]+: /);
    const [, logout] = fake.seen;
    expect(logout).to.include({ method: 'POST', url: '/v1/acl/logout' });
    expect(logout?.headers).to.include({ 'x-consul-token': 'secret-1' });
    fake.forget();
    const other = join(dir, 'other');
    const refused = await run([...login, other], inTheWay(other), text(500, 'no'));
    expect(refused.err).to.include('the token accessor-1 of this login is still valid: no\n');
    expect(readdirSync(dir)).to.have.members(['sink', 'other']);
  });

  it('replace one another as a whole, and follow no link', async () => {
    const file = join(dir, 'file');
    const other = join(dir, 'other');
    writeFileSync(other, 'kept');
    symlinkSync(other, `${file}.part`);
    let second: Promise<void> | undefined;
    await replaceFile(file, async (first, part) => {
      await first.writeFile('one');
      second = replaceFile(file, async (written, besides) => {
        expect(besides).not.to.equal(part);
        await written.writeFile('two');
      });
      await second;
      expect(readFileSync(file, 'utf8')).to.equal('two');
    });
    expect(readFileSync(file, 'utf8')).to.equal('one');
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(readFileSync(other, 'utf8')).to.equal('kept');
    expect(readdirSync(dir)).to.have.members(['file', 'file.part', 'other']);
  });

  it('are replaced where a symbolic link leads', async () => {
    const file = join(dir, 'file');
    const link = join(dir, 'link');
    writeFileSync(file, 'old');
    symlinkSync(file, link);
    await replaceFile(link, (written) => written.writeFile('new'));
    expect(readFileSync(file, 'utf8')).to.equal('new');
    expect(lstatSync(link).isSymbolicLink()).to.equal(true);
  });

  it('are refused before a snapshot is asked for if they are not regular files', async () => {
    for (const path of [dir, '/dev/null']) {
      const { code, err } = await run(['snapshot', 'save', path], text(200, 'x'));
      expect(code).to.equal(1);
      expect(err).to.equal(`conclave: ${path} exists and is not a regular file\n`);
    }
    expect(fake.seen).to.deep.equal([]);
    expect(existsSync('/dev/null.part')).to.equal(false);
  });

  it('are refused by the name of a folder that does not exist', async () => {
    const { code, err } = await run(['snapshot', 'save', join(dir, 'none', 'x')], json({}));
    expect(code).to.equal(1);
    expect(err).to.equal(`conclave: the folder ${join(dir, 'none')} does not exist\n`);
  });

  it('are restored only if there is one', async () => {
    const file = join(dir, 'none.snap');
    const { code, err } = await run(['snapshot', 'restore', file], json({}));
    expect(code).to.equal(2);
    expect(err).to.equal(`conclave: cannot read the archive: ${file} does not exist\n`);
    expect(await run(['snapshot', 'restore', dir], json({}))).to.include({
      code: 2,
      err: `conclave: cannot read the archive: ${dir} is a folder\n`,
    });
    expect((await run(['snapshot', 'save', '-'], json({}))).code).to.equal(2);
    expect(fake.seen).to.deep.equal([]);
  });
});
