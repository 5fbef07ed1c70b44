/** What a token may not do is shown as not allowed, before it is tried. */
import { expect } from 'chai';
import { apply, button, field, saved } from './actions.js';
import { violations } from './axe.js';
import { makeSample, type Sample } from './sample.js';
import { describePages } from './stage.js';

const READER = 'acl = "read"\noperator = "read"\nservice_prefix "" {\n  policy = "read"\n}\n';

/** The backgrounds of the editor and of a field that cannot be changed. */
const BACKGROUNDS = `[
  document.querySelector('.editor').shadowRoot.querySelector('.cm-editor'),
  document.querySelector('main input:disabled'),
].map((element) => getComputedStyle(element).backgroundColor)`;

describePages('a token that only reads, in the web UI', 3, (stage) => {
  let sample: Sample;
  let reader: Sample['token'];
  before(async () => {
    sample = await makeSample(stage);
    await stage.api('PUT /v1/acl/policy', { Name: 'reader', Rules: READER });
    reader = await stage.api('PUT /v1/acl/token', { Policies: [{ Name: 'reader' }] });
  });

  it('is offered no new objects, and led to the reason', async () => {
    const { page } = await stage.visit('/policies', { token: reader.SecretID });
    const table = page.getByRole('table', { name: 'Policies' });
    await table.getByRole('link', { name: 'team-blue' }).waitFor();
    const status = page.getByRole('status').filter({ hasText: 'It requires acl:write.' });
    await status.waitFor();
    expect(await page.getByRole('link', { name: 'New policy' }).count()).to.equal(0);
    await status.getByRole('link', { name: 'Why?' }).click();
    await page.getByText('Not allowed.', { exact: true }).waitFor();
    await page.goto(stage.hrefOf('/namespaces'));
    await page.getByText('It requires operator:write.').waitFor();
    await page.goto(stage.hrefOf('/config'));
    await page.getByRole('link', { name: 'New config entry' }).waitFor();
  });

  it('sees that it cannot change rules', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const how = { token: reader.SecretID, colorScheme };
      const { page } = await stage.visit(`/policies/${sample.policy.ID}`, how);
      await page.getByText('It requires acl:write.').waitFor();
      await field(page, 'Rules').and(page.locator('[aria-readonly=true]')).waitFor();
      const [editor, text] = (await page.evaluate(BACKGROUNDS)) as readonly string[];
      expect(editor).to.be.a('string').and.equal(text);
      expect(await violations(page)).to.deep.equal([]);
    }
  });

  it('is told which right on which name an entry requires', async () => {
    const { page } = await stage.visit('/config/service-defaults/web', { token: reader.SecretID });
    await page.getByText('It requires service:write on "web".').waitFor();
    expect(await button(page, 'Save').isDisabled()).to.equal(true);
    expect(await button(page, 'Delete').isDisabled()).to.equal(true);
    // Another token may write this one, and not its neighbour.
    const { page: own } = await stage.visit('/config/service-defaults/web', {
      token: sample.token.SecretID,
    });
    await own.getByRole('heading', { level: 1, name: 'web' }).waitFor();
    await own.waitForLoadState('networkidle');
    expect(await button(own, 'Save').isDisabled()).to.equal(false);
    await own.goto(stage.hrefOf('/config/service-defaults/admin'));
    await own.getByText('It requires service:write on "admin".').waitFor();
  });

  it('may change the namespace it manages; another is told which right it requires', async () => {
    const { page } = await stage.visit('/namespaces/team-a', { token: reader.SecretID });
    await page.getByText('It requires namespace:write on "team-a".').waitFor();
    expect(await button(page, 'Save').isDisabled()).to.equal(true);
    await page.getByRole('link', { name: 'Why?' }).click();
    await page.getByText('Not allowed.', { exact: true }).waitFor();
    const Rules = 'namespace "team-a" {\n  policy = "write"\n}\n';
    await stage.api('PUT /v1/acl/policy', { Name: 'manager', Rules });
    const { SecretID: token } = await stage.api<Sample['token']>('PUT /v1/acl/token', {
      Policies: [{ Name: 'manager' }],
    });
    const { page: own } = await stage.visit('/namespaces/team-a', { token });
    await field(own, 'Description').fill('by its manager');
    await apply(own);
    await saved(own);
    await own.goto(stage.hrefOf('/history/namespace/team-a'));
    await button(own, 'Undo this change').first().waitFor();
  });

  it('may change an entry of the whole cluster, whatever namespace the page is of', async () => {
    await stage.api('PUT /v1/config', { Kind: 'mesh' });
    await stage.api('PUT /v1/acl/policy', { Name: 'meshes', Rules: 'mesh = "write"' });
    const { SecretID: token } = await stage.api<Sample['token']>('PUT /v1/acl/token', {
      Policies: [{ Name: 'meshes' }],
    });
    const { page } = await stage.visit('/config/mesh/mesh?ns=team-a', { token });
    await page.getByRole('heading', { level: 1, name: 'mesh' }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await button(page, 'Save').isDisabled()).to.equal(false);
    await stage.api('DELETE /v1/config/mesh/mesh');
  });

  it('is not told that there is nothing where it may read nothing', async () => {
    const none = await stage.api<Sample['token']>('PUT /v1/acl/token', {});
    const { page } = await stage.visit('/config', { token: none.SecretID });
    await page.getByText('Your token may read none of what is here.').waitFor();
  });

  it('is not offered what is done with members', async () => {
    const { page } = await stage.visit('/', { token: reader.SecretID });
    await page.getByRole('table', { name: 'Members' }).waitFor();
    await page.waitForLoadState('networkidle');
    await page.locator('main details.acts').first().waitFor({ state: 'detached' });
  });

  it('is not offered to undo what it may not write', async () => {
    const { page } = await stage.visit('/history', { token: reader.SecretID });
    const row = page.getByRole('row').filter({ hasText: 'create policy reader' });
    await row.getByText('Requires acl:write').waitFor();
    const entry = page.getByRole('row').filter({ hasText: 'service-defaults/web' }).first();
    await entry.getByText('Requires service:write').waitFor();
    expect(await button(page, 'Undo this change').count()).to.equal(0);
    await page.goto(stage.hrefOf(`/history/policy/${sample.policy.ID}`));
    await page.getByText('It requires acl:write.').waitFor();
    await button(page, 'Explain at this moment').waitFor();
    expect(await button(page, 'Undo this change').count()).to.equal(0);
    // Who may write one of the objects is offered that one.
    const { page: own } = await stage.visit('/history', { token: sample.token.SecretID });
    const web = own.getByRole('row').filter({ hasText: 'service-defaults/web' }).first();
    await web.getByRole('button', { name: 'Undo this change' }).waitFor();
  });
});
