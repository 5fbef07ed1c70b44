/** The first page: figures of the last hour, warnings, and what is rare and dangerous. */
import { expect } from 'chai';
import { button } from './actions.js';
import { violations } from './axe.js';
import { describePages } from './stage.js';

describePages('the overview in the web UI', 1, (stage) => {
  const history = (change: object): object => ({
    IntervalMs: 10_000,
    From: '2026-01-01T00:00:00Z',
    Series: {},
    Node: 'n1',
    Certificates: [],
    LastBackup: null,
    Warnings: [],
    ...change,
  });

  it('shows figures, certificates, the last backup and warnings in sentences', async () => {
    const { page } = await stage.visit('/');
    await page.route('**/v1/agent/history*', (route) =>
      route.fulfill({
        json: history({
          Series: {
            writes_per_s: [null, 10, 20, 0.5],
            write_s_p50: [null, 0.001, 0.001, 0.0012],
            write_s_p99: [null, 0.001, 0.001, 1.5],
            leader_changes_per_s: [null, 0.1, 0, 0.1],
            term: [null, 7, 7, 1234],
            held_queries: [5, 5, null, null],
            resident_bytes: [81e6, 81e6, 81e6, 81.4e6],
          },
          Certificates: [{ Use: 'http', NotAfter: '2027-01-01T00:00:00Z' }],
          LastBackup: '2026-01-01T00:00:00Z',
          Warnings: [
            {
              Time: '2026-01-01T00:00:00Z',
              Level: 'error',
              Event: 'no_leader',
              Message: 'there is no <b>leader</b>',
              Count: 3,
            },
          ],
        }),
      }),
    );
    await page.reload();
    await page.getByRole('heading', { name: 'n1 in the last hour' }).waitFor();
    await page.getByRole('img', { name: 'Writes: now 0.5/s, at most 20/s' }).waitFor();
    await page.getByText('p50 1.2 ms · p99 1.5 s').waitFor();
    await page.getByRole('img', { name: 'Memory: now 81 MB, at most 81 MB' }).waitFor();
    await page.getByRole('img', { name: 'Blocking queries: now no data, at most 5' }).waitFor();
    await page.getByRole('img', { name: 'Changes of the leader: now 2, at most 2' }).waitFor();
    await page.getByText('term 1,234').waitFor();
    await page.getByText('Certificate (http) expires').waitFor();
    await page.getByText('there is no <b>leader</b>').waitFor();
    await page.getByText('(3 times)').waitFor();
    expect(await violations(page)).to.deep.equal([]);
  });

  it('says that figures are late when the node tells no new ones', async () => {
    const { page } = await stage.visit('/');
    await page.getByRole('heading', { name: 'n1 in the last hour' }).waitFor();
    await page.route('**/v1/agent/history*', (route) => route.abort());
    const late = page.getByRole('region', { name: 'n1 in the last hour' });
    await late.getByRole('alert').getByText('Nothing new since').waitFor();
    expect(await late.locator('.late').count()).to.equal(1);
  });

  it('shows the ten newest changes, and each that is made meanwhile', async () => {
    for (let nth = 1; nth <= 11; nth += 1)
      await stage.api('PUT /v1/acl/policy', { Name: `newest-${nth}`, Rules: '' });
    const { page } = await stage.visit('/');
    const newest = page.getByRole('table', { name: 'Newest changes' });
    await newest.getByRole('link', { name: 'newest-11', exact: true }).waitFor();
    const named = await newest.getByRole('link', { name: /^newest-/ }).allTextContents();
    const names = Array.from({ length: 10 }, (_, nth) => `newest-${11 - nth}`);
    expect(named).to.deep.equal(names);
    expect(await newest.getByRole('columnheader').allTextContents()).to.not.include('Undo');
    await stage.api('PUT /v1/acl/policy', { Name: 'while-shown', Rules: '' });
    await newest.getByRole('link', { name: 'while-shown' }).waitFor();
    expect(await newest.getByRole('link', { name: /^newest-/ }).count()).to.equal(9);
    expect(await violations(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'All changes' }).click();
    await page.getByRole('heading', { level: 1, name: 'History' }).waitFor();
  });

  it('says whether the audit sinks of the node can be written, to who may know', async () => {
    const { page } = await stage.visit('/');
    const figures = page.getByRole('heading', { name: 'n1 in the last hour' });
    const sinks = page.getByRole('region', { name: 'Audit sinks' });
    await figures.waitFor();
    // there are none
    expect(await sinks.count()).to.equal(0);
    const sink = (Name: string, LastError: string): object => ({
      Name,
      Type: 'file',
      Path: '/var/log/a.json',
      DeliveryGuarantee: 'required',
      Scope: 'writes',
      Seq: 17,
      Hash: '',
      Dropped: 0,
      Failing: LastError !== '',
      LastError,
      Files: 1,
      Bytes: 9,
    });
    const Sinks = [sink('main', ''), sink('spare', 'no space <b>left</b>')];
    await page.route('**/v1/operator/audit', (route) => route.fulfill({ json: { Sinks } }));
    await page.reload();
    await sinks.getByText('spare: cannot be written: no space <b>left</b>').waitFor();
    expect(await sinks.getByRole('listitem').allTextContents()).to.include('main: writes');
    expect(await violations(page)).to.deep.equal([]);
    const asked = page.waitForRequest('**/v1/operator/audit');
    await page.route('**/v1/operator/audit', (route) => route.fulfill({ status: 403 }));
    await page.reload();
    await (await asked).response();
    await figures.waitFor();
    expect(await sinks.count()).to.equal(0);
  });

  it('says what a removal does, and asks for the name', async () => {
    const { page } = await stage.visit('/');
    const removed: string[] = [];
    await page.route('**/v1/operator/autopilot/state*', async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      const [own] = Object.values<{ ID: string }>(state.Servers);
      state.Servers['other'] = { ...own, ID: 'other', Name: 'n9', Status: 'voter' };
      await route.fulfill({ response, json: state });
    });
    await page.route('**/v1/operator/raft/peer*', (route) => {
      removed.push(`${route.request().method()} ${new URL(route.request().url()).search}`);
      return route.fulfill({ json: true });
    });
    await page.getByText('Actions for n9').click();
    await button(page, 'Remove n9').click();
    const dialog = page.getByRole('dialog', { name: 'Remove n9' });
    await dialog.getByText('stops being a member').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Remove' });
    expect(await confirm.isDisabled()).to.equal(true);
    await dialog.getByRole('textbox').fill('n9');
    await confirm.click();
    await dialog.waitFor({ state: 'detached' });
    expect(removed).to.deep.equal(['DELETE ?id=other']);
  });
});
