/**
 * `npm run test:authzen`: the requests of the AuthZEN working group's certification scenario for
 * the levels Basic Core, Batch Core, Search Core and Discovery, on three nodes. Each title begins
 * with the section of the scenario.
 */
import { expect } from 'chai';
import { type Signer, signer } from '../login/signers.js';
import { authzen, type Body, type Reply, type Sent } from '../support/authzen.js';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';

const ALICE = { type: 'user', id: 'alice' };
const BOB = { type: 'user', id: 'bob' };
const READ = { name: 'read' };
const WRITE = { name: 'write' };
const RECORD = { type: 'record', id: 'record-1' };
const OTHER = { type: 'record', id: 'record-2' };
const PERMITTED = { subject: ALICE, action: READ, resource: RECORD };
const DENIED = { subject: BOB, action: WRITE, resource: RECORD };
const USERS = { subject: { type: 'user' }, action: READ, resource: RECORD };
const PDP = 'https://pdp.example.com';

const READERS = 'key "record/read/record-1" { policy = "read" }';
const WRITERS = 'key "record/write/record-1" { policy = "read" }';

describe('the certification scenario of AuthZEN', () => {
  let cluster: RealCluster;
  let key: Signer;
  /** A token that reads ACLs, as the policy enforcement point has. */
  let token: string;
  before(async () => {
    cluster = await RealCluster.open(3, { settings: { authzen: { url: PDP } } });
    key = await signer('EdDSA');
    const must = (call: string, body: object) => cluster.must(call, body);
    for (const [Name, Rules] of [
      ['readers', READERS],
      ['writers', WRITERS],
      ['pep', 'acl = "read"'],
    ] as const)
      await must('PUT /acl/policy', { Name, Rules });
    const Config = { JWTValidationPubKeys: [key.pem], ClaimMappings: { sub: 'sub' } };
    await must('PUT /acl/auth-method', { Name: 'staff', Type: 'jwt', Config });
    const rule = { AuthMethod: 'staff', BindType: 'policy' };
    await must('PUT /acl/binding-rule', { ...rule, BindName: 'readers' });
    const Selector = 'value.sub == alice';
    await must('PUT /acl/binding-rule', { ...rule, BindName: 'writers', Selector });
    const user = { AuthMethod: 'staff', Namespace: 'default', From: 'tokens' };
    await must('PUT /operator/acl/configuration', { SubjectTypes: { user } });
    for (const { id } of [ALICE, BOB]) await login(id);
    token = (await must('PUT /acl/token', { Policies: [{ Name: 'pep' }] })).SecretID;
  });
  after(() => cluster?.close());

  const login = async (sub: string): Promise<void> => {
    const iat = Math.floor(Date.now() / 1000);
    const BearerToken = await key.sign({ sub, iat, exp: iat + 600 });
    await cluster.must('POST /acl/login', { AuthMethod: 'staff', BearerToken }, '');
  };

  /** The answers of all nodes, which must be the same but for what tells them apart. */
  async function all(path: string, body: Body, sent: Sent = {}): Promise<Reply> {
    const replies: Reply[] = [];
    for (const url of cluster.urls)
      replies.push(await authzen(url, path, body, { token, ...sent }));
    const [first, ...others] = replies;
    const lasting = ({ status, text }: Reply): [number, string] => [
      status,
      text.replace(/"(decision_id|next_token)":"[^"]*"/g, '"$1":""'),
    ];
    for (const other of others) expect(lasting(other)).to.deep.equal(lasting(first!));
    return first!;
  }
  const ok = async (path: string, body: Body, sent?: Sent): Promise<Reply> => {
    const reply = await all(path, body, sent);
    expect(reply.status, reply.text).to.equal(200);
    expect(String(reply.headers['content-type'])).to.match(/^application\/json\b/);
    return reply;
  };
  const refused = async (path: string, body: Body, sent?: Sent): Promise<void> => {
    expect((await all(path, body, sent)).status, JSON.stringify(body)).to.equal(400);
  };
  const decided = async (body: Body, sent?: Sent): Promise<boolean> => {
    const { decision, context } = (await ok('evaluation', body, sent)).body;
    expect(decision).to.be.a('boolean');
    expect(context).to.be.an('object');
    return decision;
  };
  const batch = async (body: object): Promise<readonly boolean[]> => {
    const { evaluations, decision } = (await ok('evaluations', body)).body;
    expect(decision).to.equal(undefined);
    return evaluations.map((one: { decision: boolean }) => one.decision);
  };
  const found = async (what: string, body: object): Promise<readonly unknown[]> =>
    (await ok(`search/${what}`, body)).body.results.map(
      ({ type, id, name }: Record<string, string>) => name ?? `${type} ${id}`,
    );
  const without = (body: object, name: string): object =>
    Object.fromEntries(Object.entries(body).filter(([each]) => each !== name));

  describe('Basic Core', () => {
    it('2.2: a fixture request is permitted, another one denied', async () => {
      expect(await decided(PERMITTED)).to.equal(true);
      expect(await decided(DENIED)).to.equal(false);
      expect(await decided({ ...PERMITTED, action: WRITE })).to.equal(true);
      expect(await decided({ ...DENIED, action: READ })).to.equal(true);
    });

    it('2.2: context, properties and unknown members change nothing', async () => {
      for (const [body, is] of [
        [PERMITTED, true],
        [DENIED, false],
      ] as const)
        for (const more of [
          { context: { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' } },
          { foo: 'bar', futureField: { nested: true } },
          {
            subject: { ...body.subject, properties: { department: 'Sales', role: 'manager' } },
            action: { ...body.action, properties: { method: 'GET' } },
            resource: { ...RECORD, properties: { status: 'active', owner: 'bob' } },
          },
        ])
          expect(await decided({ ...body, ...more })).to.equal(is);
    });

    it('2.4: what is missing or has a wrong type is refused', async () => {
      for (const name of ['subject', 'action', 'resource'])
        await refused('evaluation', without(PERMITTED, name));
      for (const [name, member] of [
        ['subject', 'type'],
        ['subject', 'id'],
        ['action', 'name'],
        ['resource', 'type'],
        ['resource', 'id'],
      ] as const)
        await refused('evaluation', { ...PERMITTED, [name]: without(PERMITTED[name], member) });
      await refused('evaluation', { ...PERMITTED, subject: 'alice' });
      await refused('evaluation', { ...PERMITTED, action: { name: 123 } });
    });

    it('2.4: what is no JSON, or is not said to be, is refused', async () => {
      const text = JSON.stringify(PERMITTED);
      await refused('evaluation', text, { headers: { 'content-type': 'text/plain' } });
      for (const body of ['', text.slice(0, -1), '{"subject": alice}'])
        await refused('evaluation', body);
    });

    it('2.5: X-Request-ID comes back, if it was sent', async () => {
      const headers = { 'x-request-id': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' };
      expect((await ok('evaluation', PERMITTED, { headers })).headers).to.include(headers);
      await ok('evaluation', PERMITTED);
    });

    it('2.6: the same request gets the same decision', async () => {
      for (let count = 0; count < 5; count++) {
        expect(await decided(PERMITTED)).to.equal(true);
        expect(await decided(DENIED)).to.equal(false);
      }
    });
  });

  describe('Batch Core', () => {
    it('3.2: each item is decided, in order', async () => {
      const resources = [{ resource: RECORD }, { resource: OTHER }];
      const actions = [{ action: READ }, { action: WRITE }];
      const asked = { subject: ALICE, action: READ, evaluations: resources };
      expect(await batch(asked)).to.deep.equal([true, false]);
      const ofBob = { subject: BOB, resource: RECORD, evaluations: actions };
      expect(await batch(ofBob)).to.deep.equal([true, false]);
      expect(await batch({ evaluations: [PERMITTED, DENIED] })).to.deep.equal([true, false]);
      const context = { time: '2025-06-27T18:03-07:00' };
      const own = { resource: OTHER, context: { ...context, source: 'batch-override' } };
      const inherited = { ...asked, context, evaluations: [{ resource: RECORD }, own] };
      expect(await batch(inherited)).to.deep.equal([true, false]);
    });

    it('3.4: an item that is wrong is denied, and the others are decided', async () => {
      const evaluations = [{ resource: RECORD }, {}, { resource: RECORD, action: {} }];
      const asked = { subject: ALICE, action: READ, evaluations };
      expect(await batch(asked)).to.deep.equal([true, false, false]);
      await refused('evaluations', JSON.stringify(asked).slice(1));
    });

    it('3.4: without items it is a single decision', async () => {
      for (const body of [PERMITTED, { ...PERMITTED, evaluations: [] }])
        expect((await ok('evaluations', body)).body.decision).to.equal(true);
    });
  });

  describe('Search Core', () => {
    it('4.2: finds the subjects', async () => {
      for (const more of [{}, { context: { time: 'now' } }]) {
        const users = await found('subject', { ...USERS, ...more });
        expect(users).to.deep.equal(['user alice', 'user bob']);
      }
      expect(await found('subject', { ...USERS, action: WRITE })).to.deep.equal(['user alice']);
    });

    it('4.3: finds the resources', async () => {
      const body = { subject: ALICE, action: READ, resource: { type: 'record' } };
      expect(await found('resource', body)).to.deep.equal(['record record-1']);
      expect(await found('resource', { ...body, subject: BOB, action: WRITE })).to.deep.equal([]);
    });

    it('4.4: finds the actions', async () => {
      const body = { subject: ALICE, resource: RECORD };
      for (const more of [{}, { context: { time: 'now' } }])
        expect(await found('action', { ...body, ...more })).to.deep.equal(['read', 'write']);
      expect(await found('action', { ...body, subject: BOB })).to.deep.equal(['read']);
    });

    it('4.5: answers in pages, which go on at another node', async () => {
      const first = (await ok('search/subject', { ...USERS, page: { limit: 1 } })).body;
      expect(first.results).to.have.length(1);
      expect(first.page).to.include({ count: 1, total: 2 });
      expect(first.page.next_token).to.be.a('string').and.not.equal('');
      const second = { ...USERS, page: { token: first.page.next_token } };
      const { page, results } = (await ok('search/subject', second)).body;
      expect([page.next_token, results.length]).to.deep.equal(['', 1]);
      expect(results[0].id).to.equal('bob');
    });

    it('4.6: finds nothing of what is not known', async () => {
      const nobody = { type: 'user', id: 'nonexistent-user' };
      expect(await found('action', { subject: nobody, resource: RECORD })).to.deep.equal([]);
      expect(await found('subject', { ...USERS, subject: { type: 'spaceship' } })).to.deep.equal(
        [],
      );
      const missing = { ...RECORD, id: 'nonexistent-record' };
      expect(await found('subject', { ...USERS, resource: missing })).to.deep.equal([]);
    });

    it('4.7: what is missing is refused', async () => {
      await refused('search/subject', without(USERS, 'action'));
      await refused('search/resource', { action: READ, resource: { type: 'record' } });
      await refused('search/action', { subject: ALICE });
      await refused('search/subject', { ...USERS, resource: { type: 'record' } });
      await refused('search/resource', { ...USERS, resource: { type: 'record' } });
    });
  });

  it('5: unknown members are ignored everywhere, and X-Request-ID is sent back', async () => {
    const headers = { 'x-request-id': 'r' };
    for (const [path, body] of [
      ['evaluations', { evaluations: [PERMITTED] }],
      ['search/subject', USERS],
      ['search/resource', PERMITTED],
      ['search/action', PERMITTED],
    ] as const) {
      const reply = await ok(path, { ...body, unknown: { member: 1 } }, { headers });
      expect(reply.headers).to.include(headers);
    }
  });

  it('6, Discovery: every node says where decisions are made', async () => {
    for (const url of cluster.urls) {
      const { status, headers, text } = await send(url, 'GET /.well-known/authzen-configuration');
      expect([status, headers['cache-control']]).to.deep.equal([200, 'public, max-age=300']);
      expect(String(headers['content-type'])).to.match(/^application\/json\b/);
      const below = `${PDP}/access/v1`;
      expect(JSON.parse(text)).to.deep.equal({
        policy_decision_point: PDP,
        access_evaluation_endpoint: `${below}/evaluation`,
        access_evaluations_endpoint: `${below}/evaluations`,
        search_subject_endpoint: `${below}/search/subject`,
        search_resource_endpoint: `${below}/search/resource`,
        search_action_endpoint: `${below}/search/action`,
      });
    }
  });
});
