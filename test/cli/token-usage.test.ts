import { expect } from 'chai';
import { json } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import type { Given, Ran } from './harness.js';

const ACCESSOR = '8a2d0000-1111-4222-8333-944455556666';
const notes = { Since: '2026-11-01T00:00:00Z', Complete: true };
const row = {
  AccessorID: ACCESSOR,
  Description: 'ci',
  AuthMethod: 'k8s',
  Identity: { AuthMethod: 'k8s', Namespace: 'default', Subject: 'prod/web' },
  Namespace: 'default',
  LastUsed: '2026-11-03T14:00:00Z',
};
const plan = {
  DryRun: true,
  Total: 2,
  Tokens: [{ ...row, Why: 'unused' }],
  Skipped: { unknown_use: 3 },
  Index: 9,
};

describe('the use of tokens by the command line', () => {
  const { user, fake } = fakeStage();

  const run = async (answers: unknown[], args: readonly string[], given?: Given): Promise<Ran> => {
    const address = await fake.serve(...answers.map((each) => json(each)));
    return user.run(['acl', 'token', ...args, '--http-addr', address], given);
  };

  it('is listed, the longest unused first, or shown of one token', async () => {
    const listed = { ...notes, Total: 3, Tokens: [{ ...row, CreateTime: '' }] };
    const { out, err } = await run([listed], ['usage', '--unused-for', '720h', '--method', 'k8s']);
    expect(fake.seen[0]?.url).to.include('unused-for=720h&authmethod=k8s');
    expect(out).to.include(ACCESSOR).and.include('LAST USED');
    expect(err).to.include('and 2 more tokens');
    const use = { AccessorID: ACCESSOR, LastUsed: null, ...notes, Complete: false };
    const one = await run([{ AccessorID: ACCESSOR }, use], ['usage', ACCESSOR]);
    expect(one.out + one.err).to.match(/last used: not since 2026-11-01 \d\d:\d\d /);
    expect(one.err).to.include('not every member');
  });

  it('is shown of an auth method', async () => {
    const use = { Name: 'ci', Namespace: 'default', LastUsed: null, ...notes };
    const address = await fake.serve(json(use));
    const args = ['acl', 'auth-method', 'usage', 'ci', '--http-addr', address];
    const { out } = await user.run(args);
    expect(fake.seen.map(({ url }) => url)).to.deep.equal(['/v1/acl/auth-method/ci/usage']);
    expect(out).to.match(/^last used: not since 2026-11-01 \d\d:\d\d \S+\n$/);
  });

  it('is what a clean-up goes by, which is shown first', async () => {
    const done = { ...plan, DryRun: false, Index: 10 };
    const args = ['gc', '--unused-for', '720h', '--older-than', '24h', '--method', 'k8s'];
    const { code, out, err } = await run([plan, done], args, { answers: ['y'] });
    expect(code).to.equal(0);
    expect(out).to.include('unused');
    expect(err).to.include('3 tokens left out: unknown use').and.include('delete 1 token? [y/N]');
    expect(out + err).to.include('1 token deleted at index 10');
    const wanted = { UnusedFor: '720h', OlderThan: '24h', AuthMethod: 'k8s' };
    expect(fake.seen.map(({ body }) => JSON.parse(body))).to.deep.equal([
      { ...wanted, DryRun: true },
      { ...wanted, DryRun: false },
    ]);
    expect((await run([plan], ['gc', '--yes'])).code).to.equal(2);
  });

  it('is not cleaned up without --yes by who cannot be asked: the plan is shown', async () => {
    const args = ['gc', '--unused-for', '720h'];
    const shown = await run([plan], args);
    expect(shown.code, shown.err).to.equal(0);
    expect(shown.out).to.include(ACCESSOR);
    expect(shown.err).to.include('nothing was deleted: --yes deletes');
    for (const more of [[], ['--dry-run']]) {
      const { code, out } = await run([plan], [...args, ...more, '-o', 'json']);
      expect([code, JSON.parse(out)]).to.deep.equal([0, plan]);
    }
    for (const { body } of fake.seen) expect(JSON.parse(body)).to.include({ DryRun: true });
  });
});
