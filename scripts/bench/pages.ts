/**
 * How long the pages of the web UI take in a Chromium on this machine: from the start of the
 * navigation until the browser has drawn text, and until the data of the page is shown. Each page
 * is opened with an empty cache, and then again with what the browser has kept.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { makeSample } from '../../test/browser/sample.js';
import { Stage } from '../../test/browser/stage.js';
import { fill } from './load.js';
import { figure, row, title } from './report.js';

/** Time for a new browser to come to rest. */
const SETTLED_MS = 3000;

/** One visit: milliseconds since the start of the navigation, and the requests until then. */
interface Visit {
  readonly drawnMs: number;
  readonly shownMs: number;
  readonly requests: number;
  readonly inSeries: number;
}

/** A request of a page, with its times. */
interface Request {
  readonly startTime: number;
  readonly responseEnd: number;
}

/** Promises the time of the frame that shows the data: rows of a table, an editor, or a text. */
const WATCHER = `globalThis.shown = new Promise((resolve) => {
  const look = () => {
    const isShown =
      document.querySelector('main table tbody tr, body > pre') ??
      document.querySelector('form .editor')?.shadowRoot?.querySelector('.cm-content');
    if (isShown) resolve(performance.now());
    else requestAnimationFrame(look);
  };
  look();
})`;

/** What the browser noted of a page once it is shown. */
const NOTED = `globalThis.shown.then((shownMs) => ({
  shownMs,
  drawnMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? shownMs,
  requests: ['navigation', 'resource']
    .flatMap((type) => performance.getEntriesByType(type))
    .map(({ startTime, responseEnd }) => ({ startTime, responseEnd }))
    .filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= shownMs),
}))`;

/** Returns the length of the longest chain of requests of which each began after the one before. */
function inSeries(requests: readonly Request[]): number {
  const sorted = [...requests].sort((a, b) => a.startTime - b.startTime);
  const depths: number[] = [];
  for (const { startTime } of sorted) {
    const before = depths.filter((_, at) => sorted[at]!.responseEnd <= startTime);
    depths.push(1 + Math.max(0, ...before));
  }
  return Math.max(0, ...depths);
}

async function visit(page: Page, href: string): Promise<Visit> {
  // A page of another site: the visit begins as one by a link or the address bar does.
  await page.goto('about:blank');
  await page.goto(href);
  const { drawnMs, shownMs, requests } = (await page.evaluate(NOTED)) as {
    readonly drawnMs: number;
    readonly shownMs: number;
    readonly requests: readonly Request[];
  };
  return { drawnMs, shownMs, requests: requests.length, inSeries: inSeries(requests) };
}

const quantile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(part * (values.length - 1))]!;

function report(name: string, visits: readonly Visit[]): void {
  const column = (of: (one: Visit) => number, part: number): string =>
    figure(Math.round(quantile(visits.map(of), part)));
  row([
    name,
    column(({ drawnMs }) => drawnMs, 0.5),
    column(({ shownMs }) => shownMs, 0.5),
    column(({ shownMs }) => shownMs, 0),
    column((one) => one.requests, 0.5),
    column((one) => one.inSeries, 0.5),
  ]);
}

/** Returns a page of a browser that has come to rest. */
async function restedPage(stage: Stage): Promise<Page> {
  const page = await stage.blank();
  await page.addInitScript(WATCHER);
  // A new window loads pages of its own, which are not ours.
  await sleep(SETTLED_MS);
  return page;
}

const COLUMNS = ['page', 'text drawn', 'data shown', 'at best', 'requests', 'in series'];

/** Opens each page `rounds` times in both ways, in turns, in one tab. */
export async function measurePages(rounds: number): Promise<void> {
  const stage = new Stage();
  try {
    await stage.open(3);
    const { policy } = await makeSample(stage);
    const pages = [
      { name: 'a bare text file', path: '/assets/licences.txt' },
      { name: 'Overview', path: '/' },
      { name: 'Policies', path: '/policies' },
      { name: 'one policy', path: `/policies/${policy.ID}` },
    ];
    title('Pages of the web UI: ms from the start of the navigation (p50)', COLUMNS);
    const page = await restedPage(stage);
    const browser = await page.context().newCDPSession(page);
    const visits = new Map<string, Visit[]>();
    const note = (name: string, one: Visit): unknown =>
      visits.get(name)?.push(one) ?? visits.set(name, [one]);
    // The first round is the first visit that the node ever has.
    for (let round = 0; round <= rounds; round += 1)
      for (const { name, path } of pages) {
        await browser.send('Network.clearBrowserCache');
        const first = await visit(page, stage.hrefOf(path));
        note(round === 0 ? `${name}, first visit of all` : `${name}, nothing kept`, first);
        const again = await visit(page, stage.hrefOf(path));
        if (round > 0) note(`${name}, again`, again);
      }
    for (const [name, each] of visits) report(name, each);
  } finally {
    await stage.close();
  }
}

/**
 * Clicks an element, and promises the milliseconds until another page of the list is shown: its
 * tenth row is another one, and the frame with it is drawn.
 */
const ACT = `(selector) => new Promise((resolve) => {
  const row = 'main tbody tr:nth-child(10) td:nth-child(2)';
  const tenth = () => document.querySelector(row)?.textContent;
  const before = tenth();
  const begun = performance.now();
  const look = () => {
    if (tenth() !== before) requestAnimationFrame(() => resolve(performance.now() - begun));
    else requestAnimationFrame(look);
  };
  const buttons = [...document.querySelectorAll('main button')];
  buttons.find((each) => each.textContent.startsWith(selector)).click();
  look();
})`;

/** Notes how long the page takes to answer keys and clicks with a frame. */
const INPUTS = `globalThis.inputs = [];
new PerformanceObserver((list) => globalThis.inputs.push(...list.getEntries()
  .filter(({ interactionId }) => interactionId > 0).map(({ duration }) => duration)))
  .observe({ type: 'event', durationThreshold: 16, buffered: true });`;

/** Opens pages of a list of many tokens on one node, sorts it, and types into its filter. */
export async function measureLists({
  tokens,
  rounds,
}: {
  readonly tokens: number;
  readonly rounds: number;
}): Promise<void> {
  const stage = new Stage();
  try {
    await stage.open(1);
    const { urls, token } = stage.cluster;
    await fill([{ url: urls[0]!, token }], 32, tokens, (n) => ({
      method: 'PUT',
      path: '/v1/acl/token',
      body: JSON.stringify({ Description: `t-${n}` }),
    }));
    const page = await restedPage(stage);
    await page.addInitScript(INPUTS);
    await page.goto(stage.hrefOf('/tokens'));
    await page.getByRole('table').waitFor();
    title(`A list of ${figure(tokens)} tokens: ms until it is shown`, [
      'step',
      'p50',
      'p95',
      'most',
    ]);
    for (const step of ['Next', 'First', 'Created', 'Description']) {
      const times: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        if (step === 'First') await page.evaluate(`(${ACT})('Next')`);
        times.push((await page.evaluate(`(${ACT})(${JSON.stringify(step)})`)) as number);
      }
      row([step, ...[0.5, 0.95, 1].map((part) => figure(Math.round(quantile(times, part))))]);
    }
    await page.getByRole('searchbox').pressSequentially(`t-${tokens - 1}`, { delay: 80 });
    await page.getByText('1 in total').waitFor();
    const inputs = (await page.evaluate('globalThis.inputs')) as readonly number[];
    console.log(
      `\nKeys and clicks that took longer than a frame: ${inputs.length}; p95 of them ` +
        `${figure(quantile(inputs.length === 0 ? [0] : inputs, 0.95))} ms.`,
    );
    const browser = await page.context().newCDPSession(page);
    await browser.send('HeapProfiler.collectGarbage');
    const { usedSize } = await browser.send('Runtime.getHeapUsage');
    console.log(`Heap of the page after that: ${figure(usedSize / 1e6)} MB.`);
  } finally {
    await stage.close();
  }
}
