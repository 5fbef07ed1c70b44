/** Lists and answers: the filter, the namespace they are of, and what they do not know. */
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { fill } from '../../scripts/bench/load.js';
import { button, field, write } from './actions.js';
import { violations } from './axe.js';
import { makeSample } from './sample.js';
import { describePages } from './stage.js';

/** Groups of tokens that an answer of Who can has at most. */
const GROUPS = 200;

const filterOf = (page: Page) => page.getByRole('searchbox', { name: 'Filter' });
const switchTo = (page: Page, namespace: string): Promise<unknown> =>
  page.getByLabel('Namespace').selectOption(namespace);

describePages('lists and answers in the web UI', 1, (stage) => {
  before(async () => {
    await makeSample(stage);
  });

  it('leave the focus in the filter while it is typed, and move it after a visit', async () => {
    const { page } = await stage.visit('/policies');
    await filterOf(page).click();
    await page.keyboard.type('team');
    await page.waitForURL(/filter=team$/);
    await page.getByText('1 in total').waitFor();
    await page.keyboard.type('-blue');
    await page.waitForURL(/filter=team-blue$/);
    expect(await filterOf(page).inputValue()).to.equal('team-blue');
    await page.getByRole('link', { name: 'Roles', exact: true }).click();
    const heading = page.getByRole('heading', { level: 1, name: 'Roles' });
    await heading.and(page.locator(':focus')).waitFor();
  });

  it('show the filter that is in force', async () => {
    const { page } = await stage.visit('/policies?filter=team');
    await page.getByText('1 in total').waitFor();
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await page.getByRole('link', { name: 'global-management' }).waitFor();
    expect(await filterOf(page).inputValue()).to.equal('');
    await page.goBack();
    await page.getByText('1 in total').waitFor();
    expect(await filterOf(page).inputValue()).to.equal('team');
  });

  it('show what others change by themselves, and keep the focus and the selection', async () => {
    const { page } = await stage.visit('/roles?filter=live');
    await page.getByText('Nothing matches the filter').waitFor();
    const first = await stage.api<{ ID: string }>('PUT /v1/acl/role', { Name: 'live-b' });
    await page.getByRole('link', { name: 'live-b' }).waitFor();
    await page.getByRole('checkbox', { name: 'Select live-b' }).check();
    const second = await stage.api<{ ID: string }>('PUT /v1/acl/role', { Name: 'live-a' });
    await page.getByRole('link', { name: 'live-a' }).waitFor();
    expect(await page.getByRole('checkbox', { name: 'Select live-b' }).isChecked()).to.equal(true);
    expect(await page.locator(':focus').getAttribute('aria-label')).to.equal('Select live-b');
    await stage.api(`DELETE /v1/acl/role/${first.ID}`);
    await page.getByText('One selected object is no longer on this page.').waitFor();
    await page.getByText('1 in total').waitFor();
    await stage.api(`DELETE /v1/acl/role/${second.ID}`);
    await page.getByText('Nothing matches the filter').waitFor();
  });

  it('show what the user may read from now on', async () => {
    const rules = (resource: string): object => ({
      Name: 'narrow',
      Rules: `${resource} {\n  policy = "read"\n}\n`,
    });
    const { ID } = await stage.api<{ ID: string }>('PUT /v1/acl/policy', rules('service "web"'));
    const { SecretID: token } = await stage.api<{ SecretID: string }>('PUT /v1/acl/token', {
      Policies: [{ ID }],
    });
    const { page } = await stage.visit('/config/service-defaults', { token });
    await page.getByText('1 in total').waitFor();
    await stage.api(`PUT /v1/acl/policy/${ID}`, rules('service_prefix ""'));
    await page.getByRole('link', { name: 'admin' }).waitFor();
    await stage.api(`PUT /v1/acl/policy/${ID}`, rules('key "a"'));
    await page.getByText('Your token may read none of what is here.').waitFor();
  });

  it('delete what is selected, all of it or nothing', async () => {
    const names = ['many-a', 'many-b', 'many-c'];
    for (const Name of names) await stage.api('PUT /v1/acl/policy', { Name });
    const { page } = await stage.visit('/policies?filter=many-');
    await page.getByText('3 in total').waitFor();
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await page.getByRole('checkbox', { name: 'Select many-b' }).uncheck();
    await page.getByText('2 selected').waitFor();
    await button(page, 'Delete 2 policies').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('2 to delete').or(dialog.getByText('many-c')).first().waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await button(page, 'Apply').click();
    await page.getByText(/2 changes at index \d+/).waitFor();
    await page.getByText('1 in total').waitFor();
    await page.getByRole('link', { name: 'many-b' }).waitFor();
  });

  it('delete selected tokens one by one, and say what was not deleted', async () => {
    const made: string[] = [];
    for (const Description of ['gone-a', 'gone-b', 'gone-c']) {
      const token = await stage.api<{ AccessorID: string }>('PUT /v1/acl/token', { Description });
      made.push(token.AccessorID);
    }
    const { page } = await stage.visit('/tokens?filter=gone-');
    await page.getByText('3 in total').waitFor();
    await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
    await button(page, 'Delete 3 tokens').click();
    await page.route(`**/v1/acl/token/${made[1]}*`, (route) =>
      route.request().method() === 'DELETE'
        ? route.fulfill({ status: 403, body: 'Permission denied' })
        : route.continue(),
    );
    await button(page, 'Apply').click();
    await page.getByText('1 of 3 are deleted').waitFor();
    await page.unroute(`**/v1/acl/token/${made[1]}*`);
    await button(page, 'Apply').click();
    await page.getByText('3 tokens deleted').waitFor();
    await page.getByText('Nothing matches the filter').waitFor();
  });

  it('offer parts of the tokens, and copy an accessor ID', async () => {
    const { AccessorID } = await stage.api<{ AccessorID: string }>('PUT /v1/acl/token', {
      Description: 'ends-soon',
      ExpirationTTL: '2h',
    });
    const { page } = await stage.visit('/tokens');
    await page.getByRole('link', { name: 'Expiring' }).click();
    await page.getByText('1 in total').waitFor();
    await page.getByRole('link', { name: 'ends-soon' }).waitFor();
    await page.getByRole('combobox', { name: 'Auth method' }).selectOption('builds');
    await page.getByText('Nothing matches the filter').waitFor();
    expect(await filterOf(page).inputValue()).to.equal('AuthMethod == "builds"');
    await page.getByRole('link', { name: 'Expiring' }).click();
    await button(page, `Copy ${AccessorID}`).click();
    const copied = `navigator.clipboard.readText().then((text) => text === "${AccessorID}")`;
    await page.waitForFunction(copied);
  });

  it('show nothing of another namespace', async () => {
    const { page } = await stage.visit('/policies?filter=team');
    const table = page.getByRole('table', { name: 'Policies' });
    await table.waitFor();
    const held: Route[] = [];
    await page.route('**/v1/acl/policies?ns=team-a*', (route) => void held.push(route));
    await switchTo(page, 'team-a');
    await table.waitFor({ state: 'detached' });
    expect(await filterOf(page).inputValue()).to.equal('');
    await page.goto(stage.hrefOf('/who-can'));
    await button(page, 'Who can?').click();
    const answer = page.getByRole('table', { name: 'Who can' });
    await answer.waitFor();
    await switchTo(page, 'team-a');
    await answer.waitFor({ state: 'detached' });
    await page.goto(stage.hrefOf('/login-explain'));
    await field(page, 'Auth method').fill('builds');
    await button(page, 'Explain').click();
    const granted = page.getByText('This login would be granted');
    await granted.waitFor();
    await switchTo(page, 'team-a');
    await granted.waitFor({ state: 'detached' });
  });

  it('are those of the last question, even if the first is answered late', async () => {
    const { page } = await stage.visit('/login-explain');
    const first = page.waitForRequest('**/v1/acl/login/explain');
    await page.route('**/v1/acl/login/explain', () => undefined, { times: 1 });
    await field(page, 'Auth method').fill('builds');
    await button(page, 'Explain').click();
    await first;
    const ended = page.waitForEvent('requestfailed');
    await write(page, 'Claims', '{ "name": "web", "team": "red" }');
    await button(page, 'Explain').click();
    await page.getByText('does not match').first().waitFor();
    expect(await ended).to.equal(await first);
  });

  it('stay cleared when a question is answered that was asked before', async () => {
    const { page } = await stage.visit('/who-can');
    const columns = page.getByRole('columnheader', { name: /^service:/ });
    await button(page, 'Who can?').click();
    await columns.waitFor();
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/acl/who-can*', async (route) => {
      await released;
      await route.continue();
    });
    await field(page, 'Segment').fill('web');
    await button(page, 'Who can?').click();
    await button(page, 'Clear').click();
    release();
    await page.getByRole('columnheader', { name: 'service:write web' }).waitFor();
    expect(await columns.count()).to.equal(1);
  });

  it('do not say no where they do not know, and link across namespaces', async () => {
    const target = { url: stage.cluster.urls[0]!, token: stage.cluster.token };
    // the larger groups leave no room for that of one token
    await fill([target], 32, 2 * GROUPS + 1, (n) => ({
      method: 'PUT',
      path: '/v1/acl/token',
      body: JSON.stringify({ ServiceIdentities: [{ ServiceName: `s-${n >> 1}` }] }),
    }));
    const { page } = await stage.visit('/who-can?ns=team-a');
    await switchTo(page, 'default');
    const ask = async (access: string): Promise<void> => {
      await field(page, 'Access').fill(access);
      await field(page, 'Segment').fill(`s-${GROUPS}`);
      await button(page, 'Who can?').click();
      await page.getByRole('columnheader', { name: `service:${access} s-${GROUPS}` }).waitFor();
    };
    await ask('write');
    await ask('read');
    await page.getByText(/\d more groups are not shown/).waitFor();
    const cellsOf = (name: string): Promise<string[]> => {
      const row = page.getByRole('row').filter({ hasText: new RegExp(`service ${name} `) });
      return row.getByRole('cell').allTextContents();
    };
    expect(await cellsOf(`s-${GROUPS}`)).to.deep.equal(['yes', 'not known']);
    expect(await cellsOf('s-7')).to.deep.equal(['no', 'yes']);
    await switchTo(page, 'team-a');
    await button(page, 'Who can?').click();
    const manager = page.getByRole('rowheader', { name: /global-management/ });
    await manager.getByRole('link').click();
    await button(page, 'Delete').waitFor();
    expect(page.url()).to.include('ns=default');
  });
});
