/** Secrets for tokens whose own the source does not show, kept in a file of the user. */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, lstatSync, openSync, writeSync } from 'node:fs';
import { readNamed } from '../files/files.js';
import { CliError } from '../print/error.js';

/** The file has lines `AccessorID,SecretID`. It grows, and is never overwritten. */
export class NewSecrets {
  readonly #path: string;
  readonly #known = new Map<string, string>();
  readonly #fresh = new Map<string, string>();

  constructor(path: string) {
    this.#path = path;
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
      throw new CliError(`${path} exists and is not a regular file`);
    if (!existsSync(path)) return;
    for (const line of readNamed('--new-secrets', path).split('\n')) {
      const [accessor = '', secret = ''] = line.trim().split(',');
      if (secret !== '') this.#known.set(accessor, secret);
    }
  }

  /** Returns the secret of a token, the same each time. */
  of(accessor: string): string {
    const known = this.#known.get(accessor) ?? this.#fresh.get(accessor) ?? randomUUID();
    if (!this.#known.has(accessor)) this.#fresh.set(accessor, known);
    return known;
  }

  /** Writes those that are new to disk, before a token has them. */
  keep(): void {
    if (this.#fresh.size === 0) return;
    const file = openSync(this.#path, 'a', 0o600);
    try {
      writeSync(file, [...this.#fresh].map((pair) => `${pair.join(',')}\n`).join(''));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    for (const [accessor, secret] of this.#fresh) this.#known.set(accessor, secret);
    this.#fresh.clear();
  }
}
