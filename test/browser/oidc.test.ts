/** Logins at an OpenID provider in the web UI, and sessions that last. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { CLIENT_SECRET, type OidcProvider, startProvider } from '../support/oidc-provider.js';
import { button, field, tabTo } from './actions.js';
import { violations } from './axe.js';
import { describePages, type Stage } from './stage.js';

/** The life of a session, and when four fifths of it are over. */
const LIFE = '2m';
const LATE_MS = 100_000;

describePages('logins at an OpenID provider in the web UI', 1, (stage) => {
  let provider: OidcProvider;
  before(async () => {
    provider = await startProvider();
    provider.setAccount('ann', { groups: ['dev'] });
    provider.setAccount('eve', { groups: [] });
    await stage.api('PUT /v1/acl/policy', { Name: 'reads', Rules: 'acl = "write"' });
    await stage.api('PUT /v1/acl/role', { Name: 'dev', Policies: [{ Name: 'reads' }] });
    await staff();
    const Selector = 'dev in list.groups';
    const rule = { AuthMethod: 'staff', BindType: 'role', BindName: 'dev', Selector };
    await stage.api('PUT /v1/acl/binding-rule', rule);
  });
  after(() => provider.close());

  /** Writes the auth method. */
  async function staff(scopes: readonly string[] = ['groups', 'offline_access']): Promise<void> {
    const redirect = stage.hrefOf('/oidc/callback');
    provider.allowRedirect(redirect);
    const Config = {
      OIDCDiscoveryURL: provider.issuer,
      OIDCClientID: provider.clientId,
      OIDCClientSecret: CLIENT_SECRET,
      AllowedRedirectURIs: [redirect],
      OIDCScopes: scopes,
      ListClaimMappings: { groups: 'groups' },
    };
    const method = {
      Name: 'staff',
      Type: 'oidc',
      DisplayName: 'Example',
      MaxTokenTTL: LIFE,
      Config,
    };
    await stage.api('PUT /v1/acl/auth-method', method);
  }

  const signIn = async (page: Page, account: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Account' }).fill(account);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  /** Logs in on a page, as a user without a session at the provider. */
  async function logIn(path: string, account = 'ann', at: Stage = stage) {
    const watched = await at.visit(path, { token: '' });
    await button(watched.page, 'Continue with Example').click();
    await signIn(watched.page, account);
    return watched;
  }
  const secretOf = (page: Page): Promise<string> =>
    page.evaluate("sessionStorage.getItem('conclave.token')");
  /** Waits until the tab has another token. */
  async function changes(page: Page, before: string): Promise<void> {
    while ((await secretOf(page)) === before) await page.waitForTimeout(20);
  }
  /** Whether the node knows a token. */
  const isKnown = (secret: string): Promise<boolean> =>
    stage.api('GET /v1/acl/token/self', undefined, secret).then(
      () => true,
      () => false,
    );

  it('lead back to where the user was, and leave nothing in the address', async () => {
    const { page, faults } = await stage.visit('/policies?filter=x', { token: '' });
    await button(page, 'Continue with Example').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await tabTo(page, 'Continue with Example');
    await page.keyboard.press('Enter');
    await signIn(page, 'ann');
    await page.getByRole('heading', { name: 'Policies' }).waitFor();
    expect(page.url()).to.equal(stage.hrefOf('/policies?filter=x'));
    const foreign = faults.filter((fault) => !fault.startsWith(provider.issuer));
    expect(foreign).to.deep.equal([]);
  });

  it('are refused in a sentence with the decision, and can be cancelled', async () => {
    const { page } = await logIn('/', 'eve');
    const alert = page.getByRole('alert').filter({ hasText: 'decision' });
    const text = await alert.textContent();
    const [, decision] = /Permission denied \(decision ([0-9a-f-]+)\)/.exec(text!)!;
    const { Login } = await stage.api<{ Login: object }>(`GET /v1/acl/decision/${decision}`);
    expect(Login).to.deep.include({ ReasonCode: 'no_rule' });
    const other = await stage.visit('/', { token: '' });
    await button(other.page, 'Continue with Example').click();
    await other.page.getByRole('button', { name: 'Cancel' }).click();
    await other.page.getByText('The provider refuses the login').waitFor();
  });

  it('are not completed in a tab that has not begun them', async () => {
    const { page } = await stage.visit('/oidc/callback?code=a&state=b', { token: '' });
    await page.getByText('This login was not begun in this tab.').waitFor();
    expect(page.url()).not.to.include('code');
  });

  it('say that the provider is away', async () => {
    const { page } = await stage.visit('/', { token: '' });
    await button(page, 'Continue with Example').waitFor();
    await staff();
    await provider.stop();
    await button(page, 'Continue with Example').click();
    await page.getByText('The provider of auth method "staff" cannot be reached').waitFor();
    await provider.start();
  });

  it('are renewed without a word: what is typed stays, and the old token ends', async () => {
    const { page } = await stage.visit('/roles?new', { token: '' });
    await page.clock.install();
    await button(page, 'Continue with Example').click();
    await signIn(page, 'ann');
    await field(page, 'Description').fill('typed before');
    const before = await secretOf(page);
    await page.clock.fastForward(LATE_MS);
    await changes(page, before);
    expect(await field(page, 'Description').inputValue()).to.equal('typed before');
    expect([await isKnown(before), await isKnown(await secretOf(page))]).to.deep.equal([
      false,
      true,
    ]);
    await page.reload();
    await page.getByRole('button', { name: 'Log out' }).waitFor();
  });

  it('without a renewal ask in time, and go on after a window of their own', async () => {
    await staff(['groups']);
    const { page } = await stage.visit('/roles?new', { token: '' });
    await page.clock.install();
    await button(page, 'Continue with Example').click();
    await signIn(page, 'ann');
    await field(page, 'Description').fill('typed before');
    const before = await secretOf(page);
    await page.clock.fastForward(LATE_MS);
    const status = page.getByRole('status').filter({ hasText: 'Your session ends in 5 minutes' });
    await status.waitFor();
    expect(await violations(page)).to.deep.equal([]);
    const opened = page.waitForEvent('popup');
    await status.getByRole('button', { name: 'Stay logged in' }).click();
    const popup = await opened;
    await changes(page, before);
    if (!popup.isClosed()) await popup.getByText('Close this window').waitFor();
    expect(await field(page, 'Description').inputValue()).to.equal('typed before');
    while (await isKnown(before)) await page.waitForTimeout(20);
  });

  it('end with the session at the provider', async () => {
    await staff();
    const { page } = await logIn('/');
    await page.getByRole('button', { name: 'Log out' }).waitFor();
    const before = await secretOf(page);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL((url) => url.origin === provider.issuer);
    expect(page.url()).to.match(/\/session\/end\?client_id=conclave/);
    expect(await isKnown(before)).to.equal(false);
  });
});
