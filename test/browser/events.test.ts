/** The page of events in the web UI. */
import { expect } from 'chai';
import { hold } from './actions.js';
import { describePages } from './stage.js';

describePages('the events page of the web UI', 1, (stage) => {
  it('shows changes as they happen, waits while it is paused, and filters by topic', async () => {
    const { page, faults } = await stage.visit('/events');
    await page.getByText('Waiting for changes…').waitFor();
    // the stream is open once the status is gone
    await page.getByText('Connecting…').waitFor({ state: 'detached' });
    const put = (Name: string) => stage.api('PUT /v1/acl/policy', { Name });
    await put('first');
    const table = page.getByRole('table', { name: 'Events' });
    const row = table.getByRole('row').filter({ hasText: 'ACLPolicyCreated' });
    await row.getByRole('link', { name: 'first' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    // "second" would be found in "3 seconds ago"
    await put('while-paused');
    await page.getByText('Paused.').waitFor();
    expect(await table.getByText('while-paused').count()).to.equal(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await table.getByText('while-paused').first().waitFor();
    await page.getByRole('combobox', { name: 'Topic' }).selectOption('ACLRole');
    await page.getByText('Waiting for changes…').waitFor();
    await page.getByText('Connecting…').waitFor({ state: 'detached' });
    await put('third');
    await stage.api('PUT /v1/acl/role', { Name: 'fourth' });
    await table.getByText('fourth').first().waitFor();
    expect(await table.getByText('third').count()).to.equal(0);
    expect(faults).to.deep.equal([]);
  });

  it('says that it connects until the stream of another topic is open', async () => {
    const { page } = await stage.visit('/events');
    const connecting = page.getByText('Connecting…');
    await page.getByText('Waiting for changes…').waitFor();
    await connecting.waitFor({ state: 'detached' });
    const release = await hold(page, '**/v1/events?*');
    await page.getByRole('combobox', { name: 'Topic' }).selectOption('ACLRole');
    await connecting.waitFor();
    await release();
    await connecting.waitFor({ state: 'detached' });
  });

  it('goes on after it was told to come later', async () => {
    const { page } = await stage.visit('/policies');
    const tooMany = { status: 429, json: { code: 'too_many', detail: 'Too many streams' } };
    await page.route('**/v1/events?*', (route) => route.fulfill(tooMany), { times: 1 });
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    await page.getByText('Too many streams').waitFor();
    await page.getByText('Too many streams').waitFor({ state: 'detached' });
    await stage.api('PUT /v1/acl/policy', { Name: 'after-429' });
    await page.getByRole('table', { name: 'Events' }).getByText('after-429').first().waitFor();
  });

  it('opens the stream again after 45 s of silence', async () => {
    const { page } = await stage.visit('/policies');
    await page.clock.install();
    const opened = page.waitForResponse('**/v1/events?*');
    await page.getByRole('link', { name: 'Events', exact: true }).click();
    const from = Number((await opened).headers()['x-consul-index']);
    await page.getByText('Connecting…').waitFor({ state: 'detached' });
    const again = page.waitForRequest('**/v1/events?*');
    await page.clock.fastForward(45_000);
    const place = new URL((await again).url()).searchParams.get('index');
    expect(Number(place)).to.be.at.least(from);
    await stage.api('PUT /v1/acl/policy', { Name: 'after-silence' });
    await page.getByRole('table', { name: 'Events' }).getByText('after-silence').first().waitFor();
  });
});
