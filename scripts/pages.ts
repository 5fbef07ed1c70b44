/**
 * `npm run docs` writes docs/settings.md from the list of settings and from the constants of the
 * source, docs/cli.md from the commands, docs/log.md from the names of the log's lines,
 * docs/reference.md from the declarations of the API, and docs/growth.svg from kept measurements.
 * A suite fails if a page is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { GROWTH_FILE } from './bench/growth.js';
import { cliPage } from './docs/cli-page.js';
import { growthPlot } from './docs/growth-plot.js';
import { logPage } from './docs/log-page.js';
import { referencePage } from './docs/reference-page.js';
import { settingsPage } from './docs/settings-page.js';

writeFileSync('docs/settings.md', settingsPage('.'));
writeFileSync('docs/cli.md', cliPage('.'));
writeFileSync('docs/log.md', logPage());
writeFileSync('docs/reference.md', referencePage());
writeFileSync('docs/growth.svg', growthPlot(JSON.parse(readFileSync(GROWTH_FILE, 'utf8'))));
