/** Pages that answer why, and what a user does with the keyboard alone. */
import { expect } from 'chai';
import { send } from '../support/client.js';
import { button, field, tabTo } from './actions.js';
import { makeSample, type Sample } from './sample.js';
import { describePages } from './stage.js';

describePages('reasons in the web UI', 1, (stage) => {
  let sample: Sample;
  before(async () => {
    sample = await makeSample(stage);
  });

  it('of a right lead to the role and the policy that give it', async () => {
    const { page } = await stage.visit('/explain');
    await field(page, 'Resource').fill('service');
    await field(page, 'Access').fill('write');
    await field(page, 'Segment').fill('web');
    await field(page, 'AccessorID').fill(sample.token.AccessorID);
    await button(page, 'Explain').click();
    await page.getByText('Allowed.', { exact: true }).waitFor();
    expect(page.url()).to.include(`accessor=${sample.token.AccessorID}`);
    await page.getByRole('link', { name: 'team-blue' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'team-blue' }).waitFor();
    // the line that says it is the one with the caret
    await page.locator('.cm-focused .cm-activeLine', { hasText: 'service "web"' }).waitFor();
  });

  it('of a refused request are found by its decision id', async () => {
    const asked = { token: sample.token.SecretID, body: '{"Name":"x"}' };
    const answer = await send(stage.cluster.urls[0]!, 'PUT /v1/acl/role', asked);
    const { page } = await stage.visit('/explain');
    await field(page, 'Decision id').fill(answer.headers['x-consul-decision'] as string);
    await button(page, 'Explain').click();
    await page.getByRole('heading', { name: 'Decision', exact: true }).waitFor();
    await page.getByText('PUT /v1/acl/role').waitFor();
  });

  it('of a refused login lead to the rules of its auth method', async () => {
    const body = JSON.stringify({ AuthMethod: 'builds', BearerToken: 'a.b.c' });
    const answer = await send(stage.cluster.urls[0]!, 'POST /v1/acl/login', { token: '', body });
    const decision = answer.headers['x-consul-decision'] as string;
    const { page } = await stage.visit('/policies');
    await page.getByRole('table').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.insertText(decision);
    await page.getByRole('option', { name: decision }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/^Login by builds: /).waitFor();
    await page.getByRole('link', { name: 'Open the auth method' }).waitFor();
    await page.getByRole('link', { name: 'role blue' }).click();
    await field(page, 'Selector').waitFor();
  });

  it('of a login are shown clause by clause', async () => {
    const { page, faults } = await stage.visit('/login-explain');
    await field(page, 'Auth method').fill('builds');
    await button(page, 'Explain').click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('This login would be granted').waitFor();
    await result.getByText('value.team == "blue"', { exact: true }).waitFor();
    await result.getByRole('link', { name: 'role blue' }).waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('of everybody who can are a table, whose cells explain', async () => {
    const { page } = await stage.visit('/who-can');
    await field(page, 'Segment').fill('web');
    await button(page, 'Who can?').click();
    const table = page.getByRole('table', { name: 'Who can' });
    await table.getByRole('rowheader', { name: /role blue/ }).waitFor();
    await table
      .getByRole('row', { name: /role blue/ })
      .getByRole('button')
      .click();
    const dialog = page.getByRole('dialog', { name: 'Why they can' });
    await dialog.getByText('The rule that decides').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('of a chain are a picture and a list', async () => {
    const { page } = await stage.visit('/chains');
    await field(page, 'Service').fill('web');
    await button(page, 'Show').click();
    await page.getByRole('img', { name: 'Discovery chain of web' }).waitFor();
    const list = page.getByRole('list', { name: 'Chain as text' });
    await list.getByText('90 %:').waitFor();
    await list.getByRole('link', { name: 'v2.web' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'web' }).waitFor();
    expect(page.url()).to.include('/config/service-resolver/web');
  });

  it('five tasks are done with the keyboard alone', async () => {
    const { page } = await stage.visit('/', { token: '' });
    await page.getByRole('textbox', { name: 'Token' }).waitFor();
    // 1: log in
    await tabTo(page, 'Token');
    await page.keyboard.type(stage.cluster.token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    // 2: skip to the content, then go to a page
    await page.getByRole('table', { name: 'Members' }).waitFor();
    await tabTo(page, 'Policies');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor();
    // 3: make a policy; Tab leaves the editor
    await tabTo(page, 'New policy');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Rules' }).waitFor();
    await tabTo(page, 'Name');
    await page.keyboard.type('by-keys');
    await tabTo(page, 'Rules');
    await page.keyboard.type('node_prefix "" { policy = "read" }');
    await page.keyboard.press('Escape');
    await tabTo(page, 'Save');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'by-keys' }).waitFor();
    // 4: ask why
    await tabTo(page, 'Skip to content');
    await tabTo(page, 'Explain');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Explain' }).waitFor();
    await tabTo(page, 'Segment');
    await page.keyboard.type('web');
    await page.keyboard.press('Enter');
    await page.getByText('The rule that decides').waitFor();
    // 5: delete the policy
    await tabTo(page, 'Policies');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'by-keys' }).waitFor();
    await tabTo(page, 'by-keys');
    await page.keyboard.press('Enter');
    await button(page, 'Delete').waitFor();
    await tabTo(page, 'Delete');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Delete by-keys' });
    await dialog.waitFor();
    await tabTo(page, 'Delete');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('by-keys was deleted').waitFor();
  });
});
