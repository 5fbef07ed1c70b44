import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { ApiError, refusal } from '../../src/base/errors.js';
import { fakeService, startFront } from './harness.js';

describe('http: the tokens of one connection', () => {
  it('count each for its own request', async () => {
    const whoami = '/v1/whoami';
    const front = await startFront([
      { path: whoami, GET: (request) => request.answerValue(request.caller) },
    ]);
    const tokens = ['a', 'b', undefined, 'a', 'ab', undefined];
    const ask = (token: string | undefined, connection: string): string => {
      const header = token === undefined ? '' : `X-Service-Token: ${token}\r\n`;
      return `GET ${whoami} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n${header}\r\n`;
    };
    const requests = tokens.map((token) => ask(token, 'keep-alive')).join('');
    const text = await front.raw(`${requests}${ask('b', 'close')}`);
    const seen = [...text.matchAll(/\{"tokenKey":.*?\}/g)].map(
      ([json]) => JSON.parse(json).tokenKey,
    );
    const keyOf = (token: string | undefined): string | null =>
      token === undefined ? null : createHash('sha256').update(token).digest('hex');
    expect(seen).to.deep.equal([...tokens, 'b'].map(keyOf));
    await front.close();
  });

  it('count all, of two headers of one name too', async () => {
    const whoami = '/v1/whoami';
    const front = await startFront([
      { path: whoami, GET: (request) => request.answerValue(request.caller) },
    ]);
    const ask = async (...sent: string[]): Promise<string> => {
      const headers = sent.map((value) => `Authorization: ${value}\r\n`).join('');
      const head = `GET ${whoami} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
      return (await front.raw(`${head}${headers}\r\n`)).split('\r\n\r\n', 2)[1]!;
    };
    const key = createHash('sha256').update('a').digest('hex');
    const why = 'The request carries more than one token, and they differ: send one, in one header';
    expect(await ask('Bearer a', 'Bearer b')).to.equal(`${why}\n`);
    for (const sent of [['Bearer a', 'Bearer a'], ['Basic eDp5', 'Bearer a'], ['bearer a']])
      expect(JSON.parse(await ask(...sent)), sent.join()).to.deep.equal({ tokenKey: key });
    await front.close();
  });

  it('that is not known waits for a leader once, and no longer', async () => {
    let waited = 0;
    const service = fakeService({
      namespaceOf: () => undefined,
      catchUp: async () => {
        waited += 1;
        throw new ApiError(refusal('no_leader', 'No cluster leader'));
      },
    });
    const path = '/v1/whoami';
    const front = await startFront(
      [{ path, GET: (request) => service.catchUp(0).then(() => request.answerValue({})) }],
      { service },
    );
    const { status, text } = await front.ask(path, { headers: { 'X-Service-Token': 'a' } });
    expect({ status, text, waited }).to.deep.equal({
      status: 503,
      text: 'No cluster leader\n',
      waited: 1,
    });
    await front.close();
  });
});
