/** Runs commands of the client in this process, with surroundings that a test can watch. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runClient } from '../../src/cli/client.js';
import type { Io } from '../../src/cli/io.js';
import { readSnapshotFile } from '../../src/service/archives/snapshot-file.js';

/** What a command did. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The surroundings of one command. */
export interface Given {
  readonly env?: Record<string, string>;
  readonly input?: string;
  /** The width of the terminal; without, the output is none. */
  readonly columns?: number;
  /** What the user types, now or later, line by line; without, nobody can be asked. */
  readonly answers?: readonly (string | Promise<string>)[];
  readonly signal?: AbortSignal;
  /** Sees each part of the output. */
  readonly onOut?: (text: string) => void;
  /** Sees each part of the error output. */
  readonly onErr?: (text: string) => void;
}

/** A user: a home folder, and environment variables. */
export class User {
  readonly home = mkdtempSync(join(tmpdir(), 'conclave-cli-'));
  env: Record<string, string> = {};

  /** Runs a command to its end. */
  async run(args: readonly string[], given: Given = {}): Promise<Ran> {
    const parts = { out: '', err: '' };
    const answers = [...(given.answers ?? [])];
    const io: Io = {
      env: { ...this.env, ...given.env },
      out: {
        write: (text) => {
          parts.out += text;
          given.onOut?.(text);
        },
        isTerminal: given.columns !== undefined,
        columns: given.columns,
      },
      err: {
        write: (text) => {
          parts.err += text;
          given.onErr?.(text);
        },
        isTerminal: given.columns !== undefined,
        columns: given.columns,
      },
      canAsk: given.answers !== undefined,
      home: this.home,
      version: '0.0.0',
      signal: given.signal ?? new AbortController().signal,
      endWithReader: () => {},
      input: async () => given.input ?? '',
      ask: async (question) => {
        parts.err += question;
        return answers.shift() ?? '';
      },
      async *lines(question) {
        parts.err += question;
        yield* answers;
      },
      archive: (file) => readSnapshotFile(file, false),
      run: async (command, programArgs) => spawnSync(command, programArgs).status ?? 1,
      feed: async (command, input) => spawnSync(command, { shell: true, input }).status ?? 1,
    };
    const code = await runClient(args, io);
    return { code, ...parts };
  }

  /** Runs a command that must succeed, and returns its output. */
  async done(args: readonly string[], given: Given = {}): Promise<string> {
    const { code, out, err } = await this.run(args, given);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code}\n${err}`);
    return out;
  }

  /** Runs a command that must succeed, and returns its output as JSON. */
  async json<T = Record<string, unknown>>(args: readonly string[], given: Given = {}): Promise<T> {
    return JSON.parse(await this.done([...args, '-o', 'json'], given)) as T;
  }

  /** Removes the home folder. */
  leave(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
