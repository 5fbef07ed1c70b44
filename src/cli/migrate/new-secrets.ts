/** Secrets for tokens whose own the source does not show, kept in a file of the user. */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, lstatSync, openSync, writeFileSync } from 'node:fs';
import { isUuid } from '../../acl/names.js';
import { readNamed } from '../files/files.js';
import { CliError } from '../print/error.js';

/** The file has lines `AccessorID,SecretID`. It grows, and is never overwritten. */
export class NewSecrets {
  readonly #path: string;
  readonly #known = new Map<string, string>();
  readonly #fresh = new Map<string, string>();
  /** Whether its last line has no end: a write was cut off. */
  #isTorn = false;

  constructor(path: string) {
    this.#path = path;
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
      throw new CliError(`${path} exists and is not a regular file`);
    if (!existsSync(path)) return;
    const lines = readNamed('--new-secrets', path).split('\n');
    this.#isTorn = lines.at(-1) !== '';
    for (const [at, line] of lines.entries()) {
      const [accessor = '', secret = ''] = line.trim().split(',');
      const isWhole = at < lines.length - 1 ? secret !== '' : isUuid(secret);
      if (isWhole) this.#known.set(accessor, secret);
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
      const lines = [...this.#fresh].map((pair) => `${pair.join(',')}\n`).join('');
      writeFileSync(file, this.#isTorn ? `\n${lines}` : lines);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    for (const [accessor, secret] of this.#fresh) this.#known.set(accessor, secret);
    this.#fresh.clear();
    this.#isTorn = false;
  }
}
