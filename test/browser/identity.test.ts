/** Revoking an identity in the web UI, and its blocks. */
import { expect } from 'chai';
import { signer } from '../login/signers.js';
import { send } from '../support/client.js';
import { describePages } from './stage.js';

describePages('identities in the web UI', 1, (stage) => {
  it('are revoked from one of their tokens, and let in again from the auth method', async () => {
    const key = await signer('EdDSA');
    const Config = { JWTValidationPubKeys: [key.pem] };
    await stage.api('PUT /v1/acl/auth-method', { Name: 'ci', Type: 'jwt', Config });
    const rule = { AuthMethod: 'ci', BindType: 'service', BindName: 'web' };
    await stage.api('PUT /v1/acl/binding-rule', rule);
    const now = Math.floor(Date.now() / 1000);
    const BearerToken = await key.sign({ iat: now, exp: now + 600, sub: 'prod/web' });
    const login = () =>
      stage.api<{ AccessorID: string; SecretID: string }>(
        'POST /v1/acl/login',
        { AuthMethod: 'ci', BearerToken },
        '',
      );
    const [first, second] = [await login(), await login()];
    const { page, faults } = await stage.visit(`/tokens/${first.AccessorID}`);
    await page.getByRole('link', { name: 'prod/web', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor();
    await page.getByText('2 in total').waitFor();
    const identity = page.getByRole('searchbox', { name: 'Identity' });
    expect(await identity.inputValue()).to.equal('ci/prod/web');
    await identity.fill('ci/nobody');
    await page.getByText('Nothing matches the filter.').waitFor();
    await page.goto(stage.hrefOf(`/tokens/${first.AccessorID}`));
    await page.getByRole('button', { name: 'Revoke identity' }).click();
    const dialog = page.getByRole('dialog', { name: 'Review changes' });
    await dialog.getByText('2 tokens of this identity will end at once.').waitFor();
    await dialog.getByRole('combobox', { name: 'Block for' }).selectOption('forever');
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('INC-7');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('2 tokens ended.').waitFor();
    for (const { SecretID } of [first, second]) {
      const own = stage.api('GET /v1/acl/token/self', undefined, SecretID);
      expect(await own.catch(String)).to.match(/403/);
    }
    expect(await login().catch(String)).to.match(/403/);
    // as somebody who has logged in blocks it
    await page.route('**/v1/acl/identity-blocks*', async (route) => {
      const response = await route.fetch();
      const Identity = { AuthMethod: 'ci', Namespace: 'default', Subject: 'boss' };
      const blocks: { Author: object }[] = await response.json();
      const json = blocks.map((block) => ({ ...block, Author: { ...block.Author, Identity } }));
      await route.fulfill({ response, json });
    });
    await page.goto(stage.hrefOf('/auth-methods/ci'));
    const row = page.getByRole('table', { name: 'Blocked identities' }).getByRole('row').nth(1);
    await row.getByText('INC-7').waitFor();
    await row.getByText('until lifted').waitFor();
    await row.getByRole('link', { name: 'boss (ci)' }).waitFor();
    await row.getByRole('button', { name: 'Lift block of prod/web' }).click();
    await row.waitFor({ state: 'detached' });
    await login();
    expect(faults).to.deep.equal([]);
  });

  it('lead from another namespace to their auth method, and a refusal to its rules', async () => {
    const key = await signer('EdDSA');
    await stage.api('PUT /v1/namespace', { Name: 'team-b' });
    await stage.api('PUT /v1/acl/auth-method', {
      Name: 'far',
      Type: 'jwt',
      Config: { JWTValidationPubKeys: [key.pem] },
      NamespaceRules: [{ Selector: '', BindNamespace: 'team-b' }],
    });
    const rule = { AuthMethod: 'far', BindType: 'service', BindName: 'web' };
    await stage.api('PUT /v1/acl/binding-rule', rule);
    const now = Math.floor(Date.now() / 1000);
    const login = (BearerToken: string) =>
      send(stage.cluster.urls[0]!, 'POST /v1/acl/login', {
        token: '',
        body: JSON.stringify({ AuthMethod: 'far', BearerToken }),
      });
    const { text } = await login(await key.sign({ iat: now, exp: now + 600, sub: 'far/web' }));
    const { page } = await stage.visit(`/tokens/${JSON.parse(text).AccessorID}?ns=team-b`);
    await page.getByRole('link', { name: 'far', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'far' }).waitFor();
    const { headers } = await login('a.b.c');
    await page.goto(stage.hrefOf(`/explain?ns=team-b&decision=${headers['x-consul-decision']}`));
    await page.getByRole('link', { name: 'service web' }).click();
    await page.getByRole('textbox', { name: 'Selector' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Open the auth method' }).click();
    await page.getByRole('heading', { level: 1, name: 'far' }).waitFor();
  });
});
