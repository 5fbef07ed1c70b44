/** Hostile requests of the Authorization API: none is permitted, and none is a fault. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { LIMITS } from '../../http/harness.js';
import { signer } from '../../login/signers.js';
import type { Reply } from '../../support/authzen.js';
import { send } from '../../support/client.js';
import { Decider } from './decider.js';

const ONE = {
  subject: { type: 'token', id: 'self' },
  action: { name: 'approve' },
  resource: { type: 'orders', id: '17' },
};
const PATHS = ['evaluation', 'evaluations', 'search/subject', 'search/resource', 'search/action'];
const WRONG: readonly unknown[] = [null, true, 0, -1.5, 1e308, '', 'x', [], [ONE], {}, { a: 1 }];

/** Returns a request with a value in place of the member at a path. */
function withMember(body: object, [name, ...rest]: readonly string[], value: unknown): object {
  const inner = (body as Record<string, object>)[name!] ?? {};
  return { ...body, [name!]: rest.length === 0 ? value : withMember(inner, rest, value) };
}

describe('hostile requests of the Authorization API', () => {
  let decider: Decider;
  /** A token that may do nothing. */
  let token: string;
  before(async () => {
    decider = await Decider.open();
    token = (await decider.token('')).SecretID;
  });
  after(() => decider.close());

  /** No answer permits anything to a token without rights. */
  async function harmless(path: string, body: object | string): Promise<Reply> {
    const reply = await decider.ask(path, body, { token });
    const what = `${path} ${JSON.stringify(body).slice(0, 200)}: ${reply.text}`;
    expect(reply.status, what).to.be.oneOf([200, 400, 403]);
    expect(reply.text, what).not.to.include('"decision":true');
    if (reply.status === 200 && path.startsWith('search'))
      expect(reply.body.results, what).to.deep.equal([]);
    if (reply.status === 400) expect(reply.text).to.match(/^[^\n]{10,1600}\n$/);
    return reply;
  }

  it('with values of wrong types are refused, or mean something else', async () => {
    const members = ['subject', 'action', 'resource', 'context', 'evaluations', 'options', 'page'];
    const inner = ['subject', 'resource'].flatMap((name) =>
      ['type', 'id', 'properties', 'properties.namespace'].map((of) => `${name}.${of}`),
    );
    const others = ['action.name', 'action.properties', 'options.evaluations_semantic'];
    const pages = ['page.limit', 'page.token', 'page.properties'];
    for (const path of PATHS)
      for (const member of [...members, ...inner, ...others, ...pages])
        for (const value of WRONG) await harmless(path, withMember(ONE, member.split('.'), value));
    const long = 'x'.repeat(70_000);
    for (const member of [...inner, ...others, ...pages])
      await harmless('search/resource', withMember(ONE, member.split('.'), long));
  });

  it('of a kind are refused by name', async () => {
    const cases: readonly [path: string, member: string, value: unknown, why: string][] = [
      ['evaluation', 'context', null, 'context is not an object'],
      ['evaluation', 'action.properties', [], 'action.properties is not an object'],
      ['evaluation', 'resource.properties', null, 'resource.properties is not an object'],
      ['evaluations', 'options', 1, 'options is not an object'],
      ['evaluations', 'options.evaluations_semantic', null, 'options.evaluations_semantic is not'],
      ['evaluations', 'evaluations', {}, 'evaluations is not a list'],
      ['search/action', 'page', [], 'page is not an object'],
      ['search/action', 'page.limit', 1.5, 'page.limit is not a whole number'],
      ['search/action', 'page.token', 1, 'page.token is not a string'],
      ['search/subject', 'subject.type', undefined, 'subject.type is missing'],
      ['search/resource', 'resource.type', 'app:', 'resource.type names no type after "app:"'],
    ];
    for (const [path, member, value, why] of cases) {
      const reply = await harmless(path, withMember(ONE, member.split('.'), value));
      expect([reply.status, reply.text], member).to.satisfy(
        ([status, text]: [number, string]) => status === 400 && text.startsWith(why),
      );
    }
  });

  it('are refused for a bad resource, whoever the subject is', async () => {
    const subject = { type: 'robot', id: 'x' };
    for (const resource of [
      { type: 'app:', id: '' },
      { type: 'a', id: '', properties: { namespace: '*' } },
      { type: 'a', id: '', properties: { namespace: '' } },
      { type: 'a', id: '', properties: { namespace: null } },
    ])
      for (const path of PATHS)
        expect((await harmless(path, { ...ONE, subject, resource })).status).to.equal(400);
  });

  it('are measured in characters, properties and contexts in bytes', async () => {
    const fits = { ...ONE, resource: { type: 'a'.repeat(128), id: 'é'.repeat(2048) } };
    expect((await harmless('evaluation', fits)).status).to.equal(200);
    const bytes = (length: number) => ({ a: 'é'.repeat((length - '{"a":""}'.length) / 2) });
    for (const [length, status] of [
      [16_384, 200],
      [16_386, 400],
    ] as const)
      for (const body of [
        { ...ONE, context: bytes(length) },
        { ...ONE, action: { name: 'a', properties: bytes(length) } },
        { ...ONE, resource: { ...ONE.resource, properties: bytes(length) } },
      ])
        expect((await harmless('evaluation', body)).status).to.equal(status);
    const jwt = (length: number) => {
      const properties = { auth_method: 'm' };
      return { ...ONE, subject: { type: 'jwt', id: 'x'.repeat(length), properties } };
    };
    expect((await harmless('evaluation', jwt(32_768))).body.context.code).to.equal('refused');
    expect((await harmless('evaluation', jwt(32_769))).status).to.equal(400);
  });

  it('that are huge or deep are refused', async () => {
    const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const text = (levels: number): string =>
      JSON.stringify({ ...ONE, foo: 0 }).replace('"foo":0', `"foo":${deep(levels)}`);
    expect((await harmless('evaluation', text(60))).status).to.equal(200);
    expect((await harmless('evaluation', text(70))).status).to.equal(400);
    expect((await harmless('evaluation', text(10_000))).status).to.equal(400);
    const many = JSON.stringify({ ...ONE, foo: Array(40_000).fill(0) });
    expect((await harmless('evaluation', many)).status).to.equal(400);
    const headers = { 'x-request-id': 'big' };
    const huge = await decider.ask('evaluation', ' '.repeat((1 << 20) + 1), { token, headers });
    expect([huge.status, huge.headers['x-request-id']]).to.deep.equal([413, 'big']);
  });

  it('in another encoding are refused', async () => {
    const text = JSON.stringify(ONE);
    const json = { 'content-type': 'application/json' };
    const bodies: readonly [name: string, body: Buffer][] = [
      ['a byte-order mark', Buffer.from(`\ufeff${text}`)],
      ['UTF-16', Buffer.from(text, 'utf16le')],
      ['Latin-1', Buffer.from(text.replace('17', 'é'), 'latin1')],
      ['half a pair', Buffer.from(text.replace('17', '\\ud83d'))],
      ['a control character', Buffer.from(text.replace('17', '\u0007'))],
      ['names twice', Buffer.from(text.replace('"id":"17"', '"id":"17","\\u0069d":"18"'))],
      ['names twice below', Buffer.from(text.replace('"17"', '"17","p":{"a":1,"a":2}'))],
      ['a prototype', Buffer.from(text.replace('"17"', '"17","__proto__":{"id":"18"}'))],
    ];
    for (const [name, body] of bodies) {
      const call = 'POST /access/v1/evaluation';
      const reply = await send(decider.client.url, call, { token, body, headers: json });
      expect([reply.status, reply.text], name).to.satisfy(([status]: [number]) => status === 400);
    }
  });

  it('may be packed, but not badly', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const ask = (body: Buffer) =>
      send(decider.client.url, 'POST /access/v1/evaluation', { token, body, headers });
    const packed = gzipSync(JSON.stringify(ONE));
    expect((await ask(packed)).status).to.equal(200);
    expect((await ask(packed.subarray(0, -9))).status).to.equal(400);
    expect((await ask(gzipSync(Buffer.alloc(5 << 20, ' ')))).status).to.equal(413);
  });

  it('need the media type of JSON', async () => {
    for (const type of ['', 'text/plain', 'application/jsonp', 'application/problem+json', '*/*']) {
      const headers = { 'content-type': type };
      const { status, text } = await decider.ask('evaluation', ONE, { token, headers });
      expect([status, text]).to.deep.equal([400, 'Content-Type is not application/json\n']);
    }
  });

  it('get their X-Request-ID back as it came', async () => {
    // Node reads and writes each byte of a header as a character.
    const utf8 = Buffer.from('"é" €').toString('latin1');
    for (const id of ['a', utf8, 'x'.repeat(1024), '<script>', '\u00ff\t.']) {
      const headers = { 'x-request-id': id };
      for (const body of [ONE, '{'])
        expect((await decider.ask('evaluation', body, { token, headers })).headers).to.include({
          'x-request-id': id,
        });
      const stranger = await decider.ask('evaluation', ONE, { token: '', headers });
      expect([stranger.status, stranger.headers['x-request-id']]).to.deep.equal([401, id]);
    }
    const get = await fetch(`${decider.client.url}/access/v1/search/action`, {
      headers: { 'x-request-id': 'r' },
    });
    expect([get.status, get.headers.get('x-request-id')]).to.deep.equal([405, 'r']);
    expect(get.headers.get('allow')).to.equal('OPTIONS,POST');
  });
});

describe('limits of the Authorization API', () => {
  const asking = async (http: object, run: (decider: Decider) => Promise<void>) => {
    const decider = await Decider.open({ http });
    try {
      await run(decider);
    } finally {
      await decider.close();
    }
  };
  const limits = { ...LIMITS, bodyBytes: 1 << 20, requestMs: 5000, held: 1000 };

  it('of JWTs that are verified count none that is known', () =>
    asking({ limits: { ...limits, jwtChecksPerAddress: 1 } }, async (decider) => {
      const key = await signer('EdDSA');
      const Config = { JWTValidationPubKeys: [key.pem] };
      await decider.client.must('PUT /acl/auth-method', { Name: 'm', Type: 'jwt', Config });
      const iat = Math.floor(decider.client.solo.nowMs / 1000);
      const exp = iat + 600;
      const properties = { auth_method: 'm' };
      const ask = async (n: number) => {
        const id = await key.sign({ sub: `s${n}`, iat, exp });
        return decider.ask('evaluation', { ...ONE, subject: { type: 'jwt', id, properties } });
      };
      // A burst of five seconds.
      for (const n of [1, 2, 3, 4, 5]) expect((await ask(n)).status).to.equal(200);
      const full = await ask(6);
      expect([full.status, full.headers['retry-after']]).to.deep.equal([429, '1']);
      expect(full.text).not.to.include('decision');
      expect((await ask(1)).status, 'a known one').to.equal(200);
      expect((await decider.ask('evaluation', ONE)).status, 'another subject').to.equal(200);
      const items = [1, 7].map(async (n) => ({
        subject: { type: 'jwt', id: await key.sign({ sub: `s${n}`, iat, exp }), properties },
      }));
      const batch = { ...ONE, evaluations: await Promise.all(items) };
      expect((await decider.ask('evaluations', batch)).status, 'the whole batch').to.equal(429);
    }));

  it('of requests count a batch as one', () =>
    asking({ limits: { ...limits, requestsPerAddress: 1 } }, async (decider) => {
      const body = { ...ONE, evaluations: Array(256).fill({}) };
      const statuses: number[] = [];
      for (let n = 0; n < 6; n++) statuses.push((await decider.ask('evaluations', body)).status);
      expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429]);
    }));

  it('may block the paths', () =>
    asking({ blockedPaths: ['/access/v1/search'] }, async (decider) => {
      expect((await decider.ask('search/action', ONE)).status).to.equal(403);
      expect((await decider.ask('evaluation', ONE)).status).to.equal(200);
    }));
});
