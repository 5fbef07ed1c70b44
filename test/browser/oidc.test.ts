/** Logins at an OpenID provider in the web UI. */
import { expect } from 'chai';
import { apply, button, field, saved, tabTo, write } from './actions.js';
import { violations } from './axe.js';
import { callbackOf, describeLogins, faultsOf, isAlive, signIn, visitAs } from './oidc-stage.js';

describeLogins('a login at a provider in the web UI', (stage, provider) => {
  it('needs the keyboard alone, and shows those with few rights who they are', async () => {
    const watched = await stage.visit('/', { token: '' });
    const { page } = watched;
    const secrets: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/ui/oidc/callback') secrets.push(...searchParams.values());
    });
    await button(page, 'Continue with visitors').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await tabTo(page, 'Continue with Staff');
    await page.keyboard.press('Enter');
    await signIn(page, 'dana');
    const who = page.getByRole('region', { name: 'Who you are' });
    await who.getByText('dana', { exact: true }).waitFor();
    await who.getByText('staff', { exact: true }).waitFor();
    // less than 25 minutes on a slow machine
    await who.getByText(/\(in 2[45] minutes\)/).waitFor();
    const rights = page.getByRole('table', { name: 'Rights of the token' });
    await rights.getByRole('row', { name: /^service dev-\* write/ }).waitFor();
    await page.getByRole('link', { name: 'Roles Your token lacks acl:read' }).waitFor();
    expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).to.equal(0);
    expect(await violations(page)).to.deep.equal([]);
    expect(page.url()).to.equal(stage.hrefOf('/'));
    expect(secrets.length).to.be.greaterThan(1);
    const kept = await page.evaluate(
      'JSON.stringify([navigation.entries().map(({ url }) => url), { ...sessionStorage }])',
    );
    for (const secret of secrets) expect(kept).not.to.include(secret);
    expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage })')).to.equal(
      '{}',
    );
    await page.getByRole('link', { name: 'dana', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(faultsOf(watched, provider())).to.deep.equal([]);
  });

  it('comes back to where the user was', async () => {
    const { page } = await visitAs(stage, 'eve', '/roles?ns=default');
    await page.getByRole('table', { name: 'Roles' }).waitFor();
    await page.reload();
    await page.getByRole('table', { name: 'Roles' }).waitFor();
    expect(page.url()).to.equal(stage.hrefOf('/roles?ns=default'));
  });

  it('says that it is refused, and by which decision', async () => {
    const { page } = await stage.visit('/', { token: '' });
    await button(page, 'Continue with Staff').click();
    await signIn(page, 'mallory');
    const alert = page.getByRole('alert').filter({ hasText: 'The login was refused' });
    const id = (await alert.textContent())?.split(' ').at(-1);
    const { Login } = await stage.api<{ Login: object }>(`GET /v1/acl/decision/${id}`);
    expect(Login).to.include({ ReasonCode: 'no_rule', AuthMethod: 'staff' });
    await button(page, 'Continue with Staff').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.to.include('begun');
  });

  it('says what the provider says to a user who cancels', async () => {
    const { page } = await stage.visit('/', { token: '' });
    await button(page, 'Continue with Staff').click();
    await button(page, 'Cancel').click();
    await page
      .getByRole('alert')
      .getByText('The provider did not log you in: The user cancelled the login')
      .waitFor();
    expect(page.url()).to.equal(stage.hrefOf('/'));
  });

  it('is not completed in a tab that has not begun it', async () => {
    const { page } = await stage.visit('/', { token: '' });
    let sent = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/acl/oidc/callback')) sent += 1;
    });
    const alert = page.getByRole('alert').getByText('This login was started in another tab');
    await page.goto(stage.hrefOf('/oidc/callback?code=x&state=y'));
    await alert.waitFor();
    expect(page.url()).to.equal(stage.hrefOf('/'));
    await button(page, 'Continue with Staff').click();
    await page.getByRole('textbox', { name: 'Account' }).waitFor();
    await page.goto(stage.hrefOf('/oidc/callback?error=call+me&state=y'));
    await alert.waitFor();
    expect(await page.getByText('call me').count()).to.equal(0);
    const { page: other } = await stage.visit('/oidc/callback?code=x&state=y');
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(other.url()).to.equal(stage.hrefOf('/'));
    expect(sent).to.equal(0);
  });

  it('says why it cannot begin', async () => {
    const foreign = stage.cluster.urls[0]!.replace('127.0.0.1', 'localhost');
    const { page } = await stage.visit('/', { token: '', url: foreign });
    await button(page, 'Continue with Staff').click();
    const uri = `"${foreign}/ui/oidc/callback" is not among the AllowedRedirectURIs`;
    await page.getByRole('alert').getByText(uri).waitFor();
    const { page: other } = await stage.visit('/', { token: '' });
    // The node reads the document of the provider again for a method that was written.
    const method = await stage.api('GET /v1/acl/auth-method/staff');
    await stage.api('PUT /v1/acl/auth-method/staff', method);
    await provider().stop();
    await button(other, 'Continue with Staff').click();
    const away = 'The provider of auth method "staff" cannot be reached';
    await other.getByRole('alert').getByText(away).waitFor();
    await provider().start();
    await button(other, 'Continue with Staff').click();
    await other.getByRole('textbox', { name: 'Account' }).waitFor();
  });

  it('is offered for the namespace of the address, too', async () => {
    const { page } = await stage.visit('/', { token: '' });
    const list = '**/v1/internal/ui/oidc-auth-methods';
    await page.route(`${list}?ns=team-a`, (route) =>
      route.fulfill({
        json: [
          { Name: 'a', DisplayName: 'Team A', Kind: 'oidc', Namespace: 'team-a' },
          { Name: 'staff', DisplayName: 'Staff', Kind: 'oidc', Namespace: 'team-a' },
        ],
      }),
    );
    await page.goto(stage.hrefOf('/policies?ns=team-a'));
    await button(page, 'Continue with Staff (default/staff)').waitFor();
    await button(page, 'Continue with Staff (team-a/staff)').waitFor();
    const asked = page.waitForRequest('**/v1/acl/oidc/auth-url');
    await button(page, 'Continue with Team A').click();
    expect((await asked).postDataJSON()).to.include({
      AuthMethod: 'a',
      Namespace: 'team-a',
      RedirectURI: callbackOf(stage),
    });
    await page.route(`${list}*`, (route) => route.abort());
    await page.goto(stage.hrefOf('/'));
    await page.getByRole('textbox', { name: 'Token' }).waitFor();
    expect(await page.getByRole('button', { name: 'Continue with Staff' }).count()).to.equal(0);
    expect(await page.getByRole('alert').count()).to.equal(0);
  });

  it('ends at the provider, too', async () => {
    const watched = await visitAs(stage, 'eve', '/roles');
    const { page } = watched;
    const token = String(await page.evaluate('sessionStorage.getItem("conclave.token")'));
    await button(page, 'Log out').click();
    await button(page, 'Sign out').click();
    await page.waitForURL(`${provider().issuer}/session/end/**`);
    expect(await isAlive(stage, token)).to.equal(false);
    await page.goto(stage.hrefOf('/roles'));
    expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).to.equal('{}');
    await button(page, 'Continue with Staff').click();
    await page.getByRole('textbox', { name: 'Account' }).waitFor();
    expect(faultsOf(watched, provider())).to.deep.equal([]);
  });

  it('ends its token on leaving, even if there is no leader at first', async () => {
    const { page } = await visitAs(stage, 'eve', '/roles');
    const token = String(await page.evaluate('sessionStorage.getItem("conclave.token")'));
    await page.route(
      '**/v1/acl/oidc/logout',
      (route) =>
        route.fulfill({
          status: 503,
          contentType: 'application/problem+json',
          body: JSON.stringify({ code: 'no_leader', detail: 'No cluster leader' }),
        }),
      { times: 1 },
    );
    await button(page, 'Log out').click();
    await page.getByRole('status').getByText('No cluster leader: trying again').waitFor();
    await button(page, 'Sign out').click();
    expect(await isAlive(stage, token)).to.equal(false);
  });

  it('has a form for its method, which keeps the hidden secret', async () => {
    const { page } = await stage.visit('/auth-methods?new');
    await field(page, 'Name').fill('made-here');
    await field(page, 'Type').selectOption('oidc');
    await field(page, 'OIDC discovery URL').fill(provider().issuer);
    await field(page, 'Client ID').fill('conclave');
    await field(page, 'Allowed redirect URIs').fill(callbackOf(stage));
    await field(page, 'Max token TTL').fill('1h');
    expect(await violations(page)).to.deep.equal([]);
    await button(page, 'Save').click();
    await page.getByText('conclave login --method made-here --type oidc').waitFor();
    await page.goto(stage.hrefOf('/auth-methods/staff'));
    const secret = field(page, 'Client secret');
    await secret.waitFor();
    expect(await secret.inputValue()).to.equal('<hidden>');
    await field(page, 'Description').fill('changed');
    await apply(page);
    await saved(page);
    const { page: login } = await visitAs(stage, 'eve', '/roles');
    await login.getByRole('table', { name: 'Roles' }).waitFor();
  });

  it('is tried in the playground', async () => {
    const { page } = await stage.visit('/login-explain');
    await field(page, 'Auth method').fill('staff');
    await write(page, 'Claims', '{ "sub": "dana", "groups": ["dev"] }');
    await button(page, 'Explain').click();
    await page.getByText('This login would be granted').waitFor();
  });
});
