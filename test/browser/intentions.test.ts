/** Intentions as pictures, and a request that is tried on a chain. */
import { expect } from 'chai';
import { fill } from '../../scripts/bench/load.js';
import { button, field } from './actions.js';
import { violations } from './axe.js';
import { makeSample } from './sample.js';
import { describePages } from './stage.js';

/** Services that have intentions. */
const SERVICES = 200;

describePages('intentions in the web UI', 1, (stage) => {
  before(async () => {
    await makeSample(stage);
    const put = (Name: string, Sources: readonly object[]): Promise<unknown> =>
      stage.api('PUT /v1/config', { Kind: 'service-intentions', Name, Sources });
    await put('web', [
      { Name: 'admin', Action: 'allow' },
      { Name: '*', Action: 'deny' },
    ]);
    await put('admin', [
      { Name: 'web', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/' } }] },
    ]);
  });

  it('are a matrix whose cells say why, and lead to the entry', async () => {
    const { page, faults } = await stage.visit('/intentions');
    const table = page.getByRole('table', { name: 'Matrix' });
    const row = table.getByRole('row', { name: /^admin/ });
    await row.getByRole('cell', { name: 'allowed' }).first().waitFor();
    const why = await row.getByRole('cell', { name: 'allowed' }).last().getAttribute('title');
    expect(why).to.include('by the source admin of the intentions of web');
    await table
      .getByRole('row', { name: /^web/ })
      .getByRole('link', { name: 'by request' })
      .waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await row.getByRole('link', { name: 'allowed' }).last().click();
    await page.waitForURL(/service-intentions\/web/);
    expect(faults).to.deep.equal([]);
  });

  it('are read in part where there are many, and say that some are hidden', async () => {
    await stage.api('PUT /v1/acl/policy', {
      Name: 'of-admin',
      Rules: 'service "admin" { policy = "read" }',
    });
    const token = await stage.api<{ SecretID: string }>('PUT /v1/acl/token', {
      Policies: [{ Name: 'of-admin' }],
    });
    const { page } = await stage.visit('/intentions', { token: token.SecretID });
    await page.getByRole('table', { name: 'Matrix' }).waitFor();
    const hidden = page.getByText('Intentions that you may not read are left out');
    await hidden.waitFor();
    const asked = page.waitForRequest('**/v1/config/service-intentions*');
    await page.reload();
    expect(new URL((await asked).url()).searchParams.get('limit')).to.equal('1000');
    await hidden.waitFor();
    const { page: whole } = await stage.visit('/intentions');
    await whole.getByRole('table', { name: 'Matrix' }).waitFor();
    expect(await whole.getByText('Intentions that you may not read').count()).to.equal(0);
  });

  it('follow changes, and stay readable with many services', async () => {
    const target = { url: stage.cluster.urls[0]!, token: stage.cluster.token };
    const { page } = await stage.visit('/intentions');
    await page.getByRole('table', { name: 'Matrix' }).waitFor();
    await fill([target], 16, SERVICES, (nth) => ({
      method: 'PUT',
      path: '/v1/config',
      body: JSON.stringify({
        Kind: 'service-intentions',
        Name: `s-${nth}`,
        Sources: [{ Name: `s-${(nth + 1) % SERVICES}`, Action: 'allow' }],
      }),
    }));
    await page.getByText(/services do not fit/).waitFor();
    await field(page, 'Names that contain').fill('s-17');
    const table = page.getByRole('table', { name: 'Matrix' });
    await table.getByRole('columnheader', { name: 's-171', exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Around a service' }).click();
    await page.getByRole('combobox', { name: 'Service' }).selectOption('s-7');
    await page.waitForURL(/intentions\/s-7$/);
    await page.getByRole('img', { name: /^s-7: / }).waitFor();
    expect(await violations(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 's-8', exact: true }).first().click();
    await page.waitForURL(/intentions\/s-8$/);
  });

  it('of a chain: a request is tried, and its way is marked', async () => {
    const { page } = await stage.visit('/chains/web', { width: 360, height: 740 });
    await field(page, 'Path').fill('/admin?x=1');
    await button(page, 'Where does it go?').click();
    await page.getByText(/^Route 1 of the router web takes it/).waitFor();
    await page.getByText(/^100 % go to admin/).waitFor();
    await field(page, 'Path').fill('/');
    await button(page, 'Where does it go?').click();
    await page.getByText(/divides the requests into 2 parts/).waitFor();
    await page.getByText(/^10 % go to v2/).waitFor();
    expect(await page.locator('.taken').count()).to.be.at.least(3);
    expect(await violations(page)).to.deep.equal([]);
  });
});
