/** What is around every page: the menu, the palette, keys, and the login. */
import { expect } from 'chai';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import type { Locator, Page } from 'playwright-core';
import { button, field, reviewOf, write } from './actions.js';
import { violations } from './axe.js';
import { duplicateOf, idleAfter, isAlive, tokenOf } from './oidc-stage.js';
import { makeSample, type Sample } from './sample.js';
import { describePages, type Stage } from './stage.js';

const paletteOf = (page: Page): Locator => page.getByRole('combobox', { name: /^A page, an/ });
const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** Makes an auth method. Returns what signs a JWT of a team. */
async function makeMethod(stage: Stage): Promise<(team: string) => Promise<string>> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  await stage.api('PUT /v1/acl/auth-method', {
    Name: 'staff',
    Type: 'jwt',
    MaxTokenTTL: '1h',
    Config: {
      JWTValidationPubKeys: [await exportSPKI(publicKey)],
      ClaimMappings: { team: 'team' },
    },
  });
  await stage.api('PUT /v1/acl/binding-rule', {
    AuthMethod: 'staff',
    Selector: 'value.team == "blue"',
    BindType: 'role',
    BindName: 'blue',
  });
  return (team) =>
    new SignJWT({ team })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
}

describePages('the frame of the web UI', 1, (stage) => {
  let sample: Sample;
  before(async () => {
    sample = await makeSample(stage);
  });

  it('names the node, and groups the pages', async () => {
    const { page } = await stage.visit('/');
    await page.getByRole('banner').getByText('dc1 · n1').waitFor();
    const menu = page.getByRole('navigation', { name: 'Pages' });
    for (const name of ['Access', 'Configuration', 'Cluster'])
      await menu.getByRole('region', { name }).getByRole('heading', { name }).waitFor();
    const plain = menu.getByRole('link').filter({ hasNot: page.locator('svg') });
    expect(await plain.allTextContents()).to.deep.equal([]);
    await menu.getByRole('region', { name: 'Cluster' }).getByRole('link', { name: 'Plan' }).click();
    await heading(page, 'Plan');
  });

  it('marks the pages that need a right which the token lacks', async () => {
    const { page } = await stage.visit('/config', { token: sample.token.SecretID });
    const menu = page.getByRole('navigation', { name: 'Pages' });
    await menu.getByRole('link', { name: 'Roles Your token lacks acl:read' }).waitFor();
    await menu.getByRole('link', { name: 'Config entries', exact: true }).waitFor();
  });

  it('goes to pages, actions and objects by typing', async () => {
    const { page, faults } = await stage.visit('/');
    await button(page, 'Go to Ctrl K').waitFor();
    await page.keyboard.press('Control+k');
    await paletteOf(page).and(page.locator(':focus')).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.keyboard.type('who');
    await page.keyboard.press('Enter');
    await heading(page, 'Who can');
    await button(page, 'Go to Ctrl K').click();
    await page.keyboard.type('new pol');
    await page.keyboard.press('Enter');
    await heading(page, 'New policy');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('BLUE deploys');
    await page.getByRole('option', { name: 'deploys of team blue token' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/tokens/${sample.token.AccessorID}`));
    await page.keyboard.press('Control+k');
    await page.keyboard.type(sample.policy.ID.slice(0, 8));
    await page.getByRole('option', { name: 'team-blue policy' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await heading(page, 'team-blue');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nothing has this name');
    await page.getByRole('status').getByText('Nothing is found.').waitFor();
    await page.keyboard.press('Escape');
    await paletteOf(page).waitFor({ state: 'detached' });
    expect(faults).to.deep.equal([]);
  });

  it('offers nothing that was found for an earlier text and does not fit any more', async () => {
    const { page } = await stage.visit('/');
    await button(page, 'Go to Ctrl K').click();
    await page.keyboard.type('blue');
    const option = (name: string): Locator => page.getByRole('option', { name });
    await option('team-blue policy').waitFor();
    // The next search is never answered.
    await page.route('**/v1/acl/**', () => {});
    await page.keyboard.type(' deploys');
    await option('team-blue policy').waitFor({ state: 'detached' });
    await option('deploys of team blue token').waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`/tokens/${sample.token.AccessorID}`));
  });

  it('filters by /, saves by Ctrl+Enter, and lists the keys by ?', async () => {
    const { page } = await stage.visit('/roles');
    await page.getByRole('table', { name: 'Roles' }).waitFor();
    await page.keyboard.press('/');
    await page.getByRole('searchbox').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('a/b?');
    expect(await page.getByRole('searchbox').inputValue()).to.equal('a/b?');
    await page.goto(stage.hrefOf(`/roles/${sample.role.ID}`));
    await field(page, 'Description').fill('changed by a key');
    await page.keyboard.press('Control+Enter');
    await reviewOf(page).getByRole('button', { name: 'Back' }).click();
    await page.getByRole('heading', { level: 1 }).focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('filters the list').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await button(page, 'Close').click();
  });

  it('applies by Ctrl+Enter only a review that is in front', async () => {
    const { page } = await stage.visit(`/roles/${sample.role.ID}`);
    let sent = 0;
    page.on('request', (request) => {
      if (request.url().includes('/v1/apply')) sent += 1;
    });
    await field(page, 'Description').fill('behind');
    await page.keyboard.press('Control+Enter');
    await reviewOf(page).getByText('behind').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Escape');
    await reviewOf(page).getByRole('button', { name: 'Back' }).click();
    await reviewOf(page).waitFor({ state: 'detached' });
    expect(sent).to.equal(0);
  });

  it('leaves keys to an editor, and saves by Ctrl+Enter what is typed in it', async () => {
    const { page } = await stage.visit(`/policies/${sample.policy.ID}`);
    await write(page, 'Rules', '');
    await page.keyboard.type('# a/b?');
    await page.keyboard.press('Control+Enter');
    const review = reviewOf(page);
    await review.getByText('# a/b?').waitFor();
    await review.getByRole('button', { name: 'Back' }).click();
    expect(await field(page, 'Rules').locator('.cm-line').allTextContents()).to.deep.equal([
      '# a/b?',
    ]);
    await page.goto(stage.hrefOf('/config/service-defaults/admin'));
    await write(page, 'Entry', '');
    await page.keyboard.type('["/?"]');
    await field(page, 'Entry').getByText('["/?"]').waitFor();
  });

  it('opens the menu by a button on a phone, and closes it after a visit', async () => {
    const { page } = await stage.visit('/', { width: 360, height: 740 });
    const roles = page.getByRole('link', { name: 'Roles', exact: true });
    expect(await roles.isVisible()).to.equal(false);
    const opener = button(page, 'Menu');
    await opener.click();
    expect(await opener.getAttribute('aria-expanded')).to.equal('true');
    await roles.click();
    await heading(page, 'Roles');
    expect(await roles.isVisible()).to.equal(false);
    await opener.click();
    await page.keyboard.press('Escape');
    expect(await roles.isVisible()).to.equal(false);
  });

  it('obeys keys and clicks before the next frame', async () => {
    const page = await stage.blank({ width: 360, height: 740 });
    await page.clock.install();
    await page.goto(stage.hrefOf('/roles'));
    await page.getByRole('table', { name: 'Roles' }).waitFor();
    // No frame comes while the clock of the page stands still.
    await page.clock.pauseAt(Date.now() + 60_000);
    await button(page, 'Menu').click();
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await page.getByRole('button', { name: 'Menu', expanded: false }).waitFor();
    const title = page.getByRole('heading', { level: 1, name: 'Policies' });
    await title.and(page.locator(':focus')).waitFor();
    expect(await page.title()).to.equal('Policies · Conclave');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('who');
    await page.keyboard.press('Enter');
    await heading(page, 'Who can');
  });

  it('leaves a narrow screen to the page, however long a name is', async () => {
    const about = 'a description without an end '.repeat(8).trim();
    const made = await stage.api<Sample['token']>('PUT /v1/acl/token', {
      Description: about,
      Policies: [{ Name: 'global-management' }],
    });
    for (const [width, most] of [
      [320, 125],
      [360, 125],
      [768, 85],
      [1400, 85],
    ] as const) {
      const { page } = await stage.visit('/roles', { token: made.SecretID, width });
      await page.getByRole('banner').getByText('dc1 · n1').waitFor();
      await page.getByRole('link', { name: about }).waitFor();
      const { y } = (await page.getByRole('heading', { level: 1 }).boundingBox())!;
      expect(y, `${width}`).to.be.below(most);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(width);
    }
  });

  it('logs in by a JWT, says why not, and keeps the JWT nowhere', async () => {
    const jwtOf = await makeMethod(stage);
    const { page } = await stage.visit('/config', { token: '' });
    expect(await violations(page)).to.deep.equal([]);
    await page.getByRole('tab', { name: 'With a token' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'With a JWT', selected: true }).waitFor();
    await button(page, 'Log in').click();
    await page.getByRole('alert').getByText('Enter the name of an auth method').waitFor();
    await field(page, 'Auth method').fill('staff');
    await field(page, 'Bearer token').fill(await jwtOf('red'));
    await button(page, 'Log in').click();
    await page.getByRole('alert').waitFor();
    const jwt = await jwtOf('blue');
    await field(page, 'Bearer token').fill(jwt);
    expect(await violations(page)).to.deep.equal([]);
    await button(page, 'Log in').click();
    await heading(page, 'Config entries');
    const kept = await page.evaluate('location.href + JSON.stringify({ ...sessionStorage })');
    expect(kept).not.to.include(jwt);
    const token = await tokenOf(page);
    await button(page, 'Log out').click();
    await page.getByRole('tab', { name: 'With a token' }).waitFor();
    while (await isAlive(stage, token));
  });

  it('ends the token of a login, even one that was pasted, when the page is not used', async () => {
    const BearerToken = await (await makeMethod(stage))('blue');
    const pasted = await stage.api<{ SecretID: string }>('POST /v1/acl/login', {
      AuthMethod: 'staff',
      BearerToken,
    });
    for (const isPasted of [false, true]) {
      const page = await stage.blank({ token: '' });
      await page.clock.install();
      await idleAfter(page, 60_000);
      await page.goto(stage.hrefOf('/config'));
      if (isPasted) await field(page, 'Token').fill(pasted.SecretID);
      else {
        await page.getByRole('tab', { name: 'With a JWT' }).click();
        await field(page, 'Auth method').fill('staff');
        await field(page, 'Bearer token').fill(BearerToken);
      }
      await button(page, 'Log in').click();
      await heading(page, 'Config entries');
      // A reload does not forget where the token comes from.
      await page.reload();
      await heading(page, 'Config entries');
      const token = await tokenOf(page);
      const ended = page.waitForResponse(/\/v1\/acl\/logout$/);
      await page.clock.fastForward(65_000);
      expect((await ended).status()).to.equal(200);
      await page.getByText('You were logged out because this page was not used.').waitFor();
      expect(await isAlive(stage, token)).to.equal(false);
    }
  });

  it('stays logged in while another tab with the token is used', async () => {
    const BearerToken = await (await makeMethod(stage))('blue');
    const login = { AuthMethod: 'staff', BearerToken };
    const { SecretID } = await stage.api<{ SecretID: string }>('POST /v1/acl/login', login);
    const page = await stage.blank({ token: '' });
    await page.clock.install();
    await idleAfter(page, 60_000);
    await page.goto(stage.hrefOf('/config'));
    await field(page, 'Token').fill(SecretID);
    await button(page, 'Log in').click();
    await heading(page, 'Config entries');
    const used = await duplicateOf(page);
    await idleAfter(used, 60_000);
    await used.goto(stage.hrefOf('/roles'));
    await heading(used, 'Roles');
    const useOther = async (): Promise<void> => {
      await page.clock.fastForward(40_000);
      await used.keyboard.press('Shift');
      await page.clock.fastForward(40_000);
    };
    await useOther();
    await page.getByRole('link', { name: /^Policies/ }).click();
    await heading(page, 'Policies');
    // A tab that the browser has put away asks the others when it comes back.
    await page.goto('about:blank');
    await useOther();
    await page.goto(stage.hrefOf('/config'));
    await heading(page, 'Config entries');
    expect(await isAlive(stage, SecretID)).to.equal(true);
    await page.clock.fastForward(65_000);
    for (const one of [page, used])
      await one.getByText('You were logged out because this page was not used.').waitFor();
    expect(await isAlive(stage, SecretID)).to.equal(false);
  });

  it('says when a session ends that nothing renews, and loses nothing by a new login', async () => {
    const { SecretID: token } = await stage.api<{ SecretID: string }>('PUT /v1/acl/token', {
      Policies: [{ Name: 'global-management' }],
      ExpirationTTL: '25m',
    });
    const page = await stage.blank({ token });
    await page.clock.install();
    await page.goto(stage.hrefOf('/roles?new'));
    await field(page, 'Description').fill('half');
    const told = page.getByRole('status').getByText('Your session ends in 5 minutes');
    await page.clock.fastForward(19 * 60_000);
    expect(await told.count()).to.equal(0);
    await page.clock.fastForward(60_000);
    await told.waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await button(page, 'Log in again').click();
    await field(page, 'Token').fill(stage.cluster.token);
    await button(page, 'Log in').click();
    await heading(page, 'New role');
    expect(await field(page, 'Description').inputValue()).to.equal('half');
    await page.clock.fastForward(10_000);
    expect(await told.count()).to.equal(0);
  });
});
