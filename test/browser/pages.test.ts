/** Every page: its name, its title, what assistive technology finds, and what it must not do. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { violations } from './axe.js';
import { HOSTILE, makeSample, pathsOf, type Sample } from './sample.js';
import { describePages } from './stage.js';

/** Pages that read on and on. */
const LIVE =
  /^\/(policies|roles|tokens|auth-methods|binding-rules|config|namespaces|history|audit)$/;

/** How each page is looked at: colours, and pixels of width. */
const LOOKS = [
  ['light', 1400],
  ['dark', 1400],
  ['light', 768],
  ['dark', 360],
  ['light', 320],
] as const;

/** Resolves once a page shows what it has read. */
async function settled(page: Page, path: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  if (path === '/intentions') await page.getByText('There are no intentions').waitFor();
  else if (LIVE.test(path)) await page.getByRole('table').waitFor();
  else await page.waitForLoadState('networkidle');
}

describePages('the pages of the web UI', 1, (stage) => {
  let sample: Sample;
  before(async () => {
    sample = await makeSample(stage);
  });

  const NAVIGATION = [
    ...['Overview', 'Policies', 'Roles', 'Tokens', 'Auth methods', 'Binding rules'],
    ...['Login playground', 'Explain', 'Who can', 'Decisions'],
    ...['Config entries', 'Chains', 'Intentions'],
    ...['Namespaces', 'History', 'Audit', 'Events', 'Plan', 'Moving in', 'Settings'],
  ];

  it('lead on where there is nothing yet', async () => {
    const { page } = await stage.visit('/intentions');
    await page.getByRole('link', { name: 'Make the first one' }).click();
    await page.getByRole('heading', { level: 1, name: 'New config entry' }).waitFor();
    const kind = page.getByRole('combobox', { name: 'Kind' });
    expect(await kind.inputValue()).to.equal('service-intentions');
  });

  it('are reached by the navigation, whose names they have', async () => {
    const { page, faults } = await stage.visit('/');
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    await navigation.getByRole('link', { name: 'Settings' }).waitFor();
    expect(await navigation.getByRole('link').allTextContents()).to.deep.equal(NAVIGATION);
    for (const name of NAVIGATION) {
      await navigation.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      expect(await page.title()).to.equal(`${name} · Conclave`);
      expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
    }
    expect(faults).to.deep.equal([]);
  });

  it('are accessible, and no wider than the screen, in both colour schemes', async () => {
    const { page, faults } = await stage.visit('/');
    for (const path of pathsOf(sample)) {
      await page.goto(stage.hrefOf(path));
      await settled(page, path);
      for (const [colorScheme, width] of LOOKS) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        const look = `${path}, ${colorScheme}, ${width} pixels`;
        expect(await violations(page), look).to.deep.equal([]);
        const scrolled = await page.evaluate('document.documentElement.scrollWidth');
        expect(scrolled, look).to.be.at.most(width);
      }
    }
    expect(faults).to.deep.equal([]);
  });

  it('show hostile descriptions as text', async () => {
    const { page, faults } = await stage.visit('/roles');
    await page.getByText(HOSTILE).waitFor();
    await page.goto(stage.hrefOf(`/roles/${sample.role.ID}`));
    const description = page.getByRole('textbox', { name: 'Description' });
    expect(await description.inputValue()).to.equal(HOSTILE);
    await page.goto(stage.hrefOf(`/chains/${encodeURIComponent(HOSTILE)}`));
    await page.getByRole('heading', { name: 'Chains' }).waitFor();
    expect(await page.title()).to.equal('Chains · Conclave');
    expect(faults).to.deep.equal([]);
  });

  it('ask for the token first, and come back to where one was', async () => {
    const { page } = await stage.visit('/roles', { token: '' });
    const token = page.getByRole('textbox', { name: 'Token' });
    await token.fill('00000000-0000-0000-0000-000000000000');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('No token has this SecretID').waitFor();
    await token.fill(stage.cluster.token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Roles' }).waitFor();
    expect(page.url()).not.to.include(stage.cluster.token);
    expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage })')).to.equal(
      '{}',
    );
    await page.getByRole('button', { name: 'Log out' }).click();
    await token.waitFor();
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).to.equal('{}');
  });

  it('say what a token may not do, and lead to the reason', async () => {
    const { page } = await stage.visit('/roles', { token: sample.token.SecretID });
    const refused = page.getByRole('alert').filter({ hasText: 'acl' });
    await refused.getByText('Not allowed.').waitFor();
    await refused.getByRole('link').click();
    await page.getByRole('heading', { name: 'Explain', exact: true }).waitFor();
  });

  it('show the own rights first to who may not see the cluster', async () => {
    const { page } = await stage.visit('/', { token: sample.token.SecretID });
    const rights = page.getByRole('table', { name: 'Rights of the token' });
    await rights.getByRole('row', { name: /^service web write/ }).waitFor();
    await page.getByText('shown to tokens with operator:read').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: 'Not allowed' }).count()).to.equal(0);
    expect(await violations(page)).to.deep.equal([]);
  });

  it('end the session of a token that was deleted', async () => {
    const made = await stage.api<Sample['token']>('PUT /v1/acl/token', {
      Policies: [{ Name: 'global-management' }],
    });
    const { page } = await stage.visit('/roles', { token: made.SecretID });
    await page.getByRole('table', { name: 'Roles' }).waitFor();
    await stage.api(`DELETE /v1/acl/token/${made.AccessorID}`);
    // The page shows a list, which it reads on and on.
    await page.getByRole('alert').getByText('no longer exists').waitFor();
    await page.getByRole('textbox', { name: 'Token' }).fill(stage.cluster.token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Roles' }).waitFor();
  });
});
