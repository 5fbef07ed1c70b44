/** Tokens that come from elsewhere with their secrets, and the owners of objects. */
import { expect } from 'chai';
import { historyRoutes } from '../../src/http/routes/history.js';
import { timeOf } from '../../src/languages/times.js';
import type { Command } from '../../src/state/types.js';
import { type Signer, signer } from '../login/signers.js';
import { SoloClient } from './client.js';
import { partsOf } from './serve.js';
import { Solo } from './solo.js';

const LEVEL = { type: 'system.level', v: 1, level: 3 } as Command;
const IMPORT = 'POST /acl/tokens/import';
const accessor = (n: number): string => `8a2d0000-1111-4222-8333-${String(n).padStart(12, '0')}`;
const secret = (n: number): string => `5ec7e700-1111-4222-8333-${String(n).padStart(12, '0')}`;
const sent = (n: number, more: object = {}) => ({
  AccessorID: accessor(n),
  SecretID: secret(n),
  Description: `t${n}`,
  ...more,
});
const body = (tokens: readonly object[], more: object = {}) => ({
  Source: 'dc1',
  Tokens: tokens,
  ...more,
});

describe('the import of tokens', function () {
  this.timeout(60_000);
  let key: Signer;
  let client: SoloClient;
  let solo: Solo;
  before(async () => {
    key = await signer('EdDSA');
  });
  beforeEach(async () => {
    solo = new Solo();
    client = await SoloClient.open(historyRoutes(partsOf(solo)), solo);
    solo.must(LEVEL);
  });
  afterEach(() => client.close());

  const time = (ms: number): string => timeOf(solo.nowMs + ms);
  const method = async (): Promise<void> => {
    const Config = { JWTValidationPubKeys: [key.pem] };
    await client.must('PUT /acl/auth-method', { Name: 'Jwt', Type: 'jwt', Config });
  };
  const problems = async (request: object): Promise<unknown[]> => {
    const index = solo.machine.appliedIndex();
    const answer = await client.ask(IMPORT, request);
    expect(solo.machine.appliedIndex()).to.equal(index);
    expect(answer.text).to.not.include('5ec7e700');
    const found = answer.body.Problems.map(({ Code, Pointer }: Record<string, string>) => [
      Code,
      Pointer,
    ]);
    return [answer.status, ...found];
  };

  it('takes IDs, secrets, times and links as they are, in one entry', async () => {
    const { ID } = await client.must('PUT /acl/policy', { Name: 'p', Rules: 'acl = "read"' });
    await client.must('PUT /acl/role', { Name: 'r' });
    const first = sent(1, {
      AccessorID: accessor(1).toUpperCase(),
      Policies: [{ ID }],
      Roles: [{ Name: 'r' }],
      ServiceIdentities: [{ ServiceName: 'web' }],
      Local: true,
      CreateTime: '2021-03-04T05:06:07.25Z',
      ExpirationTime: time(60_000),
    });
    const index = solo.machine.appliedIndex();
    const answer = await client.must(IMPORT, body([first, sent(2)], { Reason: 'moving' }));
    const counts = { Created: 2, Updated: 0, Deleted: 0, Unchanged: 0, Skipped: [], Warnings: [] };
    expect(answer).to.deep.equal({ Index: index + 1, ...counts });
    const token = await client.must(`GET /acl/token/${accessor(1)}`);
    expect(token).to.deep.include({
      AccessorID: accessor(1),
      SecretID: secret(1),
      Policies: [{ ID, Name: 'p' }],
      ServiceIdentities: [{ ServiceName: 'web' }],
      Local: true,
      CreateTime: '2021-03-04T05:06:07.25Z',
      ExpirationTime: time(60_000),
      CreateIndex: index + 1,
    });
    const rights = await client.ask('GET /acl/policies', undefined, secret(1));
    expect(rights.status).to.equal(200);
    const { Changes } = await client.must('GET /history?types=token');
    expect(Changes.slice(0, 2)).to.have.length(2);
    for (const line of Changes.slice(0, 2))
      expect(line).to.include({ Operation: 'import', Reason: 'moving', Index: index + 1 });
  });

  it('proposes nothing when there is nothing to do, and updates only what differs', async () => {
    await client.must(IMPORT, body([sent(1), sent(2)]));
    const index = solo.machine.appliedIndex();
    const again = await client.must(IMPORT, body([sent(1), sent(2)], { Delete: [accessor(3)] }));
    expect(again).to.include({ Index: 0, Unchanged: 2, Updated: 0, Deleted: 0 });
    expect(solo.machine.appliedIndex()).to.equal(index);
    const changed = [sent(1, { Description: 'other' }), sent(2)];
    const dry = await client.must(IMPORT, body(changed, { DryRun: true, Delete: [] }));
    expect(dry).to.include({ Index: index, Updated: 1, Unchanged: 1 });
    expect(solo.machine.appliedIndex()).to.equal(index);
    const done = await client.must(IMPORT, body(changed));
    expect(done).to.include({ Index: index + 1, Updated: 1, Unchanged: 1 });
    const kept = await client.must(`GET /acl/token/${accessor(2)}`);
    expect(kept.ModifyIndex).to.equal(index);
  });

  it('deletes tokens of its source alone', async () => {
    await client.must(IMPORT, body([sent(1)]));
    await client.must(IMPORT, body([sent(2)], { Source: 'dc2' }));
    const { AccessorID } = await client.must('PUT /acl/token', {});
    expect(await problems(body([], { Delete: [accessor(2), AccessorID] }))).to.deep.equal([
      409,
      ['owned', '/Delete/0'],
      ['owned', '/Delete/1'],
    ]);
    const swap = sent(3, { SecretID: secret(1) });
    const done = await client.must(IMPORT, body([swap], { Delete: [accessor(1)] }));
    expect(done).to.include({ Created: 1, Deleted: 1 });
    expect((await client.ask(`GET /acl/token/${accessor(1)}`)).status).to.equal(403);
  });

  it('refuses what is in use, as a whole and with the place of each problem', async () => {
    await client.must(IMPORT, body([sent(1), sent(2)]));
    const own = await client.must('PUT /acl/token', {});
    const found = await problems(
      body([
        sent(9),
        sent(3, { SecretID: secret(1) }),
        sent(4, { SecretID: accessor(2) }),
        sent(5, { SecretID: accessor(5) }),
        sent(1, { SecretID: secret(7) }),
        { AccessorID: own.AccessorID, SecretID: own.SecretID },
        sent(2, { Local: true }),
        sent(6, { SecretID: secret(9) }),
      ]),
    );
    expect(found).to.deep.equal([
      409,
      ['conflict', '/Tokens/1/SecretID'],
      ['conflict', '/Tokens/2/SecretID'],
      ['conflict', '/Tokens/3/SecretID'],
      ['secret_differs', '/Tokens/4/SecretID'],
      ['owned', '/Tokens/5/AccessorID'],
      ['conflict', '/Tokens/6/Local'],
      ['conflict', '/Tokens/7/SecretID'],
    ]);
    expect((await client.ask(`GET /acl/token/${accessor(9)}`)).status).to.equal(403);
  });

  it('takes a token from elsewhere only if asked to', async () => {
    const own = await client.must('PUT /acl/token', { Description: 'own' });
    const taken = { ...sent(1), AccessorID: own.AccessorID, SecretID: own.SecretID };
    expect(await problems(body([taken]))).to.deep.equal([409, ['owned', '/Tokens/0/AccessorID']]);
    expect(await client.must(IMPORT, body([taken], { TakeOver: true }))).to.include({ Updated: 1 });
    expect(await client.must(IMPORT, body([taken]))).to.include({ Index: 0, Unchanged: 1 });
    const { Tokens } = await client.must('GET /acl/tokens/import?source=dc1');
    expect(Tokens.map(({ AccessorID }: { AccessorID: string }) => AccessorID)).to.deep.equal([
      own.AccessorID,
    ]);
  });

  it('refuses what has not the form of a token, before what is in use', async () => {
    await client.must(IMPORT, body([sent(1)]));
    const reserved = '00000000-0000-0000-0000-000000000002';
    const found = await problems(
      body(
        [
          sent(2, { AccessorID: 'x' }),
          sent(3, { AccessorID: reserved }),
          ...['', 'with space', 'ü', 'a'.repeat(257), 'anonymous', 'allow', '<hidden>'].map(
            (SecretID, n) => sent(10 + n, { SecretID }),
          ),
          sent(4, { CreateTime: time(6 * 60_000) }),
          sent(5, { Policies: [{ Name: 'none' }] }),
          sent(6, { AuthMethod: 'none' }),
          sent(7, { Namespace: 'none' }),
          sent(8, { ServiceIdentities: [{ ServiceName: '' }] }),
          sent(9, { SecretID: secret(1) }),
          sent(4),
        ],
        { Delete: [reserved] },
      ),
    );
    const secrets = Array.from({ length: 7 }, (_, n) => ['invalid', `/Tokens/${n + 2}/SecretID`]);
    expect(found[0]).to.equal(400);
    expect(found.slice(1)).to.have.deep.members([
      ['invalid', '/Tokens/0/AccessorID'],
      ['invalid', '/Tokens/1/AccessorID'],
      ...secrets,
      ['invalid', '/Tokens/9/CreateTime'],
      ['unknown_reference', '/Tokens/10/Policies/0'],
      ['unknown_reference', '/Tokens/11/AuthMethod'],
      ['unknown_reference', '/Tokens/12/Namespace'],
      ['invalid', '/Tokens/13/ServiceIdentities/0'],
      ['conflict', '/Tokens/14/SecretID'],
      ['invalid', '/Tokens/15/AccessorID'],
      ['invalid', '/Delete/0'],
    ]);
    for (const Source of [undefined, 'a b', 'x'.repeat(121)])
      expect((await client.ask(IMPORT, { Source, Tokens: [] })).body.pointer).to.equal('/Source');
  });

  it('skips what ends at once, and names weak secrets', async () => {
    const done = await client.must(
      IMPORT,
      body([
        sent(1, { ExpirationTime: time(9_000) }),
        sent(2, { ExpirationTime: time(-1) }),
        sent(3, { SecretID: 'hunter2' }),
        sent(4, { ExpirationTime: time(11_000) }),
      ]),
    );
    expect(done).to.deep.include({
      Created: 2,
      Skipped: [1, 2].map((n) => ({ AccessorID: accessor(n), Why: 'expired' })),
      Warnings: [{ AccessorID: accessor(3), Code: 'weak_secret' }],
    });
    expect((await client.ask('GET /acl/token/self', undefined, 'hunter2')).status).to.equal(200);
    const later = body([sent(4, { ExpirationTime: time(20_000) })]);
    expect(await problems(later)).to.deep.equal([409, ['conflict', '/Tokens/0/ExpirationTime']]);
  });

  it('takes tokens of logins with who is behind them, which end by logout', async () => {
    await method();
    const login = { AuthMethod: 'jwt', Identity: { Subject: 'user-1' } };
    await client.must(IMPORT, body([sent(1, login), sent(2, { AuthMethod: 'jwt' })]));
    const token = await client.must(`GET /acl/token/${accessor(1)}?expanded=true`);
    expect(token).to.deep.include({
      AuthMethod: 'Jwt',
      AuthMethodNamespace: 'default',
      Identity: { AuthMethod: 'Jwt', Namespace: 'default', Subject: 'user-1' },
    });
    const nobody = await client.must(`GET /acl/token/${accessor(2)}?expanded=true`);
    expect(nobody).to.not.have.property('Identity');
    const changes = await client.must('GET /history?types=token&logins=true');
    expect(changes.Changes[0].Operation).to.equal('import');
    const other = sent(1, { AuthMethod: 'jwt', Identity: { Subject: 'user-2' } });
    expect(await problems(body([other, sent(2)]))).to.deep.equal([
      409,
      ['conflict', '/Tokens/0/Identity'],
      ['conflict', '/Tokens/1/AuthMethod'],
    ]);
    await client.must('POST /acl/logout', undefined, secret(1));
    expect((await client.ask('GET /acl/token/self', undefined, secret(1))).status).to.equal(403);
    await client.must('DELETE /acl/auth-method/jwt');
    expect((await client.ask('GET /acl/token/self', undefined, secret(2))).status).to.equal(403);
  });

  it('can be taken back, but for deleted tokens', async () => {
    const made = await client.must(IMPORT, body([sent(1)]));
    await client.must('POST /undo', { Index: made.Index });
    expect((await client.ask(`GET /acl/token/${accessor(1)}`)).status).to.equal(403);
    await client.must(IMPORT, body([sent(1)]));
    const gone = await client.must(IMPORT, body([], { Delete: [accessor(1)] }));
    expect((await client.ask('POST /undo', { Index: gone.Index })).status).to.equal(409);
  });

  it('has a limit, rights of its own and a list without secrets', async () => {
    const many = Array.from({ length: 501 }, (_, n) => sent(n));
    expect((await client.ask(IMPORT, body(many))).status).to.equal(413);
    expect((await client.must(IMPORT, body(many.slice(1)))).Created).to.equal(500);
    const writer = await client.secretWith('acl = "write"');
    const operator = await client.secretWith('operator = "write"');
    const both = await client.secretWith('acl = "write" operator = "write"');
    const ask = async (token: string, more: object): Promise<number> =>
      (await client.ask(IMPORT, body([sent(1, more)]), token)).status;
    expect([await ask(writer, {}), await ask(operator, {}), await ask(both, {})]).to.deep.equal([
      403, 403, 200,
    ]);
    await client.must('PUT /namespace', { Name: 'team' });
    const inTeam = body([sent(900, { Namespace: 'team' })]);
    expect((await client.ask(IMPORT, inTeam, both)).status).to.equal(403);
    await client.must(IMPORT, inTeam);
    expect(await problems(body([sent(900)]))).to.deep.equal([
      409,
      ['conflict', '/Tokens/0/Namespace'],
    ]);
    const deletes = body([], { Delete: [accessor(900)] });
    expect((await client.ask(IMPORT, deletes, both)).status).to.equal(403);
    const list = await client.ask('GET /acl/tokens/import?source=dc1');
    expect(list.text).to.not.include('SecretID');
    expect(list.body.Tokens).to.have.length(501);
    expect(list.body.Tokens[500]).to.have.keys('AccessorID', 'Namespace', 'Hash');
    expect(list.body.Tokens[500].Namespace).to.equal('team');
    expect((await client.must('GET /acl/tokens/import?source=x')).Tokens).to.deep.equal([]);
    for (const query of ['', '?source=', '?source=a%20b']) {
      const { status, body: problem } = await client.ask(`GET /acl/tokens/import${query}`);
      expect([status, problem.pointer], query).to.deep.equal([400, undefined]);
      expect(problem.detail).to.match(/^Invalid parameter "source": it must be 1 to 120 letters/);
    }
    const reader = await client.secretWith('operator = "write"');
    const refused = await client.ask('GET /acl/tokens/import?source=dc1', undefined, reader);
    expect(refused.status).to.equal(403);
  });

  it('lists owners, and takes their names away without touching what they own', async () => {
    await client.must(IMPORT, body([sent(1), sent(2)]));
    const set = {
      Owner: 'migrate/dc1',
      Objects: [
        { Type: 'policy', Object: { Name: 'p' } },
        { Type: 'config', Object: { Kind: 'service-defaults', Name: 'Web', Protocol: 'http' } },
      ],
    };
    await client.must('POST /apply', set);
    await client.must('POST /apply', {
      Owner: 'gitops',
      Objects: [{ Type: 'role', Object: { Name: 'r' } }],
    });
    const whole = await client.answerTo('GET /owners');
    expect(whole.body).to.deep.equal([
      { Owner: 'gitops', Objects: 1 },
      { Owner: 'migrate/dc1', Objects: 4 },
    ]);
    expect([whole.index, whole.filtered]).to.deep.equal([solo.machine.appliedIndex(), null]);
    const reader = await client.secretWith('acl = "read"');
    const some = await client.answerTo('GET /owners', undefined, reader);
    expect(some.body).to.deep.include({ Owner: 'migrate/dc1', Objects: 3 });
    expect(some.filtered).to.equal('true');
    for (const [name, Objects] of [
      ['Web', 4],
      ['web', 3],
    ] as const) {
      const named = await client.secretWith(`acl = "read" service "${name}" { policy = "read" }`);
      const counted = await client.must('GET /owners', undefined, named);
      expect(counted, name).to.deep.include({ Owner: 'migrate/dc1', Objects });
    }
    const release = { Owner: 'migrate/dc1' };
    expect((await client.ask('POST /owners/release', release, reader)).status).to.equal(403);
    const before = await client.must(`GET /acl/token/${accessor(1)}`);
    const { Released, Index } = await client.must('POST /owners/release', release);
    expect([Released, Index]).to.deep.equal([4, solo.machine.appliedIndex()]);
    expect(await client.must(`GET /acl/token/${accessor(1)}`)).to.deep.equal(before);
    expect((await client.must('GET /owners')).length).to.equal(1);
    expect((await client.must('GET /acl/tokens/import?source=dc1')).Tokens).to.deep.equal([]);
    expect(await client.must('POST /owners/release', release)).to.deep.equal({
      Released: 0,
      Index: 0,
    });
  });
});
