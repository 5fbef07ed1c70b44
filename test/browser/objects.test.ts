/** Objects in lists and forms: made, changed, deleted, in conflict, filtered. */
import { expect } from 'chai';
import { apply, button, create, field, hold, reviewOf, saved, write } from './actions.js';
import { makeSample, type Sample } from './sample.js';
import { describePages } from './stage.js';

describePages('objects in the web UI', 1, (stage) => {
  let sample: Sample;
  before(async () => {
    sample = await makeSample(stage);
  });

  it('say that somebody else has deleted them, and keep what was typed', async () => {
    const role = await stage.api<{ ID: string }>('PUT /v1/acl/role', { Name: 'short-lived' });
    const { page } = await stage.visit(`/roles/${role.ID}`);
    await field(page, 'Description').fill('typed meanwhile');
    await stage.api(`DELETE /v1/acl/role/${role.ID}`);
    const alert = page.getByRole('alert').getByText('This role does not exist.');
    await alert.waitFor();
    expect(await field(page, 'Description').inputValue()).to.equal('typed meanwhile');
    await field(page, 'Description').fill('typed since');
    expect(await alert.count()).to.equal(1);
    const [line] = (
      await stage.api<{ Changes: readonly { Index: number }[] }>('GET /v1/history?limit=1')
    ).Changes;
    await stage.api('POST /v1/undo', { Index: line!.Index });
    await alert.waitFor({ state: 'detached' });
    await page.getByRole('alert').getByText('changed meanwhile').waitFor();
  });

  it('are made with findings while typing, reviewed, changed and deleted', async () => {
    const { page, faults } = await stage.visit('/policies');
    await page.getByRole('link', { name: 'New policy' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('broad');
    await write(page, 'Rules', '# all\nservice_prefix "" { policy = "write" }');
    const finding = page
      .getByRole('list', { name: 'Findings' })
      .getByRole('button', { name: /^warning broad_write line 2: / });
    await finding.click();
    const rules = page.getByRole('textbox', { name: 'Rules' });
    await rules.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('X');
    await button(page, 'Save').click();
    // What is wrong is said on the page, where it can be mended.
    await page.getByRole('alert').getByText('Xservice_prefix').waitFor();
    await rules.press('Backspace');
    await create(page);
    await saved(page);
    await page.getByRole('heading', { level: 1, name: 'broad' }).waitFor();
    await page.getByRole('textbox', { name: 'Description' }).fill('all services');
    await apply(page);
    await saved(page);
    await button(page, 'Delete').click();
    const remove = page.getByRole('dialog', { name: 'Delete broad' });
    await remove.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('status').getByText('broad was deleted').waitFor();
    expect(await page.getByRole('link', { name: 'broad', exact: true }).count()).to.equal(0);
    expect(faults).to.deep.equal([]);
  });

  it('try rules that are not stored', async () => {
    const { page } = await stage.visit('/policies?new');
    await write(page, 'Rules', 'service "api" { policy = "write" }');
    await page.getByRole('textbox', { name: 'Segment' }).fill('api');
    await button(page, 'Explain').click();
    await page.getByText('Allowed.', { exact: true }).waitFor();
  });

  it('try rules once at a time, so that the last answer is that of the last rules', async () => {
    const { page } = await stage.visit('/policies?new');
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/acl/authorize/explain', async (route) => {
      await released;
      await route.continue();
    });
    await write(page, 'Rules', 'service "web" { policy = "write" }');
    await button(page, 'Explain').click();
    await page.getByRole('button', { name: 'Explain', disabled: true }).waitFor();
    release();
    await page.getByText('Allowed.', { exact: true }).waitFor();
    expect(await button(page, 'Explain').isDisabled()).to.equal(false);
  });

  it('link others by name; a new token shows its secret once', async () => {
    const { page } = await stage.visit('/tokens?new');
    await page.getByRole('textbox', { name: 'Description' }).fill('fresh');
    const roles = page.getByRole('combobox', { name: 'Roles' });
    await roles.fill('blue');
    await roles.press('Enter');
    await page.getByRole('list', { name: 'Chosen: Roles' }).getByText('blue').waitFor();
    await button(page, 'Save').click();
    const secret = page.getByRole('region', { name: 'The new SecretID' });
    // In view without scrolling, and focused.
    const box = await secret.boundingBox();
    expect(box!.y + box!.height).to.be.below(page.viewportSize()!.height);
    await page.waitForFunction("document.activeElement?.textContent === 'The new SecretID'");
    // It is read, not only copied.
    const style = "getComputedStyle(document.querySelector('main .secret code'))";
    const disguise = await page.evaluate(`${style}.getPropertyValue('-webkit-text-security')`);
    expect(disguise).to.equal('none');
    await secret.getByRole('button', { name: 'Copy' }).click();
    await secret.getByText('Copied').waitFor();
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    const self = await stage.api<{ Description: string }>(
      'GET /v1/acl/token/self',
      undefined,
      copied,
    );
    expect(self.Description).to.equal('fresh');
    await page.getByRole('table', { name: 'Rights of the token' }).getByText('web').waitFor();
    await button(page, 'Clone').click();
    await secret.getByText(copied).waitFor({ state: 'detached' });
    // It stays on every page until the user has it.
    await page.getByRole('link', { name: 'Policies', exact: true }).click();
    await page.getByRole('table', { name: 'Policies' }).waitFor();
    await secret.getByRole('button', { name: 'I have it' }).click();
    await secret.waitFor({ state: 'detached' });
    await page.goBack();
    await page.getByRole('heading', { name: 'Effective rights' }).waitFor();
    expect(await secret.count()).to.equal(0);
  });

  it('lead to new ones that link them, whose first field has the focus', async () => {
    await stage.api('PUT /v1/acl/policy', { Name: 'linked', Rules: '' });
    const { ID } = await stage.api<{ ID: string }>('GET /v1/acl/policy/name/linked');
    const { page } = await stage.visit(`/policies/${ID}`);
    await page.getByRole('link', { name: 'New role' }).click();
    await page.locator('input:focus').waitFor();
    await page.keyboard.type('links-it');
    await page.getByRole('list', { name: 'Chosen: Policies' }).getByText('linked').waitFor();
    await page.keyboard.press('Enter');
    await saved(page);
    await page.getByRole('link', { name: 'New token' }).click();
    await page.getByRole('list', { name: 'Chosen: Roles' }).getByText('links-it').waitFor();
    // A link of another site cannot fill in more than that.
    await page.goto(stage.hrefOf('/binding-rules?new&AuthMethod=a&BindName=b&Selector=c'));
    await page.locator('input:focus').waitFor();
    expect(await field(page, 'Auth method').inputValue()).to.equal('a');
    expect(await field(page, 'Bind name').inputValue()).to.equal('');
    expect(await field(page, 'Selector').inputValue()).to.equal('');
  });

  it('that link others have a draft for each that they link', async () => {
    const { page } = await stage.visit('/tokens?new&Policies=blue');
    await page.getByRole('list', { name: 'Chosen: Policies' }).getByText('blue').waitFor();
    await page.getByRole('textbox', { name: 'Description' }).fill('of a policy');
    await page.goto(stage.hrefOf('/tokens?new&Roles=blue'));
    await page.getByRole('list', { name: 'Chosen: Roles' }).getByText('blue').waitFor();
    expect(await page.getByRole('textbox', { name: 'Description' }).inputValue()).to.equal('');
  });

  it('are made by a form, whatever kind the address names', async () => {
    for (const kind of ['constructor', '__proto__', 'no-such-kind']) {
      const { page, faults } = await stage.visit(`/config/${kind}?new`);
      await page.getByRole('heading', { level: 1, name: 'New config entry' }).waitFor();
      await page.getByRole('textbox', { name: 'Name' }).waitFor();
      expect(await page.getByLabel('Kind').inputValue()).to.equal('service-defaults');
      expect(faults).to.deep.equal([]);
    }
  });

  it('say before a deletion what it does, and who links to the object', async () => {
    const { ID } = await stage.api<{ ID: string }>('PUT /v1/acl/policy', { Name: 'shared' });
    const Policies = [{ ID }];
    await stage.api('PUT /v1/acl/role', { Name: 'holder', Policies });
    for (let count = 1; count <= 5; count += 1)
      await stage.api('PUT /v1/acl/token', { Description: `job ${count}`, Policies });
    const { page } = await stage.visit(`/policies/${ID}`);
    await button(page, 'Delete').click();
    const dialog = page.getByRole('dialog', { name: 'Delete shared' });
    await dialog.getByText('Roles that link to it: 1 (holder).').waitFor();
    await dialog
      .getByText(/^Tokens that link to it: 5 \(job \d, job \d, job \d and 2 more\)/)
      .waitFor();
    await dialog.getByText('Who links to it loses the rights that it grants.').waitFor();
    const entry = { Kind: 'service-defaults', Name: 'plain', Protocol: 'http' };
    await stage.api('PUT /v1/config', entry);
    await page.goto(stage.hrefOf('/config/service-defaults/plain'));
    await button(page, 'Delete').click();
    await page.getByText('The server refuses it while another entry needs this one.').waitFor();
    expect(await page.getByText('loses the rights').count()).to.equal(0);
  });

  it('in conflict show what changed, and lose nothing that was typed', async () => {
    const role = await stage.api<{ ID: string }>('PUT /v1/acl/role', { Name: 'shared' });
    const { page } = await stage.visit(`/roles/${role.ID}`);
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('mine');
    const theirs = { Name: 'shared', Description: 'theirs' };
    await stage.api(`PUT /v1/acl/role/${role.ID}`, theirs);
    await button(page, 'Save').click();
    const alert = page.getByRole('alert').filter({ hasText: /changed meanwhile/i });
    await alert.getByText('theirs').first().waitFor();
    expect(await description.inputValue()).to.equal('mine');
    await alert.getByRole('button', { name: 'Go on from theirs' }).click();
    expect(await description.inputValue()).to.equal('theirs');
    await page.getByText('Your text, to compare').waitFor();
    await page.getByText('mine').waitFor();
    // A change after the plan is found, too.
    await description.fill('mine');
    await button(page, 'Save').click();
    await reviewOf(page).getByText('mine').waitFor();
    await stage.api(`PUT /v1/acl/role/${role.ID}`, { ...theirs, Description: 'theirs again' });
    await reviewOf(page).getByRole('button', { name: 'Apply' }).click();
    await alert.getByText('theirs again').first().waitFor();
    await alert.getByRole('button', { name: 'Keep mine and review' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await saved(page);
    const now = await stage.api<{ Description: string }>(`GET /v1/acl/role/${role.ID}`);
    expect(now.Description).to.equal('mine');
  });

  it('say that somebody changed them while one types, and keep what both changed', async () => {
    const role = await stage.api<{ ID: string }>('PUT /v1/acl/role', { Name: 'both' });
    const { page } = await stage.visit(`/roles/${role.ID}`);
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    await stage.api(`PUT /v1/acl/role/${role.ID}`, { Name: 'both-of-us' });
    const alert = page.getByRole('alert').filter({ hasText: /changed meanwhile/i });
    await alert.getByText('both-of-us').waitFor();
    await alert.getByRole('button', { name: 'Keep mine and review' }).click();
    await reviewOf(page).getByText('mine').waitFor();
    expect(await reviewOf(page).getByText('both').count(), 'their change in the review').to.equal(
      0,
    );
    await page.keyboard.press('Control+Enter');
    await saved(page);
    const now = await stage.api<{ Name: string; Description: string }>(
      `GET /v1/acl/role/${role.ID}`,
    );
    expect([now.Name, now.Description]).to.deep.equal(['both-of-us', 'mine']);
  });

  /** An entry that is open on a page, with another protocol typed. */
  async function typedEntry(Name: string) {
    const entry = { Kind: 'service-defaults', Name, Protocol: 'http', MaxInboundConnections: 5 };
    await stage.api('PUT /v1/config', entry);
    const { page } = await stage.visit(`/config/service-defaults/${Name}`);
    await page.getByLabel('Protocol').selectOption('grpc');
    const read = () => stage.api<typeof entry>(`GET /v1/config/service-defaults/${Name}`);
    return { page, entry, read };
  }

  it('are merged at once if what both changed does not collide', async () => {
    const { page, entry, read } = await typedEntry('merged');
    await stage.api('PUT /v1/config', { ...entry, MaxInboundConnections: 7 });
    await page.keyboard.press('Control+Enter');
    const review = reviewOf(page);
    const alert = review.getByRole('alert').filter({ hasText: /changed meanwhile/i });
    await alert.getByText('"MaxInboundConnections": 7').waitFor();
    await review.getByText('grpc').first().waitFor();
    await page.keyboard.press('Control+Enter');
    await saved(page);
    expect(await read()).to.include({ Protocol: 'grpc', MaxInboundConnections: 7 });
  });

  it('are merged again if they change once more while the review is read', async () => {
    const { page, entry, read } = await typedEntry('overtaken');
    await page.keyboard.press('Control+Enter');
    const review = reviewOf(page);
    await review.getByText('grpc').first().waitFor();
    await review.getByRole('textbox', { name: 'Reason' }).fill('for streams');
    await stage.api('PUT /v1/config', { ...entry, MaxInboundConnections: 8 });
    await page.keyboard.press('Control+Enter');
    await review.getByRole('alert').getByText('"MaxInboundConnections": 8').waitFor();
    expect(await review.getByRole('textbox', { name: 'Reason' }).inputValue()).to.equal(
      'for streams',
    );
    expect(await read(), 'before it is applied').to.include({ Protocol: 'http' });
    await review.getByRole('button', { name: 'Go on from theirs' }).click();
    expect(await page.getByLabel('Protocol').inputValue()).to.equal('http');
    await page.getByText('Your text, to compare').waitFor();
  });

  it('are not deleted if they change while the dialog is read, which is said', async () => {
    const { page, entry, read } = await typedEntry('undeleted');
    await button(page, 'Delete').click();
    const dialog = page.getByRole('dialog', { name: 'Delete undeleted' });
    await dialog.getByText('The history can undo this.').waitFor();
    await stage.api('PUT /v1/config', { ...entry, MaxInboundConnections: 6 });
    await dialog.getByRole('button', { name: 'Delete' }).click();
    const alert = page.getByRole('alert').filter({ hasText: /changed meanwhile/i });
    await alert.getByText('"MaxInboundConnections": 6').waitFor();
    expect(await page.getByLabel('Protocol').inputValue()).to.equal('grpc');
    expect(await read()).to.include({ MaxInboundConnections: 6 });
  });

  it('ask whose change is kept where both changed the same', async () => {
    const { page, entry, read } = await typedEntry('chosen');
    await stage.api('PUT /v1/config', { ...entry, Protocol: 'tcp', MaxInboundConnections: 9 });
    await page.keyboard.press('Control+Enter');
    const choice = page.getByRole('alert').getByRole('group', { name: 'Protocol' });
    expect(await choice.getByRole('radio', { name: /^Mine grpc/ }).isChecked()).to.equal(true);
    await choice.getByRole('radio', { name: /^Theirs tcp/ }).check();
    await page.getByLabel('Local connect timeout').fill('30');
    await page.keyboard.press('Control+Enter');
    await reviewOf(page).getByText('30').first().waitFor();
    await page.keyboard.press('Control+Enter');
    await saved(page);
    const now = { Protocol: 'tcp', MaxInboundConnections: 9, LocalConnectTimeoutMs: 30 };
    expect(await read()).to.include(now);
  });

  it('offer theirs alone where nothing was typed', async () => {
    const role = await stage.api<{ ID: string }>('PUT /v1/acl/role', { Name: 'looked-at' });
    const { page } = await stage.visit(`/roles/${role.ID}`);
    await page.getByRole('textbox', { name: 'Description' }).waitFor();
    await stage.api(`PUT /v1/acl/role/${role.ID}`, { Name: 'looked-at', Description: 'theirs' });
    const alert = page.getByRole('alert').filter({ hasText: /changed meanwhile/i });
    await alert.waitFor();
    expect(await alert.getByRole('button').allTextContents()).to.deep.equal(['Go on from theirs']);
    await alert.getByRole('button').click();
    const description = page.getByRole('textbox', { name: 'Description' });
    expect(await description.inputValue()).to.equal('theirs');
    expect(await page.getByText('Your text, to compare').count()).to.equal(0);
  });

  it('are in conflict before the next frame, so that no key is lost to it', async () => {
    const role = await stage.api<{ ID: string }>('PUT /v1/acl/role', { Name: 'polled' });
    const page = await stage.blank();
    await page.clock.install();
    await page.goto(stage.hrefOf(`/roles/${role.ID}`));
    await page.getByRole('textbox', { name: 'Description' }).fill('mine');
    const path = `**/v1/acl/role/${role.ID}*`;
    const release = await hold(page, path);
    await page.waitForRequest(path);
    await stage.api(`PUT /v1/acl/role/${role.ID}`, { Name: 'polled', Description: 'theirs' });
    // No frame comes while the clock of the page stands still.
    await page.clock.pauseAt(Date.now() + 60_000);
    await release();
    const alert = page.getByRole('alert').filter({ hasText: /changed meanwhile/i });
    await alert.getByText('theirs').first().waitFor();
  });

  it('of the mesh are written under the index that was read', async () => {
    const { page } = await stage.visit('/config/service-defaults?new');
    await page.getByRole('textbox', { name: 'Name' }).fill('api');
    await write(page, 'Entry', '{ "Protocol": "http" }');
    await create(page);
    await saved(page);
    const entry = { Kind: 'service-defaults', Name: 'api', Protocol: 'tcp' };
    await stage.api('PUT /v1/config', entry);
    const alert = page.getByRole('alert').filter({ hasText: /changed meanwhile/i });
    await alert.waitFor();
    expect(await page.getByText(/^Saved/).count(), 'notes of the first write').to.equal(0);
    await write(page, 'Entry', '{ "Protocol": "grpc" }');
    await button(page, 'Save').click();
    await alert.getByRole('button', { name: 'Keep mine and review' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await saved(page);
    const now = await stage.api<{ Protocol: string }>('GET /v1/config/service-defaults/api');
    expect(now.Protocol).to.equal('grpc');
    await write(page, 'Entry', '{ "Protocol": 7 }');
    await button(page, 'Save').click();
    await page
      .getByRole('alert')
      .getByText(/'Protocol' expected type 'string'/)
      .waitFor();
  });

  it('keep what was typed over a reload, until it is discarded', async () => {
    const { page } = await stage.visit(`/policies/${sample.policy.ID}`);
    const description = page.getByRole('textbox', { name: 'Description' });
    const before = await description.inputValue();
    await description.fill('not saved');
    await page.reload();
    const restored = page.getByText('unsaved changes have been restored');
    await restored.waitFor();
    expect(await description.inputValue()).to.equal('not saved');
    await button(page, 'Discard draft').click();
    await restored.waitFor({ state: 'detached' });
    expect(await description.inputValue()).to.equal(before);
  });

  it('of another namespace are chosen in the header', async () => {
    const { page } = await stage.visit('/policies');
    await page.getByLabel('Namespace').selectOption('team-a');
    await page.getByRole('link', { name: 'namespace-management' }).click();
    await page.getByRole('heading', { level: 1, name: 'namespace-management' }).waitFor();
    expect(page.url()).to.include('ns=team-a');
  });
});
