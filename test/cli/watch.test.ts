import { mkdirSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { json, text } from './fake-server.js';
import { fakeStage } from './fake-stage.js';

describe('reads that go on', () => {
  const { user, fake } = fakeStage();

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
    const args = ['watch', 'policies', '-o', 'name', '--http-addr', address];
    const { code, out } = await user.run(args, { signal: controller.signal });
    expect(code).to.equal(130);
    const ref = 'policy/default/';
    // What has not changed is not printed again.
    expect(out).to.equal(`${ref}a\n${ref}a\n${ref}b\n${ref}c\n`);
    expect(fake.seen.map(({ url }) => url.split('?')[1] ?? '')).to.deep.equal([
      '',
      'index=7&wait=5m',
      'index=9&wait=5m',
      '',
      'index=4&wait=5m',
    ]);
  });

  it('print what is there, then each change, and end after as many as wanted', async () => {
    const entry = (index: number, Protocol: string): RequestListener => {
      const body = JSON.stringify({ Kind: 'service-defaults', Name: 'web', Protocol });
      return (_request, response) => {
        response.writeHead(200, { 'X-Consul-Index': String(index) });
        response.end(body);
      };
    };
    const address = await fake.serve(entry(7, 'http'), entry(8, 'http'), entry(9, 'grpc'));
    const args = ['watch', 'service-defaults/web', '--changes', '1', '--http-addr', address];
    const { code, out, err } = await user.run(args);
    expect(code).to.equal(0);
    expect(JSON.parse(out.slice(0, out.indexOf('}') + 1))).to.include({ Protocol: 'http' });
    const [head, member] = out.trimEnd().split('\n').slice(-2);
    expect(head).to.match(
      /^\d\d:\d\d:\d\d changed config.default.service-defaults.web at index 9$/,
    );
    expect(member).to.equal('  Protocol: "http" → "grpc"');
    expect(err).to.include('index 7, waiting for changes');
  });

  it('go on after a change of leaders, however long they were held before', async () => {
    const lost: RequestListener = (_request, response) => {
      // Longer than --timeout.
      setTimeout(() => text(503, 'No cluster leader')(_request, response), 700);
    };
    const list = (index: number, Name: string): RequestListener =>
      json([{ ID: Name, Name }], { 'X-Consul-Index': String(index) });
    const address = await fake.serve(list(7, 'a'), lost, list(8, 'b'));
    const args = ['watch', 'policies', '-o', 'name', '--changes', '1', '--timeout', '600ms'];
    const { code, out, err } = await user.run([...args, '--http-addr', address]);
    expect(err).to.not.include('No cluster leader');
    expect(code).to.equal(0);
    expect(out.split('\n')[0]).to.equal('policy/default/a');
    expect(fake.seen).to.have.length(3);
  });

  it('wait for what does not exist, and tell when it is created and deleted', async () => {
    const missing =
      (index: number): RequestListener =>
      (_request, response) => {
        response.writeHead(404, { 'X-Consul-Index': String(index) });
        response.end('Requested role does not exist: ACL not found');
      };
    const role: RequestListener = (_request, response) => {
      response.writeHead(200, { 'X-Consul-Index': '5' });
      response.end(JSON.stringify({ ID: 'x', Name: 'ops' }));
    };
    const address = await fake.serve(missing(1), role, missing(6));
    const args = ['watch', 'role/ops', '--changes', '2', '-o', 'json', '--http-addr', address];
    const { code, out, err } = await user.run(args);
    expect(code).to.equal(0);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events).to.deep.equal([
      { Index: 5, Change: 'created', Ref: 'role/default/ops', Value: { ID: 'x', Name: 'ops' } },
      { Index: 6, Change: 'deleted', Ref: 'role/default/ops', Value: { ID: 'x', Name: 'ops' } },
    ]);
    expect(err).to.include('role/ops: none yet, waiting for changes');
  });

  it('show no secret of tokens', async () => {
    const tokens =
      (SecretID: string): RequestListener =>
      (_request, response) => {
        response.writeHead(200, { 'X-Consul-Index': String(SecretID.length) });
        response.end(
          JSON.stringify([{ AccessorID: 'a', SecretID, Description: SecretID.slice(6) }]),
        );
      };
    for (const form of ['table', 'json']) {
      const address = await fake.serve(tokens('secret1'), tokens('secret22'));
      const args = ['watch', 'tokens', '--changes', '1', '-o', form, '--http-addr', address];
      expect((await user.run(args)).out)
        .to.include('a')
        .and.not.include('secret');
    }
  });

  describe('of events, when the token ends', () => {
    const ended: RequestListener = (_request, response) => {
      response.writeHead(200, { 'X-Consul-Index': '7' });
      response.end(`event: end\ndata: {"Reason":"ACL not found"}\n\n`);
    };
    const file = (): string => join(user.home, 'token-file');
    const args = (address: string): string[] => [
      ...['events', '--token-file', file(), '--http-addr', address],
    ];
    const sent = (): unknown[] => fake.seen.map(({ headers }) => headers['x-consul-token']);
    beforeEach(() => {
      writeFileSync(file(), 'old');
      fake.forget();
    });

    it('go on with the one by which another command has replaced it', async () => {
      const controller = new AbortController();
      const renewed: RequestListener = (request, response) => {
        writeFileSync(file(), 'new');
        ended(request, response);
      };
      const address = await fake.serve(renewed, () => controller.abort());
      const { code } = await user.run(args(address), { signal: controller.signal });
      expect(code).to.equal(130);
      expect(sent()).to.deep.equal(['old', 'new']);
      expect(fake.seen[1]?.headers['last-event-id']).to.equal('7');
    });

    it('go on with the one by which they have replaced it themselves', async () => {
      const login = join(user.home, '.config/conclave/token');
      const ms = Date.now();
      const token = (SecretID: string, leftMs: number): Record<string, unknown> => ({
        SecretID,
        AccessorID: 'a',
        Identity: { AuthMethod: 'staff', Namespace: 'default' },
        CreateTime: new Date(ms - 3_600_000).toISOString(),
        ExpirationTime: new Date(ms + leftMs).toISOString(),
        Renewal: `renewal of ${SecretID}`,
      });
      const keep = (leftMs: number): void => {
        const { Identity, SecretID: _, ...more } = token('old', leftMs);
        const kept = { ...more, ...(Identity as object) };
        writeFileSync(`${login}.renewal`, JSON.stringify(kept));
      };
      mkdirSync(dirname(login), { recursive: true });
      writeFileSync(login, 'old');
      keep(3_600_000);
      const controller = new AbortController();
      let end = (): void => {};
      let expiry: NodeJS.Timeout | undefined;
      const address = await fake.serve(
        (_request, response) => {
          // the token is to be renewed only once the stream is open, and before it expires
          keep(5000);
          end = () => void response.end('event: end\ndata: {"Reason":"ACL not found"}\n\n');
          expiry = setTimeout(end, 5500);
          response.writeHead(200, { 'X-Consul-Index': '7' });
          response.write('id: 8\nevent: progress\ndata: {"Index":8}\n\n');
        },
        (request, response) => {
          json(token('new', 3_600_000))(request, response);
          clearTimeout(expiry);
          end();
        },
        () => controller.abort(),
      );
      const { code } = await user.run(['events', '--http-addr', address], {
        signal: controller.signal,
      });
      expect(code).to.equal(130);
      expect(sent()).to.deep.equal(['old', 'old', 'new']);
      expect(fake.seen[1]?.url).to.match(/^\/v1\/acl\/oidc\/renew/);
      expect(fake.seen[2]?.headers['last-event-id']).to.equal('8');
    });

    it('end if nothing has replaced it', async () => {
      const { code, err } = await user.run(args(await fake.serve(ended)));
      expect([code, sent()]).to.deep.equal([1, ['old']]);
      expect(err).to.include('the stream has ended: ACL not found');
    });
  });
});
