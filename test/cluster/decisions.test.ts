/** Decisions for other programs on three nodes: by the newest rights, no permit by fault. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TestServer } from '../login/server.js';
import { type Signer, signer } from '../login/signers.js';
import { authzen, type Reply } from '../support/authzen.js';
import { Client, send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';
import { until } from './operator.js';
import { foundIn } from './planted.js';

const RULES =
  'key_prefix "orders/" { policy = "read" }\nkey "orders/approve/17" { policy = "deny" }';
const MODES = ['', '?consistent'];

describe('decisions in a cluster', () => {
  let cluster: RealCluster;
  let nodes: readonly Client[];
  let issuer: TestServer;
  let key: Signer;
  /** A token without rights. */
  let gateway: string;
  /** What was sent as credentials, and belongs into no file. */
  const secrets: string[] = [];
  before(async () => {
    const dir = mkdtempSync(join(tmpdir(), 'conclave-decisions-'));
    const sinks = (name: string) => ({
      all: { path: join(dir, `${name}-audit.json`), scope: 'all' },
    });
    cluster = await RealCluster.open(3, {
      dir,
      settings: { log: { level: 'debug' }, limits: { jwtChecksPerAddress: 50 } },
      run: (name) => ({ preload: [], env: { CONCLAVE_AUDIT_SINKS: JSON.stringify(sinks(name)) } }),
    });
    nodes = cluster.urls.map((url) => new Client(url, cluster.token));
    issuer = await TestServer.start();
    key = await signer('ES256', 'k1');
    issuer.answers.set('/keys', { keys: [key.jwk] });
    await cluster.must('PUT /acl/policy', { Name: 'shop', Rules: RULES });
    await cluster.must('PUT /acl/role', { Name: 'clerk', Policies: [{ Name: 'shop' }] });
    const Config = { JWKSURL: `${issuer.url}/keys` };
    await cluster.must('PUT /acl/auth-method', { Name: 'staff', Type: 'jwt', Config });
    await bind();
    gateway = (await cluster.must('PUT /acl/token', {})).SecretID;
  });
  after(async () => {
    await cluster?.close();
    await issuer?.stop();
  });

  const bind = () =>
    cluster.must('PUT /acl/binding-rule', {
      AuthMethod: 'staff',
      BindType: 'role',
      BindName: 'clerk',
    });
  const jwtOf = (by: Signer, sub = 'ann'): Promise<string> => {
    const iat = Math.floor(Date.now() / 1000);
    return by.sign({ sub, iat, exp: iat + 600, jti: randomUUID() });
  };
  const question = (type: string, id: string, order = '18') => ({
    subject: { type, id, ...(type === 'jwt' && { properties: { auth_method: 'staff' } }) },
    action: { name: 'approve' },
    resource: { type: 'orders', id: order },
  });
  const ask = (at: number, body: object, query = '', headers = {}): Promise<Reply> =>
    authzen(nodes[at]!.url, `evaluation${query}`, body, { token: gateway, headers });
  const decided = async (at: number, body: object, query = ''): Promise<boolean> => {
    const { status, text, body: answer } = await ask(at, body, query);
    expect(status, text).to.equal(200);
    return answer.decision;
  };

  it('are by the new rights on every node, right after a change on another', async () => {
    const role = await cluster.must('GET /acl/role/name/clerk');
    const token = await cluster.must('PUT /acl/token', { Roles: [{ Name: 'clerk' }] });
    const asked = question('token_secret', token.SecretID);
    for (let round = 0; round < 30; round++) {
      const may = round % 2 === 1;
      const Policies = may ? [{ Name: 'shop' }] : [];
      const changed = nodes[round % 3]!;
      await changed.must(`PUT /acl/role/${role.ID}`, { Name: 'clerk', Policies });
      for (const at of [round + 1, round + 2, round])
        for (const mode of MODES)
          expect(await decided(at % 3, asked, mode), `round ${round}`).to.equal(may);
    }
  });

  it('are denials right after each kind of revocation', async () => {
    const login = async (sub: string) => {
      const body = { AuthMethod: 'staff', BearerToken: await jwtOf(key, sub) };
      return cluster.must('POST /acl/login', body, '');
    };
    const { AccessorID, SecretID: logged } = await login('bob');
    const linked = await cluster.must('PUT /acl/token', { Roles: [{ Name: 'clerk' }] });
    const deleted = await cluster.must('PUT /acl/token', { Policies: [{ Name: 'shop' }] });
    const out = await login('ann');
    const block = { AuthMethod: 'staff', Subject: 'bob', DryRun: false, BlockFor: '1h' };
    const jwt = await jwtOf(key, 'bob');
    secrets.push(jwt);
    const revocations: readonly [subject: object, revoke: () => Promise<unknown>][] = [
      [
        question('token_secret', linked.SecretID),
        () => nodes[0]!.must(`PUT /acl/token/${linked.AccessorID}`, { Roles: [] }),
      ],
      [
        question('token_secret', deleted.SecretID),
        () => nodes[1]!.must(`DELETE /acl/token/${deleted.AccessorID}`),
      ],
      [
        question('token_secret', out.SecretID),
        () => nodes[2]!.must('POST /acl/logout', undefined, out.SecretID),
      ],
      [question('token_secret', logged), () => nodes[0]!.must('POST /acl/tokens/revoke', block)],
      [
        question('jwt', await jwtOf(key, 'eve')),
        async () => {
          const [rule] = await nodes[1]!.must('GET /acl/binding-rules');
          await nodes[1]!.must(`DELETE /acl/binding-rule/${rule.ID}`);
        },
      ],
    ];
    expect(AccessorID).to.be.a('string');
    for (const [at, [asked, revoke]] of revocations.entries()) {
      for (const node of [0, 1, 2]) expect(await decided(node, asked), `${at}`).to.equal(true);
      await revoke();
      for (const node of [2, 1, 0])
        for (const mode of MODES)
          expect(await decided(node, asked, mode), `revocation ${at}`).to.equal(false);
    }
    // The issuer's word is remembered, and the block counts nevertheless.
    await bind();
    const { context } = (await ask(0, question('jwt', jwt))).body;
    expect(context.code).to.equal('blocked');
  });

  it('have ids that any node explains', async () => {
    const { SecretID } = await cluster.must('PUT /acl/token', { Roles: [{ Name: 'clerk' }] });
    const { body } = await ask(0, question('token_secret', SecretID, '17'), '', {
      'x-request-id': 'r-17',
    });
    const call = `GET /acl/decision/${body.context.decision_id}`;
    const all = await Promise.all(nodes.map((node) => node.must(call, undefined, gateway)));
    for (const one of all) expect(one).to.deep.equal(all[0]);
    expect(all[0]).to.include({ Type: 'evaluation', RequestID: 'r-17' });
    const other = (await cluster.must('PUT /acl/token', {})).SecretID;
    for (const node of nodes) expect((await node.ask(call, undefined, other)).status).to.equal(404);
  });

  it('of others are as before while thousands of JWTs are forged', async () => {
    const forger = await signer('ES256', 'k2');
    const { SecretID } = await cluster.must('PUT /acl/token', { Roles: [{ Name: 'clerk' }] });
    const before = issuer.seen.length;
    const forged = await Promise.all(Array.from({ length: 50 }, () => jwtOf(forger)));
    secrets.push(...forged.slice(0, 5));
    const agent = new Agent({ keepAlive: true, localAddress: '127.0.0.2' });
    const counts = new Map<string, number>();
    let left = 1_500;
    const flood = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const [head, payload, signature] = forged[left % forged.length]!.split('.');
        const id = `${head}.${payload}.${left}${signature!.slice(String(left).length)}`;
        const { status, text } = await send(cluster.urls[0]!, 'POST /access/v1/evaluation', {
          token: gateway,
          agent,
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(question('jwt', id)),
        });
        expect(text).not.to.include('"decision":true');
        const what = status === 200 ? JSON.parse(text).context.code : String(status);
        counts.set(what, (counts.get(what) ?? 0) + 1);
      }
    };
    const others = async (): Promise<number> => {
      let count = 0;
      let known = '';
      for (; left > 0; count++) {
        expect(await decided(0, question('token_secret', SecretID))).to.equal(true);
        expect(await decided(0, question('token_secret', SecretID, '17'))).to.equal(false);
        if (count % 10 === 0) {
          // They verify JWTs as well, but fewer.
          known = await jwtOf(key, randomUUID());
          const login = { AuthMethod: 'staff', BearerToken: known };
          const made = await nodes[0]!.ask('POST /acl/login', login, '');
          expect(made.status, made.text).to.equal(200);
        }
        expect(await decided(0, question('jwt', known))).to.equal(true);
      }
      return count;
    };
    const [rounds] = await Promise.all([others(), ...Array.from({ length: 64 }, flood)]).finally(
      () => {
        left = 0;
        agent.destroy();
      },
    );
    expect(rounds).to.be.greaterThan(0);
    expect([...counts.keys()]).to.have.members(['refused', '429']);
    // Unknown keys do not make the node ask the issuer again and again.
    expect(issuer.seen.length - before).to.be.lessThan(20);
  });

  it('are no permits while nodes die, and 503 without a leader', async () => {
    const { SecretID } = await cluster.must('PUT /acl/token', { Roles: [{ Name: 'clerk' }] });
    const permitted = question('token_secret', SecretID);
    const denied = question('token_secret', SecretID, '17');
    const seen = new Set<string>();
    let isOver = false;
    const client = async (at: number): Promise<void> => {
      while (!isOver)
        for (const [body, is] of [
          [permitted, true],
          [denied, false],
        ] as const) {
          const headers = { 'x-request-id': 'r' };
          const reply = await ask(at, body, '', headers).catch(() => undefined);
          if (reply === undefined) continue;
          const { status, text } = reply;
          seen.add(`${at} ${status}`);
          if (status === 200) expect(reply.body.decision, text).to.equal(is);
          else {
            expect(status, text).to.equal(503);
            expect(text).not.to.include('decision');
            expect(reply.headers).to.include({ 'x-request-id': 'r', 'retry-after': '1' });
          }
        }
    };
    const clients = [0, 1, 2].map(client);
    await Promise.all([0, 1, 2].map((at) => until(async () => seen.has(`${at} 200`), Boolean)));
    const peers = await cluster.must('GET /operator/raft/configuration');
    const leading = peers.Servers.find(({ Leader }: { Leader: boolean }) => Leader).Node;
    const leader = cluster.nodes.findIndex(({ name }) => name === leading);
    const [next, last] = [(leader + 1) % 3, (leader + 2) % 3];
    await cluster.nodes[leader]!.kill('SIGKILL');
    await until(() => decided(next, permitted), Boolean);
    await cluster.nodes[next]!.kill('SIGKILL');
    await until(async () => seen.has(`${last} 503`), Boolean);
    expect(await decided(last, permitted, '?stale')).to.equal(true);
    expect(await decided(last, denied, '?stale')).to.equal(false);
    isOver = true;
    await Promise.all(clients);
    for (const at of [leader, next]) {
      cluster.nodes[at]!.start();
      await cluster.nodes[at]!.ready();
    }
    expect(await decided(leader, permitted)).to.equal(true);
  });

  it('leave no credential in logs, audit logs, metrics and data', async () => {
    const jwt = await jwtOf(key);
    const unknown = [randomUUID(), randomUUID().toUpperCase(), `${randomUUID()}-${randomUUID()}`];
    secrets.push(jwt, `${jwt}x`, ...unknown);
    const bodies = [jwt, `${jwt}x`, ...unknown].flatMap((id) => [
      question('jwt', id),
      question('token_secret', id),
    ]);
    const answers: string[] = [];
    for (const at of [0, 1, 2])
      for (const body of bodies) {
        const text = JSON.stringify(body);
        const texts = [text, text.slice(0, -1), `${text}}`, text.replace('"id":', '"id":1')];
        for (const sent of [...texts, `[${text}]`, text.replace('"type"', '"kind"')])
          for (const path of ['evaluation', 'evaluations', 'search/resource', 'search/action']) {
            const headers = { accept: 'application/problem+json' };
            const { url } = nodes[at]!;
            const reply = await authzen(url, `${path}?reasons=all`, sent, {
              token: gateway,
              headers,
            });
            answers.push(reply.text, JSON.stringify(reply.headers));
            const { decision_id } = reply.body?.context ?? {};
            if (decision_id === undefined) continue;
            answers.push((await nodes[at]!.ask(`GET /acl/decision/${decision_id}`)).text);
          }
      }
    for (const path of ['agent/metrics?format=prometheus', 'operator/audit/tail?limit=1000'])
      for (const node of nodes) answers.push((await node.ask(`GET /${path}`)).text);
    const all = answers.join('\n');
    for (const secret of secrets) expect(all.includes(secret), secret.slice(0, 20)).to.equal(false);
    expect(all).to.include('conclave_decisions_total').and.include('unknown_subject');
    expect(foundIn(cluster.dir, secrets)).to.deep.equal([]);
  });
});

describe('a node that decides for no other program', () => {
  it('has none of the paths', async () => {
    const cluster = await RealCluster.open(1, { settings: { authzen: { enabled: false } } });
    try {
      const { url, token } = cluster;
      for (const call of [
        'GET /.well-known/authzen-configuration',
        ...['evaluation', 'evaluations'].map((path) => `POST /access/v1/${path}`),
        ...['subject', 'resource', 'action'].map((what) => `POST /access/v1/search/${what}`),
      ])
        expect((await send(url, call, { token, body: '{}' })).status, call).to.equal(404);
    } finally {
      await cluster.close();
    }
  });
});
