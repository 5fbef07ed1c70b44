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

/**
 * Reads the values of files, of the files in folders by name, and of the standard input (`-`);
 * with `isDeep`, of the files in the folders of folders too.
 */
export async function documentsIn(
  io: Io,
  paths: readonly string[],
  isDeep = false,
): Promise<readonly Written[]> {
  const all: Written[] = [];
  for (const path of paths)
    for (const file of filesAt(path, isDeep))
      all.push(...(await documentsOf(file, await readInput(io, 'cannot read the file', file))));
  return all;
}

/** Names that are hidden, which version control and mounts use for their own. */
const HIDDEN = /(?:^|[\\/])\./;

/** Returns the path of a file, or of the files in a folder. */
function filesAt(path: string, isDeep: boolean): readonly string[] {
  if (path === '-' || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    return [path];
  const found = filesIn(path, isDeep);
  return found.length > 0 ? found : misused(`${path} contains no .json, .yaml or .yml file`);
}

/** Returns the paths of the files of JSON and YAML in a folder, by name. */
export function filesIn(folder: string, isDeep: boolean): readonly string[] {
  const all = readdirSync(folder, { encoding: 'utf8', recursive: isDeep });
  const names = all.filter(
    (name) => /\.(?:json|ya?ml)$/.test(name) && !(isDeep && HIDDEN.test(name)),
  );
  const files = names.sort().map((name) => join(folder, name));
  return files.filter((file) => statSync(file).isFile());
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
 * Reads the values of a file: JSON texts, which may have comments, or YAML documents, of which
 * empty ones do not count. `name` is for errors.
 */
export async function documentsOf(name: string, text: string): Promise<readonly Written[]> {
  const series = seriesOf(text);
  const { filled, source } = await parsed(name, series ?? text, series === undefined ? 0 : 1);
  if (series === undefined) return filled.map((one) => written(source, one));
  const items = plainValue(source, filled[0]!) as readonly unknown[];
  return items.map((value, at) => written(source, filled[0]!, { value, at: [at] }));
}

/** A string, a comment, a bracket, or other characters of JSON. */
const JSON_PARTS = /"(?:[^"\\]|\\.)*"?|\/\/.*|\/\*[\s\S]*?\*\/|#.*|[[{]|[\]}]|[^"/#[\]{}]+|\//g;
const BEGINS_JSON = /^(?:\s|\/\/.*\n|\/\*[\s\S]*?\*\/|#.*\n)*\{\s*(?:["}#]|\/[/*])/;

/**
 * Returns JSON texts that follow one another, or have comments, as one list that is YAML, with one
 * line before them. Their lines and columns stay. Undefined if the text is YAML as it is.
 */
function seriesOf(text: string): string | undefined {
  if (!BEGINS_JSON.test(text) || /^---/m.test(text)) return undefined;
  let depth = 0;
  let values = 0;
  let hasComments = false;
  const parts = (text.match(JSON_PARTS) ?? []).map((part) => {
    if (/^(?:\/[/*]|#)/.test(part)) {
      hasComments = true;
      return part.replaceAll(/[^\n]/g, ' ');
    }
    if (/^[[{]$/.test(part)) depth += 1;
    if (!/^[\]}]$/.test(part)) return part;
    depth -= 1;
    if (depth !== 0) return part;
    values += 1;
    return `${part},`;
  });
  return values > 1 || hasComments ? `[\n${parts.join('')}\n]` : undefined;
}

async function parsed(name: string, text: string, skipped = 0) {
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
  const json = isJson(text) ? text : undefined;
  const source: Source = { name, text, lineCounter, skipped, json };
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
  /** The number of lines before those of the file. */
  readonly skipped: number;
  readonly json: string | undefined;
}

/** Returns a document, or the value that is in it at a path. */
function written(
  source: Source,
  document: Document.Parsed,
  { value, at }: { readonly value: unknown; readonly at: readonly number[] } = {
    value: plainValue(source, document),
    at: [],
  },
): Written {
  const { name, lineCounter, skipped, json } = source;
  const placeOf: Written['placeOf'] = (path) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn([...at, ...path.slice(0, length)], true) as
        | { range?: readonly number[] | null }
        | undefined;
      const start = node?.range?.[0];
      if (start === undefined) continue;
      const { line, col } = lineCounter.linePos(start);
      return { line: line - skipped, column: col };
    }
    return { line: 1, column: 1 };
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    misused(`${name}:${placeOf([]).line}: expected an object`);
  return { file: name, value: { ...value }, json, placeOf };
}

/** Throws for a syntax error, and for an alias that leads nowhere or makes a value too large. */
function plainValue(
  { name, text, lineCounter, skipped }: Source,
  document: Document.Parsed,
): unknown {
  if (document.errors.length > 0) {
    const { line, column, message } = yamlErrorOf(text, document.errors, lineCounter);
    throw new CliError(`${name}:${line - skipped}:${column}: ${message}`);
  }
  try {
    return document.toJS();
  } catch (error) {
    throw new CliError(`${name}: ${(error as Error).message}`);
  }
}
