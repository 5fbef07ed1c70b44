import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { statusRoutes } from '../../src/http/routes/status.js';
import {
  DIR,
  IMAGE,
  kustomize,
  mustBeOneCluster,
  podConfig,
  type Shape,
  textOf,
  withComponent,
} from './deploy-files.js';

const BASE = join('kubernetes', 'base');
const NEW = join('kubernetes', 'new-cluster');
const one = (objects: readonly Shape[], kind: string): Shape =>
  objects.find((each) => each.kind === kind);
const podOf = (objects: readonly Shape[]): Shape => one(objects, 'StatefulSet').spec.template.spec;
const containerOf = (objects: readonly Shape[]): Shape => podOf(objects).containers[0];

/** Expects a volume for each mount, and a mount for each volume. */
function mustMountAll(container: Shape, volumes: readonly Shape[]): void {
  const mounts = container.volumeMounts.map(({ name }: { name: string }) => name);
  expect(volumes.map((each) => each.name ?? each.metadata.name)).to.have.members(mounts);
}

describe('the files for Kubernetes', () => {
  it('have a kustomization in each folder that names all of its files', () => {
    const folders = [BASE, NEW];
    const components = readdirSync(join(DIR, 'kubernetes', 'components'));
    for (const name of components) folders.push(join('kubernetes', 'components', name));
    for (const folder of folders) {
      const files = readdirSync(join(DIR, folder)).filter((name) => name !== 'kustomization.yaml');
      const named = kustomizationOf(folder);
      expect(
        named.filter((path) => path.endsWith('.yaml')),
        folder,
      ).to.have.members(files);
    }
  });

  it('start one new cluster of three nodes with the overlay new-cluster', () => {
    const container = containerOf(kustomize(NEW));
    const configs = [0, 1, 2].map((number) => podConfig(container.env, number));
    // The root of the volume belongs to root: the node could not change its mode.
    const data = container.volumeMounts.find(({ name }: { name: string }) => name === 'data');
    mustBeOneCluster(configs, `${data.mountPath}/node`);
    expect(configs[0]!.raft.advertise).to.equal('conclave-0.conclave.ns.svc:8300');
    expect(configs[0]!.acl.initialManagementFile).to.match(/^\/bootstrap\//);
    const bootstrap = podOf(kustomize(NEW)).volumes.find(
      ({ name }: { name: string }) => name === 'bootstrap',
    );
    expect(bootstrap.secret.secretName).to.equal('conclave-bootstrap');
  });

  it('join the cluster without that overlay, and hold no first token', () => {
    const objects = kustomize(BASE);
    for (const number of [0, 4]) {
      const { cluster, acl } = podConfig(containerOf(objects).env, number);
      expect(cluster.initial).to.deep.equal([]);
      expect(cluster.join).to.deep.equal(
        [0, 1, 2].map((n) => `conclave-${n}.conclave.ns.svc:8300`),
      );
      expect(acl.initialManagementFile).to.equal(undefined);
    }
    expect(JSON.stringify(objects)).not.to.include('bootstrap');
  });

  it('have working probes, and serve the API with TLS', () => {
    const container = containerOf(kustomize(BASE));
    const { http, raft } = podConfig(container.env, 0);
    expect(http.tls).to.deep.equal({ cert: '/tls/tls.crt', key: '/tls/tls.key' });
    expect(raft.sharedKeyFile).to.equal('/secrets/shared-key');
    expect(container.ports).to.deep.equal([
      { name: 'api', containerPort: http.port },
      { name: 'raft', containerPort: raft.port },
    ]);
    const paths = statusRoutes({} as never).map(({ path }) => path);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port, scheme } = container[probe].httpGet;
      expect(paths).to.include(path);
      expect([port, scheme]).to.deep.equal(['api', 'HTTPS']);
    }
  });

  it('answer to the names of the certificate and to the address of the pod, and no others', () => {
    const { http } = podConfig(containerOf(kustomize(BASE)).env, 1);
    const objects = withComponent(BASE, 'cert-manager');
    const { spec } = objects.find(({ metadata }) => metadata.name === 'conclave-tls');
    const names = spec.dnsNames.map((name: string) =>
      name.replace('*', 'conclave-1').replace(/\.conclave(\.svc|$)/, '.ns$1'),
    );
    expect(http.allowedHosts).to.include.members(names).and.to.include('10.0.0.1');
    expect(http.allowedHosts).not.to.include('*');
  });

  it('fit together: names, labels, volumes, and time to stop', () => {
    for (const folder of [BASE, NEW]) {
      const objects = kustomize(folder);
      const { spec } = one(objects, 'StatefulSet');
      expect(spec.replicas).to.equal(3);
      // Otherwise a Service called conclave-http would set CONCLAVE_HTTP_PORT.
      expect(spec.template.spec.enableServiceLinks).to.equal(false);
      const labels = spec.template.metadata.labels;
      const budget = one(objects, 'PodDisruptionBudget').spec;
      expect(budget).to.deep.equal({ maxUnavailable: 1, selector: { matchLabels: labels } });
      const services = objects.filter(({ kind }) => kind === 'Service');
      expect(services.map(({ metadata }) => metadata.name)).to.include(spec.serviceName);
      const [container] = spec.template.spec.containers;
      expect(container.image).to.equal(IMAGE);
      mustMountAll(container, [...spec.template.spec.volumes, ...spec.volumeClaimTemplates]);
      const { stopMs } = podConfig(container.env, 0).limits;
      expect(spec.template.spec.terminationGracePeriodSeconds * 1000).to.be.greaterThan(2 * stopMs);
      // A restored archive is in memory.
      const { snapshotBytes } = podConfig(container.env, 0).limits;
      expect(container.resources.limits.memory).to.equal('2Gi');
      expect(snapshotBytes).to.be.at.most(2 ** 30);
    }
  });

  it('let in members on the Raft port, and labelled pods on the API alone', () => {
    const objects = kustomize(BASE);
    const policy = one(objects, 'NetworkPolicy').spec;
    expect(policy.podSelector.matchLabels).to.deep.equal({ app: 'conclave' });
    expect(policy.policyTypes).to.deep.equal(['Ingress', 'Egress']);
    const { http, raft } = podConfig(containerOf(objects).env, 0);
    const [members, clients] = policy.ingress;
    expect(members.ports).to.deep.equal([{ port: raft.port }]);
    expect(members.from).to.deep.equal([{ podSelector: { matchLabels: { app: 'conclave' } } }]);
    expect(clients.ports).to.deep.equal([{ port: http.port }]);
    for (const { podSelector } of clients.from)
      expect(podSelector.matchLabels).to.deep.equal({ 'conclave-client': 'true' });
    expect(policy.ingress).to.have.length(2);
  });

  it('keep pods within the restricted pod security standard', () => {
    const job = one(withComponent(BASE, 'backup'), 'CronJob').spec.jobTemplate.spec.template;
    const namespace = parse(textOf(join('kubernetes', 'namespace.yaml')));
    expect(Object.values(namespace.metadata.labels)).to.include('restricted');
    // An overlay for a namespace that exists would change its labels.
    expect(one(kustomize(BASE), 'Namespace')).to.equal(undefined);
    for (const { securityContext, containers } of [podOf(kustomize(NEW)), job.spec]) {
      expect(securityContext).to.include({ runAsNonRoot: true });
      expect(securityContext.seccompProfile).to.deep.equal({ type: 'RuntimeDefault' });
      expect(containers[0].securityContext).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
  });

  it('keep nodes on hosts of their own with one-per-host', () => {
    const { affinity } = podOf(withComponent(BASE, 'one-per-host'));
    const [term] = affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    expect(term.topologyKey).to.equal('kubernetes.io/hostname');
    expect(term.labelSelector.matchLabels).to.deep.equal({ app: 'conclave' });
    expect(podOf(kustomize(BASE)).affinity).to.equal(undefined);
  });

  it('save archives by a job that may reach the API', () => {
    const objects = withComponent(BASE, 'backup');
    const { metadata, spec } = one(objects, 'CronJob').spec.jobTemplate.spec.template;
    const [container] = spec.containers;
    expect(metadata.labels).to.include({ 'conclave-client': 'true' });
    expect(container.image).to.equal(IMAGE);
    mustMountAll(container, spec.volumes);
    const env = new Map(
      container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    const claim = one(objects, 'PersistentVolumeClaim').metadata.name;
    expect(spec.volumes[0].persistentVolumeClaim.claimName).to.equal(claim);
    expect(env.get('CONCLAVE_HTTP_ADDR')).to.equal('https://conclave-api:8500');
    const [command, folder] = container.command;
    expect([command, folder]).to.deep.equal(['conclave-backup', '/backups']);
  });

  it('are scraped through the port of the API, which lets Prometheus in', () => {
    const objects = withComponent(BASE, 'pod-monitor');
    const [endpoint] = one(objects, 'PodMonitor').spec.podMetricsEndpoints;
    expect(endpoint).to.include({ port: 'api', path: '/v1/agent/metrics', scheme: 'https' });
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
    expect(policies).to.have.length(2);
    expect(policies[1].spec.ingress[0].ports).to.deep.equal([{ port: 8500 }]);
    // The name that cert-manager puts into the certificate.
    const certificates = withComponent(BASE, 'cert-manager').filter(
      ({ kind, metadata }) => kind === 'Certificate' && metadata.name === 'conclave-tls',
    );
    expect(certificates[0].spec.dnsNames).to.include(endpoint.tlsConfig.serverName);
    expect(certificates[0].spec.secretName).to.equal(endpoint.tlsConfig.ca.secret.name);
  });
});

/** The paths that a kustomization names. */
function kustomizationOf(folder: string): string[] {
  const { resources = [], patches = [] } = parse(textOf(join(folder, 'kustomization.yaml')));
  return [...resources, ...patches.map(({ path }: { path: string }) => path)];
}
