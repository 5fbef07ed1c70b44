import { existsSync, readdirSync, readFileSync } from 'node:fs';
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

/** The tag that all files give the image. */
const IMAGE = `conclave:${JSON.parse(readFileSync('package.json', 'utf8')).version}`;

function mustBeOneCluster(configs: readonly Config[], folder: string): void {
  expect(configs).to.have.lengthOf(3);
  const [first] = configs;
  for (const { nodeName, raft, cluster, dataDir } of configs) {
    expect(cluster.initial).to.deep.equal(first!.cluster.initial);
    const own = cluster.initial.find(({ name }) => name === nodeName);
    expect(own?.address).to.equal(raft.advertise);
    expect(dataDir).to.equal(folder);
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

  it('Docker: copies what is not kept from it, and nothing secret', () => {
    const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
    const dockerfile = textOf('Dockerfile');
    expect(dockerfile).to.include(` -t ${IMAGE} `);
    for (const [, list] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm))
      for (const path of list!.split(' ')) {
        expect(ignored).not.to.include(path);
        expect(existsSync(path), path).to.equal(true);
      }
    // where compose.yaml has the key and the token made
    expect(ignored).to.include('cluster/deploy');
    const untracked = readFileSync('.gitignore', 'utf8').split('\n');
    expect(untracked).to.include.members(['cluster/deploy/shared.key', 'cluster/deploy/.env']);
  });

  it('compose: three nodes with valid configurations of one cluster', () => {
    const file = parse(textOf('compose.yaml'), { merge: true });
    const services = Object.values(file.services) as {
      image: string;
      environment: Env;
      volumes: string[];
    }[];
    for (const { image } of services) expect(image).to.equal(IMAGE);
    const configs = services.map(({ environment }) => {
      const given = Object.entries(environment).map(([name, value]) => [
        name,
        value.startsWith('${') ? TOKEN : value,
      ]);
      return loadConfig({ env: { ...imageEnv(), ...Object.fromEntries(given) } });
    });
    mustBeOneCluster(configs, '/data');
    expect(new Set(services.flatMap(({ volumes }) => volumes)).size).to.equal(3);
    expect(configs[0]!.raft.sharedKeyFile).to.equal('/run/secrets/shared-key');
    expect(Object.keys(file.secrets)).to.deep.equal(['shared-key']);
  });

  it('Kubernetes: pods with valid configurations of one cluster, probes of paths and ports that exist', () => {
    const objects = parseAllDocuments(textOf('kubernetes.yaml')).map((each) => each.toJS());
    const one = (kind: string) => objects.find((each) => each.kind === kind);
    const { spec } = one('StatefulSet');
    const [container] = spec.template.spec.containers;
    const configs = [0, 1, 2].map((number) => podConfig(container.env, number));
    // the root of the volume is root's: the node could not make it its own
    mustBeOneCluster(configs, `${container.volumeMounts[0].mountPath}/node`);
    expect(spec.replicas).to.equal(3);
    expect(container.image).to.equal(IMAGE);
    // else a Service called conclave-http would set CONCLAVE_HTTP_PORT
    expect(spec.template.spec.enableServiceLinks).to.equal(false);

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
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
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

  it('Kubernetes: with the list to join, any pod has a valid configuration and founds no cluster', () => {
    const text = textOf('kubernetes.yaml')
      .replace(/^( *)- name: CONCLAVE_CLUSTER_INITIAL\n.*\n/m, '')
      .replace(/# (- name: CONCLAVE_CLUSTER_JOIN\n *)# {3}/, '$1  ');
    const set = parseAllDocuments(text)
      .map((each) => each.toJS())
      .find(({ kind }) => kind === 'StatefulSet');
    for (const number of [0, 4]) {
      const { cluster } = podConfig(set.spec.template.spec.containers[0].env, number);
      expect(cluster.initial).to.deep.equal([]);
      expect(cluster.join).to.deep.equal([0, 1, 2].map((n) => `conclave-${n}.conclave:8300`));
    }
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
    // SIGHUP before the node handles it ends the process, which is no failure to systemd
    expect(unit.get('Restart')).to.equal('always');
    expect(unit.get('RestartPreventExitStatus')).to.equal('2');
    expect(Number(unit.get('TimeoutStopSec')) * 1000).to.be.greaterThan(2 * limits.stopMs);
  });

  it('the dashboard and the alerts use metrics and labels that exist', async () => {
    const { panels } = JSON.parse(textOf('dashboard.json')) as {
      panels: { targets: { expr: string }[] }[];
    };
    const shown = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const operations = readFileSync(join('docs', 'operations.md'), 'utf8');
    const section = operations.slice(operations.indexOf('## 8.'), operations.indexOf('## 9.'));
    const alerts = [...section.matchAll(/`([^`\n]*conclave_[^`\n]*)`/g)].map(([, expr]) => expr!);
    const text = await metricsText();
    const known = new Set(
      [...text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)].flatMap(([, name, labels = '']) => [
        name,
        ...[...labels.matchAll(/(\w+)="/g)].map(([, label]) => label),
      ]),
    );
    known.add('instance'); // Prometheus adds it
    expect(shown.length).to.be.greaterThan(10);
    expect(alerts.length).to.be.greaterThan(5);
    for (const expr of [...shown, ...alerts]) {
      const labels = [
        ...[...expr.matchAll(/\b(?:by|on) \(([^)]+)\)/g)].flatMap(([, list]) => list!.split(/, */)),
        ...[...expr.matchAll(/(\w+)[!=]?[=~]"/g)].map(([, label]) => label),
      ];
      for (const name of [...(expr.match(/conclave_\w+/g) ?? []), ...labels])
        expect(known.has(name), `${name} in ${expr}`).to.equal(true);
    }
  });
});

/** The configuration of a pod, from the variables of its container. */
function podConfig(
  variables: readonly { name: string; value?: string; valueFrom: { fieldRef?: object } }[],
  number: number,
): Config {
  const env: Env = { ...imageEnv() };
  for (const { name, value, valueFrom } of variables) {
    const text = value ?? (valueFrom.fieldRef ? `conclave-${number}` : TOKEN);
    env[name] = text.replace(/\$\((\w+)\)/g, (_, other: string) => env[other]!);
  }
  return loadConfig({ env });
}

/** What a node that has answered a request shows to Prometheus. */
async function metricsText(): Promise<string> {
  // shown as they are in a node that has done nothing else
  const metrics = new Metrics({
    status: () => ({ peers: [] }) as never,
    held: () => 0,
    refused: () => ({}),
    connections: () => 0,
    level: () => 1,
    driver: () => ({}) as never,
    disks: () => ({}) as never,
    agreement: () => ({}) as never,
    rights: () => ({ tokens: 0, rights: 0, bytes: 0 }),
    refusedLogins: () => new Map([['token', 0]]),
  });
  metrics.observe({ route: { path: '/v1/config' }, method: 'PUT', status: 200, ms: 1 });
  const text = await metrics.prometheus();
  metrics.close();
  return text;
}
