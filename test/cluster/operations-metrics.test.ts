import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import type { LocalCluster } from '../../src/dev/local.js';
import { promtool } from '../metrics/promtool.js';
import { send } from '../support/client.js';
import { Field, until } from './operator.js';

const DIR = join('cluster', 'deploy');
const RUNBOOK = readFileSync(join('docs', 'runbook.md'), 'utf8');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}
const ALERTS: readonly Alert[] = parse(
  readFileSync(join(DIR, 'alerts.yaml'), 'utf8'),
).groups.flatMap(({ rules }: { rules: Alert[] }) => rules);

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly description?: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const DASHBOARD: {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { name: string; definition?: string }[] };
} = JSON.parse(readFileSync(join(DIR, 'dashboard.json'), 'utf8'));
const SHOWN = DASHBOARD.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const MARKED = DASHBOARD.annotations.list.map(({ expr }) => expr);

/** Labels that Prometheus adds, by itself or by the scrape configuration of the docs. */
const ADDED = ['cluster', 'instance', 'job'];

/** Runs promtool; returns what it prints about faults, '' if there are none. */
function faultsByPromtool(...command: string[]): string {
  if (promtool.path === undefined) return '';
  const { status, stdout, stderr } = spawnSync(promtool.path, command);
  return status === 0 ? '' : `${stdout}${stderr}`;
}

describe('alerts', () => {
  it('have a severity, a summary, a description, and an entry of the runbook', () => {
    expect(ALERTS).to.have.lengthOf.above(15);
    const sections = new Set(
      [...RUNBOOK.matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
        title!
          .toLowerCase()
          .replace(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      ),
    );
    for (const { alert, labels, annotations } of ALERTS) {
      expect(labels['severity'], alert).to.be.oneOf(['critical', 'warning']);
      expect(annotations, alert).to.include.keys('summary', 'description', 'runbook');
      const [file, section] = annotations['runbook']!.split('#');
      expect([file, sections.has(section!)], alert).to.deep.equal(['docs/runbook.md', true]);
    }
    const described = [...RUNBOOK.matchAll(/^#### (Conclave\w+)$/gm)].map(([, name]) => name!);
    expect(ALERTS.map(({ alert }) => alert)).to.include.members(described);
  });

  it(`are rules that promtool accepts${promtool.note}`, () => {
    expect(faultsByPromtool('check', 'rules', join(DIR, 'alerts.yaml'))).to.equal('');
  });

  it(`fire for their cause, and none on a healthy cluster${promtool.note}`, () => {
    const tests = join('test', 'cluster', 'alerts.test.yaml');
    expect(faultsByPromtool('test', 'rules', tests)).to.equal('');
    const tested = readFileSync(tests, 'utf8').match(/alertname="\w+"/g);
    for (const { alert } of ALERTS) expect(tested).to.include(`alertname="${alert}"`);
  });
});

describe('the dashboard', () => {
  it('says what each panel shows, and takes only intervals that fit the scrapes', () => {
    expect(SHOWN).to.have.lengthOf.above(30);
    for (const { type, title, description } of DASHBOARD.panels)
      if (type !== 'row') expect(description, title).to.match(/\.$/);
    for (const expr of SHOWN) expect(expr).not.to.match(/rate\([^[]*\[(?!\$__rate_interval|1h)/);
    // A counter changes at each restart, and between two windows that are as long as a step.
    expect(MARKED).not.to.deep.equal([]);
    for (const expr of MARKED)
      expect(expr).not.to.match(/changes\(\w+_total|\[(?!\$__rate_interval)/);
    const variables = DASHBOARD.templating.list.map(({ name }) => name);
    expect(variables).to.deep.equal(['datasource', 'cluster', 'instance']);
  });
});

describe('the metrics of three nodes', () => {
  const field = new Field();
  let cluster: LocalCluster;
  let texts: string[];
  const call = (node: number, method: string, path: string, body?: object) =>
    send(cluster.urls[node]!, `${method} ${path}`, {
      token: cluster.token,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  before(async () => {
    cluster = await field.start(3);
    const entry = { Kind: 'service-defaults', Name: 'web' };
    await call(1, 'PUT', '/v1/config', entry);
    const path = '/v1/config/service-defaults/web';
    const read = await call(2, 'GET', path);
    const held = call(2, 'GET', `${path}?index=${read.headers['x-consul-index']}`);
    const metrics = () => call(2, 'GET', '/v1/agent/metrics?format=prometheus');
    await until(metrics, ({ text }) => /^conclave_http_held 1$/m.test(text));
    await call(0, 'PUT', '/v1/config', { ...entry, Protocol: 'http' });
    await held;
    await call(0, 'POST', '/v1/acl/login', { AuthMethod: 'none', BearerToken: 'x' });
    await call(0, 'GET', '/v1/snapshot');
    texts = await Promise.all(
      cluster.urls.map(async (_, node) => {
        return (await call(node, 'GET', '/v1/agent/metrics?format=prometheus')).text;
      }),
    );
  });
  after(() => field.end());

  it('have everything that the dashboard and the alerts ask for, with its labels', () => {
    const labels = new Map<string, Set<string>>([
      ['up', new Set()],
      // Nodes of this test have no certificates.
      ['conclave_tls_not_after_timestamp_seconds', new Set(['use'])],
    ]);
    for (const [, name, list = ''] of texts.join('').matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
      const known = labels.get(name!) ?? new Set();
      for (const [, label] of list.matchAll(/(\w+)="/g)) known.add(label!);
      labels.set(name!, known);
    }
    const variables = DASHBOARD.templating.list.flatMap(({ definition }) => definition ?? []);
    const alerts = ALERTS.map((alert) => alert.expr);
    for (const expr of [...SHOWN, ...MARKED, ...alerts, ...variables]) {
      const names = expr.match(/\b(?:conclave|process|nodejs)_\w+|\bup\b/g)!;
      for (const name of names) expect(labels.has(name), `${name} in ${expr}`).to.equal(true);
      const known = [...ADDED, ...names.flatMap((name) => [...labels.get(name)!])];
      const used = [
        ...[...expr.matchAll(/\b(?:by|on|group_left) \(([^)]+)\)/g)].flatMap(([, list]) =>
          list!.split(/, */),
        ),
        ...[...expr.matchAll(/(\w+)[!=]?[=~]"/g)].map(([, label]) => label!),
      ];
      for (const label of used) expect(known, `${label} in ${expr}`).to.include(label);
    }
  });

  it('say what the peers of the leader lack, on the leader alone', () => {
    const peers = texts.map((text) => text.match(/^conclave_raft_peer_lag_entries\{.*$/gm) ?? []);
    expect(peers.map(({ length }) => length).sort()).to.deep.equal([0, 0, 2]);
    const leader = texts.findIndex((text) => /^conclave_raft_leader 1$/m.test(text));
    const others = cluster.nodes.filter((_, node) => node !== leader).map(({ name }) => name);
    for (const name of others)
      expect(peers[leader]!.join()).to.match(new RegExp(`peer="${name}"\\} \\d+`));
  });

  it('count what the write path takes by batch, and what is stored', () => {
    for (const text of texts) {
      const value = (line: RegExp): number => Number(line.exec(text)?.[1]);
      expect(value(/^conclave_raft_log_sync_duration_seconds_count (\d+)$/m)).to.be.above(0);
      expect(value(/^conclave_raft_apply_duration_seconds_count (\d+)$/m)).to.be.above(0);
      expect(value(/^conclave_config_entries\{kind="service-defaults"\} (\d+)$/m)).to.equal(1);
      expect(value(/^conclave_objects\{type="token"\} (\d+)$/m)).to.equal(2);
      expect(value(/^conclave_raft_leader_changes_total (\d+)$/m)).to.be.above(0);
      expect(value(/^conclave_data_bytes\{part="log"\} (\d+)$/m)).to.be.above(0);
    }
    expect(texts.join('')).to.match(
      /^conclave_raft_append_duration_seconds_count\{peer="n\d"\} [1-9]/m,
    );
    expect(texts[2]).to.match(
      /^conclave_http_hold_duration_seconds_count\{route="\/v1\/config\/:kind\/:name"\} 1$/m,
    );
  });

  it(`are in a form that promtool accepts${promtool.note}`, () => {
    if (promtool.path === undefined) return;
    for (const input of texts) {
      const { status, stdout, stderr } = spawnSync(promtool.path, ['check', 'metrics'], { input });
      expect([`${stdout}${stderr}`, status]).to.deep.equal(['', 0]);
    }
  });
});
