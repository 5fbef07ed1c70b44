/** Who may name, read and delete jwt-providers, and what callers learn of them. */
import { expect } from 'chai';
import { SoloClient } from './client.js';

const provider = (Name: string, more: object = {}) => ({
  Kind: 'jwt-provider',
  Name,
  JSONWebKeySet: { Local: { Filename: '/k' } },
  ...more,
});
const jwt = (Name: string) => ({ Providers: [{ Name }] });
const intentions = (Name: string, of: string) => ({
  Kind: 'service-intentions',
  Name,
  Sources: [{ Name: 'x', Action: 'allow' }],
  JWT: jwt(of),
});

describe('jwt-providers over HTTP', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.open();
    await client.must('PUT /config', provider('p'));
  });
  afterEach(() => client.close());

  it('are named by those who may read them; others learn nothing of them', async () => {
    const mine = 'service "web" { policy = "read" intentions = "write" }';
    const blind = await client.secretWith(mine);
    const answers = await Promise.all(
      ['p', 'none'].map((name) => client.ask('PUT /config', intentions('web', name), blind)),
    );
    for (const { status, text } of answers) {
      expect(status).to.equal(403);
      expect(text).to.contain("lacks permission 'mesh:read'");
    }
    expect(answers[0]!.text).to.equal(answers[1]!.text);
    const plain = { ...intentions('web', 'p'), JWT: {} };
    await client.must('PUT /config', plain, blind);
    for (const rules of ['mesh = "read"', 'service "other" { policy = "write" }']) {
      const seeing = await client.secretWith(`${mine} ${rules}`);
      const { status, text } = await client.ask('PUT /config', intentions('web', 'none'), seeing);
      expect(status).to.equal(400);
      expect(text).to.equal('Referenced JWT Provider does not exist. Provider Name: none');
      await client.must('PUT /config', intentions('web', 'p'), seeing);
    }
  });

  it('of a team are those of default: read and named with its own rights', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    const secret = await client.secretWith(
      'service "web" { policy = "write" intentions = "write" }',
      'team',
    );
    const { body } = await client.ask('GET /config/jwt-provider/P', undefined, secret);
    expect(body).to.include({ Name: 'p', Namespace: 'default' });
    await client.must('PUT /config', intentions('web', 'P'), secret);
    expect((await client.must('GET /config/service-intentions/web?ns=team')).Namespace).to.equal(
      'team',
    );
    expect((await client.ask('PUT /config', provider('q'), secret)).status).to.equal(403);
    await client.must('PUT /config?ns=team', provider('q'));
    expect((await client.must('GET /config/jwt-provider/q')).Namespace).to.equal('default');
  });

  it('in use are not deleted; the refusal names an intention that may be read', async () => {
    await client.must('PUT /namespace', { Name: 'team' });
    for (const call of ['PUT /config?ns=team', 'PUT /config']) {
      for (const name of ['b', 'a']) await client.must(call, intentions(name, 'p'));
    }
    const start =
      'cannot delete jwt provider config entry referenced by an intention. Provider name: p';
    const refusalFor = async (rules: string): Promise<string> => {
      const secret = await client.secretWith(`mesh = "write" ${rules}`);
      const { status, text } = await client.ask('DELETE /config/jwt-provider/p', undefined, secret);
      expect(status).to.equal(409);
      expect(text.slice(0, start.length)).to.equal(start);
      return text.slice(start.length);
    };
    expect(await refusalFor('')).to.equal('');
    expect(await refusalFor('service_prefix "" { policy = "read" }')).to.equal(
      ', intention name: a',
    );
    expect(await refusalFor('service "b" { policy = "read" }')).to.equal(', intention name: b');
    expect(await refusalFor('namespace "team" { service "b" { policy = "read" } }')).to.equal(
      ', intention name: b, namespace: team',
    );
  });

  it('in use are not deleted by those who may not, who hear of that alone', async () => {
    await client.must('PUT /config', intentions('web', 'p'));
    const secret = await client.secretWith('service_prefix "" { policy = "write" }');
    for (const name of ['p', 'none']) {
      const reply = await client.ask(`DELETE /config/jwt-provider/${name}`, undefined, secret);
      expect(reply.status).to.equal(403);
      expect(reply.text).to.contain("lacks permission 'mesh:write'").and.not.contain('web');
    }
  });

  it('can be filtered, and one read blocks until it changes', async () => {
    await client.must('PUT /config', provider('q', { Issuer: 'https://i', Audiences: ['a'] }));
    const found = async (filter: string): Promise<string[]> =>
      (await client.must(`GET /config/jwt-provider?filter=${encodeURIComponent(filter)}`)).map(
        ({ Name }: { Name: string }) => Name,
      );
    expect(await found('Issuer == "https://i"')).to.deep.equal(['q']);
    expect(await found('"a" in Audiences')).to.deep.equal(['q']);
    expect(await found('ClockSkewSeconds == 30')).to.deep.equal(['p', 'q']);
    expect(await found('JSONWebKeySet.Local.Filename == "/k"')).to.deep.equal(['p', 'q']);
    const { index } = await client.ask('GET /config/jwt-provider/p');
    const held = client.ask(`GET /config/jwt-provider/p?index=${index}&wait=30s`);
    await client.must('PUT /config', provider('p', { Issuer: 'new' }));
    expect((await held).body).to.include({ Issuer: 'new' });
  });

  it('are written again unchanged without effect', async () => {
    const { CreateIndex, ModifyIndex, Namespace, ...entry } = await client.must(
      'GET /config/jwt-provider/p',
    );
    expect([CreateIndex, Namespace]).to.deep.equal([ModifyIndex, 'default']);
    await client.must('PUT /config', { ...entry, CreateIndex, ModifyIndex, Namespace });
    expect((await client.must('GET /config/jwt-provider/p')).ModifyIndex).to.equal(ModifyIndex);
  });
});
