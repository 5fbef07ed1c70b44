import type { IncomingMessage, RequestListener } from 'node:http';
import { expect } from 'chai';
import { json, problem, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

const ID = '0b5e2f1a-1111-4222-8333-944455556666';
const OPS = { ID, Name: 'ops' };
/** A policy whose name is the beginning of the ID of another. */
const FACE = { ID: '11111111-1111-4222-8333-944455556666', Name: '0b5e' };

describe('how objects are found', () => {
  const { user, fake } = fakeStage();
  const missing = problem(404, {
    code: 'not_found',
    detail: 'Requested policy does not exist: ACL not found',
  });

  /** Answers by path; what has no answer is missing. */
  const byPath =
    (answers: Readonly<Record<string, RequestListener>>): RequestListener =>
    (request: IncomingMessage, response) =>
      (answers[request.url!] ?? missing)(request as never, response as never);
  const policies = byPath({
    '/v1/acl/policies': json([OPS, FACE]),
    [`/v1/acl/policy/${ID}`]: json(OPS),
    [`/v1/acl/policy/${FACE.ID}`]: json(FACE),
    '/v1/acl/policy/name/ops': json(OPS),
    '/v1/acl/policy/name/0b5e': json(FACE),
    '/v1/acl/role': json({ ID: 'r', Name: 'r' }),
  });
  const run = async (answer: RequestListener, ...args: string[]) => {
    fake.forget();
    return user.run([...args, '-o', 'name', '--http-addr', await fake.serve(answer)]);
  };
  const read = ['acl', 'policy', 'read'];

  for (const [args, out] of [
    [['--name', '0b5e'], 'policy/default/0b5e\n'],
    [['--id', '0b5e'], 'policy/default/ops\n'],
    [['--id', '0B5E2F1A'], 'policy/default/ops\n'],
    [['0b5e'], 'policy/default/0b5e\n'],
    [['0b5e2'], 'policy/default/ops\n'],
    [['ops'], 'policy/default/ops\n'],
  ] as const)
    it(`finds ${args.join(' ')}`, async () => {
      expect(await run(policies, ...read, ...args)).to.deep.equal({ code: 0, out, err: '' });
    });

  for (const args of [
    ['--name', '0b5e2'],
    ['--name', ID],
    ['--id', 'ops'],
    ['--id', '0b5e3'],
  ])
    it(`does not find ${args.join(' ')}`, async () => {
      const { code, err } = await run(policies, ...read, ...args);
      expect(code).to.equal(1);
      expect(err).to.include(`there is no policy "${args[1]}" (not_found)\n`);
      expect(err).not.to.include('did you mean "ops"');
    });

  it('links a policy by its ID alone where an ID is given', async () => {
    const create = ['acl', 'role', 'create', '--name', 'r', '--policy-id'];
    expect((await run(policies, ...create, '0b5e')).code).to.equal(0);
    expect(JSON.parse(fake.seen.at(-1)!.body)).to.deep.include({ Policies: [{ ID }] });
    const named = await run(policies, ...create, 'ops');
    expect(named.err).to.include('there is no policy "ops"');
  });

  it('says why it cannot look, and not that there is none', async () => {
    const unknown = problem(403, { code: 'acl_not_found', detail: 'ACL not found' });
    const denied = problem(403, { code: 'permission_denied', detail: 'Permission denied: no' });
    for (const [answer, code] of [
      [unknown, 'acl_not_found'],
      [text(403, 'rpc error making call: ACL not found'), 'ACL not found'],
      [denied, 'permission_denied'],
    ] as const)
      for (const which of ['0b5e', ID, 'ops']) {
        const { err } = await run(answer, ...read, which);
        expect(err).to.include(code).and.not.include('there is no');
        const token = await run(answer, 'acl', 'token', 'read', which.replace('ops', 'beef'));
        expect(token.err).to.include(code).and.not.include('there is no');
      }
    const nobody = ['acl', 'token', 'read', '0b5e', '--http-addr', '127.0.0.1:1'];
    expect((await user.run(nobody)).err)
      .to.include('(unreachable)')
      .and.not.include('there is no');
  });

  it('takes the ID of a token under the name of the peer, for a delete too', async () => {
    const tokens = byPath({
      '/v1/acl/tokens': json([{ AccessorID: ID }]),
      [`/v1/acl/token/${ID}`]: json({ AccessorID: ID }),
    });
    for (const command of ['read', 'delete'])
      expect(await run(tokens, 'acl', 'token', command, '--accessor-id', ID)).to.deep.equal({
        code: 0,
        out: `token/${ID}\n`,
        err: '',
      });
  });

  it('says that there is none, with or without a list to suggest from', async () => {
    const detail = 'token does not exist: ACL not found';
    const gone = problem(403, { code: 'acl_not_found', detail, about: 'token' });
    const { err } = await run(gone, 'acl', 'token', 'read', ID);
    expect(err).to.equal(`conclave: there is no token "${ID}" (not_found)\n`);
    const near = await run(policies, ...read, '--name', 'opss');
    expect(near.err).to.include('did you mean "ops"?');
  });
});
