/** The surroundings of a command when it runs as a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { createInterface } from 'node:readline/promises';
import type { Io, Sink } from './io.js';

/** Returns the surroundings of this process. The client itself cannot read archives. */
export function terminal(version: string, archive: Io['archive']): Io {
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  // Whoever read the results has stopped, as `head` does.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
  return {
    env: process.env,
    out: sinkOf(process.stdout),
    err: sinkOf(process.stderr),
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    home: homedir(),
    version,
    signal: controller.signal,
    archive,
    async input() {
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8');
    },
    async ask(question) {
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await reader.question(question, { signal: controller.signal });
      } finally {
        reader.close();
      }
    },
    async run(command, args) {
      const child = spawn(command, [...args], { stdio: 'inherit' });
      const [code] = (await once(child, 'exit')) as [number | null];
      return code ?? 1;
    },
  };
}

const sinkOf = (stream: NodeJS.WriteStream): Sink => ({
  write: (text) => void stream.write(text),
  isTerminal: stream.isTTY === true,
  columns: stream.isTTY ? stream.columns : undefined,
});
