/** A shell into which blocks are pasted, as a reader does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a block printed, and the commands of it that failed. */
export interface Pasted {
  readonly output: string;
  readonly failed: readonly string[];
}

const DONE = '\n--- done ---\n';
const FAILED = '--- failed: ';

/** A bash with its own process group, so that what runs in its background ends with it. */
export class Terminal {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #printed = '';
  #heard: () => void = () => {};
  #hasEnded = false;

  /** `folder` is for the files of this class; the shell starts in `cwd`. */
  constructor(cwd: string, folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#child = spawn('bash', ['--noprofile', '--norc'], {
      cwd,
      env: { ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      this.#printed += part;
      this.#heard();
    });
    this.#child.once('exit', () => {
      this.#hasEnded = true;
      this.#heard();
    });
    this.#child.stdin!.on('error', () => undefined);
    // Errors are printed where the rest is. A failure names the first line of its command.
    const say = `printf "\\n${FAILED}%s\\n" "\${BASH_COMMAND%%$'\\n'*}"`;
    this.#child.stdin!.write(`exec 2>&1\nset -E\nfailed() { ${say}; }\ntrap failed ERR\n`);
  }

  /**
   * Runs a block to its end. What its jobs in the background print after that is not part of the
   * output. Rejects if the shell ends.
   */
  async paste(text: string): Promise<Pasted> {
    const file = join(this.#folder, 'block.sh');
    writeFileSync(file, text);
    this.#printed = '';
    // A pipe is the input of the shell, so the block is read from a file.
    this.#child.stdin!.write(`. '${file}' < /dev/null\nprintf '%s' '${DONE}'\n`);
    while (!this.#printed.includes(DONE)) {
      if (this.#hasEnded) throw new Error(`the shell ended:\n${this.#printed}`);
      await new Promise<void>((heard) => {
        this.#heard = heard;
      });
    }
    const lines = this.#printed.slice(0, this.#printed.indexOf(DONE)).split('\n');
    const failed = lines.filter((line) => line.startsWith(FAILED));
    return {
      output: lines.filter((line) => !line.startsWith(FAILED)).join('\n'),
      // `.` fails with the last command of the block.
      failed: failed
        .map((line) => line.slice(FAILED.length))
        .filter((one) => !one.startsWith('. ')),
    };
  }

  /** Ends the shell and everything that it has started. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    const exited = once(this.#child, 'exit');
    process.kill(-this.#child.pid!, 'SIGKILL');
    await exited;
  }
}
