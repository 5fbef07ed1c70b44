import { expect } from 'chai';
import { json } from './fake-server.js';
import { fakeStage } from './fake-stage.js';
import type { Given, Ran } from './harness.js';

const ACCESSOR = '8a2d0000-1111-4222-8333-944455556666';
const BLOCK = '1f3b9c52-8a2d-4c7e-9d3c-2f0c4b7b9f11';
const token = {
  AccessorID: ACCESSOR,
  Description: 'token created via login',
  Namespace: 'default',
  Subject: 'prod/web',
  CreateTime: '2026-11-03T14:05:00Z',
};
const unknown = /(\d tokens?) of the auth method (has|have) no identity: (it is|they are) older/;
const plan = { DryRun: true, Total: 812, Tokens: [token], More: 811, BlockID: '', Index: 139 };
const done = { ...plan, DryRun: false, BlockID: BLOCK, Index: 140 };

describe('identities by the command line', () => {
  const { user, fake } = fakeStage();

  const run = async (answers: unknown[], args: readonly string[], given?: Given): Promise<Ran> => {
    const address = await fake.serve(...answers.map((each) => json(each)));
    return user.run(['acl', 'identity', ...args, '--http-addr', address], given);
  };
  const revoke = ['revoke', '--method', 'k8s', '--subject', 'prod/web', '--block-for', '24h'];
  const bodies = (): unknown[] => fake.seen.map(({ body }) => JSON.parse(body));

  it('are shown, and revoked when the user agrees', async () => {
    const { code, out, err } = await run([plan, done], revoke, { answers: ['y'] });
    expect(code).to.equal(0);
    expect(out).to.include(ACCESSOR);
    expect(err).to.include('and 811 older tokens');
    expect(err).to.include('end 812 tokens of k8s/prod/web, and block it: 24h? [y/N]');
    expect(out + err).to.include(
      `812 tokens ended at index 140; its logins are refused by block ${BLOCK}`,
    );
    const whom = { AuthMethod: 'k8s', Subject: 'prod/web', BlockFor: '24h' };
    expect(bodies()).to.deep.equal([
      { ...whom, DryRun: true },
      { ...whom, DryRun: false },
    ]);
  });

  it('are told to be unknown of tokens of before', async () => {
    for (const [Unknown, text] of [
      [1, '1 token has it is'],
      [2, '2 tokens have they are'],
    ] as const) {
      const { err } = await run([{ ...plan, Unknown }], [...revoke, '--dry-run'], { columns: 80 });
      expect(unknown.exec(err)?.slice(1).join(' '), err).to.equal(text);
    }
  });

  it('are left alone when the user does not agree or cannot be asked', async () => {
    expect((await run([plan], revoke, { answers: ['n'] })).code).to.equal(1);
    const unasked = await run([plan], revoke);
    expect([unasked.code, unasked.out.includes(ACCESSOR)]).to.deep.equal([2, true]);
    expect(unasked.err).to.include('--yes is required without a terminal');
    const seen = await run([plan], [...revoke, '--dry-run', '-o', 'json']);
    expect(JSON.parse(seen.out)).to.deep.equal(plan);
    for (const body of bodies()) expect(body).to.include({ DryRun: true });
  });

  it('are named by a subject or by a prefix', async () => {
    const method = ['revoke', '--method', 'k8s', '--yes'];
    expect((await run([plan], method)).code).to.equal(2);
    const both = [...method, '--subject', 'a', '--subject-prefix', 'a'];
    expect((await run([plan], both)).code).to.equal(2);
    expect(fake.seen).to.deep.equal([]);
    await run([plan, done], [...method, '--subject-prefix', '', '-o', 'json']);
    expect(bodies()[1]).to.deep.equal({ AuthMethod: 'k8s', SubjectPrefix: '', DryRun: false });
  });

  it('that are blocked are listed, and let in again', async () => {
    const block = { AuthMethod: 'k8s', Namespace: 'default', Author: null, Time: '', Reason: 'R' };
    const Identity = { AuthMethod: 'oidc', Namespace: 'default', Subject: 'ann' };
    const Description = 'token created via OIDC login';
    const Author = { AccessorID: ACCESSOR, Description, Identity };
    const all = [
      { ...block, ID: BLOCK, Subject: 'a', Until: null, ModifyIndex: 1 },
      {
        ...block,
        ID: ACCESSOR,
        SubjectPrefix: 'b/',
        Until: '2026-11-03T14:05:00Z',
        Author,
        ModifyIndex: 2,
      },
    ];
    const { out } = await run([all], ['blocks', '--method', 'k8s']);
    expect(fake.seen[0]?.url).to.match(/^\/v1\/acl\/identity-blocks\?authmethod=k8s/);
    const [, first = '', second = ''] = out.split('\n');
    expect(first).to.match(/^k8s +a +forever +R/);
    expect(second).to.match(/^k8s +b\/\* +2026-11-03/);
    expect(second).to.include('oidc/ann').and.not.include('created via');
    const lifted = await run([true], ['unblock', BLOCK]);
    expect(lifted.code).to.equal(0);
    const { method, url } = fake.seen.at(-1)!;
    expect(`${method} ${url}`).to.match(new RegExp(`^DELETE /v1/acl/identity-block/${BLOCK}`));
  });
});
