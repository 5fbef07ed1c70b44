/**
 * `npm run docs` writes docs/settings.md from the list of settings and from the constants of the
 * source. A suite fails while the page is not what this would write.
 */
import { writeFileSync } from 'node:fs';
import { settingsPage } from './docs/settings-page.js';

writeFileSync('docs/settings.md', settingsPage('.'));
