/** `npm run vectors` writes clients/vectors.json. A suite fails if it is out of date. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { vectors } from '../test/support/vectors.js';

mkdirSync('clients', { recursive: true });
writeFileSync('clients/vectors.json', vectors());
