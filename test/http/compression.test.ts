/** Compressed responses: few are made at one time, and documents are kept. */
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { OPENAPI } from '../../src/api/documents.js';
import { packing } from '../../src/http/limits/concurrency.js';
import { bytesOf } from '../../src/http/response/document-bytes.js';
import { documentRoutes } from '../../src/http/routes/documents.js';
import type { Route } from '../../src/http/routes/types.js';
import { type Front, startFront } from './harness.js';

const LONG = JSON.stringify({ text: 'long '.repeat(50_000) });

describe('http: compressed responses', () => {
  let front: Front;
  let next: (() => void) | undefined;
  const routes: Route[] = [
    ...documentRoutes,
    { path: '/v1/long', GET: (request) => request.answerJson(LONG) },
    {
      path: '/v1/pieces',
      GET: (request) =>
        request.answerStream(
          (async function* () {
            yield LONG;
            await new Promise<void>((resolve) => {
              next = resolve;
            });
            yield '\n';
          })(),
        ),
    },
  ];
  beforeEach(async () => {
    next = undefined;
    front = await startFront(routes);
  });
  afterEach(() => front.close());

  const ask = (path: string) => front.ask(path, { headers: { 'accept-encoding': 'gzip' } });
  const until = async (met: () => boolean): Promise<void> => {
    while (!met()) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Runs something while nothing more can be compressed. */
  const withoutPlaces = async (run: () => Promise<void>): Promise<void> => {
    expect([packing.tryTake(), packing.tryTake(), packing.tryTake()]).to.deep.equal([
      ...[true, true],
      false,
    ]);
    await run();
    packing.leave();
    packing.leave();
  };

  it('are sent as they are while as many as may are being compressed', async () => {
    await withoutPlaces(async () => {
      const { headers, text } = await ask('/v1/long');
      expect(headers).to.include({ vary: 'Accept-Encoding' });
      expect(headers).not.to.have.property('content-encoding');
      expect(text).to.equal(`${LONG}\n`);
    });
    const { headers, bytes } = await ask('/v1/long');
    expect(headers['content-encoding']).to.equal('gzip');
    expect(gunzipSync(bytes).toString()).to.equal(`${LONG}\n`);
  });

  it('in pieces hold a place until their end, or until the client leaves', async () => {
    await withoutPlaces(async () => {
      const plain = ask('/v1/pieces');
      await until(() => next !== undefined);
      next!();
      expect((await plain).headers).not.to.have.property('content-encoding');
    });
    next = undefined;
    const packed = ask('/v1/pieces');
    await until(() => next !== undefined);
    expect([packing.tryTake(), packing.tryTake()]).to.deep.equal([true, false]);
    next!();
    expect(gunzipSync((await packed).bytes).toString()).to.equal(`${LONG}\n`);
    packing.leave();
    next = undefined;
    const left = ask('/v1/pieces').catch(() => undefined);
    await until(() => next !== undefined);
    await front.listener.close(0);
    await left;
    const areFree = (): boolean => {
      const taken = [packing.tryTake(), packing.tryTake()].filter((isTaken) => isTaken);
      for (const _ of taken) packing.leave();
      return taken.length === 2;
    };
    await until(areFree);
    next!();
  });

  it('of documents need no place, and are compressed once', async () => {
    await withoutPlaces(async () => {
      for (const path of ['/v1/openapi.json', '/v1/schema/role']) {
        const plain = await front.ask(path);
        const { headers, bytes } = await ask(path);
        expect(headers['content-encoding']).to.equal('gzip');
        expect(gunzipSync(bytes).toString()).to.equal(plain.text);
      }
    });
    expect(bytesOf(OPENAPI)).to.equal(bytesOf(OPENAPI));
  });
});
