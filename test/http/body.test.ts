/** Bodies that are not sent whole, or not as they are. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ApiError } from '../../src/base/errors.js';
import { unpacking } from '../../src/http/limits/concurrency.js';
import type { ApiRequest } from '../../src/http/routes/types.js';
import { anyObject } from '../../src/languages/fields.js';
import type { Ask } from '../support/client.js';
import { type Front, fakeService, LIMITS, startFront } from './harness.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('http: a body that is cut off', () => {
  let front: Front;
  let onRequest: (request: ApiRequest) => void;
  before(async () => {
    const PUT = (request: ApiRequest): void => onRequest(request);
    front = await startFront([{ path: '/v1/thing', PUT }]);
  });
  after(() => front.listener.close(0));

  /** Sends half of a body; resolves with the client and the request as the endpoint sees it. */
  const half = async () => {
    const arrived = new Promise<ApiRequest>((resolve) => {
      onRequest = resolve;
    });
    const client = connect(front.listener.port, '127.0.0.1');
    client.write('PUT /v1/thing HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n\r\n{"a":');
    return { client, request: await arrived };
  };
  const refusal = (read: Promise<unknown>): Promise<unknown> =>
    read.then(
      () => 'a whole body',
      (error) => error,
    );

  it('is refused if the client leaves while it is read', async () => {
    const { client, request } = await half();
    const read = refusal(request.body('Thing decoding failed', anyObject));
    setImmediate(() => client.destroy());
    expect(await read)
      .to.be.instanceOf(ApiError)
      .with.property('message')
      .that.matches(/cut off/);
  });

  it('is refused if the client has left before it is read', async () => {
    const { client, request } = await half();
    const closed = new Promise((resolve) => request.incoming.once('close', resolve));
    client.destroy();
    await closed;
    const error = await refusal(request.body('Thing decoding failed', anyObject));
    expect(error)
      .to.be.instanceOf(ApiError)
      .with.property('message')
      .that.matches(/cut off/);
  });
});

describe('http: bodies of unknown callers that are not sent whole', () => {
  interface Way {
    readonly header: string;
    /** What precedes the body, and what follows it. */
    readonly size?: string;
    readonly end?: string;
  }
  const SENT = 60_000;
  const WITH_LENGTH: Way = { header: `Content-Length: ${SENT}` };
  const clients: Socket[] = [];
  let front: Front;
  let onRequest: (request: ApiRequest) => void;
  beforeEach(async () => {
    const PUT = async (request: ApiRequest) => {
      onRequest(request);
      request.answerValue((await request.body('Thing decoding failed', anyObject))['b']);
    };
    const service = fakeService({ namespaceOf: () => 'default' });
    const limits = { ...LIMITS, pendingBodyBytes: 131_072 };
    front = await startFront([{ path: '/v1/thing', PUT }], { service, limits });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await front.close();
  });

  /** Sends a body but for its end. Resolves when the server has read what was sent. */
  const begin = async ({ header, size = '', end = '' }: Way) => {
    const arrived = new Promise<ApiRequest>((resolve) => {
      onRequest = resolve;
    });
    const client = connect(front.listener.port, '127.0.0.1');
    clients.push(client);
    const response = once(client, 'data').then(([bytes]) => String(bytes));
    const head = `PUT /v1/thing HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n${size}`;
    const sent = `${head}{"a":"${'x'.repeat(SENT - 14)}","b":`;
    client.write(sent);
    const { socket } = (await arrived).incoming;
    while (socket.bytesRead < sent.length) await turn();
    return { finish: () => client.write(`1}${end}`), response };
  };

  for (const [how, way] of [
    ['with a length', WITH_LENGTH],
    ['in chunks', { header: 'Transfer-Encoding: chunked', size: 'ea60\r\n', end: '\r\n0\r\n\r\n' }],
  ] as const) {
    it(`are refused when all take too many bytes, the oldest first: ${how}`, async () => {
      const [oldest, second] = [await begin(way), await begin(way)];
      const third = await begin(way);
      expect(await oldest.response).to.match(/^HTTP\/1\.1 429 .*limits\.pendingBodyBytes/s);
      for (const { finish, response } of [third, second]) {
        finish();
        expect(await response).to.match(/^HTTP\/1\.1 200 .*\n1\n$/s);
      }
      expect(front.app.refused.counts).to.include({ pendingBodyBytes: 1 });
    });
  }

  it('count no longer once they have come whole, or their clients have left', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { finish, response } = await begin(WITH_LENGTH);
      await begin(WITH_LENGTH);
      finish();
      expect(await response).to.match(/^HTTP\/1\.1 200 /);
      const open = front.listener.connections();
      clients.at(-1)!.destroy();
      while (front.listener.connections() === open) await turn();
      await turn();
    }
    expect(front.app.refused.counts).to.include({ pendingBodyBytes: 0 });
  });
});

describe('http: a body with Content-Encoding', () => {
  const KNOWN = { 'x-service-token': 'known' };
  const body = JSON.stringify({ a: 'b'.repeat(5000) });
  let front: Front;
  before(async () => {
    const PUT = async (request: ApiRequest) =>
      request.answerValue(await request.body('Thing decoding failed', anyObject));
    const service = fakeService({ namespaceOf: () => 'default' });
    const limits = { ...LIMITS, bodyBytes: 100_000, anonymousBodyBytes: 50_000 };
    front = await startFront([{ path: '/v1/thing', PUT }], { service, limits });
  });
  after(() => front.close());

  const put = (coding: string, sent: Buffer, headers: Ask['headers'] = KNOWN) =>
    front.ask('/v1/thing', {
      method: 'PUT',
      body: sent,
      headers: { ...headers, 'content-encoding': coding },
    });

  it('is unpacked for a caller with a valid token', async () => {
    const codings = { gzip: gzipSync, deflate: deflateSync, Identity: Buffer.from, GZIP: gzipSync };
    for (const [coding, pack] of Object.entries(codings)) {
      const { status, text } = await put(coding, pack(Buffer.from(body)));
      expect([status, text], coding).to.deep.equal([200, `${body}\n`]);
    }
  });

  it('is refused without a token, before it is read', async () => {
    const { status, text } = await put('gzip', gzipSync(body), {});
    expect([status, text]).to.deep.equal([
      400,
      'Thing decoding failed: a body with Content-Encoding is accepted only with a valid token, ' +
        'and not for a login or a bootstrap (send the body without Content-Encoding)\n',
    ]);
    expect((await put('identity', Buffer.from(body), {})).status).to.equal(200);
    const client = connect(front.listener.port, '127.0.0.1');
    client.write('PUT /v1/thing HTTP/1.1\r\nHost: x\r\nContent-Encoding: br\r\n');
    client.write('Content-Length: 5000\r\n\r\n');
    const first = await new Promise<string>((resolve) => {
      client.once('data', (chunk) => resolve(String(chunk)));
    });
    client.destroy();
    expect(first).to.match(/^HTTP\/1\.1 400 /);
  });

  it('is refused if it is packed with brotli, twice, or with what nobody knows', async () => {
    const codings = { br: brotliCompressSync(body), 'gzip, gzip': gzipSync(gzipSync(body)) };
    for (const [coding, sent] of Object.entries({ ...codings, constructor: Buffer.from('{}') })) {
      const { status, text } = await put(coding, sent);
      expect(status, coding).to.equal(400);
      expect(text).to.include('is not supported').and.to.include('gzip and deflate');
    }
  });

  it('is refused at the limit, however much it unpacks to', async () => {
    for (const pack of [gzipSync, deflateSync]) {
      const coding = pack === gzipSync ? 'gzip' : 'deflate';
      const bomb = pack(Buffer.alloc(50_000_000, 32), { level: 9 });
      const { status, text } = await put(coding, bomb);
      expect([status, text.includes('limits.bodyBytes')]).to.deep.equal([413, true]);
    }
    expect((await put('gzip', Buffer.alloc(100_001, 32))).status).to.equal(413);
  });

  it('is refused if it cannot be unpacked', async () => {
    for (const sent of [Buffer.from('nonsense'), gzipSync(body).subarray(0, 20)]) {
      const { status, text } = await put('gzip', sent);
      expect([status, text.includes('cannot be unpacked')]).to.deep.equal([400, true]);
    }
  });

  it('waits while as many as may are being unpacked', async () => {
    await unpacking.take();
    await unpacking.take();
    let isAnswered = false;
    const answer = put('gzip', gzipSync(body)).finally(() => {
      isAnswered = true;
    });
    expect((await front.ask('/v1/thing', { method: 'PUT', body: '{}' })).status).to.equal(200);
    expect(isAnswered).to.equal(false);
    unpacking.leave();
    expect((await answer).status).to.equal(200);
    unpacking.leave();
  });
});
