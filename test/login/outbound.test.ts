/** Which servers a node contacts for its auth methods: by URL, by address and at each redirect. */
import type { LookupAddress } from 'node:dns';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import type { AddressRules } from '../../src/service/login/addresses.js';
import { FetchFault, Outbound, type Resolve } from '../../src/service/login/exchange.js';
import { authMethodTypes } from '../../src/service/login/index.js';
import { LOGIN_DEFAULTS } from '../support/defaults.js';
import { CA } from './certificates.js';
import { TestServer } from './server.js';
import { AT, signer, times } from './signers.js';

const { rules: RULES, limits: LIMITS } = LOGIN_DEFAULTS;
const INSIDE = /may not reach loopback, link-local or private addresses/;
const WITHOUT_TLS = /the URL is not https/;

/** Resolves each name from a list, one result after the other; the last one stays. */
function resolving(names: Record<string, string[][]>): { resolve: Resolve; asked: string[] } {
  const asked: string[] = [];
  const resolve: Resolve = (host, _options, done) => {
    asked.push(host);
    const [now = [], ...later] = names[host] ?? [];
    if (later.length > 0) names[host] = later;
    const found = now.map((address): LookupAddress => {
      return { address, family: address.includes(':') ? 6 : 4 };
    });
    setImmediate(() => done(null, found));
  };
  return { resolve, asked };
}

describe('requests to issuers', () => {
  let server: TestServer;
  let port: string;
  beforeEach(async () => {
    server = await TestServer.start();
    port = new URL(server.url).port;
    server.answers.set('/keys', { keys: [] });
  });
  afterEach(() => server.stop());

  const door = (rules: Partial<AddressRules> = {}, names: Record<string, string[][]> = {}) =>
    new Outbound({
      limits: { ...LIMITS, timeoutMs: 10_000 },
      rules: { ...RULES, ...rules },
      resolve: resolving(names).resolve,
    });
  /** The status of the response, or the reason why there is none. */
  const ask = (outbound: Outbound, url: string, namespace = 'default') =>
    outbound.exchange({ url: new URL(url), ca: CA }, namespace).then(
      ({ status }) => status,
      (error: unknown) => {
        expect(error).to.be.instanceOf(FetchFault);
        return (error as Error).message;
      },
    );
  const redirect = (path: string, location: string): void => {
    server.answers.set(path, (_: unknown, response: ServerResponse) => {
      response.writeHead(302, { location }).end();
    });
  };

  it('of namespaces other than default cannot reach internal addresses, in any spelling', () => {
    const inside = [
      ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255'],
      ...['192.168.1.1', '169.254.169.254', '100.64.0.1', '224.0.0.1', '255.255.255.255'],
      ...['2130706433', '0x7f000001', '0177.0.0.1', '127.1', 'localhost', 'a.localhost.'],
      ...['[::1]', '[::]', '[fe80::1]', '[fd00::1]', '[::ffff:10.0.0.1]', '[::ffff:7f00:1]'],
      ...['[64:ff9b::a00:1]', '[2002:a00:1::]', '[::10.0.0.1]', '[ff02::1]'],
    ];
    for (const host of inside) {
      const url = new URL(`https://${host}/`);
      expect(door().problem(url, 'alpha'), host).to.match(INSIDE);
      expect(door().problem(url, 'default'), host).to.equal(undefined);
      expect(door({ privateAddresses: true }).problem(url, 'alpha'), host).to.equal(undefined);
    }
    const outside = [
      ...['8.8.8.8', '172.32.0.1', '172.15.0.1', '100.128.0.1', '[2606:4700::1111]'],
      ...['idp.example.com', 'localhost.example.com', 'notlocalhost'],
    ];
    for (const host of outside)
      expect(door().problem(new URL(`https://${host}/`), 'alpha'), host).to.equal(undefined);
  });

  it('use https, except to loopback for methods of default', () => {
    const problem = (host: string, ns: string, rules: Partial<AddressRules> = {}) =>
      door(rules).problem(new URL(`http://${host}/`), ns);
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      expect(problem(host, 'default')).to.equal(undefined);
    for (const host of ['idp.example.com', '10.0.0.1', '8.8.8.8'])
      expect(problem(host, 'default')).to.match(WITHOUT_TLS);
    expect(problem('127.0.0.1', 'alpha', { privateAddresses: true })).to.match(WITHOUT_TLS);
    for (const ns of ['default', 'alpha'])
      expect(problem('idp.example.com', ns, { plainHttp: true })).to.equal(undefined);
    expect(problem('127.0.0.1', 'alpha', { plainHttp: true })).to.match(INSIDE);
  });

  it('go only to the allowed hosts, if some are configured', () => {
    const allowedHosts = ['idp.example.com', '*.corp.example', 'keys.example:8443', '[::1]:8200'];
    const problem = (url: string) => door({ allowedHosts }).problem(new URL(url), 'default');
    for (const url of [
      ...['https://idp.example.com/', 'https://IDP.example.com.:8443/', 'https://a.b.corp.example'],
      ...['https://keys.example:8443/x', 'https://[::1]:8200/'],
    ])
      expect(problem(url), url).to.equal(undefined);
    for (const url of [
      ...['https://example.com/', 'https://evil-idp.example.com/', 'https://corp.example/'],
      ...['https://keys.example/', 'https://xcorp.example/', 'https://[::1]/'],
      ...['https://idp.example.com@10.0.0.1/', 'https://idp.example.com.evil.example/'],
    ])
      expect(problem(url), url).to.match(/ is not among the hosts of login\.allowedHosts$/);
  });

  it('are checked against all addresses that a name resolves to', async () => {
    const names = {
      'rebind.example': [['127.0.0.1']],
      'both.example': [['8.8.8.8', '127.0.0.1']],
      'none.example': [[]],
    };
    const outbound = door({}, names);
    for (const name of ['rebind.example', 'both.example'])
      expect(await ask(outbound, `https://${name}:${port}/keys`, 'alpha')).to.match(INSIDE);
    expect(await ask(outbound, `https://none.example:${port}/keys`)).to.match(/has no address$/);
    expect(server.seen).to.deep.equal([]);
    const plain = door({}, { localhost: [['8.8.8.8']] });
    expect(await ask(plain, `http://localhost:${port}/keys`)).to.match(WITHOUT_TLS);
  });

  it('connect to the checked address: the name is not resolved again', async () => {
    const { resolve, asked } = resolving({ localhost: [['127.0.0.1'], ['192.0.2.1']] });
    const outbound = new Outbound({ limits: LIMITS, rules: RULES, resolve });
    expect(await ask(outbound, `http://localhost:${port}/keys`)).to.equal(200);
    expect(asked).to.deep.equal(['localhost']);
  });

  it('are checked again at each redirect', async () => {
    redirect('/to-host', `http://inside.example:${port}/keys`);
    redirect('/to-address', `http://10.0.0.1:${port}/keys`);
    redirect('/to-name', `http://localhost:${port}/keys`);
    const allowed = door({ allowedHosts: ['127.0.0.1'], plainHttp: true });
    for (const path of ['/to-host', '/to-address', '/to-name'])
      expect(await ask(allowed, server.url + path)).to.match(/is not among the hosts/);
    const plain = door({}, { localhost: [['10.0.0.1']] });
    for (const path of ['/to-host', '/to-address', '/to-name'])
      expect(await ask(plain, server.url + path)).to.match(WITHOUT_TLS);
    expect(server.seen.filter((line) => line === 'GET /keys')).to.deep.equal([]);
    expect(await ask(door({}, { localhost: [['127.0.0.1']] }), `${server.url}/to-name`)).to.equal(
      200,
    );
  });

  it('end if the server changes the protocol, or Node cannot send them', async () => {
    server.answers.set('/switch', (_: unknown, response: ServerResponse) => {
      response.writeHead(101, { connection: 'upgrade', upgrade: 'websocket' }).end();
    });
    expect(await ask(door(), `${server.url}/switch`)).to.match(/^127\.0\.0\.1:\d+: no reply$/);
    const fault = (more: object) =>
      door()
        .exchange({ url: new URL(`https://127.0.0.1:${port}/`), ...more }, 'default')
        .catch((why: unknown) => why);
    const odd = { headers: { authorization: 'Bearer secret\nsecret' } };
    expect(await fault(odd))
      .to.be.instanceOf(FetchFault)
      .with.property('message', `127.0.0.1:${port}: ERR_INVALID_CHAR`);
    const ca = `${CA}${CA.replace(/M/g, '!')}`;
    expect(await fault({ ca })).to.be.instanceOf(FetchFault);
  });

  it('are limited in number, and half of them for one namespace', async () => {
    let release: (() => void)[] = [];
    let arrived: () => void = () => {};
    server.answers.set('/slow', (_: unknown, response: ServerResponse) => {
      release.push(() => response.end('{}'));
      arrived();
    });
    const limits = { ...LIMITS, timeoutMs: 10_000, issuerRequests: 4 };
    const rules = { ...RULES, privateAddresses: true, plainHttp: true };
    const outbound = new Outbound({ limits, rules });
    const slow = (ns: string) => outbound.exchange({ url: new URL(`${server.url}/slow`) }, ns);
    const refusal = async (ns: string) => {
      const error = await slow(ns).catch((why: unknown) => why);
      expect(error).to.be.instanceOf(ApiError).with.property('status', 429);
      expect((error as Error).message).to.match(/sends too many requests to issuers: try again/);
    };
    const all = new Promise<void>((resolve) => {
      arrived = () => release.length === 4 && resolve();
    });
    const alpha = [slow('alpha'), slow('alpha')];
    await refusal('alpha');
    const others = [slow('default'), slow('beta')];
    await refusal('gamma');
    await all;
    for (const answer of release) answer();
    for (const reply of await Promise.all([...alpha, ...others]))
      expect(reply.status).to.equal(200);
    release = [];
    const again = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const next = slow('gamma');
    await again;
    for (const answer of release) answer();
    expect((await next).status).to.equal(200);
  });

  it('that are too many fail a login or the write of a method with 429', async () => {
    const limits = { ...LIMITS, issuerRequests: 1 };
    const types = authMethodTypes({ ...LOGIN_DEFAULTS, limits });
    const [jwt, kubernetes] = [types.get('jwt')!, types.get('kubernetes')!];
    const bearer = await (await signer('ES256', 'k1')).sign(times);
    const arrived = new Promise<() => void>((resolve) => {
      server.answers.set('/slow', (_: unknown, response: ServerResponse) => {
        resolve(() => response.end('{"keys":[]}'));
      });
    });
    const first = jwt.validate({ JWKSURL: `${server.url}/slow` }, bearer, AT);
    const release = await arrived;
    const Config = { JWKSURL: `${server.url}/keys` };
    const cluster = { Host: 'https://127.0.0.1:1', CACert: CA, ServiceAccountJWT: bearer };
    for (const asked of [
      jwt.validate(Config, bearer, AT),
      jwt.validate({ OIDCDiscoveryURL: server.url }, bearer, AT),
      jwt.checkIssuer(Config, 'default'),
      kubernetes.validate(cluster, bearer, AT),
    ]) {
      const error = await asked.catch((why: unknown) => why);
      expect(error).to.be.instanceOf(ApiError).with.property('status', 429);
    }
    release();
    expect((await first).ok).to.equal(false);
  });
});
