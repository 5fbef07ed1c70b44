/** The package of the library, installed as others install it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { installed } from './installed.js';

const RIGHTS_MAX = 12 * 2 ** 10;
const ENTRIES = ['client', 'cache', 'rights'];
/** What TypeScript is told of a browser and of a worker. Neither knows Node. */
const PLACES = ['DOM', 'WebWorker'];
const IMPORT = /(?<![\w/])(?:from|import)\s*\(?\s*'([^']+)'/g;

/** A program of a user, with types as strict as can be. */
const USER = `
import { AuthZen, Conclave, createPolicy, type Policy } from 'conclave-client';
import { openPool, openRights, type State } from 'conclave-client/cache';
import { Rights } from 'conclave-client/rights';

const server = new Conclave({ addresses: ['http://one:8500'], token: 't' });
export const policy: Policy = (await createPolicy(server, { body: { Name: 'p' } })).body;
// @ts-expect-error: a name is a text
createPolicy(server, { body: { Name: 7 } });
const rights = openRights({ addresses: ['http://one:8500'] });
export const state: State = rights.state();
export const may: boolean = rights.can('orders', 'approve', '17', { namespace: 'team' });
export const known: number = openPool({ addresses: ['http://one:8500'] }).size;
export const other: boolean = new Rights({}).can('key', 'read', 'k');
const [type, id] = ['user', 'alice'];
export const { decision }: { decision?: boolean } = await new AuthZen({ url: 'https://pdp' })
  .evaluate({ subject: { type, id }, action: { name: 'read' }, resource: { type, id } });
`;
const STRICT = {
  target: 'ES2022',
  module: 'NodeNext',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
};

describe('the package conclave-client', function () {
  this.timeout(120_000);
  let folder: string;
  let library: string;
  before(() => {
    ({ folder, library } = installed());
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const textOf = (name: string): string => readFileSync(join(library, 'dist', name), 'utf8');
  const importsOf = (name: string): string[] =>
    [...textOf(name).matchAll(IMPORT)].map(([, target]) => target!);
  const tsc = (...args: string[]) => {
    const program = resolve('node_modules/typescript/bin/tsc');
    return spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
  };

  it('has modules with their types, a README, and no dependency', () => {
    const files = readdirSync(library, { recursive: true, encoding: 'utf8' });
    const modules = files.filter((name) => name.endsWith('.js'));
    expect(modules).to.include.members(ENTRIES.map((name) => `dist/${name}.js`));
    const types = modules.map((name) => name.replace(/js$/, 'd.ts'));
    expect(files.sort()).to.deep.equal(
      ['README.md', 'dist', 'package.json', ...modules, ...types].sort(),
    );
    const manifest = JSON.parse(readFileSync(join(library, 'package.json'), 'utf8'));
    expect(manifest.version).to.equal(JSON.parse(readFileSync('package.json', 'utf8')).version);
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).to.deep.equal([]);
    for (const name of modules)
      for (const target of importsOf(name.replace('dist/', ''))) expect(target).to.match(/^\.\//);
  });

  it('is small for who decides by a feed alone', () => {
    const needed = new Set(['rights.js']);
    for (const name of needed)
      for (const target of importsOf(name)) needed.add(target.replace('./', ''));
    const bytes = [...needed].map((name) => gzipSync(textOf(name)).length);
    expect([...needed]).to.not.include('cache.js');
    expect(bytes.reduce((sum, one) => sum + one)).to.be.at.most(RIGHTS_MAX);
  });

  it('is imported by its name', () => {
    writeFileSync(
      join(folder, 'user.mjs'),
      `import { readPolicy } from 'conclave-client';
       import { openRights } from 'conclave-client/cache';
       import { Rights } from 'conclave-client/rights';
       const rights = openRights({ addresses: ['http://127.0.0.1:1'] });
       console.log(typeof readPolicy, rights.explain('key', 'read', 'k').reason, Rights.name);
       rights.close();`,
    );
    const printed = execFileSync(process.execPath, ['user.mjs'], { cwd: folder, encoding: 'utf8' });
    expect(printed).to.equal('function not_ready Rights\n');
  });

  for (const place of PLACES)
    it(`needs nothing but what ${place} has, and types its users`, () => {
      const lib = ['ES2022', 'ES2024.String', place];
      const own = tsc('-p', 'checkout/clients/typescript', '--noEmit', '--lib', lib.join());
      expect(own.stdout).to.equal('');
      writeFileSync(join(folder, 'user.mts'), USER);
      const config = { compilerOptions: { ...STRICT, lib }, files: ['user.mts'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
      expect(tsc('-p', '.').stdout).to.equal('');
    });
});
