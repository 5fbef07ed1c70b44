/** Requests of the Authorization API: what is accepted, and how the rest is refused. */
import { expect } from 'chai';
import { Decider } from './decider.js';

const ONE = {
  subject: { type: 'token', id: 'self' },
  action: { name: 'read' },
  resource: { type: 'service', id: 'web' },
};

describe('requests of the Authorization API', () => {
  let decider: Decider;
  before(async () => {
    decider = await Decider.open();
  });
  after(() => decider.close());

  const refused = async (body: object | string, headers?: Record<string, string>) => {
    const reply = await decider.ask('evaluation', body, headers ? { headers } : {});
    return `${reply.status} ${reply.text.trim()}`;
  };

  it('may have members that nobody knows, at every depth', async () => {
    const more = { foo: [1] };
    const { status, body } = await decider.ask('evaluation', {
      ...more,
      subject: { ...ONE.subject, ...more },
      action: { ...ONE.action, ...more },
      resource: { ...ONE.resource, properties: more, ...more },
      context: { time: 'now' },
    });
    expect([status, body.decision]).to.deep.equal([200, true]);
  });

  it('are refused by the name of the member that is wrong', async () => {
    const cases: readonly [body: object, why: string][] = [
      [{}, 'subject is missing'],
      [{ ...ONE, subject: 'x' }, 'subject is not an object'],
      [{ ...ONE, subject: { type: 'token' } }, 'subject.id is missing'],
      [{ ...ONE, subject: { type: 1, id: 'x' } }, 'subject.type is not a string'],
      [{ ...ONE, action: {} }, 'action.name is missing'],
      [{ ...ONE, action: { name: '' } }, 'action.name has 0 characters: 1 to 128 are accepted'],
      [{ ...ONE, resource: { type: 'a' } }, 'resource.id is missing'],
      [{ ...ONE, resource: { type: 'a'.repeat(129), id: '' } }, 'resource.type has 129 characters'],
      [{ ...ONE, resource: { type: 'a', id: 'x'.repeat(2049) } }, 'resource.id has 2049'],
      [{ ...ONE, context: [] }, 'context is not an object'],
      [{ ...ONE, context: { a: 'x'.repeat(17_000) } }, 'context has more than 16384 bytes'],
      [{ ...ONE, subject: { ...ONE.subject, properties: 1 } }, 'subject.properties is not'],
      [{ ...ONE, resource: { type: 'app:', id: '' } }, 'resource.type names no type'],
      [
        { ...ONE, resource: { ...ONE.resource, properties: { namespace: 'a b' } } },
        'resource.properties.namespace is not the name of a namespace',
      ],
      [
        // the Kelvin sign, which is a k in lower case
        { ...ONE, resource: { ...ONE.resource, properties: { namespace: '\u212a' } } },
        'resource.properties.namespace is not the name of a namespace',
      ],
      [{ ...ONE, subject: { type: 'jwt', id: 'x' } }, 'subject.properties.auth_method is missing'],
    ];
    for (const [body, why] of cases) expect(await refused(body)).to.include(`400 ${why}`);
  });

  it('are strict JSON of the right media type, without unknown parameters', async () => {
    for (const body of ['', '[]', '{', '{"subject":1,"subject":2}', 'null', '"x"', '{} x'])
      expect(await refused(body), body).to.match(/^400 /);
    const text = JSON.stringify(ONE);
    expect(await refused(text, { 'content-type': 'text/plain' })).to.match(/^400 Content-Type/);
    const json = { 'content-type': 'application/JSON; charset=utf-8' };
    expect(await refused(text, json)).to.match(/^200 /);
    for (const [query, status] of [
      ['stale', 200],
      ['consistent', 200],
      ['reasons=all', 200],
      ['reasons=some', 400],
      ['index=1', 400],
      ['dry-run', 400],
    ] as const) {
      const reply = await decider.ask(`evaluation?${query}`, ONE);
      expect(reply.status, `${query}: ${reply.text}`).to.equal(status);
    }
  });

  it('are answered as text, or as problem details if these are named', async () => {
    const plain = await decider.ask('evaluation', {}, { headers: { accept: 'application/json' } });
    expect(plain.headers['content-type']).to.equal('text/plain; charset=utf-8');
    const accept = 'application/problem+json';
    const problem = await decider.ask('evaluation', {}, { headers: { accept } });
    expect(problem.body).to.include({ status: 400, detail: 'subject is missing', code: 'invalid' });
  });

  it('get their X-Request-ID back, on errors too', async () => {
    for (const [body, status] of [
      [ONE, 200],
      [{}, 400],
    ] as const) {
      const headers = { 'x-request-id': 'a b; c="d"' };
      const reply = await decider.ask('evaluation', body, { headers });
      expect([reply.status, reply.headers['x-request-id']]).to.deep.equal([status, 'a b; c="d"']);
    }
    const none = await decider.ask('evaluation', ONE);
    expect(none.headers).not.to.have.property('x-request-id');
    const long = { 'x-request-id': 'x'.repeat(1025) };
    const reply = await decider.ask('evaluation', ONE, { headers: long });
    expect([reply.status, reply.headers['x-request-id']]).to.deep.equal([400, undefined]);
  });

  it('need a token that is known', async () => {
    const none = await decider.ask('evaluation', ONE, { token: '' });
    const other = await decider.ask('evaluation', ONE, {
      token: '99999999-2222-4333-8444-555555555555',
    });
    const anonymous = await decider.ask('evaluation', ONE, { token: 'anonymous' });
    for (const { status, headers } of [none, other, anonymous])
      expect([status, headers['www-authenticate']]).to.deep.equal([401, 'Bearer realm="conclave"']);
    const open = await Decider.open({ authzen: { anonymousCallers: true } });
    const { SecretID: id } = await open.token('service "web" { policy = "read" }');
    const ask = (type: string) =>
      open.ask('evaluation', { ...ONE, subject: { type, id } }, { token: '' });
    expect((await ask('token_secret')).body.decision).to.equal(true);
    expect((await ask('token')).status).to.equal(401);
    await open.close();
  });

  it('say how they may be sent, and where decisions are made', async () => {
    const { url } = decider.client;
    const get = await fetch(`${url}/access/v1/evaluation`);
    expect([get.status, get.headers.get('allow')]).to.deep.equal([405, 'OPTIONS,POST']);
    const found = await fetch(`${url}/.well-known/authzen-configuration`);
    expect([found.status, await found.text()]).to.deep.equal([
      404,
      'This server has no https address for decisions ' +
        '(set authzen.url: the specification requires an https address)\n',
    ]);
  });
});

describe('batches of the Authorization API', () => {
  let decider: Decider;
  before(async () => {
    decider = await Decider.open();
  });
  after(() => decider.close());

  const service = (id: string) => ({ resource: { type: 'service', id } });
  const decided = async (body: object): Promise<readonly Decided[]> => {
    const token = await decider.token('service "a" { policy = "write" }');
    const { subject, action } = ONE;
    const reply = await decider.ask(
      'evaluations',
      { subject, action, ...body },
      { token: token.SecretID },
    );
    expect(reply.status, reply.text).to.equal(200);
    return reply.body.evaluations;
  };
  const batch = async (body: object): Promise<string[]> =>
    (await decided(body)).map(
      ({ decision, context }) => `${context.id} ${decision} ${context.code}`,
    );
  interface Decided {
    readonly decision: boolean;
    readonly context: {
      readonly id: string;
      readonly code: string;
      readonly reason_user?: { readonly en: string };
    };
  }

  it('are decided in order; what is wrong with an item is its answer', async () => {
    const evaluations = [
      service('a'),
      service('b'),
      {},
      { ...service('a'), action: { name: 'write' } },
      { ...service('a'), subject: { type: 'token', id: decider.client.solo.store.toString() } },
      { resource: { type: 'app:', id: '' } },
      { ...service('a'), subject: { type: 'jwt', id: 'x' } },
    ];
    expect(await batch({ evaluations })).to.deep.equal([
      '0 true allowed',
      '1 false denied',
      '2 false invalid',
      '3 true allowed',
      '4 false forbidden',
      '5 false invalid',
      '6 false invalid',
    ]);
  });

  it('say to a user of every denial what they may not do, as far as it can be read', async () => {
    const evaluations = [
      service('a'),
      service('b'),
      { ...service('a'), subject: { type: 'token', id: decider.client.solo.store.toString() } },
      { ...service('a'), subject: { type: 'token' } },
      { ...service('a'), subject: { type: 'jwt', id: 'x' } },
      { ...service('a'), context: 1 },
      { ...service('a'), action: {} },
      { resource: { type: 'app:', id: '' } },
    ];
    const sentences = (await decided({ evaluations })).map(
      ({ context }) => context.reason_user?.en,
    );
    const mayNot = (id: string): string => `You may not ${ONE.action.name} service ${id}.`;
    const unread = 'You may not do this.';
    expect(sentences).to.deep.equal([
      undefined,
      mayNot('b'),
      ...Array(4).fill(mayNot('a')),
      ...Array(2).fill(unread),
    ]);
  });

  it('end where their semantics say', async () => {
    const evaluations = [service('a'), service('b'), service('a')];
    const run = (evaluations_semantic: string) =>
      batch({ evaluations, options: { evaluations_semantic } });
    expect(await run('execute_all')).to.have.length(3);
    expect(await run('deny_on_first_deny')).to.have.length(2);
    expect(await run('permit_on_first_permit')).to.have.length(1);
  });

  it('have an item member in place of the whole one of the request', async () => {
    const resource = { type: 'service', id: 'a', properties: { namespace: 'other' } };
    const [first] = await batch({ resource, evaluations: [service('a'), {}] });
    expect(first).to.equal('0 true allowed');
  });

  it('are refused if they are too long, or not lists of objects', async () => {
    const ask = (body: object) => decider.ask('evaluations', { ...ONE, ...body });
    const long = await ask({ evaluations: Array(257).fill({}) });
    expect(long.text).to.include('evaluations has 257 items, at most 256 are accepted');
    expect((await ask({ evaluations: Array(256).fill({}) })).status).to.equal(200);
    for (const body of [
      { evaluations: 1 },
      { evaluations: [1] },
      { options: [] },
      { options: { evaluations_semantic: 'x' } },
      { evaluations: Array.from({ length: 17 }, (_, n) => jwt(n)) },
    ])
      expect((await ask(body)).status, JSON.stringify(body)).to.equal(400);
    for (const body of [{}, { evaluations: [] }])
      expect((await ask(body)).body).to.have.property('decision', true);
  });

  const jwt = (n: number) => ({
    subject: { type: 'jwt', id: `x${n}`, properties: { auth_method: 'm' } },
  });
});
