/** Fields of forms: what they keep, what they announce, and what they do in need. */
import { expect } from 'chai';
import { apply, button, create, field, saved, write } from './actions.js';
import { violations } from './axe.js';
import { makeSample } from './sample.js';
import { describePages } from './stage.js';

describePages('fields in the web UI', 1, (stage) => {
  before(async () => {
    await makeSample(stage);
  });

  it('keep the variable of a templated policy', async () => {
    const TemplatedPolicies = [
      { TemplateName: 'builtin/service', TemplateVariables: { name: 'web' } },
    ];
    const made = { Name: 'templated', TemplatedPolicies };
    const { ID } = await stage.api<{ ID: string }>('PUT /v1/acl/role', made);
    const { page } = await stage.visit(`/roles/${ID}`);
    expect(await field(page, 'Template').inputValue()).to.equal('builtin/service');
    expect(await field(page, 'Value of name').inputValue()).to.equal('web');
    await field(page, 'Description').fill('changed');
    await apply(page);
    await saved(page);
    const now = await stage.api<{ TemplatedPolicies: { TemplateVariables: unknown }[] }>(
      `GET /v1/acl/role/${ID}`,
    );
    expect(now.TemplatedPolicies[0]!.TemplateVariables).to.deep.equal({ name: 'web' });
  });

  it('add and remove identities in rows', async () => {
    const { page, faults } = await stage.visit('/roles?new');
    await field(page, 'Name').fill('identities');
    await button(page, 'Add service identity').click();
    await field(page, 'Service name').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('web');
    await field(page, 'Datacenters').fill('dc1, dc2');
    await button(page, 'Add service identity').click();
    await page.getByRole('textbox', { name: 'Service name' }).nth(1).fill('gone');
    await button(page, 'Remove gone').click();
    await button(page, 'Add node identity').click();
    await field(page, 'Node name').fill('n1');
    await button(page, 'Save').click();
    await field(page, 'Datacenter').and(page.locator(':focus:invalid')).waitFor();
    await page.keyboard.type('dc1');
    await button(page, 'Add templated policy').click();
    await field(page, 'Template').fill('builtin/d');
    await page.getByRole('option', { name: 'builtin/dns' }).click();
    expect(await violations(page)).to.deep.equal([]);
    await create(page);
    await saved(page);
    const [role] = await stage.api<object[]>('GET /v1/acl/roles?filter=Name%20==%20"identities"');
    expect(role).to.deep.include({
      ServiceIdentities: [{ ServiceName: 'web', Datacenters: ['dc1', 'dc2'] }],
      NodeIdentities: [{ NodeName: 'n1', Datacenter: 'dc1' }],
    });
    expect(role).to.have.nested.property('TemplatedPolicies[0].TemplateName', 'builtin/dns');
    expect(faults).to.deep.equal([]);
  });

  it('offer what a list has, by keys and by clicks', async () => {
    const { page } = await stage.visit('/explain');
    const accessor = field(page, 'AccessorID');
    await accessor.fill('TEAM BLUE');
    await page.getByRole('option', { name: /^deploys of team blue/ }).waitFor();
    expect(await accessor.getAttribute('aria-expanded')).to.equal('true');
    expect(await violations(page)).to.deep.equal([]);
    await accessor.press('ArrowDown');
    await accessor.press('Enter');
    expect(await accessor.inputValue()).to.match(/^[0-9a-f-]{36}$/);
    await page.getByRole('listbox', { name: 'Offered: AccessorID' }).waitFor({ state: 'hidden' });
    await field(page, 'Resource').fill('');
    await page.getByRole('option', { name: 'service' }).click();
    expect(await field(page, 'Resource').inputValue()).to.equal('service');
    await field(page, 'Segment').fill('web');
    await button(page, 'Explain').click();
    await page.getByText('Allowed.', { exact: true }).waitFor();
  });

  it('offer nothing that was found for an earlier text and does not fit any more', async () => {
    const { page } = await stage.visit('/roles?new');
    const policies = page.getByRole('combobox', { name: 'Policies' });
    const offer = page.getByRole('option', { name: 'team-blue' });
    await policies.fill('team');
    await offer.waitFor();
    // The next search is never answered.
    await page.route('**/v1/acl/policies*', () => {});
    await policies.fill('team-b');
    await policies.press('ArrowDown');
    await offer.and(page.locator('[aria-selected=true]')).waitFor();
    await policies.fill('team-red');
    await policies.press('ArrowDown');
    await policies.press('Enter');
    const chosen = page.getByRole('list', { name: 'Chosen: Policies' }).getByRole('listitem');
    expect(await chosen.allTextContents()).to.deep.equal(['team-red×']);
  });

  it('say by themselves what the server refused of them, and get the focus', async () => {
    await stage.api('PUT /v1/acl/role', { Name: 'taken' });
    const { page } = await stage.visit('/roles?new');
    await button(page, 'Save').click();
    await field(page, 'Name').and(page.locator(':focus:invalid')).waitFor();
    await field(page, 'Name').fill('a b');
    await field(page, 'Description').focus();
    await button(page, 'Save').click();
    await field(page, 'Name').and(page.locator(':focus[aria-invalid=true]')).waitFor();
    expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).to.equal(1);
  });

  it('say which link or which row the server refused', async () => {
    const { page, faults } = await stage.visit('/roles?new', { width: 360 });
    await field(page, 'Name').fill('rows');
    const policies = page.getByRole('combobox', { name: 'Policies' });
    await policies.fill('no-such-policy');
    await policies.press('Enter');
    await button(page, 'Save').click();
    await policies.and(page.locator(':focus[aria-invalid=true]')).waitFor();
    await page.getByRole('alert').getByText('no-such-policy').waitFor();
    expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).to.equal(1);
    await button(page, 'Remove no-such-policy').click();
    for (const name of ['web', 'A B']) {
      await button(page, 'Add service identity').click();
      await page.getByRole('textbox', { name: 'Service name' }).last().fill(name);
    }
    await button(page, 'Save').click();
    const second = page.getByRole('textbox', { name: 'Service name' }).nth(1);
    await second.and(page.locator(':focus[aria-invalid=true]')).waitFor();
    expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).to.equal(1);
    expect(await violations(page)).to.deep.equal([]);
    await second.fill('api');
    await create(page);
    await saved(page);
    expect(faults).to.deep.equal([]);
  });

  it('offer what a binding rule may bind', async () => {
    await stage.api('PUT /v1/acl/role', { Name: 'bindable' });
    const { page } = await stage.visit('/binding-rules?new');
    const name = field(page, 'Bind name');
    await name.fill('BINDA');
    await page.getByRole('option', { name: 'bindable' }).waitFor();
    await name.press('ArrowDown');
    await name.press('Enter');
    expect(await name.inputValue()).to.equal('bindable');
    await page.getByRole('combobox', { name: 'Bind type' }).selectOption('templated-policy');
    await name.fill('builtin/d');
    await page.getByRole('option', { name: 'builtin/dns' }).click();
    expect(await name.inputValue()).to.equal('builtin/dns');
    await page.getByRole('combobox', { name: 'Bind type' }).selectOption('service');
    await page.getByRole('textbox', { name: 'Bind name' }).waitFor();
  });

  it('of a rule are judged with the variables of its template', async () => {
    const { ID } = await stage.api<{ ID: string }>('PUT /v1/acl/binding-rule', {
      AuthMethod: 'builds',
      Selector: '"team" in value and value.team == "red"',
      BindType: 'templated-policy',
      BindName: 'builtin/service',
      BindVars: { name: '${value.name}' },
    });
    const page = await stage.blank();
    const judged = page.waitForResponse('**/v1/acl/binding-rule/lint*');
    await page.goto(stage.hrefOf(`/binding-rules/${ID}`));
    expect(await (await judged).json()).to.deep.equal({ Valid: true, Problems: [] });
  });

  it('are invalid only while something is wrong with them', async () => {
    const { page } = await stage.visit('/auth-methods?new');
    await page.getByText('How long the tokens of logins are valid').waitFor();
    // The frame has an empty one for what may come.
    const alerts = page.getByRole('alert').filter({ hasText: /./ });
    const ttl = field(page, 'Max token TTL');
    expect(await ttl.getAttribute('aria-invalid')).to.equal(null);
    expect(await alerts.count()).to.equal(0);
    await ttl.fill('24');
    await alerts.waitFor();
    expect(await ttl.getAttribute('aria-invalid')).to.equal('true');
    await ttl.fill('');
    await alerts.waitFor({ state: 'detached' });
    expect(await ttl.getAttribute('aria-invalid')).to.equal(null);
  });

  it('may leave out the name of an only entry', async () => {
    const { page } = await stage.visit('/');
    for (const [kind, name] of [
      ['mesh', 'mesh'],
      ['proxy-defaults', 'global'],
    ]) {
      await page.goto(stage.hrefOf(`/config/${kind}?new`));
      await write(page, 'Entry', '{}');
      await create(page);
      await saved(page);
      await page.getByRole('heading', { level: 1, name: name! }).waitFor();
    }
    await page.goto(stage.hrefOf('/config/mesh?new'));
    await write(page, 'Entry', '{}');
    await button(page, 'Save').click();
    await page.getByRole('alert').getByText('The mesh "mesh" already exists').waitFor();
  });

  it('for links leave out no name that was typed', async () => {
    const { page } = await stage.visit('/roles?new');
    await field(page, 'Name').fill('linked');
    const policies = page.getByRole('combobox', { name: 'Policies' });
    await policies.fill('team-blue');
    await button(page, 'Save').click();
    await policies.and(page.locator(':focus:invalid')).waitFor();
    expect(await page.getByRole('dialog').count()).to.equal(0);
    await policies.press('Enter');
    await create(page);
    await saved(page);
    const [role] = await stage.api<{ Policies: { Name: string }[] }[]>(
      'GET /v1/acl/roles?filter=Name%20==%20"linked"',
    );
    expect(role!.Policies[0]!.Name).to.equal('team-blue');
  });

  it('for rules keep the ends of lines', async () => {
    const Rules = '# from Windows\r\nservice "win" {\r\n  policy = "read"\r\n}\r\n';
    const made = { Name: 'windows', Rules };
    const { ID } = await stage.api<{ ID: string }>('PUT /v1/acl/policy', made);
    const { page } = await stage.visit(`/policies/${ID}`);
    await field(page, 'Rules').waitFor();
    await page.waitForLoadState('networkidle');
    const kept = await page.evaluate('Object.keys(sessionStorage).join()');
    expect(kept).not.to.include('draft');
    await field(page, 'Description').fill('typed');
    await apply(page);
    await saved(page);
    const now = () => stage.api<typeof made>(`GET /v1/acl/policy/${ID}`);
    expect((await now()).Rules).to.equal(Rules);
    await field(page, 'Rules').click();
    await page.keyboard.press('Control+End');
    await page.keyboard.insertText('# more');
    await apply(page);
    await saved(page);
    expect((await now()).Rules).to.equal(`${Rules}# more`);
  });

  it('for rules take text even if the editor cannot be loaded', async () => {
    const page = await stage.blank();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    await page.route('**/ui/assets/editor.*', (route) => route.abort());
    await page.goto(stage.hrefOf('/policies?new'));
    await field(page, 'Name').fill('plain');
    await field(page, 'Rules').fill('service "web" { policy = "read" }');
    await create(page);
    await saved(page);
    expect(await field(page, 'Rules').inputValue()).to.include('service "web"');
    expect(faults).to.deep.equal([]);
  });
});
