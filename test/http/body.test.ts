/** Bodies of clients that do not send them whole. */
import { connect } from 'node:net';
import { expect } from 'chai';
import { ApiError } from '../../src/errors.js';
import type { ApiRequest } from '../../src/http/types.js';
import { type Front, startFront } from './harness.js';

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
    const read = refusal(request.body('Thing decoding failed'));
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
    const error = await refusal(request.body('Thing decoding failed'));
    expect(error)
      .to.be.instanceOf(ApiError)
      .with.property('message')
      .that.matches(/cut off/);
  });
});
