/** The web UI of a cluster that loses its leader. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { send } from '../support/client.js';
import { describePages } from './stage.js';

describePages('the web UI of three nodes', 3, (stage) => {
  const leaderAt = async (url: string): Promise<string> => {
    return JSON.parse((await send(url, 'GET /v1/status/leader')).text);
  };

  it('shows the members, and hands leadership over once the name was typed', async () => {
    const { page } = await stage.visit('/');
    const table = page.getByRole('table', { name: 'Members' });
    await table.getByRole('row', { name: /n1/ }).waitFor();
    expect(await table.getByRole('row').count()).to.equal(4);
    await table
      .getByText(/^Actions for/)
      .first()
      .click();
    await table.getByRole('button', { name: /^Hand over to/ }).click();
    const dialog = page.getByRole('dialog', { name: /^Hand over to/ });
    const name = ((await dialog.getByRole('heading').textContent()) ?? '').split(' ').at(-1)!;
    const confirm = dialog.getByRole('button', { name: 'Hand over' });
    expect(await confirm.isDisabled()).to.equal(true);
    await dialog.getByRole('textbox').fill(name);
    await confirm.click();
    await dialog.waitFor({ state: 'detached' });
    await table.getByRole('row', { name: new RegExp(`^${name} leader`) }).waitFor();
  });

  it('writes what was typed when another leader is there, and shows who is down', async () => {
    const role = await stage.api<{ ID: string }>('PUT /v1/acl/role', { Name: 'kept' });
    const raft = await leaderAt(stage.cluster.urls[0]!);
    const leader = stage.cluster.nodes.find(({ entry }) => entry.raft === raft)!;
    const others = stage.cluster.nodes.filter((node) => node !== leader);
    const [follower, last] = others as [typeof leader, typeof leader];
    const { page } = await stage.visit(`/roles/${role.ID}`, { url: follower.url });
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('typed before');
    await leader.kill('SIGKILL');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click();
    await page
      .getByRole('status')
      .getByText(/^Saved/)
      .waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText(`Unhealthy: ${leader.name}`).waitFor();

    // Without a majority nothing is lost, and the page stays as it is.
    const { page: overview } = await stage.visit('/', { url: follower.url });
    await overview.getByText(`Unhealthy: ${leader.name}`).waitFor();
    await overview.getByText(/^As of \d/).waitFor();
    await page.goBack();
    await description.fill('typed without a leader');
    await last.kill('SIGKILL');
    await overview.getByText('Unknown without a leader').waitFor();
    await overview.getByText(/^No leader answers: writes and default reads are refused/).waitFor();
    const gone = overview.getByRole('row', { name: new RegExp(`^${last.name} .* not connected`) });
    await gone.waitFor();
    expect(await overview.getByRole('button', { name: /^Hand over/ }).count()).to.equal(0);
    await overview.reload();
    await overview.getByText('Unknown without a leader').waitFor();
    // A leader that has not noticed yet would take the write, and could not say what became of it.
    while ((await leaderAt(follower.url)) !== '') await sleep(50);
    await page.getByRole('button', { name: 'Save' }).click();
    const waits = page.getByRole('dialog').getByText('No cluster leader: trying again');
    await waits.waitFor();
    expect(await description.inputValue()).to.equal('typed without a leader');
    last.start();
    const review = page.getByRole('dialog', { name: 'Review changes' });
    await review.getByRole('button', { name: 'Apply' }).click();
    await page
      .getByRole('status')
      .getByText(/^Saved/)
      .waitFor();
    await overview.getByText(`Unhealthy: ${leader.name}`).waitFor();
    leader.start();
    await leader.ready();
    await overview.getByText('All members are healthy').waitFor();
  });

  it('marks what it shows as old when the node does not answer', async () => {
    const { page } = await stage.visit('/');
    await page.getByText('All members are healthy').waitFor();
    // The server is asked, and never answers.
    await page.route('**/v1/**', () => {});
    await page.getByText(/^Nothing new since \d/).waitFor();
    expect(await page.getByRole('button', { name: /^Hand over/ }).count()).to.equal(0);
    await page.unroute('**/v1/**');
    await page.getByText(/^As of \d/).waitFor();
  });
});
