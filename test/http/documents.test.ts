import { expect } from 'chai';
import { SCHEMAS } from '../../src/api/documents.js';
import { documentRoutes } from '../../src/http/routes/documents.js';
import { type Front, startFront } from './harness.js';

describe('http: documents about the API', () => {
  let front: Front;
  before(async () => {
    front = await startFront(documentRoutes);
  });
  after(() => front.close());

  it('are open to everyone, whatever token and namespace a request names', async () => {
    const headers = { 'X-Consul-Token': 'unknown', 'X-Consul-Namespace': 'nowhere' };
    const { status, text } = await front.ask('/v1/schema/role?ns=none', { headers });
    expect(status).to.equal(200);
    expect(JSON.parse(text)).to.include({ $id: '/v1/schema/role', title: 'role' });
  });

  it('carry the entity tag of their bytes, and caches ask about it', async () => {
    const { headers, text } = await front.ask('/v1/schema/config/service-defaults');
    const { etag } = headers;
    expect(headers['content-type']).to.equal('application/json');
    expect(headers['cache-control']).to.equal('no-cache');
    expect(etag).to.equal(SCHEMAS['config/service-defaults']!.etag);
    expect(text).to.equal(SCHEMAS['config/service-defaults']!.text);
    for (const tag of [etag!, `W/${etag}`, '*', `"other", ${etag}`]) {
      const again = await front.ask('/v1/schema/config/service-defaults', {
        headers: { 'If-None-Match': tag },
      });
      expect(again.status, tag).to.equal(304);
      expect(again.headers).to.include({ etag, 'cache-control': 'no-cache' });
      expect(again.text).to.equal('');
    }
    const other = await front.ask('/v1/schema/config/service-defaults', {
      headers: { 'If-None-Match': '"other"' },
    });
    expect(other.status).to.equal(200);
  });

  it('that do not exist are 404', async () => {
    const unknown: [string, string][] = [
      ['config/service-default', 'did you mean \\"service-defaults\\"?'],
      ['config/', 'There is no schema'],
      ['sets', 'did you mean \\"set\\"?'],
      ['toString', 'There is no schema'],
      ['roles', 'did you mean \\"role\\"?'],
    ];
    for (const [name, phrase] of unknown) {
      const { status, headers, text } = await front.ask(`/v1/schema/${name}`);
      expect(status, name).to.equal(404);
      expect(headers['content-type']).to.equal('application/problem+json');
      expect(text).to.include(phrase);
    }
  });

  it('that do not exist are told in a type that the client accepts', async () => {
    const types: [string, RegExp][] = [
      ['text/plain, application/json;q=0', /^text\/plain/],
      ['application/json ; q=0.00, text/plain', /^text\/plain/],
      ['text/plain;q=0', /^application\/problem/],
      ['text/plain, application/json;q=0.1', /^application\/problem/],
    ];
    for (const [accept, type] of types) {
      const { headers } = await front.ask('/v1/schema/none', { headers: { accept } });
      expect(headers['content-type'], accept).to.match(type);
    }
  });

  it('refuse parameters that they do not have', async () => {
    const { status, text } = await front.ask('/v1/schema/role?indx=1');
    expect(status).to.equal(400);
    expect(text).to.include('Unknown query parameter');
  });
});
