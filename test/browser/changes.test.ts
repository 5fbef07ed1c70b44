/** Changes in the pages: planned before they are made, kept in the history, undone. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { button, create, field, reviewOf, saved, tabTo, write } from './actions.js';
import { violations } from './axe.js';
import { makeSample, type Sample } from './sample.js';
import { describePages } from './stage.js';

const RULES = 'service "pay" {\n  policy = "read"\n}\n';
const MORE_RULES = RULES.replace('read', 'write');

/** The answer to what needs a higher level than that of the cluster. */
const BELOW = {
  status: 503,
  contentType: 'application/problem+json',
  body: JSON.stringify({
    code: 'unavailable',
    about: 'level',
    detail: 'This needs level 3, the cluster is at level 2: n3 runs a release without it',
  }),
};

describePages('changes in the web UI', 1, (stage) => {
  before(async () => {
    await makeSample(stage);
  });

  interface Made {
    readonly ID: string;
    readonly ModifyIndex: number;
  }
  const put = <T = Made>(path: string, body: unknown): Promise<T> => stage.api(`PUT ${path}`, body);
  /** Makes a policy that a token links, and changes it once. */
  async function makeChanged(name: string) {
    const first = await put('/v1/acl/policy', { Name: name, Rules: RULES });
    const token = await put<Sample['token']>('/v1/acl/token', {
      Description: `user of ${name}`,
      Policies: [{ Name: name }],
    });
    const path = `/v1/acl/policy/${first.ID}`;
    const second = await put(path, { Name: name, Rules: MORE_RULES });
    return { first, second, token, path };
  }
  const versionsOf = (page: Page) =>
    page.getByRole('list', { name: 'Versions' }).getByRole('listitem');
  const confirm = (page: Page): Promise<void> =>
    reviewOf(page).getByRole('button', { name: 'Apply' }).click();

  it('are reviewed with what refers to the object, and the rights that tokens gain', async () => {
    const { first } = await makeChanged('reviewed');
    const { page, faults } = await stage.visit(`/policies/${first.ID}`, { colorScheme: 'dark' });
    await field(page, 'Rules').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('node "n9" { policy = "read" }');
    await button(page, 'Save').click();
    const review = reviewOf(page);
    await review.getByText('Tokens that link to it: 1 (user of reviewed).').waitFor();
    const gains = review.getByRole('list', { name: 'Tokens whose rights change' });
    await gains.getByRole('link', { name: 'user of reviewed' }).waitFor();
    await gains.getByText(/^Gains node "n9": .* → read/).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await review.getByRole('textbox', { name: 'Reason' }).fill('PAY-12 “naïve”');
    await confirm(page);
    await saved(page);
    await page.getByText('PAY-12 “naïve”').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('say what a deletion takes from tokens, and are kept with their reason', async () => {
    const { first } = await makeChanged('deleted');
    const { page } = await stage.visit(`/policies/${first.ID}`);
    await button(page, 'Delete').click();
    const dialog = page.getByRole('dialog', { name: 'Delete deleted' });
    await dialog.getByText('1 token loses rights.').waitFor();
    await dialog.getByText(/^Loses service "pay": write →/).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('nobody needs it');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('status').getByText('deleted was deleted').waitFor();
    await page.getByRole('link', { name: 'History' }).click();
    const row = page.getByRole('row').filter({ hasText: 'nobody needs it' });
    await row.getByRole('link', { name: 'deleted' }).waitFor();
    // What is deleted comes back under its ID, with what links to it.
    await button(page, 'Undo this change').and(row.getByRole('button')).click();
    await reviewOf(page).getByText('policy/default/deleted').waitFor();
    await confirm(page);
    await page
      .getByRole('status')
      .getByText(/^1 change at index \d/)
      .waitFor();
    const again = await stage.api<Made>(`GET /v1/acl/policy/${first.ID}`);
    expect(again.ID).to.equal(first.ID);
  });

  it('of a token that is called "server" can be undone', async () => {
    const { SecretID } = await put<Sample['token']>('/v1/acl/token', {
      Description: 'server',
      Policies: [{ Name: 'global-management' }],
    });
    await stage.api('PUT /v1/acl/role', { Name: 'by-server' }, SecretID);
    const { page } = await stage.visit('/history');
    const row = page.getByRole('row').filter({ hasText: 'create role by-server' });
    await row.getByRole('button', { name: 'Undo this change' }).waitFor();
  });

  it('differ between the versions that are chosen, not between those before', async () => {
    const { first, second, path } = await makeChanged('compared');
    await put(path, { Name: 'compared', Rules: MORE_RULES, Description: 'third' });
    const { page } = await stage.visit(`/history/policy/${first.ID}`);
    await button(page, 'Compare').click();
    const differences = page.getByRole('region', { name: 'Differences' });
    await differences.getByText('third').waitFor();
    await page.getByLabel('To', { exact: true }).selectOption(String(second.ModifyIndex));
    await differences.waitFor({ state: 'detached' });
  });

  it('are refused with their reason where the server would refuse them', async () => {
    const { page } = await stage.visit('/policies?new');
    await field(page, 'Name').fill('team-blue');
    await button(page, 'Save').click();
    await page.getByRole('alert').getByText('team-blue').waitFor();
    expect(await reviewOf(page).count()).to.equal(0);
    expect(await field(page, 'Name').inputValue()).to.equal('team-blue');
  });

  it('appear in the feed while it is shown, logins only when they are wanted', async () => {
    const { page } = await stage.visit('/history');
    const table = page.getByRole('table', { name: 'History' });
    await table.getByRole('link', { name: 'team-blue' }).first().waitFor();
    await put('/v1/acl/role', { Name: 'while-shown' });
    await table.getByRole('link', { name: 'while-shown' }).waitFor();
    await page.getByRole('checkbox', { name: 'Show logins' }).check();
    await page.waitForURL(/logins=true/);
    await table.getByRole('link', { name: 'while-shown' }).click();
    await page.getByRole('heading', { level: 1, name: 'History of while-shown' }).waitFor();
    expect(await versionsOf(page).count()).to.equal(1);
  });

  it('lead to the token of their author, whatever its namespace is', async () => {
    await put('/v1/acl/role?ns=team-a', { Name: 'by-somebody-else' });
    const { page } = await stage.visit('/history?ns=team-a');
    const row = page.getByRole('row').filter({ hasText: 'create role by-somebody-else' });
    await row.getByRole('link', { name: 'Initial Management Token' }).click();
    await page.getByRole('link', { name: 'Open the one of the namespace default.' }).click();
    await page.getByText('About this token').waitFor();
    expect(page.url()).to.include('ns=default');
  });

  it('appear in the history of their object while it is shown', async () => {
    const { first, second, path } = await makeChanged('followed');
    const { page } = await stage.visit(`/history/policy/${first.ID}`);
    await button(page, 'Compare').click();
    const differences = page.getByRole('region', { name: 'Differences' });
    await differences.waitFor();
    await put(path, { Name: 'followed', Description: 'while it is shown' });
    await versionsOf(page).nth(2).waitFor();
    // What is compared stays.
    await differences.waitFor();
    expect(await page.getByLabel('To', { exact: true }).inputValue()).to.equal(
      String(second.ModifyIndex),
    );
    await stage.api(`DELETE ${path}`);
    await versionsOf(page).first().getByText('delete').waitFor();
    await page.getByRole('link', { name: 'Open the object' }).waitFor({ state: 'detached' });
  });

  it('are compared, and taken back to an earlier version', async () => {
    const { first, path } = await makeChanged('returning');
    const { page, faults } = await stage.visit(`/policies/${first.ID}`);
    await page.getByRole('link', { name: 'All versions' }).click();
    await versionsOf(page).nth(1).waitFor();
    await button(page, 'Compare').click();
    await page.getByText('policy = "write"').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await versionsOf(page).nth(1).getByRole('button', { name: 'Go back to this version' }).click();
    await reviewOf(page)
      .getByText(/^Loses service "pay": write → read/)
      .waitFor();
    await reviewOf(page).getByRole('textbox', { name: 'Reason' }).fill('too much');
    await confirm(page);
    await versionsOf(page).nth(2).waitFor();
    await versionsOf(page).first().getByText('too much').waitFor();
    const now = await stage.api<{ Rules: string }>(`GET ${path}`);
    expect(now.Rules).to.equal(RULES);
    await versionsOf(page).first().getByRole('button', { name: 'Undo this change' }).click();
    await confirm(page);
    await versionsOf(page).nth(3).waitFor();
    const last = await stage.api<{ Rules: string }>(`GET ${path}`);
    expect(last.Rules).to.equal(MORE_RULES);
    expect(faults).to.deep.equal([]);
  });

  it('are undone with the keyboard alone', async () => {
    const { first, path } = await makeChanged('by-keys');
    const { page } = await stage.visit(`/history/policy/${first.ID}`);
    await versionsOf(page).nth(1).waitFor();
    await tabTo(page, 'Undo this change');
    await page.keyboard.press('Enter');
    await reviewOf(page).getByText('policy/default/by-keys').waitFor();
    await tabTo(page, 'Reason');
    await page.keyboard.type('a slip');
    await tabTo(page, 'Apply');
    await page.keyboard.press('Enter');
    await versionsOf(page).nth(2).getByText('create').waitFor();
    const now = await stage.api<{ Rules: string }>(`GET ${path}`);
    expect(now.Rules).to.equal(RULES);
  });

  it('made meanwhile are not lost when a version comes back', async () => {
    const { first, path } = await makeChanged('contended');
    const { page } = await stage.visit(`/history/policy/${first.ID}`);
    await versionsOf(page).nth(1).getByRole('button', { name: 'Go back to this version' }).click();
    await reviewOf(page).getByText('policy = "write"').waitFor();
    await put(path, { Name: 'contended', Rules: MORE_RULES.replace('pay', 'paid') });
    await confirm(page);
    await reviewOf(page).getByRole('alert').getByText('Something has changed meanwhile').waitFor();
    await reviewOf(page).getByText('service "paid" {').waitFor();
    await reviewOf(page).getByRole('button', { name: 'Back' }).click();
    const now = await stage.api<{ Rules: string }>(`GET ${path}`);
    expect(now.Rules).to.include('paid');
  });

  it('are left out of what held at an earlier moment', async () => {
    const { first, token } = await makeChanged('past');
    await put(`/v1/acl/policy/${first.ID}`, { Name: 'past', Rules: '' });
    const { page } = await stage.visit(`/history/policy/${first.ID}`);
    await versionsOf(page).nth(1).getByRole('button', { name: 'Explain at this moment' }).click();
    await page.getByRole('heading', { level: 1, name: 'Explain' }).waitFor();
    await field(page, 'Segment').fill('pay');
    await field(page, 'AccessorID').fill(token.AccessorID);
    await button(page, 'Explain').click();
    await page.getByText('Allowed.', { exact: true }).waitFor();
    await page.getByText(/^As of index \d/).waitFor();
    await field(page, 'At').fill('');
    await button(page, 'Explain').click();
    await page.getByText('Not allowed.', { exact: true }).waitFor();
    await page.goto(stage.hrefOf(`/tokens/${token.AccessorID}`));
    await field(page, 'At').fill(String(first.ModifyIndex + 1));
    await button(page, 'Show').click();
    await page.getByText(/^As of index \d/).waitFor();
    const rights = page.getByRole('table', { name: 'Rights of the token' });
    await rights.getByRole('cell', { name: /^read/ }).waitFor();
    await page.goto(stage.hrefOf('/who-can'));
    await field(page, 'Segment').fill('pay');
    await field(page, 'At').fill(String(first.ModifyIndex + 1));
    await field(page, 'Access').fill('read');
    await button(page, 'Who can?').click();
    await page.getByRole('rowheader', { name: /policy past/ }).waitFor();
  });

  it('of a set that is pasted are planned, and applied at once', async () => {
    const { page, faults } = await stage.visit('/plan');
    const set = {
      Objects: [
        { Type: 'role', Object: { Name: 'from-set', Policies: [{ Name: 'from-set' }] } },
        { Type: 'policy', Object: { Name: 'from-set', Rules: RULES } },
      ],
    };
    await write(page, 'Set', JSON.stringify({ ...set, Delete: [{}] }));
    await button(page, 'Plan').click();
    await reviewOf(page).getByRole('alert').waitFor();
    expect(await reviewOf(page).getByRole('button', { name: 'Apply' }).isDisabled()).to.equal(true);
    await reviewOf(page).getByRole('button', { name: 'Back' }).click();
    await write(page, 'Set', '{');
    await button(page, 'Plan').click();
    await page.getByRole('alert').getByText('not valid JSON').waitFor();
    await write(page, 'Set', JSON.stringify(set));
    await button(page, 'Plan').click();
    await reviewOf(page).getByText('The plan: create 2.').waitFor();
    await reviewOf(page).getByText('role/default/from-set').waitFor();
    await confirm(page);
    await page
      .getByRole('status')
      .getByText(/^2 changes at index \d/)
      .waitFor();
    const roles = await stage.api<readonly { Name: string }[]>('GET /v1/acl/roles');
    expect(roles.map(({ Name }) => Name)).to.include('from-set');
    expect(faults).to.deep.equal([]);
  });

  it('are made without a plan while the cluster is below its level', async () => {
    const { page } = await stage.visit('/roles?new');
    await page.route(/\/v1\/(plan|history)/, (route) => route.fulfill(BELOW));
    await page.route('**/v1/acl/**', async (route) => {
      if (route.request().headers()['if-match'] === undefined) await route.continue();
      else await route.fulfill(BELOW);
    });
    await field(page, 'Name').fill('below');
    await create(page);
    await saved(page);
    await page.getByRole('alert').getByText('This needs level 3').waitFor();
    const roles = await stage.api<readonly Made[]>('GET /v1/acl/roles?filter=Name%20==%20"below"');
    await field(page, 'Description').fill('mine');
    await put(`/v1/acl/role/${roles[0]!.ID}`, { Name: 'below', Description: 'theirs' });
    await button(page, 'Save').click();
    await reviewOf(page).getByText('The cluster is being upgraded and cannot plan yet.').waitFor();
    expect(await reviewOf(page).getByRole('textbox', { name: 'Reason' }).count()).to.equal(0);
    await confirm(page);
    await page
      .getByRole('alert')
      .filter({ hasText: /changed meanwhile/i })
      .waitFor();
    await button(page, 'Keep mine and review').click();
    await confirm(page);
    await saved(page);
    await button(page, 'Delete').click();
    const dialog = page.getByRole('dialog', { name: 'Delete below' });
    await dialog.getByText('This cannot be undone.').waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('status').getByText('below was deleted').waitFor();
  });

  it('wait for a node that is unavailable, and keep their condition', async () => {
    const made = await put<Sample['token']>('/v1/acl/token', { Description: 'passing' });
    const { page } = await stage.visit(`/tokens/${made.AccessorID}`);
    const conditions: (string | undefined)[] = [];
    await page.route(`**/v1/acl/token/${made.AccessorID}`, async (route) => {
      const request = route.request();
      if (request.method() !== 'PUT') return route.continue();
      conditions.push(request.headers()['if-match']);
      const body = JSON.stringify({ code: 'unavailable', detail: 'The disk is full' });
      return conditions.length > 1 ? route.continue() : route.fulfill({ ...BELOW, body });
    });
    await field(page, 'Description').fill('mine');
    await button(page, 'Save').click();
    await confirm(page);
    await saved(page);
    expect(conditions).to.have.length(2);
    expect(conditions[0]).to.match(/^"?\d+"?$/);
    expect(conditions[1]).to.equal(conditions[0]);
  });

  it('replace nothing that somebody else has made meanwhile', async () => {
    const { page } = await stage.visit('/namespaces?new');
    await page.route(/\/v1\/namespace\?|\/v1\/namespace$/, async (route) => {
      await put('/v1/namespace', { Name: 'raced', Description: 'theirs' });
      await route.continue();
    });
    await field(page, 'Name').fill('raced');
    await field(page, 'Description').fill('mine');
    await create(page);
    await page.getByRole('alert').getByText('The namespace "raced" already exists').waitFor();
    const stored = await stage.api<{ Description: string }>('GET /v1/namespace/raced');
    expect(stored.Description).to.equal('theirs');
  });

  it('replace nothing that exists, below the level of conditions too', async () => {
    await put('/v1/namespace', { Name: 'older', Description: 'theirs' });
    const { page } = await stage.visit('/namespaces?new');
    await page.route('**/v1/namespace**', async (route) => {
      if (route.request().headers()['if-none-match'] === undefined) await route.continue();
      else await route.fulfill(BELOW);
    });
    await field(page, 'Name').fill('older');
    await create(page);
    await page.getByRole('alert').getByText('The namespace "older" already exists').waitFor();
    await field(page, 'Name').fill('newer');
    await create(page);
    await saved(page);
    const stored = await stage.api<{ Description?: string }>('GET /v1/namespace/older');
    expect(stored.Description).to.equal('theirs');
  });
});
