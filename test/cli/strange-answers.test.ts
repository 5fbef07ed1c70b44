import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { json, problem, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

const PAGE = '<html>Sign in</html>';
const INPUT = '{"Kind":"service-defaults","Name":"web"}';

/** Redirects, as a proxy does that wants a login. */
const redirect: RequestListener = (_request, response) =>
  response.writeHead(302, { Location: 'https://proxy.example/login' }).end(PAGE);

/** Sends the beginning of an answer. */
const cutOff: RequestListener = (_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
  response.write('[', () => response.destroy());
};

const ARCHIVE = gzipSync('what a newer release may have written');
const archive =
  (bytes: Buffer): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(bytes);
const halfArchive = archive(ARCHIVE.subarray(0, -9));

describe('answers that are not those of the API', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  const { user, fake } = fakeStage();
  after(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  const run = async (answer: RequestListener, args: readonly string[], input = '') =>
    user.run([...args, '--http-addr', await fake.serve(answer)], { input });

  for (const [what, args, path, ...before] of [
    ['a read', ['namespace', 'list'], 'GET /v1/namespaces'],
    ['a write', ['config', 'write', '-'], 'PUT /v1/config'],
    ['a delete', ['config', 'delete', 'mesh/mesh'], 'DELETE /v1/config/mesh/mesh', json({})],
    ['a snapshot', ['snapshot', 'save', join(dir, 'none.tgz')], 'GET /v1/snapshot'],
  ] as const)
    it(`a redirect is no success of ${what}, and its target is told`, async () => {
      const address = await fake.serve(...before, redirect);
      const given = { input: INPUT };
      const { code, out, err } = await user.run([...args, '--http-addr', address], given);
      expect([code, out]).to.deep.equal([1, '']);
      expect(err).to.include(
        `${path} has status 302 and redirects to https://proxy.example/login\n`,
      );
    });

  it('no object is said to be missing if no server has said so', async () => {
    for (const args of [
      ['token', 'read', 'xx'],
      ['binding-rule', 'delete', 'xx'],
      ['policy', 'read', '-id', 'xx'],
    ]) {
      const { code, err } = await user.run(['acl', ...args, '--http-addr', '127.0.0.1:1']);
      expect(code, args.join(' ')).to.equal(1);
      expect(err, args.join(' ')).to.include('does not answer');
    }
  });

  it('a node that was removed is not asked again, but the next one is', async () => {
    const detail = 'This server is not serving requests: it was removed from the cluster';
    const gone = problem(503, { code: 'unavailable', detail });
    const removed = await fake.serve(gone);
    const list = (...addresses: string[]) =>
      user.run(['namespace', 'list', '--http-addr', addresses.join(',')]);
    fake.forget();
    const { code, err } = await list(removed, await fake.serve(gone));
    expect([code, fake.seen.length]).to.deep.equal([1, 2]);
    expect(err).to.equal(`conclave: ${detail} (unavailable)\n`);
    expect((await list(removed, await fake.serve(json([])))).code).to.equal(0);
    // a node that has not started yet may serve soon
    fake.forget();
    const starting = problem(503, { code: 'unavailable', detail: '' }, { 'Retry-After': '0' });
    expect((await list(removed, await fake.serve(starting, json([])))).code).to.equal(0);
    expect(fake.seen).to.have.length(4);
  });

  it('a status without a body of the API is told', async () => {
    const { code, err } = await run(text(304, ''), ['namespace', 'list']);
    expect(code).to.equal(1);
    expect(err).to.include('the answer to GET /v1/namespaces has status 304\n');
  });

  it('the file of a login stays unless the server has destroyed the token', async () => {
    const file = join(user.home, '.config/conclave/token');
    const token = { AccessorID: 'a', SecretID: 'secret' };
    await run(json(token), ['login', '--method', 'ci', '--bearer-token-file', '-'], 'a.b.c');
    expect((await run(redirect, ['logout'])).code).to.equal(1);
    expect(readFileSync(file, 'utf8')).to.equal('secret\n');
    expect((await run(json(true), ['logout'])).code).to.equal(0);
    expect(existsSync(file)).to.equal(false);
  });

  it('an entry is written or deleted only if the answer says so', async () => {
    const [write, remove] = [
      ['config', 'write', '-'],
      ['config', 'delete', 'mesh/mesh'],
    ] as const;
    for (const [answer, expected] of [
      [text(200, PAGE), 'this is not a server of this API'],
      [json({ Status: 'ok' }), 'does not say whether it was done'],
      [text(200, ''), 'this is not a server of this API'],
    ] as const)
      for (const args of [write, remove]) {
        const { code, out, err } = await run(answer, args, INPUT);
        expect([code, out]).to.deep.equal([1, '']);
        expect(err).to.include(expected);
      }
    expect((await run(json(true), write, INPUT)).code).to.equal(0);
    for (const answer of [json(true), json({})])
      expect((await run(answer, remove)).code).to.equal(0);
  });

  it('an older backup stays where the server sends something else, or only a part', async () => {
    const file = join(dir, 'backup.tgz');
    writeFileSync(file, 'old');
    for (const [answer, expected] of [
      [text(200, PAGE), 'the server did not send a complete archive: '],
      [halfArchive, 'the server did not send a complete archive: '],
      [cutOff, 'conclave: the archive was cut off: aborted (unreachable)\n'],
      [redirect, 'status 302'],
    ] as const) {
      const { code, err } = await run(answer, ['snapshot', 'save', file]);
      expect(code).to.equal(1);
      expect(err).to.include(expected);
      expect(readFileSync(file, 'utf8')).to.equal('old');
      expect(readdirSync(dir)).to.deep.equal(['backup.tgz']);
    }
    const { code, err } = await run(archive(ARCHIVE), ['snapshot', 'save', file]);
    expect(code, err).to.equal(0);
    expect(readFileSync(file)).to.deep.equal(ARCHIVE);
  });

  it('a write whose answer breaks off may have happened', async () => {
    const { code, err } = await run(cutOff, ['config', 'write', '-'], INPUT);
    expect(code).to.equal(1);
    expect(err).to.match(/the answer was cut off: .* \(outcome_unknown\)\n {2}the write may have/);
    const read = await run(cutOff, ['namespace', 'list']);
    expect(read.err).to.include('(unreachable)');
  });

  for (const args of [
    ['config', 'write', '-'],
    ['snapshot', 'save', join(dir, 'backup.tgz')],
  ])
    it(`an interrupt while the answer to ${args[0]} ${args[1]} arrives ends with 130`, async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const address = await fake.serve((_request, response) => {
        response.writeHead(200, { 'Content-Length': '100' });
        response.write('[');
      });
      // The head of the answer is told once it is there.
      const onErr = (): void => controller.abort();
      const given = { signal, input: INPUT, onErr };
      const { code, out, err } = await user.run(
        [...args, '--debug', '--http-addr', address],
        given,
      );
      expect([code, out]).to.deep.equal([130, '']);
      expect(err).to.match(/ 200 \d+ ms\nconclave: interrupted \(interrupted\)\n$/);
    });

  it('an interrupt between two checks of a node ends with 130', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    let waiting = 0;
    // The request waits for it first, then the pause.
    const addEventListener: typeof add = (...args: Parameters<typeof add>) => {
      add(...args);
      waiting += 1;
      if (waiting === 2) queueMicrotask(() => controller.abort());
    };
    Object.assign(signal, { addEventListener });
    const args = ['health', '--wait', '--http-addr', '127.0.0.1:1'];
    expect(await user.run(args, { signal })).to.deep.equal({
      code: 130,
      out: '',
      err: 'conclave: interrupted (interrupted)\n',
    });
    expect(waiting).to.equal(2);
  });
});
