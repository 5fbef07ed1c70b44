/** How the files of the web UI are served. What the pages do is tested in a browser. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Front, startFront } from './harness.js';

const STORED = '<!doctype html><title>Conclave</title><div id="app"></div>';
const PAGE = STORED.replace('<div id="app"', '<div id="app" data-idle="5000"');
const SCRIPT = `export const text = '${'x'.repeat(2000)}';`;
const BROWSER = { accept: 'text/html,application/xhtml+xml' };

describe('http: the web UI', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-ui-'));
  let front: Front | undefined;
  before(() => {
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html.gz'), gzipSync(STORED));
    writeFileSync(join(folder, 'assets/app.1A2B.js.gz'), gzipSync(SCRIPT));
    writeFileSync(join(folder, 'assets/logo.1A2B.svg.gz'), gzipSync('<svg/>'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => front?.close());
  const open = async (given: Parameters<typeof startFront>[1] = {}) => {
    front = await startFront([], { ui: { folder, idleMs: 5000 }, ...given });
    return front;
  };

  it('answers the page for every path, with the time-out, and keeps no copy of it', async () => {
    const { ask } = await open();
    for (const path of ['/ui/', '/ui/policies', '/ui/config/service-defaults/a%2Fb', '/ui/x.js']) {
      const { status, headers, text } = await ask(path);
      expect(status, path).to.equal(200);
      expect(text).to.equal(PAGE);
      expect(headers['content-type']).to.equal('text/html; charset=utf-8');
      expect(headers['cache-control']).to.equal('no-store');
    }
  });

  it('answers assets compressed as they were built, to be kept for ever', async () => {
    const { ask } = await open();
    const packed = await ask('/ui/assets/app.1A2B.js', {
      headers: { 'accept-encoding': 'gzip, br' },
    });
    expect(packed.headers['content-encoding']).to.equal('gzip');
    expect(gunzipSync(packed.bytes).toString()).to.equal(SCRIPT);
    const plain = await ask('/ui/assets/app.1A2B.js');
    expect(plain.text).to.equal(SCRIPT);
    expect(plain.headers['content-encoding']).to.equal(undefined);
    expect(plain.headers['content-type']).to.equal('text/javascript; charset=utf-8');
    expect(plain.headers['cache-control']).to.equal('public, max-age=31536000, immutable');
    const logo = await ask('/ui/assets/logo.1A2B.svg', { method: 'HEAD' });
    expect([logo.status, logo.text, logo.headers['content-type']]).to.deep.equal([
      ...[200, '', 'image/svg+xml'],
    ]);
  });

  it('forbids inline script and style, framing, and requests to other hosts', async () => {
    const { ask } = await open();
    for (const path of ['/ui/', '/ui/assets/app.1A2B.js']) {
      const { headers } = await ask(path);
      expect(headers['content-security-policy']).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
          "font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; " +
          "frame-ancestors 'none'",
      );
      expect(headers['x-content-type-options']).to.equal('nosniff');
      expect(headers['referrer-policy']).to.equal('no-referrer');
      expect(headers['cross-origin-opener-policy']).to.equal('same-origin');
    }
  });

  it('leads from /ui to /ui/, and browsers from / there', async () => {
    const { ask } = await open();
    const short = await ask('/ui');
    expect([short.status, short.headers.location]).to.deep.equal([301, '/ui/']);
    const root = await ask('/', { headers: BROWSER });
    expect([root.status, root.headers.location]).to.deep.equal([307, '/ui/']);
    const other = await ask('/');
    expect([other.status, other.text]).to.deep.equal([
      200,
      'Conclave: access control and central configuration; the API is under /v1/\n',
    ]);
  });

  it('answers 404 for assets that do not exist, and for paths that leave the folder', async () => {
    const { ask } = await open();
    for (const path of [
      ...['/ui/assets/app.js', '/ui/assets/', '/ui/assets/app.1A2B.js.gz', '/uix'],
      ...['/ui/assets/../index.html', '/ui/assets/%2e%2e/index.html', '/ui//'],
    ])
      expect((await ask(path)).status, path).to.equal(404);
  });

  it('takes GET and HEAD alone', async () => {
    const { ask } = await open();
    const { status, headers } = await ask('/ui/', { method: 'POST', body: 'x' });
    expect([status, headers.allow]).to.deep.equal([405, 'GET,HEAD']);
  });

  it('is not there when it is disabled, and 403 where its paths are blocked', async () => {
    const off = await open({ ui: undefined });
    for (const path of ['/ui', '/ui/']) expect((await off.ask(path)).status, path).to.equal(404);
    expect((await off.ask('/', { headers: BROWSER })).status).to.equal(200);
    await off.close();
    const { ask } = await open({ blockedPaths: ['/ui'] });
    for (const path of ['/ui', '/ui/', '/ui/assets/app.1A2B.js'])
      expect((await ask(path)).status, path).to.equal(403);
  });

  it('may be the target of a link of another site, and of nothing else there', async () => {
    const { ask } = await open();
    const link = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    expect((await ask('/ui/policies', { headers: link })).status).to.equal(200);
    expect((await ask('/', { headers: { ...link, ...BROWSER } })).status).to.equal(307);
    const inFrame = Object.assign({}, link, { 'sec-fetch-dest': 'iframe' });
    const asScript = Object.assign({}, inFrame, { 'sec-fetch-mode': 'no-cors' });
    for (const headers of [inFrame, asScript])
      expect((await ask('/ui/', { headers })).status).to.equal(403);
    expect((await ask('/v1/status/leader', { headers: link })).status).to.equal(403);
  });

  it('answers only to hosts that the node answers to', async () => {
    const { ask } = await open({ allowedHosts: ['conclave.example'] });
    expect((await ask('/ui/', { headers: { host: 'evil.example' } })).status).to.equal(403);
    expect((await ask('/ui/', { headers: { host: 'conclave.example' } })).status).to.equal(200);
  });
});
