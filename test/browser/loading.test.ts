/** What the first page waits for: no request stands in series that could be sent at once. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { hold } from './actions.js';
import { makeSample, type Sample } from './sample.js';
import { describePages } from './stage.js';

/** Resolves once the page has sent a request whose path matches. */
const sent = (page: Page, path: string | RegExp): Promise<unknown> =>
  page.waitForRequest((request) => {
    const { pathname } = new URL(request.url());
    return typeof path === 'string' ? pathname === path : path.test(pathname);
  });

describePages('the first page of the web UI', 1, (stage) => {
  let sample: Sample;
  before(async () => {
    sample = await makeSample(stage);
  });

  it('loads one script and asks for all that it shows at once', async () => {
    const page = await stage.blank();
    const assets = new Set<string>();
    page.on('request', (request) => {
      const name = /\/ui\/assets\/(.*)$/.exec(request.url())?.[1];
      if (name !== undefined) assets.add(name.replace(/\.[A-Z0-9]{8}\./, '.'));
    });
    const release = await hold(page, '**/v1/**');
    const asked = Promise.all([
      sent(page, '/v1/operator/autopilot/state'),
      sent(page, '/v1/operator/level'),
      sent(page, '/v1/namespaces'),
      sent(page, '/v1/acl/token/self'),
    ]);
    await page.goto(stage.hrefOf('/'));
    await asked;
    await release();
    await page.getByRole('table', { name: 'Members' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect([...assets].sort()).to.deep.equal(['app.css', 'app.js', 'logo.svg']);
  });

  it('with an editor loads it while the object is read', async () => {
    const page = await stage.blank();
    const release = await hold(page, '**/v1/**');
    const asked = Promise.all([
      sent(page, `/v1/acl/policy/${sample.policy.ID}`),
      sent(page, /^\/ui\/assets\/editor\./),
    ]);
    await page.goto(stage.hrefOf(`/policies/${sample.policy.ID}`));
    await asked;
    await release();
    await page.getByRole('textbox', { name: 'Rules' }).waitFor();
  });
});
