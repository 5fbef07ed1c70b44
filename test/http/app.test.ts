import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { ApiRequest, Route } from '../../src/http/routes/types.js';
import { type Front, startFront } from './harness.js';

describe('http: the application', () => {
  let front: Front;
  let onHeld: (request: ApiRequest) => void = () => {};
  const name = (request: ApiRequest): void => request.answerValue(request.param('name'));
  const routes: Route[] = [
    { path: '/v1/thing/name/:name', GET: name },
    { path: '/v1/thing/check', adds: true, POST: (request) => request.answerValue('checked') },
    { path: '/v1/whoami', GET: (request) => request.answerValue(request.secret) },
    { path: '/v1/thing/:name', GET: name },
    { path: '/v1/pair/:name/of/:other', GET: name },
    { path: '/v1/held', GET: (request) => new Promise(() => onHeld(request)) },
  ];
  before(async () => {
    front = await startFront(routes);
  });
  after(() => front.close());

  const answer = async (path: string): Promise<unknown> => {
    const { status, text } = await front.ask(path);
    return status === 200 ? JSON.parse(text) : status;
  };

  it('decodes a path once and routes it as it is decoded', async () => {
    expect(await answer('/v1/thing/%78')).to.equal('x');
    expect(await answer('/v1/thing/name/a%3Fb%23?c=#d')).to.equal('a?b#');
    expect(await answer('/v1/thing/name/%7B%5C%25')).to.equal('{\\%');
    expect(await answer('/v1/thing/name/%C3%A9%2541')).to.equal('é%41');
    expect(await answer('/v1/pair/a%20c/of/b')).to.equal('a c');
  });

  it('routes a path as it was sent if a parser of URLs would rewrite it', async () => {
    const target = '/v1/thing/name/a#{b}\\c?d#e';
    const text = await front.raw(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(text).to.match(/\r\n\r\n"a#\{b\}\\\\c"\n$/);
  });

  it('finds no endpoint where a proxy may have seen another path', async () => {
    for (const path of ['/v1/thin%67/x', '/v1/thing/n%61me/x', '/v1/pair/a%2Fc/of/b'])
      expect(await answer(path), path).to.equal(404);
    expect(await answer('/v1/pair/a/%6ff/b')).to.equal(404);
    // a parser of URLs takes this for a host, once a "#" makes it look
    expect(await answer('//u@h/v1/thing/x?#')).to.equal(404);
  });

  it('takes a name that is spelled like a parameter', async () => {
    expect(await answer('/v1/thing/:name')).to.equal(':name');
    expect(await answer('/v1/pair/:name/of/:other')).to.equal(':name');
  });

  it('lists the methods that a route adds to a path', async () => {
    const path = '/v1/thing/check';
    const allow = 'OPTIONS,GET,HEAD,POST';
    const options = await front.ask(path, { method: 'OPTIONS' });
    expect([options.status, options.headers.allow]).to.deep.equal([200, allow]);
    const { status, headers, text } = await front.ask(path, { method: 'PUT' });
    expect([status, headers.allow]).to.deep.equal([405, allow]);
    expect(text).to.include('this path takes GET, HEAD, POST');
    expect((await front.ask(path, { method: 'POST' })).text).to.equal('"checked"\n');
  });

  it('says what is missing in a request without Host, and that it is no proxy', async () => {
    const close = 'Connection: close\r\n\r\n';
    expect(await front.raw(`GET /v1/whoami HTTP/1.1\r\n${close}`)).to.match(
      /^HTTP\/1\.1 400 .*\r\n\r\n.* no Host header.*\n$/s,
    );
    expect(await front.raw(`GET /v1/whoami HTTP/1.0\r\n${close}`)).to.match(/^HTTP\/1\.1 200 /);
    expect(await front.raw('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n')).to.match(
      /^HTTP\/1\.1 405 .*\r\n\r\n.*CONNECT.*\n$/s,
    );
  });

  it('reads all headers of a request, however many there are', async () => {
    const many = 'A: b\r\n'.repeat(2000);
    const get = `GET /v1/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${many}`;
    expect(await front.raw(`${get}X-Service-Token: a\r\n\r\n`)).to.match(/\r\n\r\n"a"\n$/);
    expect(await front.raw(`${get}Host: y\r\n\r\n`)).to.match(
      /^HTTP\/1\.1 400 .*more than one Host/s,
    );
  });

  it('does not report the errors of connections', async () => {
    const client = connect(front.listener.port, '127.0.0.1');
    await once(client, 'connect');
    const ended = new Promise<void>((resolve) => {
      onHeld = (request) => {
        request.incoming.socket.once('close', () => resolve());
        client.resetAndDestroy();
      };
    });
    client.write('GET /v1/held HTTP/1.1\r\nHost: x\r\n\r\n');
    await ended;
    expect(await answer('/v1/thing/x')).to.equal('x');
    expect(front.events).to.deep.equal([]);
  });
});
