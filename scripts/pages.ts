/**
 * `npm run docs` writes docs/settings.md from the list of settings and from the constants of the
 * source, and docs/cli.md from the commands. A suite fails if a page is out of date.
 */
import { writeFileSync } from 'node:fs';
import { cliPage } from './docs/cli-page.js';
import { settingsPage } from './docs/settings-page.js';

writeFileSync('docs/settings.md', settingsPage('.'));
writeFileSync('docs/cli.md', cliPage('.'));
