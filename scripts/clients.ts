/**
 * Writes the operations of the API, with their types, into the libraries of clients, and gives
 * these the version of the server. `npm test` fails if they are out of date.
 */
import { writeFileSync } from 'node:fs';
import { generated } from './clients/generated.js';

for (const [path, text] of Object.entries(generated())) writeFileSync(path, text);
