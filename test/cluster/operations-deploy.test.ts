import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { type Config, envName, loadConfig } from '../../src/config.js';
import { statusRoutes } from '../../src/http/status.js';
import { SETTINGS } from '../../src/settings.js';

const DIR = join('cluster', 'deploy');
const textOf = (name: string): string => readFileSync(join(DIR, name), 'utf8');
type Env = Record<string, string>;

/** The environment that the image sets for all nodes. */
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

/** The image tag that all files use. */
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

describe('the deployment files', () => {
  it('name only settings that exist', () => {
    const known = new Set(SETTINGS.map(({ key }) => envName(key)));
    for (const name of readdirSync(DIR))
      for (const [variable] of textOf(name).matchAll(/CONCLAVE_[A-Z_]+/g))
        expect(known.has(variable), `${variable} in ${name}`).to.equal(true);
  });

  it('Docker: the image copies files that are not ignored, and no secrets', () => {
    const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
    const dockerfile = textOf('Dockerfile');
    expect(dockerfile).to.include(` -t ${IMAGE} `);
    for (const [, list] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm))
      for (const path of list!.split(' ')) {
        expect(ignored).not.to.include(path);
        expect(existsSync(path), path).to.equal(true);
      }
    // The key and the token, which compose.yaml has created there.
    expect(ignored).to.include('cluster/deploy');
    const untracked = readFileSync('.gitignore', 'utf8').split('\n');
    const secrets = ['shared.key', 'management.token', '.env'];
    expect(untracked).to.include.members(secrets.map((name) => `cluster/deploy/${name}`));
    // A supported Node version, the same in both stages, which can be pinned by digest.
    const from = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(from).to.deep.equal(['${NODE_IMAGE}', '${NODE_IMAGE}']);
    const [, major] = /^ARG NODE_IMAGE=node:(\d+)-/m.exec(dockerfile)!;
    expect(Number(major)).to.be.oneOf([22, 24]);
    expect(dockerfile.match(/locked\.mjs/g)).to.have.length(3);
  });

  it('Docker: the image installs the packages of the lock file', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/locked.mjs']);
    expect([stderr.toString(), status]).to.deep.equal(['', 0]);
  });

  it('expose no secret in the environment, on a command line, or to other users', () => {
    for (const name of readdirSync(DIR)) {
      const text = textOf(name);
      expect(text, name).not.to.match(/CONCLAVE_ACL_INITIAL_MANAGEMENT(?!_FILE)/);
      expect(text, name).not.to.match(/secretKeyRef|--from-literal|chmod [0-7]*[4-7]\b/);
    }
  });

  it('compose: three nodes have valid configurations of one cluster', () => {
    const file = parse(textOf('compose.yaml'), { merge: true });
    const services = Object.values(file.services) as {
      image: string;
      environment: Env;
      volumes: string[];
    }[];
    for (const { image } of services) expect(image).to.equal(IMAGE);
    const configs = services.map(({ environment }) => {
      return loadConfig({ env: { ...imageEnv(), ...environment } });
    });
    mustBeOneCluster(configs, '/data');
    expect(new Set(services.flatMap(({ volumes }) => volumes)).size).to.equal(3);
    expect(configs[0]!.raft.sharedKeyFile).to.equal('/run/secrets/shared-key');
    expect(configs[0]!.acl.initialManagementFile).to.equal('/run/secrets/management-token');
    expect(Object.keys(file.secrets)).to.deep.equal(['shared-key', 'management-token']);
  });

  it('Kubernetes: pods have valid configurations of one cluster, and working probes', () => {
    const objects = parseAllDocuments(textOf('kubernetes.yaml')).map((each) => each.toJS());
    const one = (kind: string) => objects.find((each) => each.kind === kind);
    const { spec } = one('StatefulSet');
    const [container] = spec.template.spec.containers;
    const configs = [0, 1, 2].map((number) => podConfig(container.env, number));
    // The root of the volume belongs to root: the node could not change its mode.
    mustBeOneCluster(configs, `${container.volumeMounts[0].mountPath}/node`);
    expect(spec.replicas).to.equal(3);
    expect(container.image).to.equal(IMAGE);
    // Otherwise a Service called conclave-http would set CONCLAVE_HTTP_PORT.
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

  it('Kubernetes: the bootstrap token is an optional file, and peer traffic is isolated', () => {
    const objects = parseAllDocuments(textOf('kubernetes.yaml')).map((each) => each.toJS());
    const { spec } = objects.find(({ kind }) => kind === 'StatefulSet').spec.template;
    const [container] = spec.containers;
    const volume = spec.volumes.find(({ name }: { name: string }) => name === 'bootstrap');
    expect(volume.secret).to.include({ secretName: 'conclave-bootstrap', optional: true });
    expect(podConfig(container.env, 0).acl.initialManagementFile).to.match(/^\/bootstrap\//);
    expect(container.resources.limits).to.have.keys('cpu', 'memory', 'ephemeral-storage');
    const policy = objects.find(({ kind }) => kind === 'NetworkPolicy').spec;
    expect(policy.podSelector.matchLabels).to.deep.equal({ app: 'conclave' });
    expect(policy.policyTypes).to.deep.equal(['Ingress', 'Egress']);
    const { http, raft } = podConfig(container.env, 0);
    const [members, clients] = policy.ingress;
    expect(members.ports).to.deep.equal([{ port: raft.port }]);
    expect(members.from).to.deep.equal([{ podSelector: { matchLabels: { app: 'conclave' } } }]);
    expect(clients.ports).to.deep.equal([{ port: http.port }]);
    expect(policy.ingress).to.have.length(2);
  });

  it('Kubernetes: with the TLS lines, the API and its probes use TLS', () => {
    const text = textOf('kubernetes.yaml').replace(/^( *)# (.*) # API with TLS$/gm, '$1$2');
    const { spec } = parseAllDocuments(text)
      .map((each) => each.toJS())
      .find(({ kind }) => kind === 'StatefulSet').spec.template;
    const [container] = spec.containers;
    const { tls } = podConfig(container.env, 0).http;
    expect(tls).to.deep.equal({ cert: '/api-tls/tls.crt', key: '/api-tls/tls.key' });
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
      expect(container[probe].httpGet.scheme).to.equal('HTTPS');
    const mount = container.volumeMounts.find(({ name }: { name: string }) => name === 'api-tls');
    expect(mount.mountPath).to.equal('/api-tls');
    const volume = spec.volumes.find(({ name }: { name: string }) => name === 'api-tls');
    expect(volume.secret.secretName).to.equal('conclave-api-tls');
  });

  it("Kubernetes: with the list to join, any pod's configuration is valid and joins", () => {
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

  it('systemd: stops gracefully, reloads certificates, and has enough file descriptors', () => {
    const unit = new Map(
      [...textOf('conclave.service').matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [
        key,
        value,
      ]),
    );
    const { limits } = loadConfig({});
    expect(unit.get('ExecReload')).to.equal('/bin/kill -HUP $MAINPID');
    expect(Number(unit.get('LimitNOFILE'))).to.be.greaterThan(limits.connections);
    // SIGHUP ends the process before the node handles it, which systemd counts as a clean exit.
    expect(unit.get('Restart')).to.equal('always');
    expect(unit.get('RestartPreventExitStatus')).to.equal('2');
    expect(unit.get('IPAddressDeny')).to.equal('any');
    expect(unit.get('RestrictFileSystems')).to.include('@common-block');
    expect(unit.get('UMask')).to.equal('0077');
    expect(Number(unit.get('TimeoutStopSec')) * 1000).to.be.greaterThan(2 * limits.stopMs);
  });
});

/** A pod's configuration, from the variables of its container. */
function podConfig(
  variables: readonly { name: string; value?: string; valueFrom: { fieldRef?: object } }[],
  number: number,
): Config {
  const env: Env = { ...imageEnv() };
  for (const { name, value, valueFrom } of variables) {
    expect(value !== undefined || 'fieldRef' in valueFrom, name).to.equal(true);
    const text = value ?? `conclave-${number}`;
    env[name] = text.replace(/\$\((\w+)\)/g, (_, other: string) => env[other]!);
  }
  return loadConfig({ env });
}
