/**
 * The bill of materials of the product in CycloneDX 1.6 (JSON), made from package-lock.json alone:
 * `npm run --silent sbom > conclave.cdx.json`. Packages needed only for building and testing are
 * left out, but not those that the build puts into the web UI. Optional packages are those of all
 * platforms. The same lock file yields the same text.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/**
 * The packages of which the web UI holds code. The build needs them and an installation does not,
 * so they are development dependencies.
 */
const BUNDLED = [
  'preact',
  '@codemirror/autocomplete',
  '@codemirror/commands',
  '@codemirror/lang-json',
  '@codemirror/language',
  '@codemirror/state',
  '@codemirror/view',
  '@lezer/highlight',
];

/** The used part of a package in the lock file. */
interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, Locked>>;
}

const FOLDER = 'node_modules/';
const nameAt = (path: string): string => path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);

/** Returns a package URL. The `@` of a scope is written as %40. */
const urlOf = (name: string, version: string): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`;

/**
 * Returns the document. Throws if a package that the product needs has no checksum in the lock
 * file.
 */
export function billOf(lock: LockFile): Record<string, unknown> {
  const own = lock.packages['']!;
  const ownRef = urlOf(own.name!, own.version);
  const bundled = bundledIn(lock);
  const shipped = Object.entries(lock.packages).filter(
    ([path, { dev }]) => path !== '' && (!dev || bundled.has(path)),
  );
  const refs = new Map(
    shipped.map(([path, { version }]) => [path, urlOf(nameAt(path), version)] as const),
  );
  const dependsOn = (
    path: string,
    { dependencies, optionalDependencies, peerDependencies }: Locked,
  ) =>
    Object.keys({ ...peerDependencies, ...optionalDependencies, ...dependencies })
      .map((name) => refs.get(pathOf(name, path, lock)))
      .filter((ref) => ref !== undefined)
      .sort();
  const components = shipped.map(([path, locked]) => componentOf(nameAt(path), locked));
  const dependencies = [
    { ref: ownRef, dependsOn: dependsOn('', withBundled(own)) },
    ...shipped.map(([path, locked]) => ({
      ref: refs.get(path)!,
      dependsOn: dependsOn(path, locked),
    })),
  ];
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        ...{ 'bom-ref': ownRef, type: 'application', name: own.name, version: own.version },
        ...{ purl: ownRef, licenses: licensesOf(own) },
      },
    },
    components: unique(components, (component) => component['bom-ref']),
    dependencies: unique(dependencies, ({ ref }) => ref),
  };
}

/** Returns the paths of the packages in the web UI, and of those that they depend on. */
function bundledIn(lock: LockFile): ReadonlySet<string> {
  const paths = new Set<string>();
  const add = (name: string, from: string): void => {
    const path = pathOf(name, from, lock);
    const locked = lock.packages[path];
    if (locked === undefined || paths.has(path)) return;
    paths.add(path);
    for (const next of Object.keys(locked.dependencies ?? {})) add(next, path);
  };
  for (const name of BUNDLED) add(name, '');
  return paths;
}

/** Returns the product as if it depended on the packages in the web UI. */
const withBundled = (own: Locked): Locked => ({
  ...own,
  dependencies: Object.assign(
    Object.fromEntries(BUNDLED.map((name) => [name, '*'])),
    own.dependencies,
  ),
});

function componentOf(name: string, locked: Locked) {
  const { version, integrity, optional } = locked;
  const purl = urlOf(name, version);
  const [, algorithm, sum] = /^sha(\d+)-(.+)$/.exec(integrity ?? '') ?? [];
  if (sum === undefined) throw new Error(`the lock file has no checksum of ${name} ${version}`);
  return {
    'bom-ref': purl,
    ...{ type: 'library', name, version, purl },
    scope: optional === true ? 'optional' : 'required',
    hashes: [{ alg: `SHA-${algorithm}`, content: Buffer.from(sum, 'base64').toString('hex') }],
    licenses: licensesOf(locked),
  };
}

/** An SPDX expression also covers a single identifier. */
const licensesOf = ({ license }: Locked) =>
  license === undefined ? [] : [{ expression: license }];

/**
 * Returns the path at which Node finds a package for another one: the nearest node_modules above.
 */
function pathOf(name: string, from: string, lock: LockFile): string {
  for (let at = from; ; ) {
    const path = `${at === '' ? '' : `${at}/`}${FOLDER}${name}`;
    if (path in lock.packages || at === '') return path;
    const end = at.lastIndexOf(`/${FOLDER}`);
    at = end < 0 ? '' : at.slice(0, end);
  }
}

/** Removes items whose key occurred before. */
function unique<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
  const byKey = new Map(all.map((one) => [keyOf(one), one]));
  return [...byKey].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  console.log(JSON.stringify(billOf(lock), null, 2));
}
