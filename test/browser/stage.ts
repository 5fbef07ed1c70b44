/** Three nodes and a browser for the suites of the web UI. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { type LocalCluster, startCluster } from '../../cluster/local.js';
import { findChromium } from '../../scripts/chromium.js';

/** Time for one step of a page on a busy machine. */
const STEP_MS = 20_000;

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
  readonly cluster: LocalCluster;
  readonly browser: Browser;
  readonly #folder: string;
  readonly #contexts: BrowserContext[] = [];

  constructor(cluster: LocalCluster, browser: Browser, folder: string) {
    this.cluster = cluster;
    this.browser = browser;
    this.#folder = folder;
  }

  /** Starts both. */
  static async open(nodes = 3): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'conclave-browser-'));
    const [cluster, browser] = await Promise.all([
      startCluster({ nodes, dir: folder }),
      chromium.launch({
        executablePath: findChromium()!,
        args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
      }),
    ]);
    return new Stage(cluster, browser, folder);
  }

  /** Sends a request to the API of the first node with the management token. */
  async api<T>(
    method: string,
    path: string,
    body?: unknown,
    token = this.cluster.token,
  ): Promise<T> {
    const answer = await fetch(`${this.cluster.urls[0]}${path}`, {
      method,
      headers: { 'X-Consul-Token': token, connection: 'close' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Opens a page with a token in its session, without the login. */
  async open(path: string, options: PageOptions = {}): Promise<Watched> {
    const {
      token = this.cluster.token,
      colorScheme = 'light',
      width = 1280,
      height = 900,
    } = options;
    const url = options.url ?? this.cluster.urls[0]!;
    const context = await this.browser.newContext({
      colorScheme,
      viewport: { width, height },
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'UTC',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(STEP_MS);
    const faults: string[] = [];
    const page = await context.newPage();
    page.on('request', (request) => {
      if (!this.cluster.urls.includes(new URL(request.url()).origin)) faults.push(request.url());
    });
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) faults.push(message.text());
    });
    if (token !== '')
      await page.addInitScript(
        `sessionStorage.getItem('conclave.token') ??
          sessionStorage.setItem('conclave.token', ${JSON.stringify(token)})`,
      );
    await page.goto(`${url}/ui${path}`);
    return { page, faults };
  }

  /** Closes the pages. */
  async closePages(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }

  /** Stops both. */
  async close(): Promise<void> {
    await this.browser.close();
    await this.cluster.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
