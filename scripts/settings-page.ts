/**
 * `npm run docs` writes docs/settings.md from the list of settings and from the constants of the
 * source. A suite fails if the page is out of date.
 */
import { writeFileSync } from 'node:fs';
import { settingsPage } from './docs/settings-page.js';

writeFileSync('docs/settings.md', settingsPage('.'));
