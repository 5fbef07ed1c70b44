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

try {
  await stage.open(3);
  await walk(stage, async (seen, name) => {
    await seen.screenshot({ path: join(folder, `${name}.png`) });
  });
  await stage.closePages();
  const { policy, token } = await makeSample(stage);
  const pages: readonly (readonly [name: string, path: string])[] = [
    ['overview', '/'],
    ['policy', `/policies/${policy.ID}`],
    ['explain', `/explain?resource=service&access=write&segment=api&accessor=${token.AccessorID}`],
    ['login', '/login-explain'],
    ['chain', '/chains/web'],
  ];
  for (const [name, path] of pages) {
    const { page } = await stage.visit(path, { height: 860 });
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (name === 'login') {
      await page.getByRole('textbox', { name: 'Auth method' }).fill('builds');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('Checks').waitFor();
    }
    await page.waitForLoadState('networkidle');
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
  await takeChanges(policy.ID);
  const { page } = await stage.visit('/', { colorScheme: 'dark', height: 860 });
  await page.getByRole('table', { name: 'Members' }).waitFor();
  await page.screenshot({ path: join(folder, 'dark.png') });
} finally {
  await stage.close();
}
