/** No page goes on as if nothing had happened. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { makeSample, pathsOf, type Sample } from './sample.js';
import { describePages, type Stage } from './stage.js';

/** Opens a page of each kind, each in a tab of its own. */
async function openAll(stage: Stage, paths: readonly string[]): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (const path of paths) {
    const { page } = await stage.visit(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    pages.push(page);
  }
  return pages;
}

/** Resolves once all pages say this. */
const allSay = (pages: readonly Page[], text: RegExp): Promise<unknown> =>
  Promise.all(pages.map((page) => page.getByRole('alert').getByText(text).first().waitFor()));

describePages('every page of the web UI', 3, (stage) => {
  let sample: Sample;
  let paths: readonly string[];
  before(async () => {
    sample = await makeSample(stage);
    paths = pathsOf(sample);
  });

  it('says that the session has ended, and comes back to what was typed', async () => {
    const made = await stage.api<Sample['token']>('PUT /v1/acl/token', {
      Policies: [{ Name: 'global-management' }],
    });
    const { page } = await stage.visit(`/roles/${sample.role.ID}`, { token: made.SecretID });
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('typed before');
    await stage.api(`DELETE /v1/acl/token/${made.AccessorID}`);
    await page.getByRole('alert').getByText('no longer exists').waitFor();
    await page.getByRole('textbox', { name: 'Token' }).fill(stage.cluster.token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await description.waitFor();
    expect(await description.inputValue()).to.equal('typed before');
  });

  it('says that an answer takes long', async () => {
    const { page } = await stage.visit('/');
    await page.route('**/v1/acl/policy/**', () => {});
    await page.goto(stage.hrefOf(`/policies/${sample.policy.ID}`));
    await page.getByRole('status').getByText('The node takes long to answer').waitFor();
    await page.unroute('**/v1/acl/policy/**');
  });

  it('says that its node does not answer, before it has heard of it', async () => {
    const { page } = await stage.visit('/');
    await page.route('**/v1/status/leader**', (route) => route.abort());
    await page.goto(stage.hrefOf(`/policies/${sample.policy.ID}`));
    await allSay([page], /This node has not answered since \d/);
    await page.unroute('**/v1/status/leader**');
  });

  it('says that the cluster has lost its leader, and when it is back', async () => {
    const [own, ...others] = stage.cluster.nodes;
    expect(own!.url).to.equal(stage.cluster.urls[0]);
    const pages = await openAll(stage, paths);
    for (const node of others) await node.kill('SIGKILL');
    await allSay(pages, /has no leader/);
    for (const node of others) node.start();
    for (const node of others) await node.ready();
    await Promise.all(
      pages.map((page) =>
        page
          .getByText(/has no leader/)
          .first()
          .waitFor({ state: 'detached' }),
      ),
    );
  });

  it('says that its node does not answer', async () => {
    const pages = await openAll(stage, paths);
    await stage.cluster.nodes[0]!.kill('SIGKILL');
    await allSay(pages, /This node has not answered since \d/);
    stage.cluster.nodes[0]!.start();
    await stage.cluster.nodes[0]!.ready();
    await Promise.all(
      pages.map((page) =>
        page
          .getByText(/This node has not answered/)
          .first()
          .waitFor({ state: 'detached' }),
      ),
    );
  });
});
