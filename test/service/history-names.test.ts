import { expect } from 'chai';
import { SoloClient } from './client.js';

describe('the history of a config entry', () => {
  let client: SoloClient;
  beforeEach(async () => {
    client = await SoloClient.withHistory();
  });
  afterEach(() => client.close());

  const index = (): number => client.solo.machine.appliedIndex();

  it('is shown by the right to its name as it was spelled', async () => {
    const entry = { Kind: 'service-defaults', Name: 'Web', Protocol: 'http' };
    const path = 'GET /history/config/service-defaults/web';
    await client.must('PUT /config', entry);
    const made = index();
    const reader = await client.secretWith('service "web" { policy = "read" }');
    for (const query of ['', `?version=${made}`, `?from=1&to=${made}`])
      expect((await client.ask(`${path}${query}`, undefined, reader)).status).to.equal(404);
    await client.must('DELETE /config/service-defaults/web');
    const gone = index();
    expect((await client.ask(path, undefined, reader)).status).to.equal(404);
    await client.must('PUT /config', { ...entry, Name: 'web', Protocol: 'grpc' });
    const { body } = await client.ask(path, undefined, reader);
    const [own, ...others] = body.Versions.map((one: { Index: number }) => one.Index);
    expect([own, others]).to.deep.equal([index(), []]);
    for (const query of [`version=${made}`, `version=${gone}`])
      expect((await client.ask(`${path}?${query}`, undefined, reader)).status).to.equal(404);
    const difference = await client.ask(`${path}?from=${made}`, undefined, reader);
    expect(JSON.stringify(difference.body)).to.include('grpc').and.not.to.include('"http"');
    const all = await client.must(path);
    expect(all.Versions).to.have.length(3);
  });

  it('is taken back by the right to the name that an entry had, as it was spelled', async () => {
    const entry = { Kind: 'service-defaults', Protocol: 'http' };
    await client.must('PUT /config', { ...entry, Name: 'Web' });
    await client.must('PUT /config', { ...entry, Name: 'web' });
    const changed = index();
    const writer = await client.secretWith('service "web" { policy = "write" }');
    const denied = await client.ask('POST /undo', { Index: changed }, writer);
    expect(denied.status).to.equal(403);
    expect(await client.must('GET /config/service-defaults/web')).to.include({ Name: 'web' });
    expect((await client.ask('POST /undo', { Index: changed })).status).to.equal(200);
    expect(await client.must('GET /config/service-defaults/web')).to.include({ Name: 'Web' });
  });
});
