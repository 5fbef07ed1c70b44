import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { type Config, envName, loadConfig } from '../../src/config.js';
import { statusRoutes } from '../../src/http/status.js';
import { Metrics } from '../../src/metrics.js';
import { SETTINGS } from '../../src/settings.js';

const DIR = join('cluster', 'deploy');
const textOf = (name: string): string => readFileSync(join(DIR, name), 'utf8');
type Env = Record<string, string>;
const TOKEN = '9c3fd1a2-5b8e-4f6d-8a7b-0c1d2e3f4a5b';

/** What the image sets for all nodes. */
function imageEnv(): Env {
  const lines = textOf('Dockerfile').split('\n');
  const line = lines.find((each) => each.startsWith('ENV '))!;
  return Object.fromEntries(
    line
      .slice(4)
      .split(' ')
      .map((each) => each.split('=')),
  );
}

function mustBeOneCluster(configs: readonly Config[]): void {
  expect(configs).to.have.lengthOf(3);
  const [first] = configs;
  for (const { nodeName, raft, cluster, dataDir } of configs) {
    expect(cluster.initial).to.deep.equal(first!.cluster.initial);
    const own = cluster.initial.find(({ name }) => name === nodeName);
    expect(own?.address).to.equal(raft.advertise);
    expect(dataDir).to.equal('/data');
  }
  expect(new Set(configs.map(({ nodeName }) => nodeName)).size).to.equal(3);
}

describe('the files to deploy with', () => {
  it('name only settings that exist', () => {
    const known = new Set(SETTINGS.map(({ key }) => envName(key)));
    for (const name of readdirSync(DIR))
      for (const [variable] of textOf(name).matchAll(/CONCLAVE_[A-Z_]+/g))
        expect(known.has(variable), `${variable} in ${name}`).to.equal(true);
  });

  it('compose: three nodes with valid configurations of one cluster', () => {
    const file = parse(textOf('compose.yaml'), { merge: true });
    const services = Object.values(file.services) as { environment: Env; volumes: string[] }[];
    const configs = services.map(({ environment }) => {
      const given = Object.entries(environment).map(([name, value]) => [
        name,
        value.startsWith('${') ? TOKEN : value,
      ]);
      return loadConfig({ env: { ...imageEnv(), ...Object.fromEntries(given) } });
    });
    mustBeOneCluster(configs);
    expect(new Set(services.flatMap(({ volumes }) => volumes)).size).to.equal(3);
    expect(configs[0]!.raft.sharedKeyFile).to.equal('/run/secrets/shared-key');
    expect(Object.keys(file.secrets)).to.deep.equal(['shared-key']);
  });

  it('Kubernetes: pods with valid configurations of one cluster, probes of paths and ports that exist', () => {
    const objects = parseAllDocuments(textOf('kubernetes.yaml')).map((each) => each.toJS());
    const one = (kind: string) => objects.find((each) => each.kind === kind);
    const { spec } = one('StatefulSet');
    const [container] = spec.template.spec.containers;
    const configs = [0, 1, 2].map((number) => {
      const env: Env = { ...imageEnv() };
      for (const { name, value, valueFrom } of container.env) {
        const text = value ?? (valueFrom.fieldRef ? `conclave-${number}` : TOKEN);
        env[name] = text.replace(/\$\((\w+)\)/g, (_: string, other: string) => env[other]);
      }
      return loadConfig({ env });
    });
    mustBeOneCluster(configs);
    expect(spec.replicas).to.equal(3);

    const ports = new Map(
      container.ports.map((port: { name: string; containerPort: number }) => [
        port.name,
        port.containerPort,
      ]),
    );
    const [{ http, raft }] = configs as [Config];
    expect([...ports]).to.deep.equal([
      ['http', http.port],
      ['raft', raft.port],
    ]);
    const paths = statusRoutes({} as never).map(({ path }) => path);
    for (const probe of [container.livenessProbe, container.readinessProbe]) {
      expect(paths).to.include(probe.httpGet.path);
      expect(ports.has(probe.httpGet.port)).to.equal(true);
    }
    const labels = spec.template.metadata.labels;
    expect(one('PodDisruptionBudget').spec.selector.matchLabels).to.deep.equal(labels);
    expect(one('PodDisruptionBudget').spec.maxUnavailable).to.equal(1);
    const names = objects
      .filter(({ kind }) => kind === 'Service')
      .map((each) => each.metadata.name);
    expect(names).to.include(spec.serviceName);
    const mounts = container.volumeMounts.map((mount: { name: string }) => mount.name);
    const volumes = [...spec.template.spec.volumes, ...spec.volumeClaimTemplates];
    expect(volumes.map((each) => each.name ?? each.metadata.name)).to.have.members(mounts);
    const { stopMs } = configs[0]!.limits;
    expect(spec.template.spec.terminationGracePeriodSeconds * 1000).to.be.greaterThan(2 * stopMs);
  });

  it('systemd: stops in order, reloads certificates, and has more files than connections', () => {
    const unit = new Map(
      [...textOf('conclave.service').matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [
        key,
        value,
      ]),
    );
    const { limits } = loadConfig({});
    expect(unit.get('ExecReload')).to.equal('/bin/kill -HUP $MAINPID');
    expect(Number(unit.get('LimitNOFILE'))).to.be.greaterThan(limits.connections);
    expect(Number(unit.get('TimeoutStopSec')) * 1000).to.be.greaterThan(2 * limits.stopMs);
  });

  it('the dashboard shows metrics that exist', async () => {
    const dashboard = JSON.parse(textOf('dashboard.json'));
    const shown = new Set<string>();
    for (const { targets } of dashboard.panels)
      for (const { expr } of targets)
        for (const [name] of expr.matchAll(/conclave_\w+/g))
          shown.add(name.replace(/_(?:bucket|count|sum)$/, ''));
    const metrics = new Metrics({
      status: () => ({ peers: [] }) as never,
      held: () => 0,
      connections: () => 0,
      driver: () => ({}) as never,
      agreement: () => ({}) as never,
    });
    const text = await metrics.prometheus();
    metrics.close();
    const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
    expect([...shown].filter((name) => !known.has(name))).to.deep.equal([]);
    expect(shown.size).to.be.greaterThan(10);
  });
});
