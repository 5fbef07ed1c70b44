/**
 * Proves that the simulation detects faults: `npm run mutate -- [part of a name]`. It puts each
 * deliberate fault of `test/simulation/mutations.ts` into a copy of the build, and runs worlds
 * until one fails. Exits with 1 if no world fails, or if the text to change is not in the build.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutation } from '../test/simulation/mutation.js';
import { mutations } from '../test/simulation/mutations.js';

const build = join(dirname(fileURLToPath(import.meta.url)), '..');
/** The options with which the worlds run. */
const PARTS = ['src', 'scripts', 'test/raft', 'test/simulation', 'test/support', 'cluster/checker'];
const SEEDS_MAX = 1500;
const AT_ONCE = 2;

interface Caught {
  readonly seed: number;
  readonly invariant: string;
}

/** Returns a copy of the build with the fault. Throws unless the text occurs exactly once. */
function mutant(mutation: Mutation): string {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-mutant-'));
  try {
    for (const part of PARTS)
      cpSync(join(build, part), join(folder, 'dist', part), { recursive: true });
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    for (const { file, find, replace } of mutation.changes) {
      const path = join(folder, 'dist/src', file);
      const source = readFileSync(path, 'utf8');
      const times = source.split(find).length - 1;
      if (times !== 1)
        throw new Error(`${mutation.name}: its text is ${times} times in ${file}: ${find}`);
      writeFileSync(
        path,
        source.replace(find, () => replace),
      );
    }
    return folder;
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw cause;
  }
}

/** Runs worlds with the fault until one fails. */
function hunt(
  folder: string,
  { by = 'simulate', fault, network, storage, product }: Mutation,
): Promise<Caught | undefined> {
  const args = [`dist/scripts/${by}.js`, '--first', '--seeds', String(SEEDS_MAX)];
  if (fault !== undefined) args.push('--fault', fault);
  if (product) args.push('--product');
  if (network !== undefined) args.push('--network', network);
  if (storage !== undefined) args.push('--storage', storage);
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 600_000,
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString();
  });
  return new Promise((resolve) =>
    child.on('close', (code, signal) => {
      const line = output.trim().split('\n').at(-1) ?? '';
      if (signal) resolve({ seed: 0, invariant: 'the worlds do not end' });
      else if (code === 0) resolve(undefined);
      else if (line.startsWith('{')) resolve(JSON.parse(line) as Caught);
      else resolve({ seed: 0, invariant: `does not even load (exit code ${code})` });
    }),
  );
}

const wanted = mutations.filter((m) => m.name.includes(process.argv[2] ?? ''));
/** Makes all copies before it runs a world, so that it reports every outdated text at once. */
function prepare(): { mutation: Mutation; folder: string }[] {
  const stale: string[] = [];
  const ready = wanted.flatMap((mutation) => {
    try {
      return [{ mutation, folder: mutant(mutation) }];
    } catch (cause) {
      stale.push((cause as Error).message);
      return [];
    }
  });
  if (stale.length === 0) return ready;
  for (const { folder } of ready) rmSync(folder, { recursive: true, force: true });
  console.error(stale.join('\n'));
  process.exit(1);
}

const waiting = prepare();
const survivors: string[] = [];
async function work(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { mutation, folder } = next;
    const caught = await hunt(folder, mutation);
    rmSync(folder, { recursive: true, force: true });
    // An aborted search proves nothing.
    const isReal = caught !== undefined && caught.seed > 0 && caught.invariant !== 'checker';
    if (!isReal) survivors.push(mutation.name);
    const verdict = caught ? `seed ${caught.seed}: ${caught.invariant}` : 'SURVIVES';
    console.log(`${mutation.name.padEnd(58)} ${verdict}`);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(`${wanted.length - survivors.length} of ${wanted.length} deliberate faults caught`);
process.exitCode = survivors.length > 0 ? 1 : 0;
