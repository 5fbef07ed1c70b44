/** The session of a login at an OpenID provider: how it goes on, and how it ends. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { button, create, field, saved } from './actions.js';
import { violations } from './axe.js';
import {
  describeLogins,
  duplicateOf,
  faultsOf,
  idleAfter,
  isAlive,
  NEAR_MS,
  signIn,
  successor,
  tokenOf,
  visitAs,
} from './oidc-stage.js';

const NEAR = 'Your session ends in 5 minutes';
const told = (page: Page) => page.getByRole('status').getByText(NEAR);

describeLogins('the session of a login at a provider', (stage, provider) => {
  it('is renewed at four fifths without a word, and nothing on the page is lost', async () => {
    const watched = await visitAs(stage, 'eve', '/roles?new');
    const { page } = watched;
    const token = await tokenOf(page);
    await field(page, 'Name').fill('typed-before');
    await page.clock.fastForward(NEAR_MS - 60_000);
    let release = (): void => {};
    const renewed = new Promise<void>((resolve) => {
      release = resolve;
    });
    const sentWith: (string | undefined)[] = [];
    await page.route(/\/v1\/acl\/role(\?|$)/, async (route) => {
      sentWith.push(route.request().headers()['x-consul-token']);
      await renewed;
      await route.continue();
    });
    await create(page);
    expect(await tokenOf(page)).to.equal(token);
    await page.clock.fastForward(60_000);
    const next = await successor(page, token);
    expect(await isAlive(stage, token)).to.equal(false);
    // The write that was sent with the former token does what the user wanted.
    release();
    await saved(page);
    expect(sentWith).to.deep.equal([token, next]);
    expect(await told(page).count()).to.equal(0);
    expect(page.url()).to.include('/roles/');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'typed-before' }).waitFor();
    expect(await tokenOf(page)).to.equal(next);
    await page.clock.fastForward(NEAR_MS);
    await successor(page, next);
    expect(faultsOf(watched, provider())).to.deep.equal([]);
  });

  it('keeps text and focus, and its streams open again', async () => {
    const { page } = await visitAs(stage, 'eve', '/policies?new');
    await field(page, 'Description').fill('half');
    const events = await duplicateOf(page);
    await events.goto(stage.hrefOf('/events'));
    await events.getByText('Waiting for changes…').waitFor();
    await events.getByText('Connecting…').waitFor({ state: 'detached' });
    await page.bringToFront();
    const token = await tokenOf(page);
    const asked = provider().requests.get('/token') ?? 0;
    await page.clock.fastForward(NEAR_MS);
    // A duplicate of the tab learns of the new token, and does not use the Renewal a second time.
    const next = await successor(page, token);
    expect(await successor(events, token)).to.equal(next);
    expect(provider().requests.get('/token')).to.equal(asked + 1);
    await page.keyboard.type(' typed');
    expect(await field(page, 'Description').inputValue()).to.equal('half typed');
    await stage.api('PUT /v1/acl/policy', { Name: 'made-after-the-renewal', Rules: '' });
    await events.getByText('made-after-the-renewal').first().waitFor();
  });

  it('goes on to its end when the provider refuses the renewal', async () => {
    const { page } = await visitAs(stage, 'bob', '/roles');
    const token = await tokenOf(page);
    provider().removeAccount('bob');
    await page.clock.fastForward(NEAR_MS);
    await told(page).waitFor();
    expect(await tokenOf(page)).to.equal(token);
    provider().setAccount('bob', { groups: ['admins'] });
  });

  it('is renewed a little later when the provider is away', async () => {
    const { page } = await visitAs(stage, 'eve', '/roles');
    const token = await tokenOf(page);
    await page.route('**/v1/acl/oidc/renew', (route) =>
      route.fulfill({ status: 503, json: { code: 'unavailable', detail: 'away' } }),
    );
    await page.clock.fastForward(NEAR_MS);
    await told(page).waitFor();
    await page.unroute('**/v1/acl/oidc/renew');
    await successor(page, token);
    await told(page).waitFor({ state: 'detached' });
  });

  it('goes on by a login in a window of its own, which closes', async () => {
    const watched = await visitAs(stage, 'eve', '/policies?new', 'visitors');
    const { page } = watched;
    const token = await tokenOf(page);
    await field(page, 'Description').fill('half');
    await page.clock.fastForward(NEAR_MS);
    await told(page).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    const opened = page.waitForEvent('popup');
    await button(page, 'Stay logged in').click();
    const beside = await opened;
    if (!beside.isClosed()) await beside.waitForEvent('close');
    await told(page).waitFor({ state: 'detached' });
    const next = await tokenOf(page);
    expect(next).not.to.equal(token);
    while (await isAlive(stage, token));
    expect(await isAlive(stage, next)).to.equal(true);
    expect(await field(page, 'Description').inputValue()).to.equal('half');
    expect(faultsOf(watched, provider())).to.deep.equal([]);
  });

  it('does not become that of another user', async () => {
    const { page } = await visitAs(stage, 'eve', '/policies?new', 'visitors');
    const token = await tokenOf(page);
    await page.clock.fastForward(NEAR_MS);
    await page.context().clearCookies();
    const opened = page.waitForEvent('popup');
    await button(page, 'Stay logged in').click();
    const beside = await opened;
    await signIn(beside, 'dana');
    const who = beside.getByRole('region', { name: 'Who you are' });
    await who.getByText('dana', { exact: true }).waitFor();
    expect(await tokenOf(page)).to.equal(token);
    expect(await isAlive(stage, token)).to.equal(true);
  });

  it('says that the browser has blocked the window', async () => {
    const { page } = await visitAs(stage, 'eve', '/roles', 'visitors');
    await page.clock.fastForward(NEAR_MS);
    await page.evaluate('window.open = () => null');
    await button(page, 'Stay logged in').click();
    await page.getByRole('alert').getByText('The browser blocked the login window.').waitFor();
  });

  it('ends, and a new login comes back to what was typed', async () => {
    const { page } = await visitAs(stage, 'eve', '/policies?new', 'visitors');
    await field(page, 'Description').fill('typed before');
    const token = await tokenOf(page);
    await stage.api('POST /v1/acl/logout', undefined, token);
    await page.getByRole('alert').getByText('Your session has ended').waitFor();
    await button(page, 'Continue with visitors').click();
    const description = field(page, 'Description');
    await description.waitFor();
    expect(await description.inputValue()).to.equal('typed before');
  });

  it('ends at the server too when the page was not used for long', async () => {
    const watched = await visitAs(stage, 'eve', '/policies');
    const { page } = watched;
    const token = await tokenOf(page);
    await idleAfter(page, 60_000);
    await page.reload();
    await button(page, 'Log out').waitFor();
    const ended = page.waitForResponse(/\/v1\/acl\/oidc\/logout$/);
    await page.clock.fastForward(65_000);
    expect((await ended).status()).to.equal(200);
    await page.getByText('You were logged out because this page was not used.').waitFor();
    expect(await isAlive(stage, token)).to.equal(false);
    expect(faultsOf(watched, provider())).to.deep.equal([]);
  });
});
