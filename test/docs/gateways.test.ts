/**
 * The recipes for gateways in `docs/decisions-api.md`: the program of the page runs, and stand-ins
 * for Envoy and nginx ask it as their documents say, by the configurations of the page.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { freePorts } from '../../src/dev/ports.js';
import { until } from '../cluster/operator.js';
import { type Signer, signer } from '../login/signers.js';
import { Decider } from '../service/decisions/decider.js';
import { send } from '../support/client.js';

const PAGE = readFileSync('docs/decisions-api.md', 'utf8');
/** The block of the page in a language. */
const block = (language: string): string => {
  const found = PAGE.split(`\`\`\`${language}\n`);
  expect(found, language).to.have.length(2);
  return found[1]!.split('```')[0]!;
};
const PORT_OF_PAGE = '9001';

/** Asks the program about a request. Returns the status that refuses it; undefined if it passes. */
type Gateway = (request: IncomingMessage) => Promise<number | undefined>;

/** Envoy's filter `ext_authz` with an HTTP service. */
function envoy(port: number): Gateway {
  const [filter] = parse(block('yaml').replace(PORT_OF_PAGE, String(port))).http_filters;
  const { http_service, failure_mode_allow, status_on_error } = filter.typed_config;
  expect(filter.name).to.equal('envoy.filters.http.ext_authz');
  expect([failure_mode_allow, status_on_error.code]).to.deep.equal([false, 'ServiceUnavailable']);
  const { uri } = http_service.server_uri;
  return async ({ method, url, headers: { authorization, host } }) => {
    // These are sent without being named.
    const headers = { host: host!, ...(authorization !== undefined && { authorization }) };
    const asked = { headers: { ...headers, 'content-length': '0' } };
    const reply = await send(uri, `${method} ${url}`, asked).catch(() => undefined);
    if (reply === undefined || reply.status >= 500) return 503;
    return reply.status === 200 ? undefined : reply.status;
  };
}

/** The module `auth_request` of nginx. */
function nginx(port: number): Gateway {
  const text = block('nginx').replace(PORT_OF_PAGE, String(port));
  const [, path] = /auth_request (\S+);/.exec(text)!;
  const [, body] = new RegExp(`location = ${path} \\{([^}]*)\\}`).exec(text)!;
  const directives = new Map(
    body!
      .trim()
      .split('\n')
      .map((line) => /^(\S+) ?(.*);$/.exec(line.trim())!)
      .map(([, name, value]) => [name, value]),
  );
  expect(directives.get('proxy_pass_request_body')).to.equal('off');
  expect(directives.get('proxy_set_header')).to.equal('Content-Length ""');
  expect(directives.has('internal')).to.equal(true);
  return async ({ method, url, headers }) => {
    const filled = (name: string): string =>
      directives.get(name)!.replace('$request_uri', url!).replace('$request_method', method!);
    const { origin } = new URL(filled('proxy_pass'));
    const raw = filled('proxy_pass').slice(origin.length);
    const { 'content-length': _, 'transfer-encoding': __, ...others } = headers;
    const sent = { headers: others as Record<string, string> };
    const call = `${filled('proxy_method')} ${raw}`;
    const status = (await send(origin, call, sent).catch(() => undefined))?.status ?? 502;
    if (status >= 200 && status < 300) return undefined;
    return status === 401 || status === 403 ? status : 500;
  };
}

describe('the recipes for gateways', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-gateway-'));
  let decider: Decider;
  let key: Signer;
  let program: ChildProcess;
  let port: number;
  /** Of the program's token. */
  let accessor: string;
  const servers: Server[] = [];
  before(async () => {
    key = await signer('EdDSA');
    decider = await Decider.open();
    const must = (call: string, body: object) => decider.client.must(call, body);
    const Rules =
      'key_prefix "orders/get/" { policy = "read" }\nkey "orders/post/17" { policy = "read" }';
    await must('PUT /acl/policy', { Name: 'shop', Rules });
    const Config = { JWTValidationPubKeys: [key.pem] };
    await must('PUT /acl/auth-method', { Name: 'staff', Type: 'jwt', Config });
    const rule = { AuthMethod: 'staff', BindType: 'policy', BindName: 'shop' };
    await must('PUT /acl/binding-rule', rule);
    const { AccessorID, SecretID } = await must('PUT /acl/token', {});
    accessor = AccessorID;
    [port] = (await freePorts(1)) as [number];
    writeFileSync(join(dir, 'gateway.mjs'), block('js'));
    writeFileSync(join(dir, 'token'), `${SecretID}\n`, { mode: 0o600 });
    const env = {
      CONCLAVE: decider.client.url,
      TOKEN_FILE: join(dir, 'token'),
      METHOD: 'staff',
      PORT: String(port),
    };
    program = spawn(process.execPath, ['gateway.mjs'], { cwd: dir, env, stdio: 'inherit' });
    await until(
      () => send(`http://127.0.0.1:${port}`, 'GET /'),
      ({ status }) => status === 401,
    );
  });
  after(async () => {
    program.kill();
    for (const server of servers) server.close();
    await decider.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const served = async (answer: (request: IncomingMessage) => Promise<[number, string]>) => {
    const server = createServer((request, response) => {
      void answer(request).then(([status, text]) => response.writeHead(status).end(text));
    });
    servers.push(server.listen(0, '127.0.0.1'));
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  /** A server that is guarded by a gateway. */
  const guarded = (gateway: Gateway): Promise<string> =>
    served(async (request) => {
      const refused = await gateway(request);
      return refused === undefined ? [200, 'behind'] : [refused, ''];
    });
  const now = (): number => Math.floor(decider.client.solo.nowMs / 1000);
  const jwt = (more: object = {}, by = key): Promise<string> =>
    by.sign({ sub: 'ann', iat: now(), exp: now() + 600, ...more });

  for (const [name, gatewayOf] of [
    ['Envoy', envoy],
    ['nginx', nginx],
  ] as const)
    it(`of ${name} lets pass what a decision permits, and nothing else`, async () => {
      const url = await guarded(gatewayOf(port));
      const ask = async (call: string, bearer?: string) => {
        const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
        const { status, text } = await send(url, call, { headers, body: '{"a":1}' });
        expect(text).to.equal(status === 200 ? 'behind' : '');
        return status;
      };
      const ann = await jwt();
      expect(await ask('GET /orders/17', ann)).to.equal(200);
      expect(await ask('GET /orders/18?full=true', ann)).to.equal(200);
      expect(await ask('GET /orders', ann)).to.equal(200);
      expect(await ask('POST /orders/17', ann)).to.equal(200);
      for (const call of ['POST /orders/18', 'DELETE /orders/17', 'GET /invoices/17', 'GET /'])
        expect(await ask(call, ann), call).to.equal(403);
      for (const path of [
        '/orders/..',
        '/orders/../invoices',
        '//orders/17',
        '/orders/%31%37',
        '/orders/17/x',
        '/orders/17;a',
        '/./orders/17',
        '/orders//17',
        '/orders/.',
      ])
        expect(await ask(`GET ${path}`, ann), path).to.equal(403);
      expect(await ask('GET /orders/17')).to.equal(401);
      expect(await ask('GET /orders/17', await jwt({ exp: now() - 600 }))).to.equal(403);
      const forged = await jwt({}, await signer('EdDSA'));
      expect(await ask('GET /orders/17', forged)).to.equal(403);
    });

  it('let nothing pass when nothing is decided', async () => {
    const headers = { authorization: `Bearer ${await jwt()}` };
    const statusOf = async (gateway: Gateway): Promise<number> =>
      (await send(await guarded(gateway), 'GET /orders/17', { headers })).status;
    const [nobody] = (await freePorts(1)) as [number];
    expect(await statusOf(envoy(nobody))).to.equal(503);
    expect(await statusOf(nginx(nobody))).to.equal(500);
    // The token of the program ends.
    await decider.client.must(`DELETE /acl/token/${accessor}`);
    expect(await statusOf(envoy(port))).to.equal(503);
    expect(await statusOf(nginx(port))).to.equal(500);
  });
});
