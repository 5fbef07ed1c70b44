import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { billOf, type LockFile } from '../../scripts/sbom.js';

interface Bill {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
    readonly licenses: readonly { readonly expression: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

describe('the bill of materials', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const { name, version, dependencies, devDependencies } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  );
  const bill = billOf(lock) as unknown as Bill;
  const names = bill.components.map((component) => component.name);

  it('lists the product and its dependencies, and nothing that only builds or tests it', () => {
    expect(bill.bomFormat).to.equal('CycloneDX');
    expect(bill.metadata.component).to.include({ name, version });
    expect(names).to.include.members(Object.keys(dependencies));
    expect(names).to.include.members(['abstract-level', 'koa-compose', '@koa/router']);
    // level depends on classic-level, and some packages on types; others are in the web UI.
    const tools = Object.keys(devDependencies).filter(
      (tool) => !/^(@types|classic-level|preact$|@codemirror\/|@lezer\/)/.test(tool),
    );
    for (const tool of tools) expect(names).not.to.include(tool);
  });

  it('lists every package of which the web UI holds code', () => {
    const licences = gunzipSync(readFileSync('dist/program/ui/assets/licences.txt.gz')).toString();
    const found = [...licences.matchAll(/^(\S+) (\d+\.\d+\.\d+)\n\n/gm)];
    expect(found.map(([, of]) => of)).to.include.members(['preact', '@codemirror/view']);
    for (const [, of, versionOf] of found)
      expect(
        bill.components.some((each) => each.name === of && each.version === versionOf),
        of,
      ).to.equal(true);
  });

  it('gives each component a checksum, a licence, and its own package URL', () => {
    for (const { purl, hashes, licenses } of bill.components) {
      expect(purl).to.match(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/);
      expect(hashes[0]!.content, purl).to.match(/^([0-9a-f]{64}|[0-9a-f]{128})$/);
      expect(licenses[0]!.expression, purl).to.be.a('string');
    }
    const refs = bill.components.map((component) => component['bom-ref']);
    expect(new Set(refs).size).to.equal(refs.length);
  });

  it('links only listed components, and reaches each of them from the product', () => {
    const links = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const follow = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      expect(links.has(ref), ref).to.equal(true);
      for (const other of links.get(ref)!) follow(other);
    };
    follow(`pkg:npm/${name}@${version}`);
    const refs = bill.components.map((component) => component['bom-ref']);
    expect([...reached].slice(1)).to.have.members(refs);
  });

  it('takes the version that a package resolves to, if there are two', () => {
    const integrity = `sha512-${Buffer.alloc(64).toString('base64')}`;
    const of = (more: object) => ({ version: '1.0.0', license: 'MIT', integrity, ...more });
    const twice: LockFile = {
      packages: {
        '': of({ name: 'own', dependencies: { a: '1', b: '1' } }),
        'node_modules/a': of({ dependencies: { b: '2' } }),
        'node_modules/a/node_modules/b': of({ version: '2.0.0' }),
        'node_modules/b': of({}),
        'node_modules/tool': of({ dev: true }),
      },
    };
    const { components, dependencies: links } = billOf(twice) as unknown as Bill;
    expect(components.map(({ purl }) => purl)).to.deep.equal([
      'pkg:npm/a@1.0.0',
      'pkg:npm/b@1.0.0',
      'pkg:npm/b@2.0.0',
    ]);
    expect(links.find(({ ref }) => ref === 'pkg:npm/a@1.0.0')!.dependsOn).to.deep.equal([
      'pkg:npm/b@2.0.0',
    ]);
    const bare: LockFile = {
      packages: { ...twice.packages, 'node_modules/b': { version: '1.0.0' } },
    };
    expect(() => billOf(bare)).to.throw('no checksum of b 1.0.0');
  });
});

describe('scripts/locked.mjs', () => {
  const run = (locked: object, installed: object) => {
    const dir = mkdtempSync(join(tmpdir(), 'conclave-locked-'));
    mkdirSync(join(dir, 'node_modules'));
    const files = { 'package-lock.json': locked, 'node_modules/.package-lock.json': installed };
    for (const [file, of] of Object.entries(files))
      writeFileSync(join(dir, file), JSON.stringify({ packages: { 'node_modules/a': of } }));
    const script = resolve('scripts/locked.mjs');
    const { status } = spawnSync(process.execPath, [script], { cwd: dir, stdio: 'ignore' });
    rmSync(dir, { recursive: true });
    return status;
  };

  it('accepts installed packages with the version and checksum of the lock file alone', () => {
    const entry = { version: '1.0.0', integrity: 'sha512-a' };
    expect(run(entry, entry)).to.equal(0);
    expect(run(entry, { ...entry, version: '1.0.1' })).to.equal(1);
    expect(run(entry, { ...entry, integrity: 'sha512-b' })).to.equal(1);
    // what the lock file names without a checksum would be installed unchecked
    expect(run({ version: '1.0.0' }, { version: '1.0.0' })).to.equal(1);
    expect(run({ version: '1.0.0' }, entry)).to.equal(1);
  });

  it('finds a checksum for each package, binaries of all platforms among them', () => {
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { integrity?: string }>;
    };
    for (const [path, { integrity }] of Object.entries(packages))
      if (path !== '') expect(integrity, path).to.match(/^sha512-/);
  });
});
