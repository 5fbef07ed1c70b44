/**
 * Makes each alert of `cluster/deploy/alerts.yaml` fire on a real Prometheus, which scrapes nodes
 * on loopback: `npm run alerts -- --prometheus PROGRAM`. The times of the rules are shortened;
 * their expressions and thresholds are not. Exits with 1 if an alert did not fire. With `--healthy
 * MINUTES` it loads a healthy cluster instead, and exits with 1 if an alert fired or a request
 * failed.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { wrongUnderLoad } from './alerts/healthy.js';
import { Lab } from './alerts/lab.js';
import { alertNames, Prometheus } from './alerts/prometheus.js';
import { PROVOCATIONS, type Provocation } from './alerts/provocations.js';

/** Time in which an alert must fire, and in which it must have ended before it is provoked. */
const FIRES_MS = 120_000;
const LOOK_MS = 250;

/** What became of an alert. */
interface Outcome {
  readonly alert: string;
  readonly cause: string;
  /** Seconds from the cause until it fired; undefined if it did not. */
  readonly seconds: number | undefined;
  /** The labels that name who is concerned. */
  readonly labels: string;
}

const options = new Command('alerts')
  .description('makes each alert fire on a real Prometheus')
  .option('--prometheus <program>', 'the program', 'prometheus')
  .option('--only <names>', 'alerts by name, with commas')
  .option('--healthy <minutes>', 'provoke nothing: no alert may fire under load for so long')
  .parse()
  .opts<{ prometheus: string; only?: string; healthy?: string }>();

const dir = mkdtempSync(join(tmpdir(), 'conclave-alerts-'));
const token = randomUUID();
const keepsRanges = options.healthy !== undefined;
const prometheus = await Prometheus.start(options.prometheus, dir, { token, keepsRanges });
const lab = new Lab(dir, prometheus, token);
let wrong: readonly string[];
try {
  wrong =
    options.healthy === undefined
      ? await provokeAll(options.only?.split(',') ?? alertNames())
      : await wrongUnderLoad({ lab, prometheus, token }, Number(options.healthy));
} finally {
  await lab.end();
  await prometheus.stop();
}
console.log(wrong.length === 0 ? 'PASSED' : `FAILED: ${wrong.join(', ')}; see ${dir}`);
if (wrong.length === 0) rmSync(dir, { recursive: true, force: true });
process.exit(wrong.length === 0 ? 0 : 1);

/** Returns the names of the alerts that did not fire. */
async function provokeAll(wanted: readonly string[]): Promise<readonly string[]> {
  const outcomes: Outcome[] = [];
  await lab.start();
  for (const provocation of PROVOCATIONS)
    if (provocation.alerts.some((name) => wanted.includes(name)))
      outcomes.push(...(await provoke(provocation)));
  console.log('\n| alert | cause | fired after | of |\n| --- | --- | --- | --- |');
  for (const { alert, cause, seconds, labels } of outcomes)
    console.log(`| ${alert} | ${cause} | ${seconds ?? 'not'} s | ${labels} |`);
  const fired = outcomes.flatMap(({ alert, seconds }) => (seconds === undefined ? [] : alert));
  return wanted.filter((name) => !fired.includes(name));
}

/** Brings a cause about until its alerts fire, or the time is over. */
async function provoke({ alerts, cause, run }: Provocation): Promise<readonly Outcome[]> {
  const isQuiet = async (): Promise<boolean> =>
    !(await prometheus.alerts()).some(({ labels }) => alerts.includes(labels['alertname']!));
  const startMs = performance.now();
  while (!(await isQuiet())) {
    if (performance.now() - startMs > FIRES_MS) throw new Error(`${alerts} fires without a cause`);
    await sleep(LOOK_MS);
  }
  const found = new Map<string, Outcome>();
  const begunMs = performance.now();
  let hasFailed = false;
  const over = (async () => {
    while (!hasFailed && found.size < alerts.length && performance.now() - begunMs < FIRES_MS) {
      for (const { state, labels } of await prometheus.alerts()) {
        const { alertname: alert = '', job: _, severity: __, ...rest } = labels;
        if (state !== 'firing' || !alerts.includes(alert) || found.has(alert)) continue;
        const seconds = Math.round((performance.now() - begunMs) / 1000);
        const text = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
        found.set(alert, { alert, cause, seconds, labels: text.sort().join(', ') });
        console.log(`${alert} fired after ${seconds} s: ${cause}`);
      }
      await sleep(LOOK_MS);
    }
  })();
  try {
    await run(lab, over);
  } catch (error) {
    hasFailed = true;
    console.error(`${alerts}:`, error);
  }
  await over;
  return alerts.map(
    (alert) => found.get(alert) ?? { alert, cause, seconds: undefined, labels: '' },
  );
}
