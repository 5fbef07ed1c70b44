/** Requests that wait or fail, and the session: what the pages keep, send and forget. */
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { apply, button, create, reviewOf, saved, write } from './actions.js';
import { makeSample, type Sample } from './sample.js';
import { describePages } from './stage.js';

/** Answers as a cluster without a leader. */
const withoutLeader = (route: Route): Promise<void> =>
  route.fulfill({
    status: 503,
    contentType: 'application/problem+json',
    body: JSON.stringify({ code: 'no_leader', detail: 'No cluster leader' }),
  });

/** Returns all that the tab keeps. */
const keptIn = async (page: Page): Promise<string> =>
  String(await page.evaluate('JSON.stringify({ ...sessionStorage })'));

describePages('the web UI that waits', 1, (stage) => {
  let sample: Sample;
  before(async () => {
    sample = await makeSample(stage);
  });
  const namesOf = async (ns: string): Promise<readonly string[]> => {
    const path = `/v1/acl/policies?ns=${ns}`;
    const policies = await stage.api<readonly { readonly Name: string }[]>(`GET ${path}`);
    return policies.map(({ Name }) => Name);
  };

  it('says in the dialog what it waits for, and sends nothing once it is closed', async () => {
    const { page } = await stage.visit(`/policies/${sample.policy.ID}`);
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('given up');
    await page.route('**/v1/apply*', withoutLeader);
    await button(page, 'Save').click();
    const review = page.getByRole('dialog', { name: 'Review changes' });
    await review.getByRole('button', { name: 'Apply' }).click();
    await review.getByText('No cluster leader: trying again').waitFor();
    await review.getByRole('button', { name: 'Back' }).click();
    await review.waitFor({ state: 'detached' });
    await page.unroute('**/v1/apply*');
    await description.fill('typed after the wait');
    await apply(page);
    await saved(page);
    const path = `/v1/history/policy/${sample.policy.ID}`;
    const { Versions } = await stage.api<{ Versions: unknown[] }>(`GET ${path}`);
    expect(JSON.stringify(Versions)).not.to.include('given up');
  });

  it('keeps the reason of a write that fails', async () => {
    const { page } = await stage.visit(`/roles/${sample.role.ID}`);
    await page.getByRole('textbox', { name: 'Description' }).fill('for a reason');
    await page.route('**/v1/apply*', (route) => route.fulfill({ status: 500, body: 'Broken' }));
    await button(page, 'Save').click();
    const review = reviewOf(page);
    const reason = review.getByRole('textbox', { name: 'Reason' });
    await reason.fill('a long story');
    await review.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('alert').getByText('Broken').waitFor();
    await button(page, 'Save').click();
    expect(await reason.inputValue()).to.equal('a long story');
  });

  it('keeps the dialog of a write that was sent, however often Escape is pressed', async () => {
    const { page } = await stage.visit(`/roles/${sample.role.ID}`);
    await page.getByRole('textbox', { name: 'Description' }).fill('escaped');
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/apply*', async (route) => {
      await released;
      await route.continue();
    });
    await button(page, 'Save').click();
    const review = reviewOf(page);
    await review.getByRole('button', { name: 'Apply' }).click();
    for (let pressed = 0; pressed < 4; pressed += 1) await page.keyboard.press('Escape');
    await review.waitFor();
    release();
    await saved(page);
  });

  it('says what a new object waits for, and sends nothing once it is given up', async () => {
    const { page } = await stage.visit('/policies?new');
    await page.getByRole('textbox', { name: 'Name' }).fill('given-up');
    await page.route('**/v1/acl/policy', withoutLeader);
    await button(page, 'Save').click();
    await page.getByRole('status').getByText('No cluster leader: trying again').waitFor();
    await button(page, 'Cancel').click();
    await page.unroute('**/v1/acl/policy');
    await page.getByRole('textbox', { name: 'Name' }).fill('wanted');
    await create(page);
    await saved(page);
    await page.getByRole('heading', { level: 1, name: 'wanted' }).waitFor();
    expect(await namesOf('default'))
      .to.include('wanted')
      .and.not.include('given-up');
  });

  it('sends nothing for a page that the user has left', async () => {
    const { page } = await stage.visit('/policies');
    await page.clock.install();
    await page.getByRole('link', { name: 'New policy' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('left-behind');
    let sent = 0;
    await page.route(/\/v1\/acl\/policy(\?|$)/, (route) => {
      sent += 1;
      return withoutLeader(route);
    });
    await button(page, 'Save').click();
    await page.getByRole('status').getByText('No cluster leader: trying again').waitFor();
    await page.goBack();
    await page.getByRole('table', { name: 'Policies' }).waitFor();
    const before = sent;
    await page.clock.runFor(10_000);
    await page.getByRole('combobox', { name: 'Namespace' }).selectOption('team-a');
    await page.waitForURL(/ns=team-a/);
    expect(sent).to.equal(before);
  });

  it('makes no planned change that is given up, or whose page the user has left', async () => {
    const Objects = [{ Type: 'policy', Object: { Name: 'planned', Rules: '' } }];
    const { page } = await stage.visit('/plan');
    await page.clock.install();
    let sent = 0;
    await page.route('**/v1/apply*', (route) => {
      sent += 1;
      return withoutLeader(route);
    });
    const review = reviewOf(page);
    for (const leave of [
      () => review.getByRole('button', { name: 'Back' }).click(),
      () => page.goBack(),
    ]) {
      await page.getByRole('link', { name: 'Roles', exact: true }).click();
      await page.getByRole('link', { name: 'Plan', exact: true }).click();
      await write(page, 'Set', JSON.stringify({ Objects }));
      await button(page, 'Plan').click();
      await review.getByRole('button', { name: 'Apply' }).click();
      await review.getByText('No cluster leader: trying again').waitFor();
      await leave();
      await review.waitFor({ state: 'detached' });
      const before = sent;
      await page.clock.runFor(10_000);
      await page.getByRole('combobox', { name: 'Namespace' }).selectOption('team-a');
      await page.waitForURL(/ns=team-a/);
      expect(sent).to.equal(before);
    }
  });

  it('keeps what is typed while a new object waits that is then refused', async () => {
    const { page } = await stage.visit('/policies?new');
    await page.getByRole('textbox', { name: 'Name' }).fill('slow');
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/acl/policy', async (route) => {
      await released;
      await route.fulfill({ status: 400, body: 'Not like this' });
    });
    await button(page, 'Save').click();
    await button(page, 'Cancel').waitFor();
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('typed meanwhile');
    release();
    await page.getByRole('alert').getByText('Not like this').waitFor();
    expect(await description.inputValue()).to.equal('typed meanwhile');
  });

  it('goes on saying what a request waits for when others are answered', async () => {
    const { page } = await stage.visit('/policies?new');
    await page.getByRole('textbox', { name: 'Name' }).fill('waits');
    await page.route('**/v1/acl/policy', withoutLeader);
    await button(page, 'Save').click();
    await page.getByRole('status').getByText('No cluster leader: trying again').waitFor();
    await page.evaluate(`{
      const says = () => document.querySelector('main').textContent.includes('No cluster leader');
      window.silent = 0;
      new MutationObserver(() => {
        if (!says()) window.silent += 1;
      }).observe(document.body, { childList: true, characterData: true, subtree: true });
    }`);
    for (let answered = 0; answered < 3; answered += 1)
      await page.waitForResponse('**/v1/status/leader*');
    expect(await page.evaluate('window.silent')).to.equal(0);
  });

  it('hands leadership over only once when it fails', async () => {
    const { page } = await stage.visit('/');
    let sent = 0;
    await page.route('**/v1/operator/autopilot/state', async (route) => {
      const answer = await route.fetch();
      const state = (await answer.json()) as { Servers: Record<string, object> };
      const [[id, server]] = Object.entries(state.Servers) as [[string, object]];
      state.Servers['other'] = { ...server, ID: 'other', Name: 'n8', Status: 'voter' };
      const down = { ...server, ID: 'down', Name: 'n9', Status: 'voter', Healthy: false };
      state.Servers = { [id]: server, other: state.Servers['other'], down };
      await route.fulfill({ json: state });
    });
    await page.route('**/v1/operator/raft/transfer-leader*', (route) => {
      sent += 1;
      return withoutLeader(route);
    });
    await page.getByText('Actions for n8').click();
    await button(page, 'Hand over to n8').click();
    expect(await button(page, 'Hand over to n9').count()).to.equal(0);
    const dialog = page.getByRole('dialog', { name: 'Hand over to n8' });
    await dialog.getByRole('textbox').fill('n8');
    await dialog.getByRole('button', { name: 'Hand over' }).click();
    await dialog.getByRole('alert').getByText('No cluster leader').waitFor();
    expect(sent).to.equal(1);
  });

  it('clones a token once, however often the button is pressed', async () => {
    const { page } = await stage.visit(`/tokens/${sample.token.AccessorID}`);
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let sent = 0;
    await page.route('**/clone', async (route) => {
      sent += 1;
      await released;
      await route.continue();
    });
    await button(page, 'Clone').dblclick();
    expect(await button(page, 'Clone').isDisabled()).to.equal(true);
    release();
    await page.getByRole('region', { name: 'The new SecretID' }).waitFor();
    expect(sent).to.equal(1);
  });

  it('leaves the user on the page to which they went while it cloned a token', async () => {
    const { page } = await stage.visit(`/tokens/${sample.token.AccessorID}`);
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked = page.waitForRequest('**/clone');
    await page.route('**/clone', async (route) => {
      await released;
      await route.continue();
    });
    await button(page, 'Clone').click();
    await asked;
    await page.getByRole('link', { name: 'Who can', exact: true }).click();
    await page.getByRole('textbox', { name: 'Segment' }).fill('typed');
    release();
    await page.getByRole('region', { name: 'The new SecretID' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Who can' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Segment' }).inputValue()).to.equal('typed');
  });
});

describePages('the session of the web UI', 1, (stage) => {
  let sample: Sample;
  before(async () => {
    sample = await makeSample(stage);
  });
  const MISSING = 'This token does not exist';

  it('goes on when a token on a page does not exist', async () => {
    const { page } = await stage.visit('/tokens/11111111-2222-3333-4444-555555555555');
    await page.getByText(MISSING).waitFor();
    await page.goto(stage.hrefOf(`/tokens/${sample.token.AccessorID}?ns=team-a`));
    await page.getByText(MISSING).waitFor();
    await page.getByRole('link', { name: 'Initial Management Token' }).click();
    await page.getByText('About this token').waitFor();
  });

  it('goes on when a token is deleted while it is edited', async () => {
    const made = await stage.api<Sample['token']>('PUT /v1/acl/token', {});
    const { page } = await stage.visit(`/tokens/${made.AccessorID}`);
    await page.getByRole('textbox', { name: 'Description' }).fill('typed');
    await stage.api(`DELETE /v1/acl/token/${made.AccessorID}`);
    await button(page, 'Save').click();
    await page.getByText(MISSING).waitFor();
    const description = page.getByRole('textbox', { name: 'Description' });
    expect(await description.inputValue()).to.equal('typed');
  });

  it('keeps no secret in drafts, and nothing at all after the logout', async () => {
    const { page } = await stage.visit('/tokens?new');
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    await button(page, 'Save').click();
    const secret = page.getByRole('region', { name: 'The new SecretID' });
    const SecretID = (await secret.getByRole('code').textContent()) ?? '';
    await page.getByRole('textbox', { name: 'Description' }).fill('yours');
    expect(await keptIn(page))
      .to.include('yours')
      .and.not.include(SecretID);
    await button(page, 'Log out').click();
    expect(await keptIn(page)).to.equal('{}');
    await page.getByRole('textbox', { name: 'Token' }).fill(stage.cluster.token);
    await button(page, 'Log in').click();
    await page.getByText('About this token').waitFor();
    expect(await page.getByText(SecretID).count()).to.equal(0);
  });

  it('ends, and forgets what was typed, when nobody uses the page', async () => {
    const page = await stage.blank();
    await page.clock.install();
    await page.goto(stage.hrefOf(`/tokens/${sample.token.AccessorID}?ns=default`));
    await page.goto(stage.hrefOf('/policies?new'));
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    await page.keyboard.press('End');
    await page.clock.runFor(29 * 60_000);
    expect(await keptIn(page)).to.include('mine');
    await page.clock.runFor(61_000 + 5000);
    await page.getByText('You were logged out because this page was not used.').waitFor();
    expect(await keptIn(page))
      .not.to.include('mine')
      .and.not.include(stage.cluster.token);
  });

  it('says why a login waits, and refuses what cannot be a token', async () => {
    const { page } = await stage.visit('/roles', { token: '' });
    await page.route('**/v1/acl/token/self*', withoutLeader);
    const token = page.getByRole('textbox', { name: 'Token' });
    await token.fill(`${stage.cluster.token}\u200b`);
    await button(page, 'Log in').click();
    await page.getByRole('alert').getByText('No token has this SecretID').waitFor();
    await token.fill(stage.cluster.token);
    await button(page, 'Log in').click();
    await page.getByText('No cluster leader: trying again').waitFor();
    await page.unroute('**/v1/acl/token/self*');
    await page.getByRole('table', { name: 'Roles' }).waitFor();
  });

  it('keeps the question of an address when it adds the namespace of the token', async () => {
    const made = await stage.api<Sample['token']>('PUT /v1/acl/token?ns=team-a', {});
    const path = '/explain?resource=service&access=read&segment=api';
    const { page } = await stage.visit(path, { token: made.SecretID });
    await page.waitForURL(/ns=team-a/);
    expect(page.url()).to.include('resource=service').and.include('segment=api');
  });

  it('keeps what was typed before the namespace of the token was known', async () => {
    const { SecretID: token } = await stage.api<Sample['token']>('PUT /v1/acl/token?ns=team-a', {
      Policies: [{ Name: 'namespace-management' }],
    });
    const { page } = await stage.visit('/', { token });
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/acl/token/self', async (route) => {
      await released;
      await route.continue();
    });
    await page.goto(stage.hrefOf('/policies?new'));
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('typed before');
    release();
    await page.waitForURL(/ns=team-a/);
    await page.getByText('unsaved changes have been restored').waitFor();
    expect(await description.inputValue()).to.equal('typed before');
  });
});
