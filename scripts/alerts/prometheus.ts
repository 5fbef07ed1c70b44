/** A Prometheus with the alerts of the repository, which fire within seconds. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts, HOST } from '../../src/dev/ports.js';
import { until } from '../../test/cluster/operator.js';

const RULES = join('cluster', 'deploy', 'alerts.yaml');
/** Time for which a condition must hold, in place of the 15 s to 6 h of the rules. */
const FOR = '4s';
/** What rates are taken over, in place of the 5 min to 1 h of the rules. Scrapes are 1 s apart. */
const RANGE = '20s';

/** A node that is scraped. */
export interface Target {
  readonly cluster: string;
  readonly name: string;
  readonly url: string;
}

/** An alert as Prometheus shows it. */
export interface Firing {
  readonly state: 'pending' | 'firing';
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the rules with other times. Thresholds stay as they are. */
function shortened(rules: string, keepsRanges: boolean): string {
  const soon = rules.replace(/for: \w+/g, `for: ${FOR}`);
  return keepsRanges ? soon : soon.replace(/\[\d+[mh]\]/g, `[${RANGE}]`);
}

/** Returns the names of the alerts of the repository. */
export const alertNames = (): readonly string[] =>
  [...readFileSync(RULES, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name]) => name!);

/** A running Prometheus. */
export class Prometheus {
  readonly #child: ChildProcess;
  readonly #url: string;
  readonly #targetsFile: string;

  /** Use `Prometheus.start`. */
  constructor(child: ChildProcess, url: string, targetsFile: string) {
    this.#child = child;
    this.#url = url;
    this.#targetsFile = targetsFile;
  }

  /**
   * Starts `program` with its data in `dir`. `token` is sent to all nodes. With `keepsRanges`,
   * rates are taken over the times of the rules.
   */
  static async start(
    program: string,
    dir: string,
    { token, keepsRanges = false }: { token: string; keepsRanges?: boolean },
  ): Promise<Prometheus> {
    const [port] = await freePorts(1);
    const file = (name: string): string => join(dir, name);
    writeFileSync(file('alerts.yaml'), shortened(readFileSync(RULES, 'utf8'), keepsRanges));
    writeFileSync(file('token'), token, { mode: 0o600 });
    writeFileSync(file('targets.json'), '[]');
    const configuration = `
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [alerts.yaml]
scrape_configs:
  - job_name: conclave
    metrics_path: /v1/agent/metrics
    params: { format: [prometheus] }
    authorization: { credentials_file: token }
    file_sd_configs: [{ files: [targets.json], refresh_interval: 1s }]
`;
    writeFileSync(file('prometheus.yml'), configuration);
    const log = openSync(file('prometheus.log'), 'a');
    const flags = [
      `--config.file=${file('prometheus.yml')}`,
      `--storage.tsdb.path=${file('tsdb')}`,
    ];
    const child = spawn(program, [...flags, `--web.listen-address=${HOST}:${port}`], {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    await once(child, 'spawn');
    const url = `http://${HOST}:${port}`;
    const isReady = async (): Promise<boolean> => (await fetch(`${url}/-/ready`)).ok;
    await until(isReady, (ready) => ready);
    return new Prometheus(child, url, file('targets.json'));
  }

  /** From now on scrapes these nodes. */
  scrape(targets: readonly Target[]): void {
    const groups = targets.map(({ cluster, name, url }) => ({
      targets: [new URL(url).host],
      labels: { cluster, instance: name },
    }));
    writeFileSync(this.#targetsFile, JSON.stringify(groups));
  }

  /** Returns the alerts whose condition holds now. */
  async alerts(): Promise<readonly Firing[]> {
    const answer = await fetch(`${this.#url}/api/v1/alerts`);
    return ((await answer.json()) as { data: { alerts: readonly Firing[] } }).data.alerts;
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
