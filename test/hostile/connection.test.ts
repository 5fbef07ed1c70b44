import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import { RealCluster } from '../support/real-cluster.js';
import { HostileClient, judge } from './client.js';
import { ENDPOINTS, WRITES } from './endpoints.js';

const bodyOf = (bytes: number): Buffer => Buffer.from(`{"Name":"${'x'.repeat(bytes)}"}`);
const TWO_MIB = bodyOf(2 ** 21);
/** More than a set may have. */
const NINE_MIB = bodyOf(9 * 2 ** 20);

/** Endpoints with the same body limit for known and anonymous callers. */
const SMALL = new Set(['/v1/acl/login', '/v1/acl/bootstrap', '/v1/internal/acl/authorize']);
/** Endpoints that take a set. */
const LARGE = new Set(['/v1/plan', '/v1/apply']);

/** The setting that bounds the bodies of an endpoint. */
function limitOf(path: string): string {
  if (LARGE.has(path)) return 'limits.planBytes';
  return SMALL.has(path) ? 'limits.anonymousBodyBytes' : 'limits.bodyBytes';
}

describe('hostile connections to a node', () => {
  let cluster: RealCluster;
  let client: HostileClient;

  before(async () => {
    cluster = await RealCluster.open(1);
    client = new HostileClient(cluster.urls[0] as string, cluster.token, 1);
  });
  after(async () => {
    client.close();
    await cluster.close();
  });
  afterEach('the node still responds', async () => {
    expect((await client.ask('GET', '/v1/status/leader')).status).to.equal(200);
  });

  it('a body that is too large is refused with 413 on every endpoint that reads one', async () => {
    for (const { method, path } of WRITES) {
      const target = path.replace('config/*', 'config/mesh').replace('*', 'builtin/service');
      for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
        const body = LARGE.has(path) ? NINE_MIB : TWO_MIB;
        const hostile = { method, target, headers, body };
        const reply = await client.send(hostile);
        expect(reply.status, `${method} ${target} ${reply.text}`).to.equal(413);
        expect(reply.text).to.include(`the limit is ${limitOf(path)}`);
        judge(hostile, reply);
      }
    }
  });

  it('an unread body does not delay the next request of the connection', async () => {
    for (const { method, path } of ENDPOINTS) {
      const hostile = {
        ...{ method, target: path.replaceAll('*', 'a'), headers: {} },
        body: Buffer.alloc(300_000, 1),
      };
      judge(hostile, await client.send(hostile));
      expect((await client.ask('GET', '/v1/status/leader')).status, path).to.equal(200);
    }
  });

  it('a client that half-closes gets its response, even if its body is unread', async () => {
    const body = Buffer.alloc(2 ** 22, 'x');
    for (const { method, path } of ENDPOINTS) {
      const head = [
        `${method} ${path.replaceAll('*', 'a')} HTTP/1.1`,
        ...['Host: localhost', `X-Service-Token: ${cluster.token}`, 'Connection: close'],
        `Content-Length: ${body.length}`,
      ].join('\r\n');
      const socket = connect(Number(new URL(cluster.urls[0] as string).port), '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      const closed = new Promise((done) => socket.on('error', () => {}).once('close', done));
      socket.write(Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]));
      await closed;
      expect(text, `${method} ${path}`).to.match(/^HTTP\/1\.1 [234]\d\d /);
    }
  });

  it('incomplete requests end with a response or a closed connection', async () => {
    const token = `X-Service-Token: ${cluster.token}`;
    const put = `PUT /v1/acl/policy HTTP/1.1\r\nHost: localhost\r\n${token}\r\n`;
    const halves = [
      '',
      'GET',
      'GET /v1/status/leader',
      'GET /v1/status/leader HTTP/1.1\r\nHost: localhost\r\n',
      `${put}Content-Length: 100\r\n\r\n{"Name":`,
      `${put}Content-Length: 100\r\n\r\n`,
      `${put}Transfer-Encoding: chunked\r\n\r\n5\r\n{"Nam`,
      `${put}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      `${put}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n`,
      `PUT /v1/snapshot HTTP/1.1\r\nHost: localhost\r\n${token}\r\nContent-Length: 9\r\n\r\nabc`,
      `GET /v1/config/mesh?index=1 HTTP/1.1\r\nHost: localhost\r\n${token}\r\n\r\n`,
    ];
    for (const half of halves) await client.raw(half);
  });

  it('a client that disconnects in the middle of a body causes no error', async () => {
    for (const { method, path } of ENDPOINTS.filter(({ bodies }) => bodies.length > 0)) {
      const target = path.replaceAll('*', 'a');
      const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\nX-Service-Token: ${cluster.token}\r\n`;
      const socket = connect(Number(new URL(cluster.urls[0] as string).port), '127.0.0.1');
      // The node reads the body by the time it responds to this.
      socket.write(`${head}Expect: 100-continue\r\nContent-Length: 9\r\n\r\nabc`);
      await once(socket, 'data');
      socket.destroy();
      await once(socket, 'close');
    }
    // A response on each of many new connections comes after everything before it was handled.
    for (let n = 0; n < 20; n++) await client.ask('GET', '/v1/acl/token/self');
    const log = readFileSync(cluster.nodes[0]!.logFile, 'utf8');
    expect(log.split('\n').filter((line) => line.includes('"level":"error"'))).to.deep.equal([]);
  });

  it('malformed HTTP is refused with an explanation', async () => {
    const head = 'GET /v1/status/leader HTTP/1.1\r\nHost: localhost\r\n';
    const cases: [string | Buffer, RegExp][] = [
      ['\u0000\u0001\u0002\r\n\r\n', /^HTTP\/1.1 400 .*not well-formed HTTP/s],
      ['HELLO WORLD\r\n\r\n', /^HTTP\/1.1 400 /],
      ['GET /v1/status/leader HTTP/9.9\r\n\r\n', /^HTTP\/1.1 400 /],
      [`${head}bad header\r\n\r\n`, /^HTTP\/1.1 400 /],
      [`${head}A: \u0000\r\n\r\n`, /^HTTP\/1.1 400 /],
      [`${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`, /^HTTP\/1.1 400 /],
      [`${head}Content-Length: -1\r\n\r\n`, /^HTTP\/1.1 400 /],
      [`${head}A: ${'x'.repeat(100_000)}\r\n\r\n`, /^HTTP\/1.1 431 .*larger than/s],
      [`GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`, /^HTTP\/1.1 431 /],
      [`${head}${'A: b\r\n'.repeat(5000)}Connection: close\r\n\r\n`, /^HTTP\/1.1 (200|400|431) /],
      [Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01]), /^HTTP\/1.1 400 /],
      ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1.1 400 /],
      [`${head.replace('/v1/status/leader', '*')}Connection: close\r\n\r\n`, /^HTTP\/1.1 [24]0\d /],
      [
        `${head.replace('/v1/status/leader', 'http://localhost/v1/status/leader')}Connection: close\r\n\r\n`,
        /^HTTP\/1.1 200 /,
      ],
      ['CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n', /^(HTTP\/1.1 4\d\d .*)?$/s],
    ];
    for (const [bytes, expected] of cases) {
      const shown = bytes.toString().slice(0, 60);
      expect(await client.raw(bytes), JSON.stringify(shown)).to.match(expected);
    }
  });

  it('paths and queries that cannot be decoded are refused', async () => {
    const targets = [
      ...['/v1/acl/role/%', '/v1/acl/role/%zz', '/v1/config/mesh/%c3%28', '/v1/acl/role/name/%00'],
      ...['/v1/acl/roles?policy=%', '/v1/acl/roles?%zz=1', '/v1/acl/roles?a;b', '/v1/config/%0a/a'],
    ];
    for (const target of targets) {
      const { status, text } = await client.ask('GET', target);
      expect(status, `${target} ${text}`).to.equal(400);
      expect(text).to.match(/percent-encoded|";"/);
    }
    for (const target of [
      '/v1//acl/roles',
      '/v1/./acl/roles',
      '/v1/acl/../acl/roles',
      '/V1/acl/roles',
    ])
      expect((await client.ask('GET', target)).status, target).to.equal(404);
  });

  it('names of built-in object members are not names of objects', async () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      for (const path of ['acl/role/name', 'acl/policy/name', 'acl/auth-method', 'namespace']) {
        expect((await client.ask('GET', `/v1/${path}/${name}`)).status, path).to.be.oneOf([
          400, 404,
        ]);
      }
      expect((await client.ask('GET', `/v1/config/${name}/a`)).status).to.equal(400);
      expect((await client.ask('GET', `/v1/acl/templated-policy/name/${name}`)).status).to.equal(
        404,
      );
      const kept = { Kind: 'service-defaults', Name: name, Meta: { constructor: name } };
      expect((await client.ask('PUT', '/v1/config', kept)).text).to.equal('true\n');
      const read = await client.ask('GET', `/v1/config/service-defaults/${name}`);
      expect(JSON.parse(read.text)).to.deep.include(kept);
      expect((await client.ask('DELETE', `/v1/config/service-defaults/${name}`)).status).to.equal(
        200,
      );
    }
  });
});
