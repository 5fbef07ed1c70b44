/**
 * The walk of docs/ui.md: from a policy to a login, a refusal, its reason, and a rule that is
 * mended. What a user does, by role and name.
 */
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import type { Page } from 'playwright-core';
import { button, create, field, saved, write } from './actions.js';
import type { Stage } from './stage.js';

/** Called where the document shows a picture. */
export type Keep = (page: Page, name: string) => Promise<void>;

const chosen = (page: Page, name: string): ReturnType<Page['getByLabel']> =>
  page.getByLabel(name, { exact: true });
const open = (page: Page, name: string): Promise<void> =>
  page.getByRole('link', { name, exact: true }).click();

/** Walks it. Rejects where something is not as the document says. */
export async function walk(stage: Stage, keep: Keep): Promise<void> {
  const { page: operator } = await stage.visit('/', { token: '', height: 860 });
  await field(operator, 'Token').fill(stage.cluster.token);
  await button(operator, 'Log in').click();
  await operator.getByRole('table', { name: 'Members' }).waitFor();
  await makePolicy(operator, keep);
  await makeRole(operator);
  const jwt = await makeMethod(operator, keep);
  await makeRule(operator, jwt, keep);
  const { SecretID } = await stage.api<{ SecretID: string }>(
    'POST /v1/acl/login',
    { AuthMethod: 'ci', BearerToken: jwt },
    '',
  );
  const url = stage.cluster.urls.at(-1)!;
  const { page: deployer } = await stage.visit('/config', { token: SecretID, height: 860, url });
  await beRefused(deployer, keep);
  await findOut(deployer, operator, stage, keep);
  await mend(operator, keep);
  await tryAgain(deployer, keep);
}

async function makePolicy(page: Page, keep: Keep): Promise<void> {
  await open(page, 'Policies');
  await open(page, 'New policy');
  await field(page, 'Name').fill('web-team');
  await field(page, 'Description').fill('What deploys of the web team may do');
  await write(page, 'Rules', 'service "web" {\n  policy = "read"\n}\n');
  await create(page);
  await saved(page);
  await keep(page, 'walk-policy');
}

async function makeRole(page: Page): Promise<void> {
  await open(page, 'Roles');
  await open(page, 'New role');
  await field(page, 'Name').fill('deploy-web');
  const policies = page.getByRole('combobox', { name: 'Policies' });
  await policies.fill('web-team');
  await policies.press('Enter');
  await page.getByRole('list', { name: 'Chosen: Policies' }).getByText('web-team').waitFor();
  await create(page);
  await saved(page);
}

/** Makes the auth method. Returns a JWT that it accepts. */
async function makeMethod(page: Page, keep: Keep): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const config = {
    JWTValidationPubKeys: [await exportSPKI(publicKey)],
    ClaimMappings: { name: 'name', team: 'team' },
  };
  await open(page, 'Auth methods');
  await open(page, 'New auth method');
  await field(page, 'Name').fill('ci');
  await chosen(page, 'Type').selectOption('jwt');
  await field(page, 'Max token TTL').fill('1h');
  await write(page, 'Config', JSON.stringify(config, null, 2));
  await create(page);
  await saved(page);
  const command = page.getByText('conclave login --method ci');
  await command.scrollIntoViewIfNeeded();
  await keep(page, 'walk-method');
  return new SignJWT({ name: 'deploy', team: 'web' })
    .setProtectedHeader({ alg: 'ES256' })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(privateKey);
}

async function makeRule(page: Page, jwt: string, keep: Keep): Promise<void> {
  await open(page, 'Binding rules');
  await open(page, 'New binding rule');
  await page.getByText('No findings').first().waitFor();
  await chosen(page, 'Auth method').fill('ci');
  await field(page, 'Selector').fill('value.team == "web"');
  await chosen(page, 'Bind type').selectOption('role');
  await field(page, 'Bind name').fill('deploy-web');
  await create(page);
  await saved(page);
  await open(page, 'Login playground');
  await chosen(page, 'Auth method').fill('ci');
  await field(page, 'Bearer token').fill(jwt);
  await button(page, 'Explain').click();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByText('This login would be granted').waitFor();
  await result.getByRole('link', { name: 'role deploy-web' }).waitFor();
  await keep(page, 'walk-playground');
}

async function beRefused(page: Page, keep: Keep): Promise<void> {
  await open(page, 'New config entry');
  await chosen(page, 'Kind').selectOption('service-defaults');
  await field(page, 'Name').fill('web');
  await write(page, 'Entry', '{ "Protocol": "http" }');
  await create(page);
  await page
    .getByRole('alert')
    .getByText(/lacks permission 'service:write' on "web"/)
    .waitFor();
  await keep(page, 'walk-refused');
}

/** Both see the reason: who was refused, and who may change it. */
async function findOut(page: Page, operator: Page, stage: Stage, keep: Keep): Promise<void> {
  await open(page, 'Why? Explain this decision');
  await page.getByRole('heading', { name: 'Decision', exact: true }).waitFor();
  await page.getByText('The rule that decides').waitFor();
  await keep(page, 'walk-why');
  const decision = await field(page, 'Decision id').inputValue();
  await operator.goto(stage.hrefOf(`/explain?decision=${decision}`));
}

async function mend(page: Page, keep: Keep): Promise<void> {
  await page.getByRole('link', { name: 'web-team' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'web-team' }).waitFor();
  await page.locator('.cm-focused .cm-activeLine', { hasText: 'service "web"' }).waitFor();
  await write(page, 'Rules', 'service "web" {\n  policy = "write"\n}\n');
  await button(page, 'Save').click();
  const review = page.getByRole('dialog', { name: 'Review changes' });
  await review.getByText('policy = "write"').waitFor();
  await keep(page, 'walk-mended');
  await review.getByRole('button', { name: 'Apply' }).click();
  await saved(page);
}

/** What was typed is still there. */
async function tryAgain(page: Page, keep: Keep): Promise<void> {
  await page.goBack();
  await page.getByText('unsaved changes have been restored').waitFor();
  await create(page);
  await saved(page);
  await page.getByRole('heading', { level: 1, name: 'web' }).waitFor();
  await keep(page, 'walk-saved');
}
