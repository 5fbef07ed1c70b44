/** Three nodes and a browser for the suites of the web UI. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../scripts/chromium.js';
import { send } from '../support/client.js';
import { RealCluster } from '../support/real-cluster.js';

/** How many times slower than on this machine a page runs: `--slow` of `scripts/test.ts`. */
const SLOWDOWN = Number(process.env['BROWSER_SLOWDOWN'] ?? 1);
/** Time for one step of a page. Only a failure waits for it, so it is ample for a busy machine. */
const STEP_MS = 60_000 * SLOWDOWN;
/** Milliseconds for which answers are held back, times the slowdown beyond 1. */
const LATENCY_MS = 50;

/** A page with what it must never do: it is checked by `faults`. */
export interface Watched {
  readonly page: Page;
  /** Requests to other hosts, violations of the policy, uncaught errors. */
  readonly faults: string[];
}

/** How a page is opened. */
export interface PageOptions {
  readonly token?: string | undefined;
  readonly colorScheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** The node that serves it; the first by default. */
  readonly url?: string;
}

/** A cluster and a browser. */
export class Stage {
  readonly #openCluster: (nodes: number) => Promise<RealCluster>;
  readonly #contexts: BrowserContext[] = [];
  #parts: { readonly cluster: RealCluster; readonly browser: Browser } | undefined;

  constructor(openCluster: (nodes: number) => Promise<RealCluster> = RealCluster.open) {
    this.#openCluster = openCluster;
  }

  /** The nodes, once it is open. */
  get cluster(): RealCluster {
    return this.#parts!.cluster;
  }

  /** Starts both. */
  async open(nodes: number): Promise<void> {
    const [cluster, browser] = await Promise.all([
      this.#openCluster(nodes),
      chromium.launch({
        executablePath: findChromium()!,
        args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
      }),
    ]);
    this.#parts = { cluster, browser };
  }

  /** Sends a request to the API of the first node with the management token. */
  async api<T>(
    call: `${string} ${string}`,
    body?: unknown,
    token = this.cluster.token,
  ): Promise<T> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const { status, text } = await send(this.cluster.urls[0]!, call, { token, ...sent });
    if (status !== 200) throw new Error(`${call}: ${status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Returns the address of a page of the first node. */
  hrefOf(path: string, url = this.cluster.urls[0]!): string {
    return `${url}/ui${path}`;
  }

  /** Returns an empty page with a token in its session, without the login. */
  async blank(options: PageOptions = {}): Promise<Page> {
    const { token = this.cluster.token, colorScheme = 'light' } = options;
    const { width = 1280, height = 900 } = options;
    const context = await this.#parts!.browser.newContext({
      colorScheme,
      viewport: { width, height },
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'UTC',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(STEP_MS);
    const page = await context.newPage();
    if (SLOWDOWN > 1) await slowDown(page);
    if (token !== '')
      await page.addInitScript(
        `sessionStorage.getItem('conclave.token') ??
          sessionStorage.setItem('conclave.token', ${JSON.stringify(token)})`,
      );
    return page;
  }

  /** Opens a page, and watches it for what it must never do. */
  async visit(path: string, options: PageOptions = {}): Promise<Watched> {
    const page = await this.blank(options);
    const faults: string[] = [];
    page.on('request', (request) => {
      if (!this.cluster.urls.includes(new URL(request.url()).origin)) faults.push(request.url());
    });
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) faults.push(message.text());
    });
    await page.goto(this.hrefOf(path, options.url));
    return { page, faults };
  }

  /** Closes the pages. */
  async closePages(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }

  /** Stops both. */
  async close(): Promise<void> {
    await this.#parts?.browser.close();
    await this.#parts?.cluster.close();
  }
}

/** Makes a page run and be answered as on a slow machine. */
async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
  const latency = (SLOWDOWN - 1) * LATENCY_MS;
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', {
    latency,
    offline: false,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
}

/** Describes pages of a cluster. The tests run on a stage that is open, each without old pages. */
export function describePages(title: string, nodes: number, tests: (stage: Stage) => void): void {
  describe(title, () => {
    const stage = new Stage();
    before(() => stage.open(nodes));
    after(() => stage.close());
    afterEach(() => stage.closePages());
    tests(stage);
  });
}
