/** The audit log of real nodes: what it says, and what a crash or a full disk makes of it. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { verify } from '../../src/audit/verify.js';
import { secretKeyOf } from '../../src/state/tokens.js';
import { signer } from '../login/signers.js';
import { RealCluster } from '../support/real-cluster.js';

const SECRET = '22222222-2222-3333-4444-555555555555';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

interface Named {
  readonly type: string;
  readonly name: string;
}
interface Payload {
  readonly id: string;
  readonly auth: Readonly<Record<string, unknown>>;
  readonly request: Readonly<Record<string, string>>;
  readonly reason_code?: string;
  readonly index: number;
  readonly granted_by: readonly {
    readonly right: string;
    readonly reason: string;
    readonly policy: Named;
    readonly via: readonly Named[];
  }[];
  readonly objects: readonly (Named & {
    readonly before: number;
    readonly after: number;
    readonly changes?: readonly { readonly path: string; readonly old?: unknown }[];
  })[];
}
interface Line {
  readonly payload: Payload;
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
}
interface Server {
  readonly ID: string;
  readonly Node: string;
  readonly Leader: boolean;
}
const linesOf = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('audit: what a node records', () => {
  let node: RealCluster;
  const folder = mkdtempSync(join(tmpdir(), 'conclave-audit-'));
  const file = (name: string): string => join(folder, name);
  before(async () => {
    node = await RealCluster.open(1, {
      settings: {
        audit: {
          sinks: {
            writes: { path: file('writes.json') },
            // its records are made later than those that others show as well
            late: { path: file('late.json'), granted: false },
            all: { path: file('all.json'), scope: 'all', deliveryGuarantee: 'required' },
          },
        },
      },
    });
  });
  after(() => node.close());
  const records = (name = 'all.json'): Payload[] =>
    linesOf(file(name)).map(({ payload }) => payload);
  const last = (): Payload => records().at(-1)!;
  /** Resolves when all sinks have what was done so far. */
  let marks = 0;
  const settled = async (): Promise<void> => {
    marks += 1;
    const Name = `mark-${marks}`;
    await node.must('PUT /acl/policy', { Name });
    for (const sink of ['writes.json', 'late.json'])
      while (records(sink).at(-1)?.objects[0]?.name !== Name) await pause(10);
  };

  it('says who did what, by which rule, why, and what changed', async () => {
    const rules = 'acl = "read"\noperator = "read"\n\nservice_prefix "a" { policy = "write" }';
    await node.ask('PUT /acl/policy', { Name: 'ops', Rules: rules });
    await node.ask('PUT /acl/role', { Name: 'admins', Policies: [{ Name: 'ops' }] });
    const token = { Description: 'ci', SecretID: SECRET, Roles: [{ Name: 'admins' }] };
    const made = await node.ask('PUT /acl/token', token);
    const headers = {
      'x-consul-reason': 'PAY-12',
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
      'user-agent': 'test/1',
    };
    const entry = { Kind: 'service-defaults', Name: 'api', Protocol: 'http' };
    await node.ask('PUT /config', entry, SECRET);
    const put = { ...entry, Protocol: 'grpc' };
    expect((await node.ask('PUT /config', put, SECRET, { headers })).status).to.equal(200);
    const record = last();
    expect(record).to.deep.include({
      type: 'HTTPEvent',
      response: { status: '200' },
      stage: 'OperationComplete',
      node: 'n1',
      namespace: 'default',
      reason: 'PAY-12',
      decision: '',
      trace_id: TRACE,
    });
    const { AccessorID, CreateTime } = made.body;
    const auth = { accessor_id: AccessorID, description: 'ci', create_time: CreateTime };
    expect(record.auth).to.deep.equal(auth);
    expect(record.request).to.deep.include({ operation: 'PUT', endpoint: '/v1/config' });
    expect(record.request.user_agent).to.equal('test/1');
    const granted = record.granted_by[0]!;
    expect(granted).to.deep.include({
      right: 'service:write',
      segment: 'api',
      namespace: 'default',
      reason: 'rule',
      rule: 'service_prefix "a"',
      level: 'write',
      line: 4,
    });
    expect(granted.policy).to.include({ type: 'policy', name: 'ops' });
    expect(granted.via.map(({ type, name }) => `${type} ${name}`)).to.deep.equal(['role admins']);
    const changes = [{ type: 'Edited', path: '/Protocol', old: 'http', new: 'grpc' }];
    const object = record.objects[0]!;
    expect(object).to.deep.include({ id: 'service-defaults/api', action: 'update', changes });
    expect([object.before, object.after]).to.deep.equal([record.index - 1, record.index]);
  });

  it('says which tokens an import made, and none of their secrets', async () => {
    const AccessorID = '8a2d0000-1111-4222-8333-000000000001';
    const SecretID = '5ec7e701-1111-4222-8333-000000000001';
    const Tokens = [{ AccessorID, SecretID, Description: 'moved' }];
    await node.must('POST /acl/tokens/import', { Source: 'dc1', Tokens });
    const record = last();
    expect(record.objects[0]!.name).to.equal('moved');
    expect(JSON.stringify(record.granted_by)).to.include('"operator:write"');
    await settled();
    for (const name of ['writes.json', 'late.json', 'all.json'])
      expect(readFileSync(file(name), 'utf8')).to.not.include(SecretID);
  });

  it('says what an undo and a revocation changed, too', async () => {
    await node.must('PUT /acl/policy', { Name: 'undone' });
    const { index: made } = last();
    await node.must('POST /undo', { Index: made, Reason: 'not this one' });
    const undone = last();
    expect([undone.index, undone.objects[0]?.name]).to.deep.equal([made + 1, 'undone']);
    expect(undone.granted_by[0]?.policy.name).to.equal('global-management');
    const Config = { JWTValidationPubKeys: [(await signer('EdDSA')).pem] };
    await node.must('PUT /acl/auth-method', { Name: 'm', Type: 'jwt', Config });
    const block = { AuthMethod: 'm', Subject: 'a', BlockFor: 'forever' };
    await node.must('POST /acl/tokens/revoke', block);
    expect(last().index).to.equal(0);
    const revoked = await node.must('POST /acl/tokens/revoke', { ...block, DryRun: false });
    const { index, objects, granted_by: grants } = last();
    expect(index).to.equal(revoked.Index);
    expect(objects).to.deep.equal([
      {
        type: 'login-tokens',
        id: 'default/m',
        name: 'a',
        namespace: 'default',
        action: 'revoke',
        before: 0,
        after: index,
        count: 0,
      },
    ]);
    expect(grants[0]?.policy.name).to.equal('global-management');
  });

  it('records what was refused, with its decision, and shows no secret', async () => {
    const refused = await node.ask('PUT /acl/role', { Name: 'x' }, SECRET);
    expect(last()).to.deep.include({ response: { status: '403' }, decision: refused.decision });
    expect(last().granted_by).to.deep.equal([]);
    const stranger = '99999999-2222-3333-4444-555555555555';
    await node.ask('GET /acl/tokens', undefined, stranger);
    expect(last().auth).to.deep.equal({ accessor_id: '', description: 'unknown token' });
    await node.ask(`GET /acl/tokens?%74oken=${SECRET}&filter=`, undefined, '');
    expect(last().request.endpoint).to.equal('/v1/acl/tokens?%74oken=<hidden>&filter=');
    await node.ask('DELETE /config/service-defaults/a%20b?ns=default&cas=x');
    expect(last().request.endpoint).to.equal('/v1/config/service-defaults/a%20b?ns=default&cas=x');
    await node.ask('POST /acl/login', { AuthMethod: 'none', BearerToken: 'bearer-x' }, '');
    expect(last().auth.auth_method).to.equal('none');
    expect(last().reason_code).to.equal('unknown_method');
    const text = readFileSync(file('all.json'), 'utf8') + readFileSync(file('writes.json'), 'utf8');
    const secrets = [SECRET, stranger, 'bearer-x', node.token];
    for (const secret of [...secrets, ...secrets.map(secretKeyOf)])
      expect(text).not.to.include(secret);
  });

  it('says by which rules a read may show secrets', async () => {
    const rights = (): string[] => {
      const { granted_by: granted } = last();
      return granted.map(({ right, reason, policy }) => `${right} ${reason} ${policy.name}`);
    };
    const [read, write] = ['acl:read', 'acl:write'].map((each) => `${each} rule global-management`);
    const { AccessorID } = await node.must('PUT /acl/token', { Description: 'shown' });
    for (const path of [`token/${AccessorID}`, 'tokens', 'tokens?limit=2&sort=name']) {
      await node.must(`GET /acl/${path}`);
      expect(rights(), path).to.deep.equal([read, write]);
    }
    await node.ask('GET /snapshot');
    expect(rights()).to.deep.equal([write]);
    await node.must('GET /config/');
    expect(rights()).to.not.include(read);
    await node.must('GET /acl/token/self');
    expect(rights()).to.deep.equal([]);
    await node.must('GET /acl/roles');
    expect(rights()).to.deep.equal([]);
  });

  it('keeps to the scope of each sink', async () => {
    await settled();
    const before = records('writes.json').length;
    await node.ask('GET /config/service-defaults/api');
    expect(last().request.endpoint).to.equal('/v1/config/service-defaults/api');
    await node.ask('GET /acl/token/self', undefined, SECRET);
    await node.ask('POST /internal/acl/authorize', [{ Resource: 'acl', Access: 'read' }]);
    // entries may have private keys
    const withKeys = ['inline-certificate/none', 'inline-certificate', ''];
    for (const path of withKeys) await node.ask(`GET /config/${path}`);
    await node.ask('PUT /acl/policy', { Name: 'one-more' });
    while (records('writes.json').at(-1)?.objects[0]?.name !== 'one-more') await pause(10);
    const added = records('writes.json').slice(before);
    expect(added.map(({ request }) => request.endpoint)).to.deep.equal([
      '/v1/acl/token/self',
      '/v1/config/inline-certificate',
      '/v1/config/',
      '/v1/acl/policy',
    ]);
  });

  it('says what each of many changes of one object was, however fast they follow', async () => {
    const entry = { Kind: 'service-defaults', Name: 'fast' };
    for (let n = 0; n < 30; n += 1)
      await node.must('PUT /config', { ...entry, ExternalSNI: `n${n}` });
    const changes = (): { old?: unknown; new?: unknown }[] =>
      records('late.json').flatMap(({ objects }) =>
        objects.flatMap(({ name, changes = [] }) =>
          name === 'fast' ? changes.filter(({ path }) => path === '/ExternalSNI') : [],
        ),
      );
    while (changes().length < 30) await pause(10);
    expect(changes().map((change) => `${change.old} ${change.new}`)).to.deep.equal(
      Array.from({ length: 30 }, (_, n) => `${n === 0 ? undefined : `n${n - 1}`} n${n}`),
    );
  });

  it('has no member that docs/audit.md does not list', async () => {
    const listed = new Set(
      [...readFileSync('docs/audit.md', 'utf8').matchAll(/`([a-z_.[\]]+)`/g)].map(
        ([, name]) => name,
      ),
    );
    const found = new Set<string>();
    const walk = (value: unknown, path: string): void => {
      if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`);
      else if (typeof value !== 'object' || value === null) found.add(path);
      // what a change shows has any members
      else if (!/\.(?:old|new)(?:\[\])*$/.test(path))
        for (const [name, member] of Object.entries(value))
          walk(member, path === '' ? name : `${path}.${name}`);
    };
    for (const name of ['writes.json', 'all.json'])
      for (const line of linesOf(file(name))) walk(line, '');
    expect(found.size).to.be.greaterThan(40);
    expect([...found].filter((path) => !listed.has(path.replace(/\[\]$/, '')))).to.deep.equal([]);
  });

  it('shows its newest records and its sinks', async () => {
    await settled();
    const ids = records('writes.json').map(({ id }) => id);
    const tail = await node.ask('GET /operator/audit/tail?limit=3');
    expect(tail.body.Records.map(({ payload }: Line) => payload.id)).to.deep.equal(
      ids.slice(-3).reverse(),
    );
    const older = await node.ask(`GET /operator/audit/tail?limit=2&before=${ids.at(-3)}`);
    expect(older.body.Records.map(({ payload }: Line) => payload.id)).to.deep.equal(
      ids.slice(-5, -3).reverse(),
    );
    expect(older.body).to.include({ Node: 'n1', More: true });
    const [newest] = tail.body.Records;
    const { seq: _, prev: __, hash: ___, ...line } = linesOf(file('writes.json')).at(-1)!;
    expect(newest).to.deep.equal(line);
    const { body } = await node.ask('GET /operator/audit');
    const { seq, hash } = linesOf(file('writes.json')).at(-1)!;
    expect(body.Sinks[0]).to.include({ Name: 'writes', Seq: seq, Hash: hash, Failing: false });
    expect((await node.ask('GET /operator/audit/tail?before=x')).status).to.equal(404);
    const none = await node.ask('GET /operator/audit/tail?limit=0');
    const why = 'Invalid parameter "limit": "0" should be from 1 to 1000';
    expect([none.status, none.body.detail]).to.deep.equal([400, why]);
    expect((await node.ask('GET /operator/audit/tail?from=x')).status).to.equal(400);
    expect((await node.ask('GET /operator/audit/tail', undefined, '')).status).to.equal(403);
  });
});

describe('audit: a required record', () => {
  it('is in the file for every answer, whenever the node is killed', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'conclave-audit-')), 'a.json');
    const settings = {
      audit: { sinks: { main: { path, deliveryGuarantee: 'required' } } },
    };
    const node = await RealCluster.open(1, { settings });
    try {
      const [process] = node.nodes;
      const answered = new Set<string>();
      for (let round = 0; round < 3; round += 1) {
        let isOver = false;
        const writer = async (nth: number): Promise<void> => {
          for (let n = 0; !isOver; n += 1) {
            const Name = `r${round}-${nth}-${n}`;
            const { status } = await node
              .ask('PUT /acl/role', { Name })
              .catch(() => ({ status: 0 }));
            if (status === 200) answered.add(Name);
            if (status === 0) return;
          }
        };
        const writers = Array.from({ length: 8 }, (_, nth) => writer(nth));
        const goal = answered.size + 60 + 37 * round;
        while (answered.size < goal) await pause(1);
        await process!.kill('SIGKILL');
        isOver = true;
        await Promise.all(writers);
        process!.start();
        await process!.ready();
      }
      expect(await verify([path])).to.include({ ok: true });
      const recorded = new Set(
        linesOf(path).flatMap(({ payload }) => payload.objects.map(({ name }) => name)),
      );
      expect([...answered].filter((name) => !recorded.has(name))).to.deep.equal([]);
    } finally {
      await node.close();
    }
  });

  it('that a full disk refuses stops writes, and hands leadership over', async () => {
    const cluster = await RealCluster.open(3);
    try {
      const [, second] = cluster.nodes;
      await second!.kill('SIGTERM');
      const config = join(cluster.dir, 'n2.json');
      const sinks = { main: { path: '/dev/full', deliveryGuarantee: 'required' } };
      writeFileSync(
        config,
        JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), audit: { sinks } }),
      );
      second!.start();
      await second!.ready();
      const at = (path: string): string => `${second!.url}${path}`;
      const leader = async (): Promise<string> => {
        const { body } = await cluster.ask('GET /operator/raft/configuration');
        return body.Servers.find(({ Leader }: Server) => Leader)?.Node ?? '';
      };
      const { body } = await cluster.ask('GET /operator/raft/configuration');
      const { ID } = body.Servers.find(({ Node }: Server) => Node === 'n2');
      while ((await leader()) !== 'n2') {
        await cluster.ask(`POST /operator/raft/transfer-leader?id=${ID}`);
        await pause(50);
      }
      const headers = { 'x-service-token': cluster.token, accept: 'application/problem+json' };
      const put = (Name: string): Promise<Response> =>
        fetch(at('/v1/acl/role'), { method: 'PUT', headers, body: JSON.stringify({ Name }) });
      const first = await put('first');
      const codeOf = async (answer: Response): Promise<string> =>
        ((await answer.json()) as { code: string }).code;
      expect([first.status, await codeOf(first)]).to.deep.equal([504, 'outcome_unknown']);
      const refused = await put('second');
      expect([refused.status, await codeOf(refused)]).to.deep.equal([503, 'audit_unavailable']);
      expect(refused.headers.get('retry-after')).to.equal('1');
      while ((await leader()) === 'n2') await pause(50);
      const names = (await cluster.ask('GET /acl/roles')).body.map(
        ({ Name }: { Name: string }) => Name,
      );
      expect(names).to.deep.equal(['first']);
      const ready = await fetch(at('/v1/health/ready'));
      expect(ready.status).to.equal(503);
      expect(await ready.text()).to.include('Not ready: the audit sink "main" cannot be written');
      // what is not in its scope goes on
      expect((await fetch(at('/v1/acl/roles'), { headers })).status).to.equal(200);
      expect((await cluster.ask('PUT /acl/role', { Name: 'third' })).status).to.equal(200);
    } finally {
      await cluster.close();
    }
  });
});
