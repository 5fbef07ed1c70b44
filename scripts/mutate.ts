/**
 * Proves that faults are detected: `npm run mutate -- [part of a name]`. It puts each deliberate
 * fault of `test/simulation/mutations.ts` into a copy of the build, and runs worlds until one
 * fails, or the suites that hold it. Exits with 1 if nothing fails, if the suites fail without the
 * fault too, or if the text to change is not in the build.
 */
import { spawn } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutation } from '../test/simulation/mutation.js';
import { mutations } from '../test/simulation/mutations.js';

const build = join(dirname(fileURLToPath(import.meta.url)), '..');
/** What worlds need of the build, and what suites need. */
const WORLDS = [
  'src',
  'clients',
  'scripts',
  'test/raft',
  'test/simulation',
  'test/support',
  'cluster/checker',
];
const SUITES = ['src', 'clients', 'scripts', 'test', 'cluster'];
/** What a copy has of its own. All else of the project is the same: suites read some of it. */
const OWN = ['dist', '.git'];
const SEEDS_MAX = 1500;
const AT_ONCE = 2;

/** What a world or a suite says of a fault. */
interface Caught {
  /** Of the world that fails; undefined if the fault was not put to the test. */
  readonly seed?: number;
  readonly invariant: string;
}

/** How a process ended, and what it printed. */
interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
}

/** Returns a copy of the build with the fault. Throws unless the text occurs exactly once. */
function mutant(mutation: Pick<Mutation, 'name' | 'suites' | 'changes'>): string {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-mutant-'));
  try {
    for (const part of mutation.suites === undefined ? WORLDS : SUITES)
      cpSync(join(build, part), join(folder, 'dist', part), { recursive: true });
    for (const name of readdirSync('.'))
      if (!OWN.includes(name)) symlinkSync(join(process.cwd(), name), join(folder, name));
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

/** Runs a script of the mutant. */
function run(folder: string, args: readonly string[]): Promise<Ended> {
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
    child.on('close', (code, signal) =>
      resolve({ code, signal, lines: output.trim().split('\n') }),
    ),
  );
}

/** Runs worlds with the fault until one fails. */
async function hunt(
  folder: string,
  { by = 'simulate', fault, network, storage, product, rights }: Mutation,
): Promise<Caught | undefined> {
  const args = [`dist/scripts/${by}.js`, '--first', '--seeds', String(SEEDS_MAX)];
  if (fault !== undefined) args.push('--fault', fault);
  if (product) args.push('--product');
  if (rights) args.push('--rights');
  if (network !== undefined) args.push('--network', network);
  if (storage !== undefined) args.push('--storage', storage);
  const { code, signal, lines } = await run(folder, args);
  if (signal) return { invariant: 'the worlds do not end' };
  if (code === 0) return undefined;
  const last = lines.at(-1) ?? '';
  if (!last.startsWith('{')) return { invariant: `does not even load (exit code ${code})` };
  const caught = JSON.parse(last) as Caught;
  // An aborted search proves nothing.
  return caught.invariant === 'checker' ? { invariant: caught.invariant } : caught;
}

/** The suites that were run without a fault, with whether they pass. */
const sound = new Map<string, Promise<boolean>>();

/** Whether suites pass in a copy without a fault: if they do not, they prove nothing. */
async function passes(suites: string): Promise<boolean> {
  const folder = mutant({ name: 'no fault', suites, changes: [] });
  const { code } = await run(folder, ['dist/scripts/test.js', '--jobs', '1', suites]);
  rmSync(folder, { recursive: true, force: true });
  return code === 0;
}

/** Runs the suites that hold the fault: one of their tests must fail, and not all. */
async function examine(folder: string, suites: string): Promise<Caught | undefined> {
  if (!sound.has(suites)) sound.set(suites, passes(suites));
  if (!(await sound.get(suites))) return { invariant: `${suites} fails without the fault` };
  const { code, lines } = await run(folder, ['dist/scripts/test.js', '--jobs', '1', suites]);
  if (code === 0) return undefined;
  const failed = lines.find((line) => /^ +1\) /.test(line))?.trim() ?? 'nothing is run';
  const counts = /^([1-9]\d*) passed, (\d+) failed/.exec(lines.at(-1) ?? '');
  // A busy machine may make a test late.
  const late = lines.filter((line) => line.includes('Timeout of')).length;
  const isReal = Number(counts?.[2] ?? 0) > late;
  return { invariant: `${suites} ${failed}`, ...(isReal && { seed: 0 }) };
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
    const { suites } = mutation;
    const caught = await (suites === undefined ? hunt(folder, mutation) : examine(folder, suites));
    rmSync(folder, { recursive: true, force: true });
    if (caught?.seed === undefined) survivors.push(mutation.name);
    const by = caught?.seed ? `seed ${caught.seed}: ` : '';
    const proof = caught?.seed === undefined ? 'SURVIVES ' : by;
    console.log(`${mutation.name.padEnd(58)} ${proof}${caught?.invariant ?? ''}`.trimEnd());
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(`${wanted.length - survivors.length} of ${wanted.length} deliberate faults caught`);
process.exitCode = survivors.length > 0 ? 1 : 0;
