/** A cluster whose users log in at an OpenID provider, in a browser. */
import type { Page } from 'playwright-core';
import { CLIENT_SECRET, type OidcProvider, startProvider } from '../support/oidc-provider.js';
import { button } from './actions.js';
import { describePages, type Stage, type Watched } from './stage.js';

/** Four fifths of the life of the tokens, which is also five minutes before their end. */
export const NEAR_MS = 20 * 60_000;
const LIFE = '25m';

/** Who can log in: by a group that rules bind, or by none. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  eve: ['admins'],
  bob: ['admins'],
  dana: ['dev'],
  mallory: ['guests'],
};
const POLICIES: Readonly<Record<string, string>> = {
  admins: 'acl = "write" operator = "read" service_prefix "" { policy = "write" }',
  dev: 'service_prefix "dev-" { policy = "write" }',
};

/** Where the provider sends the browser back to. */
export const callbackOf = (stage: Stage): string => stage.hrefOf('/oidc/callback');

/** The Config of a method. `staff` can be renewed, `visitors` cannot. */
const configOf = (stage: Stage, provider: OidcProvider, scopes: readonly string[]) => ({
  OIDCDiscoveryURL: provider.issuer,
  OIDCClientID: provider.clientId,
  OIDCClientSecret: CLIENT_SECRET,
  AllowedRedirectURIs: [callbackOf(stage)],
  OIDCScopes: ['groups', ...scopes],
  ListClaimMappings: { groups: 'groups' },
});

async function prepare(stage: Stage, provider: OidcProvider): Promise<void> {
  provider.allowRedirect(callbackOf(stage));
  for (const [name, groups] of Object.entries(GROUPS))
    provider.setAccount(name, { groups: [...groups] });
  for (const [Name, Rules] of Object.entries(POLICIES)) {
    await stage.api('PUT /v1/acl/policy', { Name, Rules });
    await stage.api('PUT /v1/acl/role', { Name, Policies: [{ Name }] });
  }
  for (const [Name, DisplayName, scopes] of [
    ['staff', 'Staff', ['offline_access']],
    ['visitors', '', []],
  ] as const) {
    const Config = configOf(stage, provider, scopes);
    const method = { Name, DisplayName, Type: 'oidc', MaxTokenTTL: LIFE, Config };
    await stage.api('PUT /v1/acl/auth-method', method);
    for (const BindName of Object.keys(POLICIES)) {
      const Selector = `${BindName} in list.groups`;
      const rule = { AuthMethod: Name, BindType: 'role', BindName, Selector };
      await stage.api('PUT /v1/acl/binding-rule', rule);
    }
  }
}

/** Describes pages of a node whose users log in at a provider. */
export function describeLogins(
  title: string,
  tests: (stage: Stage, provider: () => OidcProvider) => void,
): void {
  describePages(title, 1, (stage) => {
    let provider: OidcProvider;
    before(async () => {
      provider = await startProvider();
      await prepare(stage, provider);
    });
    after(() => provider?.close());
    tests(stage, () => provider);
  });
}

/** Signs in at the provider, by keyboard alone. */
export async function signIn(page: Page, account: string): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Account' });
  await field.and(page.locator(':focus')).waitFor();
  await page.keyboard.type(account);
  await page.keyboard.press('Enter');
}

/** Opens a page as a user who logs in first. The clock of the page is the test's. */
export async function visitAs(
  stage: Stage,
  account: string,
  path: string,
  method = 'Staff',
): Promise<Watched> {
  const watched = await stage.visit(path, { token: '' });
  const { page } = watched;
  await page.clock.install();
  await page.reload();
  await button(page, `Continue with ${method}`).click();
  await signIn(page, account);
  await button(page, 'Log out').waitFor();
  return watched;
}

/** Has pages, from their next load on, log out after `ms` without input. */
export const idleAfter = (page: Page, ms: number): Promise<unknown> =>
  page.route(/\/ui\/\w*$/, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(
      '<div id="app"',
      `<div id="app" data-idle="${ms}"`,
    );
    await route.fulfill({ response, body });
  });

/** Opens a tab with what another one keeps, as browsers do that duplicate it. */
export async function duplicateOf(page: Page): Promise<Page> {
  const kept = JSON.stringify(await page.evaluate('({ ...sessionStorage })'));
  const other = await page.context().newPage();
  await other.addInitScript(
    `if (sessionStorage.length === 0) Object.assign(sessionStorage, ${kept})`,
  );
  return other;
}

/** Returns the token of a tab. */
export const tokenOf = async (page: Page): Promise<string> =>
  String(await page.evaluate('sessionStorage.getItem("conclave.token")'));

/** Resolves with the token that has replaced another one. */
export async function successor(page: Page, former: string): Promise<string> {
  for (;;) {
    const token = await tokenOf(page);
    if (token !== former) return token;
  }
}

/** Whether a token exists. */
export const isAlive = (stage: Stage, token: string): Promise<boolean> =>
  stage.api('GET /v1/acl/token/self', undefined, token).then(
    () => true,
    () => false,
  );

/** What a page must never do, other than to go to the provider. */
export const faultsOf = ({ faults }: Watched, { issuer }: OidcProvider): readonly string[] =>
  faults.filter((fault) => !fault.startsWith(issuer));
