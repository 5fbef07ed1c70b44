import { once } from 'node:events';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { LastRead, PreparedResponse } from '../../src/http/response/prepared-response.js';
import type { ApiRequest, Route } from '../../src/http/routes/types.js';
import { type Front, startFront } from './harness.js';

const META = { index: 7, knownLeader: true, lastContactMs: 0, filtered: false };
const READ = { value: '{"A":1}', meta: META, isPretty: false };

describe('http: the last response to a read', () => {
  let last: LastRead;
  let response: PreparedResponse;
  beforeEach(() => {
    last = new LastRead();
    response = new PreparedResponse(200, [], READ.value);
    last.keep(response, READ.value, META, false);
  });
  const find = ({ value, meta, isPretty }: typeof READ): PreparedResponse | undefined =>
    last.find(value, meta, isPretty);

  it('is the response to the next read that does not differ', () => {
    const meta = { ...META, lastContactMs: 0.4 };
    expect(find({ ...READ, value: `${'{"A":'}1}`, meta })).to.equal(response);
    expect(find(READ)).to.equal(response);
  });

  const others = {
    value: { ...READ, value: '{"A":2}' },
    format: { ...READ, isPretty: true },
    index: { ...READ, meta: { ...META, index: 8 } },
    leader: { ...READ, meta: { ...META, knownLeader: false } },
    contact: { ...READ, meta: { ...META, lastContactMs: 1 } },
    filter: { ...READ, meta: { ...META, filtered: true } },
  };
  for (const [what, other] of Object.entries(others))
    it(`is not that to a read of another ${what}`, () => {
      expect(find(other)).to.equal(undefined);
    });

  it('is encoded and compressed once', () => {
    const bytes = find(READ)?.body;
    expect(bytes).to.be.instanceOf(Buffer);
    expect(find(READ)?.body).to.equal(bytes);
    expect(response.packed()).to.equal(response.packed());
  });
});

describe('http: reads with the same response', () => {
  const LONG = JSON.stringify({ Text: 'é<'.repeat(1000) });
  let front: Front;
  let held: ApiRequest | undefined;
  const routes: Route[] = [
    { path: '/v1/long', GET: (request) => request.answerRead({ ...META, value: LONG }) },
    {
      path: '/v1/held',
      GET: (request) => {
        request.readOptions();
        held = request;
      },
    },
  ];
  beforeEach(async () => {
    front = await startFront(routes);
  });
  afterEach(() => front.close());

  it('get it in the format and coding that each one asks for', async () => {
    const escaped = `${LONG.replaceAll('<', '\\u003c')}\n`;
    for (let round = 0; round < 2; round += 1) {
      const plain = await front.ask('/v1/long');
      expect(plain.text).to.equal(escaped);
      const packed = await front.ask('/v1/long', { headers: { 'accept-encoding': 'gzip' } });
      expect(gunzipSync(packed.bytes).toString()).to.equal(escaped);
      expect(packed.headers).to.include({ 'content-encoding': 'gzip', 'x-service-index': '7' });
      expect(packed.headers['content-length']).to.equal(String(packed.bytes.length));
      const head = await front.ask('/v1/long', { method: 'HEAD' });
      expect(head.headers['content-length']).to.equal(String(Buffer.byteLength(escaped)));
      expect((await front.ask('/v1/long?pretty')).text).to.match(/^\{\n {4}"Text"/);
    }
  });

  it('are told to close their connections once the server stops', async () => {
    const agent = { headers: { connection: 'keep-alive' } };
    expect((await front.ask('/v1/long', agent)).headers.connection).to.equal('keep-alive');
    front.app.drain();
    expect((await front.ask('/v1/long', agent)).headers.connection).to.equal('close');
  });

  it('have read their requests to the end while they were held', async () => {
    const client = connect(front.listener.port, '127.0.0.1');
    const length = 1_000_000;
    client.write(`GET /v1/held?index=1 HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
    while (held === undefined) await new Promise(setImmediate);
    client.write('x'.repeat(length));
    await once(held.incoming, 'end');
    held.answerText('held until now');
    expect(String((await once(client, 'data'))[0])).to.match(/held until now\n$/);
    client.destroy();
  });
});
