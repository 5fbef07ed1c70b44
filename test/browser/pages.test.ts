/** Every page: its name, its title, what assistive technology finds, and what it must not do. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { HOSTILE, makeSample, type Sample } from './sample.js';
import { Stage } from './stage.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds, as far as the suite reads it. */
interface Axe {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** Violations that are serious or critical, as text. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = (await page.evaluate('axe.run()')) as Axe;
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]!.html} ${nodes[0]!.failureSummary}`);
}

describe('the pages of the web UI', function () {
  this.timeout(300_000);
  let stage: Stage;
  let sample: Sample;
  before(async () => {
    stage = await Stage.open(1);
    sample = await makeSample(stage);
  });
  after(() => stage?.close());
  afterEach(() => stage.closePages());

  const NAVIGATION = [
    ...['Overview', 'Policies', 'Roles', 'Tokens', 'Auth methods', 'Binding rules'],
    ...['Login playground', 'Explain', 'Who can', 'Config entries', 'Chains', 'Namespaces'],
  ];

  it('are reached by the navigation, whose names they have', async () => {
    const { page, faults } = await stage.open('/');
    const navigation = page.getByRole('navigation', { name: 'Pages' });
    expect(await navigation.getByRole('link').allTextContents()).to.deep.equal(NAVIGATION);
    for (const name of NAVIGATION) {
      await navigation.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      // The title follows the page at the next frame.
      while ((await page.title()) !== `${name} · Conclave`);
      expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
    }
    expect(faults).to.deep.equal([]);
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`are accessible in ${colorScheme} colours, and keep to their policy`, async () => {
      const { page, faults } = await stage.open('/', { colorScheme });
      const paths = [
        ...['/', '/policies', '/policies?new', `/policies/${sample.policy.ID}`, '/roles'],
        ...[`/roles/${sample.role.ID}`, '/tokens', `/tokens/${sample.token.AccessorID}`],
        ...['/auth-methods/builds', `/binding-rules/${sample.rule.ID}`, '/login-explain'],
        ...[`/explain?resource=service&access=write&accessor=${sample.token.AccessorID}`],
        ...['/who-can', '/config', '/config/service-router/web', '/chains/web', '/namespaces'],
        ...['/namespaces/team-a', '/nowhere'],
      ];
      for (const path of paths) {
        await page.goto(`${stage.cluster.urls[0]}/ui${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        expect(await violations(page), path).to.deep.equal([]);
      }
      expect(faults).to.deep.equal([]);
    });

  it('fit a screen of 320 pixels', async () => {
    const { page } = await stage.open('/', { width: 320, height: 640 });
    const paths = ['/', '/policies', `/policies/${sample.policy.ID}`, '/tokens', '/chains/web'];
    for (const path of paths) {
      await page.goto(`${stage.cluster.urls[0]}/ui${path}`);
      await page.waitForLoadState('networkidle');
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width, path).to.be.at.most(320);
    }
  });

  it('show hostile descriptions as text', async () => {
    const { page, faults } = await stage.open('/roles');
    await page.getByText(HOSTILE).waitFor();
    await page.goto(`${stage.cluster.urls[0]}/ui/roles/${sample.role.ID}`);
    const description = page.getByRole('textbox', { name: 'Description' });
    expect(await description.inputValue()).to.equal(HOSTILE);
    await page.goto(`${stage.cluster.urls[0]}/ui/chains/${encodeURIComponent(HOSTILE)}`);
    await page.getByRole('heading', { name: 'Chains' }).waitFor();
    while ((await page.title()) !== 'Chains · Conclave');
    expect(faults).to.deep.equal([]);
  });

  it('ask for the token first, and come back to where one was', async () => {
    const { page } = await stage.open('/roles', { token: '' });
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
    const { page } = await stage.open('/', { token: sample.token.SecretID });
    const refused = page.getByRole('alert').filter({ hasText: 'operator' });
    await refused.getByText('Not allowed.').waitFor();
    await refused.getByRole('link').click();
    await page.getByRole('heading', { name: 'Explain', exact: true }).waitFor();
  });

  it('end the session of a token that was deleted', async () => {
    const made = await stage.api<Sample['token']>('PUT', '/v1/acl/token', {
      Policies: [{ Name: 'global-management' }],
    });
    const { page } = await stage.open('/roles', { token: made.SecretID });
    await page.getByRole('table', { name: 'Roles' }).waitFor();
    await stage.api('DELETE', `/v1/acl/token/${made.AccessorID}`);
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await page.getByRole('alert').getByText('does not exist any more').waitFor();
    await page.getByRole('textbox', { name: 'Token' }).fill(stage.cluster.token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
  });
});
