/** Pastes the shell blocks of documents into a shell, in a fresh folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freePortsInARow } from '../../cluster/local.js';
import { type Block, isAsPrinted } from './blocks.js';
import { Terminal } from './terminal.js';

/** What `npm start` runs once everything is installed and built. */
const PROGRAM = fileURLToPath(new URL('../../cluster/start.js', import.meta.url));
/** The blocks that stay in the foreground, which a reader runs in a terminal of its own. */
const STARTS = /^npm start\b/;
/** What `npm start` says last. */
const STARTED = /Ctrl-C/;
/** The suites, which this one is a part of. */
const SUITES = /^npm test\b/;

/**
 * Ports that a document names, and free ones in their place: 850N and 860N become 10 · prefix + N
 * and 10 · prefix + 100 + N.
 */
class Ports {
  readonly #prefix: number;

  constructor(prefix: number) {
    this.#prefix = prefix;
  }

  /** The port in place of 8501. */
  get first(): number {
    return this.#prefix * 10 + 1;
  }
  toFree(text: string): string {
    return text.replaceAll(/8([56])0/g, (_, kind) => `${this.#prefix + (kind === '5' ? 0 : 10)}`);
  }
  toNamed(text: string): string {
    return text.replaceAll(`:${this.#prefix}`, ':850').replaceAll(`:${this.#prefix + 10}`, ':860');
  }
}

/** Returns ports that no other suite takes while nodes are stopped and started again. */
async function ownPorts(): Promise<Ports> {
  const first = await freePortsInARow(120);
  return new Ports(Math.ceil(first / 10));
}

/** A folder, and what pastes documents into it. The calling suite gets the hooks that it needs. */
export interface Pasting {
  /** An empty folder, which the suite removes at its end. */
  readonly folder: string;
  /** A shell in `cwd` with `home` as its home. */
  terminal(home: string, cwd: string): Promise<Terminal>;
  /** Pastes the blocks of a document one after the other, and expects what they print. */
  pasteAll(path: string, blocks: readonly Block[], shell: Terminal, cwd: string): Promise<void>;
}

/** A home without anything in it, and an environment that names no cluster. */
function environment(home: string): Record<string, string> {
  mkdirSync(home, { recursive: true });
  const { PATH = '', TMPDIR } = process.env;
  return { PATH, HOME: home, LC_ALL: 'C.UTF-8', ...(TMPDIR !== undefined && { TMPDIR }) };
}

/** The ports of a suite, and what ends the processes that it started. */
interface Running {
  readonly ports: Ports;
  readonly ends: (() => Promise<unknown>)[];
}

/** Runs `npm start` in a folder, and waits until it says that the nodes run. */
async function start({ ports, ends }: Running, cwd: string, text: string): Promise<void> {
  const flags = text
    .trim()
    .split(/\s+/)
    .slice(2)
    .filter((word) => word !== '--');
  const arguments_ = [PROGRAM, '--port', String(ports.first), ...flags];
  const child = spawn(process.execPath, arguments_, {
    cwd,
    env: environment(cwd),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  ends.push(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let printed = '';
  const started = new Promise<void>((done) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        printed += part;
        if (STARTED.test(printed)) done();
      });
  });
  await Promise.race([started, ended]);
  expect(printed).to.match(STARTED);
}

/** Prepares a suite to paste documents. Called in its `describe`. */
export function pasting(): Pasting {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-docs-'));
  const ends: (() => Promise<unknown>)[] = [];
  let ports: Ports;
  before(async () => {
    ports = await ownPorts();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));

  async function terminal(home: string, cwd: string): Promise<Terminal> {
    const shell = new Terminal(cwd, home, environment(home));
    ends.push(() => shell.end());
    // The build is there, and must not change while suites run.
    await shell.paste('npm() { [ "$*" = "run build" ] || command npm "$@"; }');
    return shell;
  }

  async function pasteAll(path: string, blocks: readonly Block[], shell: Terminal, cwd: string) {
    for (const { line, text, notRun, fails, output } of blocks) {
      if (notRun !== undefined || SUITES.test(text)) continue;
      if (STARTS.test(text)) {
        await start({ ports, ends }, cwd, text);
        continue;
      }
      const pasted = await shell.paste(ports.toFree(text));
      const hasFailed = pasted.failed.length > 0;
      const logs =
        hasFailed && !fails ? (await shell.paste('tail -n 20 *.log 2>/dev/null')).output : '';
      const where = `${path}:${line}\n${text}\n--- printed:\n${pasted.output}\n${logs}`;
      expect(hasFailed, `${pasted.failed.join('; ')} failed, ${where}`).to.equal(fails);
      if (output !== undefined)
        expect(
          isAsPrinted(ports.toNamed(pasted.output), output),
          `${where}\n--- instead of:\n${output}`,
        ).to.equal(true);
    }
  }
  return { folder, terminal, pasteAll };
}
