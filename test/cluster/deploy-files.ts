/** Reads the files to deploy with as Docker, kustomize and Kubernetes read them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { type Config, loadConfig } from '../../src/config/config.js';

/** The folder of the files. */
export const DIR = join('cluster', 'deploy');
/** Returns the text of a file. */
export const textOf = (name: string): string => readFileSync(join(DIR, name), 'utf8');
/** The files, by their paths below the folder. */
export const deployFiles = (): string[] =>
  readdirSync(DIR, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(DIR.length + 1));

/** The environment of a process. */
export type Env = Record<string, string>;
/** The image that all files use. */
export const IMAGE = `conclave:${JSON.parse(readFileSync('package.json', 'utf8')).version}`;

/** The environment that the image sets for all nodes. */
export function imageEnv(): Env {
  const lines = textOf('Dockerfile').split('\n');
  const line = lines.find((each) => each.startsWith('ENV '))!;
  return Object.fromEntries(
    line
      .slice(4)
      .split(' ')
      .map((each) => each.split('=')),
  );
}

/** Expects three valid configurations of members that start one cluster together. */
export function mustBeOneCluster(configs: readonly Config[], folder: string): void {
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

/** A part of a file, as it is parsed. Tests name the members that they expect. */
export type Shape = ReturnType<typeof parse>;

/**
 * Returns the objects of a folder with a kustomization, with its components. Knows what these files
 * use: resources, components, and patches that are merged strategically.
 */
export function kustomize(folder: string): Shape[] {
  const own = parse(textOf(join(folder, 'kustomization.yaml')));
  const { resources = [], components = [], patches = [] } = own;
  let objects = resources.flatMap((path: string) => {
    const at = join(folder, path);
    return at.endsWith('.yaml') ? documentsOf(at) : kustomize(at);
  });
  for (const component of components) {
    const path = join(folder, component);
    objects = patched([...objects, ...kustomize(path)], patchesOf(path));
  }
  return patched(objects, own.kind === 'Component' ? [] : patchesOf(folder, patches));
}

/** Returns the objects of a folder with a component added to them. */
export function withComponent(folder: string, component: string): Shape[] {
  const at = join('kubernetes', 'components', component);
  return patched([...kustomize(folder), ...kustomize(at)], patchesOf(at));
}

function patchesOf(
  folder: string,
  patches = parse(textOf(join(folder, 'kustomization.yaml'))).patches ?? [],
): Shape[] {
  return patches.map(({ path }: { path: string }) => parse(textOf(join(folder, path))));
}

const documentsOf = (path: string): Shape[] =>
  parseAllDocuments(textOf(path), { version: '1.1' }).map((each) => each.toJS());

const patched = (objects: readonly Shape[], patches: readonly Shape[]): Shape[] =>
  objects.map((object) =>
    patches
      .filter(
        ({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name,
      )
      .reduce(merged, object),
  );

/** Merges a patch as kustomize does: items of lists by their key, new ones before the others. */
function merged(base: Shape, patch: Shape): Shape {
  if (Array.isArray(base) && Array.isArray(patch)) {
    const key = ['mountPath', 'name'].find((name) => patch[0]?.[name] !== undefined);
    if (key === undefined) return patch;
    const of = (item: Shape): Shape => base.find((each) => each[key] === item[key]);
    const rest = base.filter((each) => !patch.some((item) => item[key] === each[key]));
    return [...patch.map((item) => merged(of(item), item)), ...rest];
  }
  const isMap = (value: Shape): boolean => typeof value === 'object' && value !== null;
  if (!isMap(base) || !isMap(patch) || Array.isArray(patch)) return patch;
  const entries = Object.entries(patch).map(([key, value]) => [key, merged(base[key], value)]);
  return { ...base, ...Object.fromEntries(entries) };
}

/** A variable of a container. */
interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef: { readonly fieldPath: string } };
}

/** Returns a pod's configuration, from the variables of its container. */
export function podConfig(variables: readonly Variable[], number: number): Config {
  const fields: Env = {
    'metadata.name': `conclave-${number}`,
    'metadata.namespace': 'ns',
    'status.podIP': `10.0.0.${number}`,
  };
  const env: Env = { ...imageEnv() };
  for (const { name, value, valueFrom } of variables) {
    const text = value ?? fields[valueFrom?.fieldRef.fieldPath ?? ''];
    expect(text, name).to.be.a('string');
    // Kubernetes knows the variables above this one, and leaves other names as they are.
    env[name] = text!.replace(/\$\((\w+)\)/g, (all, other: string) => env[other] ?? all);
  }
  return loadConfig({ env });
}
