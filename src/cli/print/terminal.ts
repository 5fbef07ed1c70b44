/** The surroundings of a command when it runs as a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { textOf } from '../files/files.js';
import type { Io, Sink } from '../io.js';
import { EXIT } from './error.js';

/**
 * Returns the home of the user. Whoever has none (a container runs as a number that no file lists,
 * HOME is empty) gets `/`: in the present folder, anybody may have put a profile or a token.
 */
function homeOf(): string {
  try {
    return homedir() || '/';
  } catch {
    return '/';
  }
}

/** Returns the surroundings of this process. The client itself cannot read archives. */
export function terminal(version: string, archive: Io['archive']): Io {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  let endsWithReader = false;
  // Whoever read the results has stopped, as `head` does. The command still does all its work.
  const onClosed = (): void => {
    if (endsWithReader) process.exit(EXIT.done);
  };
  return {
    env: process.env,
    out: sinkOf(process.stdout, onClosed),
    err: sinkOf(process.stderr, onClosed),
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    home: homeOf(),
    version,
    signal: controller.signal,
    archive,
    endWithReader() {
      endsWithReader = true;
    },
    async input() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return textOf(Buffer.concat(chunks), 'standard input');
    },
    async ask(question) {
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await reader.question(question, { signal: controller.signal });
      } finally {
        reader.close();
      }
    },
    async *lines(question, signal) {
      const [input, output] = [process.stdin, process.stderr];
      const reader = createInterface({ input, output, prompt: '', signal });
      // A terminal that is read by line sends a key in place of the signal of the process.
      reader.once('SIGINT', () => controller.abort());
      process.stderr.write(question);
      yield* reader;
    },
    async run(command, args) {
      const child = spawn(command, [...args], { stdio: 'inherit' });
      const [code] = (await once(child, 'exit')) as [number | null];
      return code ?? 1;
    },
    async feed(command, input) {
      const child = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'] });
      // a command need not read its input
      child.stdin.on('error', () => {});
      child.stdin.end(input);
      const [code] = (await once(child, 'exit')) as [number | null];
      return code ?? 1;
    },
  };
}

/** Returns a stream as a sink that takes no more once nobody reads it. */
function sinkOf(stream: NodeJS.WriteStream, onClosed: () => void): Sink {
  let isClosed = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    isClosed = true;
    onClosed();
  });
  return {
    write(text) {
      if (!isClosed) stream.write(text);
    },
    isTerminal: stream.isTTY === true,
    columns: stream.isTTY ? stream.columns : undefined,
  };
}
