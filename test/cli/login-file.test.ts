/** The token of `conclave login` and what renews it, when commands use it at the same time. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../src/dev/ports.js';
import { FakeServers, json, problem } from './fake-server.js';
import { type Ran, User } from './harness.js';

const LISTEN = ['--oidc-callback-listen-addr'];

describe('the login of the command line', () => {
  const servers = new FakeServers();
  let user: User;
  beforeEach(() => {
    user = new User();
    user.env = { BROWSER: 'false' };
    servers.forget();
  });
  afterEach(() => user.leave());
  after(() => servers.close());

  const tokenFile = (): string => join(user.home, '.config/conclave/token');
  const renewalFile = (): string => `${tokenFile()}.renewal`;
  const Identity = { AuthMethod: 'staff', Namespace: 'default' };
  /** Returns the times of a token that is valid from and to these milliseconds from now. */
  const times = (fromMs: number, toMs: number, nowMs = Date.now()) => ({
    CreateTime: new Date(nowMs + fromMs).toISOString(),
    ExpirationTime: new Date(nowMs + toMs).toISOString(),
  });
  /** Keeps a token of which little life is left. Returns what is kept beside it. */
  function keepOld() {
    const old = { ...Identity, ...times(-3600_000, 60_000), Renewal: 'r1' };
    mkdirSync(join(user.home, '.config/conclave'), { recursive: true });
    writeFileSync(tokenFile(), 'old');
    writeFileSync(renewalFile(), JSON.stringify(old));
    return old;
  }

  it('ends by a logout that waits for the renewal of another command', async () => {
    const made = keepOld();
    const unknown = problem(403, { code: 'acl_not_found', detail: 'ACL not found' });
    let logout: Promise<Ran> | undefined;
    const address = await servers.serve((request, response) => {
      const isOld = request.headers['x-consul-token'] === 'old';
      if (request.url!.endsWith('/renew')) {
        const next = json({ ...made, SecretID: 'new', Identity, Renewal: 'r2' });
        logout = user.run(['logout', '--http-addr', address]);
        // Time for a logout that does not wait.
        setTimeout(() => next(request, response), 500);
      } else if (isOld) unknown(request, response);
      else json({ AccessorID: 'a-1' })(request, response);
    });
    await user.done(['acl', 'token', 'read', '--self', '--http-addr', address]);
    expect((await logout)?.err).to.equal(`conclave: logged out; removed ${tokenFile()}\n`);
    expect([tokenFile(), renewalFile()].map(existsSync)).to.deep.equal([false, false]);
    const ended = servers.seen.find(({ url }) => url.startsWith('/v1/acl/logout'));
    expect(ended?.headers['x-consul-token']).to.equal('new');
  });

  it('replaces a login that another command is renewing', async () => {
    const made = keepOld();
    const jwt = ['login', '--method', 'ci', '--bearer-token-file', '-'];
    let other: Promise<Ran> | undefined;
    const address = await servers.serve((request, response) => {
      const next = json({ ...made, SecretID: 'new', Identity, Renewal: 'r2' });
      const own = json({ AccessorID: 'a-2', SecretID: 'own' });
      if (request.url!.endsWith('/renew')) {
        other = user.run([...jwt, '--http-addr', address], { input: 'a.b.c' });
        // Time for a login that does not wait.
        setTimeout(() => next(request, response), 500);
      } else if (request.url!.endsWith('/login')) own(request, response);
      else json({ AccessorID: 'a-1' })(request, response);
    });
    await user.done(['acl', 'token', 'read', '--self', '--http-addr', address]);
    expect((await other)?.code).to.equal(0);
    expect(readFileSync(tokenFile(), 'utf8')).to.equal('own\n');
    expect(existsSync(renewalFile())).to.equal(false);
  });

  it('is renewed in time by the clock of this machine', async () => {
    const [port] = await freePorts(1);
    const listenOn = `localhost:${port}`;
    const address = await servers.serve(
      json({ AuthURL: 'http://127.0.0.1/auth?state=s' }),
      json({ SecretID: 's-1', Identity, ...times(-3 * 3600_000, -2 * 3600_000), Renewal: 'r1' }),
    );
    const args = ['login', '--method', 'staff', '--type', 'oidc', '--http-addr', address];
    const back = `http://${listenOn}/oidc/callback?state=s&code=c`;
    const typed = { answers: [back] };
    const { code, err } = await user.run([...args, ...LISTEN, listenOn], typed);
    expect(code, err).to.equal(0);
    const { CreateTime, ExpirationTime } = JSON.parse(readFileSync(renewalFile(), 'utf8'));
    expect(Date.parse(ExpirationTime) - Date.parse(CreateTime)).to.equal(3600_000);
    expect(Date.parse(ExpirationTime)).to.be.greaterThan(Date.now());
  });

  it('is begun by whoever knows the state, and by nobody before there is one', async () => {
    const [port] = await freePorts(1);
    const listenOn = `localhost:${port}`;
    const back = `http://${listenOn}/oidc/callback`;
    const seen: number[] = [];
    const address = await servers.serve(
      async (request, response) => {
        seen.push((await fetch(`${back}?state=&error=stranger`)).status);
        json({ AuthURL: 'http://127.0.0.1/auth?state=s' })(request, response);
      },
      json({ SecretID: 's-1', Identity }),
    );
    const args = ['login', '--method', 'staff', '--type', 'oidc', '--http-addr', address];
    const typed = { answers: [`${back}?state=s&code=c`] };
    const { code, err } = await user.run([...args, ...LISTEN, listenOn], typed);
    expect(code, err).to.equal(0);
    expect(seen).to.deep.equal([404]);
  });
});
