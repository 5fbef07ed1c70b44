/** The library of clients as npm packs and installs it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const LIBRARY = 'clients/typescript';
const SOURCES = [
  'tsconfig.json',
  ...['package.json', 'tsconfig.json', 'README.md', 'src'].map((name) => `${LIBRARY}/${name}`),
];

/** Packs the library in a checkout without a build, and installs it in a folder of its own. */
export function installed(): { readonly folder: string; readonly library: string } {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-client-'));
  const checkout = join(folder, 'checkout');
  for (const path of SOURCES) cpSync(path, join(checkout, path), { recursive: true });
  symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'));
  const args = ['pack', `./${LIBRARY}`, '--silent', '--pack-destination', folder];
  const env = { ...process.env, npm_config_update_notifier: 'false' };
  const packed = execFileSync('npm', args, { cwd: checkout, encoding: 'utf8', env });
  const library = join(folder, 'node_modules', 'conclave-client');
  mkdirSync(library, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed.trim()), '-C', library, '--strip=1']);
  return { folder, library };
}
