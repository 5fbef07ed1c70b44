/** If-Match and If-None-Match on the writes of objects. */
import { expect } from 'chai';
import { SoloClient } from '../service/client.js';
import type { Answer } from '../support/client.js';

const CONFIG = { Kind: 'service-defaults', Name: 'web', Protocol: 'http' };

describe('http: the version that a write names', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    client.solo.must({ type: 'system.level', v: 1, level: 3 } as never);
  });
  afterEach(() => client.close());

  const ask = (call: string, body: unknown, headers: Record<string, string>): Promise<Answer> =>
    client.ask(call, body, undefined, { headers: { Accept: 'application/json', ...headers } });
  const when = (call: string, match: string, body?: unknown): Promise<Answer> =>
    ask(call, body, { 'If-Match': match });

  it('is compared on all paths of objects', async () => {
    const { ID: policy } = await client.must('PUT /acl/policy', { Name: 'p' });
    const { ID: role } = await client.must('PUT /acl/role', { Name: 'r' });
    const { AccessorID: token } = await client.must('PUT /acl/token', {});
    await client.must('PUT /namespace', { Name: 'team' });
    await client.must('PUT /config', CONFIG);
    const writes: [path: string, put: string, body: object][] = [
      [`/acl/policy/${policy}`, '', { Name: 'p' }],
      [`/acl/role/${role}`, '', { Name: 'r' }],
      [`/acl/token/${token}`, '', {}],
      ['/namespace/team', '', {}],
      ['/config/service-defaults/web', '/config', { ...CONFIG, Protocol: 'grpc' }],
    ];
    for (const [path, put, body] of writes) {
      const { ModifyIndex } = await client.must(`GET ${path}`);
      for (const tag of ['"1"', `W/"${ModifyIndex}"`, `"1", "${ModifyIndex + 1}"`]) {
        for (const call of [`PUT ${put || path}`, `PATCH ${path}`, `DELETE ${path}`]) {
          const answer = await when(call, tag, call.startsWith('DELETE') ? undefined : body);
          expect(answer.status, call).to.equal(412);
          expect(answer.headers.etag).to.equal(`"${ModifyIndex}"`);
          expect(answer.body).to.include({ code: 'precondition_failed', current: ModifyIndex });
          expect(answer.body.detail).to.match(/^Precondition failed: .* has ModifyIndex \d+$/);
        }
      }
      const written = await when(`PUT ${put || path}`, `"1", "${ModifyIndex}"`, body);
      expect(written.status, path).to.equal(200);
      const now = await client.must(`GET ${path}`);
      expect(now.ModifyIndex).to.be.greaterThan(ModifyIndex);
      expect(written.headers.etag).to.equal(`"${now.ModifyIndex}"`);
      expect((await when(`PATCH ${path}`, '*', {})).status).to.equal(200);
      const gone = await when(`DELETE ${path}`, '*');
      expect([gone.status, gone.headers.etag]).to.deep.equal([200, undefined]);
    }
  });

  it('refuses what does not exist', async () => {
    const id = '0f0f0f0f-1111-4222-8333-444444444444';
    const answer = await when(`DELETE /acl/role/${id}`, '*');
    expect(answer.status).to.equal(412);
    expect(answer.headers.etag).to.equal(undefined);
    expect(answer.body).to.include({
      detail: 'Precondition failed: the role does not exist',
      current: null,
    });
    expect((await client.answerTo(`DELETE /acl/role/${id}`)).text).to.equal('false');
    expect((await when('PUT /config', '"1"', CONFIG)).status).to.equal(412);
  });

  it('can be that there is none yet', async () => {
    const none = { 'If-None-Match': '*' };
    const first = await ask('PUT /config', CONFIG, none);
    expect([first.status, first.body]).to.deep.equal([200, true]);
    const { ModifyIndex } = await client.must('GET /config/service-defaults/web');
    expect(first.headers.etag).to.equal(`"${ModifyIndex}"`);
    const again = await ask('PUT /config', CONFIG, none);
    expect([again.status, again.body.current]).to.deep.equal([412, ModifyIndex]);
    expect((await ask('PUT /namespace', { Name: 'n' }, none)).status).to.equal(200);
    expect((await ask('PUT /namespace/n', {}, none)).status).to.equal(412);
  });

  it('keeps the tag of an entry that is written again unchanged', async () => {
    await client.must('PUT /config', CONFIG);
    const { ModifyIndex } = await client.must('GET /config/service-defaults/web');
    const again = await when('PUT /config', `"${ModifyIndex}"`, CONFIG);
    expect([again.body, again.headers.etag]).to.deep.equal([true, `"${ModifyIndex}"`]);
  });

  it('is compared after rights and form', async () => {
    const { ID } = await client.must('PUT /acl/role', { Name: 'r' });
    const reader = await client.secretWith('acl = "read"');
    const headers = { 'If-Match': '"1"' };
    const denied = await client.ask(`PUT /acl/role/${ID}`, { Name: 'r' }, reader, { headers });
    expect(denied.status).to.equal(403);
    expect((await when(`PUT /acl/role/${ID}`, '"1"', { Name: 5 })).status).to.equal(400);
  });

  const wrong: [what: string, call: string, headers: Record<string, string>][] = [
    ['a tag without quotes', 'PUT /config', { 'If-Match': '57' }],
    ['17 tags', 'PUT /config', { 'If-Match': Array(17).fill('"1"').join(', ') }],
    ['a list that must not match', 'PUT /config', { 'If-None-Match': '"1"' }],
    ['two conditions', 'PUT /config', { 'If-None-Match': '*', 'If-Match': '"1"' }],
    ['a tag and cas', 'PUT /config?cas=1', { 'If-Match': '"1"' }],
  ];
  for (const [what, call, headers] of wrong) {
    it(`refuses ${what}`, async () => {
      const { status, body } = await ask(call, CONFIG, headers);
      expect([status, body.code]).to.deep.equal([400, 'invalid']);
    });
  }

  it('adds no tag to answers of requests that name none', async () => {
    const { headers } = await client.answerTo('PUT /acl/role', { Name: 'r' });
    expect(headers.etag).to.equal(undefined);
  });
});
