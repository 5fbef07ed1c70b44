/**
 * Writes the modules of the documents about the API, and of the names of query parameters. The
 * build runs it, so that a node neither makes them nor loads what they are made from:
 *
 *     node dist/scripts/documents.js dist/src/api/documents.js dist/src/api/query-names.js
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { bodySchemas } from '../src/api/document/body-schemas.js';
import { openApi } from '../src/api/document/document.js';
import type { Document } from '../src/api/documents.js';
import { queryNames } from '../src/api/operations/operations.js';

function documentOf(value: object): Document {
  const text = `${JSON.stringify(value)}\n`;
  const hash = createHash('sha256').update(text).digest('base64url');
  return { text, etag: `"${hash.slice(0, 22)}"` };
}

const schemas = Object.fromEntries(
  Object.entries(bodySchemas()).map(([name, schema]) => [name, documentOf(schema)]),
);
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
writeFileSync(
  process.argv[2]!,
  [
    `export const OPENAPI = ${JSON.stringify(documentOf(openApi(version)))};\n`,
    `export const SCHEMAS = ${JSON.stringify(schemas)};\n`,
  ].join(''),
);
writeFileSync(process.argv[3]!, `export const QUERY_NAMES = ${JSON.stringify(queryNames())};\n`);
