/**
 * Reads the Config of an auth method. Keys match in any letter case, and one value may stand for a
 * list.
 */
import { X509Certificate } from 'node:crypto';
import { type Refusal, refusal } from '../../base/errors.js';
import { type Field, type Fields, isObject, type Mode } from '../../languages/fields.js';
import { didYouMean } from '../../languages/suggest.js';

/** The first fault of a Config. `refusing` turns it into a refusal. */
export class ConfigFault extends Error {
  readonly key: string;
  constructor(message: string, key = '') {
    super(message);
    this.key = key;
  }
}

/** Runs a check. Returns the refusal if it throws ConfigFault. */
export function refusing(check: () => unknown): Refusal | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    const pointer = error.key === '' ? '/Config' : `/Config/${error.key}`;
    return refusal('invalid', `Invalid Auth Method: ${error.message}`, { pointer });
  }
}

/** The names of the fields with values of a type. */
type NamesOf<F extends Fields, T> = {
  [K in keyof F]: F[K] extends Field<infer V, Mode, unknown> ? (V extends T ? K : never) : never;
}[keyof F] &
  string;

/** Characters of an unknown key that an error shows. */
const SHOWN_MAX = 60;

/** The values of a Config by key. The constructor and getters throw ConfigFault. */
export class ConfigReader<F extends Fields> {
  readonly #values = new Map<string, unknown>();

  constructor(config: unknown, fields: F) {
    if (config === undefined || config === null) return;
    if (!isObject(config)) throw decoding('Config is not an object');
    const known = Object.keys(fields);
    const proper = new Map(known.map((key) => [key.toLowerCase(), key]));
    for (const [key, value] of Object.entries(config)) {
      const name = proper.get(key.toLowerCase());
      if (name === undefined) {
        const shown = key.slice(0, SHOWN_MAX);
        throw decoding(`Config has invalid keys: ${shown}${didYouMean(shown, known)}`, shown);
      }
      if (this.#values.has(name)) throw decoding(`Config has the key ${name} twice`, name);
      this.#values.set(name, value);
    }
  }

  text(key: NamesOf<F, string>): string {
    const value = this.#values.get(key) ?? '';
    if (typeof value === 'string') return value;
    throw decoding(`'${key}' expected type 'string'`, key);
  }

  list(key: NamesOf<F, readonly string[] | null>): string[] {
    const value = this.#values.get(key) ?? [];
    if (typeof value === 'string') return [value];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw decoding(`'${key}' expected a list of strings`, key);
  }

  map(key: NamesOf<F, Readonly<Record<string, string>> | null>): Map<string, string> {
    const value = this.#values.get(key) ?? {};
    if (isObject(value) && Object.values(value).every((item) => typeof item === 'string')) {
      return new Map(Object.entries(value) as [string, string][]);
    }
    throw decoding(`'${key}' expected a map of strings to strings`, key);
  }

  boolean(key: NamesOf<F, boolean>): boolean {
    const value = this.#values.get(key) ?? false;
    if (typeof value === 'boolean') return value;
    throw decoding(`'${key}' expected type 'bool'`, key);
  }

  /** Returns a number of nanoseconds in milliseconds. */
  nanoseconds(key: NamesOf<F, number>): number {
    const value = this.#values.get(key) ?? 0;
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value / 1e6;
    throw decoding(`cannot parse '${key}' as int: it is a number of nanoseconds`, key);
  }
}

const decoding = (message: string, key = ''): ConfigFault =>
  new ConfigFault(`error decoding config: ${message}`, key);

/** Throws ConfigFault unless a text is a certificate in PEM form. */
export function checkCertificate(pem: string, key: string, what: string): void {
  try {
    new X509Certificate(pem);
  } catch {
    throw new ConfigFault(`error parsing ${what}: not a certificate in PEM form`, key);
  }
}
