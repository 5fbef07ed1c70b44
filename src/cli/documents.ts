/** Files of JSON or YAML, with the places of their values. */
import { extname } from 'node:path';
import type { Document, LineCounter } from 'yaml';
import { Fault, misused } from './fault.js';

/** One value of a file. */
export interface Written {
  readonly value: Readonly<Record<string, unknown>>;
  /** The text, if it is JSON; it is sent as it is. */
  readonly json: string | undefined;
  /** Returns line and column of a value, from 1, by the parts of its JSON pointer. */
  placeOf(path: readonly (string | number)[]): { readonly line: number; readonly column: number };
}

/** Reads the values of a file: one JSON text, or YAML documents. `name` is for faults. */
export async function documentsOf(name: string, text: string): Promise<readonly Written[]> {
  if (extname(name) === '.hcl') misused(`${name}: HCL is not supported; use JSON or YAML`);
  const yaml = await import('yaml');
  const lineCounter = new yaml.LineCounter();
  // JSON is YAML; a key that stands twice is a fault in both.
  const documents = yaml.parseAllDocuments(text, { lineCounter });
  if (!Array.isArray(documents) || documents.length === 0) misused(`${name} is empty`);
  const json = isJson(text) ? text : undefined;
  return documents.map((one) => written(name, one, lineCounter, json));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function written(
  name: string,
  document: Document.Parsed,
  lineCounter: LineCounter,
  json: string | undefined,
): Written {
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw new Fault(`${name}:${line}:${col}: ${error.message.split('\n')[0]}`, {
      hint: 'expected JSON or YAML',
    });
  }
  const value: unknown = document.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    misused(`${name}: expected an object`);
  return {
    value: { ...value },
    json,
    placeOf(path) {
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
    },
  };
}
