/**
 * Takes the pictures of the web UI in `docs/ui/`: `node dist/scripts/pictures.js [FOLDER]`, with a
 * Chromium, from three nodes with a few objects.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { write } from '../test/browser/actions.js';
import { makeSample } from '../test/browser/sample.js';
import { Stage } from '../test/browser/stage.js';
import { walk } from '../test/browser/walk.js';
import { findChromium } from './chromium.js';

const [folder = 'docs/ui'] = process.argv.slice(2);
if (findChromium() === undefined) {
  console.error('no Chromium was found (in CHROMIUM or PATH)');
  process.exit(1);
}
mkdirSync(folder, { recursive: true });
const stage = new Stage();

/** A change of a policy that a token feels, before it is made and after. */
async function takeChanges(id: string): Promise<void> {
  const { page } = await stage.visit(`/policies/${id}`, { height: 1000 });
  await write(page, 'Rules', 'service_prefix "" {\n  policy = "read"\n}\n');
  await page.getByRole('button', { name: 'Save' }).click();
  const review = page.getByRole('dialog', { name: 'Review changes' });
  await review.getByRole('list', { name: 'Tokens whose rights change' }).waitFor();
  await review.getByRole('textbox', { name: 'Reason' }).fill('Blue only watches now');
  await page.screenshot({ path: join(folder, 'review.png') });
  await review.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('link', { name: 'All versions' }).click();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByText('policy = "write"').waitFor();
  await page.screenshot({ path: join(folder, 'history.png') });
}

/** What two people change of one entry at the same time, before both changes are saved. */
async function takeConflict(): Promise<void> {
  const entry = { Kind: 'service-defaults', Name: 'pay', Protocol: 'http' };
  await stage.api('PUT /v1/config', entry);
  const { page } = await stage.visit('/config/service-defaults/pay', { height: 860 });
  await page.getByLabel('Protocol').selectOption('grpc');
  await stage.api('PUT /v1/config', { ...entry, MaxInboundConnections: 7 });
  await page.keyboard.press('Control+Enter');
  await page.getByRole('dialog').getByText('grpc').first().waitFor();
  await page
    .getByRole('dialog')
    .getByText('Nothing refers to it')
    .or(page.getByText('link to it'))
    .first()
    .waitFor();
  await page.screenshot({ path: join(folder, 'conflict.png') });
}

/** Pages that read on and on. */
const LIVE = new Set(['tokens', 'intentions']);

async function makeIntentions(): Promise<void> {
  const all: readonly (readonly [Name: string, Sources: readonly object[]])[] = [
    [
      'web',
      [
        { Name: 'edge', Action: 'allow' },
        { Name: '*', Action: 'deny' },
      ],
    ],
    [
      'api',
      [
        { Name: 'web', Action: 'allow' },
        { Name: 'jobs', Action: 'allow' },
      ],
    ],
    [
      'db',
      [
        { Name: 'api', Action: 'allow' },
        { Name: '*', Action: 'deny' },
      ],
    ],
    ['admin', [{ Name: 'web', Permissions: [{ Action: 'allow', HTTP: { PathPrefix: '/' } }] }]],
  ];
  for (const [Name, Sources] of all)
    await stage.api('PUT /v1/config', { Kind: 'service-intentions', Name, Sources });
}

/** What "Go to" finds for some letters. */
async function takePalette(): Promise<void> {
  const { page } = await stage.visit('/policies', { height: 700 });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('blue');
  await page.getByRole('option', { name: /token$/ }).waitFor();
  await page.screenshot({ path: join(folder, 'palette.png') });
}

async function takeLogin(): Promise<void> {
  const { page } = await stage.visit('/', { token: '', height: 640 });
  await page.getByRole('tab').first().waitFor();
  await page.screenshot({ path: join(folder, 'log-in.png') });
}

try {
  await stage.open(3);
  await walk(stage, async (seen, name) => {
    await seen.screenshot({ path: join(folder, `${name}.png`) });
  });
  await stage.closePages();
  const { policy, role, token } = await makeSample(stage);
  await makeIntentions();
  const pages: readonly (readonly [name: string, path: string])[] = [
    ['tokens', '/tokens'],
    ['role', `/roles/${role.ID}`],
    ['method', '/auth-methods/builds'],
    ['splitter', '/config/service-splitter/web'],
    ['intentions', '/intentions'],
    ['overview', '/'],
    ['policy', `/policies/${policy.ID}`],
    ['explain', `/explain?resource=service&access=write&segment=api&accessor=${token.AccessorID}`],
    ['login', '/login-explain'],
    ['chain', '/chains/web'],
    ['settings', '/settings'],
  ];
  for (const [name, path] of pages) {
    const { page } = await stage.visit(path, { height: 860 });
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (name === 'login') {
      await page.getByRole('combobox', { name: 'Auth method' }).fill('builds');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('Checks').waitFor();
    }
    if (LIVE.has(name)) await page.getByRole('table').first().waitFor();
    else await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
  await takePalette();
  await takeLogin();
  await takeChanges(policy.ID);
  await takeConflict();
  const { page } = await stage.visit('/', { colorScheme: 'dark', height: 860 });
  await page.getByRole('table', { name: 'Members' }).waitFor();
  await page.screenshot({ path: join(folder, 'dark.png') });
} finally {
  await stage.close();
}
