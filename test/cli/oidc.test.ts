import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROGRAM, quote } from '../../src/dev/local.js';
import { freePorts } from '../../src/dev/ports.js';
import { CLIENT_SECRET, type OidcProvider, startProvider } from '../support/oidc-provider.js';
import { RealCluster } from '../support/real-cluster.js';
import { FakeServers, json, problem } from './fake-server.js';
import { type Given, type Ran, User } from './harness.js';

describe('logins at an OpenID provider by the command line', () => {
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
    // One account logs in many times a second here.
    cluster = await RealCluster.open(1, { settings: { limits: { loginsPerIdentity: 0 } } });
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
    await cluster.must('PUT /acl/policy', { Name: 'read', Rules: 'acl = "read"' });
    await cluster.must('PUT /acl/role', { Name: 'dev', Policies: [{ Name: 'read' }] });
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
    user.env = { CONCLAVE_HTTP_ADDR: cluster.urls[0]!, BROWSER: 'false' };
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

  /** Runs a login to which `first` is pasted, and then the address at which a browser ends up. */
  function pasting(...first: readonly string[]): Promise<Ran> {
    let paste: (text: string) => void = () => {};
    const redirect = new Promise<string>((resolve) => {
      paste = resolve;
    });
    const go = async (url: string) => paste(await provider.logIn(url, 'ann'));
    return run(login(), go, { answers: [...first, redirect] });
  }

  it('take the address that is pasted from the browser of another machine', async () => {
    const wrong = `http://${listenOn}/oidc/callback?code=1&state=2`;
    const ran = await pasting('', 'nonsense', wrong);
    expect(ran.code, ran.err).to.equal(0);
    const told = 'that is not the address this login returns to, which contains code and state\n';
    expect(ran.err.split(told)).to.have.length(3);
    expect(existsSync(renewalFile())).to.equal(true);
  });

  it('go on without pasting once the input has ended', async () => {
    const ran = await run(login(), asBrowser('ann'), { answers: [] });
    expect(ran.code, ran.err).to.equal(0);
  });

  it('answer the browser with nothing but what it waits for', async () => {
    const seen: unknown[] = [];
    const ran = await run(login(), async (url) => {
      const base = `http://${listenOn}`;
      for (const path of ['/', '//', '/oidc/callback', '/oidc/callback?code=a&state=b']) {
        const answer = await fetch(base + path);
        seen.push(answer.status);
        expect(answer.headers.get('content-security-policy')).to.include("default-src 'none'");
        expect(await answer.text()).not.to.include('script');
      }
      const back = await provider.logIn(url, 'ann');
      seen.push((await fetch(back, { method: 'HEAD' })).status);
      seen.push((await fetch(back)).status);
    });
    expect(ran.code, ran.err).to.equal(0);
    expect(seen).to.deep.equal([404, 404, 400, 400, 404, 200]);
  });

  it('open the browser that BROWSER names, and say the address even with --quiet', async () => {
    const servers = new FakeServers();
    let shown = '';
    const base = await servers.serve(async (request, response) => {
      shown = decodeURIComponent(request.url!.slice(1));
      await asBrowser('ann')(shown);
      response.end();
    });
    const browser = join(user.home, 'browser');
    const code = `fetch('http://${base}/' + encodeURIComponent(process.argv[1]))`;
    writeFileSync(browser, `#!/bin/sh\nexec '${process.execPath}' -e "${code}" "$1"\n`);
    chmodSync(browser, 0o700);
    const ran = await user.run(login('--quiet'), { env: { BROWSER: browser } });
    servers.close();
    expect(ran.code, ran.err).to.equal(0);
    expect(ran.err).to.equal(`To log in, open this address in a browser:\n\n  ${shown}\n\n`);
  });

  it('wait for the browser as long as the user wants', async () => {
    const late = await user.run(login('--timeout', '1s'));
    expect(late).to.deep.include({ code: 1, out: '' });
    expect(late.err).to.include('nobody logged in within 1 s');
    expect(existsSync(tokenFile())).to.equal(false);
  });

  it('put nothing but the token into a sink file', async () => {
    const sink = join(user.home, 'sink');
    await run(login('--token-sink-file', sink), asBrowser('ann'));
    expect(readdirSync(user.home)).to.deep.equal(['sink']);
    const { out } = await user.run(['logout', '--token-file', sink]);
    expect(out).to.include('/session/end?');
  });

  it('fail with the words of the provider, or those of the server', async () => {
    const cancelled = await run(login(), asBrowser(null));
    expect(cancelled).to.deep.include({ code: 1, out: '' });
    expect(cancelled.err).to.include('the provider refused the login: access_denied');
    const denied = await run(login(), asBrowser('eve'));
    expect(denied.code).to.equal(1);
    expect(denied.err).to.match(/Permission denied.*decision/s);
    expect(existsSync(tokenFile())).to.equal(false);
  });

  /** Runs something while the address to which the browser returns is taken. */
  async function whileTaken<T>(run: () => Promise<T>): Promise<T> {
    const [host, port] = listenOn.split(':');
    const server = createServer().listen(Number(port), host);
    await once(server, 'listening');
    try {
      return await run();
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  it('go on by pasting where the address for the browser is taken', async () => {
    const ran = await whileTaken(() => pasting());
    expect(ran.code, ran.err).to.equal(0);
    expect(ran.err).to.include('it is in use, so the browser cannot come back by itself\n');
    const ended = await whileTaken(() => user.run(login(), { answers: [] }));
    expect(ended.code).to.equal(1);
    expect(ended.err).to.match(/it is in use\n.*--oidc-callback-listen-addr/s);
  });

  it('say what to do about an address that is taken, not allowed, or none', async () => {
    const taken = await whileTaken(() => user.run(login()));
    expect(taken.err).to.match(/it is in use.*--oidc-callback-listen-addr/s);
    const [free] = await freePorts(1);
    const other = ['--oidc-callback-listen-addr', `localhost:${free}`];
    const refused = await user.run(['login', '--method', 'staff', ...other]);
    expect(refused.err).to.include(`add http://localhost:${free}/oidc/callback to the Allowed`);
    for (const bad of ['localhost', 'localhost:99999', 'localhost:0', ':8550'])
      expect(await user.run(['login', '--method', 'staff', other[0]!, bad])).to.include({
        code: 2,
      });
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

  it('are renewed by commands that use the token, and by no others', async () => {
    await run(login(), asBrowser('ann'));
    age();
    const before = secret();
    const rules = join(user.home, 'rules.hcl');
    writeFileSync(rules, 'acl = "read"');
    await user.done(['profile', 'list']);
    await user.done(['acl', 'policy', 'lint', rules]);
    await user.done(['complete', '--', 'acl', 'role', 'read', '']);
    await user.run(['login', '--method', 'other']);
    expect(secret()).to.equal(before);
    await user.done(['acl', 'whoami']);
    expect(secret()).not.to.equal(before);
  });

  it('do not fail a command whose token another one renews meanwhile', async () => {
    const servers = new FakeServers();
    const file = join(user.home, 'file');
    writeFileSync(file, 'old');
    const unknown = problem(403, {
      code: 'acl_not_found',
      about: 'caller',
      detail: 'ACL not found',
    });
    const address = await servers.serve((request, response) => {
      writeFileSync(file, 'new');
      unknown(request, response);
    }, json([]));
    await user.done(['acl', 'role', 'list', '--http-addr', address, '--token-file', file]);
    const refused = await servers.serve(unknown);
    const gone = ['acl', 'role', 'list', '--http-addr', refused, '--token-file', file];
    expect((await user.run(gone)).code).to.equal(1);
    servers.close();
    const sent = servers.seen.map(({ headers }) => headers['x-consul-token']);
    expect(sent).to.deep.equal(['old', 'new', 'new']);
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
    const { failedMs, ...failed } = kept();
    expect((await user.run(['acl', 'whoami', '--debug'])).err).not.to.include('renew');
    expect(failedMs).to.be.a('number');
    writeFileSync(renewalFile(), JSON.stringify({ ...failed, Renewal: 'damaged' }));
    expect((await user.run(['acl', 'whoami'])).code).to.equal(0);
    expect([secret(), existsSync(renewalFile())]).to.deep.equal([before, false]);
  });

  it('end with the session at the provider', async () => {
    await run(login(), asBrowser('ann'));
    const token = secret();
    // The namespace of later commands is not that of the token.
    const { out, code } = await user.run(['logout', '--namespace', 'team-a']);
    expect(code).to.equal(0);
    expect(out).to.match(/^http:\/\/127.0.0.1:\d+\/session\/end\?client_id=conclave&post_logout/);
    expect([tokenFile(), renewalFile()].map(existsSync)).to.deep.equal([false, false]);
    const self = await cluster.ask('GET /acl/token/self', undefined, token);
    expect(self.status).to.equal(403);
  });

  it('are forgotten by a logout whose token has already ended', async () => {
    await run(login(), asBrowser('ann'));
    const { AccessorID } = await user.json(['acl', 'whoami']);
    await cluster.must(`DELETE /acl/token/${AccessorID}`);
    const env = { CONCLAVE_HTTP_TOKEN: secret() };
    expect((await user.run(['logout'], { env })).code).to.equal(1);
    const { code, out, err } = await user.run(['logout']);
    expect({ code, out }).to.deep.equal({ code: 0, out: '' });
    expect(err).to.equal(`conclave: the token had already ended; removed ${tokenFile()}\n`);
    expect([tokenFile(), renewalFile()].map(existsSync)).to.deep.equal([false, false]);
  });

  it('are not renewed on a full disk, which leaves no lock behind', async () => {
    await run(login(), asBrowser('ann'));
    age();
    const before = secret();
    const program = [process.execPath, PROGRAM, 'acl', 'whoami'].map(quote).join(' ');
    const env = { ...user.env, PATH: process.env['PATH'], HOME: user.home };
    // No file takes a byte.
    const child = spawn('sh', ['-c', `ulimit -f 0 && exec ${program}`], { env, stdio: 'ignore' });
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    expect(existsSync(`${tokenFile()}.lock`)).to.equal(false);
    expect(secret()).to.equal(before);
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
