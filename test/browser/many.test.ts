/** Lists that are longer than a page can hold. */
import { expect } from 'chai';
import { fill } from '../../scripts/bench/load.js';
import { button } from './actions.js';
import { violations } from './axe.js';
import { describePages } from './stage.js';

/** Besides these there are the anonymous token and that of the suite. */
const TOKENS = 10_000;

describePages('many tokens in the web UI', 1, (stage) => {
  before(async () => {
    const target = { url: stage.cluster.urls[0]!, token: stage.cluster.token };
    await fill([target], 32, TOKENS, (n) => ({
      method: 'PUT',
      path: '/v1/acl/token',
      body: JSON.stringify({ Description: `t-${n}` }),
    }));
  });

  it('are shown in pages, each of which can be reached at once', async () => {
    const { page, faults } = await stage.visit('/tokens');
    const table = page.getByRole('table', { name: 'Tokens' });
    const rows = (): Promise<number> => table.getByRole('row').count();
    await page.getByText('1 to 100, and more').waitFor();
    expect(await rows()).to.equal(101);
    await button(page, 'Next').click();
    await page.getByText('101 to 200, and more').waitFor();
    await button(page, 'Previous').click();
    await page.getByText('1 to 100, and more').waitFor();
    const number = page.getByRole('textbox', { name: 'Page' });
    await number.fill('101');
    await number.press('Enter');
    await page.getByText('10,001 to 10,002 of 10,002').waitFor();
    expect(await rows()).to.equal(3);
    expect(await button(page, 'Next').isDisabled()).to.equal(true);
    await number.fill('1000');
    await button(page, 'Go').click();
    await page.getByText('The list has fewer pages').waitFor();
    await page.getByText('10,002 in total').waitFor();
    await button(page, 'Previous').click();
    await page.getByText('10,001 to 10,002 of 10,002').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('are filtered by the server', async () => {
    const { page } = await stage.visit('/tokens');
    const filter = page.getByRole('searchbox', { name: 'Filter' });
    await filter.fill('t-777');
    await page.getByText('11 in total').waitFor();
    expect(page.url()).to.include('filter=t-777');
    await filter.fill('Description == "t-7"');
    await page.getByText('1 in total').waitFor();
    await filter.fill('Descriptio == "t-7"');
    await page.getByRole('alert').getByText('Description').waitFor();
  });

  it('say how far the reading has come, and take keys meanwhile', async () => {
    const { page } = await stage.visit('/tokens');
    await page.getByText('1 to 100, and more').waitFor();
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    await page.route('**/v1/acl/tokens*', async (route) => {
      await held;
      await route.continue();
    });
    await button(page, 'Next').click();
    await page.getByRole('progressbar', { name: 'Loading the list' }).waitFor();
    await page.getByRole('status').getByText('Loading the list').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    const filter = page.getByRole('searchbox', { name: 'Filter' });
    await filter.pressSequentially('t-12');
    expect(await filter.inputValue()).to.equal('t-12');
    release();
    await page.getByText('1 to 100, and more').waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
  });
});
