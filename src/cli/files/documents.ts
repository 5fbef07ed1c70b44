/** Files of JSON or YAML, with the places of their values. */
import { readdirSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Document, LineCounter } from 'yaml';
import type { Io } from '../io.js';
import { CliError, misused } from '../print/error.js';
import { readInput } from './files.js';
import { yamlErrorOf } from './yaml-words.js';

/** One value of a file. */
export interface Written {
  readonly file: string;
  readonly value: Readonly<Record<string, unknown>>;
  /** The text, if it is JSON; it is sent as it is. */
  readonly json: string | undefined;
  /** Returns line and column of a value, from 1, by the parts of its JSON pointer. */
  placeOf(path: readonly (string | number)[]): { readonly line: number; readonly column: number };
}

/** Returns the parts of a JSON pointer. */
export const partsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** Reads the values of files, of the files in folders by name, and of the standard input (`-`). */
export async function documentsIn(io: Io, paths: readonly string[]): Promise<readonly Written[]> {
  const all: Written[] = [];
  for (const path of paths)
    for (const file of filesAt(path))
      all.push(...(await documentsOf(file, await readInput(io, 'cannot read the file', file))));
  return all;
}

/** Returns the path of a file, or of the files in a folder. */
function filesAt(path: string): readonly string[] {
  if (path === '-' || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    return [path];
  const names = readdirSync(path).filter((name) => /\.(?:json|ya?ml)$/.test(name));
  const files = names.sort().map((name) => join(path, name));
  const found = files.filter((file) => statSync(file).isFile());
  return found.length > 0 ? found : misused(`${path} contains no .json, .yaml or .yml file`);
}

/** Reads the objects of a file: one, or a list of them. */
export async function objectsOf(name: string, text: string): Promise<readonly object[]> {
  const { filled, source } = await parsed(name, text);
  return filled
    .flatMap((one) => [plainValue(source, one)].flat())
    .map((value) => {
      if (typeof value !== 'object' || value === null) misused(`${name}: expected objects`);
      return value;
    });
}

/** Reads the only value of a file. */
export async function documentOf(name: string, text: string): Promise<Written> {
  const [one, ...others] = await documentsOf(name, text);
  if (others.length > 0) misused(`${name}: expected one document, found ${others.length + 1}`);
  return one!;
}

/**
 * Reads the values of a file: one JSON text, or YAML documents, of which empty ones do not count.
 * `name` is for errors.
 */
export async function documentsOf(name: string, text: string): Promise<readonly Written[]> {
  const { filled, source } = await parsed(name, text);
  return filled.map((one) => written(source, one));
}

async function parsed(name: string, text: string) {
  if (extname(name) === '.hcl') misused(`${name}: HCL is not supported; use JSON or YAML`);
  const yaml = await import('yaml');
  const lineCounter = new yaml.LineCounter();
  // JSON is YAML; a key that stands twice is an error in both.
  const documents: readonly Document.Parsed[] = yaml.parseAllDocuments(text, { lineCounter });
  const filled = documents.filter(
    ({ contents, errors }) =>
      errors.length > 0 || (contents !== null && !(yaml.isScalar(contents) && isBlank(contents))),
  );
  if (filled.length === 0)
    misused(documents.length === 0 ? `${name} is empty` : `${name}: all documents are empty`);
  const source: Source = { name, text, lineCounter, json: isJson(text) ? text : undefined };
  return { filled, source };
}

/** Between the marks of a document there can be nothing, which the parser takes for null. */
const isBlank = ({ source }: { readonly source?: string }): boolean => source === '';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Source {
  readonly name: string;
  readonly text: string;
  readonly lineCounter: LineCounter;
  readonly json: string | undefined;
}

function written(source: Source, document: Document.Parsed): Written {
  const { name, lineCounter, json } = source;
  const value = plainValue(source, document);
  const placeOf: Written['placeOf'] = (path) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as
        | { range?: readonly number[] | null }
        | undefined;
      const start = node?.range?.[0];
      if (start === undefined) continue;
      const { line, col } = lineCounter.linePos(start);
      return { line, column: col };
    }
    return { line: 1, column: 1 };
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    misused(`${name}:${placeOf([]).line}: expected an object`);
  return { file: name, value: { ...value }, json, placeOf };
}

/** Throws for a syntax error, and for an alias that leads nowhere or makes a value too large. */
function plainValue({ name, text, lineCounter }: Source, document: Document.Parsed): unknown {
  if (document.errors.length > 0) {
    const { line, column, message } = yamlErrorOf(text, document.errors, lineCounter);
    throw new CliError(`${name}:${line}:${column}: ${message}`);
  }
  try {
    return document.toJS();
  } catch (error) {
    throw new CliError(`${name}: ${(error as Error).message}`);
  }
}
