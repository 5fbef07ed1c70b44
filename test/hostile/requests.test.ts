import { expect } from 'chai';
import fc from 'fast-check';
import { endOf } from '../../src/dev/local.js';
import { RealCluster } from '../support/real-cluster.js';
import { HostileClient, judge } from './client.js';
import { ENDPOINTS, type Endpoint, PATCHED, SET_OBJECTS, WRITES } from './endpoints.js';
import { type Hostile, hostileTo } from './mutate.js';

const RUNS = 25;
const RUNS_OF_CONFIG = 200;
const LISTS = [
  ...['policies', 'roles', 'tokens', 'auth-methods', 'binding-rules'].map(
    (name) => `/v1/acl/${name}?ns=*`,
  ),
  ...['/v1/namespaces', '/v1/config/', '/v1/operator/autopilot/configuration'],
];

describe('hostile requests to a node', () => {
  let cluster: RealCluster;
  let client: HostileClient;
  let patched: ReadonlyMap<string, string>;

  before(async () => {
    // Thousands of requests are refused here, and none may be delayed.
    const settings = { limits: { refusalsPerAddress: 0 } };
    cluster = await RealCluster.open(1, { settings });
    client = new HostileClient(cluster.urls[0] as string, cluster.token);
    patched = await makePatched(client);
  });
  after(async () => {
    client.close();
    await cluster.close();
  });

  /** A patch is judged with what it changes, so that must exist. */
  const targetOf = ({ method, path }: Endpoint): string =>
    method === 'PATCH' ? patched.get(path)! : path.replace('*', 'builtin/service');

  /** Everything that clients can see of the state. */
  async function stateNow(): Promise<string> {
    const answers = await Promise.all(LISTS.map((list) => client.ask('GET', list)));
    for (const { status, text } of answers) expect(status, text).to.equal(200);
    return answers.map(({ text }) => text).join('\n');
  }

  /** Sends many requests, checks each response, then repeats the refused ones: no state changes. */
  async function assault(endpoint: Endpoint, numRuns: number): Promise<void> {
    const refused: Hostile[] = [];
    const property = fc.asyncProperty(hostileTo(endpoint), async (hostile) => {
      const reply = await client.send(hostile);
      judge(hostile, reply);
      if (reply.status >= 400) refused.push(hostile);
    });
    await fc.assert(property, { numRuns, endOnFailure: false });
    if (endpoint.method === 'GET') return;
    const before = await stateNow();
    const replies = await Promise.all(refused.map((hostile) => client.send(hostile)));
    // A request that was refused for a name that was then taken may succeed now.
    if (replies.every(({ status }) => status >= 400)) expect(await stateNow()).to.equal(before);
  }

  for (const endpoint of ENDPOINTS) {
    const { method, path } = endpoint;
    it(`${method} ${path}`, () => assault(endpoint, path === '/v1/config' ? RUNS_OF_CONFIG : RUNS));
  }

  it('a value of the wrong type is refused by field name, in every body', async () => {
    for (const endpoint of WRITES) {
      const { method, path, bodies } = endpoint;
      const body = bodies[0] as Record<string, unknown>;
      if (Array.isArray(body)) continue;
      const target = targetOf(endpoint);
      for (const field of Object.keys(body)) {
        const of = body[field];
        const wrong = typeof of === 'object' && of !== null ? 'text' : { a: 1 };
        const sent = { ...body, [field]: wrong };
        const accept = { accept: 'application/problem+json' };
        const { status, text } = await client.ask(method, target, sent, accept);
        const where = `${method} ${path} ${field}: ${text}`;
        expect(status, where).to.equal(400);
        expect(JSON.parse(text).detail, where).to.include(field);
        expect(JSON.parse(text).pointer, where).to.match(new RegExp(`^/${field}`));
      }
    }
  });

  it('an unknown field is refused by name, in every object of every body', async () => {
    for (const endpoint of WRITES) {
      const { method, path, bodies } = endpoint;
      const target = targetOf(endpoint);
      for (const body of bodies.slice(0, 40)) {
        for (const sent of withUnknownField(body)) {
          // Claims have any names.
          if (/"Claims":\{[^}]*"unexpected"/.test(JSON.stringify(sent))) continue;
          const { status, text } = await client.ask(method, target, sent);
          expect(status, `${method} ${path} ${JSON.stringify(sent)}: ${text}`).to.equal(400);
          expect(text, `${method} ${path} ${JSON.stringify(sent)}`).to.include('unexpected');
        }
      }
    }
  });

  it('an unknown field of an object of a set is refused by name', async () => {
    for (const { Type, Object: valid, ...rest } of SET_OBJECTS) {
      const Objects = [{ ...rest, Type, Object: { ...valid, unexpected: 1 } }];
      const applied = await client.ask('POST', '/v1/apply', { Objects });
      expect(applied.status, `${Type} ${applied.text}`).to.equal(400);
      expect(JSON.parse(applied.text).detail, Type).to.include('unexpected');
      expect(JSON.parse(applied.text).pointer, Type).to.equal('/Objects/0/Object/unexpected');
      const planned = JSON.parse((await client.ask('POST', '/v1/plan', { Objects })).text);
      expect(planned, Type).to.include({ Valid: false });
      expect(planned.Problems[0], Type).to.include({ Pointer: '/Objects/0/Object/unexpected' });
    }
  });

  it('the node still serves, and its log reports no error', async () => {
    const { status } = await client.ask('GET', '/v1/health/ready');
    expect(status).to.equal(200);
    const log = endOf(cluster.nodes[0]!.logFile, 10_000);
    expect(log.split('\n').filter((line) => line.includes('"level":"error"'))).to.deep.equal([]);
  });
});

/** Creates an object for each endpoint that patches one. Returns the paths of the objects. */
async function makePatched(client: HostileClient): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  for (const [path, body] of PATCHED) {
    const all = path.startsWith('/v1/config') ? '/v1/config' : path.slice(0, -'/*'.length);
    const { status, text } = await client.ask('PUT', all, body);
    expect(status, text).to.equal(200);
    const { AccessorID, ID = AccessorID } = JSON.parse(text) as Record<string, string>;
    const { Kind, Name } = body as Record<string, string>;
    const own = Kind === undefined ? (ID ?? Name) : `${Kind}/${Name}`;
    paths.set(path, `${all}/${own}`);
  }
  return paths;
}

/** Free-form maps, in which any name is valid, and objects of sets, which are judged later. */
const FREE = new Set([
  ...['Meta', 'meta', 'Opaque', 'Config', 'config', 'Arguments', 'arguments', 'BindVars'],
  ...['ClaimMappings', 'ListClaimMappings', 'Expected', 'Object'],
]);

/** The body repeatedly, each time with an extra member in one of its objects. */
function* withUnknownField(body: unknown): Generator<unknown> {
  if (typeof body !== 'object' || body === null) return;
  if (!Array.isArray(body)) yield { ...body, unexpected: 1 };
  for (const [key, member] of Object.entries(body)) {
    if (FREE.has(key)) continue;
    for (const changed of withUnknownField(member)) {
      if (Array.isArray(body)) yield body.map((item, at) => (String(at) === key ? changed : item));
      else yield { ...body, [key]: changed };
    }
  }
}
