import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { SoloClient } from './client.js';

const SELF = '/acl/token/self/rights';

describe('a held feed of rights', () => {
  let client: SoloClient;
  let one: { readonly ID: string };
  let own: { readonly AccessorID: string; readonly SecretID: string };
  beforeEach(async () => {
    client = await SoloClient.open();
    one = await client.must('PUT /acl/policy', { Name: 'one', Rules: 'acl = "read"' });
    await client.must('PUT /acl/role', { Name: 'r', Policies: [{ Name: 'one' }] });
    own = await client.must('PUT /acl/token', { Roles: [{ Name: 'r' }] });
  });
  afterEach(() => client.close());

  const rules = (Rules: string, more = {}) =>
    client.must(`PUT /acl/policy/${one.ID}`, { Name: 'one', Rules, ...more });
  const across = (change: () => Promise<unknown>, path = SELF, headers = {}) =>
    client.across(path, change, own.SecretID, headers);

  it('wakes when a rule changes that decides', async () => {
    const { before, woken } = await across(() => rules('acl = "write"'));
    expect(woken?.status).to.equal(200);
    expect(woken?.index).to.be.greaterThan(before.index);
    expect(woken?.body.Index).to.equal(woken?.index);
    expect(woken?.body.Layers[0].Sets[0].Scalars).to.deep.equal({ acl: 'write' });
    expect(woken?.headers.etag).to.not.equal(before.headers.etag);
  });

  it('of another token wakes for that token', async () => {
    const path = `/acl/token/${own.AccessorID}/rights`;
    const { woken } = await client.across(path, () => rules('acl = "write"'));
    expect(woken?.body.Layers[0].Sets[0].Scalars).to.deep.equal({ acl: 'write' });
  });

  it('does not wake when what it shows stays the same', async () => {
    const same = async () => {
      await rules('# only a comment\nacl = "read"');
      await rules('acl = "read"', { Name: 'renamed' });
      await client.must(`PUT /acl/token/${own.AccessorID}`, {
        Description: 'new',
        Roles: [{ Name: 'r' }],
      });
      await client.must('PUT /acl/policy', { Name: 'other', Rules: 'acl = "write"' });
    };
    expect((await across(same)).woken).to.equal(undefined);
  });

  it('wakes with sources when the way or the line of a rule changes', async () => {
    const moved = await across(() => rules('# a comment\nacl = "read"'), `${SELF}?sources=true`);
    expect(moved.woken?.body.Layers[0].Sets[0].Scalars.acl.From).to.deep.equal([[0, 2]]);
    const renamed = await across(
      () => rules('# a comment\nacl = "read"', { Name: 'renamed' }),
      `${SELF}?sources=true`,
    );
    expect(renamed.woken?.body.Origins[0].at(-1).Name).to.equal('renamed');
  });

  it('waits with an entity tag although its index has grown, until it differs', async () => {
    const { index, headers } = await client.answerTo(`GET ${SELF}`, undefined, own.SecretID);
    const tag = { 'If-None-Match': headers.etag! };
    await rules('# only a comment\nacl = "read"');
    const held = async (change: () => Promise<unknown>) => {
      let status = 0;
      const asked = client
        .ask(`GET ${SELF}?index=${index}&wait=60s`, undefined, own.SecretID, { headers: tag })
        .then((answer) => {
          status = answer.status;
        });
      while (client.solo.watches.size === 0 && status === 0) await nextTurn();
      const early = status;
      await change();
      await asked;
      return [early, status];
    };
    expect(await held(() => rules('acl = "write"'))).to.deep.equal([0, 200]);
    expect(await held(async () => {})).to.deep.equal([200, 200]);
  });

  it('answers 304 at the end of its wait', async () => {
    const { index, headers } = await client.answerTo(`GET ${SELF}`, undefined, own.SecretID);
    const more = { headers: { 'If-None-Match': headers.etag! } };
    const path = `GET ${SELF}?index=${index}&wait=1ms`;
    const answer = await client.ask(path, undefined, own.SecretID, more);
    expect([answer.status, answer.index, answer.headers.etag]).to.deep.equal([
      304,
      index,
      headers.etag,
    ]);
  });

  it('ends with 403 when its token is deleted', async () => {
    const { woken } = await across(() => client.must(`DELETE /acl/token/${own.AccessorID}`));
    expect([woken?.status, woken?.body.detail]).to.deep.equal([403, 'ACL not found']);
  });

  it('ends with 404 when the token of another is deleted', async () => {
    const path = `/acl/token/${own.AccessorID}/rights`;
    const gone = () => client.must(`DELETE /acl/token/${own.AccessorID}`);
    expect((await client.across(path, gone)).woken?.status).to.equal(404);
  });

  it('ends with 403 when its token expires', async () => {
    const { solo } = client;
    own = await client.must('PUT /acl/token', { ExpirationTTL: '1h' });
    solo.nowMs += 3_600_000 - 20;
    const { before, woken } = await across(async () => {
      solo.nowMs += 20;
      while (solo.watches.size > 0) await nextTurn();
    });
    expect(before.body.ExpiresInMs).to.equal(20);
    expect([woken?.status, woken?.body.detail]).to.deep.equal([403, 'ACL not found']);
  });

  it('is made once for all tokens with the same rights, each with a head of its own', async () => {
    const others = await Promise.all(
      [1, 2, 3].map(() => client.must('PUT /acl/token', { Roles: [{ Name: 'r' }] })),
    );
    const answers = await Promise.all(
      [own, ...others].map(({ SecretID }) => client.answerTo(`GET ${SELF}`, undefined, SecretID)),
    );
    const accessors = [own, ...others].map(({ AccessorID }) => AccessorID);
    expect(answers.map(({ body }) => body.AccessorID)).to.deep.equal(accessors);
    expect(new Set(answers.map(({ headers }) => headers.etag))).to.have.length(4);
    for (const { body } of answers) expect(body.Layers).to.deep.equal(answers[0]!.body.Layers);
  });
});
