/** Forms over JSON: auth methods and config entries, with the text beside them. */
import { expect } from 'chai';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { apply, button, create, field, saved, write } from './actions.js';
import { violations } from './axe.js';
import { makeSample } from './sample.js';
import { describePages } from './stage.js';

describePages('forms over JSON in the web UI', 1, (stage) => {
  before(async () => {
    await makeSample(stage);
  });

  it('make an auth method without JSON, and try a JWT on it', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const { page, faults } = await stage.visit('/auth-methods?new');
    await field(page, 'Name').fill('by-form');
    await field(page, 'Max token TTL').fill('1h');
    await field(page, 'Public key in PEM format').fill(await exportSPKI(publicKey));
    await field(page, 'Bound issuer').fill('https://issuer.example');
    await field(page, 'Bound audiences').fill('a\nb');
    await button(page, 'Add to Claim mappings').click();
    await field(page, 'Claim').fill('sub');
    await field(page, 'Value').fill('subject');
    expect(await violations(page)).to.deep.equal([]);
    await create(page);
    await saved(page);
    const { Config } = await stage.api<{ Config: object }>('GET /v1/acl/auth-method/by-form');
    expect(Config).to.deep.include({
      BoundIssuer: 'https://issuer.example',
      BoundAudiences: ['a', 'b'],
      ClaimMappings: { sub: 'subject' },
    });
    const jwtOf = (issuer: string): Promise<string> =>
      new SignJWT({ sub: 'ann', aud: 'a', iss: issuer })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey);
    const attempt = page.getByRole('region', { name: 'Try a JWT' });
    await attempt
      .getByRole('textbox', { name: 'Bearer token' })
      .fill(await jwtOf('https://issuer.example'));
    await attempt.getByRole('button', { name: 'Explain' }).click();
    await attempt.getByText('subject').first().waitFor();
    await attempt.getByRole('textbox', { name: 'Bearer token' }).fill(await jwtOf('https://x'));
    await attempt.getByRole('button', { name: 'Explain' }).click();
    await attempt.getByText('issuer').first().waitFor();
    expect(faults).to.deep.equal([]);
  });

  it('take one source of keys, and remove those of another', async () => {
    const { page } = await stage.visit('/auth-methods?new');
    await field(page, 'Public key in PEM format').fill('a key');
    await page.getByRole('radio', { name: 'JWKS URL' }).check();
    await field(page, 'JWKS URL').fill('https://issuer.example/keys');
    const config = await field(page, 'Config').textContent();
    expect(config).to.include('"JWKSURL": "https://issuer.example/keys"');
    expect(config).not.to.include('JWTValidationPubKeys');
    await page.getByRole('radio', { name: 'JWKS URL', checked: true }).waitFor();
  });

  it('are in step with the JSON, and wait while it is broken', async () => {
    const { page } = await stage.visit('/config/service-splitter/web');
    const weights = page.getByRole('textbox', { name: 'Weight' });
    expect(await weights.first().inputValue()).to.equal('90');
    await page.getByText('Adds up to 100').waitFor();
    await write(
      page,
      'Entry',
      '{ "Splits": [{ "Weight": 30, "RequestHeaders": {"Set":{"a":"b"}} }] }',
    );
    await page.getByText('Adds up to 30, must be 100').waitFor();
    expect(await weights.count()).to.equal(1);
    await button(page, 'Add split').click();
    await page.getByRole('textbox', { name: 'Service subset' }).nth(1).fill('v2');
    await button(page, 'Even out').click();
    await page.getByText('Adds up to 100').waitFor();
    expect(await field(page, 'Entry').textContent()).to.include('"Set"');
    expect(await violations(page)).to.deep.equal([]);
    await apply(page);
    await saved(page);
    const entry = await stage.api<{ Splits: { Weight: number; ServiceSubset?: string }[] }>(
      'GET /v1/config/service-splitter/web',
    );
    expect(entry.Splits.map(({ Weight, ServiceSubset }) => [Weight, ServiceSubset])).to.deep.equal([
      [50, undefined],
      [50, 'v2'],
    ]);
    await write(page, 'Entry', '{ "Splits": [');
    await page.getByText('The JSON has a syntax error.').waitFor();
    expect(await weights.first().isDisabled()).to.equal(true);
    expect(await weights.first().inputValue()).to.equal('50');
  });

  it('move routes, and keep what has no field', async () => {
    const { page } = await stage.visit('/config/service-router/web', { width: 360, height: 740 });
    await button(page, 'Add route').click();
    await page.getByRole('textbox', { name: 'Path prefix' }).last().fill('/first');
    await button(page, 'Move route 2 up').click();
    expect(await page.getByRole('textbox', { name: 'Path prefix' }).first().inputValue()).to.equal(
      '/first',
    );
    await apply(page);
    await saved(page);
    const { Routes } = await stage.api<{ Routes: object[] }>('GET /v1/config/service-router/web');
    expect(Routes[0]).to.have.nested.property('Match.HTTP.PathPrefix', '/first');
    expect(Routes).to.have.length(2);
    expect(await violations(page)).to.deep.equal([]);
  });

  it('make intentions as rows', async () => {
    const { page } = await stage.visit('/config/service-intentions?new');
    await field(page, 'Name').last().waitFor();
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('api');
    await button(page, 'Add source').click();
    await page
      .getByRole('group', { name: 'source 1' })
      .getByRole('textbox', { name: 'Name' })
      .fill('web');
    await page.getByRole('combobox', { name: 'Action' }).selectOption('deny');
    await create(page);
    await saved(page);
    const { Sources } = await stage.api<{ Sources: object[] }>(
      'GET /v1/config/service-intentions/api',
    );
    expect(Sources[0]).to.deep.include({ Name: 'web', Action: 'deny' });
  });

  it('take what is typed key by key', async () => {
    const { page } = await stage.visit('/auth-methods?new');
    await field(page, 'Bound audiences').pressSequentially('a\n\nb\n');
    expect(await field(page, 'Bound audiences').inputValue()).to.equal('a\n\nb\n');
    const add = button(page, 'Add to Claim mappings');
    for (const [nth, name] of ['a', 'ab', '1'].entries()) {
      await add.click();
      await field(page, 'Claim').nth(nth).pressSequentially(name);
      const value = page.getByRole('group', { name: 'Claim mappings' }).getByLabel('Value');
      await value.nth(nth).pressSequentially(`of ${name}`);
    }
    await field(page, 'Claim').nth(1).press('End');
    await field(page, 'Claim').nth(1).press('Backspace');
    await page.getByText('Another row has this name').first().waitFor();
    await field(page, 'Claim').nth(1).pressSequentially('c');
    const config = JSON.parse((await field(page, 'Config').textContent())!) as object;
    expect(config).to.deep.equal({
      BoundAudiences: ['a', 'b'],
      ClaimMappings: { a: 'of a', ac: 'of ab', 1: 'of 1' },
    });
  });

  it('take numbers and the names of rows key by key', async () => {
    const { page } = await stage.visit('/config/service-splitter?new');
    for (const [nth, weight] of ['0.05', '99.95'].entries()) {
      await button(page, 'Add split').click();
      await page.getByRole('textbox', { name: 'Weight' }).nth(nth).pressSequentially(weight);
    }
    await page.getByText('Adds up to 100').waitFor();
    expect(await field(page, 'Entry').textContent()).to.include('"Weight": 0.05');
    await page.goto(stage.hrefOf('/config/service-resolver?new'));
    for (const [nth, name] of ['v', 'v1', 'v12'].entries()) {
      await button(page, 'Add subset').click();
      const row = page.getByRole('group', { name: `subset ${nth + 1}` });
      await row.getByRole('textbox', { name: 'Filter' }).pressSequentially(name);
      await page
        .getByRole('textbox', { name: 'Subset', exact: true })
        .nth(nth)
        .pressSequentially(name);
    }
    const { Subsets } = JSON.parse((await field(page, 'Entry').textContent())!) as {
      Subsets: object;
    };
    expect(Subsets).to.deep.equal({
      v: { Filter: 'v' },
      v1: { Filter: 'v1' },
      v12: { Filter: 'v12' },
    });
  });
});
