/** Wraps the prose of all documents. `npm run format` runs it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { documentPaths } from './tidy/documents.js';
import { WIDTH_MAX } from './tidy/habits.js';
import { wrapped } from './tidy/wrap.js';

for (const path of documentPaths()) {
  const text = readFileSync(path, 'utf8');
  const after = wrapped(text, WIDTH_MAX);
  if (after !== text) writeFileSync(path, after);
}
