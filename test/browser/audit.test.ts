/** The newest audit records in the web UI. */
import { expect } from 'chai';
import { describePages } from './stage.js';

describePages('the audit page of the web UI', 1, (stage) => {
  it('shows who did what by which rule, and leads to why it was refused', async () => {
    const { page, faults } = await stage.visit('/audit');
    const table = page.getByRole('table', { name: 'Audit' });
    await stage.api('PUT /v1/acl/policy', { Name: 'reader', Rules: 'acl = "read"' });
    const token = await stage.api<{ SecretID: string }>('PUT /v1/acl/token', {
      Description: 'ci',
      Policies: [{ Name: 'reader' }],
    });
    const made = table.getByRole('row').filter({ hasText: 'create policy reader' });
    await made.getByText('PUT /v1/acl/policy').waitFor();
    await made.getByText('acl:write: acl, policy global-management:1').waitFor();
    // What pages only read is left out until it is wanted.
    expect(await table.getByText('GET /v1/acl/token/self').count()).to.equal(0);
    await page.getByRole('checkbox', { name: 'Show reads that were allowed' }).check();
    await table.getByText('GET /v1/acl/token/self').first().waitFor();
    const refused = await fetch(`${stage.cluster.urls[0]}/v1/acl/role`, {
      method: 'PUT',
      headers: { 'x-consul-token': token.SecretID },
      body: JSON.stringify({ Name: 'not-made' }),
    });
    expect(refused.status).to.equal(403);
    // The whole cell: the port of a caller may contain the same digits.
    const status = page.getByRole('cell', { name: '403 why', exact: true });
    const row = table.getByRole('row').filter({ has: status });
    await row.getByRole('link', { name: 'ci' }).waitFor();
    await page.getByRole('textbox', { name: 'Filter' }).fill('global-management');
    await row.waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Filter' }).fill('nothing like this');
    await page.getByText('No record matches.').waitFor();
    await page.getByRole('textbox', { name: 'Filter' }).fill('403');
    await row.getByRole('link', { name: 'why' }).click();
    await page.getByRole('heading', { level: 1, name: 'Explain' }).waitFor();
    await page.getByText("lacks permission 'acl:write'").first().waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('shows the sinks, and which of them cannot be written', async () => {
    const { page } = await stage.visit('/');
    const sink = { Name: 'main', Type: 'file', Path: '/var/log/audit.json', Scope: 'writes' };
    const more = { DeliveryGuarantee: 'required', Seq: 17, Hash: '', Dropped: 2, Failing: true };
    const LastError = 'no space left on device';
    await page.route('**/v1/operator/audit?*', (route) =>
      route.fulfill({ json: { Sinks: [{ ...sink, ...more, LastError, Files: 1, Bytes: 9 }] } }),
    );
    await page.route('**/v1/operator/audit', (route) =>
      route.fulfill({ json: { Sinks: [{ ...sink, ...more, LastError, Files: 1, Bytes: 9 }] } }),
    );
    await page.goto(stage.hrefOf('/audit'));
    const row = page.getByRole('table', { name: 'Sinks' }).getByRole('row').nth(1);
    await row.getByText('cannot be written: no space left on device').waitFor();
  });
});
