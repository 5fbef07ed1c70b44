import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Answer } from '../support/client.js';
import { decide } from '../support/decide.js';
import { SoloClient } from './client.js';
import { Solo } from './solo.js';

const SELF = '/acl/token/self/rights';
const ANONYMOUS = '00000000-0000-0000-0000-000000000002';

/** The entity tag that the text of an answer must have. */
function tagOf({ text }: Answer): string {
  const lasting = text.replace(/,"Index":\d+/, '').replace(/,"ExpiresInMs":\d+/, '');
  return `"${createHash('sha256').update(lasting).digest('hex').slice(0, 32)}"`;
}

describe('GET /v1/acl/token/…/rights', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
  });
  afterEach(() => client.close());

  const policy = (Name: string, Rules: string, ns = 'default') =>
    client.must(`PUT /acl/policy?ns=${ns}`, { Name, Rules });
  const token = (body: object, ns = 'default') => client.must(`PUT /acl/token?ns=${ns}`, body);
  const feed = (secret: string, query = '') =>
    client.must(`GET ${SELF}${query}`, undefined, secret);

  it('answers all that decides for a token, in order', async () => {
    await policy(
      'one',
      'service_prefix "" { policy = "read" }\nacl = "read"\nservice "b" { policy = "read" }\n' +
        'namespace_prefix "t" { policy = "write" service "x" { policy = "deny" } }\n' +
        'namespace_prefix "team" { key "k" { policy = "list" } }\n' +
        'namespace "team" { acl = "read" }',
    );
    await policy('two', 'service "b" { policy = "write" }\nservice "B" { policy = "write" }');
    const Policies = [{ Name: 'one' }, { Name: 'two' }];
    const made = await token({ Policies, ExpirationTTL: '1h' });
    const { Grants, Resources, Application, Layers, ...head } = await feed(made.SecretID);
    expect(head).to.deep.equal({
      Version: 1,
      AccessorID: made.AccessorID,
      Namespace: 'default',
      Anonymous: false,
      Index: made.ModifyIndex,
      ExpirationTime: made.ExpirationTime,
      ExpiresInMs: Date.parse(made.ExpirationTime) - client.solo.nowMs,
      AnyByDefault: false,
    });
    expect(Object.keys(Resources)).to.have.length(14);
    expect(Resources.operator).to.deep.equal({
      Form: 'scalar',
      Actions: ['read', 'write'],
      In: 'default',
      Never: [],
      Default: 'deny',
    });
    expect(Grants.list).to.deep.equal(['read', 'list']);
    expect(Application).to.deep.equal({ Resource: 'key', Action: 'read' });
    const none = { Exact: {}, Prefix: {}, Other: [] };
    const services = { ...none, Exact: { write: ['B', 'b'] }, Prefix: { read: [''] } };
    const intentions = { ...none, Exact: { read: ['B', 'b'] }, Prefix: { read: [''] } };
    const denied = { ...none, Exact: { deny: ['x'] } };
    expect(Layers).to.deep.equal([
      {
        Layer: 'own',
        Sets: [
          {
            Match: 'exact',
            Name: 'default',
            Scalars: { acl: 'read' },
            Named: { service: services, intention: intentions },
          },
          { Match: 'exact', Name: 'team', Scalars: { acl: 'read' }, Named: {} },
          {
            Match: 'prefix',
            Name: 'team',
            Scalars: {},
            Named: { key: { ...none, Exact: { list: ['k'] } } },
          },
          {
            Match: 'prefix',
            Name: 't',
            Management: 'write',
            Scalars: {},
            Named: { service: denied, intention: denied },
          },
        ],
      },
    ]);
  });

  it('has a layer of what the namespace gives, and nothing of dangling links', async () => {
    await policy('base', 'service "web" { policy = "read" }');
    const ACLs = { PolicyDefaults: [{ Name: 'base' }] };
    await client.must('PUT /namespace', { Name: 'team', ACLs });
    const gone = await policy('gone', 'acl = "write"', 'team');
    const made = await token({ Policies: [{ Name: 'gone' }] }, 'team');
    await client.must(`DELETE /acl/policy/${gone.ID}?ns=team`);
    const { Namespace, Layers } = await feed(made.SecretID);
    const sets = Layers.map(({ Layer, Sets }: { Layer: string; Sets: { Name: string }[] }) => [
      Layer,
      Sets.map(({ Name }) => Name),
    ]);
    expect([Namespace, sets]).to.deep.equal([
      'team',
      [
        ['own', []],
        ['namespace_default', ['team']],
      ],
    ]);
  });

  it('says with sources which line of which policy each rule comes from', async () => {
    const one = await policy('one', '# first\nacl = "read"\n\nkey "a" { policy = "read" }');
    const two = await policy('two', 'key "a" { policy = "deny" }\nkey "b" { policy = "read" }');
    await client.must('PUT /acl/role', { Name: 'r', Policies: [{ Name: 'two' }] });
    const body = { Policies: [{ Name: 'one' }, { Name: 'two' }], Roles: [{ Name: 'r' }] };
    const made = await token({ ...body, ServiceIdentities: [{ ServiceName: 'web' }] });
    const { Origins, Layers } = await feed(made.SecretID, '?sources=true');
    const ends = Origins.map((path: { Type: string; Name: string; ID: string }[]) => path.at(-1));
    const { Scalars, Named } = Layers[0].Sets[0];
    const said = ([place, line]: [number, number]) => [ends[place].Type, ends[place].Name, line];
    expect(ends.slice(0, 2).map(({ ID }: { ID: string }) => ID)).to.deep.equal([one.ID, two.ID]);
    expect([Scalars.acl.Level, Scalars.acl.From.map(said)]).to.deep.equal([
      'read',
      [['policy', 'one', 2]],
    ]);
    const { deny, read } = Named.key.Exact;
    expect([deny[0].Name, deny[0].From.map(said)]).to.deep.equal([
      'a',
      [
        ['policy', 'two', 1],
        ['policy', 'two', 1],
      ],
    ]);
    const ways = deny[0].From.map(([place]: [number]) => Origins[place].length);
    expect(ways).to.deep.equal([2, 3]);
    expect(read[0].From.map(said)[0]).to.deep.equal(['policy', 'two', 2]);
    const [web] = Named.service.Exact.write;
    expect([web.Name, web.From.map(said)[0].slice(0, 2)]).to.deep.equal([
      'web',
      ['service-identity', 'web'],
    ]);
    expect(await feed(made.SecretID, '?sources=false')).to.deep.equal(await feed(made.SecretID));
    const wrong = await client.ask(`GET ${SELF}?sources=yes`);
    expect(wrong.body).to.include({ status: 400, code: 'invalid' });
  });

  it('has no SecretID in its origins', async () => {
    const made = await token({ Description: 'about the token 0' });
    await client.must(`PUT /acl/token/${made.AccessorID}`, {
      Description: `mine is ${made.SecretID}`,
      ServiceIdentities: [{ ServiceName: 'web' }],
    });
    const { text } = await client.answerTo(`GET ${SELF}?sources=true`, undefined, made.SecretID);
    expect(text).to.include('mine is').and.not.include(made.SecretID);
  });

  it('names no rule of a text that is no Unicode, which counts where all do', async () => {
    const secret = await client.secretWith(
      'key_prefix "" { policy = "write" }\nkey "a\\xff" { policy = "deny" }\n' +
        'namespace "\\xff" { acl = "read" }',
    );
    const answer = await feed(secret);
    const [{ Sets }] = answer.Layers;
    expect(Sets).to.have.length(1);
    expect(Sets[0].Named.key).to.deep.equal({
      Exact: {},
      Prefix: { write: [''] },
      Other: ['deny'],
    });
    expect(decide(answer, ['key', 'write', 'a', 'default'])).to.equal(true);
    expect(decide(answer, ['key', 'write-prefix', 'a', 'default'])).to.equal(false);
  });

  it('has an entity tag of what lasts, and is not sent to who has it', async () => {
    const rules = 'key "<a&b>" { policy = "read" }';
    await policy('one', rules);
    const made = await token({ Policies: [{ Name: 'one' }], ExpirationTTL: '1h' });
    const ask = (tag: string) =>
      client.ask(`GET ${SELF}`, undefined, made.SecretID, { headers: { 'If-None-Match': tag } });
    const first = await client.answerTo(`GET ${SELF}`, undefined, made.SecretID);
    const { etag = '' } = first.headers;
    expect(etag).to.equal(tagOf(first));
    client.solo.nowMs += 1000;
    const second = await ask(`W/${etag}`);
    expect([second.status, second.text, second.headers['content-type']]).to.deep.equal([
      304,
      '',
      undefined,
    ]);
    expect(second.index).to.equal(first.index);
    for (const prefix of ['x-service', 'x-consul'])
      expect(second.headers[`${prefix}-expires-in-ms`]).to.equal(
        String(first.body.ExpiresInMs - 1000),
      );
    expect((await ask('"other"')).headers.etag).to.equal(etag);
    const lasting = await client.ask(`GET ${SELF}`, undefined, '');
    expect(lasting.headers).to.not.have.property('x-service-expires-in-ms');
  });

  it('is the same text on two nodes that have the same state', async () => {
    const other = await SoloClient.open([], new Solo());
    try {
      const answers: string[] = [];
      for (const each of [client, other]) {
        const anonymous = await each.answerTo(`GET ${SELF}`, undefined, '');
        expect(anonymous.body).to.deep.include({ AccessorID: ANONYMOUS, Anonymous: true });
        answers.push(anonymous.headers.etag!);
      }
      expect(answers[0]).to.equal(answers[1]);
    } finally {
      await other.close();
    }
  });

  it('refuses a feed that is too large whole, without sources and with them', async () => {
    const names = Array.from({ length: 1300 }, (_, n) => `${'k'.repeat(30)}${n}`);
    const rule = (name: string) => `key "${name}"{policy="read"}`;
    await policy('half', names.slice(0, 1100).map(rule).join('\n'));
    await policy(
      'rest',
      names
        .slice(300)
        .map((name) => rule(`x${name}`))
        .join('\n'),
    );
    const made = await token({ Policies: [{ Name: 'half' }] });
    const fits = await client.answerTo(`GET ${SELF}`, undefined, made.SecretID);
    expect(Buffer.byteLength(fits.text)).to.be.lessThan(65_536);
    const sourced = await client.ask(`GET ${SELF}?sources=true`, undefined, made.SecretID);
    expect(sourced.body).to.deep.include({ status: 413, code: 'too_large', Limit: 65_536 });
    const path = `/acl/token/${made.AccessorID}/rights`;
    const { woken } = await client.across(path, () =>
      client.must(`PUT /acl/token/${made.AccessorID}`, {
        Policies: [{ Name: 'half' }, { Name: 'rest' }],
      }),
    );
    expect(woken?.body).to.deep.include({
      status: 413,
      code: 'too_large',
      Limit: 65_536,
      hint: 'ask /access/v1/evaluation for this token',
    });
    expect(woken?.body.Bytes).to.be.within(65_537, 131_072);
  });

  it('is refused by its whole size, its head included', async () => {
    const asked = async (rightsFeedBytes: number) => {
      const limited = await SoloClient.open([], client.solo, {}, { rightsFeedBytes });
      try {
        return await limited.ask(`GET ${SELF}`);
      } finally {
        await limited.close();
      }
    };
    const { Bytes } = (await asked(10)).body;
    expect((await asked(Bytes)).status).to.equal(200);
    expect((await asked(Bytes - 1)).body).to.include({ status: 413, Bytes });
  });

  it('is shown to its token, and to others who may read it; nobody else learns of it', async () => {
    await client.must('PUT /namespace', { Name: 'hidden' });
    const foreign = await token({}, 'hidden');
    const missing = '0f0f0f0f-1111-4222-8333-444444444444';
    const reader = await client.secretWith('acl = "read"');
    const nobody = await client.secretWith('key "a" { policy = "read" }');
    const ask = async (accessor: string, secret: string) => {
      const reply = await client.ask(`GET /acl/token/${accessor}/rights`, undefined, secret);
      return [reply.status, reply.index, reply.body.detail];
    };
    expect(await ask(foreign.AccessorID, reader)).to.deep.equal(await ask(missing, reader));
    expect((await ask(missing, reader))[0]).to.equal(404);
    expect(await ask(foreign.AccessorID, nobody)).to.deep.equal(await ask(missing, nobody));
    expect((await ask(missing, nobody))[0]).to.equal(403);
    expect((await feed(nobody)).Layers[0].Sets).to.have.length(1);
    expect((await ask(ANONYMOUS, reader))[0]).to.equal(200);
    expect((await client.ask('GET /acl/token/x/rights')).body.status).to.equal(400);
    expect((await client.ask(`GET ${SELF}?at=1`)).body.status).to.equal(400);
  });
});
