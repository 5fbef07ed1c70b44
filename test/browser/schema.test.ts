/** Help from the schema while a config entry or an ACL object is typed. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { button, create, field, saved, tabTo, write } from './actions.js';
import { violations } from './axe.js';
import { makeSample } from './sample.js';
import { describePages } from './stage.js';

const option = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('listbox', { name: 'Completions' }).getByRole('option', { name });
const finding = (page: Page, name: RegExp): Locator =>
  page.getByRole('list', { name: 'Findings' }).getByRole('button', { name });

describePages('help while typing in the web UI', 1, (stage) => {
  before(async () => {
    await makeSample(stage);
  });

  it('completes names and values of an entry, with the keyboard alone', async () => {
    const { page, faults } = await stage.visit('/config/service-splitter?new');
    await page.getByRole('textbox', { name: 'Entry' }).waitFor();
    await tabTo(page, 'Name');
    await page.keyboard.type('admin');
    await tabTo(page, 'Entry');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Control+Space');
    await option(page, /^Splits/).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.keyboard.type('Spl');
    await option(page, /^Meta/).waitFor({ state: 'detached' });
    await option(page, /^Splits/).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('{"Wei');
    await option(page, /^Weight/).waitFor();
    await page.getByText('The share of requests, in percent', { exact: false }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('100');
    await page.getByText('Splits › Weight: The share of requests, in percent').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    expect(faults).to.deep.equal([]);
    await create(page);
    await saved(page);
    const entry = await stage.api<{ Splits: unknown }>('GET /v1/config/service-splitter/admin');
    expect(entry.Splits).to.have.length(1);
  });

  it('offers allowed values', async () => {
    const { page } = await stage.visit('/config/service-defaults?new');
    await write(page, 'Entry', '{\n  "MeshGateway": { "Mode": "" }\n}');
    for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+Space');
    for (const value of ['none', 'local', 'remote']) await option(page, value).waitFor();
    await page.keyboard.press('Escape');
    await option(page, 'none').waitFor({ state: 'detached' });
  });

  it('lists mistakes while an entry is typed, and leads to their places', async () => {
    const { page } = await stage.visit('/config/service-defaults?new');
    await field(page, 'Name').fill('mistaken');
    await write(page, 'Entry', '{\n  "Protocl": "http",\n  "MaxInboundConnections": "many"\n}');
    const unknown = finding(page, /^error unknown_field line 2: .* did you mean "Protocol"\?$/);
    await finding(page, /^error type line 3: expected a whole number, found a string$/).waitFor();
    await page.locator('.meant', { hasText: '"many"' }).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await unknown.click();
    await page.locator('.cm-focused .cm-activeLine', { hasText: 'Protocl' }).waitFor();
    await write(page, 'Entry', '{ "Protocol": "http", }');
    await finding(page, /^error syntax line 1: there must be no comma before }$/).waitFor();
    await write(page, 'Entry', '{ "Protocol": "http" }');
    await page.getByText('No findings').waitFor();
  });

  it('completes rules with resources, names that exist and levels', async () => {
    const { page, faults } = await stage.visit('/policies?new');
    await field(page, 'Name').fill('completed');
    await field(page, 'Rules').click();
    await page.keyboard.type('serv');
    await option(page, /^service$/).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.keyboard.press('Enter');
    await page.keyboard.type('adm');
    await option(page, /^admin$/).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wri');
    await option(page, /^write$/).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Control+End');
    await page.keyboard.type('\nnode "a" {\npolicy = "read');
    await finding(page, /implied_intentions line 1/).waitFor();
    await create(page);
    await saved(page);
    const policies = await stage.api<{ ID: string }[]>(
      'GET /v1/acl/policies?filter=Name%20==%20"completed"',
    );
    const { Rules } = await stage.api<{ Rules: string }>(`GET /v1/acl/policy/${policies[0]!.ID}`);
    expect(Rules).to.equal(
      'service "admin" {\n  policy = "write"\n}\nnode "a" {\n  policy = "read"\n}',
    );
    expect(faults).to.deep.equal([]);
  });

  it('tells one syntax error at a time', async () => {
    const { page } = await stage.visit('/config/service-defaults?new');
    await write(page, 'Entry', '{\n  "Protocol" "http"\n  "Meta": {,\n  "x" }\n');
    await finding(page, /^error syntax line 2: /).waitFor();
    expect(
      await page.getByRole('list', { name: 'Findings' }).getByRole('listitem').count(),
    ).to.equal(1);
  });

  it('marks what the server refuses', async () => {
    const { page } = await stage.visit('/config/service-splitter?new');
    await field(page, 'Name').fill('half');
    await write(page, 'Entry', '{\n  "Splits": [\n    { "Weight": 50.001 }\n  ]\n}');
    await page.getByText('No findings').waitFor();
    await button(page, 'Save').click();
    await finding(page, /^error invalid line [23]: /).waitFor();
  });

  it('says what a field of an ACL object is, and checks its form', async () => {
    const { page } = await stage.visit('/auth-methods?new');
    await page.getByText('How identities are verified.').waitFor();
    const ttl = field(page, 'Max token TTL');
    await ttl.fill('24');
    await page.getByText('Expected a value such as 10s or 1h30m').waitFor();
    expect(await ttl.getAttribute('aria-invalid')).to.equal('true');
    await ttl.fill('24h');
    await page.getByText('Expected a value such as').waitFor({ state: 'detached' });
    await write(page, 'Namespace rules', '[{ "Selecto": "" }]');
    await finding(page, /^error unknown_field line 1: .* did you mean "Selector"\?$/).waitFor();
    expect(await button(page, 'Save').isEnabled()).to.equal(true);
  });
});
