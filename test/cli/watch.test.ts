import type { RequestListener } from 'node:http';
import { expect } from 'chai';
import { FakeServers } from './fake-server.js';
import { User } from './harness.js';

describe('reads that go on', () => {
  const user = new User();
  const fake = new FakeServers();
  after(() => {
    fake.close();
    user.leave();
  });

  it('wait on the index of the last answer, and begin anew after a restore', async () => {
    const controller = new AbortController();
    const answer =
      (index: number, names: readonly string[]): RequestListener =>
      (_request, response) => {
        response.writeHead(200, { 'X-Consul-Index': String(index) });
        response.end(JSON.stringify(names.map((Name) => ({ ID: Name, Name }))));
      };
    const address = await fake.serve(
      answer(7, ['a']),
      answer(9, ['a']),
      answer(4, ['b']),
      answer(4, ['b', 'c']),
      () => controller.abort(),
    );
    const args = ['acl', 'policy', 'list', '--watch', '-o', 'name', '--http-addr', address];
    const { code, out } = await user.run(args, { signal: controller.signal });
    expect(code).to.equal(130);
    const ref = 'policy/default/';
    // What has not changed is not printed again.
    expect(out).to.equal(`${ref}a\n${ref}b\n${ref}b\n${ref}c\n`);
    expect(fake.seen.map(({ url }) => url.split('?')[1] ?? '')).to.deep.equal([
      '',
      'index=7&wait=5m',
      'index=9&wait=5m',
      '',
      'index=4&wait=5m',
    ]);
  });
});
