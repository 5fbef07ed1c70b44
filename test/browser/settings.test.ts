/** The page of settings: what holds for the cluster, a backup, and what the node was given. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { button, reviewOf } from './actions.js';
import { violations } from './axe.js';
import { describePages } from './stage.js';

const READER = 'operator = "read"\nagent_prefix "" {\n  policy = "read"\n}\n';

interface Bounds {
  readonly VersionsPerObject: number;
  readonly Bytes: number;
  readonly ModifyIndex: number;
}

describePages('the page of settings in the web UI', 1, (stage) => {
  const PATH = '/v1/operator/history/configuration';
  const bounds = (): Promise<Bounds> => stage.api<Bounds>(`GET ${PATH}`);

  it('changes a configuration after a review, and no other member of it', async () => {
    const before = await bounds();
    const { page, faults } = await stage.visit('/settings');
    const form = page.getByRole('region', { name: 'History' });
    await form.getByLabel('Versions per object').fill('many');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Expected a whole number').waitFor();
    await form.getByLabel('Versions per object').fill('123');
    await form.getByRole('button', { name: 'Save' }).click();
    await reviewOf(page).getByRole('row', { name: 'Versions per object 200 123' }).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    expect((await bounds()).VersionsPerObject, 'before it is applied').to.equal(200);
    await reviewOf(page).getByRole('button', { name: 'Apply' }).click();
    await form.getByRole('status').getByText('Saved').waitFor();
    const { VersionsPerObject, Bytes } = await bounds();
    expect([VersionsPerObject, Bytes]).to.deep.equal([123, before.Bytes]);
    expect(faults).to.deep.equal([]);
  });

  it('does not overwrite what somebody else has changed', async () => {
    const { page } = await stage.visit('/settings');
    for (const [region, label, call, theirs] of [
      ['History', 'Max age', PATH, { VersionsPerObject: 77 }],
      [
        'Health of members',
        'Max trailing logs',
        '/v1/operator/autopilot/configuration',
        { MinQuorum: 0 },
      ],
    ] as const) {
      const form = page.getByRole('region', { name: region, exact: true });
      await form.getByLabel(label).waitFor();
      await stage.api(`PUT ${call}`, theirs);
      await form.getByLabel(label).fill(label === 'Max age' ? '1000h' : '999');
      await form.getByRole('button', { name: 'Save' }).click();
      await reviewOf(page).getByRole('button', { name: 'Apply' }).click();
      await form.getByText('Somebody else has changed this meanwhile').waitFor();
      // What was typed stays, and is written over what was read again.
      await form.getByRole('button', { name: 'Save' }).click();
      await reviewOf(page).getByRole('button', { name: 'Apply' }).click();
      await form.getByRole('status').getByText('Saved').waitFor();
    }
    expect((await bounds()).VersionsPerObject).to.equal(77);
  });

  it('says what the server refuses at its field', async () => {
    const { page } = await stage.visit('/settings');
    const form = page.getByRole('region', { name: 'Logins' });
    await form.getByLabel('Login token TTL', { exact: true }).fill('5s');
    await form.getByRole('button', { name: 'Save' }).click();
    await reviewOf(page).getByRole('button', { name: 'Apply' }).click();
    await form.getByText(/cannot be less than 1m0s/).waitFor();
    const field = form.getByLabel('Login token TTL', { exact: true });
    expect(await field.getAttribute('aria-invalid')).to.equal('true');
  });

  it('saves an archive, and then names its time', async () => {
    const { page } = await stage.visit('/settings');
    const backup = page.getByRole('region', { name: 'Backup' });
    await backup.getByText('none since it was started').waitFor();
    const saved = page.waitForEvent('download');
    await button(page, 'Back up now').click();
    const archive = await saved;
    expect(archive.suggestedFilename()).to.match(/^conclave-\d+\.tgz$/);
    const [first, second] = readFileSync(await archive.path());
    expect([first, second], 'gzip').to.deep.equal([0x1f, 0x8b]);
    await backup.getByText('none since it was started').waitFor({ state: 'detached' });
  });

  it('finds the settings of the node, and lets who only reads change nothing', async () => {
    await stage.api('PUT /v1/acl/policy', { Name: 'operators', Rules: READER });
    const { SecretID: token } = await stage.api<{ SecretID: string }>('PUT /v1/acl/token', {
      Policies: [{ Name: 'operators' }],
    });
    const { page } = await stage.visit('/settings', { token });
    const node = page.getByRole('region', { name: 'Settings of this node' });
    await node.getByLabel('Filter').fill('ui.idle');
    await node.getByRole('row', { name: 'ui.idleMs 1800000' }).waitFor();
    const form = page.getByRole('region', { name: 'History' });
    await form.getByText('It requires operator:write.').waitFor();
    expect(await form.getByRole('button', { name: 'Save' }).isDisabled()).to.equal(true);
    expect(await form.getByLabel('Max age').isDisabled()).to.equal(true);
    await page.getByRole('button', { name: 'Back up now', disabled: true }).waitFor();
  });

  it('asks for the rights on the cluster, whatever namespace the page is of', async () => {
    await stage.api('PUT /v1/namespace', { Name: 'team-c' });
    const Rules = 'acl = "write"\noperator = "write"\n';
    await stage.api('PUT /v1/acl/policy', { Name: 'admin', Rules });
    const { SecretID: token } = await stage.api<{ SecretID: string }>('PUT /v1/acl/token', {
      Policies: [{ Name: 'admin' }],
    });
    const { page } = await stage.visit('/settings?ns=team-c', { token });
    const form = page.getByRole('region', { name: 'Logins' });
    await form.getByLabel('Tokens per identity').waitFor();
    await page.waitForLoadState('networkidle');
    await form.getByLabel('Tokens per identity').fill('7');
    await form.getByRole('button', { name: 'Save' }).click();
    await reviewOf(page).getByRole('button', { name: 'Apply' }).click();
    await form.getByRole('status').getByText('Saved').waitFor();
    expect(await button(page, 'Back up now').isDisabled()).to.equal(false);
  });

  it('claims nothing of backups to who may not read of them', async () => {
    const { SecretID: token } = await stage.api<{ SecretID: string }>('PUT /v1/acl/token', {});
    const { page } = await stage.visit('/settings', { token });
    const backup = page.getByRole('region', { name: 'Backup' });
    await backup.getByText(/operator:read/).waitFor();
    expect(await backup.getByText('none since it was started').count()).to.equal(0);
  });
});
