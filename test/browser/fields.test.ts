/** Fields of forms: what they keep, what they announce, and what they do in need. */
import { expect } from 'chai';
import { apply, button, field, saved, write } from './actions.js';
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
    const templates = field(page, 'Templated policies');
    expect(await templates.inputValue()).to.equal('builtin/service web');
    await field(page, 'Description').fill('changed');
    await apply(page);
    await saved(page);
    const now = await stage.api<{ TemplatedPolicies: { TemplateVariables: unknown }[] }>(
      `GET /v1/acl/role/${ID}`,
    );
    expect(now.TemplatedPolicies[0]!.TemplateVariables).to.deep.equal({ name: 'web' });
  });

  it('are invalid only while something is wrong with them', async () => {
    const { page } = await stage.visit('/auth-methods?new');
    await page.getByText('A human-readable name of the auth method.').waitFor();
    const ttl = field(page, 'Max token TTL');
    expect(await ttl.getAttribute('aria-invalid')).to.equal(null);
    expect(await page.getByRole('alert').count()).to.equal(0);
    await ttl.fill('24');
    await page.getByRole('alert').waitFor();
    expect(await ttl.getAttribute('aria-invalid')).to.equal('true');
    await ttl.fill('');
    await page.getByRole('alert').waitFor({ state: 'detached' });
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
      await apply(page);
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
    await button(page, 'Add to Policies').click();
    await apply(page);
    await saved(page);
    const [role] = await stage.api<{ Policies: { Name: string }[] }[]>(
      'GET /v1/acl/roles?filter=Name%20==%20"linked"',
    );
    expect(role!.Policies[0]!.Name).to.equal('team-blue');
  });

  it('for rules take text even if the editor cannot be loaded', async () => {
    const page = await stage.blank();
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    await page.route('**/ui/assets/editor.*', (route) => route.abort());
    await page.goto(stage.hrefOf('/policies?new'));
    await field(page, 'Name').fill('plain');
    await field(page, 'Rules').fill('service "web" { policy = "read" }');
    await apply(page);
    await saved(page);
    expect(await field(page, 'Rules').inputValue()).to.include('service "web"');
    expect(faults).to.deep.equal([]);
  });
});
