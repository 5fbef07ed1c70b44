/** Bursts of requests that look harmless one by one, and must not make a node stand still. */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Setting } from '../bench/setting.js';
import type { Burst } from './flood-clients.js';

/** What a flood needs in the state. */
export interface Fixture {
  /** Of a token that links many large policies. */
  readonly heavyToken: string;
  /** Of a token with `acl:read`. */
  readonly readerToken: string;
  /** Of a token that may write the services `flood…`. */
  readonly serviceToken: string;
}

/** A kind of flood. */
export interface Flood {
  readonly name: string;
  /** Whether whoever reaches the API can send it. */
  readonly isAnonymous: boolean;
  bursts(fixture: Fixture): readonly Burst[];
  /** What a permitted client does meanwhile, once for each `n`. */
  meanwhile?(setting: Setting, n: number): Promise<unknown>;
}

const HOST = 'Host: localhost\r\n';
const get = (path: string, headers = ''): string => `GET ${path} HTTP/1.1\r\n${HOST}${headers}\r\n`;
const tokenIn = (secret: string): string => `X-Consul-Token: ${secret}\r\n`;

function repeated(request: string | Buffer, requests: number, connections = 1): Burst {
  const one = Buffer.from(request);
  return { bytes: Buffer.concat(Array(requests).fill(one)), requests, connections };
}

const post = (path: string, body: Buffer, headers = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`POST ${path} HTTP/1.1\r\n${HOST}${headers}Content-Length: ${body.length}\r\n\r\n`),
    body,
  ]);

/** 64 MB of blanks in 53 bytes, for a window of 16 MB. */
const BROTLI = brotliCompressSync(Buffer.alloc(64e6, ' '), {
  params: { [constants.BROTLI_PARAM_LGWIN]: 24 },
});
const GZIP = gzipSync(Buffer.alloc(4e6, ' '));
const AUTHORIZE = '/v1/internal/acl/authorize';
const packed = (coding: string, body: Buffer): Buffer =>
  post(AUTHORIZE, body, `Content-Encoding: ${coding}\r\n`);

const CHAIN = '/v1/discovery-chain/flood';
const METHOD = 'flood-method';
const RULES = 500;
const POLICIES = 40;
const POLICY_BYTES = 60_000;
const ROUTES = 1250;
const WATCHERS = 300;

/** All floods. */
export const FLOODS: readonly Flood[] = [
  {
    name: 'pipelined reads',
    isAnonymous: true,
    bursts: () => [repeated(get('/v1/config/service-defaults'), 20_000)],
  },
  {
    name: 'pipelined refusals and pages',
    isAnonymous: true,
    bursts: () => [
      repeated(get('/v1/acl/tokens'), 10_000),
      repeated(get('/ui/', 'Accept-Encoding: gzip\r\n'), 5000),
    ],
  },
  {
    name: 'documents to compress',
    isAnonymous: true,
    bursts: () => [
      repeated(get('/v1/openapi.json', 'Accept-Encoding: gzip\r\n'), 3000),
      repeated(get('/v1/openapi.json', 'Accept-Encoding: gzip\r\n'), 1, 100),
    ],
  },
  {
    name: 'compressed bodies',
    isAnonymous: true,
    bursts: () => [repeated(packed('br', BROTLI), 400), repeated(packed('gzip', GZIP), 50, 8)],
  },
  {
    name: 'watched chains',
    isAnonymous: false,
    bursts: ({ serviceToken }) => [
      repeated(get(`${CHAIN}?index=1&wait=1s`, tokenIn(serviceToken)), 1, 20),
      // An index of the future is held until something changes.
      repeated(get(`${CHAIN}?index=99999999&wait=5s`, tokenIn(serviceToken)), 1, WATCHERS),
    ],
    meanwhile: (setting, n) => setting.put('/v1/config', defaultsOf(n)),
  },
  {
    name: 'explanations of large tokens',
    isAnonymous: false,
    bursts: ({ heavyToken }) => {
      const question = { Resource: 'service', Access: 'write', Segment: 'flood' };
      const body = Buffer.from(JSON.stringify(question));
      return [
        repeated(post('/v1/acl/authorize/explain', body, tokenIn(heavyToken)), 4, 4),
        repeated(get('/v1/acl/token/self/effective', tokenIn(heavyToken)), 4, 4),
        repeated(get('/v1/acl/token/self', tokenIn(heavyToken)), 4, 4),
      ];
    },
  },
  {
    name: 'explanations of logins',
    isAnonymous: false,
    bursts: ({ readerToken }) => {
      const Claims = { n: '\u0001'.repeat(65_000) };
      const body = Buffer.from(JSON.stringify({ AuthMethod: METHOD, Claims }));
      return [repeated(post('/v1/acl/login/explain', body, tokenIn(readerToken)), 2, 2)];
    },
  },
  {
    name: 'erased secrets',
    isAnonymous: false,
    bursts: () => [],
    async meanwhile(setting, n) {
      const made = await setting.put('/v1/acl/token', {});
      const { AccessorID } = JSON.parse(made.body.toString()) as { AccessorID: string };
      await setting.ask({ method: 'DELETE', path: `/v1/acl/token/${AccessorID}` });
      const Meta = Object.fromEntries([0, 1, 2, 3, 4, 5].map((at) => [`k${at}`, 'x'.repeat(500)]));
      for (let write = 0; write < 20; write += 1)
        await setting.put('/v1/config', { ...defaultsOf(n), Name: `flood-${write}`, Meta });
    },
  },
];

/** An entry that a chain depends on, and that does not change it. */
const defaultsOf = (n: number) => ({
  Kind: 'service-defaults',
  Name: 'flood',
  Protocol: 'http',
  Meta: { n: String(n) },
});

/** Writes what the floods need. */
export async function prepare(setting: Setting): Promise<Fixture> {
  const policy = async (Name: string, Rules: string): Promise<void> => {
    await setting.put('/v1/acl/policy', { Name, Rules });
  };
  const token = async (names: readonly string[]): Promise<string> => {
    const Policies = names.map((Name) => ({ Name }));
    const { body } = await setting.put('/v1/acl/token', { Policies });
    return (JSON.parse(body.toString()) as { SecretID: string }).SecretID;
  };
  await policy('flood-service', 'service_prefix "flood" { policy = "write" }');
  await policy('flood-reader', 'acl = "read"');
  const heavy = Array.from({ length: POLICIES }, (_, at) => `flood-heavy-${at}`);
  for (const [at, name] of heavy.entries()) await policy(name, rulesOf(at));
  await setting.put('/v1/config', defaultsOf(0));
  await setting.put('/v1/config', ROUTER);
  const ClaimMappings = { n: 'n' };
  const Config = { JWTValidationPubKeys: [PUBLIC_KEY], ClaimMappings };
  await setting.put('/v1/acl/auth-method', { Name: METHOD, Type: 'jwt', Config });
  const rule = { AuthMethod: METHOD, BindType: 'role', BindName: '${value.n}' };
  for (let n = 0; n < RULES; n += 1)
    await setting.put('/v1/acl/binding-rule', { ...rule, Selector: `value.n != "z${n}"` });
  return {
    heavyToken: await heaviest(token, heavy),
    readerToken: await token(['flood-reader']),
    serviceToken: await token(['flood-service']),
  };
}

/** Makes the token with the most policies that the server lets one token link. */
async function heaviest(
  token: (names: readonly string[]) => Promise<string>,
  names: readonly string[],
): Promise<string> {
  for (let count = names.length; count > 1; count = Math.floor(count / 2)) {
    const made = await token(names.slice(0, count)).catch(() => undefined);
    if (made !== undefined) return made;
  }
  return token(names.slice(0, 1));
}

function rulesOf(policy: number): string {
  let rules = '';
  for (let n = 0; rules.length < POLICY_BYTES; n += 1)
    rules += `service "flood-${policy}-${n}" { policy = "write" }\n`;
  return rules;
}

const header = (route: number, at: number) => ({
  Name: `h${at}-${route}`,
  Exact: 'v'.repeat(40),
});
const ROUTER = {
  Kind: 'service-router',
  Name: 'flood',
  Routes: Array.from({ length: ROUTES }, (_, at) => ({
    Match: { HTTP: { PathPrefix: `/p${at}`, Header: [0, 1, 2, 3].map((n) => header(at, n)) } },
    Destination: { Service: 'flood', PrefixRewrite: `/q${at}` },
  })),
};

/** Of nobody: no login of these floods is granted. */
const PUBLIC_KEY = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEoBUyo8CQAFPeYPvv78ylh5MwFZjT
CLQeb042TjiMJxG+9DLFmRSMlBQ9T/RsLLc+PmpB1+7yPAR+oR5gZn3kJQ==
-----END PUBLIC KEY-----`;
