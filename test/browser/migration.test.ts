/** The report of a migration in the web UI. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { Report, RightsDifference } from '../../src/api/migration-report.js';
import { Moving } from '../migrate/running.js';
import { button, field } from './actions.js';
import { violations } from './axe.js';
import { describePages } from './stage.js';

const ACCESSOR = '8a2d0000-0000-4000-8000-000000000001';
const step = { Type: 'policy', ID: 'p', Name: '<b>ops</b>' };
const source = { Path: [step], Line: 3, Level: 'write', Counts: true };
const wider: RightsDifference = {
  Code: 'rights_add_up',
  Tokens: 3,
  Sample: [ACCESSOR],
  Resource: 'service',
  Access: 'read',
  Segment: 'web',
  Namespace: 'default',
  Source: { Allow: false, Rule: 'service "web" = deny' },
  Target: {
    Allow: true,
    Text: 'service:read on "web" is allowed',
    Winner: { Rule: 'service "web" { policy = "write" }', Sources: [source] },
    Candidates: [],
  },
};

describePages('the page about a migration', 1, (stage) => {
  let report: Report;
  before(async () => {
    const moving = await Moving.start();
    try {
      const { out } = await moving.migrate('--dry-run --with-secrets --mend -o json');
      report = JSON.parse(out);
    } finally {
      await moving.close();
    }
  });

  const open = (page: Page, text: string): Promise<void> =>
    page.getByLabel('Report', { exact: true }).setInputFiles({
      name: 'report.json',
      mimeType: 'application/json',
      buffer: Buffer.from(text),
    });
  const rows = (page: Page, name: string): Locator =>
    page.getByRole('table', { name, exact: true }).locator('tbody tr');

  it('shows each object that has no counterpart, with the diff of a mended text', async () => {
    const { page, faults } = await stage.visit('/migration');
    await open(page, JSON.stringify(report));
    await page.getByText('A dry run: nothing was written.').waitFor();
    const policies = rows(page, 'Objects').filter({ hasText: 'policy' });
    const { Source, Same, Create, Update, Delete, LeftOut } = report.Types['policy']!;
    expect(await policies.locator('td').allTextContents()).to.deep.equal(
      [Source, Same, Create, Update, Delete, LeftOut].map(String),
    );
    expect(await rows(page, 'Findings').count()).to.equal(report.Findings.length);
    await page.getByLabel('Code', { exact: true }).selectOption('rules');
    const ofRules = report.Findings.filter(({ Code }) => Code === 'rules');
    expect(await rows(page, 'Findings').count()).to.equal(ofRules.length);
    const mended = ofRules.find(({ Mended }) => Mended !== undefined)!;
    const row = rows(page, 'Findings').filter({ hasText: mended.Message }).first();
    await row.getByText('The text that grants the same here').click();
    await row.getByText('# was:').first().waitFor();
    await field(page, 'Filter').fill('no finding has these words');
    await page.getByText('No finding matches.').waitFor();
    expect(await violations(page)).to.deep.equal([]);
    expect(faults).to.deep.equal([]);
  });

  it('shows whose rights would differ, what each side answers, and why', async () => {
    const { page, faults } = await stage.visit('/migration');
    const Rights = { ...report.Rights!, Differences: [wider], Equal: false };
    await open(page, JSON.stringify({ ...report, Rights, Exit: 5 }));
    await page.getByText('Read the differences before you switch').waitFor();
    const row = rows(page, 'Rights');
    const cells = await row.locator('th, td').allTextContents();
    expect(cells[0]).to.equal(`3 tokens${ACCESSOR}`);
    expect(cells[1]).to.equal('service:read on "web" in default');
    expect(cells[2]).to.equal('denied service "web" = deny');
    expect(cells[4]).to.contain('rights of several holders add up here');
    await row.getByText('Why here').click();
    // texts of a report are texts, whatever they hold
    await row.getByText('policy <b>ops</b>').waitFor();
    await row.getByRole('link', { name: ACCESSOR }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(page.url()).to.contain(`/ui/tokens/${ACCESSOR}`);
    expect(faults).to.deep.equal([]);
  });

  it('reads a file that is dropped on the page, and says what is wrong with it', async () => {
    const { page, faults } = await stage.visit('/migration');
    const drop = (text: string): Promise<void> =>
      page.evaluate(`(() => {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([${JSON.stringify(text)}], 'report.json'));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
      })()`);
    await drop('no JSON');
    const notice = page.getByRole('alert').filter({ hasText: 'The file is ' });
    await notice.getByText('not JSON.').waitFor();
    await drop('{"Findings":[]}');
    await notice.getByText('no report of conclave migrate').waitFor();
    await drop(JSON.stringify(report));
    await rows(page, 'Objects').first().waitFor();
    expect(await notice.count()).to.equal(0);
    expect(faults).to.deep.equal([]);
  });

  it('shows many findings step by step', async () => {
    const { page } = await stage.visit('/migration');
    const [finding] = report.Findings;
    const Findings = Array.from({ length: 100_000 }, (_, n) => ({ ...finding, Message: `n ${n}` }));
    await open(page, JSON.stringify({ ...report, Findings }));
    await rows(page, 'Findings').nth(99).waitFor();
    expect(await rows(page, 'Findings').count()).to.equal(100);
    await button(page, 'Show more (99,900 left)').click();
    await rows(page, 'Findings').nth(199).waitFor();
    await field(page, 'Filter').fill('99999');
    await rows(page, 'Findings').filter({ hasText: 'n 99999' }).waitFor();
    expect(await rows(page, 'Findings').count()).to.equal(1);
  });
});
