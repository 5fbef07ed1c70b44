/** Long lists are sent in pieces of limited size, so that slow readers keep little in memory. */
import { expect } from 'chai';
import { filterOf } from '../../src/service/common/filters.js';
import { listChunks } from '../../src/service/reads/list-rendering.js';
import { SoloClient } from '../service/client.js';
import { MANAGER } from '../service/solo.js';
import { useCasesOf } from '../service/use-cases.js';

// Longer than a part that is written at a time, whose end would fall within a character.
const LONG = `<&>${'\u{1f600}'.repeat(5_000)}`;
const LONGER = `x${'\u{1f600}'.repeat(50_000)}`;
const PIECE_MAX = 64 * 1024 + 25_000;

describe('http: a list of long objects', () => {
  let client: SoloClient;
  before(async () => {
    client = await SoloClient.open();
    for (let i = 0; i < 40; i += 1)
      await client.must('PUT /acl/role', { Name: `r${i}`, Description: LONG });
    await client.must('PUT /acl/role', { Name: 'z', Description: LONGER });
  });
  after(() => client.close());

  it('is rendered in pieces of limited size, even with few objects', async () => {
    const { service, store } = client.solo;
    const useCase = useCasesOf().role.list('default', { filter: filterOf(undefined) });
    const authorizer = await service.authorize(MANAGER);
    const { value: plan } = useCase({ view: store, authorizer });
    let count = 0;
    for await (const items of listChunks(store, { ...plan, candidates: plan.candidates() })) {
      count += items.length;
      const others = items.filter((item) => !item.includes(LONGER));
      expect(others.join(',').length).to.be.lessThan(PIECE_MAX);
    }
    expect(count).to.equal(41);
  });

  it('is the same in pieces as whole, also with ?pretty', async () => {
    const { text, body } = await client.ask('GET /acl/roles');
    expect(body).to.have.length(41);
    expect(body[40].Description).to.equal(LONGER);
    expect(body[0].Description).to.equal(LONG);
    expect(text).to.include('\\u003c\\u0026\\u003e').and.not.to.include('<&>');
    const { text: pretty } = await client.ask('GET /acl/roles?pretty');
    const wanted = JSON.stringify(body, null, 4);
    expect(pretty).to.equal(wanted.replaceAll('<&>', '\\u003c\\u0026\\u003e'));
  });
});

describe('http: a list of config entries too long to be kept in memory', () => {
  it('is built while it is read, and contains only what its reader may see', async () => {
    const client = await SoloClient.open();
    for (let i = 0; i < 30; i += 1) {
      await client.must('PUT /config', {
        ...{ Kind: 'service-resolver', Name: `s${i}` },
        Meta: Object.fromEntries(
          Array.from({ length: 60 }, (_, at) => [`k${at}`, `${i} ${'y'.repeat(500)}`]),
        ),
        Failover: {
          '*': {
            Datacenters: Array.from({ length: 1900 }, (_, at) => `datacenter-of-some-length-${at}`),
          },
        },
      });
    }
    const { body, text } = await client.ask('GET /config/service-resolver');
    expect(text.length).to.be.greaterThan(2 * 1024 * 1024);
    expect(body.map(({ Name }: { Name: string }) => Name)).to.have.length(30);
    const filter = encodeURIComponent('Name == "s7"');
    const some = await client.ask(`GET /config/service-resolver?filter=${filter}`);
    expect(some.body.map(({ Name }: { Name: string }) => Name)).to.deep.equal(['s7']);
    const few = await client.secretWith('service_prefix "s1" { policy = "read" }');
    const { body: shown, filtered } = await client.ask(
      'GET /config/service-resolver',
      undefined,
      few,
    );
    expect(shown).to.have.length(11);
    expect(filtered).to.equal('true');
    await client.close();
  });
});

describe('http: a list of config entries that is kept between requests', () => {
  it('is escaped, the same in every form, and another after a change', async () => {
    const client = await SoloClient.open();
    const write = (Name: string) =>
      client.must('PUT /config', {
        Kind: 'service-resolver',
        Name,
        Meta: { note: `<&> é ${'z'.repeat(400)}` },
      });
    await write('a');
    await write('b');
    const first = await client.ask('GET /config/service-resolver');
    expect(first.text).to.include('\\u003c\\u0026\\u003e é').and.not.to.include('<&>');
    const again = await client.ask('GET /config/service-resolver');
    expect(again.text).to.equal(first.text);
    const { text: pretty } = await client.ask('GET /config/service-resolver?pretty');
    const wanted = JSON.stringify(first.body, null, 4);
    expect(pretty).to.equal(wanted.replaceAll('<&>', '\\u003c\\u0026\\u003e'));
    await write('c');
    const { body } = await client.ask('GET /config/service-resolver');
    expect(body.map(({ Name }: { Name: string }) => Name)).to.deep.equal(['a', 'b', 'c']);
    expect(body[2].Meta.note).to.match(/^<&> é z+$/);
    await client.close();
  });

  it('is indented in pieces if it is long, since all of it would take a long turn', async () => {
    const client = await SoloClient.open();
    const notes = Array.from({ length: 12 }, (_, at) => [`k${at}`, 'z'.repeat(500)]);
    const Meta = Object.fromEntries(notes);
    for (let i = 0; i < 30; i += 1)
      await client.must('PUT /config', { Kind: 'service-resolver', Name: `s${i}`, Meta });
    for (const query of ['', 'filter=Name%20!=%20%22s7%22']) {
      const whole = await client.ask(`GET /config/service-resolver?${query}`);
      const pretty = await client.ask(`GET /config/service-resolver?pretty&${query}`);
      expect(whole.headers).to.have.property('content-length');
      expect(pretty.headers).to.include({ 'transfer-encoding': 'chunked' });
      expect(pretty.text).to.equal(JSON.stringify(whole.body, null, 4));
    }
    await client.close();
  });
});
