import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { freePorts } from '../../src/dev/ports.js';
import { CLIENT_SECRET, type OidcProvider, startProvider } from '../support/oidc-provider.js';
import { RealCluster } from '../support/real-cluster.js';
import { type Given, type Ran, User } from './harness.js';

describe('logins at an OpenID provider by the command line', function () {
  this.timeout(60_000);
  let cluster: RealCluster;
  let provider: OidcProvider;
  let listenOn: string;
  let user: User;

  before(async () => {
    const [port] = await freePorts(1);
    listenOn = `localhost:${port}`;
    const redirect = `http://${listenOn}/oidc/callback`;
    const bye = 'http://localhost/bye';
    provider = await startProvider({ redirectUris: [redirect], postLogoutRedirectUris: [bye] });
    provider.setAccount('ann', { groups: ['dev'] });
    provider.setAccount('eve', { groups: [] });
    cluster = await RealCluster.open(1);
    const Config = {
      OIDCDiscoveryURL: provider.issuer,
      OIDCClientID: provider.clientId,
      OIDCClientSecret: CLIENT_SECRET,
      AllowedRedirectURIs: [redirect],
      PostLogoutRedirectURI: bye,
      OIDCScopes: ['groups', 'offline_access'],
      ListClaimMappings: { groups: 'groups' },
    };
    const method = { Name: 'staff', Type: 'oidc', MaxTokenTTL: '1h', Config };
    await cluster.must('PUT /acl/auth-method', method);
    await cluster.must('PUT /acl/role', { Name: 'dev' });
    const Selector = 'dev in list.groups';
    const rule = { AuthMethod: 'staff', BindType: 'role', BindName: 'dev', Selector };
    await cluster.must('PUT /acl/binding-rule', rule);
  });
  after(async () => {
    await cluster.close();
    await provider.close();
  });
  beforeEach(() => {
    user = new User();
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]! };
  });
  afterEach(() => user.leave());

  const tokenFile = (): string => join(user.home, '.config/conclave/token');
  const renewalFile = (): string => `${tokenFile()}.renewal`;
  const kept = () => JSON.parse(readFileSync(renewalFile(), 'utf8'));
  const secret = (): string => readFileSync(tokenFile(), 'utf8').trim();
  const login = (...more: string[]): string[] => [
    ...['login', '--method', 'staff', '--oidc-callback-listen-addr', listenOn],
    ...more,
  ];

  /** Runs a login. `go` gets the address that the command prints. */
  async function run(
    args: readonly string[],
    go: (url: string) => Promise<unknown>,
    given: Given = {},
  ): Promise<Ran> {
    let went: Promise<unknown> | undefined;
    let err = '';
    const onErr = (text: string): void => {
      err += text;
      const [url] = /http:\/\/127\S+(?=\s)/.exec(err) ?? [];
      if (url !== undefined) went ??= go(url);
    };
    const ran = await user.run(args, { ...given, onErr });
    await went;
    return ran;
  }
  /** Follows the provider's redirect as a browser does. */
  const asBrowser = (account: string | null) => async (url: string) =>
    fetch(await provider.logIn(url, account));

  it('log in by the browser, and keep token and renewal for the user alone', async () => {
    const ran = await run(login('--meta', 'host=laptop'), asBrowser('ann'));
    expect(ran.code, ran.err).to.equal(0);
    expect(ran.out).to.match(/Description +token created via OIDC login: \{"host":"laptop"\}/);
    for (const file of [tokenFile(), renewalFile()])
      expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(`${ran.out}${ran.err}`).not.to.include(secret()).and.not.to.include(kept().Renewal);
    const { Identity } = await user.json(['acl', 'whoami']);
    expect(Identity).to.deep.include({ AuthMethod: 'staff', Subject: 'ann' });
  });

  it('take the address that is pasted from the browser of another machine', async () => {
    let paste: (text: string) => void = () => {};
    const redirect = new Promise<string>((resolve) => {
      paste = resolve;
    });
    const wrong = `http://${listenOn}/oidc/callback?code=1&state=2`;
    const go = async (url: string) => paste(await provider.logIn(url, 'ann'));
    const ran = await run(login(), go, { answers: ['nonsense', wrong, redirect] });
    expect(ran.code, ran.err).to.equal(0);
    expect(ran.err.match(/that is not the address of this login/g)).to.have.length(2);
    expect(existsSync(renewalFile())).to.equal(true);
  });

  it('answer the browser with nothing but what it waits for', async () => {
    const seen: unknown[] = [];
    await run(login(), async (url) => {
      const base = `http://${listenOn}`;
      for (const path of ['/', '/oidc/callback', '/oidc/callback?code=a&state=b']) {
        const answer = await fetch(base + path);
        seen.push(answer.status);
        expect(answer.headers.get('content-security-policy')).to.include("default-src 'none'");
      }
      await asBrowser('ann')(url);
    });
    expect(seen).to.deep.equal([404, 400, 400]);
  });

  it('fail with the words of the provider, or those of the server', async () => {
    const cancelled = await run(login(), asBrowser(null));
    expect(cancelled).to.deep.include({ code: 1, out: '' });
    expect(cancelled.err).to.include('the provider refuses the login: access_denied');
    const denied = await run(login(), asBrowser('eve'));
    expect(denied.code).to.equal(1);
    expect(denied.err).to.match(/Permission denied.*decision/s);
    expect(existsSync(tokenFile())).to.equal(false);
  });

  it('say what to do about an address that is taken, not allowed, or none', async () => {
    const [host, port] = listenOn.split(':');
    const server = createServer().listen(Number(port), host);
    await new Promise((resolve) => server.once('listening', resolve));
    const taken = await user.run(login());
    await new Promise((resolve) => server.close(resolve));
    expect(taken.err).to.match(/it is in use.*--oidc-callback-listen-addr/s);
    const [free] = await freePorts(1);
    const other = ['--oidc-callback-listen-addr', `localhost:${free}`];
    const refused = await user.run(['login', '--method', 'staff', ...other]);
    expect(refused.err).to.include(`add http://localhost:${free}/oidc/callback to the Allowed`);
    const none = await user.run(['login', '--method', 'staff', other[0]!, 'localhost']);
    expect(none).to.deep.include({ code: 2, out: '' });
  });

  /** Makes the kept token one of which little life is left. */
  function age(): void {
    const { CreateTime, ...rest } = kept();
    const begun = Date.parse(rest.ExpirationTime) - 10 * 3600_000;
    const old = { ...rest, CreateTime: new Date(begun).toISOString() };
    expect(CreateTime).not.to.equal(old.CreateTime);
    writeFileSync(renewalFile(), JSON.stringify(old));
  }

  it('are renewed once by commands that run at once, when little life is left', async () => {
    await run(login(), asBrowser('ann'));
    const before = secret();
    await user.done(['acl', 'whoami']);
    expect(secret()).to.equal(before);
    age();
    const asked = provider.requests.get('/token') ?? 0;
    const both = await Promise.all([
      user.run(['acl', 'whoami', '--debug']),
      user.run(['acl', 'whoami', '--debug']),
    ]);
    expect(both.map(({ code }) => code)).to.deep.equal([0, 0]);
    expect(provider.requests.get('/token')).to.equal(asked + 1);
    const told = both.map(({ err }) => err).join('');
    expect(told.match(/renewed the login/g)).to.have.length(1);
    expect(secret()).not.to.equal(before);
    expect(told).not.to.include(secret()).and.not.to.include(kept().Renewal);
    expect(existsSync(`${tokenFile()}.lock`)).to.equal(false);
    expect((await user.run(['acl', 'whoami'])).err).not.to.include('renewed');
  });

  it('take over the lock of a command that has ended', async () => {
    await run(login(), asBrowser('ann'));
    age();
    const before = secret();
    writeFileSync(`${tokenFile()}.lock`, '999999999');
    await user.done(['acl', 'whoami']);
    expect(secret()).not.to.equal(before);
  });

  it('go on with the token when a renewal fails, and forget one that is refused', async () => {
    await run(login(), asBrowser('ann'));
    const before = secret();
    age();
    await provider.stop();
    expect((await user.run(['acl', 'whoami'])).code).to.equal(0);
    expect([secret(), existsSync(renewalFile())]).to.deep.equal([before, true]);
    await provider.start();
    writeFileSync(renewalFile(), JSON.stringify({ ...kept(), Renewal: 'damaged' }));
    expect((await user.run(['acl', 'whoami'])).code).to.equal(0);
    expect([secret(), existsSync(renewalFile())]).to.deep.equal([before, false]);
  });

  it('end with the session at the provider', async () => {
    await run(login(), asBrowser('ann'));
    const token = secret();
    const { out, code } = await user.run(['logout']);
    expect(code).to.equal(0);
    expect(out).to.match(/^http:\/\/127.0.0.1:\d+\/session\/end\?client_id=conclave&post_logout/);
    expect([tokenFile(), renewalFile()].map(existsSync)).to.deep.equal([false, false]);
    const self = await cluster.ask('GET /acl/token/self', undefined, token);
    expect(self.status).to.equal(403);
  });

  it('need no type of method, and take no JWT', async () => {
    const other = await user.run(['login', '--method', 'other']);
    expect(other.err).to.include('--bearer-token-file is required');
    const both = await user.run(login('--type', 'oidc', '--bearer-token-file', 'x'));
    expect(both).to.deep.include({ code: 2, out: '' });
  });

  it('have a key that operators change; what the one before has made is still good', async () => {
    await run(login(), asBrowser('ann'));
    const admin = { CONCLAVE_HTTP_TOKEN: cluster.token };
    const rotated = await user.run(['operator', 'oidc', 'rotate'], { env: admin });
    expect(rotated.code).to.equal(0);
    age();
    await user.done(['acl', 'whoami']);
    expect(existsSync(renewalFile())).to.equal(true);
    await user.run(['operator', 'oidc', 'rotate'], { env: admin });
    await user.run(['operator', 'oidc', 'rotate'], { env: admin });
    age();
    await user.done(['acl', 'whoami']);
    expect(existsSync(renewalFile())).to.equal(false);
  });
});
