/** The page of decisions. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { signer } from '../login/signers.js';
import { button, field, tabTo } from './actions.js';
import { violations } from './axe.js';
import { describePages } from './stage.js';

const execute = promisify(execFile);

const RULES = `key_prefix "orders/approve/" { policy = "read" }
key "orders/approve/17" { policy = "deny" }
key "orders/it's/1" { policy = "read" }`;

describePages('decisions in the web UI', 1, (stage) => {
  let clerk: { readonly AccessorID: string; readonly SecretID: string };
  let jwt: string;
  before(async () => {
    await stage.api('PUT /v1/acl/policy', { Name: 'shop', Rules: RULES });
    await stage.api('PUT /v1/acl/role', { Name: 'clerk', Policies: [{ Name: 'shop' }] });
    clerk = await stage.api('PUT /v1/acl/token', {
      Description: 'of a clerk',
      Roles: [{ Name: 'clerk' }],
    });
    const key = await signer('EdDSA');
    const Config = { JWTValidationPubKeys: [key.pem] };
    await stage.api('PUT /v1/acl/auth-method', { Name: 'ci', Type: 'jwt', Config });
    const rule = { AuthMethod: 'ci', BindType: 'role', BindName: 'clerk' };
    await stage.api('PUT /v1/acl/binding-rule', rule);
    const now = Math.floor(Date.now() / 1000);
    jwt = await key.sign({ iat: now, exp: now + 3600, sub: 'ann' });
  });

  /** Fills the fields of a question. Password fields have no role. */
  const fill = async (page: Page, typed: Readonly<Record<string, string>>): Promise<void> => {
    for (const [label, value] of Object.entries(typed))
      await page.getByLabel(label, { exact: true }).fill(value);
  };
  const orders = (id: string) => ({
    Action: 'approve',
    'Resource type': 'orders',
    'Resource id': id,
  });
  const heading = (page: Page, name: string): Locator =>
    page.getByRole('heading', { level: 2, name, exact: true });
  const region = (page: Page, name: string): Locator =>
    page.getByRole('region', { name, exact: true });
  const textOf = async (page: Page, name: string): Promise<string> =>
    (await region(page, name).locator('pre').textContent())!;

  it('are answered with the reason, and the way from the token to the line', async () => {
    const { page, faults } = await stage.visit('/decisions', { token: clerk.SecretID });
    await fill(page, orders('17'));
    await button(page, 'Decide').click();
    await heading(page, 'Denied').waitFor();
    const answer = page.getByRole('status').filter({ has: heading(page, 'Denied') });
    await answer.getByText('"orders/approve/17" is denied by key "orders/approve/17"').waitFor();
    await answer.getByText('The rule that decides').waitFor();
    const way = await answer.getByRole('listitem').first().textContent();
    expect(way).to.match(/^token .* › role clerk › policy shop, line 2 \(deny\)$/);
    expect(await answer.locator('mark').allTextContents()).to.deep.equal(['line 2']);
    await fill(page, orders('18'));
    await button(page, 'Decide').click();
    await heading(page, 'Allowed').waitFor();
    await page.getByText('is allowed by key_prefix "orders/approve/" in policy').waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('show what a program sends and receives, to be copied', async () => {
    const { page } = await stage.visit('/decisions');
    await fill(page, {
      'Subject type': 'role',
      'Subject id': 'clerk',
      Action: "it's",
      'Resource type': 'orders',
      'Resource id': '1',
      Namespace: 'default',
    });
    await button(page, 'Decide').click();
    await heading(page, 'Allowed').waitFor();
    const request = JSON.parse(await textOf(page, 'Request'));
    expect(request).to.deep.equal({
      subject: { type: 'role', id: 'clerk' },
      action: { name: "it's" },
      resource: { type: 'orders', id: '1', properties: { namespace: 'default' } },
    });
    expect(JSON.parse(await textOf(page, 'Answer'))).to.deep.include({ decision: true });
    const curl = await textOf(page, 'curl');
    expect(curl).not.to.include(stage.cluster.token);
    await region(page, 'curl').getByRole('button', { name: 'Copy', exact: true }).click();
    await region(page, 'curl').getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.equal(curl);
    expect(await runInShell(curl, { TOKEN: stage.cluster.token })).to.include({ decision: true });
  });

  for (const [type, secretOf] of [
    ['token_secret', () => clerk.SecretID],
    ['jwt', () => jwt],
  ] as const)
    it(`ask as a ${type}, which nothing keeps or shows`, async () => {
      const secret = secretOf();
      const { page, faults } = await stage.visit('/decisions');
      await fill(page, { 'Subject type': type, 'Subject id': secret, ...orders('17') });
      if (type === 'jwt') await fill(page, { 'Auth method': 'ci' });
      const id = page.getByLabel('Subject id', { exact: true });
      expect(await id.getAttribute('type')).to.equal('password');
      await button(page, 'Decide').click();
      await heading(page, 'Denied').waitFor();
      await page
        .getByText(/› role clerk › policy shop/)
        .first()
        .waitFor();
      expect(await page.content()).not.to.include(secret);
      expect(page.url()).to.match(/\/ui\/decisions$/);
      const kept = await page.evaluate(
        'document.cookie + JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
      );
      expect(kept).not.to.include(secret);
      const curl = await textOf(page, 'curl');
      const answer = await runInShell(curl, {
        TOKEN: stage.cluster.token,
        SUBJECT_SECRET: secret,
      });
      expect(answer).to.include({ decision: false });
      // A field of another type would show it.
      await fill(page, { 'Subject type': 'token' });
      expect(await field(page, 'Subject id').inputValue()).to.equal('');
      await page.reload();
      expect(await field(page, 'Subject id').inputValue()).to.equal('self');
      expect(faults).to.deep.equal([]);
    });

  it('show the way from the token of an identity, by any name for it', async () => {
    const login = { AuthMethod: 'ci', BearerToken: jwt };
    await stage.api('POST /v1/acl/login', login, '');
    const SubjectTypes = { person: { AuthMethod: 'ci', From: 'tokens' } };
    await stage.api('PUT /v1/operator/acl/configuration', { SubjectTypes });
    const { page } = await stage.visit('/decisions');
    for (const [type, id] of [
      ['identity', 'ci/ann'],
      ['person', 'ann'],
    ] as const) {
      await fill(page, { 'Subject type': type, 'Subject id': id, ...orders('18') });
      await button(page, 'Decide').click();
      await heading(page, 'Allowed').waitFor();
      const answer = page.getByRole('status').filter({ has: heading(page, 'Allowed') });
      const way = answer.getByRole('listitem').first();
      expect(await way.textContent()).to.match(/^token .* › role clerk › policy shop, line 1/);
      await fill(page, orders('17'));
      await button(page, 'Decide').click();
      await heading(page, 'Denied').waitFor();
    }
  });

  it('tell who may do it, and what a subject may do', async () => {
    const { page } = await stage.visit('/decisions');
    await fill(page, { 'Subject type': 'role', 'Subject id': 'clerk', ...orders('18') });
    await button(page, 'Who may do this?').click();
    const who = page.getByRole('table', { name: 'Who may do this' });
    await who.getByRole('row', { name: 'role clerk default' }).waitFor();
    await who.getByRole('row', { name: `token ${clerk.AccessorID} of a clerk default` }).waitFor();
    await button(page, 'What may this subject do?').click();
    const what = page.getByRole('table', { name: 'What this subject may do' });
    await what.getByRole('row', { name: 'deny approve 17' }).waitFor();
    const rows = await what.getByRole('row').allInnerTexts();
    expect(rows.map((row) => row.split('\t'))).to.deep.equal([
      ['Decision', 'Action', 'Id'],
      ['allow', 'approve', '*'],
      ['deny', 'approve', '17'],
      ['allow', "it's", '1'],
    ]);
    await fill(page, { 'Resource type': 'nothing' });
    await button(page, 'What may this subject do?').click();
    await page.getByText('No rule allows anything.').waitFor();
    await fill(page, { 'Subject id': 'nobody' });
    await button(page, 'Decide').click();
    await heading(page, 'Denied').waitFor();
    await page.getByText('there is no such role', { exact: true }).waitFor();
  });

  it('say why they are refused', async () => {
    const { page } = await stage.visit('/decisions', { token: clerk.SecretID });
    await fill(page, { 'Subject type': 'role', 'Subject id': 'clerk', ...orders('18') });
    await button(page, 'Decide').click();
    await page.getByRole('alert').getByText('Not allowed.').waitFor();
    await fill(page, { 'Resource type': '' });
    await button(page, 'Decide').click();
    await page.getByRole('alert').getByText('resource.type has 0 characters').waitFor();
    expect(await page.getByRole('heading', { level: 2, name: 'Allowed' }).count()).to.equal(0);
  });

  it('are asked with the keyboard alone', async () => {
    const { page } = await stage.visit('/decisions', { token: clerk.SecretID });
    await tabTo(page, 'Action');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('approve');
    await tabTo(page, 'Resource type');
    await page.keyboard.type('orders');
    await tabTo(page, 'Resource id');
    await page.keyboard.type('17');
    await page.keyboard.press('Enter');
    await heading(page, 'Denied').waitFor();
    await tabTo(page, 'Copy');
    await page.keyboard.press('Enter');
    await region(page, 'Request').getByText('Copied').waitFor();
    await tabTo(page, 'What may this subject do?');
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'What this subject may do' }).waitFor();
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`are accessible in ${colorScheme} colours`, async () => {
      const { page } = await stage.visit('/decisions', { colorScheme, width: 360 });
      await fill(page, { 'Subject type': 'role', 'Subject id': 'clerk', ...orders('17') });
      for (const name of ['Decide', 'Who may do this?', 'What may this subject do?']) {
        await button(page, name).click();
        await heading(page, 'Denied').or(page.getByRole('table')).first().waitFor();
        expect(await violations(page), name).to.deep.equal([]);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect(width, name).to.be.at.most(360);
      }
    });
});

/** Runs a command line as a user does who pastes it. Returns its output as JSON. */
async function runInShell(line: string, env: Record<string, string>): Promise<object> {
  const { PATH = '' } = process.env;
  const { stdout } = await execute('sh', ['-c', line], { env: { PATH, ...env } });
  return JSON.parse(stdout);
}
