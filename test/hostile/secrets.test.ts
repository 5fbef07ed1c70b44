import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { CA, SERVER_CERTIFICATE, SERVER_KEY } from '../login/certificates.js';
import type { Reply } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';
import { HostileClient } from './client.js';
import { ENDPOINTS } from './endpoints.js';

const MAIN = fileURLToPath(new URL('../../program/main.js', import.meta.url));
const SECRET_ID = '5ec2e7aa-1111-4222-8333-944455556666';
const BOOTSTRAP = '5ec2e7bb-1111-4222-8333-944455556666';
const WIRE_KEY = '5ec2e7WIREwXyZ0123456789abcdefghijklmnopqr+=';
const jwt = (payload: object): string =>
  [{ alg: 'ES256', typ: 'JWT' }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat('5ec2e7-signature')
    .join('.');
const BEARER = jwt({ sub: '5ec2e7-bearer', exp: 4_070_908_800, aud: 'conclave' });
const ACCOUNT = jwt({ sub: '5ec2e7-account' });
const KEY_LINE = SERVER_KEY.split('\n')[1] as string;
/** Texts that must appear nowhere, by what they are. */
const SECRETS: Readonly<Record<string, string>> = {
  SecretID: SECRET_ID,
  'its hash': createHash('sha256').update(SECRET_ID).digest('hex'),
  BootstrapSecret: BOOTSTRAP,
  'bearer token': BEARER.split('.')[1] as string,
  'its signature': '5ec2e7-signature',
  ServiceAccountJWT: ACCOUNT.split('.')[1] as string,
  'private key': KEY_LINE,
  'key of the wire': WIRE_KEY,
};

const RULES = `# ${ACCOUNT}\nkey "${SECRET_ID}" { policy = "read" }`;
const LOGIN = { AuthMethod: 'jwt', BearerToken: BEARER };
/** A question of the Authorization API about who holds a credential. */
const about = (type: string, id: string) => ({
  subject: { type, id, properties: { auth_method: 'jwt' } },
  action: { name: 'read' },
  resource: { type: 'orders', id: '1' },
});
const credentials = [about('token_secret', SECRET_ID), about('jwt', BEARER)];
/** Requests that explain and decide, with secrets in tokens and rules. */
const EXPLAINED: readonly [string, string, Record<string, unknown>][] = [
  ...['evaluation', 'evaluations', 'search/resource', 'search/action'].flatMap((path) =>
    credentials.map((body): [string, string, Record<string, unknown>] => {
      return ['POST', `/access/v1/${path}`, body];
    }),
  ),
  ['POST', '/access/v1/evaluations', { evaluations: credentials }],
  ['POST', '/v1/acl/login/explain', LOGIN],
  ['POST', '/v1/acl/login/explain', { ...LOGIN, AuthMethod: 'k8s' }],
  [
    'POST',
    '/v1/acl/authorize/explain',
    { Draft: { Rules: RULES }, Requests: [{ Resource: 'key', Access: 'read' }] },
  ],
];

describe('secrets', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-secrets-'));
  let cluster: RealCluster;
  let client: HostileClient;
  const answers: { readonly what: string; readonly reply: Reply }[] = [];

  before(async () => {
    const sharedKeyFile = join(dir, 'wire.key');
    writeFileSync(sharedKeyFile, `${WIRE_KEY}\n`, { mode: 0o600 });
    cluster = await RealCluster.open(1, {
      settings: { log: { level: 'debug' }, raft: { sharedKeyFile } },
    });
    client = new HostileClient(cluster.urls[0] as string, cluster.token);
    await plant();
    await readDecisions();
  });
  after(async () => {
    client.close();
    await cluster.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function say(method: string, target: string, body?: unknown, more = {}): Promise<Reply> {
    const isStandard = target.startsWith('/access/');
    const headers = { ...(isStandard && { 'content-type': 'application/json' }), ...more };
    const reply =
      typeof body === 'string'
        ? await client.send({ method, target, headers, body: Buffer.from(body) })
        : await client.ask(method, target, body, headers);
    answers.push({
      what: `${method} ${target.slice(0, 60)} ${JSON.stringify(body)?.slice(0, 60)}`,
      reply,
    });
    return reply;
  }

  /** Asks why each refused request was refused. */
  async function readDecisions(): Promise<void> {
    const ids = answers.map(({ reply }) => reply.headers['x-consul-decision']);
    expect(ids.filter((id) => id !== undefined)).not.to.have.length(0);
    for (const id of ids) if (id !== undefined) await say('GET', `/v1/acl/decision/${id}`);
  }

  /** Sends each secret where it belongs, in valid requests and in invalid ones. */
  async function plant(): Promise<void> {
    const certificate = {
      ...{ Kind: 'inline-certificate', Name: 'c' },
      ...{ Certificate: SERVER_CERTIFICATE, PrivateKey: SERVER_KEY },
    };
    const kubernetes = {
      ...{ Name: 'k8s', Type: 'kubernetes' },
      Config: { Host: 'https://127.0.0.1:1', CACert: CA, ServiceAccountJWT: ACCOUNT },
    };
    const keys = [readFileSync('test/transport/fixtures/member.pem', 'utf8')];
    const jwtMethod = { Name: 'jwt', Type: 'jwt', Config: { JWTValidationPubKeys: keys } };
    const good: [string, string, Record<string, unknown>][] = [
      ['PUT', '/v1/acl/token', { SecretID: SECRET_ID, Description: 'd' }],
      ['PUT', '/v1/config', certificate],
      ['PUT', '/v1/acl/auth-method', kubernetes],
      ['PUT', '/v1/acl/auth-method', jwtMethod],
    ];
    for (const [method, target, body] of good) {
      const { status, text } = await client.ask(method, target, body);
      expect(status, text).to.equal(200);
    }
    const bad: [string, string, Record<string, unknown>][] = [
      ...good,
      ['PUT', '/v1/acl/bootstrap', { BootstrapSecret: BOOTSTRAP }],
      ['POST', '/v1/acl/login', LOGIN],
      ['POST', '/v1/acl/login', { ...LOGIN, AuthMethod: 'k8s' }],
      ['POST', '/v1/acl/login', { ...LOGIN, AuthMethod: 'none' }],
      ['POST', '/v1/acl/login', { ...LOGIN, Namespace: 'none' }],
      ...EXPLAINED,
    ];
    for (const [method, target, body] of bad) {
      const text = JSON.stringify(body);
      const accept = { accept: 'application/problem+json' };
      // The response to a manager's valid write may contain what was sent.
      if (target !== '/v1/config' && !target.includes('auth-method'))
        await say(method, target, body);
      await say(method, target, text.slice(0, -1));
      await say(method, target, `${text}x`, accept);
      await say(method, target, text.replace('":"', '":x"'), accept);
      await say(method, target, { ...body, unexpected: 1 });
      await say(method, target, [body], accept);
      await say(method, `${target}?ns=none`, body, accept);
      await say(method, target, body, { 'x-service-token': SECRET_ID });
      await say(method, target, body, { 'x-service-token': BOOTSTRAP });
      for (const [field, value] of Object.entries(body)) {
        for (const wrong of [[value], { a: value }, `${JSON.stringify(value)}x`]) {
          await say(method, target, { ...body, [field]: wrong });
        }
      }
    }
    const unreadable = {
      ...certificate,
      PrivateKey: SERVER_KEY.replace('PRIVATE KEY-----\n', 'PRIVATE KEY-----\n!'),
    };
    await say('PUT', '/v1/config', unreadable);
    const broken = { ...kubernetes.Config, ServiceAccountJWT: `${ACCOUNT}.x` };
    await say('PUT', '/v1/acl/auth-method', { ...kubernetes, Config: broken });
    const asKey = { ...jwtMethod.Config, JWTValidationPubKeys: [SERVER_KEY] };
    await say('PUT', '/v1/acl/auth-method', { ...jwtMethod, Config: asKey });
    // As the token for every endpoint: known, unknown, in the URL, in the path.
    for (const { method, path } of ENDPOINTS) {
      for (const secret of [SECRET_ID, BOOTSTRAP]) {
        const target = path.replaceAll('*', 'a');
        await say(method, target, undefined, { 'x-service-token': secret });
        await say(method, target, undefined, {
          authorization: `Bearer ${secret}`,
          'x-service-token': '',
        });
        await say(method, `${target}?token=${secret}`, undefined, { accept: 'application/json' });
      }
    }
  }

  it('are in no response except those that exist to return them', () => {
    // Whoever shows a secret may see the token that it belongs to.
    const own = /^GET \/v1\/acl\/token\/self/;
    for (const { what, reply } of answers) {
      if (reply.status === 200 && own.test(what)) continue;
      if (reply.status === 200 && what.startsWith('PUT /v1/acl/token')) continue;
      for (const [name, secret] of Object.entries(SECRETS)) {
        const shown = reply.text.includes(secret) || JSON.stringify(reply.headers).includes(secret);
        expect(shown, `${name} in the ${reply.status} of ${what}: ${reply.text}`).to.equal(false);
      }
      expect(reply.status, what).to.be.lessThan(500);
    }
    expect(answers.length).to.be.greaterThan(300);
  });

  it('are in no log, metric or status', async () => {
    const reports = ['agent/self', 'agent/metrics', 'agent/metrics?format=prometheus'];
    const texts = await Promise.all(
      [
        ...reports,
        'agent/members',
        'operator/autopilot/state',
        'status/peers',
        'acl/auth-methods',
      ].map(async (path) => [path, (await client.ask('GET', `/v1/${path}`)).text] as const),
    );
    const { logFile } = cluster.nodes[0]!;
    const log = readFileSync(logFile, 'utf8');
    const settings = join(cluster.dir, 'n1.json');
    const check = execFileSync(process.execPath, [MAIN, 'agent', 'check', '--config', settings]);
    expect(String(check)).to.include('"hidden"');
    texts.push(['agent check', String(check)]);
    expect(log).to.include('login refused');
    const all = { ...SECRETS, 'initial management token': cluster.token };
    for (const [where, text] of [...texts, ['the log', log] as const]) {
      for (const [name, secret] of Object.entries(all)) {
        expect(text.includes(secret), `${name} in ${where}`).to.equal(false);
      }
    }
  });

  it('are in no name or key of a file: SecretIDs are on disk only in the tokens themselves', () => {
    const names = readdirSync(cluster.dir, { recursive: true }).map(String);
    expect(names.join('\n')).not.to.include('5ec2e7');
  });

  it('are shown only to managers', async () => {
    const reader = {
      Name: 'reader',
      Rules: 'acl = "read" service_prefix "" { policy = "read" } mesh = "read"',
    };
    expect((await client.ask('PUT', '/v1/acl/policy', reader)).status).to.equal(200);
    const made = await client.ask('PUT', '/v1/acl/token', { Policies: [{ Name: 'reader' }] });
    const asReader = { 'x-service-token': JSON.parse(made.text).SecretID as string };
    const paths = [
      'acl/tokens',
      'config/inline-certificate',
      'config/',
      'config/inline-certificate/c',
      'acl/auth-method/k8s',
      'snapshot',
    ];
    const inClear = await client.ask('GET', '/v1/acl/auth-method/k8s');
    expect(inClear.text, 'a caller who may write it sees it').to.include(ACCOUNT);
    for (const path of paths) {
      const { status, text } = await client.ask('GET', `/v1/${path}`, undefined, asReader);
      expect(status, `${path} ${text}`).to.be.oneOf([200, 403]);
      const secrets = [SECRET_ID, KEY_LINE, ACCOUNT, cluster.token, asReader['x-service-token']];
      for (const secret of secrets)
        expect(text.includes(secret), `${path} ${text}`).to.equal(false);
    }
  });
});
