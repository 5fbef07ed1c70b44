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

  it('are shown in pages that follow one another', async () => {
    const { page, faults } = await stage.visit('/tokens');
    const table = page.getByRole('table', { name: 'Tokens' });
    const rows = (): Promise<number> => table.getByRole('row').count();
    await page.getByText('1 to 100 of 10,002').waitFor();
    expect(await rows()).to.equal(101);
    await button(page, 'Next').click();
    await page.getByText('101 to 200 of 10,002').waitFor();
    await button(page, 'Next').click();
    await page.getByText('201 to 300 of 10,002').waitFor();
    const firstOf = () => table.getByRole('row').nth(1).getByRole('link').textContent();
    const third = await firstOf();
    await page.reload();
    await page.getByText('201 to 300 of 10,002').waitFor();
    expect(await firstOf()).to.equal(third);
    expect(await button(page, 'Previous').isDisabled(), 'another tab knows no way').to.equal(true);
    await page.goBack();
    await page.getByText('101 to 200 of 10,002').waitFor();
    await button(page, 'Previous').click();
    await page.getByText('1 to 100 of 10,002').waitFor();
    expect(await button(page, 'First').isDisabled()).to.equal(true);
    expect(faults).to.deep.equal([]);
  });

  it('are sorted by a column, in both directions', async () => {
    const { page } = await stage.visit('/tokens');
    const table = page.getByRole('table', { name: 'Tokens' });
    const heading = table.getByRole('columnheader', { name: 'Created' });
    expect(await heading.getAttribute('aria-sort')).to.equal('none');
    await heading.getByRole('button').click();
    await page.waitForURL(/sort=created/);
    await table.getByRole('row').nth(1).getByText('Anonymous Token').waitFor();
    await heading.getByRole('button').click();
    await page.waitForURL(/sort=-created/);
    await table
      .getByRole('row')
      .nth(1)
      .getByText(/^t-9\d{3}$/)
      .waitFor();
    expect(await heading.getAttribute('aria-sort')).to.equal('descending');
    await button(page, 'Next').click();
    await page.getByText('101 to 200 of 10,002').waitFor();
    expect(page.url()).to.include('sort=-created');
    expect(await violations(page)).to.deep.equal([]);
  });

  it('are filtered by the server', async () => {
    const { page } = await stage.visit('/tokens');
    const filter = page.getByRole('searchbox', { name: 'Filter' });
    await filter.fill('T-777');
    await page.getByText('11 in total').waitFor();
    expect(page.url()).to.include('filter=T-777');
    await filter.fill('Description == "t-7"');
    await page.getByText('1 in total').waitFor();
    await filter.fill('Descriptio == "t-7"');
    await page.getByRole('alert').getByText('Description').waitFor();
  });

  it('take keys while a page is read, and say that they are reading', async () => {
    const { page } = await stage.visit('/tokens');
    await page.getByText('1 to 100 of 10,002').waitFor();
    let release = (): void => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    await page.route('**/v1/acl/tokens*', async (route) => {
      await held;
      await route.continue();
    });
    await button(page, 'Next').click();
    await page.getByRole('status').getByText('Loading the list').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    const filter = page.getByRole('searchbox', { name: 'Filter' });
    await filter.pressSequentially('t-12');
    expect(await filter.inputValue()).to.equal('t-12');
    release();
    await page.getByText('1 to 100 of 111').waitFor();
  });
});
