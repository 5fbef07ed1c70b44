import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { allEndpoints, endpointsOf, labelOf } from '../../scripts/fuzz/endpoints.js';
import { type Figures, GROWTH, growth } from '../../scripts/fuzz/figures.js';
import { isOrder } from '../../scripts/fuzz/frames.js';
import { Gun } from '../../scripts/fuzz/gun.js';
import { problemOf } from '../../scripts/fuzz/judge.js';
import { fuzz } from '../../scripts/fuzz/run.js';
import { readReplies, type Shot } from '../../scripts/fuzz/shot.js';
import { problemOfLine } from '../../scripts/fuzz/watch.js';
import { encodeRequest } from '../../src/replica/rpc-codec.js';
import { encodeFrame } from '../../src/transport/frames.js';

describe('the fuzzer', () => {
  const dir = mkdtempSync(join(tmpdir(), 'conclave-fuzz-'));
  after(() => rmSync(dir, { recursive: true, force: true }));

  it('finds no fault in a cluster of three, and reaches every endpoint', async () => {
    const report = await fuzz({
      seed: 7,
      dir,
      shots: 2500,
      warmUp: 500,
      rate: 400,
      note: () => {},
    });
    const problems = report.reported.map(
      ({ problem, replay = '' }) => `${problem} ${replay.slice(0, 2000)}`,
    );
    expect(problems.join('\n')).to.equal('');
    expect(report.shots).to.be.greaterThan(2500);
    expect(report.written).to.be.greaterThan(0);
  });

  it('can send requests to a route for which no bodies were written', () => {
    const endpoint = () => {};
    const [get, put] = endpointsOf([
      { path: '/v1/new/:id/of/:name', GET: endpoint, PUT: endpoint },
    ]);
    expect(get).to.include({ path: '/v1/new/*/of/*', method: 'GET' });
    expect(put?.bodies).not.to.deep.equal([]);
  });

  it('takes its endpoints from the routes of the code', () => {
    const labels = allEndpoints().map(labelOf);
    expect(labels).to.include.members(['PUT /v1/snapshot', 'POST /v1/acl/login']);
    expect(new Set(labels).size).to.equal(labels.length);
  });

  it("sends nothing in a member's name that members would obey", () => {
    const [from, to] = ['a', 'b'];
    const envelope = { from, to, lastIndex: 1, lastTerm: 1 };
    const vote = (term: number): Buffer =>
      Buffer.concat(encodeFrame({ type: 'message', message: { type: 'vote', term, ...envelope } }));
    const remove = encodeRequest({ type: 'remove', id: 'a' });
    const request = Buffer.concat(encodeFrame({ type: 'request', id: 1, payload: remove }));
    expect([vote(9), request].map(isOrder)).to.deep.equal([true, true]);
    expect(isOrder(Buffer.concat([vote(0), vote(9)]))).to.equal(true);
    expect([vote(0), vote(9).subarray(1)].map(isOrder)).to.deep.equal([false, false]);
  });

  it('reports figures that have grown beyond their limits', () => {
    const before: Figures = {
      residentBytes: 0,
      heapBytes: 0,
      sockets: 5,
      files: 30,
      handles: { Timeout: 3 },
    };
    expect(growth(before, before)).to.deep.equal([]);
    const residentBytes = (GROWTH.residentMb + 1) * 2 ** 20;
    const handles = { Timeout: 100 };
    const after = { residentBytes, heapBytes: 2 ** 30, sockets: 100, files: 500, handles };
    expect(growth(before, after)).to.have.length(5);
  });

  it('treats an error or a stack trace in a log as a fault, but not a warning', () => {
    expect(problemOfLine('{"level":"warn","msg":"a connection was refused"}')).to.equal(undefined);
    expect(problemOfLine('{"level":"error","msg":"a request failed"}')).to.include('a request');
    expect(problemOfLine('    at Object.<anonymous> (file.js:1:2)')).to.include('file.js');
  });

  describe('judges responses', () => {
    let server: Server;
    let answer: RequestListener;
    let gun: Gun;
    before((done) => {
      server = createServer((req, res) => answer(req, res)).listen(0, '127.0.0.1', () => {
        gun = new Gun([`http://127.0.0.1:${(server.address() as AddressInfo).port}`]);
        done();
      });
    });
    after(async () => {
      await gun.close();
      server.close();
    });

    /** The verdict on the server's responses to this many requests. */
    async function verdict(listener: RequestListener, requests = 1): Promise<string | undefined> {
      answer = listener;
      const one = (end: string): string => `GET / HTTP/1.1\r\nHost: a\r\n${end}\r\n`;
      const bytes = Buffer.from(one('').repeat(requests - 1) + one('Connection: close\r\n'));
      const methods = Array(requests).fill('GET');
      const shot: Shot = { label: 'x', node: 0, parts: [bytes], methods, strict: true };
      return problemOf(shot, await gun.fire(shot));
    }
    const json = { 'content-type': 'application/json' };

    it('that are valid', async () => {
      expect(await verdict((_req, res) => res.writeHead(200, json).end('{}'), 3)).to.equal(
        undefined,
      );
      expect(await verdict((_req, res) => res.writeHead(503).end('No leader'))).to.equal(undefined);
      expect(await verdict((_req, res) => res.writeHead(400).end('no name'))).to.equal(undefined);
    });

    it('that reveal a fault of the server', async () => {
      expect(await verdict((_req, res) => res.writeHead(500).end('x'))).to.include('status 500');
      const slip: RequestListener = (_req, res) => res.writeHead(400).end('TypeError: x is null');
      expect(await verdict(slip)).to.include('TypeError');
    });

    it('that are malformed, truncated, or missing', async () => {
      expect(await verdict((_req, res) => res.writeHead(200, json).end('{'))).to.include('no JSON');
      expect(await verdict((req) => req.socket.destroy())).to.include('0 answers to 1');
      const cut: RequestListener = (req, res) => {
        res.writeHead(200, { 'content-length': 10 });
        res.write('12345', () => req.socket.destroy());
      };
      expect(await verdict(cut)).to.include('cut off');
    });
  });

  it('parses chunked responses, responses to HEAD, and interim responses', () => {
    const text = [
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n',
      'HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx',
    ].join('');
    const replies = readReplies(Buffer.from(text), ['GET', 'HEAD', 'GET']);
    expect(replies.map(({ status, body }) => `${status} ${body}`)).to.deep.equal([
      '200 abc',
      '200 ',
      '404 x',
    ]);
    expect(() => readReplies(Buffer.from(text.slice(0, -1)), ['GET', 'HEAD', 'GET'])).to.throw(
      'cut off',
    );
  });
});
