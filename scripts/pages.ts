/**
 * `npm run docs` writes docs/settings.md from the list of settings and from the constants of the
 * source, docs/cli.md from the commands, docs/log.md from the names of the log's lines, and
 * docs/reference.md from the declarations of the API. A suite fails if a page is out of date.
 */
import { writeFileSync } from 'node:fs';
import { cliPage } from './docs/cli-page.js';
import { logPage } from './docs/log-page.js';
import { referencePage } from './docs/reference-page.js';
import { settingsPage } from './docs/settings-page.js';

writeFileSync('docs/settings.md', settingsPage('.'));
writeFileSync('docs/cli.md', cliPage('.'));
writeFileSync('docs/log.md', logPage());
writeFileSync('docs/reference.md', referencePage());
