/**
 * Writes the modules of the documents about the API, of how people see its objects, and of the
 * names of query parameters. The build runs it, so that a node neither makes them nor loads what
 * they are made from:
 *
 *     node dist/scripts/documents.js dist/src/api
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { bodySchemas } from '../src/api/document/body-schemas.js';
import { openApi } from '../src/api/document/document.js';
import type { Document } from '../src/api/documents.js';
import { queryNames } from '../src/api/endpoints/endpoints.js';
import { OBJECT_TABLES } from './object-tables.js';

function documentOf(value: object): Document {
  const text = `${JSON.stringify(value)}\n`;
  const hash = createHash('sha256').update(text).digest('base64url');
  return { text, etag: `"${hash.slice(0, 22)}"` };
}

const schemas = Object.fromEntries(
  Object.entries(bodySchemas()).map(([name, schema]) => [name, documentOf(schema)]),
);
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const write = (name: string, text: string): void =>
  writeFileSync(`${process.argv[2]}/${name}.js`, text);
write(
  'documents',
  [
    `export const OPENAPI = ${JSON.stringify(documentOf(openApi(version)))};\n`,
    `export const SCHEMAS = ${JSON.stringify(schemas)};\n`,
  ].join(''),
);
write('objects', OBJECT_TABLES);
write('query-names', `export const QUERY_NAMES = ${JSON.stringify(queryNames())};\n`);
